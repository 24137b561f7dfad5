"""The views contribution and change of the Attention lens without a browser: controls, buttons, links."""

import numpy as np
import pytest

from tests.pages.test_app import picture, start, text_on, widget

PAGE = "attention"


def lens(view: str, **query: str):
    return start(PAGE, attention_view=view, **query)


def maps(app, name: str) -> np.ndarray:
    """The numbers of a picture's maps, (map, row, column)."""
    header, numbers = picture(app, name)
    return np.frombuffer(numbers, np.float32).reshape(len(header["maps"]), len(header["rows"]["names"]), -1)


def changes(app) -> str:
    """The changes of B, as the pictures are asked for with them."""
    return picture(app, "change_weights")[0]["query"]


def test_a_silenced_head_leaves_its_own_weights_and_moves_the_rest():
    app = lens("change", attention_changes="")
    assert "A and B are the same" in text_on(app)
    widget(app, "_change_silence").click().run()
    assert not app.exception
    assert "attention_changes=silence+1.1" in changes(app)
    assert widget(app, "_change_silence").disabled
    assert (
        "The weights of layer 1, head 1 are the same, but in B its output is 0; the effect is shown below."
        in text_on(app)
    )
    widget(app, "attention_layer").set_value(2).run()
    assert np.nanmax(np.abs(maps(app, "change_weights")[2])) > 1e-3
    assert "Largest difference" in text_on(app)


def test_each_button_makes_its_change_and_each_cross_takes_it_back():
    app = lens("change", attention_changes="")
    for name in ("zero", "drop"):
        widget(app, f"_change_{name}").click().run()
    assert "attention_changes=zero+1+2%3B+drop+2" in changes(app)
    assert "Set aside: “zero 1 2”, as its token is dropped." in text_on(app)
    assert "set aside" in widget(app, "_done_0").label
    widget(app, "_done_1").click().run()
    assert "Set aside" not in text_on(app)
    widget(app, "_change_swap").click().run()
    assert "attention_changes=zero+1+2%3B+swap+6+2" in changes(app)
    widget(app, "_done_0").click().run()
    assert changes(app).endswith("attention_changes=swap+6+2")
    assert not app.exception


def test_another_word_takes_a_tokens_place():
    app = lens("change", attention_changes="drop 1")
    for word, held in (("dog; and more", "dog"), (" ", "dog"), ("hen", "hen")):
        (box,) = [box for box in app.text_input if box.key == "_change_word"]
        box.set_value(word).run()
        assert not app.exception
        assert f"attention_changes=drop+1%3B+replace+2+{held}" in changes(app)
    assert "cat→hen" in picture(app, "change_weights")[0]["columns"]["names"]


def test_more_changes_than_a_link_holds_of_a_cannot_be_kept_as_a():
    app = lens("change", attention_changes="; ".join(f"drop {number}" for number in range(1, 9)))
    assert not widget(app, "_change_pin").disabled
    many = "; ".join(f"weight 1.1 {number}>1 0.5" for number in range(2, 10))
    app = lens("change", attention_changes=many)
    assert widget(app, "_change_pin").disabled
    assert "no room" in widget(app, "_change_pin").help


def test_pin_and_back():
    app = lens("change", attention_changes="silence 1.1")
    widget(app, "_change_pin").click().run()
    assert "attention_pinned=silence+1.1" in changes(app)
    assert "A and B are the same" in text_on(app)
    widget(app, "_done_0").click().run()
    assert "A: 1 change" in [m["name"] for m in picture(app, "change_weights")[0]["maps"]]
    widget(app, "_change_back").click().run()
    assert "A and B are the same" in text_on(app)
    widget(app, "_change_unpin").click().run()
    assert "attention_pinned" not in changes(app)


def test_the_weight_that_is_dragged_joins_the_others_and_rescales_or_not():
    app = lens("change", attention_changes="silence 1.2; weight 1.1 6>2 0.9")
    slider = picture(app, "change_weights")[0]["slider"]
    assert (slider["parameter"], slider["value"]) == ("attention_changes", 0.9)
    assert f"{slider['before']}0.5{slider['after']}" == "silence 1.2; weight 1.1 6>2 0.5"
    widget(app, "attention_rescale").set_value(False).run()
    slider = picture(app, "change_weights")[0]["slider"]
    assert f"{slider['before']}0.5{slider['after']}" == "silence 1.2; weight 1.1 6>2 0.5 raw"


FULL = "; ".join([f"silence 8.{head}" for head in range(1, 17)] + ["silence 7.1", "silence 7.2", "drop 7", "drop 8"])


def test_a_full_link_takes_no_further_change_and_loses_none():
    app = lens("change", attention_changes=FULL)
    assert app.query_params["attention_changes"] == FULL
    assert not app.warning
    for name in ("silence", "zero"):
        assert widget(app, f"_change_{name}").disabled
        assert widget(app, f"_change_{name}").help == "The link has no room for it: take another change back."
    widget(app, "_done_0").click().run()
    assert not widget(app, "_change_silence").disabled
    assert widget(app, "_change_silence").help == ""


def test_no_weight_is_offered_to_be_dragged_that_the_link_would_drop():
    app = lens("change", attention_changes=FULL.replace("drop 7; drop 8", "zero 1 1"))
    assert picture(app, "change_weights")[0]["slider"] is None
    assert "The link has no room for another weight: take a change of B back." in text_on(app)
    for _ in range(2):
        widget(app, "_done_0").click().run()
    assert picture(app, "change_weights")[0]["slider"]
    assert "no room" not in text_on(app)


@pytest.mark.parametrize("before", ["drop 7; drop 8", "replace 2 hen"])
def test_what_is_asked_for_and_dropped_is_said_and_what_was_there_stays(before):
    held = FULL.replace("drop 7; drop 8", before)
    app = lens("change", attention_changes=held)
    (box,) = [box for box in app.text_input if box.key == "_change_word"]
    box.set_value("日" * 20).run()
    assert not app.exception
    assert app.query_params["attention_changes"] == held
    assert "Changes: a link holds 300 characters of changes" in text_on(app).replace("\\", "")


@pytest.mark.parametrize(
    ("asked", "held", "reason"),
    [("bogus; drop 1", "drop 1", "“bogus” is no change"), ("silence 1.1 ;drop 1", "silence 1.1; drop 1", "plainer")],
)
def test_a_bad_link_is_corrected_and_that_is_said(asked, held, reason):
    app = lens("change", attention_changes=asked)
    assert app.query_params["attention_changes"] == held
    assert reason in app.warning[0].value.replace("\\", "")
