"""What the panels of several views share: their classes, the colours of A and B, and lines across a chart."""

from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import Any, ClassVar, Literal

import numpy as np
import pandas as pd
import torch
from numpy.typing import NDArray
from torch import Tensor

from tfm_core.positional.schemes import PLACES
from tfm_core.study.position_laws import drawn_pair
from tfm_ui.lenses.positions.model_runs import HeadReading
from tfm_ui.lenses.positions.schemes import Scheme, lone_scheme, specs_of
from tfm_ui.lenses.positions.schemes import schemes as schemes_of
from tfm_ui.lenses.positions.state import PREFIX, PositionsState
from tfm_ui.live import passes
from tfm_ui.live.memory import LITTLE
from tfm_ui.live.script import script
from tfm_ui.live.tables import Part, matrix
from tfm_ui.live.tensors.positions import of_scheme
from tfm_ui.live.tensors.step import Step, beside
from tfm_ui.live.windows import WHOLE, part_of, pooled
from tfm_ui.pictures import lines, maps
from tfm_ui.pictures.canvas import Content
from tfm_ui.pictures.chart import CHART
from tfm_ui.pictures.lines import Chart, Line
from tfm_ui.pictures.map_scale import SHARES, from_zero
from tfm_ui.pictures.maps import MAPS, MASKED, Axis, Map
from tfm_ui.pictures.panel import Note, Panel, Source
from tfm_ui.pictures.positions.clocks import wave_chart
from tfm_ui.state.model_state import ModelState
from tfm_ui.state.pass_cost import NUMBER
from tfm_ui.text import formats, token_labels

EPSILON = torch.finfo(torch.float32).eps  # the rounding of numbers around 1
A_AND_B: dict[str, tuple[str, Literal["solid", "dashed"]]] = {"A": ("head 1", "solid"), "B": ("head 2", "dashed")}
TABLES = 12  # of A and B: in float32 and in float64, and what is computed from them


def tables(model: ModelState, state: PositionsState) -> int:
    """The bytes that tables (position, dimension) of both sides take, and what is said of a pass beside them.

    They are of any number of positions and any width, whatever model the sidebar has.
    """
    return passes.needs(model) + 2 * LITTLE + NUMBER * TABLES * state.length * state.width


class PositionsPanel(Panel):
    """A panel of this lens."""

    state: PositionsState


class TextPanel(PositionsPanel):
    """A panel of what a model makes of the text."""

    @cached_property
    def names(self) -> list[str]:
        """A label per token, padding included."""
        return token_labels.labels(self.model.source_tokens)

    @property
    def read(self) -> int:
        """How many of them are no padding."""
        return len(self.model.source_tokens.pieces)


