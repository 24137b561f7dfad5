"""Laws of the pictures of the view "tokens", as in scale_laws.py and figure_laws.py."""

from collections.abc import Callable
from typing import Any

import numpy as np

from tests.tfm_ui.pictures.figure_checks import Json, same, traces, unescaped
from tests.tfm_ui.pictures.scale_checks import floats

Header = dict[str, Any]


def tokens_scale(header: Header, numbers: bytes) -> None:
    """Each row has the pieces that it counts, in order, and the chosen one is among those on screen."""
    assert not numbers
    assert sum(row["chosen"] for row in header["rows"]) == 1
    for row in header["rows"]:
        places = [piece["at"] for piece in row["pieces"]]
        assert places == list(range(row["before"], row["before"] + len(places)))
        assert row["before"] + len(places) + row["after"] == row["count"] or not places
        assert all(begin <= end for begin, end in (piece["span"] for piece in row["pieces"]))
        if row["chosen"] and row["count"]:
            assert header["at"] in places
    for step in header["history"]["steps"]:
        assert -1 <= step["made"] < len(step["parts"])
        assert step["note"]


def batch_scale(header: Header, numbers: bytes) -> None:
    """A mask and token types are 0 or 1, and what the mask hides is padding."""
    ids, mask, *types = floats(numbers).reshape(len(header["grids"]), len(header["rows"]), header["length"])
    assert (ids == ids.round()).all()
    assert np.isin(mask, (0, 1)).all()
    assert (np.diff(mask, axis=1) <= 0).all()
    for table in types:
        assert np.isin(table, (0, 1)).all()
    for row, read_at in zip(header["rows"], mask, strict=True):
        assert len(row["pieces"]) == len(row["special"]) == header["length"]
        assert all(special for special, read in zip(row["special"], read_at, strict=True) if not read)


def tokens_figure(header: Header, numbers: bytes, figure: Json) -> None:
    """A bar for each row: how many tokens it has."""
    (trace,) = figure["data"]
    rows = header["rows"][::-1]
    assert list(trace["x"]) == [row["count"] for row in rows]
    assert unescaped(figure["layout"]["yaxis"]["ticktext"]) == [row["name"] for row in rows]


def batch_figure(header: Header, numbers: bytes, figure: Json) -> None:
    """A map for each grid."""
    tables = floats(numbers).reshape(len(header["grids"]), len(header["rows"]), header["length"])
    assert bool(figure["data"]) == bool(header["length"])
    for trace, table, name in zip(
        traces(figure), tables if header["length"] else (), header["grids"], strict=bool(header["length"])
    ):
        same(trace["z"], table, name)


SCALES: dict[str, Callable[[Header, bytes], None]] = {"tokens": tokens_scale, "tokens_batch": batch_scale}
FIGURES: dict[str, Callable[[Header, bytes, Json], None]] = {"tokens": tokens_figure, "tokens_batch": batch_figure}
