"""Models that share drawn parameters: the same numbers as alone, drawn once, kept no longer than they are used."""

import gc
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import pytest
import torch

from tests.tfm_core.toys import build, tiny
from tfm_core import ARCHITECTURES, POSITIONAL, Transformer
from tfm_core.model import initialization
from tfm_core.model.initialization import SharedParameters
from tfm_core.training.config import read_name
from tfm_core.training.networks import network

CHANGES = [
    {"num_heads": 2},
    {"norm": "post"},
    {"activation": "silu"},
    {"attention": "window"},
    {"architecture": "decoder"},
    {"num_layers": 1},
    *({"positional": scheme} for scheme in POSITIONAL),
]


@pytest.fixture
def drawings(monkeypatch) -> list[str]:
    """The names of the parameters that have been drawn."""
    names: list[str] = []
    original = initialization.draw

    def draw(seed, name, shape, std):
        names.append(name)
        return original(seed, name, shape, std)

    monkeypatch.setattr(initialization, "draw", draw)
    return names


def storages(model):
    """Name -> where the numbers of a drawn parameter lie in memory."""
    drawn = {name: value for name, value in model.named_parameters() if name.endswith("weight") and "norm" not in name}
    return {name: value.untyped_storage().data_ptr() for name, value in drawn.items()}


@pytest.mark.parametrize("changes", CHANGES, ids=str)
def test_a_changed_model_takes_what_the_first_one_has_and_draws_only_what_is_its_own(changes, drawings):
    shared = SharedParameters()
    first = Transformer(tiny(positional="none"), shared)
    drawings.clear()
    second = Transformer(tiny(**{"positional": "none", **changes}), shared)
    before, after = storages(first), storages(second)
    common = before.keys() & after.keys()
    assert len(common) >= 8
    assert {name: before[name] for name in common} == {name: after[name] for name in common}
    assert drawings == [name for name in after if name not in before]


@pytest.mark.parametrize("architecture", ARCHITECTURES)
@pytest.mark.parametrize("tie_embeddings", [False, True])
@pytest.mark.parametrize("changes", [{}, {"seed": 9}, {"d_model": 16}, {"vocab_size": 11}], ids=str)
def test_a_model_that_shares_is_equal_to_one_that_stands_alone(architecture, tie_embeddings, changes):
    shared = SharedParameters()
    kept = Transformer(tiny(architecture=architecture, positional="t5"), shared)
    now = {"architecture": architecture, "tie_embeddings": tie_embeddings, "positional": "learned", **changes}
    together, alone = (dict(model.named_parameters()) for model in (Transformer(tiny(**now), shared), build(**now)))
    assert together.keys() == alone.keys()
    assert [name for name in alone if not torch.equal(together[name], alone[name])] == []
    assert all(parameter.requires_grad for parameter in together.values())
    assert storages(kept)


def test_another_spread_is_another_parameter():
    shared, like = SharedParameters(), torch.nn.Parameter(torch.empty(3))
    quiet, loud = (shared.drawn(1, "x", like, std, like.device) for std in (1.0, 2.0))
    assert torch.equal(loud, 2 * quiet)


def test_dropping_a_model_leaves_the_others_and_keeps_nothing_that_no_model_uses(drawings):
    shared = SharedParameters()
    first, second = Transformer(tiny(), shared), Transformer(tiny(num_heads=2), shared)
    del first
    gc.collect()
    for name, parameter in build(num_heads=2).named_parameters():
        assert torch.equal(second.get_parameter(name), parameter), name
    del second, parameter
    gc.collect()
    drawings.clear()
    third = Transformer(tiny(), shared)
    assert drawings == list(storages(third))


def test_threads_that_build_at_the_same_time_draw_each_parameter_once(drawings):
    heads, shared, together = (1, 2, 4, 8), SharedParameters(), Barrier(4)

    def make(number):
        together.wait(timeout=30)
        return Transformer(tiny(num_heads=number), shared)

    with ThreadPoolExecutor(4) as pool:
        models = list(pool.map(make, heads))
    assert sorted(drawings) == sorted(storages(models[0]))
    assert all(storages(model) == storages(models[0]) for model in models)


def test_who_trains_has_all_parameters_alone(drawings):
    run = read_name("reverse")
    some, others = network(run), network(run)
    assert not set(storages(some).values()) & set(storages(others).values())
    assert len(drawings) == 2 * len(storages(some))
