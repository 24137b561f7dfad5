"""The chart of a room's answers holds each of them."""

import plotly.graph_objects as go
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tfm_ui.classroom.asked import asked_of
from tfm_ui.classroom.tally import tally
from tfm_ui.pictures.chart import CHART

CHOICE = asked_of("heads all", "Which head?", ["<b>one</b>", "two", "three"], "", in_words=False)
NUMBER = asked_of("masks leaks", "How many pairs?", [], " pairs", in_words=False)
WORDS = asked_of("lesson a.b", "Why?", [], "", in_words=True)


@given(answers=st.lists(st.sampled_from(CHOICE.options), min_size=1, max_size=60))
def test_bars_are_the_shares_of_the_choices(answers):
    chart, words = tally(CHOICE, answers, "two")
    [bar] = [trace for trace in chart[0]["figure"]["data"] if trace["type"] == "bar"]
    shares = go.Bar(x=bar["x"]).x if not isinstance(bar["x"], dict) else _unpacked(bar["x"])
    assert [round(share * len(answers)) for share in shares] == [answers.count(each) for each in CHOICE.options]
    assert f"two: {answers.count('two')}" in words
    assert "✓ two" in str(chart[0]["figure"]["layout"])
    assert "<b>one" not in str(chart[0]["figure"])


@given(
    answers=st.lists(st.floats(-1e9, 1e9), min_size=1, max_size=60),
    measured=st.one_of(st.none(), st.floats(-1e6, 1e6)),
)
def test_dots_are_the_numbers_but_those_far_outside_which_are_counted(answers, measured):
    chart, words = tally(NUMBER, answers, measured)
    dots = [trace for trace in chart[0]["figure"]["data"] if trace.get("mode") == "markers" and "customdata" in trace]
    drawn = [x for trace in dots for x in _unpacked(trace["x"])]
    beyond = int(words.split(" far outside")[0].rpartition(" ")[2]) if "far outside" in words else 0
    assert len(drawn) + beyond == len(answers)
    assert set(drawn) <= set(answers)
    assert ("computed:" in words) == (measured is not None)
    CHART.figure(chart[0], chart[1])  # Plotly's own classes take it


def test_one_who_types_a_billion_does_not_press_the_others_together():
    _, words = tally(NUMBER, [3.0, 4.0, 4.0, 5.0, 6.0, 1e9], 4.0)
    assert words == "6 answers, the median 4.5 pairs; computed: 4 pairs; 1 far outside, not drawn."


@pytest.mark.parametrize("asked", [CHOICE, NUMBER, WORDS])
def test_without_answers_there_is_nothing_to_draw(asked):
    assert tally(asked, [], None) == (None, "")


def test_words_are_not_drawn():
    assert tally(WORDS, ["because"], None) == (None, "")


def test_of_two_answers_the_wild_one_is_counted_and_not_drawn():
    """Nor is their median, which is as wild: the dot stands beside what was computed."""
    chart, words = tally(NUMBER, [0.5, 1e14], 10)
    assert words == "2 answers, the median 50,000,000,000,000 pairs; computed: 10 pairs; 1 far outside, not drawn."
    assert max(chart[0]["figure"]["layout"]["xaxis"]["range"]) < 100
    assert "1 far outside, not drawn" in str(chart[0]["figure"]["layout"]["xaxis"]["title"]), "it is said on screen"


@pytest.mark.parametrize(("numbers", "drawn"), [([0, 0, 0, 1], 4), ([5, 5, 5, 9], 4), ([5, 5, 5, 50], 3)])
def test_a_guess_that_is_not_far_is_drawn_where_most_are_right(numbers, drawn):
    _, words = tally(NUMBER, [float(number) for number in numbers], numbers[0])
    assert ("far outside" in words) == (drawn < len(numbers))


def _unpacked(part):
    import base64

    import numpy as np

    if not isinstance(part, dict):
        return list(part)
    return np.frombuffer(base64.b64decode(part["bdata"]), part["dtype"]).tolist()
