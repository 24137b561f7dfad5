"""The bar of pages without a browser: its groups, and Learn, which is a page but no lens."""

from benchmarks.streamlit_private.app_test import go_to
from tests.opening import new_app
from tests.pages.test_app import start, text_on, widget
from tfm_ui.lenses import lenses

GROUPS = {"learn": ["home"], "check": ["clinic", "profiling"]}


def test_every_lens_belongs_to_a_group_and_groups_stand_together():
    groups = [each.group for each in lenses()]
    assert groups == sorted(groups, key=["learn", "look", "check"].index)
    assert {name: [each.name for each in lenses() if each.group == name] for name in GROUPS} == GROUPS


def test_the_row_for_phones_names_the_groups():
    app = start("masks")
    assert [html.proto.body for html in app.get("html") if 'class="group"' in html.proto.body] == [
        '<span class="group">look</span>',
        '<span class="group">check</span>',
    ]


def test_learn_keeps_the_model_and_leads_to_the_pages_beside_it():
    app = go_to(new_app(seed="5"), "learn").run()
    assert not app.exception
    assert widget(app, "seed").value == 5
    labels = [link.proto.label for link in app.get("page_link")]
    assert labels[-2:] == ["← Home", "Heads →"]
    go_to(app, "heads").run()
    assert widget(app, "seed").value == 5


def test_learn_has_nothing_to_present():
    app = go_to(new_app(present="true"), "learn").run()
    assert not app.exception
    assert "present" not in app.query_params
    assert " of 9<" not in text_on(app)
