"""What lessons measure in the Positions lens, beside the papers' formulas written out."""

import math

import numpy as np
import pytest
import torch

from tfm_core import sinusoidal_encoding
from tfm_ui.lenses.positions import measures
from tfm_ui.lenses.positions.state import PositionsState
from tfm_ui.state.model_state import ModelState

MODEL = ModelState()
CLAIM = {"view": "why"}


def state(**fields) -> PositionsState:
    return PositionsState(**fields)


def depends_on_distance(table: torch.Tensor) -> bool:
    products = (table.double() @ table.double().T).numpy()
    return all(np.ptp(np.diagonal(products, offset)) < 1e-3 for offset in range(-len(table) + 1, len(table)))


def test_sinusoids_say_the_same_at_the_same_distance_and_drawn_rows_do_not():
    assert depends_on_distance(sinusoidal_encoding(64, 64))
    assert not depends_on_distance(torch.randn(64, 64))
    assert measures.by_distance_alone(MODEL, state(**CLAIM, a="learned", b="sinusoidal")) == 1
    assert measures.by_distance_alone(MODEL, state(**CLAIM, a="rope", b="sinusoidal")) == 2
    assert measures.by_distance_alone(MODEL, state(**CLAIM, a="none", b="nothing")) == 0


@pytest.mark.parametrize("width", [2, 7, 64])
def test_no_vector_is_longer_than_its_pairs_allow(width):
    longest = max(float(row.norm()) for row in sinusoidal_encoding(64, width))
    assert measures.longest_vector(MODEL, state(b="nothing", width=width)) == pytest.approx(longest, rel=1e-6)
    assert longest <= math.sqrt((width + 1) // 2) + 1e-6
    assert measures.longest_vector(MODEL, state(a="alibi", b="nothing")) == 0


@pytest.mark.parametrize("item", [1, 2, 3])
def test_along_the_batch_all_words_get_one_row(item):
    assert measures.rows_on_wrong_axis(MODEL, state(view="fault", item=item)) == 1


def bucket(distance: int, buckets: int, far: int = 128) -> int:
    """T5's bucket of an earlier key, as the paper's code has it."""
    near = buckets // 2
    if distance < near:
        return distance
    return min(buckets - 1, near + int(math.log(distance / near) / math.log(far / near) * (buckets - near)))


@pytest.mark.parametrize(("architecture", "buckets"), [("encoder", 16), ("decoder", 32)])
def test_t5s_last_bucket_begins_where_its_formula_says(architecture, buckets):
    first = next(distance for distance in range(1000) if bucket(distance, buckets) == buckets - 1)
    model = ModelState(architecture=architecture, causal=False)
    assert measures.same_from(model, state(a="alibi", b="t5", length=160)) == first
    assert measures.same_from(model, state(a="alibi", b="rope")) == 0


def test_what_is_turned_has_one_score_at_a_distance():
    turned = state(**CLAIM, claim="turned scores")
    assert measures.scores_at_a_distance(MODEL, turned) == "one score"
    assert measures.scores_at_a_distance(MODEL, state(**CLAIM, claim="turned scores", b="nothing")) == ""


def test_a_shift_is_as_many_numbers_as_the_map_that_fits_best():
    rows = sinusoidal_encoding(400, 8).double()
    fitted = torch.linalg.lstsq(rows[:-5], rows[5:], driver="gelsd").solution
    shown = state(**CLAIM, claim="shift matrix", width=8, shift=5, b="nothing")
    assert measures.shift_numbers(MODEL, shown) == int((fitted.abs() > 1e-4).sum()) == 16
    assert measures.shift_numbers(MODEL, state(**CLAIM, a="learned", b="rope")) == 0


@pytest.mark.parametrize(("max_len", "missing"), [(48, 16), (64, 0), (128, 0), (2, 62)])
def test_a_table_ends_at_max_len(max_len, missing):
    assert measures.undefined(MODEL, state(a="learned", b="sinusoidal", max_len=max_len)) == missing
    assert measures.undefined(MODEL, state(a="rope", b="learned", max_len=max_len)) == 0


@pytest.mark.parametrize(("width", "length", "base"), [(128, 100, 10_000), (64, 64, 10_000), (16, 4, 100), (7, 64, 2)])
def test_waves_are_as_many_and_as_long_as_the_formula_says(width, length, base):
    wavelengths = [2 * math.pi * base ** (2 * pair / width) for pair in range((width + 1) // 2)]
    finished = sum(wavelength <= length - 1 for wavelength in wavelengths)
    shown = state(width=width, length=length, base=float(base), b="nothing")
    assert measures.waves(MODEL, shown) == len(wavelengths)
    assert measures.unfinished(MODEL, shown) == 2 * finished
    assert measures.waves(MODEL, state(a="learned", b="t5")) == measures.unfinished(MODEL, state(a="none", b="t5")) == 0
