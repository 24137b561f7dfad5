"""Parts of large tables: pooling gives what naive loops give."""

import math

import numpy as np
import pytest
import torch
from hypothesis import example, given
from hypothesis import strategies as st

from tfm_ui.live.tables import SIDE, Part, by_distance, matrix
from tfm_ui.live.windows import WHOLE, part_of, pooled


def furthest(values: list[float]) -> float:
    """The value of a block that is furthest from 0; of two at the same distance the positive one; NaN if none."""
    known = [value for value in values if not math.isnan(value)]
    return max(known, key=lambda value: (abs(value), value), default=math.nan)


def naive(table: torch.Tensor, part: Part) -> np.ndarray:
    down, over = part.block
    rows, columns = range(part.top, part.top + part.rows), range(part.left, part.left + part.columns)
    return np.array(
        [
            [
                furthest([table[i, j].item() for i in rows[r : r + down] for j in columns[c : c + over]])
                for c in range(0, part.columns, over)
            ]
            for r in range(0, part.rows, down)
        ],
        np.float32,
    )


SIZES = st.integers(1, 23)
SIDES = st.integers(1, 9)


@st.composite
def parts(draw, square=False):
    height = draw(SIZES)
    width = height if square else draw(SIZES)
    top, left = draw(st.integers(0, height - 1)), draw(st.integers(0, width - 1))
    rows, columns = draw(st.integers(1, height - top)), draw(st.integers(1, width - left))
    return Part(top, left, rows, columns, height, width, draw(SIDES))


@given(part=parts(), seed=st.integers(0, 99), gaps=st.booleans())
@example(part=Part(0, 0, 5, 4, 5, 4, 2), seed=0, gaps=True)
def test_a_pooled_cell_is_the_value_furthest_from_0_of_its_block(part, seed, gaps):
    table = torch.randn(part.height, part.width, generator=torch.Generator().manual_seed(seed)).round(decimals=1)
    if gaps:
        table[part.height // 2 :] = torch.nan
    cells = pooled(matrix(table), part)
    np.testing.assert_array_equal(cells, naive(table, part))
    assert max(cells.shape) <= part.side
    assert cells.shape == (len(part.row_names()), len(part.column_names()))


@given(part=parts(square=True), seed=st.integers(0, 99))
def test_a_table_of_distances_is_pooled_as_if_it_were_there(part, seed):
    n = part.height
    values = torch.randn(2 * n - 1, generator=torch.Generator().manual_seed(seed)).round(decimals=1)
    table = torch.tensor([[values[j - i + n - 1] for j in range(n)] for i in range(n)]).reshape(n, n)
    np.testing.assert_array_equal(pooled(by_distance(values), part), naive(table, part))
    rows, columns = slice(part.top, part.top + part.rows), slice(part.left, part.left + part.columns)
    assert torch.equal(by_distance(values)(rows, columns), table[rows, columns])


def test_a_part_that_fits_is_the_table_bit_for_bit():
    table = torch.randn(4096, 512)
    part = part_of("1000,37,256,200", 4096, 512)
    assert part.exact
    np.testing.assert_array_equal(pooled(matrix(table), part), table[1000:1256, 37:237].numpy())


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (WHOLE, (0, 0, 100, 60)),
        ("90,50,20,20", (90, 50, 10, 10)),  # as much of it as there is
        ("4000,7,5,5", (0, 7, 100, 5)),  # of a table that was longer
        ("50,60,5,5", (50, 0, 5, 60)),
        ("10,0,0,3", (10, 0, 90, 3)),  # 0: all that follow
    ],
)
def test_what_a_link_says_of_a_part_is_made_possible(value, expected):
    part = part_of(value, 100, 60)
    assert (part.top, part.left, part.rows, part.columns) == expected


def test_a_pooled_row_has_the_name_of_the_first_that_it_stands_for():
    part = Part(3, 0, 10, 2, 20, 2, 4)
    assert part.block == (3, 1)
    assert part.row_names() == ["3", "6", "9", "12"]
    assert part.row_names([f"r{i}" for i in range(20)]) == ["r3", "r6", "r9", "r12"]
    assert part.column_names() == ["0", "1"]
    assert part_of(WHOLE, SIDE + 1, SIDE).block == (2, 1)
