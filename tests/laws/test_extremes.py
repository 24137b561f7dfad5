"""Every view at every extreme: with the smallest and the largest model, and each end of its own controls.

Lenses, views and controls come from the registry, so new ones are tested automatically.
"""

from functools import cache
from itertools import product
from typing import Any
from urllib.parse import urlencode

import numpy as np
import pytest

from tests.pages.rotated import in_turn
from tests.pages.test_app import component_data, start
from tfm_core import ARCHITECTURES, POSITIONAL
from tfm_ui.lenses import lens, lenses
from tfm_ui.pictures.registry import PICTURES, CannotBeShown, content_of
from tfm_ui.state.fields import Choice, Field, Flag, Number, Text, Whole, controls_of
from tfm_ui.state.links import as_text
from tfm_ui.state.model_state import ModelState
from tfm_ui.state.sizes import HEADS, LAYERS, WIDTH

# One token, two, equal ones, signs of HTML and of other scripts, and many.
TEXTS = (
    "cat",
    "hi you",
    "a a a a",
    "🦊 <b> שלום",
    "the captain looked at the sea and at the ship that was coming home",
)
CORNERS: dict[str, tuple[Any, ...]] = {
    "num_layers": (LAYERS.low, 4, LAYERS.high),
    "num_heads": (min(HEADS.options), max(HEADS.options)),
    "d_model": (min(WIDTH.options), max(WIDTH.options)),
    "architecture": ARCHITECTURES,
    "causal": (True, False),
    "positional": tuple(POSITIONAL),
    "weights": ("random", "random", "lab-gpt", "reverse"),
    "text": TEXTS,
}
ROWS, MOST = 6, 40  # links of each view, the second with --all
VIEWS = [(each.name, view) for each in lenses() for view in each.views]


@pytest.mark.parametrize("state", dict.fromkeys(each.state for each in lenses()), ids=lambda state: state.__name__)
def test_each_default_is_possible_in_every_model(state):
    axes = {name: CORNERS[name] for name in ("num_layers", "num_heads", "d_model", "architecture", "positional")}
    for values in product(*axes.values()):
        model = ModelState(**dict(zip(axes, values, strict=True)))
        for name, (field, default) in controls_of(state, state.limits(model)).items():
            assert field.read(as_text(default), None) == (default, ""), f"{name} in {values}"


def ends(field: Field) -> tuple[Any, ...]:
    """All options of a choice, both ends of a range."""
    match field:
        case Choice():
            return tuple(field.options)
        case Flag():
            return (True, False)
        case Whole() | Number():
            return (field.low, field.high)
        case Text():
            return ("", "28 19 5")
    return ()


@cache
def rows_of(name: str, view: str, count: int) -> list[dict[str, str]]:
    """`count` links of a view: with fewer than a control has values, other views of the lens get the others."""
    each = lens(name)
    of_lens = {field: ends(control) for field, (control, _) in controls_of(each.state).items()} | {"view": (view,)}
    axes = CORNERS | {each.prefix + field: values for field, values in of_lens.items() if values}
    turn = 100 * list(each.views).index(view)
    columns = {key: in_turn([*values], count, turn + at) for at, (key, values) in enumerate(axes.items())}
    return [{key: as_text(column[row]) for key, column in columns.items()} for row in range(count)]


@pytest.mark.parametrize(("name", "view"), VIEWS)
def test_each_view_is_drawn_at_every_extreme(request, name, view):
    count = MOST if request.config.getoption("all_combinations") else ROWS
    for query in rows_of(name, view, count):
        try:
            app = start(name, **query)
            assert not app.error
            pictures = [data for data in component_data(app) if "name" in data]
            of_lens = {data["query"] for data in pictures if PICTURES[data["name"]].state is lens(name).state}
            assert len(of_lens) < 2, f"pictures of one page show several states: {of_lens}"
            for data in pictures:
                assert_drawn(data["name"], data["query"])
        except Exception as fault:
            fault.add_note(f"/{name}?{urlencode(query)}")
            raise


def assert_drawn(name: str, query: str) -> None:
    """There is something to be drawn, or a sentence says why not."""
    try:
        header, numbers = content_of(name, query)
    except CannotBeShown as problem:
        header, numbers = {"problem": str(problem)}, np.zeros(0)
    drawn = header["figure"]["data"] if "figure" in header else header.keys() - {"about", "foot", "query"}
    assert numbers.size or drawn or header.get("about"), f"{name}: an empty picture without a sentence"
