"""Acts that change many controls at once, and taking them back: questions, samples, Undo, Reset, presenting."""

from collections import Counter
from html import escape
from urllib.parse import urlencode

import pytest

from benchmarks.streamlit_private.app_test import go_to
from tests.opening import PAGES, new_app
from tests.pages.asking import pick
from tests.pages.test_app import HEADS, shown, start, text_on, widget
from tfm_ui.lenses import lens as lens_of
from tfm_ui.lenses import lenses
from tfm_ui.lenses.heads import questions as heads
from tfm_ui.lenses.heads.state import HeadsState
from tfm_ui.lenses.home import questions as home
from tfm_ui.page.question_numbers import NAMES
from tfm_ui.state.fields import controls_of, held_by
from tfm_ui.state.links import TEXT_CHARS
from tfm_ui.state.model_state import ModelState

HOME = "home"
HEADS_QUESTIONS = {question.name: question for question in heads.QUESTIONS}


def held(app) -> tuple[ModelState, HeadsState]:
    """What the model's controls and the lens's hold."""

    def state(kind, prefix):
        names = [name for name in controls_of(kind) if prefix + name in app.session_state and name not in held_by(kind)]
        return kind(**{name: app.session_state[prefix + name] for name in names}, **in_address(app, kind, prefix))

    return state(ModelState, ""), state(HeadsState, "heads_")


def in_address(app, kind, prefix):
    """What the address holds of fields that no widget holds."""
    asked = {name: app.query_params[prefix + name] for name in held_by(kind) if prefix + name in app.query_params}
    assert all(isinstance(raw, str) for raw in asked.values())
    return {name: controls_of(kind)[name][0].read(raw, None)[0] for name, raw in asked.items()}


@pytest.mark.parametrize(("page", "these"), [(HOME, home.QUESTIONS), (HEADS, heads.QUESTIONS)])
def test_every_question_can_be_asked_and_sets_the_page_up(page, these):
    app = start(page, seed="99", heads_head="3")
    for question in these:
        pick(app, question.name)
        if not widget(app, "_set_up").disabled:  # it was asked already, of another set-up; this brings its own
            widget(app, "_set_up").click().run()
        assert held(app)[0] == ModelState(**question.model)
        assert held(app)[1] == HeadsState(**question.controls, **({"question": question.link} if page == HEADS else {}))
        assert escape(question.ask) in text_on(app)


def test_a_question_stays_when_a_control_moves_and_says_that_its_set_up_was_left():
    app = pick(start(), "Looking ahead")
    question = HEADS_QUESTIONS["Looking ahead"]
    assert widget(app, "_set_up").disabled
    widget(app, "heads_head").set_value(2).run()
    assert escape(question.ask) in text_on(app)
    assert (widget(app, "_set_up").disabled, widget(app, "_set_up").label) == (False, "Set up")
    widget(app, "_set_up").click().run()
    assert app.session_state["heads_head"] == 1
    assert (widget(app, "_set_up").disabled, widget(app, "_set_up").label) == (True, "As set up")


def test_undo_takes_back_one_act_after_the_other():
    app = start()
    assert widget(app, "_undo").disabled
    states = [held(app)]
    for act in (
        lambda: widget(app, "num_heads").set_value(8).run(),
        lambda: widget(app, "heads_head").set_value(7).run(),
        lambda: widget(app, "_next_question").click().run(),
        lambda: widget(app, "text").set_value("quite another").run(),
        lambda: widget(app, "_reset").click().run(),
    ):
        act()
        states.append(held(app))
    assert states[-1] == states[0]
    for before in states[-2::-1]:
        widget(app, "_undo").click().run()
        assert not app.exception
        assert held(app) == before
    assert widget(app, "_undo").disabled


def test_undo_says_what_it_takes_back():
    app = start()
    widget(app, "num_heads").set_value(8).run()
    assert widget(app, "_undo").help.replace("\\", "") == "Undoes: num_heads 8 → 4"


