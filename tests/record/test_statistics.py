"""Which differences the record reports, and which it ignores."""

import numpy as np
import pytest
import torch

from tests.record.differences import alike, differences
from tests.record.statistics import IN_FULL, NO_KIND, describe, numbers, rounded, texts

VALUES = np.random.default_rng(0).normal(size=(6, 7)).astype(np.float32)


def differ(first, second) -> list[str]:
    return list(differences(describe(first), describe(second), "here"))


def test_the_last_digits_are_no_difference():
    assert differ(VALUES, VALUES * np.float32(1 + 1e-6)) == []
    assert differ(VALUES[0], VALUES[0] * np.float32(1 + 1e-6)) == []
    assert differ(torch.full((3,), 1e-7), torch.full((3,), -3e-7)) == []
    assert differ(torch.full((99,), 1e-7), torch.full((99,), -3e-7)) == []
    assert differ(0.5, 0.500001) == []
    assert differ(1e-9, -3e-7) == []
    assert differ([1000, 1e-4], [1000, 2e-4]) == []


@pytest.mark.parametrize(
    "other",
    [VALUES[:, ::-1], VALUES.T, VALUES[1:], 1.001 * VALUES, VALUES + 0.001, np.where(VALUES > 1, np.nan, VALUES),
     np.where(VALUES < -1, -np.inf, VALUES), "a text", None],
)  # fmt: skip
def test_other_numbers_order_or_shape_are(other):
    assert differ(VALUES, other)
    assert differ(other, VALUES)


@pytest.mark.parametrize(
    "other", [[1, 2, 4], [1, 3, 2], [1, 2, 3.001], [1, 2], [[1], [2], [3]], [1, 2, None], [1, 2, "3"], [True, 2, 2]]
)
def test_of_a_few_numbers_each_is_compared(other):
    assert differ([1, 2, 3], other)
    assert differ(np.array([[1.0, 2], [3, 4]]), np.array([[1.0, 2], [3, 4.001]]))
    assert differ(0.5, 0.5002)
    assert differ(True, 1)


def test_of_what_explodes_the_powers_of_ten_are_compared():
    assert differ([8e41, 6.0], [4e43, 6.0]) == []
    assert differ([8e41, 1e29], [8e41, 1e38])
    assert differ([8e41, 6.0], [8e48, 6.0])
    assert differ([8e41, 6.0], [8e29, 6.0])


def test_of_a_long_list_of_words_and_numbers_the_last_digits_are_no_difference():
    rows = [[f"word {i}", 0.0955009 + i, None, {"x": [i]}] for i in range(50)]
    assert describe(rows)["numbers"]["shape"] == [100]
    assert differ(rows, [[word, value * (1 + 1e-6), *rest] for word, value, *rest in rows]) == []
    assert differ(rows, [[word, value * 1.001, *rest] for word, value, *rest in rows])
    assert differ(rows, [[word[::-1], *rest] for word, *rest in rows])
    assert differ(rows, [*rows[:-1], [*rows[-1], 7]])


def test_what_rounding_leaves_of_nothing_is_compared_by_what_is_no_number():
    assert differ([1e-9, None], [None, 1e-9])
    assert differ([1e-9, 1e-8], [1e-8, 1e-9]) == []
    assert differ([1e-9], [1e-9, 1e-9])


def test_texts_lists_and_mappings_are_compared_by_their_entries():
    assert differ({"a": [1, 2], "b": "x"}, {"a": [2, 1]})[1] == "here / b: is gone; it was 'x'"
    assert differ({"a": 1}, {"a": 1, "b": "x"}) == ["here / b: is new: 'x'"]
    assert differ(["a" * 2000, "b"], ["a" * 2000, "c"])
    assert differ([{"a": 1}, "b"], [{"a": 2}, "b"]) == ["here / 1 / a: was 1, is 2"]
    (line,) = differences("x" * 300 + "1 of 3", "x" * 300 + "2 of 3", "here")
    assert "1 of 3" in line
    assert "2 of 3" in line


