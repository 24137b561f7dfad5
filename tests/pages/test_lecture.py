"""The lecture of a visitor, without a browser: what is added to it, its page, what is presented, the speaker's page."""

import json
import time

import pytest

from benchmarks.streamlit_private.app_test import go_to, run_with_event
from tests.opening import new_app
from tests.pages.test_app import parameter, start, text_on, widget
from tests.tfm_ui.lessons.lesson_text import LESSON
from tests.tfm_ui.store.empty import empty_store
from tfm_ui.lenses import lens
from tfm_ui.lessons import collect, draft, lecture, shelf, talk
from tfm_ui.lessons.reader import read
from tfm_ui.lessons.writer import written
from tfm_ui.state.model_state import ModelState
from tfm_ui.store.kinds import TALKS
from tfm_ui.store.shared import store

WITH_NOTES = LESSON.replace("answer: Each", "notes: Wait for their guesses.\nminutes: 2\nanswer: Each")


@pytest.fixture(autouse=True)
def lesson():
    """The name of a lesson that somebody has brought."""
    with empty_store(shelf):
        yield shelf.keep(WITH_NOTES, "somebody")


def pressed(app, key):
    widget(app, key).click().run()
    assert not app.exception
    return app


def steps(app):
    return [step.name for step in app.session_state[lecture.LECTURE].steps]


def lecture_of(app):
    """The page of the lecture, in the session of this page."""
    opened = go_to(app, "lecture").run()
    assert not opened.exception
    return opened


def test_a_question_a_step_and_a_page_are_added(lesson):
    app = start("heads")
    pressed(app, "_add_to_lecture")
    assert "is step 1 of your lecture" in text_on(app)
    pressed(app, "_next_question")
    pressed(app, "_add_to_lecture")
    assert len(set(steps(app))) == 2
    added = app.session_state[lecture.LECTURE].steps
    assert [step.show[0] for step in added] == ["heads", "heads"]
    app = start("attention", lesson=f"{lesson}.a-row-of-weights", attention_query="9")
    pressed(app, "_add_to_lecture")
    assert app.session_state[lecture.LECTURE].steps == read(WITH_NOTES).steps[:1]


def test_the_page_puts_steps_in_order_and_takes_words():
    app = start("heads")
    pressed(app, "_add_to_lecture")
    pressed(app, "_next_question")
    pressed(app, "_add_to_lecture")
    first, second = steps(app)
    app = lecture_of(app)
    assert widget(app, "_up_0").disabled
    pressed(app, "_down_0")
    assert steps(app) == [second, first]
    widget(app, f"_lecture_heading_{second}").set_value("What comes first").run()
    assert app.session_state[lecture.LECTURE].steps[0].heading == "What comes first"
    widget(app, f"_lecture_minutes_{second}").set_value(9).run()
    assert app.session_state[lecture.LECTURE].minutes == 9 + draft.MINUTES
    widget(app, "_lecture_title").set_value("Heads on Monday").run()
    assert app.session_state[lecture.LECTURE].title == "Heads on Monday"
    pressed(app, "_out_0")
    assert steps(app) == [first]
    pressed(app, "_undo_lecture")
    assert steps(app) == [second, first]


def test_what_cannot_be_taken_stays_in_its_box_and_is_said():
    app = start("heads")
    pressed(app, "_add_to_lecture")
    (name,) = steps(app)
    app = lecture_of(app)
    before = app.session_state[lecture.LECTURE]
    widget(app, f"_lecture_heading_{name}").set_value("<b>bold</b>").run()
    assert app.session_state[lecture.LECTURE] == before
    assert widget(app, f"_lecture_heading_{name}").value == "<b>bold</b>"
    assert "Not taken" in app.error[0].value
    assert "what looks like HTML" in app.error[0].value
    widget(app, f"_lecture_heading_{name}").set_value("Plain").run()
    assert not app.error


def test_it_is_kept_on_the_server_and_presented_from_its_first_step():
    app = start("masks")
    pressed(app, "_add_to_lecture")
    app = lecture_of(app)
    pressed(app, "_keep_lecture")
    name = app.session_state["_lecture_kept"]
    assert shelf.find(name) == app.session_state[lecture.LECTURE]
    pressed(app, f"_present_{name}")
    assert parameter(app, "present") == "true"
    assert parameter(app, "lesson") == f"{name}.{steps(app)[0]}"


def test_a_change_after_that_is_said_and_is_kept_under_another_name():
    app = start("masks")
    pressed(app, "_add_to_lecture")
    app = lecture_of(app)
    pressed(app, "_keep_lecture")
    name = app.session_state["_lecture_kept"]
    widget(app, "_lecture_title").set_value("Another").run()
    assert "The link below shows it as it was" in text_on(app)
    pressed(app, "_keep_lecture")
    assert app.session_state["_lecture_kept"] != name
    assert shelf.find(name).title == draft.EMPTY.title


def told(app, **values):
    (component,) = [each for each in app.get("bidi_component") if '"changed"' in each.proto.json]
    run_with_event(app, component.proto.id, "told", values)
    assert not app.exception


def test_what_the_browser_has_kept_comes_back_if_it_is_later():
    app = start("heads")
    told(app, text=LESSON, changed=1000)
    assert app.session_state[lecture.LECTURE] == read(LESSON)
    told(app, text=WITH_NOTES, changed=999)
    assert app.session_state[lecture.LECTURE] == read(LESSON)
    told(app, text="", changed=2000)
    assert app.session_state[lecture.LECTURE] == draft.EMPTY