def test_undo_brings_back_a_head_that_a_smaller_model_had_none_of():
    app = start(num_heads="16", heads_head="16")
    widget(app, "num_heads").set_value(2).run()
    assert app.session_state["heads_head"] == 2
    widget(app, "_undo").click().run()
    assert (widget(app, "num_heads").value, app.session_state["heads_head"]) == (16, 16)


@pytest.mark.parametrize("button", ["_undo", "_reset"])
def test_what_is_taken_back_on_one_page_is_taken_back_on_another(button):
    app = start()
    widget(app, "heads_head").set_value(3).run()
    go_to(app, HOME).run()
    widget(app, button).click().run()
    go_to(app, HEADS).run()
    assert app.session_state["heads_head"] == 1


def test_a_page_that_had_no_text_has_its_picture_as_soon_as_there_is_one():
    app = start(text="")
    assert "Type at least one word" in app.info[0].value
    widget(app, "text").set_value("hello").run()
    assert not app.info
    assert shown(app)[0].tolist() == [1, 0]


@pytest.mark.parametrize("asked", [2, 63, 65, 100, 127])
def test_a_link_may_ask_for_a_number_between_the_sliders_stops(asked):
    app = start(seq_len=str(asked))
    assert widget(app, "seq_len").value == asked
    assert shown(app).shape == (asked, asked)
    assert not app.warning


def test_a_sample_is_read_and_its_origin_stands_below_the_box():
    app = start(text="@jack", seq_len="9")
    assert widget(app, "text").value == "@jack"
    assert "Nursery rhyme, The House That Jack Built, 18th century, public domain" in text_on(app)
    assert "the first 9 are read" in text_on(app)


def test_a_name_that_is_none_is_read_as_it_stands_and_that_is_said():
    app = start(text="@alcie", seq_len="2")
    assert "No sample has this name" in text_on(app)
    assert not start(text="@bob hi", seq_len="2").caption


def test_of_a_long_text_all_is_read_and_the_page_says_what_links_carry():
    app = start(text="word " * 600, seq_len="12")
    assert app.session_state["text"] == "word " * 600
    assert f"carry the first {TEXT_CHARS:,} of the 3,000 characters of “Text”." in text_on(app)
    assert not app.warning
    widget(app, "text").set_value("short").run()
    assert "carry the first" not in text_on(app)


def test_many_corrections_are_one_notice_folded_until_dismissed():
    app = start(num_heads="7", seq_len="-5", seed="abc", causal="perhaps", heads_head="99")
    assert len(app.warning) == 1
    assert app.warning[0].value.count("The link asked for") == 3
    (more,) = [e for e in app.expander if e.label == "and 2 more"]
    assert more.markdown[0].value.count("The link asked for") == 2
    widget(app, "num_heads").set_value(4).run()
    assert app.warning
    widget(app, "_dismiss").click().run()
    assert not app.warning


@pytest.mark.parametrize("page", PAGES)
def test_presenting_has_a_bar_that_leads_to_the_lenses_beside_this_one_and_no_tools(page):
    app = start(page, present="true")
    at, titles = PAGES.index(page), [lens.title for lens in lenses()]
    assert f"{at + 1} of {len(PAGES)}" in text_on(app)
    before, after = widget(app, "_previous_lens"), widget(app, "_next_lens")
    assert before.label == (f"{titles[at - 1]}, the lens before this" if at else "No other lens")
    assert after.label == (f"{titles[at + 1]}, the lens after this" if page != PAGES[-1] else "No other lens")
    assert (before.disabled, after.disabled) == (at == 0, page == PAGES[-1])
    widget(app, "_exit").click().run()
    assert not app.exception
    assert f" of {len(PAGES)}<" not in text_on(app)
    widget(app, "_present").click().run()
    assert f" of {len(PAGES)}<" in text_on(app)


