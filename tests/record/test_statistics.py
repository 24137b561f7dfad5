"""Which differences the record reports, and which it ignores."""

from copy import deepcopy

import numpy as np
import pytest
import torch

from tests.record.record import changed
from tests.record.statistics import alike, describe, differences

VALUES = np.random.default_rng(0).normal(size=(6, 7)).astype(np.float32)


def differ(first, second) -> list[str]:
    return list(differences(describe(first), describe(second), "here"))


def test_the_last_digits_are_no_difference():
    assert differ(VALUES, VALUES * np.float32(1 + 1e-6)) == []
    assert differ(torch.full((3,), 1e-7), torch.full((3,), -3e-7)) == []
    assert differ(0.5, 0.500001) == []


@pytest.mark.parametrize(
    "other",
    [VALUES[:, ::-1], VALUES.T, VALUES[1:], 1.001 * VALUES, VALUES + 0.001, np.where(VALUES > 1, np.nan, VALUES),
     np.where(VALUES < -1, -np.inf, VALUES), "a text", None],
)  # fmt: skip
def test_other_numbers_order_or_shape_are(other):
    assert differ(VALUES, other)


def test_texts_lists_and_mappings_are_compared_by_their_entries():
    assert differ({"a": [1, 2], "b": "x"}, {"a": [1, 2], "b": "x", "new": 3}) == []
    assert differ({"a": [1, 2], "b": "x"}, {"a": [2, 1]})[1] == "here / b: is gone; it was 'x'"
    assert differ(["a" * 2000, "b"], ["a" * 2000, "c"])
    (line,) = differences("x" * 300 + "1 of 3", "x" * 300 + "2 of 3", "here")
    assert "1 of 3" in line
    assert "2 of 3" in line


@pytest.mark.parametrize(
    ("words", "elsewhere"),
    [
        ("at most 3×10⁻⁷ (more than 5×10⁻¹² counts)", "at most 0 (more than 5×10⁻¹² counts)"),
        ("Of 55 others none at all.", "Of 55 others none by more than 2×10⁻¹⁵, which is rounding."),
        ("0\n4×10⁻⁷\n0", "0\n3×10⁻⁷\n1×10⁻⁷"),
    ],
)
def test_in_words_errors_of_rounding_are_no_difference(words, elsewhere):
    assert differ(words, elsewhere) == []
    assert differ([words, "b"], [elsewhere, "b"]) == []
    assert differ({"a": words}, {"a": elsewhere}) == []


@pytest.mark.parametrize(
    ("words", "elsewhere"),
    [("0 of 3", "1 of 3"), ("10 of 30", "1 of 3"), ("3×10⁻⁷", "3×10⁻⁴"), ("0.02", "0.01"), ("0", "0.01"), ("0%", "7%")],
)
def test_in_words_other_numbers_are(words, elsewhere):
    assert differ(words, elsewhere)


def test_of_numbers_drawn_anew_the_shape_is_kept():
    assert alike(describe({"x": VALUES, "y": 2}), describe({"x": VALUES**3, "y": 2})) == {
        "x": {"shape": [6, 7]},
        "y": 2,
    }


PAGE = {
    "words": ["a note"],
    "controls": {"seed": "7"},
    "pictures": {"map": {"name": "map", "query": {"seed": "7"}, "header": {"top": 1.0}, "numbers": describe(VALUES)}},
    "panels": {
        "one": {
            "words": [], "title": "One", "sentence": "All is well.", "laws": ["✓ it holds"],
            "tables": [{"names": "a", "rows": 6, "columns": {"a": describe(VALUES[:, 0])}}],
            "recipe": {"last": "weights", "left": {"logits": describe(VALUES), "weights": describe(VALUES)}},
        },
        "two": {"words": ["a line"], "recipe": {"measures": True}},
    },
}  # fmt: skip


def test_what_is_new_on_a_page_is_no_difference():
    now = deepcopy(PAGE)
    now["words"].append("another")
    now["controls"]["more"] = "1"
    now["panels"]["three"] = {"words": []}
    del now["panels"]["one"]["recipe"]["left"]["logits"]
    assert list(changed(PAGE, now)) == []


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (["words"], []),
        (["controls", "seed"], "8"),
        (["pictures", "map", "name"], "grid"),
        (["pictures", "map", "query", "seed"], "8"),
        (["pictures", "map", "numbers"], describe(VALUES[::-1])),
        (["pictures"], {}),
        (["panels", "one", "sentence"], "All is lost."),
        (["panels", "one", "laws"], ["✕ it holds"]),
        (["panels", "one", "tables"], []),
        (["panels", "one", "tables", 0, "columns", "a"], describe(VALUES[:, 1])),
        (["panels", "one", "recipe", "left"], {"logits": describe(VALUES)}),
        (["panels", "one", "recipe", "left", "logits"], describe(-VALUES)),
        (["panels", "one", "recipe"], None),
        (["panels", "two", "recipe"], {"last": "x", "left": {"x": 1}}),
        (["panels", "two", "words"], []),
        (["panels"], dict(reversed(PAGE["panels"].items()))),
    ],
)
def test_each_field_of_a_page_is_compared(path, value):
    now = deepcopy(PAGE)
    place = now
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = value
    assert len(list(changed(PAGE, now))) >= 1
