"""The key-value cache: whatever is read in pieces gives what is read at once."""

import functools
from itertools import pairwise

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from tests.examples import shared_by
from tests.tfm_core.generation.writing import CLOSE, decoder, every_scheme
from tests.tfm_core.toys import VOCAB, build, largest_error, random_ids, scramble
from tfm_core import ATTENTION, NORMS, POSITIONAL, KeyValueCache, recording

BOTH_KINDS = [name for name in ATTENTION if ATTENTION[name].has_cache]


def in_pieces(model, tokens, sizes, mask=None, cache=None):
    """Logits of all tokens, read in pieces of these sizes; the mask is (..., query, key) of the whole text."""
    cache = KeyValueCache(model.config) if cache is None else cache
    ends = [sum(sizes[:count]) for count in range(len(sizes) + 1)]
    assert ends[-1] == tokens.shape[1]
    return torch.cat(
        [
            model(tokens[:, begin:end], mask=None if mask is None else mask[..., begin:end, :end], cache=cache)
            for begin, end in pairwise(ends)
        ],
        dim=1,
    )


@st.composite
def read(draw):
    """Token ids with padding anywhere, of one to three texts, and a way to cut them into pieces."""
    sizes = draw(st.lists(st.integers(1, 7), min_size=1, max_size=6))
    batch = draw(st.integers(1, 3))
    row = st.lists(st.integers(0, VOCAB - 1), min_size=sum(sizes), max_size=sum(sizes))  # 0 is padding
    return torch.tensor(draw(st.lists(row, min_size=batch, max_size=batch))), sizes


@functools.cache
def scrambled(**changes):
    """A decoder whose weights are not fresh, of odd sizes."""
    model = build(architecture="decoder", activation="swiglu", d_model=24, num_heads=3, num_layers=3, **changes)
    return scramble(model, torch.float64)


@torch.no_grad()
@pytest.mark.crossed(positional=POSITIONAL, norm=NORMS, attention=BOTH_KINDS)
@shared_by(len(POSITIONAL) * len(NORMS))
@given(text=read(), recorded=st.booleans(), seed=st.none() | st.integers(0, 99), data=st.data())
def test_a_text_read_in_pieces_gives_the_logits_of_the_whole_under_any_mask(
    positional, norm, attention, text, recorded, seed, data
):
    (tokens, sizes), model = text, scrambled(positional=positional, norm=norm, attention=attention)
    batch, length = tokens.shape
    of_heads = data.draw(st.sampled_from([(), (1, 1), (1, 3), (batch, 1), (batch, 3)]))
    numbers = torch.Generator().manual_seed(seed or 0)
    mask = None if seed is None else torch.rand(*of_heads, length, length, generator=numbers) < 0.7
    with recording(None if recorded else []):
        pieces = in_pieces(model, tokens, sizes, mask)
        whole = model(tokens, mask=mask)
    assert largest_error(pieces, whole) < 1e-10


@torch.no_grad()
@every_scheme
def test_the_recording_shows_new_queries_over_all_keys(positional):
    model, tokens = decoder(positional=positional), random_ids(2, 9)
    with recording() as whole:
        model(tokens)
    cache = KeyValueCache(model.config)
    model(tokens[:, :6], cache=cache)
    with recording() as trace:
        model(tokens[:, 6:], cache=cache)
    assert list(trace) == list(whole)
    for site, tensor in trace.items():
        if site == "position":
            expected = whole[site][6:]
        elif site.endswith(("scores", ".weights", ".position_bias", ".mask")):
            expected = whole[site][..., 6:, :]  # (batch, head, new, key)
        elif ".query" in site or ".key" in site or ".value" in site or "rotated" in site or "head_output" in site:
            expected = whole[site][:, :, 6:]
        else:
            expected = whole[site][:, 6:]
        assert tensor.shape == expected.shape, site
        assert torch.allclose(tensor, expected, atol=CLOSE), site