@pytest.mark.parametrize(
    ("text", "changed"),
    [("no lesson", 5), (LESSON, True), (LESSON, "5"), (3, 5), (None, None), ("a" * 200_000, 5), (LESSON, 10**20)],
)
def test_what_a_browser_tells_that_is_no_lecture_is_left_out(text, changed):
    app = start("heads")
    told(app, text=text, changed=changed)
    assert lecture.LECTURE not in app.session_state


def test_a_lessons_steps_become_the_beginning_of_a_lecture():
    app = go_to(new_app(), "lecture").run()
    pressed(app, "_add_lesson")
    assert app.session_state[lecture.LECTURE] == shelf.shipped("start-here")
    widget(app, "_lesson_to_add").set_value("why-attention").run()
    pressed(app, "_add_lesson")
    assert len(steps(app)) == len(shelf.shipped("start-here").steps) + len(shelf.shipped("why-attention").steps)


def speaker(talk_name):
    return go_to(new_app(talk=talk_name), "speaker").run()


def test_the_speakers_page_follows_what_is_presented(lesson):
    app = start("attention", lesson=f"{lesson}.a-row-of-weights", attention_query="9", present="true")
    pressed(app, "_speaker")
    name = app.session_state[talk.TALK]
    app.run()
    said = text_on(speaker(name))
    assert "Wait for their guesses." in said
    assert "step 1 of 2" in said
    assert "<b>Next:</b> Fewer heads." in said
    pressed(app, "_next_question")
    said = text_on(speaker(name))
    assert "step 2 of 2" in said
    assert "This is the last step." in said


def test_a_page_that_is_loaded_anew_goes_on_with_its_talk(lesson):
    app = start("attention", lesson=f"{lesson}.a-row-of-weights", attention_query="9", present="true")
    pressed(app, "_speaker")
    app.run()
    name = app.session_state[talk.TALK]
    began = json.loads(store().get(TALKS, name))["began"]
    again = start("heads", lesson=f"{lesson}.fewer-heads", heads_layer="2", present="true", talk=name)
    assert json.loads(store().get(TALKS, again.session_state[talk.TALK])) == {
        "link": f"{lesson}.fewer-heads",
        "began": began,
        "step_began": pytest.approx(time.time(), abs=600),
    }


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("", "expected the name of a talk"),
        ("<b>", "expected the name of a talk"),
        ("talk-" + "a" * 16, "Nothing is presented yet."),
    ],
)
def test_a_link_without_a_talk_says_so(name, said):
    app = speaker(name)
    assert not app.exception
    assert said in " ".join(box.value for box in app.info)


def test_nobody_who_does_not_present_is_followed(lesson):
    app = start("attention", lesson=f"{lesson}.a-row-of-weights", attention_query="9", talk="talk-" + "b" * 16)
    assert not app.exception
    assert store().get(TALKS, "talk-" + "b" * 16) is None


def test_a_lecture_without_notes_says_so(lesson):
    name = shelf.keep(written(read(LESSON)), "somebody")
    app = start("attention", lesson=f"{name}.a-row-of-weights", attention_query="9", present="true")
    pressed(app, "_speaker")
    app.run()
    assert "No notes to this step." in text_on(speaker(app.session_state[talk.TALK]))


def test_what_was_kept_is_known_after_the_page_was_loaded_anew():
    app = start("masks")
    pressed(app, "_add_to_lecture")
    text = written(app.session_state[lecture.LECTURE])
    app = lecture_of(app)
    pressed(app, "_keep_lecture")
    again = go_to(new_app(), "lecture").run()
    told(again, text=text, changed=1000)
    assert app.session_state["_lecture_kept"] in " ".join(code.value for code in again.code)


def test_a_question_is_added_with_the_settings_on_screen():
    app = start("attention", attention_view="steps", text="my own words here", attention_query="3", num_layers="1")
    pressed(app, "_add_to_lecture")
    (step,) = app.session_state[lecture.LECTURE].steps
    assert step.query["text"] == ["my own words here"]
    assert step.query["num_layers"] == ["1"]


def test_a_page_of_ones_own_gets_a_question():
    app = start("attention")
    of = lens("attention")
    app.session_state[lecture.LECTURE] = draft.added(draft.EMPTY, collect.of_page(of, ModelState(), of.state()))
    (name,) = steps(app)
    app.session_state[f"lecture_more_{name}"] = True  # its form is open
    app = lecture_of(app)
    typed = {"ask": "Which word?", "options": "my | own | words", "right": "own", "answer": "It is own."}
    for field, value in typed.items():
        widget(app, f"_lecture_{field}_{name}").set_value(value)
    widget(app, f"FormSubmitter:lecture_question_{name}-Take the question").click().run()
    (step,) = app.session_state[lecture.LECTURE].steps
    assert (step.predict.ask, step.predict.options) == ("Which word?", ("my", "own", "words"))
    assert step.predict.measured.value({}) == "own"


def test_the_speaker_sees_the_answer_that_the_hall_does_not(lesson):
    app = start("attention", lesson=f"{lesson}.a-row-of-weights", attention_query="9", present="true")
    pressed(app, "_speaker")
    app.run()
    page = speaker(app.session_state[talk.TALK])
    assert "Each head has 8 of the 32 numbers." not in text_on(page)
    pressed(page, "_answer_a-row-of-weights")
    assert "Each head has 8 of the 32 numbers." in text_on(page)
