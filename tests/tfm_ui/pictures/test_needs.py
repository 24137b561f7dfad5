"""What a picture says that it needs decides whether it is computed, and where, before anything is computed."""

from dataclasses import replace
from typing import Any

import pytest

from tfm_ui.lenses import lens
from tfm_ui.live import memory
from tfm_ui.page.preview import CELL, DRAWING
from tfm_ui.pictures import registry
from tfm_ui.pictures.canvas import Content
from tfm_ui.pictures.registry import PICTURES, WORDS, Asked, CannotBeShown, content_of, made, needed, takes_long
from tfm_ui.server.pool_worker import TurnElsewhere
from tfm_ui.state.model_state import ModelState
from tfm_ui.visitors.turn import SlowLaneNeeded, use_turn

DEPTH = "model_view=depth&model_depth=48&d_model=256&d_ff=1024&activation=swiglu"
NAME = "head"


@pytest.fixture
def given_back(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """An entry for each time that memory was given back."""
    times: list[str] = []
    for room in ("tfm_ui.visitors.turn", "tfm_ui.pictures.registry"):
        monkeypatch.setattr(f"{room}.give_back", lambda room=room: times.append(room))
    return times


def needing(monkeypatch: pytest.MonkeyPatch, size: int) -> list[Any]:
    """Let the picture need so many bytes; the list has an entry for each time that it was computed."""
    computed: list[Any] = []

    def content(model: ModelState, state: Any) -> Content:
        computed.append(model)
        return {"about": "nothing"}, registry.NOTHING

    changed = replace(PICTURES[NAME], content=content, needs=lambda model, state: size)
    monkeypatch.setitem(PICTURES, NAME, changed)
    return computed


def test_what_needs_more_than_a_picture_may_take_is_refused_before_it_is_computed(monkeypatch):
    computed = needing(monkeypatch, memory.MOST + 1_000_000)
    with pytest.raises(CannotBeShown, match=r"This needs 1,001 MB of memory at a time; 1,000 MB is the limit"):
        content_of(NAME, "")
    assert not computed


def test_what_needs_much_waits_for_the_slow_lane_and_gives_memory_back(monkeypatch, given_back):
    computed = needing(monkeypatch, memory.QUICK + 1)
    with use_turn(TurnElsewhere(heavy=False)), pytest.raises(SlowLaneNeeded):
        made(NAME, "")
    assert not computed
    assert takes_long([NAME], Asked(""))
    with use_turn(TurnElsewhere(heavy=True)):
        made(NAME, "")
    assert len(computed) == 1
    assert given_back


def test_what_needs_little_stays_in_the_quick_lane_and_gives_nothing_back(monkeypatch, given_back):
    computed = needing(monkeypatch, memory.LITTLE)
    with use_turn(TurnElsewhere(heavy=False)):
        made(NAME, "")
    assert len(computed) == 1
    assert not takes_long([NAME], Asked(""))
    assert not given_back


def test_a_stack_of_48_layers_waits_for_the_slow_lane():
    asked = Asked(DEPTH)
    assert not asked.model.is_heavy, "the sidebar's own model has two layers"
    assert needed("model_wirings", asked) > memory.QUICK
    with use_turn(TurnElsewhere(heavy=False)), pytest.raises(SlowLaneNeeded):
        made("model_wirings", asked)


def test_words_and_previews_need_what_the_largest_picture_of_their_view_needs():
    asked = Asked(DEPTH)
    model = lens("model")
    largest = max(needed(name, asked) for name in model.views["depth"].pictures)
    assert needed("model.words", asked) == largest
    maps = asked.model.num_layers * asked.model.num_heads * asked.model.longest**2
    assert needed("model.preview", asked) == largest + DRAWING + CELL * maps, "the figure beside it"
    assert needed("model.words", Asked("model_view=output")) < largest


def test_words_say_nothing_where_the_view_needs_too_much_and_the_reason_names_both_numbers(monkeypatch):
    monkeypatch.setattr(memory, "MOST", 100_000_000)
    model = lens("model")
    states = Asked(DEPTH).model, Asked(DEPTH).lens(model.state, model.prefix)
    assert "100 MB is the limit" in model.view_of(states[1]).why_not_shown(*states)
    assert WORDS["model.words"].said(*states) == {"places": {}}
