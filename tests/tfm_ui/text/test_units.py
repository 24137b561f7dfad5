"""Numbers with three digits."""

import pytest

from tfm_ui.text import units


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (0, "0"), (0.01234, "0.0123"), (1.234, "1.23"), (12.34, "12.3"), (99.96, "100"), (123.4, "123"),
        (0.9999, "1.00"), (12345, "12,300"), (999.6, "1,000"), (2e-7, "2×10⁻⁷"), (float("nan"), "nan"),
    ],
)  # fmt: skip
def test_three_digits(value, said):
    assert units.three(value) == said


@pytest.mark.parametrize(
    ("seconds", "said"),
    [(3.12e-4, "0.312 ms"), (0.0448, "44.8 ms"), (0.128, "128 ms"), (1.234, "1.23 s"), (4e-9, "4×10⁻⁶ ms")],
)
def test_took(seconds, said):
    assert units.took(seconds) == said


@pytest.mark.parametrize(
    ("count", "said"),
    [(0, "0 B"), (512, "512 B"), (2**20, "1 MiB"), (1.5 * 2**30, "1.5 GiB"), (1000 * 2**20, "1,000 MiB")],
)
def test_bytes(count, said):
    assert units.bytes_of(count) == said


@pytest.mark.parametrize(
    ("value", "said"), [(4, "4×"), (0.5, "0.5×"), (20, "20×"), (13.14, "13.1×"), (1234.5, "1,230×")]
)
def test_times(value, said):
    assert units.times(value) == said


def test_a_span_of_what_reads_alike_is_one():
    assert [units.span("1.2", "3.4"), units.span("1.2", "1.2")] == ["1.2 to 3.4", "1.2"]
