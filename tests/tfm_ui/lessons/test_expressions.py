"""Expressions: what they compute is what Python computes, and nothing that is not listed is read."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tfm_ui.lessons.expressions import MOST_CHARS, read, read_written, written

VALUES = {"d_model": 32, "num_heads": 4, "share": 0.256, "word": "cat", "causal": True, "loss": -1.5}
NUMBERS = st.sampled_from(["1", "2.5", "17", "d_model", "num_heads", "share", "loss"])


def combined(parts):
    pair = st.tuples(parts, st.sampled_from(["+", "-", "*", "/"]), parts)
    return st.one_of(pair.map(lambda parts: f"({parts[0]} {parts[1]} {parts[2]})"), parts.map(lambda part: f"-{part}"))


ARITHMETIC = st.recursive(NUMBERS, combined, max_leaves=8).filter(lambda text: len(text) <= MOST_CHARS)


@given(ARITHMETIC)
def test_arithmetic_is_python_s(text):
    try:
        expected = eval(text, {"__builtins__": {}}, VALUES)
    except ZeroDivisionError:
        with pytest.raises(ValueError, match="can be computed"):
            read(text).value(VALUES)
        return
    assert read(text).value(VALUES) == expected


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("d_model / num_heads == 8", True),
        ("1 < num_heads <= 4", True),
        ("num_heads > 4 or not causal", False),
        ("word == 'cat' and share > 0.25", True),
        ("word != 'dog'", True),
        ("sqrt(num_heads)", 2.0),
        ("log(exp(1))", 1.0),
        ("abs(loss)", 1.5),
        ("round(share)", 0),
    ],
)
def test_conditions_and_functions(text, value):
    assert read(text).value(VALUES) == value


@pytest.mark.parametrize(
    "text",
    [
        "",
        "d_model.real",
        "__import__('os')",
        "(lambda: 1)()",
        "[1, 2]",
        "d_model[0]",
        "num_heads ** 9",
        "9 // 2",
        "9 % 2",
        "num_heads if causal else 2",
        "f'{word}'",
        "x := 3",
        "sqrt(1, 2)",
        "open('x')",
        "b'x'",
        "None",
        "1j",
        "num_heads in word",
        "1 +",
        "(" * 150,
        "1 + " * 100 + "1",
    ],
)
def test_nothing_else_is_read(text):
    with pytest.raises(ValueError, match="expected"):
        read(text)


@pytest.mark.parametrize("text", ["word * 3", "1 / 0", "sqrt(loss)", "exp(9999)", "word < 3", "log(0)"])
def test_what_cannot_be_computed_is_a_sentence_and_no_condition_that_holds(text):
    expression = read(text)
    with pytest.raises(ValueError, match="expected an expression that can be computed, got"):
        expression.value(VALUES)
    assert not expression.holds(VALUES)


def test_huge_numbers_stay_numbers():
    assert read("999999999999 * 999999999999 * 999999999999 * 999999999999").value({}) == pytest.approx(1e48)
    assert written(1e48) == "1e+48"


def test_only_names_in_it_are_looked_up():
    assert read("sqrt(d_model) + share").names == {"d_model", "share"}
    assert read_written("{d_k} of {d_model:,}: {1 + 1}").names == {"d_k", "d_model"}


def test_words_with_expressions():
    words = read_written("{d_model * 1000:,} numbers, {share:.0%}, {share}, {loss:.1f}, “{word}”, {causal}.")
    assert words.text(VALUES) == "32,000 numbers, 26%, 0.256, −1.5, “cat”, yes."
    assert read_written("No expression.").text({}) == "No expression."


@pytest.mark.parametrize("text", ["{", "}", "{{d_k}}", "{d_k", "{d_k:>9999}", "{d_k!r}", "{:.2f}", "{}"])
def test_braces_that_hold_no_expression(text):
    with pytest.raises(ValueError, match="expected"):
        read_written(text)


@pytest.mark.parametrize(("value", "text"), [(8, "8"), (1234567, "1,234,567"), (8.0, "8"), (0.5, "0.5"), (-2, "−2")])
def test_numbers_as_lessons_write_them(value, text):
    assert written(value) == text


def test_infinities_are_written():
    assert written(math.inf) == "inf"
