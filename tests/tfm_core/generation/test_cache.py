"""The key-value cache: whatever is read in pieces gives what is read at once."""

from itertools import pairwise

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from tests.examples import shared_by
from tests.tfm_core.generation.writing import CLOSE, decoder, every_scheme
from tests.tfm_core.toys import VOCAB, build, largest_error, random_ids, random_mask, scramble, shared, tiny
from tfm_core import ATTENTION, NORMS, POSITIONAL, KeyValueCache, can_cache, recording

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


@torch.no_grad()
@pytest.mark.crossed(positional=POSITIONAL, norm=NORMS, attention=BOTH_KINDS)
@shared_by(len(POSITIONAL) * len(NORMS))
@given(text=read(), recorded=st.booleans(), mask=st.none() | st.integers(0, 99))
def test_a_text_read_in_pieces_gives_the_logits_of_the_whole(positional, norm, attention, text, recorded, mask):
    (tokens, sizes), model = text, decoder(positional=positional, norm=norm, attention=attention)
    length = tokens.shape[1]
    hides = None if mask is None else random_mask(mask, length, share=0.7)
    with recording(None if recorded else []):
        pieces = in_pieces(model, tokens, sizes, hides)
        whole = model(tokens, mask=hides)
    assert largest_error(pieces, whole) < CLOSE


@torch.no_grad()
@every_scheme
@pytest.mark.parametrize("shape", [(3, 4, 12, 12), (3, 1, 12, 12), (1, 4, 12, 12), (12, 12)])
def test_a_mask_of_any_shape_has_the_stored_keys_too(positional, shape):
    mask = torch.rand(shape, generator=torch.Generator().manual_seed(1)) < 0.6
    model, tokens = decoder(positional=positional), random_ids(3, 12)
    assert largest_error(in_pieces(model, tokens, [5, 1, 4, 1, 1], mask), model(tokens, mask=mask)) < CLOSE


@torch.no_grad()
@every_scheme
@pytest.mark.parametrize("activation", ["relu", "swiglu"])
def test_weights_that_are_not_fresh_and_sizes_that_are_odd(positional, activation):
    model = build(
        architecture="decoder", positional=positional, activation=activation, d_model=24, num_heads=3, num_layers=3
    )
    scramble(model, torch.float64)
    tokens = random_ids(2, 20)
    pieces = in_pieces(model, tokens, [10, 1, 3, 1, 1, 4])
    assert largest_error(pieces, model(tokens)) < 1e-11


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


@pytest.mark.parametrize("name", [name for name, kind in ATTENTION.items() if not kind.has_cache])
def test_kinds_whose_stored_keys_would_change_are_refused(name):
    config = tiny(architecture="decoder", attention=name)
    assert not can_cache(config)
    with pytest.raises(ValueError, match=f"one of full, fused; got '{name}'"):
        KeyValueCache(config)
    layer = build(architecture="decoder", attention=name).stack.layers[0].self_attention
    x, cache = torch.ones(1, 2, 16), KeyValueCache(tiny(architecture="decoder"))
    cache.layers[0].append(torch.ones(1, 4, 3, 4), torch.ones(1, 4, 3, 4))
    with pytest.raises(ValueError, match="expected no stored keys, as it has no cache; got 3"):
        layer(x, stored=cache.layers[0])


def test_others_than_decoders_are_refused():
    for architecture in ("encoder", "encoder-decoder"):
        with pytest.raises(ValueError, match=f"expected architecture='decoder'.*got '{architecture}'"):
            KeyValueCache(tiny(architecture=architecture))
    both, cache = shared(architecture="encoder-decoder"), KeyValueCache(tiny(architecture="decoder"))
    with pytest.raises(ValueError, match="expected none for an encoder-decoder"):
        both(random_ids(1, 3), random_ids(1, 3), cache=cache)
    with pytest.raises(ValueError, match="expected one of the model's own configuration"):
        shared()(random_ids(1, 3), cache=cache)


@torch.no_grad()
def test_what_does_not_fit_is_refused_in_words():
    model = decoder(positional="learned")  # max_len 48
    cache = KeyValueCache(model.config)
    model(random_ids(2, 40), cache=cache)
    with pytest.raises(ValueError, match="at most max_len=48 tokens, got 40 in the cache and 9 new"):
        model(random_ids(2, 9), cache=cache)
    assert cache.length == 40
    with pytest.raises(ValueError, match="expected 2 texts, as many as are stored; got 1"):
        model(random_ids(1, 1), cache=cache)
    with pytest.raises(ValueError, match=r"\(2, 4, 1, 41\), got \(1, 40\)"):
        model(random_ids(2, 1), mask=torch.ones(1, 40, dtype=torch.bool), cache=cache)
    with pytest.raises(ValueError, match="cut: expected a length from 0 to 40, got 41"):
        cache.cut(41)
    assert model(random_ids(2, 8), cache=cache).shape == (2, 8, VOCAB)
