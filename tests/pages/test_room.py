"""A room without a browser: opened, led by what the page asks, followed, and its page."""

from dataclasses import replace

import pytest

from benchmarks.streamlit_private.app_test import go_to
from tests.pages.test_app import parameter, start, text_on, widget
from tests.tfm_ui.classroom.conftest import kept
from tfm_ui.classroom import bar, following, room, session
from tfm_ui.classroom.asked import poll_of
from tfm_ui.classroom.following import Place
from tfm_ui.classroom.session import Mine
from tfm_ui.lenses import lens
from tfm_ui.page import controls, question_row
from tfm_ui.state.fields import Text, controls_of
from tfm_ui.state.model_state import ModelState

__all__ = ["kept"]  # a fixture: the rooms of this test
STEP = "why-attention.every-token-looks-by-itself"


def pressed(app, key):
    widget(app, key).click().run()
    assert not app.exception
    return app


def opened(app) -> Mine:
    """The room that this page has opened."""
    pressed(pressed(app, "_open_room"), "_begin_room")
    mine = app.session_state[session.ROOM]
    assert mine.leads
    return mine


def test_a_room_is_opened_told_of_and_closed():
    app = start("heads")
    pressed(app, "_open_room")
    assert any("No account and no names." in each.value for each in app.caption)
    mine = opened(app)
    assert room.look(mine.code).is_owner(mine.secret)
    assert mine.code in text_on(app)
    assert mine.secret not in text_on(app)
    pressed(app, "_close_room")
    assert session.ROOM not in app.session_state
    with pytest.raises(LookupError):
        room.look(mine.code)


def test_the_room_is_asked_what_the_page_asks_and_shown_what_it_computes():
    app = start("heads", lesson=STEP, heads_layer="1", heads_head="1")
    mine = opened(app)
    assert room.look(mine.code).asked is None
    pressed(app, "_answer")
    asked = room.look(mine.code).asked
    assert (asked.kind, asked.which) == ("number", f"lesson {STEP}")
    assert "itself included?" in asked.ask
    assert asked.about == "Every token looks by itself."
    room.answer(mine.code, "ada", asked.id, 7)
    widget(app, "heads_layer").set_value(2).run()  # it goes on being asked
    assert room.look(mine.code).shown is None
    pressed(app, "_show_answer")
    shown = room.look(mine.code).shown
    assert (shown.values, shown.measured) == ((7.0,), 10)
    assert shown.said.startswith("At all 10, each directly.")
    assert "predicted" not in text_on(app), "the room has, and the owner's box is empty"
    pressed(app, "_answer")  # hides it
    assert room.look(mine.code).asked is None
    pressed(app, "_answer")
    assert room.look(mine.code).shown == shown, "shown again, it has the same answers"


def test_what_is_said_of_an_answer_follows_what_is_on_screen():
    app = start("heads", causal="false", heads_question="looking-ahead")
    mine = opened(app)
    for key in ("_answer", "_show_answer"):
        pressed(app, key)
    before = room.look(mine.code).shown
    widget(app, "seed").set_value(8).run()
    assert not app.run().exception
    after = room.look(mine.code).shown
    assert after.id == before.id
    assert after.said != before.said
    room.ask(mine.code, mine.secret, poll_of("Ready?", ["yes", "no"]))  # from the desk
    widget(app, "seed").set_value(9).run()
    assert room.look(mine.code).asked.ask == "Ready?", "what is only renewed does not push a poll away"


def test_what_the_room_was_shown_is_not_asked_anew_after_a_reload_and_in_another_tab():
    first = start("heads", lesson=STEP, heads_layer="1", heads_head="1")
    mine = opened(first)
    for key in ("_answer", "_show_answer"):
        pressed(first, key)
    shown = room.look(mine.code).shown
    second = start("heads", lesson=STEP, heads_layer="1", heads_head="1")
    assert widget(second, "_answer").label == "Predict"
    second.session_state[session.ROOM] = mine
    assert widget(second.run(), "_answer").label == "Answer"
    assert room.look(mine.code).asked is None, "nothing is open in this tab"
    pressed(second, "_answer")
    assert room.look(mine.code).shown == shown


def test_a_tab_that_leads_again_asks_what_is_open_there_again():
    app = start("heads", lesson=STEP, heads_layer="1", heads_head="1")
    mine = opened(app)
    asked = room.look(pressed(app, "_answer").session_state[session.ROOM].code).asked
    app.session_state[session.ROOM] = replace(mine, leads=False)
    app.run()
    room.withdraw(mine.code, mine.secret, asked.id)  # by the tab that leads meanwhile
    app.session_state[session.ROOM] = mine
    app.run()
    assert room.look(mine.code).asked == asked


def test_the_answer_of_a_question_that_asks_for_no_prediction_is_told_to_all():
    app = start("heads")
    mine = opened(app)
    pressed(app, "_answer")
    now = room.look(mine.code)
    assert (now.asked.kind, now.asked.ask) == ("nothing", lens("heads").questions[0].ask)
    assert now.shown.said
    pressed(app, "_answer")
    assert room.look(mine.code).asked is None


