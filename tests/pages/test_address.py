"""The address is the screen: whatever a reader does, the page's link brings back the same controls, words and pictures.

Acts are drawn at random from the controls that a page has, always the same ones; new views and controls take part by
themselves. What only a browser can do, such as keys, drags and Back, is in tests/browser/test_address.py.
"""

import re
from random import Random
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import pytest
from streamlit.testing.v1 import AppTest

from tests.pages.test_app import component_data, model_sliders, start, text_on
from tfm_ui.lenses import lens, lenses
from tfm_ui.pictures.registry import PICTURES, content_of
from tfm_ui.state.fields import controls_of
from tfm_ui.state.model_state import ModelState

VIEWS = [(each.name, view) for each in lenses() for view in each.views]
STATES = {"": ModelState, **{each.prefix: each.state for each in lenses()}}
PARAMETERS = {
    prefix + name: field for prefix, state in STATES.items() for name, (field, _) in controls_of(state).items()
}
WEIGHTS = ("random", "lab-gpt", "reverse", "induction", "authors")
KINDS = "text_area", "selectbox", "number_input", "toggle", "button_group"
BUTTONS = re.compile("_view_|_next_question|_previous_question|_set_up|_undo|_reset|_mine|_follow")
UNBOUND = re.compile(r"_(.+)_\d+")  # the key of a control that is not bound to the link
TIMES = re.compile(r"[\d.,]+ (ms|µs)|<style.*?</style>", re.DOTALL)
ACTS, MORE = 2, 12  # of each view, the second with --all


def parameter(key: str) -> str:
    unbound = UNBOUND.fullmatch(key)
    return unbound[1] if unbound else key


def controls(app: AppTest) -> dict[str, Any]:
    """Parameter -> its widget, and what other widgets there are by their keys."""
    drawn = [widget for kind in KINDS for widget in app.get(kind) if widget.key]
    return {parameter(widget.key): widget for widget in [*drawn, *model_sliders(app)]}


def set_at_random(widget: Any, draw: Random) -> Any:
    """Give the widget another value, which is returned; the page is not run."""
    match type(widget).__name__:
        case "TextArea":
            value = draw.choice(["my own words are here", "cat", "the sea the sea"])
        case "ModelSlider":
            value = draw.choice([stop for stop in widget.stops if stop <= 64])
        case "NumberInput":
            low, high = (-1e9 if widget.min is None else widget.min), (1e9 if widget.max is None else widget.max)
            value = type(widget.value)(min(max(widget.value + draw.choice([-1, 1, 2]) * (widget.step or 1), low), high))
        case "Toggle":
            value = not widget.value
        case "Selectbox" if parameter(widget.key) == "weights":
            value = draw.choice(WEIGHTS)
        case "Selectbox":
            value = draw.choice(getattr(PARAMETERS.get(parameter(widget.key)), "options", widget.options))
        case _:
            options = [getattr(option, "content", option) for option in widget.options]
            value = draw.choice(options)
            value = [value] if isinstance(widget.value, list) else value
    widget.set_value(value)
    return value


def act(app: AppTest, draw: Random) -> str:
    """Do something that the page offers; return what it was."""
    buttons = [button for button in app.get("button") if BUTTONS.match(button.key or "") and not button.disabled]
    if buttons and draw.random() < 0.4:
        button = draw.choice(buttons)
        button.click().run()
        return str(button.key)
    free = {key: widget for key, widget in controls(app).items() if key in PARAMETERS and not widget.disabled}
    key = draw.choice(sorted(free))
    sentence = f"{key} = {set_at_random(free[key], draw)}"
    app.run()
    return sentence


def screen(app: AppTest) -> tuple[dict[str, Any], list[str], dict[str, str]]:
    """Parameter -> value; the words, piece by piece; picture -> its query."""
    words = re.split("(?<=>)|(?=<)", TIMES.sub("", text_on(app)))
    shown = {data["name"]: data["query"] for data in component_data(app) if data.get("name") in PICTURES}
    return {key: widget.value for key, widget in controls(app).items() if key in PARAMETERS}, words, shown


def drawn(name: str, query: str) -> tuple[dict[str, Any], bytes]:
    header, numbers = content_of(name, query)
    return {key: value for key, value in header.items() if key != "query"}, numbers.tobytes()


@pytest.mark.parametrize(("name", "view"), VIEWS)
def test_after_any_act_the_link_brings_back_the_page(name, view, request):
    of, draw = lens(name), Random(f"{name} {view}")
    where = {f"{of.prefix}view": view} if len(of.views) > 1 else {}
    app = start(name, **dict(of.opens_with), **where)
    done: list[str] = []
    for _ in range(MORE if request.config.getoption("all_combinations") else ACTS):
        done.append(act(app, draw))
        app.run()  # a part of the page was run; now all of it is
        assert not app.exception, done
        (link,) = (data["link"] for data in component_data(app) if "link" in data)
        again = start(name, **dict(parse_qsl(urlsplit(link).query, keep_blank_values=True)))
        assert len(set(screen(again)[2].values())) < 2, f"pictures of one page show several states: {done}"
        (values, words, queries), (values_again, words_again, queries_again) = screen(app), screen(again)
        assert values_again == values, done
        assert words_again == words, done
        assert queries_again.keys() == queries.keys(), done
        for picture, query in queries.items():
            if queries_again[picture] != query:  # in what is on no screen, such as a control of another view
                assert drawn(picture, queries_again[picture]) == drawn(picture, query), done
