"""No widget has a name with which its browser's message would be refused."""

import pytest

from tests.pages.test_app import start
from tfm_ui.lenses import lenses
from tfm_ui.server.page_runs import is_name

VIEWS = [(lens.name, view) for lens in lenses() for view in lens.views]


def names(app):
    """The names of all widgets on the page: what has no value for the server has none."""
    return [name for element in [*app.main, *app.sidebar] if (name := getattr(element.proto, "id", ""))]


@pytest.mark.parametrize("weights", ["reverse", "authors"])
def test_of_trained_weights_whose_name_stands_in_the_names(weights):
    asked = names(start("heads", weights=weights))
    assert any(not name.isascii() for name in asked)
    assert [name for name in asked if not is_name(name)] == []


@pytest.mark.parametrize(("lens", "view"), VIEWS)
def test_of_every_view(lens, view):
    asked = names(start(lens, **({f"{lens}_view": view} if lens != "home" else {})))
    assert asked
    assert [name for name in asked if not is_name(name)] == []
