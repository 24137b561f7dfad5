"""Panels as data: a picture and everything that is said about it. Nothing is drawn here.

A view of a lens returns blocks, from top to bottom: panels, columns of blocks, notes, and functions that draw with
Streamlit. It is a pure function of the link. `tfm_ui/page/panels.py` draws the blocks.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import pandas as pd

Source = Callable[..., Any]
Files = Mapping[str, tuple[str, Callable[[], str], str]]  # kind -> (what the file holds, its content, its MIME type)


class Result(ABC):
    """What a panel shows, in words and numbers. All methods are pure functions of the link."""

    @abstractmethod
    def sentence(self) -> str:
        """The picture's main statement, computed from its data. It is also the picture's text alternative."""

    @abstractmethod
    def table(self) -> pd.DataFrame:
        """The data of the picture."""

    def laws(self) -> Mapping[str, bool]:
        """Invariants of the data on screen, in words -> whether they hold."""
        return {}

    def recipe(self) -> str:
        """A script of plain Python that computes the same numbers; "" if there is none."""
        return ""


@dataclass(frozen=True)
class OpenTable:
    """A table that is always visible below the sentence, and can be sorted.

    Attributes:
        columns: name -> how the column is drawn, as `st.column_config` wants it; None hides the column.
        row: the selected row, from 0; None if no row is selected.
        choose: called with the number of the clicked row, from 0.
        not_on_phones: columns that are left out on phones.
    """

    columns: Mapping[str, Any]
    row: int | None = None
    choose: Callable[[int], None] = lambda row: None
    not_on_phones: Sequence[str] = ()


@dataclass(frozen=True, kw_only=True)
class Panel:
    """A bordered box with a picture and everything that belongs to it.

    Attributes:
        key: the panel's key on the page.
        title: the panel's title.
        how_to_read: one line on axes and colours.
        result: the sentence, the table, the laws and the recipe.
        sources: the functions that computed the data; their code is shown on demand.
        picture: the picture's name in the registry; "" if there is no picture.
        shape: the shape of the data, in symbols and numbers.
        locked: whether the panel shows what the reader has locked; its title then has an amber bar.
        above: draws, with Streamlit, what stands above the title; its height is always the same.
        tools: draws, with Streamlit, what stands between the picture and its sentence, such as buttons and formulas.
        below: draws, with Streamlit, what stands at the panel's foot.
        open_table: if given, the table is always visible; otherwise it is in a menu.
        files: additional files for the download menu.
        on_pick: called with layer and head, from 0, when a head is clicked in the picture, before the page runs.
        opens: called with layer and head after a click, while the page runs; it may open another page.
        slow: whether the picture takes much longer than a pass: it is not redrawn while another picture is dragged.
    """

    key: str
    title: str
    how_to_read: str
    result: Result
    sources: Sequence[Source]
    picture: str = ""
    shape: str = ""
    locked: bool = False
    above: Callable[[], None] | None = None
    tools: Callable[[], None] | None = None
    below: Callable[[], None] | None = None
    open_table: OpenTable | None = None
    files: Files = field(default_factory=dict)
    on_pick: Callable[[int, int], None] | None = None
    opens: Callable[[int, int], None] | None = None
    slow: bool = False


@dataclass(frozen=True)
class Note:
    """A sentence in place of a panel or above panels, such as the reason why something is not shown.

    Attributes:
        text: the sentence.
        kind: "info" and "warning" are coloured boxes, "plain" is plain text.
        icon: the icon of a box, such as ":material/edit:".
    """

    text: str
    kind: Literal["info", "warning", "plain"] = "info"
    icon: str | None = None


@dataclass(frozen=True)
class Columns:
    """Blocks side by side; in narrow windows they stand below each other.

    Attributes:
        columns: the blocks of each column, from left to right.
        widths: the relative widths of the columns; by default they are equal.
    """

    columns: Sequence[Sequence["Block | None"]]
    widths: Sequence[int] = ()


# A callable draws with Streamlit. None keeps an empty place, so that the blocks after it stay when it is filled later.
Block = Panel | Note | Columns | Callable[[], None]


def panels_in(blocks: Sequence[Block | None]) -> list[Panel]:
    """All panels in these blocks, in reading order."""
    inside: list[Panel] = []
    for block in blocks:
        if isinstance(block, Panel):
            inside.append(block)
        elif isinstance(block, Columns):
            inside += [panel for column in block.columns for panel in panels_in(column)]
    return inside