@torch.no_grad()
def test_what_is_stored_are_the_keys_and_values_of_each_layer():
    for positional, keys in (("sinusoidal", "key"), ("rope", "rotated_key")):
        model, tokens = decoder(positional=positional), random_ids(2, 9)
        with recording() as trace:
            model(tokens)
        cache = KeyValueCache(model.config)
        assert cache.keys(1).shape == (1, 4, 0, 4)
        in_pieces(model, tokens, [4, 1, 4], cache=cache)
        for layer in range(2):
            site = f"layers.{layer}.self_attention."
            assert torch.allclose(cache.keys(layer), trace[site + keys], atol=CLOSE)
            assert torch.allclose(cache.values(layer), trace[site + "value"], atol=CLOSE)


@torch.no_grad()
def test_an_edit_of_a_new_key_is_stored():
    model, tokens = decoder(), random_ids(1, 5)
    cache = KeyValueCache(model.config)
    with recording(edits={"layers.0.self_attention.key": torch.zeros_like}):
        model(tokens, cache=cache)
    assert not cache.keys(0).any()
    assert cache.keys(1).all()


@torch.no_grad()
@given(batch=st.integers(1, 3), length=st.integers(0, 12), d_model=st.sampled_from([8, 16]), layers=st.integers(1, 3))
def test_its_memory_has_a_closed_form(batch, length, d_model, layers):
    model = decoder(d_model=d_model, num_layers=layers)
    cache = KeyValueCache(model.config)
    if length:
        model(random_ids(batch, length), cache=cache)
    assert cache.length == length
    assert cache.nbytes == KeyValueCache.memory_of(model.config, length, batch=batch)
    assert str(length) in repr(cache)
    assert str(cache.nbytes) in repr(cache)


@torch.no_grad()
@every_scheme
@shared_by(len(POSITIONAL))
@given(text=read(), data=st.data())
def test_another_branch_goes_on_from_an_earlier_token(positional, text, data):
    (tokens, sizes), model = text, decoder(positional=positional)
    cache = KeyValueCache(model.config)
    in_pieces(model, tokens, sizes, cache=cache)
    before = [cache.keys(layer).clone() for layer in range(2)]
    at = data.draw(st.integers(0, tokens.shape[1]))
    branch, other = cache.cut(at), random_ids(len(tokens), 3, seed=5)
    assert branch.length == at
    assert branch.nbytes == KeyValueCache.memory_of(model.config, at, batch=len(tokens))
    whole = model(torch.cat([tokens[:, :at], other], 1))
    assert largest_error(model(other, cache=branch), whole[:, at:]) < CLOSE
    assert cache.length == tokens.shape[1]
    assert all(torch.equal(cache.keys(layer), keys) for layer, keys in enumerate(before))
    twin = cache.copy()
    assert torch.equal(model(other, cache=twin), model(other, cache=cache))


@torch.no_grad()
def test_rows_of_the_batch_can_be_chosen_anew():
    model, tokens = decoder(), random_ids(3, 6)
    tokens[1, :2] = 0  # padding
    cache = KeyValueCache(model.config)
    model(tokens, cache=cache)
    rows, new = torch.tensor([1, 1, 0, 2]), random_ids(4, 1, seed=3)
    chosen = cache.select(rows)
    assert chosen.batch == 4
    expected = model(torch.cat([tokens[rows], new], 1))[:, -1:]
    assert largest_error(model(new, cache=chosen), expected) < CLOSE


def test_gradients_pass_through_what_is_stored():
    model, tokens = build(architecture="decoder"), random_ids(1, 6)
    gradients = []
    for sizes in ([6], [2, 3, 1]):
        model.zero_grad()
        in_pieces(model, tokens, sizes).square().sum().backward()
        gradients.append([parameter.grad.clone() for parameter in model.parameters()])
    for got, expected in zip(*gradients, strict=True):
        assert torch.allclose(got, expected, rtol=1e-4, atol=1e-4)


@torch.no_grad()
def test_a_pass_that_breaks_off_leaves_the_cache_as_it_was():
    model, tokens = decoder(), random_ids(1, 6)
    cache = KeyValueCache(model.config)
    model(tokens[:, :4], cache=cache)

    def fail(tensor):
        raise RuntimeError("in the middle")

    broken = torch.tensor([[5, 0]])
    with pytest.raises(RuntimeError, match="in the middle"), recording(edits={"layers.1.feed_forward.output": fail}):
        model(broken, cache=cache)
    assert cache.length == 4
    assert cache.visible is None
    assert largest_error(model(tokens[:, 4:], cache=cache), model(tokens)[:, 4:]) < CLOSE
