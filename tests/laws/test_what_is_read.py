"""A view whose main picture is not made from the texts in the sidebar says so above it, and no other view does."""

from dataclasses import replace
from typing import Any

import pytest

from tfm_ui.lenses import lens, lenses
from tfm_ui.page import words
from tfm_ui.page.lens import Lens
from tfm_ui.pictures.panel import panels_in
from tfm_ui.state.lens_state import LensState
from tfm_ui.state.model_state import ModelState

Values = dict[str, Any]
# Different words, as many tokens for each tokenizer: what follows from the length alone is not read.
TEXTS: tuple[Values, Values] = (
    {"text": "a man sat in his boat because he was old", "target": "le chat"},
    {"text": "one man had in our house because we were old", "target": "un chien"},
)
MODELS: list[Values] = [{}, {"weights": "lab-gpt"}, {"architecture": "encoder-decoder"}]
VIEWS = [(each.name, {"view": view} if len(each.views) > 1 else {}) for each in lenses() for view in each.views]
OTHERS = [("masks", {"view": view, "item": item}) for view in lens("masks").views for item in (1, 3)]
OTHERS += [("masks", {"view": "see", "texts": ""}), ("profiling", {"view": "length", "count_embedding": True})]


def main_picture(of: Lens, model: ModelState, state: LensState) -> list[Any]:
    """What is drawn and said of each panel of the first block."""
    drawn = []
    for panel in panels_in(of.blocks(model, state)[:1]):
        header, numbers = of.pictures[panel.picture_name].content(model, state) if panel.picture_name else ({}, None)
        drawn.append((repr(header), None if numbers is None else numbers.tobytes()))
        drawn.append((panel.sentence(), panel.table().to_csv()))
    return drawn


@pytest.mark.parametrize("values", MODELS)
@pytest.mark.parametrize(("name", "page"), [*VIEWS, *OTHERS])
def test_what_is_not_made_from_the_text_says_so_and_nothing_else_does(name, page, values):
    of = lens(name)
    state = of.state(**page)
    model = ModelState(**TEXTS[0], **values)
    another_text, both_others = (replace(model, **fields) for fields in ({"text": TEXTS[1]["text"]}, TEXTS[1]))
    shown = main_picture(of, model, state)
    if not shown:  # a note in place of the picture
        return
    sentence = of.view_of(state).reads_instead(model, state)
    assert sentence or main_picture(of, both_others, state) != shown
    assert not sentence or main_picture(of, another_text, state) == shown
    place = words.of_page(of, model, state)["places"].get("read_instead")
    assert bool(place and place["text"]) == bool(sentence)  # what the page draws above the picture
    assert sentence == "" or (sentence.endswith(".") and len(sentence) <= 110)  # a line of a window 1024 px wide
