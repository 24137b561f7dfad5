"""What a mask allows through all layers, beside a search for ways and the power of a matrix."""

import itertools

import torch
from hypothesis import given
from hypothesis import strategies as st

from tests.tfm_core.toys import random_mask
from tfm_core import hops, reach_by_layer, reachability, route


def ways(steps, token: int, output: int):
    """Every way from a token to an output, by trying all places: the naive search."""
    sizes = [range(len(sees)) for sees, _ in steps]
    for places in itertools.product(*sizes[:-1]):
        stops = [token, *places, output]
        if all(sees[b, a] or (stays and a == b) for (sees, stays), a, b in zip(steps, stops, stops[1:], strict=False)):
            yield stops


@given(seed=st.integers(0, 10_000), size=st.integers(1, 5), layers=st.integers(1, 4), share=st.floats(0, 1))
def test_reachability_is_what_a_search_for_ways_finds(seed, size, layers, share):
    mask = random_mask(seed, size, share=share)
    reached, way = reachability(mask, layers), hops(mask, layers)
    steps = [(mask, True)] * layers
    for token, output in itertools.product(range(size), repeat=2):
        known = list(ways(steps, token, output))
        assert reached[output, token] == bool(known)
        walked = route(way, token, output)
        assert bool(walked) == bool(known)
        if known:
            moves = [sum(a != b for a, b in itertools.pairwise(stops)) for stops in known]
            assert walked in known
            assert sum(a != b for a, b in itertools.pairwise(walked)) == min(moves)


@given(seed=st.integers(0, 10_000), target=st.integers(1, 3), source=st.integers(1, 3), layers=st.integers(1, 3))
def test_a_source_token_reaches_a_target_output_through_any_layer_of_cross_attention(seed, target, source, layers):
    causal, cross, encoder = (
        random_mask(seed, *shape) for shape in ((target, target), (target, source), (source, source))
    )
    reached = reachability(causal, layers, cross=cross, encoder=encoder)
    way = hops(causal, layers, cross=cross, encoder=encoder)
    for token, output in itertools.product(range(source), range(target)):
        known = False
        for enters in range(layers):  # in which layer of the decoder the source is looked at
            steps = [(encoder, True)] * layers + [(cross, False)] + [(causal, True)] * (layers - 1 - enters)
            known |= any(True for _ in ways(steps, token, output))
        assert reached[output, token] == known
        walked = route(way, token, output)
        assert bool(walked) == known
        if known:
            assert (walked[0], walked[-1], len(walked)) == (token, output, 2 * layers + 1)
            assert all(
                hop.sees[b, a] for hop, a, b in zip(way, walked, walked[1:], strict=False)
            )  # the hops of self-attention hold the residual connection


def test_reachability_is_the_power_of_the_mask_and_the_residual_connection():
    mask = random_mask(3, 9)
    power = torch.linalg.matrix_power((mask | torch.eye(9, dtype=torch.bool)).double(), 4) > 0
    assert torch.equal(reachability(mask, 4), power)
    by_layer = reach_by_layer(hops(mask, 4))
    assert [torch.equal(by_layer[i], reachability(mask, i + 1)) for i in range(4)] == [True] * 4
    assert torch.equal(reach_by_layer(hops(mask, 4), [5, 0]), by_layer[:, :, [5, 0]])
