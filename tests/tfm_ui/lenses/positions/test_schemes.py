"""The schemes of the Positions lens are a model's own, and its sliders are those that something depends on."""

import pytest
import torch

from tfm_core import POSITIONAL
from tfm_ui.lenses.positions.controls import sliders
from tfm_ui.lenses.positions.schemes import schemes
from tfm_ui.lenses.positions.state import NOTHING, VIEWS, PositionsState
from tfm_ui.live import passes
from tfm_ui.state.fields import controls_of
from tfm_ui.state.model_state import ModelState


@pytest.mark.parametrize("name", POSITIONAL)
@pytest.mark.parametrize("architecture", ["encoder", "decoder"])
def test_a_scheme_of_the_model_s_sizes_is_the_model_s_own(name, architecture):
    model = ModelState(positional=name, architecture=architecture, d_model=64, num_heads=8, seed=11)
    expected = passes.transformer(model.config).stack.positional
    state = PositionsState(a=name, b=NOTHING, width=64, heads=8, max_len=1024)
    (shown,) = schemes(model, state)
    assert type(shown.module) is type(expected)
    assert not shown.aside
    x = torch.randn(1, 8, 9, 8)
    for ours, theirs in (
        (shown.module.encode(9), expected.encode(9)),
        (shown.module.bias(9, 9), expected.bias(9, 9)),
        (shown.module.rotate(x), expected.rotate(x)),
    ):
        assert (ours is None and theirs is None) or torch.equal(ours, theirs)


def test_a_shorter_table_is_the_beginning_of_the_longer_one():
    tables = [
        schemes(ModelState(), PositionsState(a="learned", b=NOTHING, max_len=rows))[0].module.encode(9)
        for rows in (9, 48, 4096)
    ]
    assert torch.equal(tables[0], tables[1])
    assert torch.equal(tables[0], tables[2])


@pytest.mark.parametrize(("width", "shown", "said"), [(33, 32, "33 cannot be halved"), (1, 2, "1 cannot"), (8, 8, "")])
def test_rope_gets_an_even_width_and_says_so(width, shown, said):
    a, b = schemes(ModelState(), PositionsState(a="sinusoidal", b="rope", width=width))
    assert (a.width, b.width) == (width, shown)
    assert said in b.aside
    assert not a.aside


def test_the_same_scheme_twice_is_shown_once():
    assert [s.title for s in schemes(ModelState(), PositionsState(a="t5", b="t5"))] == ["A: t5"]
    assert [s.title for s in schemes(ModelState(), PositionsState(a="t5", b="none"))] == ["A: t5", "B: none"]


def test_the_base_that_is_asked_for_acts():
    slow, fast = (
        schemes(ModelState(), PositionsState(base=base, b=NOTHING))[0].module.encode(9) for base in (1e6, 10.0)
    )
    assert not torch.equal(slow, fast)


@pytest.mark.parametrize("view", VIEWS)
def test_sliders_move_something_and_hold_what_their_fields_can(view):
    fields = controls_of(PositionsState)
    for a in POSITIONAL:
        for knob in sliders(ModelState(), PositionsState(view=view, a=a, b=NOTHING, length=20)):
            field, _ = fields[knob.parameter.removeprefix("positions_")]
            for value in (knob.value, knob.low, knob.high, *knob.stops):
                assert field.read(f"{value:g}", None) == (value, "")
            name = knob.parameter.removeprefix("positions_")
            trained = view == "beyond" and name == "max_len" and POSITIONAL[a].enters()  # of all schemes there
            assert name not in ("base", "max_len") or trained or name in POSITIONAL[a].about.depends_on
            assert name != "shift" or "encode" in POSITIONAL[a].enters()


def test_a_place_stays_within_the_length():
    state = PositionsState(view="why", claim="shift matrix", length=4, shift=900)
    (shift,) = [knob for knob in sliders(ModelState(), state) if "shift" in knob.parameter]
    assert (shift.value, shift.high) == (3, 3)
