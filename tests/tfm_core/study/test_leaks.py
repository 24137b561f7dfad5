"""What moves when a token is changed, beside what the mask allows: real models, exactly."""

import numpy as np
import torch
from hypothesis import given
from hypothesis import strategies as st

from tests.tfm_core.toys import random_mask
from tfm_core import (
    POSITIONAL,
    Transformer,
    TransformerConfig,
    causal_mask,
    influence,
    leaks,
    padding_mask,
    reachability,
    recording,
)
from tfm_core.study.leaks import replacements

SIZES = {"vocab_size": 50, "max_len": 16, "d_ff": 16}


def model_of(seed: int, layers: int, **more) -> Transformer:
    draw = np.random.default_rng(seed)
    given = {
        "positional": draw.choice(list(POSITIONAL)).item(),
        "norm": draw.choice(["pre", "post"]).item(),
        "activation": draw.choice(["relu", "gelu", "silu", "swiglu"]).item(),
        "num_heads": int(draw.choice([1, 2, 4])),
        "d_model": int(draw.choice([8, 16])),
    }
    return Transformer(TransformerConfig(**SIZES | given | {"seed": seed, "num_layers": layers} | more)).eval().double()


def behind_layers(model: Transformer, call, mask: torch.Tensor, where: str = "self_attention", start: str = ""):
    """token ids -> the stream after each layer, under exactly this mask."""
    sites = f"{start}layers.*.feed_forward.residual_after"
    edits = {f"{start}layers.*.{where}.mask": lambda ours: mask.expand_as(ours)}

    def run(tokens):
        with torch.no_grad(), recording(sites, edits) as trace:
            call(tokens)
        return torch.stack(list(trace.values()), 1)

    return run


@given(
    seed=st.integers(0, 10_000),
    size=st.integers(2, 9),
    layers=st.integers(1, 3),
    share=st.sampled_from([0.0, 0.1, 0.3, 0.6, 1.0]),
    planted=st.integers(0, 3),
    architecture=st.sampled_from(["encoder", "decoder"]),
)
def test_every_planted_leak_is_found_and_nothing_else(seed, size, layers, share, planted, architecture):
    promise = random_mask(seed, size, share=share)
    cells = torch.randint(size, (planted, 2), generator=torch.Generator().manual_seed(seed))
    mask = promise.clone()
    mask[cells[:, 0], cells[:, 1]] = True
    model = model_of(seed, layers, architecture=architecture)
    tokens = torch.randint(0, 50, (1, size), generator=torch.Generator().manual_seed(seed + 1))  # PAD among them
    run = behind_layers(model, lambda ids: model(ids, mask=mask), mask)
    measured = influence(run, tokens, vocab_size=50, tries=2, at_once=1 + seed % 5)
    for layer in range(layers):
        kept, true = reachability(promise, layer + 1), reachability(mask, layer + 1)
        moved = measured.moved[:, layer]
        assert torch.equal(leaks(moved, kept, measured.tolerance), (true & ~kept).T)
        assert torch.equal(moved > measured.tolerance, true.T)  # all that is allowed to move moves, too
        assert (moved[~true.T] < measured.tolerance / 50).all()  # rounding is far below


@given(seed=st.integers(0, 10_000), layers=st.integers(1, 3), place=st.sampled_from(["decoder", "cross"]))
def test_every_planted_leak_of_an_encoder_decoder_is_found(seed, layers, place):
    model = model_of(seed, layers, architecture="encoder-decoder")
    numbers = torch.Generator().manual_seed(seed)
    source, target = (torch.randint(1, 50, (1, size), generator=numbers) for size in (5, 4))
    source[0, 4] = 0  # padding, which the encoder hides
    hidden = padding_mask(source)
    promise = random_mask(seed, 4, 4 if place == "decoder" else 5, 0.3)
    mask = promise.clone()
    mask[seed % 4, seed % mask.shape[1]] = True
    if place == "decoder":
        run = behind_layers(
            model, lambda ids: model(source.expand(len(ids), -1), ids, mask=mask), mask, start="decoder."
        )
        kept, true = (reachability(rule, layers) for rule in (promise, mask))
    else:

        def call(ids):
            memory = model.encoder(ids, hidden)
            model.decoder(target.expand(len(ids), -1), memory=memory, memory_mask=mask)

        run = behind_layers(model, call, mask, "cross_attention", "decoder.")
        of_source = hidden[0, 0].expand(5, -1)
        kept, true = (reachability(causal_mask(4), layers, cross=rule, encoder=of_source) for rule in (promise, mask))
    measured = influence(run, target if place == "decoder" else source, vocab_size=50, tries=2)
    moved = measured.moved[:, -1]
    assert torch.equal(leaks(moved, kept, measured.tolerance), (true & ~kept).T)
    assert torch.equal(moved > measured.tolerance, true.T)


def test_influence_is_a_loop_over_one_changed_sentence_at_a_time():
    model, mask = model_of(4, 2), random_mask(4, 7)
    tokens = torch.randint(1, 50, (1, 7))
    run = behind_layers(model, lambda ids: model(ids, mask=mask), mask)
    plain = run(tokens)
    expected = torch.zeros(7, 2, 7, dtype=torch.float64)
    for at in range(7):
        for other in replacements(int(tokens[0, at]), at, vocab_size=50, tries=3, seed=5):
            changed = tokens.clone()
            changed[0, at] = other
            expected[at] = torch.maximum(expected[at], (run(changed) - plain)[0].abs().amax(-1))
    for at_once in (1, 2, 16):
        measured = influence(run, tokens, vocab_size=50, tries=3, seed=5, at_once=at_once)
        torch.testing.assert_close(measured.moved, expected, rtol=1e-9, atol=1e-12)
        assert measured.largest == plain.abs().max()
    some = influence(run, tokens, vocab_size=50, tries=3, seed=5, places=[6, 2])
    torch.testing.assert_close(some.moved, expected[[6, 2]], rtol=1e-9, atol=1e-12)


def test_replacements_are_others_and_the_same_each_time():
    for token in range(50):
        others = replacements(token, token % 7, vocab_size=50, tries=8)
        assert others == replacements(token, token % 7, vocab_size=50, tries=8)
        assert len({*others, token, 0}) == 10 - (token == 0)
    assert replacements(3, 1, vocab_size=50, tries=4) != replacements(3, 2, vocab_size=50, tries=4)
    assert replacements(3, 1, vocab_size=50, tries=4) != replacements(3, 1, vocab_size=50, tries=4, seed=1)


def test_a_larger_effect_than_rounding_is_not_missed_however_small():
    expected = torch.eye(2, dtype=torch.bool)

    def run(ids):
        numbers = ids.double()
        return torch.stack([numbers[:, 0] + 1e-9 * numbers[:, 1], numbers[:, 1]], 1)[..., None]

    measured = influence(run, torch.tensor([[5, 6]]), vocab_size=9)
    assert leaks(measured.moved, expected, measured.tolerance).tolist() == [[False, False], [True, False]]