def test_another_question_takes_the_place_of_the_one_before():
    asks = next(question for question in lens("masks").questions if question.predict)
    app = start("masks")
    mine = opened(app)
    app.session_state[controls.REQUESTED] = question_row.set_up_of(lens("masks"), asks)
    app.run()
    pressed(app, "_answer")
    first = room.look(mine.code).asked
    assert first
    pressed(app, "_next_question")
    assert room.look(mine.code).asked is None
    pressed(app, "_previous_question")
    assert room.look(mine.code).asked == first


def test_a_page_that_only_reads_in_a_room_asks_nothing():
    owner = start("heads", lesson=STEP, heads_layer="1", heads_head="1")
    mine = opened(owner)
    for other in (Mine(mine.code), Mine(mine.code, mine.secret, leads=False), Mine(mine.code, "forged", leads=True)):
        app = start("heads", lesson=STEP, heads_layer="1", heads_head="1")
        app.session_state[session.ROOM] = other
        pressed(app.run(), "_answer")
        assert room.look(mine.code).asked is None


def test_nothing_that_is_typed_is_among_what_moves():
    """The browser is told which parameters are texts: a preview of one is not said to the room."""
    names = {field for field, (kind, _) in controls_of(ModelState).items() if isinstance(kind, Text)}
    assert names == {"text", "target"} == set(bar._texts(ModelState, ""))


def test_a_task_that_a_member_has_done_is_counted_once():
    mine, step = room.begin("net"), "start-here.text-becomes-tokens"
    query = {"weights": "lab-gpt", "model_view": "block", "model_sub_layer": "embedding", "lesson": step}
    app = start("model", text="whale", **query)
    app.session_state[session.ROOM] = Mine(mine.code)
    app.run()
    assert room.look(mine.code).done(step) == 0
    for word in ("unbelievabilities", "incomprehensibilities"):
        widget(app, "text").set_value(word).run()
        assert not app.exception
        assert "☑" in text_on(app)
        assert room.look(mine.code).done(step) == 1


@pytest.mark.parametrize("page", ["heads", "masks"])
def test_a_page_goes_where_the_room_is_with_its_model_and_its_step(page):
    app = start("heads", seed="5", heads_layer="2")
    query = {"num_heads": ["8"], f"{page}_question": [""], "lesson": [STEP]} | (
        {"heads_head": ["7"]} if page == "heads" else {}
    )
    app.session_state[following.WISH] = Place(page, query)
    app.run()
    assert not app.exception
    assert following.WISH not in app.session_state
    if page == "heads":
        assert parameter(app, "heads_head") == "7"
        assert widget(app, "heads_layer").value == 1, "what the link does not name has its default"
        assert widget(app, "seed").value == 7
    assert parameter(app, "num_heads") == "8"
    assert parameter(app, "lesson") == STEP


@pytest.mark.parametrize(
    "told",
    [None, 7, {}, {"page": "heads"}, {"page": 1, "query": ""}, {"page": "heads", "query": "x" * 9000},
     {"page": "nowhere", "query": "a=b"}, {"page": "heads", "query": "heads_layer=99&num_heads=x&a=%ff", "number": -1}],
)  # fmt: skip
def test_whatever_a_browser_tells_of_a_room_the_page_stands(told, monkeypatch):
    class Told:
        follow = told

    app = start("heads")
    monkeypatch.setattr(following.st, "session_state", {session.BAR: Told(), **{}})
    following.told()
    wish = following.st.session_state.get(following.WISH)
    monkeypatch.undo()
    if wish:
        app.session_state[following.WISH] = wish
    app.run()
    assert not app.exception
    assert "Heads" in text_on(app)


def test_a_code_is_typed_in_any_way_and_a_wrong_one_is_said_beside_it():
    mine = room.begin("net")
    app = go_to(start("heads"), "room").run()
    assert "Type the four letters that the lecturer shows." in text_on(app)
    for code, words in (
        ("BBBB", "There is no room BBBB"),
        ("", "The code of a room has 4 letters"),
        (f" {mine.code.lower()} ", ""),
    ):
        widget(app, "_room_code").set_value(code)
        next(button for button in app.button if button.label == "Enter").click().run()
        assert not app.exception
        assert [words in each.value for each in app.warning] == ([True] if words else [])
    assert app.session_state[session.JOIN] == mine.code


def test_the_desk_is_the_owners_and_polls_the_room():
    mine = room.begin("net")
    app = go_to(start("heads"), "room")
    app.session_state[session.ROOM] = Mine(mine.code, mine.secret, leads=True)
    app.run()
    assert f"Your room {mine.code}" in text_on(app)
    for key, value in (("_poll_ask", "Ready?"), ("_poll_1", "yes"), ("_poll_2", "no")):
        widget(app, key).set_value(value)
    next(button for button in app.button if button.label == "Ask the room").click().run()
    asked = room.look(mine.code).asked
    assert (asked.ask, asked.options, asked.which) == ("Ready?", ("yes", "no"), "")
    room.end(mine.code, mine.secret)
    next(button for button in app.button if button.label == "Ask the room").click().run()
    assert "This room is closed" in text_on(app)