def test_questions_are_walked_from_the_first_to_the_last():
    app = start(present="true")
    assert widget(app, "_previous_question").disabled
    for key, at in (("_next_question", 1), ("_next_question", 2), ("_previous_question", 1), ("_previous_question", 0)):
        widget(app, key).click().run()
        assert escape(heads.QUESTIONS[at].ask) in text_on(app)
    assert widget(app, "_previous_question").disabled


@pytest.mark.parametrize("presents", [False, True])
@pytest.mark.parametrize("lens", lenses(), ids=lambda lens: lens.name)
def test_after_the_last_question_the_row_says_what_comes_next_and_leads_there(lens, presents):
    last, kept = lens.questions[-1], {"present": "true"} if presents else {}
    app = start(lens.name, **{f"{lens.prefix}question": last.link, **kept})
    widget(app, "_next_question").click().run()
    assert not app.exception
    assert app.query_params[f"{lens.prefix}question"] == "end"
    text, said = text_on(app), escape(lens.leads_on.after(lens.title))
    assert said in text
    assert f'data-number="{len(lens.questions) + 1}"' in text
    assert escape(last.ask) not in text
    assert widget(app, "_next_question").disabled
    assert not [button for button in app.button if button.key in ("_answer", "_set_up")]
    links = {
        link.proto.page: link.proto for link in app.get("page_link") if link.proto.label == f"{lens.leads_on.title} →"
    }
    assert links[lens.leads_on.name].query_string == urlencode(kept)
    widget(app, "_previous_question").click().run()
    assert f'data-number="{len(lens.questions)}"' in text_on(app)
    assert app.query_params[f"{lens.prefix}question"] == last.link
    widget(app, "_undo").click().run()
    assert said in text_on(app)


def shown_after(app) -> str:
    """What stands below the answer, after the name."""
    if not widget(app, "_set_up").disabled:
        widget(app, "_set_up").click().run()
    widget(app, "_answer").click().run()
    if any(button.key == "_show_answer" for button in app.button):
        assert not [button for button in app.button if button.key == "_ask_next"]  # before there is an answer
        widget(app, "_show_answer").click().run()
    assert not app.exception
    return app.get("html")[[element.proto.body for element in app.get("html")].index("<p>Next: </p>") + 1].proto.body


def links_on(app) -> Counter:
    """The links to pages: label, page and parameters of each."""
    return Counter((link.proto.label, link.proto.page, link.proto.query_string) for link in app.get("page_link"))


@pytest.mark.parametrize(
    ("page", "name", "label"),
    [
        ("attention", "Half of the weight", "Rollout"),
        ("attention", "Not scaled", "Half of the weight (Word to word)"),  # of another view
        ("heads", "First row", "Who saw whom?"),  # which ends with a sign of its own
        ("home", "A trained model", "First look"),
    ],
)
def test_below_the_answer_stands_the_next_question_and_a_press_asks_it(page, name, label):
    lens = lens_of(page)
    now = next(question for question in lens.questions if question.name == name)
    after = lens.questions[lens.questions.index(now) + 1]
    by_row, by_line = (start(page, **{f"{lens.prefix}question": now.link}) for _ in range(2))
    widget(by_row, "_next_question").click().run()
    goes_on = " Because" if label.endswith("?") else ", because"
    assert shown_after(by_line) == f"<p>{goes_on} {escape(after.because)}</p>"
    assert widget(by_line, "_ask_next").label == label
    widget(by_line, "_ask_next").click().run()
    assert not by_line.exception
    assert escape(after.ask) in text_on(by_line)
    assert by_line.query_params == by_row.query_params
    assert not [button for button in by_line.button if button.key == "_ask_next"]  # its own answer is not open yet


