"""The list of the documents' items: every page of it opens as its link says, and every number of it is computed."""

import re
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest

from tfm_ui.lenses import lens
from tfm_ui.lessons.expressions import read_written
from tfm_ui.lessons.names import OnScreen
from tfm_ui.live.not_here import missing_weights
from tfm_ui.pictures.panel import panels_in
from tfm_ui.state.fields import controls_of
from tfm_ui.state.links import state_of
from tfm_ui.state.model_state import ModelState

COURSE = Path(__file__).resolve().parents[2] / "docs" / "course.md"
CODE = re.compile(r"`([^`]+)`")
APART = {"/learn"}  # pages that show no lens


def items():
    """Each link of the list, with the numbers that stand after it: pairs of an expression and what it must give."""
    listed = []
    for code in CODE.findall(COURSE.read_text(encoding="utf-8").partition("\n## ")[2]):
        if code.startswith("/") and code not in APART:
            listed.append((code, []))
        elif code.startswith("{"):
            expression, _, number = code.partition(" = ")
            listed[-1][1].append((expression, number))
    return listed


ITEMS = items()


def opened(link):
    """The lens of a link, the model and the page's state; and what the link asks for, by name."""
    split = urlsplit(link)
    asked = parse_qs(split.query, strict_parsing=bool(split.query))
    shown = lens(split.path.removeprefix("/"))
    model = state_of(ModelState, "", asked)
    return shown, model, state_of(shown.state, shown.prefix, asked, shown.limits(model)), asked


def test_the_list_is_read():
    assert len(ITEMS) > 50
    assert sum(len(numbers) for _, numbers in ITEMS) > 20


@pytest.mark.parametrize(("link", "numbers"), ITEMS, ids=[link for link, _ in ITEMS])
def test_a_page_opens_as_its_link_says_and_gives_the_numbers(link, numbers):
    shown, model, state, asked = opened(link)
    for name, [value] in asked.items():
        of_page = name.startswith(shown.prefix) and name.removeprefix(shown.prefix) in controls_of(type(state))
        holder, field = (state, name.removeprefix(shown.prefix)) if of_page else (model, name)
        assert field in controls_of(type(holder)), f"no control is called {name}"
        given = getattr(holder, field)
        assert str(given).lower() == value.lower(), f"{name}: {given} for {value}"
    if missing_weights(model):
        pytest.skip(f"{model.weights} is not installed here")
    assert not shown.view_of(state).why_not_shown(model, state)
    assert panels_in(shown.blocks(model, state))
    for expression, number in numbers:
        assert read_written(expression).text(OnScreen(shown, model, state)) == number
