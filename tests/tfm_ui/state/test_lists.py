"""Fields that hold several numbers: which texts they accept, and how they correct others."""

from urllib.parse import quote_plus

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tfm_ui.state.lists import Numbers, Vectors, vector_names, vectors

HEADS, TOKENS = Numbers("Heads", 16), Numbers("Tokens", 40, "qk", 11)


@pytest.mark.parametrize(
    ("field", "raw", "value", "reason"),
    [
        (HEADS, "", "", ""),
        (HEADS, "2 3", "2 3", ""),
        (HEADS, "3 2", "3 2", ""),
        (HEADS, " 3   2 3", "3 2", ""),
        (HEADS, "3,2, 5", "3 2 5", ""),
        (HEADS, "99 x", "", "whole numbers from 1 to 16, separated by spaces, at most 60"),
        (HEADS, "0 -1 2.0 02 ² 4", "4", "from 1 to 16"),
        (HEADS, "q2", "", "from 1 to 16"),
        (TOKENS, "q3 q5", "q3 q5", ""),
        (TOKENS, "k3 q5 k1", "k3 k1", "from 1 to 40, all after q or all after k, separated by spaces"),
        (TOKENS, "3 🦊 k41 k4", "k4", "after q or all after k"),
        (TOKENS, "q10 q20 q30 q40", "q10 q20 q30", "at most 11 characters"),
    ],
)
def test_numbers_that_there_are_stay_and_the_rest_is_said(field, raw, value, reason):
    text, why = field.read(raw, "")
    assert text == value
    assert reason in why
    assert bool(why) == bool(reason)
    assert field.read(text, "") == (text, "")


def test_where_nothing_can_be_what_was_there_stays():
    assert HEADS.read("x 99", "4 5") == ("4 5", "it can hold " + HEADS._expected())
    assert HEADS.read("99 3", "4 5")[0] == "3"
    assert HEADS.read("", "4 5") == ("", "")


PAIRS = Vectors("Points", ((-2, 2), (0, 9)), 2, 3)


@pytest.mark.parametrize(
    ("raw", "value", "reason"),
    [
        ("1,2 -1,0.5", "1,2 -1,0.5", ""),
        ("  1.0,2   -0,0.500 ", "1,2 0,0.5", ""),
        ("1.239,2 1,2", "1.24,2 1,2", ""),
        ("-0.001,2 1,2", "0,2 1,2", ""),
        ("3,-1 1,2", "2,0 1,2", "from -2 to 2 and from 0 to 9"),
        ("1,2", "0,0 0,0", "2 to 3 vectors, separated by spaces, of 2 numbers"),
        ("1,2 1,2 1,2 1,2", "0,0 0,0", "2 to 3 vectors"),
        ("1,2,3 1,2", "0,0 0,0", "of 2 numbers"),
        ("1,nan 1,2", "0,0 0,0", "2 to 3 vectors"),
        ("inf,1 1,2", "0,0 0,0", "2 to 3 vectors"),
        ("1,x 1,2", "0,0 0,0", "2 to 3 vectors"),
        ("", "0,0 0,0", "2 to 3 vectors"),
        ("🦊", "0,0 0,0", "2 to 3 vectors"),
        ("cat:1,2 1,2", "0,0 0,0", "2 to 3 vectors"),
    ],
)
def test_vectors_are_read_and_rounded_or_refused_with_the_reason(raw, value, reason):
    text, why = PAIRS.read(raw, "0,0 0,0")
    assert text == value
    assert reason in why
    assert bool(why) == bool(reason)


@given(st.lists(st.tuples(st.floats(-2, 2), st.floats(0, 9)), min_size=2, max_size=3))
def test_vectors_come_back_from_their_text_within_a_hundredth_and_are_read_once_for_all(points):
    text, why = PAIRS.read(" ".join(f"{x!r},{y!r}" for x, y in points), "")
    assert why == ""
    assert PAIRS.read(text, "") == (text, "")
    for point, near in zip(points, vectors(text), strict=True):
        assert near == pytest.approx(point, abs=0.005001)


def test_one_vector_is_spoken_of_in_the_singular():
    assert Vectors("Query", ((-2, 2), (-2, 2))).read("1", "0,0")[1].startswith("1 vector of 2 numbers")


NAMED = Vectors("Words", ((-2, 2), (0, 9)), 2, 3, 40)


@pytest.mark.parametrize(
    ("raw", "value", "reason"),
    [
        ("1,2 -1,0.5", "1,2 -1,0.5", ""),
        ("cat:1.239,2 dog:1,2", "cat:1.24,2 dog:1,2", ""),
        ("cat:1,2 1,2 it’s:0,0", "cat:1,2 1,2 it’s:0,0", ""),
        ("cat:3,2 dog:1,2", "cat:2,2 dog:1,2", "from -2 to 2 and from 0 to 9"),
        ("cat:1,2 cat:0,2", "cat:1,2 0,2", "stands once"),
        ("B:1,2 cat:0,2", "1,2 cat:0,2", "other than A to F"),
        ("G:1,2 a:0,2", "G:1,2 a:0,2", ""),
        ("<b>:1,2 =1:0,2", "1,2 0,2", "one word of up to 12 letters"),
        ("thirteenlong3:1,2 a:b:0,2", "1,2 0,2", "one word of up to 12 letters"),
        (":1,2 cat:0,2", "1,2 cat:0,2", ""),
        ("cat:1 dog:0,2", "0,0 0,0", "2 to 3 vectors"),
        ("cat:,2 dog:0,2", "0,0 0,0", "2 to 3 vectors"),
        ("twelveletter:1,2 twelveletteR:1,2", "twelveletter:1,2 1,2", "no room for more names"),
        ("猫:1,2 犬:1,2", "猫:1,2 犬:1,2", ""),
        ("猫猫猫猫:1,2 犬:1,2", "1,2 1,2", "no room for more names"),
    ],
)
def test_vectors_have_names_where_there_is_room_for_them(raw, value, reason):
    text, why = NAMED.read(raw, "0,0 0,0")
    assert text == value
    assert reason in why
    assert bool(why) == bool(reason)
    assert NAMED.read(text, "") == (text, "")


WORDS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters=" :\t\n\r"), max_size=14)


@given(st.lists(st.tuples(WORDS, st.floats(-2, 2), st.floats(0, 9)), min_size=2, max_size=3))
@example([("", 0, 0), ("\x1fG", 0, 0)])
def test_whatever_names_are_asked_for_numbers_stay_and_a_link_has_room(points):
    raw = " ".join(f"{name}:{x:.2f},{y:.2f}" for name, x, y in points)
    text, _ = NAMED.read(raw, "0,0 0,0")
    names = vector_names(text)
    assert NAMED.read(text, "0,0 0,0") == (text, "")
    assert len(quote_plus(text)) <= NAMED.room or not any(names)
    assert len(set(filter(None, names))) == len([*filter(None, names)])
    if len(raw.split()) == len(points):  # no name holds another kind of space, other than before its first letter
        assert all(name in ("", given[0].lstrip()) for name, given in zip(names, points, strict=True))
        assert vectors(text) == [(float(f"{x:.2f}") + 0.0, float(f"{y:.2f}") + 0.0) for _, x, y in points]


def test_names_are_read_beside_their_numbers():
    assert vectors("cat:1,2 0,0.5") == [(1, 2), (0, 0.5)]
    assert vector_names("cat:1,2 0,0.5") == ["cat", ""]
