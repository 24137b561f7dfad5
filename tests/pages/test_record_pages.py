"""The page of each lens draws what the record says without a page: so the record of a link is what its reader sees."""

import pytest

from benchmarks.streamlit_private.app_test import go_to
from tests.opening import new_app
from tests.record.addresses import HOME, Link
from tests.record.content import content_of, read
from tests.record.page import drawn
from tfm_ui.lenses import lenses
from tfm_ui.pictures.registry import query_of
from tfm_ui.state.fields import controls_of

PARTS = ("title", "shape", "sentence", "laws", "how to read", "picture", "table")


def parts_of(panel):
    return {name: panel[name] for name in PARTS if panel.get(name)}


@pytest.mark.parametrize("lens", lenses(), ids=lambda lens: lens.name)
def test_a_page_draws_what_the_record_says_without_it(lens):
    link = Link("?" if lens.name == HOME else f"{lens.name}?")
    recorded, page = content_of(link), drawn(go_to(new_app(), lens.name).run())
    assert list(page["panels"]) == list(recorded["panels"])
    for key, panel in recorded["panels"].items():
        assert parts_of(page["panels"][key]) == parts_of(panel)

    asked = read(link)
    states = ((asked.model, ""), (asked.lens(lens.state, lens.prefix), lens.prefix))
    assert page["pictures"].keys() <= recorded["pictures"].keys()
    assert set(page["pictures"].values()) == {query_of(states)}
    values = {prefix + name: getattr(state, name) for state, prefix in states for name in controls_of(type(state))}
    assert page["controls"].keys() <= values.keys()
    assert page["controls"] == {name: values[name] for name in page["controls"]}
    assert "text" in page["controls"]

    said = " ".join(page["html"])
    places = [place for place in recorded["order"] if isinstance(place, dict) and place.get("kind") == "plain"]
    for words in (recorded["question"]["ask"], *(place["note"] for place in places)):
        assert words in said
