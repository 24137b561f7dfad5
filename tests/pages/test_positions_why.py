"""The view "why" of the Positions lens without a browser."""

from tests.pages.test_app import picture, start, text_on, widget

POSITIONS = "positions"


def page(a: str):
    return start(POSITIONS, positions_view="why", positions_a=a, positions_b="nothing")


def test_what_a_scheme_has_no_say_in_is_not_asked():
    app = page("alibi")
    assert [w.key for w in app.get("number_input") if w.key == "positions_head"]
    assert not [w for w in app.get("button_group") if w.key == "positions_measure"]
    app = page("sinusoidal")
    assert not [w for w in app.get("number_input") if w.key == "positions_head"]
    widget(app, "positions_measure").set_value("distance").run()
    header, _ = picture(app, "positions_pairs")
    assert header["maps"][0]["name"] == "A: sinusoidal, ‖PE(m) − PE(n)‖"
    assert "None" not in text_on(app)
