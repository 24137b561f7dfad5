"""What a page says at a tick, and what follows at rest: of slow panels nothing is computed before."""

import pandas as pd
import pytest

from tfm_ui.live.memory import little
from tfm_ui.page import words
from tfm_ui.page.lens import Lens, View
from tfm_ui.page.questions import Question
from tfm_ui.pictures.panel import Columns, Panel, panels_in
from tfm_ui.state.lens_state import LensState
from tfm_ui.state.model_state import ModelState
from tfm_ui.text.glossary import marked

MODEL, STATE = ModelState(), LensState()


class Quick(Panel):
    title = "Quick"
    needs = little
    uses_model = False

    def sentence(self) -> str:
        return f"Seed {self.model.seed}."

    def laws(self) -> dict[str, bool]:
        return {"it holds": True}

    def table(self) -> pd.DataFrame:
        return pd.DataFrame()


class Slow(Quick):
    title = "Slow"
    slow = True
    asked = 0

    def sentence(self) -> str:
        type(self).asked += 1
        return super().sentence()

    def laws(self) -> dict[str, bool]:
        type(self).asked += 1
        return super().laws()


def showing(*panels: type[Panel] | Columns) -> Lens:
    view = View(shows=panels, uses_model=False)
    questions = [Question("One", "Which?", lambda model, state: Slow(model, state).sentence())]
    return Lens(name="toy", title="Toy", state=LensState, views={"toy": view}, questions=questions)


@pytest.fixture(autouse=True)
def nothing_asked(monkeypatch):
    monkeypatch.setattr(Slow, "asked", 0)


def places_of(panel: type[Panel]) -> set[str]:
    return {f"{part}_{panel.name}" for part in words.OF_A_PANEL}


@pytest.mark.parametrize("shown", [(Quick, Slow), (Columns([[Quick], [Slow]]),)])
def test_a_tick_computes_nothing_of_a_slow_panel_and_says_that_it_comes_later(shown):
    places = words.of_page(showing(*shown), MODEL, STATE)["places"]
    assert Slow.asked == 0
    assert {place for place, spoken in places.items() if spoken == words.LATER} == {*places_of(Slow), "answer"}
    assert places[f"said_{Quick.name}"] == {"text": marked(f"Seed {MODEL.seed}.")}


def test_what_was_left_out_of_a_tick_is_what_slow_panels_say_at_rest():
    lens = showing(Quick, Slow)
    at_rest = words.of_slow_panels(lens, MODEL, STATE)["places"]
    assert at_rest.keys() == places_of(Slow)
    assert at_rest[f"said_{Slow.name}"] == {"text": marked(f"Seed {MODEL.seed}.")}
    assert at_rest[f"laws_{Slow.name}"] == {"laws": [[True, ["it holds"]]]}
    assert words.LATER not in at_rest.values()


def test_a_page_without_slow_panels_leaves_nothing_for_later():
    lens = showing(Quick)
    assert words.LATER not in words.of_page(lens, MODEL, STATE)["places"].values()
    assert words.of_slow_panels(lens, MODEL, STATE) == {"places": {}}


def test_the_answer_of_a_question_waits_exactly_where_a_panel_beside_it_is_slow():
    for shown in ((Quick,), (Quick, Slow)):
        lens = showing(*shown)
        panels = panels_in(lens.blocks(MODEL, STATE))
        assert ("answer" in words.of_page(lens, MODEL, STATE)["places"]) == words.has_slow(panels)


def test_words_have_a_name_each():
    assert words.names(showing(Quick)) == ("toy.words", "toy.answer", "toy.slow")
