"""Presets: possible states, and what their questions take for granted."""

import numpy as np
import pytest

from tfm_core import TransformerConfig
from tfm_ui.lenses.attention.presets import PRESETS as ATTENTION
from tfm_ui.lenses.attention.state import AttentionState
from tfm_ui.lenses.heads.numbers import all_heads
from tfm_ui.lenses.heads.presets import PRESETS as HEADS
from tfm_ui.lenses.heads.state import HeadsState
from tfm_ui.lenses.home.next_token import next_token
from tfm_ui.lenses.home.presets import PRESETS as HOME
from tfm_ui.lenses.masks.presets import PRESETS as MASKS
from tfm_ui.lenses.masks.state import MasksState
from tfm_ui.lenses.positions.presets import PRESETS as POSITIONS
from tfm_ui.lenses.positions.state import PositionsState
from tfm_ui.lenses.profiling.presets import PRESETS as PROFILING
from tfm_ui.lenses.profiling.state import ProfilingState
from tfm_ui.live.passes import run
from tfm_ui.page.presets import active, neighbour
from tfm_ui.state.fields import controls_of
from tfm_ui.state.links import link_parameters, read_link
from tfm_ui.state.model_state import ModelState

ALL = [(preset, None) for preset in HOME] + [(preset, HeadsState) for preset in HEADS]
ALL += [(preset, AttentionState) for preset in ATTENTION]
ALL += [(preset, PositionsState) for preset in POSITIONS]
ALL += [(preset, MasksState) for preset in MASKS]
ALL += [(preset, ProfilingState) for preset in PROFILING]
PREFIX = {HeadsState: "heads_", AttentionState: "attention_", PositionsState: "positions_", MasksState: "masks_"}
PREFIX |= {ProfilingState: "profiling_"}


def named(presets, name):
    return next(preset for preset in presets if preset.name == name)


def seen(name):
    preset = named(HEADS, name)
    model = ModelState(**preset.model)
    return all_heads(model, HeadsState(**preset.page).kind)


def weights_of(shown):
    """All of them, (layer, head, query, key)."""
    layers, heads = shown.attention.largest.shape
    return np.array([[shown.head(layer, head).weights for head in range(heads)] for layer in range(layers)])


@pytest.mark.parametrize(("preset", "page"), ALL)
def test_a_preset_is_a_state_that_a_link_can_hold(preset, page):
    model = ModelState(**preset.model)
    for state, prefix in [(model, "")] + ([(page(**preset.page), PREFIX[page])] if page else []):
        asked = {name: [value] for name, value in link_parameters(state, prefix).items()}
        assert read_link(type(state), prefix, asked, page.limits(model) if prefix else None) == []
    assert isinstance(model.config, TransformerConfig)
    assert preset.question.endswith("?") or "?" in preset.question


@pytest.mark.parametrize(
    ("presets", "lens"),
    [
        (HOME, None),
        (HEADS, HeadsState),
        (ATTENTION, AttentionState),
        (POSITIONS, PositionsState),
        (MASKS, MasksState),
        (PROFILING, ProfilingState),
    ],
)
def test_no_two_presets_are_one(presets, lens):
    for preset in presets:
        page = lens(**preset.page) if lens else None
        assert active(presets, ModelState(**preset.model), page) is preset
    assert len({preset.name for preset in presets}) == len(presets)


def test_a_preset_goes_out_as_soon_as_one_value_differs():
    for name, (_, default) in controls_of(ModelState).items():
        other = not default if isinstance(default, bool) else type(default)(f"1{default}")
        assert active(HEADS[:1], ModelState(**{name: other}), HeadsState()) is None
    assert active(HEADS, ModelState(), HeadsState(head=2)) is None


def test_presets_are_walked_round_and_round():
    first, last = HEADS[0], HEADS[-1]
    assert neighbour(HEADS, None, 1) is first
    assert neighbour(HEADS, None, -1) is last
    assert neighbour(HEADS, last, 1) is first
    assert neighbour(HEADS, first, -1) is last
    assert neighbour(HEADS, first, 1) is HEADS[1]


def test_first_look_the_first_row_is_one_and_nothing_else():
    first = weights_of(seen("First look"))[:, :, 0]
    assert (first[..., 0] == 1).all()
    assert (first[..., 1:] == 0).all()


def test_who_saw_whom_rows_of_one_word_are_alike_to_the_last_digit():
    shown = seen("Who saw whom?")
    rows = [at for at, label in enumerate(shown.queries) if label.startswith("the")]
    assert len(rows) == 4
    weights = weights_of(shown)
    for row in rows:
        np.testing.assert_array_equal(weights[:, :, row], weights[:, :, rows[0]])


def test_looking_ahead_about_half_of_the_weight_goes_ahead():
    weights = weights_of(seen("Looking ahead"))
    assert 0.4 < np.triu(weights, 1).sum() / weights.sum() < 0.6


def test_many_heads_differ_and_have_two_numbers_each():
    model = ModelState(**named(HEADS, "Many heads").model)
    assert model.config.head_dim == 2
    top = weights_of(seen("Many heads"))[:, :, 1:].max(-1).mean(-1)
    assert top.max() > 1.5 * top.min()


def test_a_long_text_alibi_makes_each_head_see_further_than_the_one_before():
    weights = weights_of(seen("A long text"))
    at = np.arange(weights.shape[-1])
    far = (weights * abs(at[:, None] - at)).sum(-1).mean(-1)
    assert (np.diff(far, axis=1) > 0).all()
    assert (far[:, -1] > 20 * far[:, 0]).all()


def test_two_texts_nothing_is_masked():
    shown = seen("Two texts")
    assert shown.attention.visible.all()
    assert shown.queries == ["die", "Katze", "war", "müde"]


def test_home_the_untrained_model_repeats_the_last_word_and_a_larger_one_more_so():
    likely, parameters = {}, {}
    for preset in HOME:
        model = ModelState(**preset.model)
        likely[preset.name], parameters[preset.name] = next_token(model), run(model).parameters
    assert likely["First look"].names[0] == likely["Much larger"].names[0] == "“tired”"
    assert likely["Much larger"].shares[0] > likely["First look"].shares[0]
    assert round(parameters["Much larger"] / parameters["First look"]) == 47


def test_another_seed_moves_the_sharpest_head_and_leaves_what_the_mask_decides():
    shown = []
    for name in ("First look", "Another seed"):
        model = ModelState(**named(HOME, name).model)
        shown.append(all_heads(model, HeadsState.kind))
    first, other = shown
    assert first.sentence().partition(". ")[0] != other.sentence().partition(". ")[0]
    assert (first.queries, first.keys) == (other.queries, other.keys)
    np.testing.assert_array_equal(weights_of(first)[:, :, 0], weights_of(other)[:, :, 0])  # the row without a choice
    np.testing.assert_array_equal(weights_of(first) == 0, weights_of(other) == 0)
