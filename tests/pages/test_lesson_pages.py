"""Lessons without a browser: the row, the ways through it, the page of all lessons, and a lesson that is brought."""

import json
from html import escape

import pytest

from benchmarks.streamlit_private.app_test import go_to, run_with_event
from tests.opening import new_app
from tests.pages.test_app import parameter, plain, start, text_on, widget
from tests.tfm_ui.lessons.lesson_text import LESSON, SECOND
from tests.tfm_ui.store.empty import empty_store
from tfm_ui.lessons import brought, kept, learn_page, shelf
from tfm_ui.page import controls
from tfm_ui.page.notices import NOTICES

WORDS = "The row of “was” says how much “was” takes from each word."
LEARN = "learn"
IN_LESSON = 'class="ask step"'  # of the row of a lesson, and not of that of questions


@pytest.fixture(autouse=True)
def lesson():
    """The name of a lesson that somebody has brought."""
    with empty_store(shelf):
        yield shelf.keep(LESSON, "somebody")


def told_by_browser(app, told):
    (component,) = [each for each in app.get("bidi_component") if "forgotten" in each.proto.json]
    run_with_event(app, component.proto.id, "told", told)
    assert not app.exception


def pressed(app, key):
    widget(app, key).click().run()
    assert not app.exception
    return app


def test_a_step_stands_in_the_place_of_the_question(lesson):
    app = start("attention", lesson=f"{lesson}.a-row-of-weights", attention_query="9")
    assert WORDS in text_on(app)
    assert IN_LESSON in text_on(app)
    assert widget(app, "_set_up").disabled
    assert widget(app, "_previous_question").disabled


def test_one_walks_on_to_another_lens_and_back(lesson):
    app = start("attention", lesson=lesson, attention_query="9", text="my own words")
    pressed(app, "_next_question")
    assert parameter(app, "lesson") == f"{lesson}.fewer-heads"
    assert "Each head is wider then." in text_on(app)
    assert app.session_state["heads_layer"] == 2
    pressed(app, "_previous_question")
    assert WORDS in text_on(app)
    assert parameter(app, "attention_query") == "9"


def test_the_address_of_a_step_with_trained_weights_opens_again_without_a_word():
    app = start("attention", lesson="why-a-head-looks-there.open-it")
    pressed(app, "_next_question")  # expected, and measured
    pressed(app, "_next_question")  # in a language model: Lab GPT, of 5 heads and width 160
    address = {name: app.query_params[name] for name in app.query_params}
    assert address["weights"] in ("lab-gpt", ["lab-gpt"])
    assert not {"num_heads", "d_model", "num_layers"} & set(address)
    again = start("attention", **{name: parameter(app, name) for name in address})
    assert "The link asked for" not in text_on(again)


def test_what_has_been_changed_is_told_and_one_press_goes_back(lesson):
    app = start("attention", lesson=lesson, attention_query="9", num_heads="2")
    assert "Changed since." in text_on(app)
    assert not widget(app, "_set_up").disabled
    pressed(app, "_set_up")
    assert "Changed since." not in text_on(app)
    assert app.query_params.get("num_heads", ["4"]) in (["4"], "4")


def test_what_an_act_brings_back_before_the_run_has_ended_is_not_taken_for_the_learners(monkeypatch):
    """The browser has not heard of the step's values, and sends those of the step before with whatever is pressed."""
    app = start("positions", lesson="positions.no-two-alike", positions_view="why", positions_width="16")
    with monkeypatch.context() as during:
        during.setattr(controls, "all_is_drawn", lambda: None)  # an act has ended the run
        pressed(app, "_next_question")
        widget(app, "positions_width").set_value(16).run()
    assert parameter(app, "lesson") == "positions.a-shift-is-one-matrix"
    assert "Changed since." not in text_on(app)
    assert app.session_state["positions_width"] == 64
    app.run()
    widget(app, "positions_width").set_value(16).run()
    assert "Changed since." in text_on(app)
    assert app.session_state["positions_width"] == 16


