"""Panels: a picture and everything that is said about it, as one class. Nothing is drawn here but what `tools` draw.

A view of a lens shows panels, from top to bottom, with columns and notes between them (`tfm_ui/page/lens.py`). What it
shows is a pure function of the link. `tfm_ui/page/panels.py` draws it.
"""

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import pandas as pd
import plotly.graph_objects as go

from tfm_ui.live import memory
from tfm_ui.live.cache import made_once
from tfm_ui.live.tensors.step import Step
from tfm_ui.pictures.canvas import Canvas, Content
from tfm_ui.pictures.picture import Needs, Picture
from tfm_ui.state.model_state import ModelState
from tfm_ui.text.token_row import Item

Source = Callable[..., Any]
Pick = Callable[[int, int], None]  # called with layer and head, from 0
Files = Mapping[str, tuple[str, Callable[[], str | bytes], str]]  # kind -> (what it holds, its content, its MIME type)
NO_FILES: Files = {}


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


class Panel(ABC):
    """A bordered box with a picture and everything that belongs to it: one class for each panel of the app.

    A panel is a pure function of the link, which the model's state and the lens's state describe: what it shows is
    computed from these two, in properties. Its name follows from the class: `EfficientGrowth` of the Model lens is
    "model_efficient_growth". A lens has a class from which its panels derive; it says which class `state` has. A panel
    that is like another derives from its class, and overrides what differs. What is the same for every link is a class
    attribute, `title = "Costs"`; what follows from the link is a property of that name.
    """

    name: ClassVar[str]
    """The name of the panel's picture in the registry, in which no two lenses share a name."""

    canvas: ClassVar[Canvas | None] = None
    """How the picture is drawn; None if the panel has no picture."""

    needs: ClassVar[Needs] = memory.needs
    """The bytes that computing the picture takes, see `Picture`."""

    uses_model: ClassVar[bool] = True
    """Whether the picture shows something of the sidebar's model."""

    shows_jobs: ClassVar[bool] = False
    """Whether the picture shows jobs that are under way, see `Picture`."""

    ignores: ClassVar[frozenset[str]] = frozenset()
    """Fields of the model's state on which the picture does not depend, though it shows the model."""

    works_on_weights_alone: ClassVar[bool] = False
    """Whether the picture can be drawn of attention weights out of a file, where there is no model."""

    def __init__(self, model: ModelState, state: Any) -> None:
        self.model = model
        self.state = state

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        if "name" not in cls.__dict__:
            cls.name = name_of(cls.__module__, cls.__name__)

    @property
    @abstractmethod
    def title(self) -> str:
        """The panel's title."""

    @abstractmethod
    def sentence(self) -> str:
        """The picture's main statement, computed from its data. It is also the picture's text alternative."""

    @abstractmethod
    def table(self) -> pd.DataFrame:
        """The data of the picture."""

    def picture(self) -> Content:
        """What the canvas draws. Its text alternative is the panel's sentence, unless the header has one of its own."""
        raise NotImplementedError(f"expected {type(self).__name__} to have a picture, as it has a canvas")

    def on_paper(self) -> pd.DataFrame | go.Figure | None:
        """What a sheet prints in place of the picture: a table or another figure; None for the picture itself."""
        return None

    def laws(self) -> Mapping[str, bool]:
        """Invariants of the data on screen, in words -> whether they hold."""
        return {}

    def recipe(self) -> str:
        """A script of plain Python that computes the same numbers; "" if there is none."""
        return ""

    def in_notebook(self) -> str:
        """The code for a notebook, whose last line shows what the picture is about: the recipe, if that does."""
        return self.recipe()

    @property
    def is_shown(self) -> bool:
        """Whether the panel is on the page for this link."""
        return True

    def instead(self) -> Note | None:
        """What stands in its place where it is not shown; None keeps the place empty."""
        return None

    @property
    def key(self) -> str:
        """The panel's key on the page."""
        return self.name

    @property
    def picture_name(self) -> str:
        """The name of the panel's picture in the registry; "" if there is none for this link."""
        return self.name if self.canvas else ""

    @property
    def how_to_read(self) -> str:
        """One line on axes and colours."""
        return ""

    @property
    def sources(self) -> Sequence[Source]:
        """The functions that computed the data; their code is shown on demand."""
        return ()

    @property
    def word_row(self) -> Sequence[Item]:
        """A row of tokens, which stands in place of the picture, or below it; nothing if there is none.

        A slow panel has none: it would be computed at each tick.
        """
        return ()

    @property
    def shape(self) -> str:
        """The shape of the data, in symbols and numbers."""
        return ""

    @property
    def locked(self) -> bool:
        """Whether the panel shows what the reader has locked; its title then has an amber bar."""
        return False

    @property
    def slow(self) -> bool:
        """Whether it takes too long for a tick: while something is moved, the panel is marked as being renewed.

        Picture and words are asked for when the hand rests. Each panel decides by what it costs; the property itself
        must be quick. `python -m benchmarks tick` tells what views cost.
        """
        return False

    @property
    def open_table(self) -> OpenTable | None:
        """How the table is drawn that is always visible; None if it is in a menu."""
        return None

    @property
    def files(self) -> Files:
        """Additional files for the download menu."""
        return NO_FILES

    @property
    def tensors(self) -> Step | None:
        """The tensors that the numbers are computed with, to take along; None where there are none.

        It is asked for when somebody opens the menu, and knows all shapes without computing what is large.
        """
        return None

    @property
    def on_pick(self) -> Pick | None:
        """What is called when a head is clicked in the picture, before the page runs."""
        return None

    @property
    def opens(self) -> Pick | None:
        """What is called after a click on a head, while the page runs; it may open another page."""
        return None

    def above(self) -> None:  # noqa: B027 - nothing is drawn by default
        """Draw, with Streamlit, what stands above the title; its height is always the same."""

    def tools(self) -> None:  # noqa: B027 - nothing is drawn by default
        """Draw, with Streamlit, what stands between the picture and its sentence, such as buttons and formulas."""

    def below(self) -> None:  # noqa: B027 - nothing is drawn by default
        """Draw, with Streamlit, what stands at the panel's foot."""

    @classmethod
    def content(cls, model: ModelState, state: Any) -> Content:
        """What is drawn for a link, for the registry; the panel's sentence is its text alternative.

        Raises:
            CannotBeShown: if the link has no such picture.
        """
        panel = made_once(cls, model, state)
        header, numbers = panel.picture()
        return header if header.get("about") else {**header, "about": panel.sentence()}, numbers

    @classmethod
    def pictures(cls) -> dict[str, Picture]:
        """Name -> picture, for the registry: one, or none if there is no canvas."""
        if cls.canvas is None:
            return {}
        return {
            cls.name: Picture(
                cls.canvas,
                cls.content,
                uses_model=cls.uses_model,
                shows_jobs=cls.shows_jobs,
                needs=cls.needs,
                ignores=cls.ignores,
                works_on_weights_alone=cls.works_on_weights_alone,
            )
        }


def name_of(module: str, name: str) -> str:
    """The name of a panel: that of its lens, and that of its class.

    Args:
        module: of the class, such as `tfm_ui.lenses.model.efficient`.
        name: of the class, such as `EfficientGrowth`.
    """
    _, _, inside = module.partition(".lenses.")
    lens = inside.partition(".")[0]
    words = re.sub(r"(?<!^)(?=[A-Z])", "_", name).lower()
    return "_".join(filter(None, [lens, words])) if words != lens else lens


@dataclass(frozen=True)
class Columns:
    """Blocks side by side; in narrow windows they stand below each other.

    Attributes:
        columns: the blocks of each column, from left to right; in `View.shows` what makes them.
        widths: the relative widths of the columns; by default they are equal.
    """

    columns: Sequence[Sequence[Any]]
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
