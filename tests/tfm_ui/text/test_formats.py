"""Numbers are written for reading: no share is rounded to all or to nothing, and no two to one."""

import ast
import math
from pathlib import Path

import numpy as np
import pytest

from tfm_ui.text import formats, units


@pytest.mark.parametrize(
    ("shown", "expected"),
    [
        (formats.weight(0.996), "0.996"),
        (formats.weight(0.9999), "over 0.999"),
        (formats.points(0.99985), 99.98),
        (formats.points(0.5), 50.0),
        (formats.points(1.0), 100.0),
        (formats.points(0.0), 0.0),
        (formats.points(1e-5), 0.001),
        (formats.weight(1.0), "1"),
        (formats.weight(0.00423), "0.0042"),
        (formats.end_of_scale(0.1, 0.3), "0.10 and more"),
        (formats.end_of_scale(0.5, 0.5), "0.50"),
        (formats.plural(1, "head"), "1 head"),
        (formats.plural(2, "head"), "2 heads"),
        (formats.listed([]), "none"),
        (formats.listed(["a"]), "a"),
        (formats.listed(["a", "b", "c"]), "a, b and c"),
        (formats.count(56480), "56,480"),
        (formats.tiny(2.4e-7), "2×10⁻⁷"),
        (formats.tiny(0), "0"),
        (formats.tiny(math.nan), "NaN"),
        (formats.plural(1, "query", "queries"), "1 query"),
        (formats.plural(2, "query", "queries"), "2 queries"),
        (formats.percent(0.4721), "47%"),
        (formats.percent(0.9951), "99.5%"),
        (formats.percent(0.99964), "99.96%"),
        (formats.percent(0.99999), "over 99.99%"),
        (formats.percent(1), "100%"),
        (formats.percent(1.00001), "just over 100%"),
        (formats.percent(1.004), "100.4%"),
        (formats.percent(1.353), "135%"),
        (formats.percent(0.044), "4.4%"),
        (formats.percent(0.4721, digits=4), "47.21%"),
        (formats.percent(math.nan), "NaN"),
        (formats.percents(0.48, 0.4821), ["48.0%", "48.2%"]),
        (formats.percents(0.013, 0.0132), ["1.30%", "1.32%"]),
        (formats.percent(2.5e-22), "under 0.01%"),
        (formats.percent(0), "0%"),
        (formats.duration(0.94), "0.9 ms"),
        (formats.duration(1234), "1.2 s"),
    ],
)
def test_numbers_are_written_for_reading(shown, expected):
    assert shown == expected


def test_no_share_is_rounded_to_all_or_to_nothing():
    random = np.random.default_rng(0)
    small = 10.0 ** -random.uniform(0, 9, 3000)
    for share in [*small, *(1 - small[small < 1]), *(1 + small), 2**20 / (2**20 + 1), float(np.float32(1 - 2e-7))]:
        for digits in range(2, 6):
            assert formats.percent(float(share), digits) not in ("0%", "100%")


def test_shares_that_differ_read_differently():
    assert formats.percents(0.12341, 0.12339) == ["12.341%", "12.339%"]
    assert formats.percents(0.5, 0.5) == ["50%", "50%"]
    assert formats.percents(0.2512, 0.31) == ["25%", "31%"]


def test_every_sentence_gets_its_percentages_from_formats():
    """A share formatted by hand would be rounded to 100%: so no format specification of ours ends in %."""
    by_hand = [
        f"{path.name}: {node.value}"
        for path in (Path(__file__).parents[3] / "tfm_ui").rglob("*.py")
        if "%}" in (code := path.read_text(encoding="utf-8"))  # others need not be parsed
        for spec in ast.walk(ast.parse(code))
        if isinstance(spec, ast.FormattedValue) and spec.format_spec
        for node in ast.walk(spec.format_spec)
        if isinstance(node, ast.Constant) and str(node.value).endswith("%") and path.name != "formats.py"
    ]
    assert not by_hand


@pytest.mark.parametrize(
    ("write", "texts"),
    [
        (units.three, {0: "0", 0.01234: "0.0123", 1.234: "1.23", 12.34: "12.3", 99.96: "100", 123.4: "123"}),
        (units.three, {0.9999: "1.00", 12345: "12,300", 999.6: "1,000", 2e-7: "2×10⁻⁷", math.nan: "nan"}),
        (units.took, {3.12e-4: "0.312 ms", 0.0448: "44.8 ms", 0.128: "128 ms", 1.234: "1.23 s", 4e-9: "4×10⁻⁶ ms"}),
        (units.bytes_of, {0: "0 B", 512: "512 B", 2**20: "1 MiB", 1.5 * 2**30: "1.5 GiB", 1000 * 2**20: "1,000 MiB"}),
        (units.times, {4: "4×", 0.5: "0.5×", 20: "20×", 13.14: "13.1×", 1234.5: "1,230×"}),
    ],
)
def test_quantities_have_three_digits(write, texts):
    assert {value: write(value) for value in texts} == texts


def test_a_span_of_what_reads_alike_is_one():
    assert [units.span("1.2", "3.4"), units.span("1.2", "1.2")] == ["1.2 to 3.4", "1.2"]