def test_who_leaves_a_step_before_its_run_has_ended_is_not_taken_back(monkeypatch):
    app = start("positions", lesson="positions.no-two-alike", positions_view="why")
    monkeypatch.setattr(controls, "all_is_drawn", lambda: None)
    pressed(app, "_next_question")
    app = go_to(app, "masks").run()
    assert "This step is in Positions." in text_on(app)


def test_a_step_of_another_lens_says_where_it_is(lesson):
    app = start("masks", lesson=f"{lesson}.fewer-heads")
    assert "This step is in Heads." in text_on(app)
    assert widget(app, "_answer").disabled
    pressed(app, "_set_up")
    assert "This step is in Heads." not in text_on(app)
    assert app.session_state["heads_layer"] == 2


def test_a_prediction_is_asked_for_and_compared_with_what_is_measured(lesson):
    app = start("attention", lesson=lesson, attention_query="9")
    pressed(app, "_answer")
    guess = next(box for box in app.number_input if "How wide is a head?" in box.label)
    guess.set_value(12).run()
    said = text_on(app)
    assert "You predicted 12 numbers. As set up, it is <b>8 numbers</b>." in said
    assert "Each head has 8 of the 32 numbers." in said
    assert app.session_state[kept.PROGRESS][lesson]["a-row-of-weights"] == {"answered": True, "guess": 12}


def test_a_task_is_done_when_its_condition_holds_and_stays_done(lesson):
    app = start("heads", lesson=f"{lesson}.fewer-heads", heads_layer="2")
    assert "☐ <b>Task:</b>" in text_on(app)
    app = go_to(new_app(lesson=f"{lesson}.fewer-heads", heads_layer="2", num_heads="2"), "heads").run()
    assert "☑ <b>Done:</b>" in text_on(app)
    pressed(app, "_set_up")
    assert "☑ <b>Done:</b>" in text_on(app)


def test_what_the_browser_has_kept_comes_back(lesson):
    app = start("attention", lesson=lesson, attention_query="9")
    told = {"progress": {lesson: {"a-row-of-weights": {"answered": True, "guess": 3}}}, "anew": False}
    told_by_browser(app, told)
    told_by_browser(app, {"progress": [1, "<script>"], "anew": 3})
    pressed(app, "_answer")
    assert "You predicted 3 numbers." in text_on(app)


def test_leaving_a_lesson_brings_the_questions_back(lesson):
    app = start("attention", lesson=lesson, attention_query="9")
    pressed(app, "_leave")
    assert "lesson" not in app.query_params
    assert WORDS not in text_on(app)
    assert IN_LESSON not in text_on(app)


NOBODYS = ["brought-" + "a" * 16, "brought-" + "0" * 32]


@pytest.mark.parametrize("asked", ["nobody", "start-here.no-such-step", *NOBODYS, "<b>", "..", "🦊" * 200])
def test_a_lesson_that_is_not_there_is_told_and_loses_nothing(asked):
    app = start("heads", lesson=asked, text="my own words")
    assert any("The link asked for lesson" in notice for notice in app.session_state[NOTICES])
    assert "lesson" not in app.query_params
    assert IN_LESSON not in text_on(app)
    app = start(LEARN, lesson=asked)
    assert "Learn" in text_on(app)


def test_all_lessons_are_listed_with_what_is_known_of_them():
    app = start(LEARN)
    said = text_on(app)
    for name in shelf.names():
        assert escape(shelf.shipped(name).title) in said
        assert widget(app, f"_start_{name}")
    first = shelf.shipped(shelf.START)
    told = {"progress": {shelf.START: {first.steps[0].name: {}, first.steps[1].name: {"reached": True}}}, "anew": False}
    told_by_browser(app, told)
    assert f"2 of {len(first.steps)} steps seen" in text_on(app)
    assert widget(app, f"_start_{shelf.START}").label == "Go on at step 3"
    pressed(app, "_forget_progress")
    assert "steps seen" not in text_on(app)
    assert widget(app, "_forget_progress").disabled


def test_a_lesson_starts_at_its_first_step():
    app = pressed(start(LEARN), f"_start_{shelf.START}")
    step = shelf.shipped(shelf.START).steps[0]
    assert parameter(app, "lesson") == f"{shelf.START}.{step.name}"
    assert escape(step.heading) in text_on(app)


