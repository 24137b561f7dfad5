"""Views under one tab: each keeps its link, one tab opens them, and a choice leads from one to the others."""

from dataclasses import dataclass

import pytest

from tfm_ui.lenses import lens, lenses
from tfm_ui.page.lens import Lens, View
from tfm_ui.state.fields import Choice, control
from tfm_ui.state.lens_state import LensState

VIEWS = {
    "sizes": View(title="Sizes", choice="All", shows=[]),
    "colours": View(title="Colours", tab="sizes", shows=[]),
    "names": View(title="Names", shows=[]),
}


@dataclass(frozen=True, kw_only=True)
class State(LensState):
    view: str = control(Choice("View", tuple(VIEWS), "buttons"), default="sizes", held=True)


def toy(**views: View) -> Lens:
    return Lens(name="toy", title="Toy", state=State, views=VIEWS | views, questions=[])


def test_a_view_under_the_tab_of_another_has_no_tab_but_a_choice():
    made = toy()
    assert made.tabs == {"sizes": "Sizes", "names": "Names"}
    assert [made.tab_of(name) for name in VIEWS] == ["sizes", "sizes", "names"]
    assert made.choices("sizes") == made.choices("colours") == {"sizes": "All", "colours": "Colours"}
    assert made.choices("names") == {}  # it stands alone


def test_a_tab_that_there_is_not_is_no_tab():
    with pytest.raises(ValueError, match=r"tabs of their own, \['sizes'\], got \['colours'\]"):
        toy(names=View(title="Names", tab="colours", shows=[]))


@pytest.mark.parametrize("of", lenses(), ids=lambda of: of.name)
def test_views_under_one_tab_follow_each_other_and_have_controls(of):
    """The choice begins the row of controls; questions walk through views in this order."""
    tabs = [of.tab_of(name) for name in of.views]
    assert tabs == sorted(tabs, key=tabs.index)
    assert all(of.views[name].controls for name in of.views if of.choices(name))


def test_the_tabs_of_positions_and_profiling():
    assert list(lens("positions").tabs) == ["see", "why", "model", "beyond", "fault", "pairing"]
    assert list(lens("profiling").tabs) == ["compare", "length"]
    assert lens("positions").choices("table") == {"see": "A and B", "table": "All schemes"}
    assert list(lens("profiling").choices("parts").values()) == ["Costs", "By part", "Roofline"]
