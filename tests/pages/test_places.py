"""Each control is where the search says that it is: `python -m tests.places` writes down what these pages show."""

import pytest

from tests.places.measured import ELSEWHERE, of_model, shown
from tfm_ui.lenses import lens, lenses
from tfm_ui.search.places import Place, places

VIEWS = [(each.name, view) for each in lenses() for view in each.views]
AGAIN = "python -m tests.places writes it anew"


@pytest.mark.parametrize(("of_lens", "view"), VIEWS)
def test_a_view_shows_the_controls_that_the_search_leads_to(of_lens, view):
    this = lens(of_lens)
    here = {name: place for name, place in places().items() if name.startswith(this.prefix) and view in place.views}
    at_first = {name for name, place in here.items() if not place.needs}
    there = {name for name in shown(this, view) if name in places() and name.startswith(this.prefix)}
    elsewhere = ELSEWHERE.keys()  # some of these are here on a machine that has what they need
    assert there - {name for name in places() if places()[name].needs} - elsewhere == at_first - elsewhere, AGAIN
    for needs in {tuple(place.needs.items()) for place in here.values()} - {()}:
        needing = {name for name, place in here.items() if tuple(place.needs.items()) == needs}
        assert needing <= shown(this, view, **dict(needs)), AGAIN


def test_the_controls_of_the_model_stand_in_the_sidebar():
    for name, place in of_model().items():
        assert places()[name] == Place(**place), AGAIN