class WeightMaps(TextPanel):
    """A panel of the weights of one text, as maps on one scale, pooled to a part of them."""

    canvas = MAPS
    zooms = ""
    """The parameter of the part, as in `maps.content`; "" if there is none."""

    @property
    @abstractmethod
    def heads(self) -> Mapping[str, HeadReading]:
        """Scheme or way -> the head. All have one mask."""

    @abstractmethod
    def title_of(self, name: str) -> str:
        """The title of its map."""

    @property
    def shape(self) -> str:
        return f"query × key = {self.model.length} × {self.model.length}"

    def picture(self) -> Content:
        part = part_of(self.state.part_maps if self.zooms else WHOLE, self.model.length, self.model.length)
        top = max(float(head.weights.max()) for head in self.heads.values())
        return maps.content(
            [
                Map(name=self.title_of(name), values=_pooled(head, part), scale=from_zero(top), unit="weight")
                for name, head in self.heads.items()
            ],
            rows=Axis(part.row_names(self.names), "query (row): looks", "query", "query"),
            columns=Axis(part.column_names(self.names), "key (column): is looked at", "key", "key"),
            read=-(-min(part.rows, max(0, self.read - part.top)) // part.block[0]),  # rounded up
            part=part,
            zooms=self.zooms,
        )

    def table(self) -> pd.DataFrame:
        """A row per pair of tokens that may look, a column per map; of half a million pairs, too."""
        visible = next(iter(self.heads.values())).visible
        queries, keys = np.nonzero(visible[: self.read, : self.read])
        dtype = pd.CategoricalDtype(self.names[: self.read])
        tokens = {what: pd.Categorical.from_codes(at, dtype=dtype) for what, at in (("query", queries), ("key", keys))}
        weights = {f"weight, {name}": head.weights[queries, keys] for name, head in self.heads.items()}
        return pd.DataFrame({**tokens, **weights})


class SchemesPanel(PositionsPanel):
    """A panel of A and B by themselves, whatever the model. It is shown where one of them has what it looks at."""

    needs = tables

    places: ClassVar[Sequence[str]] = PLACES
    """Where a scheme must enter, at one of these at least, to be in this panel."""

    side: ClassVar[str] = ""
    """"A" or "B" in a panel of one side, `class EncodeA(Encode, side="A")`; "" in a panel of both."""

    def __init_subclass__(cls, side: str = "") -> None:
        super().__init_subclass__()
        cls.side = side or cls.side

    @cached_property
    def schemes(self) -> list[Scheme]:
        """A, and B if it is something else; each as often as there are places where it enters, but once at least."""
        return schemes_of(self.model, self.state)

    @cached_property
    def shown(self) -> list[Scheme]:
        """Those of them that are in this panel."""
        return [
            scheme
            for scheme in self.schemes
            if self.side in ("", scheme.side) and any(scheme.has(place) for place in self.places)
        ]

    @property
    def is_shown(self) -> bool:
        return bool(self.shown)

    @property
    def tensors(self) -> Step | None:
        steps = dict[str, Step]()
        for scheme in self.schemes:
            end = scheme.side if scheme.side not in steps else f"{scheme.side}{len(steps) + 1}"
            length, pair = scheme.defined(self.state.length), drawn_pair(scheme.width, scheme.spec.seed)
            steps[end] = of_scheme(scheme.module, length, scheme.title, pair)
        step = beside(formats.listed([step.title for step in steps.values()]), steps)
        return step if step.tensors else None

    def sources_at(self, *places: str) -> list[Source]:
        """The methods of shown schemes at these places, and what they call, each once."""
        shown = [(scheme, place) for scheme in self.shown for place in places if scheme.has(place)]
        return list(dict.fromkeys(source for scheme, place in shown for source in scheme.sources(place)))

    def in_script(self, shown: Sequence[Scheme] | None = None, *, defined: bool = True) -> dict[str, Any]:
        """The header of a recipe: how these schemes, or all shown ones, are made, and how many positions each has."""
        shown = self.shown if shown is None else shown
        rows = {scheme.key: scheme.defined(self.state.length) for scheme in shown}
        return {"schemes": specs_of(shown)} | ({"defined": rows} if defined else {})

    @classmethod
    def content(cls, model: ModelState, state: Any) -> Content:
        """What is drawn for a link; an empty picture if it is not shown: then the page is about to take it away."""
        return super().content(model, state) if cls(model, state).is_shown else cls.empty()

    @classmethod
    def empty(cls) -> Content:
        """A picture of no scheme."""
        if cls.canvas is not MAPS:
            return lines.content([Chart("", "", [])])
        nothing = Axis([""], "", "")
        cells = Map(name="", values=np.full((1, 1), MASKED), scale=SHARES)
        return maps.content([cells], rows=nothing, columns=nothing)


class OneSide(SchemesPanel):
    """A panel of A alone, or of B alone."""

    @property
    def scheme(self) -> Scheme:
        """The scheme of this side."""
        return self.shown[0]

    def where_from(self, they_are: str, they_were: str, values: Tensor) -> str:
        """A sentence that tells where numbers of a trained scheme come from, and how far they spread."""
        spread = f"with a standard deviation of {values.std(correction=0):.2f}."
        if self.scheme.trained_on:
            return f"{they_were} learned, with “{self.scheme.trained_on}”, {spread}"
        return f"Before training {they_are} noise: random numbers of the model’s seed, {self.model.seed}, {spread}"

    @property
    def key(self) -> str:
        return self.name.removeprefix(PREFIX)

    @property
    def title(self) -> str:
        return self.scheme.title

    @property
    def sources(self) -> Sequence[Source]:
        return self.scheme.sources(self.places[0])


def wavelengths(*, schemes: Mapping[str, Mapping[str, Any]]) -> Mapping[str, Tensor | None]:
    """Side -> after how many positions each pair of its dimensions has turned once, (pair)."""
    waves = {side: lone_scheme(**spec).wavelengths(spec["d_model"]) for side, spec in schemes.items()}
    return waves


class WavesPanel(SchemesPanel):
    """A panel of the wavelengths of A and B, as far as they are made of waves."""

    canvas = CHART

    @cached_property
    def sides(self) -> list[tuple[Scheme, Tensor]]:
        """The schemes that are made of waves, each with the wavelengths of its pairs in positions, float64 (pair)."""
        waves = [(scheme, scheme.module.wavelengths(scheme.width)) for scheme in self.schemes]
        return [(scheme, lengths) for scheme, lengths in waves if lengths is not None]

    @cached_property
    def shown(self) -> list[Scheme]:
        return [scheme for scheme, _ in self.sides]

    @property
    def curves(self) -> list[Line]:
        """The wavelengths of each side."""
        return [line_of(scheme, range(len(lengths)), lengths.tolist()) for scheme, lengths in self.sides]

    def across(self, name: str, positions: int) -> Line:
        """A line across at so many positions."""
        return level(f"{name} = {positions}", positions, max(len(lengths) for _, lengths in self.sides) - 1)

    def chart(self, curves: Sequence[Line]) -> Content:
        """These lines over the pairs of dimensions."""
        return lines.content([wave_chart(curves)])

    def recipe(self) -> str:
        """A script that leaves the wavelengths in `waves`, side -> (pair)."""
        return script(wavelengths, **self.in_script(defined=False))


def note(text: Callable[[ModelState, PositionsState], str]) -> Callable[[ModelState, PositionsState], Note | None]:
    """What this function says of a link, as a block; none where it says nothing."""
    return lambda model, state: Note(told) if (told := text(model, state)) else None


def colour_of(side: str) -> str:
    """The colour of "A", of "B", or of neither: ""."""
    return A_AND_B[side][0] if side else "muted"


def line_of(scheme: Scheme, x: Sequence[float], y: Sequence[float], name: str = "") -> Line:
    """A side's curve: A is solid, B dashed."""
    return Line(name or scheme.title, x, y, *A_AND_B[scheme.side])


def level(name: str, y: float, last: int) -> Line:
    """A thin line across, from 0 to the last x; a point, where there is no other."""
    across = sorted({0, last})
    return Line(name, across, [y] * len(across), "muted", "thin")


def _pooled(head: HeadReading, part: Part) -> NDArray[np.float32]:
    """Weights as the screen can show them, masked where no pair of a cell may look."""
    weights = np.where(head.visible, head.weights, MASKED)
    return pooled(matrix(torch.from_numpy(weights)), part)
