"""Edits: what they may change, what they must leave alone."""

import pytest
import torch

from tests.tfm_core.toys import build, largest_error, random_ids, run
from tfm_core import ARCHITECTURES, POSITIONAL, recording

WEIGHTS = "layers.1.self_attention.weights"
TOKENS = random_ids(2, 6)


def test_the_inner_of_two_edits_comes_second_and_both_traces_hold_the_outcome():
    model = build()
    with (
        recording("logits", {"logits": lambda x: x * 0 + 3}) as outer,
        recording("logits", {"logits": lambda x: x + 1}) as inner,
    ):
        logits = model(TOKENS)
    assert (logits == 4).all()
    assert torch.equal(outer["logits"], logits)
    assert torch.equal(inner["logits"], logits)


@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_an_edit_of_any_site_reaches_the_logits_and_a_patch_brings_them_back(architecture):
    """An edit doubles the site; putting the recorded tensor there instead gives the untouched logits."""
    model = build(architecture=architecture, positional="rope")
    with recording() as clean:
        logits = run(model, TOKENS)
    for site in clean:
        if site.endswith("scores"):  # twice -inf is what it was
            edit = {site: lambda x: x * 3}
        elif site.endswith("mask"):
            edit = {site: lambda x: torch.eye(*x.shape[-2:]).bool().expand_as(x).clone()}
        else:
            edit = {site: lambda x: x * -1.5 + torch.linspace(0, 1, x.numel()).view(x.shape)}
        with recording([], edit):
            assert largest_error(run(model, TOKENS), logits) > 1e-5, site
        with recording([], {site: clean[site]}):
            assert largest_error(run(model, TOKENS), logits) < 1e-5, site


def test_one_edit_may_name_many_sites():
    with recording("*.weights", {"*.weights": lambda x: torch.full_like(x, 0.5)}) as trace:
        build()(TOKENS)
    assert [bool((weights == 0.5).all()) for weights in trace.values()] == [True, True]


@pytest.mark.parametrize("positional", POSITIONAL)
def test_an_edit_in_place_changes_neither_the_parameters_nor_what_was_recorded_before(positional):
    model = build(positional=positional)
    parameters = {name: value.clone() for name, value in model.state_dict().items()}
    with torch.no_grad(), recording() as clean:
        model(TOKENS)
    kept = {site: tensor.clone() for site, tensor in clean.items()}
    for site in kept:
        with torch.no_grad(), recording(edits={site: lambda x: x.fill_(0.5)}) as trace:
            model(TOKENS)
        assert (trace[site] == torch.full((), 0.5).to(trace[site].dtype)).all()
        for earlier in list(kept)[: list(kept).index(site)]:
            assert torch.equal(trace[earlier], kept[earlier]), (site, earlier)
    assert all(torch.equal(value, parameters[name]) for name, value in model.state_dict().items())
    assert all(torch.equal(clean[site], kept[site]) for site in kept)


@pytest.mark.parametrize(
    ("edit", "got"),
    [
        (torch.zeros(2, 4, 6, 5), "(2, 4, 6, 5)"),
        (torch.zeros(2, 4, 6, 6, dtype=torch.float64), "torch.float64"),
        (lambda x: x[:1], "(1, 4, 6, 6)"),
        (lambda x: x.half(), "torch.float16"),
        (lambda x: None, "None"),
        (lambda x: 0.5, "0.5"),
    ],
    ids=["shape", "dtype", "function's shape", "function's dtype", "nothing returned", "a number"],
)
def test_an_edit_keeps_shape_and_dtype(edit, got):
    with pytest.raises(ValueError, match="expected") as error, recording(edits={WEIGHTS: edit}):
        build()(TOKENS)
    assert all(part in str(error.value) for part in (WEIGHTS, "(2, 4, 6, 6), torch.float32", got))
