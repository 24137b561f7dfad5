"""When a page is run: at once, but for a row of presses at a box of numbers, which is one run at its end."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tfm_ui.streamlit_private.protocol import BackMsg
from tfm_ui.visitors.rest import ROW, PageRuns

REST = 2.5


def rerun(fragment: str = "", page: str = "heads", *, auto: bool = False, back: bool = False, **values) -> BackMsg:
    """A browser's request: widget -> its value; numbers and strings stand for themselves, None for a pressed button."""
    message = BackMsg()
    asked = message.rerun_script
    asked.fragment_id, asked.page_script_hash = fragment, page
    asked.is_auto_rerun, asked.is_history_navigation = auto, back
    for name, value in values.items():
        widget = asked.widget_states.widgets.add(id=f"$$ID-0-{name}")
        match value:
            case None:
                widget.trigger_value = True
            case int():
                widget.int_value = value
            case {"picked": what}:
                widget.json_trigger_value = what
            case str():
                widget.string_value = value
            case [str(chosen)]:
                widget.string_array_value.data.append(chosen)
    return message


def opened(rest: float = REST, **values) -> PageRuns:
    """A page on which the first press of a row has just been handed on."""
    runs = PageRuns(rest)
    for message in (rerun(**values | {"seed": 100}), rerun(**values)):
        assert runs.put(message, 10, may_wait=True) == [message]
    return runs


def seed_of(messages: list[BackMsg]) -> list[int]:
    return [message.rerun_script.widget_states.widgets[0].int_value for message in messages]


def test_a_press_alone_runs_the_page_at_once_and_those_that_follow_are_one_run_at_their_end():
    runs = opened(seed=1)
    for step in range(5):
        assert runs.put(rerun(seed=2 + step), 11 + step, may_wait=True) == []
        assert runs.due == 11 + step + REST
    assert seed_of(runs.take()) == [6]
    assert runs.take() == []
    assert runs.due == float("inf")
    assert seed_of(runs.put(rerun(seed=8), 15 + ROW, may_wait=True)) == [8]


@pytest.mark.parametrize(
    "message",
    [
        rerun(seed=1, tokenizer="byte"),
        rerun(seed=1, tokenizer="word", kind=["values"]),
        rerun(seed=1, tokenizer="word", button=None),
        rerun(seed=1, tokenizer="word", picture={"picked": "a cell"}),
        rerun(seed=1, tokenizer="word", auto=True),
        rerun(seed=2, tokenizer="word", back=True),
        rerun(seed=1, tokenizer="word"),
        BackMsg(stop_script=True),
    ],
    ids=[
        "a choice",
        "one of a few",
        "a button",
        "a picture or slider",
        "a part that renews itself",
        "back",
        "nothing",
        "another message",
    ],
)
def test_everything_else_is_handed_on_at_once_also_in_a_row(message):
    runs = opened(seed=1, tokenizer="word", kind=["weights"])
    assert runs.put(message, 10.1, may_wait=True) == [message]
    assert runs.put(message, 10.2, may_wait=True) == [message]


def test_another_page_is_another_run():
    runs = opened(seed=1)
    assert runs.put(rerun(seed=2), 10, may_wait=True) == []
    assert seed_of(runs.put(rerun(seed=3, page="masks"), 10.1, may_wait=True)) == [2]
    assert seed_of(runs.take()) == [3]


@pytest.mark.parametrize(("first", "then"), [("", "lens"), ("lens", ""), ("lens", "foot")])
def test_two_parts_of_a_page_are_one_run_of_the_whole_page(first, then):
    runs = opened(seed=1)
    assert runs.put(rerun(first, seed=2), 10, may_wait=True) == []
    assert runs.put(rerun(then, seed=3), 10.1, may_wait=True) == []
    assert runs.take() == [rerun(seed=3)]


def test_one_part_alone_stays_a_part():
    runs = opened(seed=1)
    for seed in (2, 3):
        assert runs.put(rerun("lens", seed=seed), 10, may_wait=True) == []
    assert runs.take() == [rerun("lens", seed=3)]


@pytest.mark.parametrize("act", [rerun("foot", seed=2, auto=True), rerun("foot", seed=2, undo=None)])
def test_a_part_that_renews_itself_or_has_a_button_does_not_become_the_whole_page(act):
    runs = opened(seed=1)
    assert runs.put(rerun(seed=2), 10, may_wait=True) == []
    assert runs.put(act, 10.1, may_wait=True) == [rerun(seed=2), act]


def test_a_choice_takes_the_numbers_before_it_along():
    runs = opened(seed=1, tokenizer="word")
    assert runs.put(rerun(seed=2, tokenizer="word"), 10, may_wait=True) == []
    choice = rerun(seed=2, tokenizer="byte")
    assert runs.put(choice, 10.1, may_wait=True) == [choice]
    assert runs.take() == []


def test_pages_whose_pictures_wait_for_them_never_wait():
    assert seed_of(opened(seed=1).put(rerun(seed=2), 10, may_wait=False)) == [2]


def test_without_a_rest_nothing_waits():
    assert seed_of(opened(rest=0, seed=1).put(rerun(seed=2), 10, may_wait=True)) == [2]


ACTS = st.lists(st.tuples(st.integers(0, 3), st.sampled_from(["word", "byte"]), st.floats(0, 4), st.booleans()))


@given(ACTS)
def test_in_the_end_the_page_holds_what_was_set_last(acts):
    runs, now = opened(seed=9, tokenizer="word"), 0.0
    handed_on = []
    for seed, tokenizer, pause, may_wait in acts:
        now += pause
        if now >= runs.due:
            handed_on += runs.take()
        handed_on += runs.put(rerun(seed=seed, tokenizer=tokenizer), now, may_wait=may_wait)
    handed_on += runs.take()
    assert len(handed_on) <= len(acts)
    if acts:
        assert handed_on[-1] == rerun(seed=acts[-1][0], tokenizer=acts[-1][1])