@pytest.mark.parametrize("presents", [False, True])
@pytest.mark.parametrize("lens", lenses(), ids=lambda lens: lens.name)
def test_below_the_last_answer_stands_the_lens_that_comes_next(lens, presents):
    kept = {"present": "true"} if presents else {}
    app = start(lens.name, **{f"{lens.prefix}question": lens.questions[-1].link, **kept})
    before = links_on(app)
    assert shown_after(app) == f"<p>, because {escape(lens.leads_on.why)}</p>"
    assert links_on(app) - before == Counter([(lens.leads_on.title, lens.leads_on.name, urlencode(kept))])


def test_a_link_to_the_end_opens_the_view_of_the_last_question():
    app = start("attention", attention_question="end")
    assert not app.warning
    assert app.query_params["attention_view"] == lens_of("attention").questions[-1].controls["view"]
    assert escape(lens_of("attention").leads_on.after("Attention")) in text_on(app)
    widget(app, "_view_arcs").click().run()
    assert "attention_question" not in app.query_params


@pytest.mark.parametrize(
    ("asked", "is_on", "noted"), [("TRUE", True, False), ("false", False, False), ("🦊", False, True)]
)
def test_present_in_a_link_is_checked_too(asked, is_on, noted):
    app = start(present=asked)
    assert text_on(app).count(f" of {len(PAGES)}<") == is_on
    assert len(app.warning) == noted


@pytest.mark.parametrize("lens", lenses(), ids=lambda lens: lens.name)
def test_without_a_text_the_answer_asks_for_one(lens):
    for view in lens.views if len(lens.views) > 1 else [""]:
        uses_model = not view or lens.views[view].uses_model
        app = go_to(new_app(text=" ", **({lens.prefix + "view": view} if view else {})), lens.name)
        if not widget(app.run(), "_answer").disabled:
            widget(app, "_answer").click().run()
        assert not app.exception
        said = [html.proto.body for html in app.get("html") if 'class="said"' in html.proto.body]
        is_asked = widget(app, "_set_up").label != "Set up this question"
        assert any("Type at least one word" in body for body in said) == (uses_model and is_asked)
        assert ("Type at least one word" in "".join(info.value for info in app.info)) == uses_model


@pytest.mark.parametrize(
    ("page", "name", "view"),
    [
        ("attention", "a-blend", "dictionary"),
        ("masks", "one-row-per-sentence", "conventions"),
        ("attention", "step-by-step", None),
        ("heads", "looking-ahead", None),
    ],
)
def test_a_link_that_names_only_a_question_opens_its_view_and_a_number_of_earlier_days_is_a_name(page, name, view):
    number = [question.link for question in lens_of(page).questions].index(name) + 1
    for asked in (name, str(NAMES[page].split().index(name) + 1)):
        app = start(page, **{f"{page}_question": asked})
        assert f'data-number="{number}"' in text_on(app)
        assert app.query_params.get(f"{page}_view") == view
        assert app.query_params[f"{page}_question"] == name
        assert not app.warning


@pytest.mark.parametrize(
    ("page", "name", "shown"),
    [
        ("generate", "jobs", {"shows": "attention"}),
        ("training", "reversing-further", {"view": "compare", "tested": "longer"}),
    ],
)
def test_a_link_that_names_only_a_question_shows_its_picture_until_the_reader_shows_another(page, name, shown):
    app = start(page, **{f"{page}_question": name})
    where = {f"{page}_{field}": value for field, value in shown.items()}
    assert where.items() <= app.query_params.items()
    *_, control = where
    first = {"generate_shows": "choice", "training_tested": "trained length"}[control]
    widget(app, control).set_value(first).run()
    assert widget(app.run(), control).value == first


def test_a_tab_forgets_the_question_of_the_view_before():
    app = start("attention", attention_question="not-scaled", seed="8")
    widget(app, "_view_dictionary").click().run()
    assert "attention_question" not in app.query_params
    widget(app, "_view_steps").click().run()
    assert not {"attention_question", "attention_view"} & set(app.query_params)


