"""A panel as data: a picture, and all that is said of it. Pure functions of a link make it; nothing is drawn here.

A view of a lens answers a link with blocks, from top to bottom: panels, columns of blocks, notes, and what only
Streamlit can draw. `tfm_ui/page/panels.py` draws them.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import pandas as pd

Source = Callable[..., Any]
Files = Mapping[str, tuple[str, Callable[[], str], str]]  # kind -> what it holds, its content, its MIME type


class Result(ABC):
    """What a panel shows, in words and numbers. Each answer is a pure function of the link."""

    @abstractmethod
    def sentence(self) -> str:
        """What the picture comes to, computed from its data: also its text alternative."""

    @abstractmethod
    def table(self) -> pd.DataFrame:
        """Its data."""

    def laws(self) -> Mapping[str, bool]:
        """Invariants that were tested on what is shown -> whether they hold."""
        return {}

    def recipe(self) -> str:
        """A script of plain Python that gives the same numbers; "" where there is none."""
        return ""


@dataclass(frozen=True)
class OpenTable:
    """A table that stands open below the sentence, to be sorted.

    Attributes:
        columns: how its columns are drawn: name -> what `st.column_config` says, None for a column that is not.
        row: the selected row, from 0, if one is always selected.
        choose: called with the row that is clicked, from 0.
        not_on_phones: columns for which a phone has no room.
    """

    columns: Mapping[str, Any]
    row: int | None = None
    choose: Callable[[int], None] = lambda row: None
    not_on_phones: Sequence[str] = ()


@dataclass(frozen=True, kw_only=True)
class Panel:
    """A bordered box for one chart, with all that belongs to it.

    Attributes:
        key: names its place on the page.
        title: what it is.
        how_to_read: one line on axes and colours.
        result: what it says of its data.
        sources: the functions that computed it, shown as they run.
        picture: the name of the chart in the registry of pictures; "" if `tools` draw what is to be seen.
        shape: in symbols and numbers.
        locked: whether it shows what the reader locked; the title then has the amber bar.
        tools: draws, by Streamlit, what stands between the heading and the picture: buttons, formulas.
        below: draws, by Streamlit, what stands at the panel's foot.
        open_table: how its table stands open; by default it is in a menu.
        files: what else can be downloaded.
        on_pick: called with layer and head, from 0, when one is clicked in the picture, before the page runs.
        opens: called likewise, when the page runs: what opens another page.
        slow: whether the picture takes much longer than a pass does: it is not drawn while another is dragged.
    """

    key: str
    title: str
    how_to_read: str
    result: Result
    sources: Sequence[Source]
    picture: str = ""
    shape: str = ""
    locked: bool = False
    tools: Callable[[], None] | None = None
    below: Callable[[], None] | None = None
    open_table: OpenTable | None = None
    files: Files = field(default_factory=dict)
    on_pick: Callable[[int, int], None] | None = None
    opens: Callable[[int, int], None] | None = None
    slow: bool = False


@dataclass(frozen=True)
class Note:
    """A sentence in the place of a panel, or above panels: why something is not shown, or what to know first.

    Attributes:
        text: the sentence.
        kind: in a coloured box, or as plain text.
        icon: in a box, such as ":material/edit:".
    """

    text: str
    kind: Literal["info", "warning", "plain"] = "info"
    icon: str | None = None


@dataclass(frozen=True)
class Columns:
    """Blocks side by side; narrow windows show them below each other.

    Attributes:
        columns: the blocks of each column, from left to right.
        widths: of the columns, relative to each other; by default they are equal.
    """

    columns: Sequence[Sequence["Block | None"]]
    widths: Sequence[int] = ()


# A callable draws by Streamlit what is no panel. None keeps a place empty: when it fills, what follows stays as it is.
Block = Panel | Note | Columns | Callable[[], None]


def panels_in(blocks: Sequence[Block | None]) -> list[Panel]:
    """The panels among blocks, in reading order."""
    inside: list[Panel] = []
    for block in blocks:
        if isinstance(block, Panel):
            inside.append(block)
        elif isinstance(block, Columns):
            inside += [panel for column in block.columns for panel in panels_in(column)]
    return inside
