"""The schemes of the Positions lens are a model's own, trained or not; its sliders move something; the table counts."""

import re
from typing import ClassVar

import numpy as np
import pytest
import torch

from tests.tfm_ui.lenses.positions.position_toys import alone, left_by
from tfm_core import POSITIONAL, TASKS, Positional, Transformer
from tfm_core.model.trained import trained_weights
from tfm_core.positional.schemes import T5, About, Table
from tfm_ui.lenses.positions import LENS
from tfm_ui.lenses.positions.controls import sliders
from tfm_ui.lenses.positions.schemes import aside_of, schemes
from tfm_ui.lenses.positions.see.encode import EncodeA
from tfm_ui.lenses.positions.state import VIEWS, PositionsState
from tfm_ui.lenses.positions.table import Table as AllSchemes
from tfm_ui.live import passes
from tfm_ui.pictures.panel import Note, panels_in
from tfm_ui.state.fields import controls_of
from tfm_ui.state.model_state import ModelState

LEARNED = PositionsState(a="learned", b="sinusoidal")


@pytest.mark.parametrize("name", POSITIONAL)
@pytest.mark.parametrize("architecture", ["encoder", "decoder"])
def test_a_scheme_of_the_model_s_sizes_is_the_model_s_own(name, architecture):
    model = ModelState(positional=name, architecture=architecture, d_model=64, num_heads=8, seed=11)
    expected = passes.transformer(model.config).stack.positional
    state = alone(name, width=64, heads=8, max_len=1024)
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
    tables = [schemes(ModelState(), alone("learned", max_len=rows))[0].module.encode(9) for rows in (9, 48, 4096)]
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
    slow, fast = (schemes(ModelState(), alone("sinusoidal", base=base))[0].module.encode(9) for base in (1e6, 10.0))
    assert not torch.equal(slow, fast)


@pytest.mark.parametrize("view", VIEWS)
def test_sliders_move_something_and_hold_what_their_fields_can(view):
    fields = controls_of(PositionsState)
    for a in POSITIONAL:
        for knob in sliders(ModelState(), alone(a, view=view, length=20)):
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


@pytest.mark.parametrize(("weights", "stack"), [("reverse", "stack"), ("reverse-decoder", "encoder")])
def test_the_learned_table_is_the_one_that_was_trained(weights, stack):
    model = ModelState(weights=weights)
    table = schemes(model, LEARNED)[0].module.encode(TASKS[weights].length)
    assert torch.equal(table, trained_weights(weights)[f"{stack}.positional.weight"])
    assert "learned is shown as it was trained: a width of 16" in aside_of(model, LEARNED)


def test_its_sentence_says_that_it_was_learned_and_its_recipe_finds_it():
    model = ModelState(weights="reverse")
    panel = EncodeA(model, LEARNED)
    assert "They were learned, with “reverse”, with a standard deviation of" in panel.sentence()
    assert "noise" not in panel.sentence()
    names = left_by(panel.recipe())
    table = trained_weights("reverse")["stack.positional.weight"].numpy()
    assert any(np.array_equal(value[:10], table) for value in _arrays(names))


def _arrays(names):
    for value in names.values():
        inside = value.values() if isinstance(value, dict) else [value]
        yield from (tensor.numpy() for tensor in inside if isinstance(tensor, torch.Tensor) and tensor.dim() == 2)


def test_other_schemes_are_what_they_are_for_random_weights():
    for model in (ModelState(weights="reverse"), ModelState(seed=0, causal=False)):
        assert schemes(model, LEARNED)[1].spec == schemes(ModelState(seed=0), LEARNED)[1].spec
    assert schemes(ModelState(), LEARNED)[0].trained_on == ""
    assert "noise" in " ".join(panel.sentence() for panel in panels_in(LENS.blocks(ModelState(), LEARNED)))


def notes(model, state):
    return [block.text for block in LENS.blocks(model, state) if isinstance(block, Note)]


@pytest.mark.parametrize("view", ["model", "fault"])
def test_a_note_says_with_which_positions_the_weights_were_never_trained(view):
    state, trained = PositionsState(view=view), ModelState(weights="reverse")
    assert any("trained with learned positions; with sinusoidal" in note for note in notes(trained, state))
    assert not any("never been trained" in note for note in notes(ModelState(), state))


def test_with_its_own_positions_the_fault_is_shown_on_the_trained_model():
    state = PositionsState(view="fault", a="learned")
    assert not any("never been trained" in note for note in notes(ModelState(weights="reverse"), state))


@pytest.mark.parametrize("architecture", ["encoder", "decoder", "encoder-decoder"])
@pytest.mark.parametrize("name", POSITIONAL)
def test_parameters_are_those_of_a_real_model(name, architecture):
    model = ModelState(architecture=architecture, positional=name, d_model=64, num_heads=8)
    schemes = [module for module in Transformer(model.config).modules() if isinstance(module, Positional)]
    expected = sum(parameter.numel() for scheme in schemes for parameter in scheme.parameters())
    assert AllSchemes(model, PositionsState()).parameters[name] == expected


def test_all_that_is_known_is_there_and_the_pinned_are_marked():
    state = PositionsState(a="t5", b="learned")
    result = AllSchemes(ModelState(), state)
    table, html = result.table(), result.html()
    assert list(table.index) == list(POSITIONAL)
    assert table["pinned as"].to_dict() == dict.fromkeys(POSITIONAL, "") | {"t5": "A", "learned": "B"}
    for name, scheme in POSITIONAL.items():
        assert table.loc[name, "source"] == scheme.about.source
        assert name == "t5" or scheme.about.beyond in html
    assert "t5 <b>A</b>" in html
    assert "sinusoidal <i>the sidebar’s</i>" in html
    assert table["parameters"].sum() == 1024 * 32 + 32 * 4


@pytest.mark.parametrize("architecture", ["encoder", "decoder", "encoder-decoder"])
def test_what_is_said_of_t5_is_what_the_stacks_of_the_model_do(architecture):
    model = ModelState(architecture=architecture, positional="t5")
    said = AllSchemes(model, PositionsState()).cells("t5")["beyond the trained length"]
    built = [module for module in Transformer(model.config).modules() if isinstance(module, T5)]
    starts = set()
    for scheme in built:
        buckets = scheme.buckets(-torch.arange(1000)).tolist()
        starts.add(buckets.index(buckets[-1]))
    assert {int(number) for number in re.findall(r"from (\d+) on", said)} == starts


def test_a_new_scheme_appears_by_itself(monkeypatch):
    class New(Positional):
        about = About("relative", "not defined", (), ("<b>nobody</b>",), "a paper & more", "new")
        tables: ClassVar = {"angles": Table("rotate", ("max_len",))}

        def rotate(self, x):
            return x

    monkeypatch.setitem(POSITIONAL, "new", New)
    result = AllSchemes(ModelState(), PositionsState())
    html = result.html()
    assert "&lt;b&gt;nobody&lt;/b&gt;" in html
    assert "a paper &amp; more" in html
    assert result.table().loc["new", "enters"].startswith("inside each self-attention")
    assert "learned and new" in result.sentence()