def test_a_link_to_a_lesson_opens_its_first_step():
    app = start(LEARN, lesson=shelf.START)
    assert escape(shelf.shipped(shelf.START).steps[0].heading) in text_on(app)


def test_the_last_step_leads_to_the_page_that_says_what_comes_next(lesson):
    name = shelf.START
    last = shelf.shipped(name).steps[-1]
    app = pressed(start(last.show[0] if last.show[0] != "home" else "", lesson=f"{name}.{last.name}"), "_next_question")
    said = text_on(app)
    assert f"That was the last step of “{escape(shelf.shipped(name).title)}”." in said
    follows = shelf.after(name)
    assert not follows or escape(follows.lesson.title) in said


def box(app, key=brought.UPLOAD):
    return next(each for each in app.file_uploader if each.key == key)


def test_a_lesson_is_brought_and_its_link_opens_it_again():
    app = start(LEARN)
    box(app).upload("mine.md", LESSON.replace("One head, by hand", "Mine &amp; yours").encode(), "text/markdown").run()
    assert not app.exception
    name = parameter(app, "lesson")
    assert name.startswith(shelf.BEGINS)
    assert [plain(each.value).split("”")[0] for each in app.success] == ["“Mine &amp; yours"]
    assert "Mine &amp;amp; yours" in text_on(app)
    assert "Mine &amp;amp; yours" in text_on(start(LEARN, lesson=name))
    pressed(app, f"_start_{name}")
    assert WORDS in text_on(app)


@pytest.mark.parametrize(
    ("data", "told"),
    [
        (LESSON.replace("minutes: 5", "minutes: x").encode(), "mine.md:3: expected a whole number of minutes"),
        (LESSON.replace("d_k ==", "dk ==").encode(), "mine.md:27: expected names of the page Heads in reached"),
        (b"\xff\xfe\x00", "mine.md: expected text in UTF-8"),
        (b"", "mine.md:1: expected the lesson's title"),
    ],
)
def test_a_faulty_lesson_is_told_with_its_lines_and_nothing_is_kept(data, told):
    app = start(LEARN)
    box(app).upload("mine.md", data, "text/markdown").run()
    assert not app.exception
    assert any(told in plain(error.value) for error in app.error)
    assert "lesson" not in app.query_params


def test_what_is_exported_is_the_progress(lesson):
    app = start("attention", lesson=lesson, attention_query="9")
    assert json.loads(json.dumps(app.session_state[kept.PROGRESS])) == {lesson: {"a-row-of-weights": {}}}


def test_what_was_exported_is_brought_back_and_what_is_known_stays(lesson):
    app = start(LEARN)
    told_by_browser(app, {"progress": {lesson: {"a-row-of-weights": {"answered": True, "guess": 3}}}, "anew": False})
    step = shelf.shipped(shelf.START).steps[0].name
    exported = {shelf.START: {step: {"reached": True}}, lesson: {"a-row-of-weights": {"answered": True, "guess": 12}}}
    box(app, learn_page.FILE).upload("mine.json", json.dumps(exported).encode(), "application/json").run()
    assert any("The progress of 2 lessons is here again." in plain(each.value) for each in app.success)
    assert app.session_state[kept.PROGRESS][lesson]["a-row-of-weights"]["guess"] == 3
    assert app.session_state[kept.PROGRESS][shelf.START] == {step: {"reached": True}}
    box(app, learn_page.FILE).upload("my photo.json", b"no", "application/json").run()
    assert any(
        "my photo.json: expected the file that “Export my progress” saves" in plain(each.value) for each in app.error
    )
    assert app.session_state[kept.PROGRESS][shelf.START] == {step: {"reached": True}}


def test_words_of_a_stranger_are_text(lesson):
    evil = LESSON.replace(SECOND, SECOND.replace("Each head is wider then.", "$a$ **b** `c` :red[d] & \"e\" 'f'"))
    name = shelf.keep(evil, "somebody else")
    app = start("heads", lesson=f"{name}.fewer-heads", heads_layer="2")
    assert escape("$a$ **b** `c` :red[d] & \"e\" 'f'") in text_on(app)