@pytest.mark.parametrize("asked", ["999", "-1", "abc", "2.4", "rollout"])
def test_instead_of_a_question_that_there_is_none_of_the_first_is_asked(asked):
    app = start(heads_question=asked)
    assert "heads_question" not in app.query_params
    assert "there is no question of this name" in app.warning[0].value
    assert 'data-number="1"' in text_on(app)


def test_a_question_whose_text_is_not_true_of_the_screen_offers_to_be_set_up_and_is_not_asked():
    app = start("attention", attention_question="looks-here-takes-there", seed="3")
    question = lens_of("attention").questions[5]
    assert escape(question.ask) not in text_on(app)
    assert f"<b>{question.name}</b> asks about other settings than these." in text_on(app)
    assert widget(app, "_set_up").label == "Set up this question"
    widget(app, "_set_up").click().run()
    assert escape(question.ask) in text_on(app)
    assert (widget(app, "_set_up").label, app.session_state["seed"]) == ("As set up", ModelState().seed)


def test_a_text_that_gave_way_to_a_question_comes_back():
    app = start("heads", text="a text of my own", num_heads="8")
    pick(app, "The first token")
    assert app.query_params["weights"] == "lab-gpt"
    assert widget(app, "_mine").label == "Back to my text"
    pick(app, "Who saw whom?")  # brings another text: the reader's own is still kept
    widget(app, "_mine").click().run()
    assert (app.session_state["text"], widget(app, "num_heads").value) == ("a text of my own", 8)
    assert not [button for button in app.button if button.key == "_mine"]


def test_nothing_of_the_readers_gives_way_to_a_question_when_all_was_the_apps_own():
    app = start("heads")
    for name in ("The first token", "Who saw whom?", "The token before"):
        pick(app, name)
        assert not [button for button in app.button if button.key == "_mine"]
    widget(app, "text").set_value("a text of my own").run()
    assert not [button for button in app.button if button.key == "_mine"]


def test_who_predicts_nothing_asks_for_the_answer():
    app = start("masks", masks_question="no-leak")
    assert ".st-key-panel_masks_leaks > :not(:first-child) { visibility: hidden; }" in text_on(app)
    assert widget(app, "_answer").label == "Predict"
    widget(app, "_answer").click().run()
    widget(app, "_show_answer").click().run()
    assert "Nothing was predicted." in text_on(app)
    assert 'class="veil"' not in text_on(app)
    widget(app, "_answer").click().run()
    assert "Nothing was predicted." not in text_on(app)
    assert widget(app, "_answer").label == "Answer"


def test_a_question_that_nobody_has_asked_asks_for_no_prediction_and_hides_nothing():
    app = start("masks", masks_view="leaks")
    assert 'class="veil"' not in text_on(app)
    assert widget(app, "_answer").label == "Answer"
    widget(app, "_answer").click().run()
    assert 'data-words="answer"' in text_on(app)
    app = start("masks")
    widget(app, "_view_leaks").click().run()  # a tab brings its question, and does not ask it
    assert "masks_question" not in app.query_params
    assert 'class="veil"' not in text_on(app)


def test_a_number_that_was_predicted_is_answered_when_it_is_entered_and_written_as_numbers_are():
    app = start("masks", masks_question="no-leak")
    widget(app, "_answer").click().run()
    (guess,) = [box for box in app.number_input if box.key.startswith("_prediction_")]
    guess.set_value(32768.0).run()
    assert not app.exception
    assert "You predicted 32,768." in text_on(app)
    assert "Show the answer" not in [button.label for button in app.button]


def test_undo_takes_back_what_a_question_has_set_of_a_view_that_was_never_on_screen():
    app = start("model", model_view="block", model_question="what-norms-take")
    widget(app, "_previous_question").click().run()
    assert app.session_state["model_all_layers"]
    widget(app, "_undo").click().run()
    assert app.query_params["model_view"] == "block"
    assert not app.session_state["model_all_layers"]
