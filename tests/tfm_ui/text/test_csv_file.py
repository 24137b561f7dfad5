"""CSV files for spreadsheets contain no formula, and read back as the same table."""

import csv
import io

import numpy as np
import pandas as pd
from hypothesis import example, given
from hypothesis import strategies as st

from tfm_ui.lenses.heads.panels import Head
from tfm_ui.lenses.heads.state import HeadsState
from tfm_ui.state.model_state import ModelState
from tfm_ui.text.csv_file import MARKS, csv_of

TOKENS = [
    "=cmd|' /C calc'!A0",
    "+1+1",
    "-",
    "-0.5",
    "@x",
    "\t=1",
    "\r=1",
    "'quoted'",
    "''",
    "＝1",
    "a=b",
    "",
    "7 - 2",
    "a,b",
]
NAMES = ["=x", "=x", "-0.5"]  # twice the same one, too
TEXTS = st.lists(st.sampled_from(MARKS) | st.sampled_from('a1 ,"\n;'), max_size=5).map("".join)


def read(text: str) -> list[list[str]]:
    """The cells, read back as the module's docstring says."""
    return [[cell.removeprefix("'") for cell in row] for row in csv.reader(io.StringIO(text, newline=""))]


def formulas(text: str) -> list[str]:
    """The cells that a spreadsheet would execute: those that begin with a mark and are not numbers."""
    cells = []
    for cell in (cell for row in csv.reader(io.StringIO(text, newline="")) for cell in row):
        if cell.startswith((*"=+-@＝＋－＠\t\r\n",)):
            try:
                float(cell)
            except ValueError:
                cells.append(cell)
    return cells


@given(st.lists(TEXTS, min_size=1, max_size=6), st.lists(TEXTS, min_size=1, max_size=3))
@example(TOKENS, NAMES)
def test_any_text_is_no_formula_and_reads_back(cells, columns):
    table = pd.DataFrame(dict.fromkeys(range(len(columns)), cells), index=pd.Index(cells, name=columns[0]))
    table.columns = pd.Index(columns)
    text = csv_of(table)
    assert formulas(text) == []
    assert read(text) == [[columns[0], *columns], *([cell] * (1 + len(columns)) for cell in cells)]


def test_numbers_stay_numbers_and_pandas_reads_them_back_to_the_last_digit():
    values = np.array([-0.5, -1e-300, 0.1, np.nan, -np.inf])
    table = pd.DataFrame(
        {"-score": values, "token": pd.Categorical(["-0.5", "@x", "-", "a", "@x"])}, index=range(-2, 3)
    )
    restored = pd.read_csv(io.StringIO(csv_of(table)), index_col=0)
    restored.columns = restored.columns.str.removeprefix("'")
    np.testing.assert_array_equal(restored["-score"], values)
    assert list(restored["token"].str.removeprefix("'")) == ["-0.5", "@x", "-", "a", "@x"]
    assert list(restored.index) == list(range(-2, 3))


def test_rows_that_are_named_twice():
    index = pd.MultiIndex.from_product([["=a", "b"], [1, -2]], names=["@query", "key"])
    rows = read(csv_of(pd.DataFrame({"A": [1, 2, 3, 4]}, index=index)))
    assert rows[:3] == [["@query", "key", "A"], ["=a", "1", "1"], ["=a", "-2", "2"]]


def test_a_table_of_the_app_is_left_as_it_is():
    model = ModelState()
    table = Head(model, HeadsState()).table()
    assert csv_of(table) == table.to_csv(lineterminator="\r\n")
    assert table.index[0] == "1 the"