@pytest.mark.parametrize(
    ("words", "elsewhere"),
    [
        ("at most 3×10⁻⁷ (more than 5×10⁻¹² counts)", "at most 0 (more than 5×10⁻¹² counts)"),
        ("Of 55 others none at all.", "Of 55 others none by more than 2×10⁻¹⁵, which is rounding."),
        ("0\n4×10⁻⁷\n0", "0\n3×10⁻⁷\n1×10⁻⁷"),
        ("× 0.326 no residuals, × 2×10⁴⁰ no norm", "× 0.326 no residuals, × 9×10⁴¹ no norm"),
    ],
)
def test_in_words_errors_of_rounding_are_no_difference(words, elsewhere):
    assert differ(words, elsewhere) == []
    assert differ([words, "b"], [elsewhere, "b"]) == []
    assert differ({"a": words}, {"a": elsewhere}) == []
    assert describe(["4×10⁻⁷"] * 99) == describe(["3×10⁻⁷"] * 99)


@pytest.mark.parametrize(
    ("words", "elsewhere"),
    [
        ("0 of 3", "1 of 3"),
        ("10 of 30", "1 of 3"),
        ("3×10⁻⁷", "3×10⁻⁴"),
        ("3×10²⁹", "3×10²⁸"),
        ("0.02", "0.01"),
        ("0", "0.01"),
        ("0%", "7%"),
    ],
)
def test_in_words_other_numbers_are(words, elsewhere):
    assert differ(words, elsewhere)
    assert differ([words] * 99, [*[words] * 98, elsewhere])


def test_of_numbers_drawn_anew_the_shape_is_kept():
    first, second = (describe({"x": x, "y": 2, "z": [x[0, :3], None]}) for x in (VALUES, VALUES**3))
    assert alike(first, second) == {"x": {"shape": [6, 7]}, "y": 2, "z": [{"shape": [3]}, None]}
    assert differ(VALUES, VALUES**3)
    assert list(differences(alike(first, second), alike(second, first), "here")) == []
    assert alike(describe(VALUES), describe(VALUES[1:])) is None


@pytest.mark.parametrize(
    ("value", "short"),
    [(1 / 3, 0.333333), (2.0, 2), (123456.7, 123457), (1234567.0, 1.23457e6), (-0.0, 0), (float("nan"), "nan"),
     (float("inf"), "+inf"), (-float("inf"), "-inf"), (1.23456789e-8, 1.23457e-8)],
)  # fmt: skip
def test_numbers_have_six_digits(value, short):
    assert rounded(value) == short
    assert isinstance(rounded(value), type(short))


def test_few_numbers_are_recorded_in_full_and_of_many_some():
    assert describe([1, 2.5, None]) == [1, 2.5, "nan"]
    assert describe(np.ones((2, 2))) == {"shape": [2, 2], "values": [1, 1, 1, 1]}
    many = numbers(np.arange(IN_FULL + 1))
    assert many["few"] == [0, 6, 12]
    assert (many["shape"], many["min"], many["max"], many["mean"], many["size"]) == ([13], 0, 12, 6, 6)
    assert many == numbers(np.arange(IN_FULL + 1, dtype=np.float32))


def test_long_lists_and_mappings_are_described_together():
    named = [{"name": "abc"[i % 3], "size": i / 7} for i in range(50)]
    assert describe(named)["count"] == 50
    assert describe(named)["each"]["size"] == numbers(np.arange(50) / 7)
    assert describe(named)["each"]["name"].startswith("50 texts: a | … | b; ")
    assert describe([[1, 2], [3], []]) == {"lengths": [2, 1, 0], "all": [1, 2, 3]}
    recorded = describe({f"site {i}": torch.full((2, 3), i) for i in range(20)})
    assert recorded["all"]["shape"] == [120]
    assert texts(["a", "b"]) == ["a", "b"]
    assert describe([True, False]) == [True, False]


def test_what_is_of_no_recorded_kind_is_left_out():
    assert describe(print) is NO_KIND
    assert describe({"f": print, "x": 1}) == {"x": 1}
    assert describe([print, 1, "a"]) == [1, "a"]
