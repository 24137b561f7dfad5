"""How many tokens are read: as many as the text has, until the slider is moved."""

import pytest

from benchmarks.streamlit_private.app_test import go_to
from tests.opening import PAGES
from tests.pages.asking import pick
from tests.pages.test_app import component_data, start, text_on, widget
from tfm_ui.state.model_state import ModelState
from tfm_ui.state.pass_cost import EXACT_UP_TO

LONG = "one two three four five six seven eight nine ten eleven twelve thirteen"
SLIDER, FOLLOW = "seq_len", "_follow_text"


def tokens(app) -> int:
    """What the slider shows."""
    return widget(app, SLIDER).value


def is_fixed(app) -> bool:
    """Whether the page says so."""
    return any(button.key == FOLLOW for button in app.button)


def link(app) -> str:
    """The link that is copied, and so what is stored."""
    (link,) = [data["link"] for data in component_data(app) if "link" in data]
    return link


def test_the_slider_follows_the_text_and_nothing_is_cut_or_padded():
    app = start()
    for text, count in (("a b c", 3), (LONG, 13), ("one", 2), ("word " * 300, EXACT_UP_TO), ("", 2)):
        widget(app, "text").set_value(text).run()
        assert not app.exception
        assert (tokens(app), is_fixed(app)) == (count, False)
        assert SLIDER not in app.query_params
    widget(app, "text").set_value("über").run()
    widget(app, "tokenizer").set_value("byte").run()
    assert tokens(app) == 5


def test_beside_the_slider_stands_what_it_follows():
    app = start()
    assert "follows the text<" in "".join(html.proto.body for html in app.sidebar.get("html"))
    widget(app, "text").set_value("word " * 300).run()
    assert "follows the text, up to 256<" in "".join(html.proto.body for html in app.sidebar.get("html"))
    assert "The text has 300 tokens; the first 256 are read." in text_on(app)


def test_once_moved_it_is_fixed_whatever_the_text_until_it_is_told_to_follow_again():
    app = start(text=LONG)
    widget(app, SLIDER).set_value(10).run()
    assert (tokens(app), is_fixed(app), app.query_params[SLIDER]) == (10, True, "10")
    assert "seq_len=10" in link(app)
    widget(app, "text").set_value("a b c").run()
    assert (tokens(app), app.query_params[SLIDER]) == (10, "10")
    widget(app, FOLLOW).click().run()
    assert (tokens(app), is_fixed(app)) == (3, False)
    assert SLIDER not in app.query_params
    assert "seq_len" not in link(app)


def test_a_number_that_is_chosen_is_fixed_even_if_the_text_has_as_many():
    app = start(text=LONG)
    widget(app, SLIDER).set_value(14).run()
    widget(app, SLIDER).set_value(13).run()
    assert (is_fixed(app), app.query_params[SLIDER]) == (True, "13")


@pytest.mark.parametrize(
    ("asked", "count", "stored"),
    [("10", 10, "10"), ("700", 700, "700"), ("67", 67, "67"), ("0", 13, "0"), ("abc", 13, "0"), ("1", 2, "2"),
     ("5000", 1024, "1024"), ("-3", 2, "2")],
)  # fmt: skip
def test_a_link_that_names_a_number_keeps_it(asked, count, stored):
    app = start(text=LONG, seq_len=asked)
    assert (tokens(app), is_fixed(app), app.query_params[SLIDER]) == (count, stored != "0", stored)
    corrected = [warning.value for warning in app.warning if "seq" in warning.value]
    assert len(corrected) == (asked != stored)
    assert ("seq_len" in link(app)) == (stored != "0")


def test_undo_and_reset():
    app = start(text=LONG)
    for act in (
        lambda: widget(app, SLIDER).set_value(7).run(),
        lambda: widget(app, SLIDER).set_value(5).run(),
        lambda: widget(app, FOLLOW).click().run(),
    ):
        act()
    shown = []
    for _ in range(3):
        widget(app, "_undo").click().run()
        shown.append((tokens(app), is_fixed(app)))
    assert shown == [(5, True), (7, True), (13, False)]
    assert widget(app, "_undo").disabled
    widget(app, SLIDER).set_value(7).run()
    widget(app, "_reset").click().run()
    assert (tokens(app), is_fixed(app)) == (10, False)


def test_questions_set_it_or_let_it_follow():
    app = start("heads", text=LONG, seq_len="7")
    for name, count, fixed in (("Who saw whom?", 11, True), ("First row", 10, False), ("A long text", 512, True)):
        pick(app, name)
        assert (tokens(app), is_fixed(app)) == (count, fixed)


def test_it_stays_what_it_is_from_page_to_page():
    app = start(text=LONG)
    for page in PAGES[1:]:
        assert (tokens(go_to(app, page).run()), is_fixed(app)) == (13, False)
    widget(app, SLIDER).set_value(7).run()
    for page in PAGES[1:]:
        app.query_params = {name: value for name, value in app.query_params.items() if name != SLIDER}
        assert (tokens(go_to(app, page).run()), app.query_params[SLIDER]) == (7, "7")
    app.query_params = {name: value for name, value in app.query_params.items() if name != SLIDER}  # Back, on this page
    assert (tokens(app.run()), is_fixed(app)) == (13, False)


def test_of_an_encoder_decoder_the_target_is_not_cut_either():
    model = ModelState(architecture="encoder-decoder", text="a b c", target=LONG)
    assert (len(model.source_tokens.ids), len(model.target_tokens.ids), model.longest) == (3, 13, 13)
    fixed = ModelState(architecture="encoder-decoder", text="a b c", target=LONG, seq_len=5)
    assert (len(fixed.source_tokens.ids), len(fixed.target_tokens.ids), fixed.longest) == (5, 5, 5)
    long = ModelState(architecture="encoder-decoder", target="word " * 400)
    assert len(long.target_tokens.ids) == EXACT_UP_TO
    heavy = {"architecture": "encoder-decoder", "num_layers": 8, "num_heads": 16}
    assert ModelState(**heavy, target="word " * 400).is_heavy
    assert not ModelState(**heavy).is_heavy
