"""The view "leaks" of the Masks lens without a browser."""

import pytest

from tests.pages.test_app import picture, start, text_on, widget, with_menus
from tests.tfm_ui.pictures.charts import prints_nan, values
from tfm_ui.lenses.masks.leaks import plan as leaks_plan
from tfm_ui.page import panels

PAGE = "masks"
PICTURES = ["masks_leaks", "masks_leaks_layers", "masks_leaks_distance"]


def view(**query: str):
    return start(PAGE, masks_view="leaks", **query)


def all_pictures(app) -> None:
    for name in PICTURES:
        header, numbers = picture(app, name)
        assert header["about"]
        assert not prints_nan(header)
        assert len(values(header, numbers))


@pytest.mark.parametrize(
    "query",
    [
        {},
        {"architecture": "decoder", "norm": "post", "positional": "alibi"},
        {"architecture": "encoder-decoder", "masks_place": "decoder"},
        {"architecture": "encoder-decoder", "masks_place": "cross", "num_layers": "1", "masks_promise": "window 3"},
        {"architecture": "encoder-decoder", "masks_place": "cross", "target": "🦊", "masks_mask": "cross and window 2"},
        {"text": "hi there", "seq_len": "2", "masks_item": "1", "num_heads": "1", "masks_tries": "8"},
        {"text": "🦊", "num_layers": "1", "masks_mask": "", "masks_promise": "causal", "causal": "false"},
        {"text": "שלום <b>a</b> $x$ **b**", "num_heads": "16", "masks_item": "1", "masks_texts": ""},
        {"masks_changed": "3", "masks_moved": "4"},
        {"masks_changed": "300", "masks_moved": "4"},
        {"text": "@alice", "seq_len": "64", "num_layers": "8", "masks_item": "1", "masks_mask": "strided 8"},
        {"text": "@alice", "seq_len": "1024", "masks_item": "1", "masks_mask": "window 16 or global 1"},
    ],
)
def test_the_view_runs(query, monkeypatch):
    monkeypatch.setattr(leaks_plan, "SECONDS", 0.2)
    app = view(**query)
    all_pictures(app)
    text = text_on(app)
    assert "<b>a</b>" not in text
    all_see_all = query.get("masks_mask") == "" and query.get("causal") == "false"
    assert ("✓ what the mask keeps apart moves by rounding alone, in every layer" in text) != all_see_all
    in_part = "are changed, spread over the text" in " ".join(info.value for info in app.info)
    assert in_part == (query.get("seq_len") == "1024")


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


@pytest.mark.parametrize("paint", ["~s2.9", "2x9.TAAAACQ"])  # as it is drawn, and as a link holds it
def test_a_painted_cell_plants_a_leak(paint):
    app = view(masks_item="1", masks_mask="causal", masks_paint=paint)
    text = text_on(app)
    assert "13 leaks in all, this is the largest." in text
    assert "✕ every output that moved was allowed to (13 leaks)" in text
    assert "What is allowed leaves out the step in layer 1." in text


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
