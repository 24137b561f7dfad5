"""The view "leaks" of the Masks lens without a browser."""

from tests.pages.test_app import picture, start, text_on, widget, with_menus
from tfm_ui.page import panels

PAGE = "masks"
PICTURES = ["masks_leaks", "masks_leaks_layers", "masks_leaks_distance"]


def view(**query: str):
    return start(PAGE, masks_view="leaks", **query)


def test_a_promise_and_the_replacements_are_controls():
    app = view(masks_item="1", causal="false", masks_mask="causal 1")
    assert "No leak: of 64" not in text_on(app)
    assert "✓ every output that moved was allowed to" in text_on(app)
    before = picture(app, "masks_leaks")[1]
    widget(app, "masks_tries").set_value(1).run()
    assert picture(app, "masks_leaks")[1] != before
    widget(app, "masks_promise").set_value("causal").run()
    assert not app.exception
    assert "✕ every output that moved was allowed to (17 leaks)" in text_on(app)
    assert len(picture(app, "masks_leaks")[0]["crosses"]) == 17


def test_of_a_table_that_is_too_much_for_a_browser_the_first_rows_are_sent_and_that_is_said(monkeypatch):
    monkeypatch.setattr(panels, "MOST_CELLS", 8 * 30)
    app = with_menus(["masks_leaks"], PAGE, masks_view="leaks", masks_item="1")
    (table,) = app.dataframe
    assert len(table.value) == 30
    (caption,) = (each.value for each in app.caption if " rows" in each.value)
    assert caption.startswith(
        "The first 30 of 100 rows: more are too much for a browser. The CSV file under “Download”"
    )


def test_every_menu_opens():
    app = with_menus(PICTURES, PAGE, masks_view="leaks", architecture="encoder-decoder", masks_place="cross")
    assert len(app.dataframe) == len(PICTURES)
    assert len(app.code) > len(PICTURES)
