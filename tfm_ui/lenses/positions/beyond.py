"""The view "beyond", beyond the trained length: what A and B say of positions and distances past max_len.

max_len stands for the longest text that a model would be trained on, whatever the scheme, though only a learned table
ends there; where the model's weights are trained, it is the length that they were trained on.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any

import pandas as pd
import torch
from torch import Tensor

from tfm_core import Positional
from tfm_core.training.comparison import Comparison
from tfm_core.training.outcomes import outcome_store
from tfm_ui.lenses.positions.controls import KNOB, a_and_b, positions_alone
from tfm_ui.lenses.positions.panel import EPSILON, SchemesPanel, WavesPanel, line_of
from tfm_ui.lenses.positions.schemes import Scheme, aside_of, compared, compared_vectors, lone_scheme, turned_pair
from tfm_ui.lenses.positions.state import PositionsState
from tfm_ui.live.script import script
from tfm_ui.page.lens import View
from tfm_ui.pictures import lines
from tfm_ui.pictures.canvas import Content
from tfm_ui.pictures.chart import CHART
from tfm_ui.pictures.lines import Chart, Line
from tfm_ui.pictures.panel import Block, Note, Source
from tfm_ui.state.model_state import ModelState
from tfm_ui.text import formats

UNDEFINED = "not defined"


class BeyondPanel(SchemesPanel):
    """A panel of what A and B have past max_len. The vectors are those of the schemes alone, whatever the weights."""

    canvas = CHART

    def __init__(self, model: ModelState, state: PositionsState) -> None:
        super().__init__(model, as_trained(model, state))

    @property
    def last(self) -> int:
        """The last position within max_len, of those on screen."""
        return min(self.state.max_len, self.state.length) - 1

    @property
    def where(self) -> list[str]:
        """Whether each position, or distance, lies within max_len."""
        return ["within" if i < self.state.max_len else "beyond" for i in range(self.state.length)]

    def beyond_range(self, undefined: str = "") -> dict[str, tuple[float, float]]:
        """The part of an axis of positions, or of distances, past max_len, by its name.

        Args:
            undefined: what has no values there.
        """
        name = f"beyond max_len: {undefined} {UNDEFINED}" if undefined else "beyond max_len"
        end = self.state.length - 1
        return {name: (self.state.max_len - 0.5, end)} if self.last < end else {}


def as_trained(model: ModelState, state: PositionsState) -> PositionsState:
    """The state, with the length that the weights were really trained on as max_len; as it is, if they are random."""
    if model.is_random:
        return state
    return replace(state, max_len=model.trained.about.length if model.trained else model.most_tokens)


def measured(model: ModelState, state: PositionsState) -> str:
    """What a task's comparison has measured of A and B at its greatest length; "" where nothing is known."""
    comparison = outcome_store().find(model.trained.task) if model.trained else None
    if comparison is None or len(comparison.lengths) == 1:
        return ""
    told = "; ".join(text for name in state.sides if (text := _measured(comparison, name)))
    return f"Measured, with transformers that learned “{comparison.base.about.title}”: {told}." if told else ""


def _measured(comparison: Comparison, name: str) -> str:
    entry = comparison.by_scheme.get(name)
    if entry is None:
        return ""
    first, last = comparison.lengths[0], comparison.lengths[-1]
    begin, end = entry.at_length(0), entry.at_length(-1)
    beyond = f"{UNDEFINED} at {last}" if end is None else f"{formats.percent(end)} at {last}"
    return f"{name} has {formats.percent(begin or 0)} of the answers right at {first} tokens, {beyond}"


def norms_and_products(
    *, schemes: Mapping[str, Mapping[str, Any]], defined: Mapping[str, int], last: int
) -> tuple[Mapping[str, Tensor], Mapping[str, Tensor]]:
    """Side -> the length of its vector at each position; and of what is added the dot product with that at `last`."""
    norm, alike = {}, {}
    for side, spec in schemes.items():
        scheme = lone_scheme(**spec)
        first, second = compared_vectors(scheme, defined[side], spec["seed"])
        norm[side] = first.norm(dim=1)
        if "encode" in scheme.enters():
            alike[side] = first @ second[last]
    return norm, alike


@dataclass(frozen=True)
class Vectors:
    """What a scheme makes of the vector at each position, all (length); NaN where it is not defined."""

    scheme: Scheme
    norm: Tensor
    """The length of PE(pos), or of the drawn query turned to pos."""
    alike: Tensor | None
    """The dot product with the last position within max_len, PE(pos)·PE(last); None of what is turned, whose products
    depend on distances alone: no position is new to them."""


class Beyond(BeyondPanel):
    """The vectors of A and B, as far as they make any."""

    title = "Vectors past max_len"
    places = ("encode", "rotate")

    @property
    def sources(self) -> Sequence[Source]:
        return self.sources_at(*self.places)

    @cached_property
    def sides(self) -> list[Vectors]:
        """What each side makes."""
        sides = []
        for scheme in self.shown:
            first, second = compared(scheme.spec, self.state.length)
            alike = first @ second[self.last] if scheme.has("encode") else None
            sides.append(Vectors(scheme, first.norm(dim=1), alike))
        return sides

    @property
    def undefined(self) -> str:
        """The sides that have no vectors beyond."""
        return " and ".join(side.scheme.title for side in self.sides if side.norm.isnan().any())

    @property
    def how_to_read(self) -> str:
        added = any(scheme.has("encode") for scheme in self.shown)
        turned = any(not scheme.has("encode") for scheme in self.shown)
        whose = " or ".join([*["the vector that is added"] * added, *["a query that is turned"] * turned])
        second = f"the dot product of each vector that is added with the one at position {self.last}"
        alike = f" y in the second chart: {second}." if added else ""
        past = self.model.if_random(
            "max_len, which stands for the longest text of a training",
            f"max_len = {self.state.max_len}, the length of every text that these weights were trained on",
            prose=self._of_prose,
        )
        return f"x: position; shaded, those past {past}. y: the length of {whose}.{alike}"

    @property
    def _of_prose(self) -> str | None:
        """What max_len is of a model that others have trained, on texts of many lengths; None of any other."""
        known = self.model.pretrained
        if known is None or self.model.is_lab_gpt:
            return None
        return f"max_len = {self.state.max_len}, the most that {known.short} reads of a text here"

    @property
    def shape(self) -> str:
        return f"max_len {self.state.max_len}, length {self.state.length}"

    def picture(self) -> Content:
        """Norms, and how alike each position and the last one within max_len are."""
        x = range(self.state.length)
        norms = [line_of(side.scheme, x, side.norm.tolist()) for side in self.sides]
        alike = [line_of(side.scheme, x, side.alike.tolist()) for side in self.sides if side.alike is not None]
        charts = [
            Chart("position", heading, curves, reach=(0,), ranges=self.beyond_range(self.undefined))
            for heading, curves in (("norm", norms), (f"dot product with position {self.last}", alike))
            if curves
        ]
        return lines.content(charts, gap=UNDEFINED)

    def sentence(self) -> str:
        """What vectors each side has beyond max_len."""
        return " ".join(self._about(side) for side in self.sides)

    def _about(self, side: Vectors) -> str:
        title, length, rows = side.scheme.title, self.state.length, side.scheme.defined(self.state.length)
        if rows < length:
            where = f"position {rows} is" if rows == length - 1 else f"positions {rows} to {length - 1} are"
            return (
                f"{title}: {where} not defined. The table has {formats.plural(rows, 'row')}, "
                "and a model with it refuses longer texts."
            )
        low, high = _ends(side.norm)
        norms = f"norms are all {low}" if low == high else f"norms lie between {low} and {high}"
        if rows <= self.state.max_len:
            return f"{title}: {norms}."
        if side.alike is None:
            return f"{title}: {norms}, beyond max_len too, because turning a vector keeps its length."
        inside, outside = side.alike[: self.last], side.alike[self.last + 1 :]
        return (
            f"{title}: {norms}, beyond max_len too; with position {self.last} those before it have a dot product of "
            f"{_span(inside)}, those beyond of {_span(outside)}."
        )

    def laws(self) -> dict[str, bool]:
        """What holds of rotations, and of waves that come in pairs."""
        laws = {}
        for side in self.sides:
            low, high = side.norm.min().item(), side.norm.max().item()
            equal = high - low <= 16 * EPSILON * high
            if side.scheme.has("rotate"):
                laws[f"{side.scheme.title}: turning keeps every length"] = equal
            elif side.scheme.has_waves and not side.scheme.width % 2:
                root = (side.scheme.width / 2) ** 0.5
                laws[f"{side.scheme.title}: every norm is √(d_model / 2) = {root:.4g}"] = equal and (
                    abs(high - root) <= 16 * EPSILON * root
                )
        return laws

    def table(self) -> pd.DataFrame:
        """A row per position, with words where there is no number."""
        columns = {}
        for side in self.sides:
            columns[f"{side.scheme.title}, norm"] = _words(side.norm)
            if side.alike is not None:
                columns[f"{side.scheme.title}, with position {self.last}"] = _words(side.alike)
        return pd.DataFrame({"max_len": self.where, **columns}).rename_axis("position")

    def recipe(self) -> str:
        """A script that leaves each side's numbers in `norm` and `alike`."""
        return script(norms_and_products, **self.in_script(), last=self.last)


def _ends(values: Tensor) -> tuple[str, str]:
    """The smallest and the largest of these values, in words."""
    return formats.number(torch.min(values).item()), formats.number(torch.max(values).item())


def _span(values: Tensor) -> str:
    if not len(values):
        return "nothing to compare"
    low, high = _ends(values)
    return low if low == high else f"{low} to {high}"


def _words(values: Tensor) -> list[float] | list[str]:
    numbers: list[float] = values.tolist()
    return [UNDEFINED if x != x else repr(x) for x in numbers] if values.isnan().any() else numbers


def score_behind(scheme: Positional, length: int, head: int, seed: int) -> Tensor:
    """A head's bias, or else the score of a turned query and a turned key, of keys 0 to length - 1 before the query."""
    bias = scheme.bias_at(-torch.arange(length))
    if bias is not None:
        return bias[head]
    query, key = turned_pair(scheme, length, seed)
    return query @ key[0]


def scores_behind(*, schemes: Mapping[str, Mapping[str, Any]], length: int, head: int) -> Mapping[str, Tensor]:
    """Side -> its bias or score by distance, (length)."""
    scores = {side: score_behind(lone_scheme(**spec), length, head, spec["seed"]) for side, spec in schemes.items()}
    return scores


class BeyondScores(BeyondPanel):
    """The scores or biases of A and B, for keys before the query: every model has these."""

    title = "Scores past max_len"
    how_to_read = (
        "x: how many positions the key stands before the query; shaded, distances that no text of max_len "
        "has. y: the score of a turned query and a turned key, or the bias that is added to scores."
    )
    places = ("bias_at", "rotate")

    @property
    def sources(self) -> Sequence[Source]:
        return self.sources_at(*self.places)

    @cached_property
    def sides(self) -> list[tuple[Scheme, str, Tensor]]:
        """Each with its unit and a value per distance, float32 (length), of a key so far before the query."""
        length, head = self.state.length, self.state.bias_head
        return [
            (
                scheme,
                f"bias of head {head + 1}" if scheme.has("bias_at") else "Rₘq·R₀k",
                score_behind(scheme.module, length, head, self.model.seed).float(),
            )
            for scheme in self.shown
        ]

    def picture(self) -> Content:
        """Scores and biases; those of one unit share a chart."""
        charts = dict[str, list[Line]]()
        for scheme, unit, values in self.sides:
            charts.setdefault(unit, []).append(line_of(scheme, range(self.state.length), values.tolist()))
        return lines.content(
            [
                Chart("distance m − n", unit, curves, reach=(0,), ranges=self.beyond_range())
                for unit, curves in charts.items()
            ]
        )

    def sentence(self) -> str:
        """The value at the farthest distance within max_len, and beyond."""
        return " ".join(self._about(*side) for side in self.sides)

    def _about(self, scheme: Scheme, unit: str, values: Tensor) -> str:
        last, length = self.last, len(values)
        about = f"{scheme.title}: {unit} is {formats.number(values[last].item())} at distance {last}"
        if length - 1 > last:
            about += f", the farthest within max_len, and {formats.number(values[-1].item())} at {length - 1}"
        if (first := scheme.shared_from) is None:
            return f"{about}."
        reached = "" if length > first else " None on screen is as far."
        return f"{about}. Keys from distance {first} on share one bucket, and so one bias.{reached}"

    def laws(self) -> dict[str, bool]:
        """What must hold of each scheme's numbers at large distances."""
        laws = {}
        for scheme, _, values in self.sides:
            if scheme.shared_from is not None:
                shared = values[scheme.shared_from :]
                if len(shared) > 1:
                    law = f"{scheme.title}: one bias for {formats.plural(len(shared), 'distance')}"
                    laws[law] = bool((shared == shared[0]).all())
            elif scheme.module.slopes() is not None and len(values) > 2:
                steps = values.double().diff()
                straight = (steps - steps[0]).abs().max() <= 1e-6 * values.abs().max()
                laws[f"{scheme.title}: every step farther costs the same"] = bool(straight)
        return laws

    def table(self) -> pd.DataFrame:
        """A row per distance."""
        columns = {f"{scheme.title}, {unit}": values.tolist() for scheme, unit, values in self.sides}
        return pd.DataFrame({"max_len": self.where, **columns}).rename_axis("distance")

    def recipe(self) -> str:
        """A script that leaves each side's values in `scores`."""
        sizes = {"length": self.state.length, "head": self.state.bias_head}
        return script(scores_behind, **self.in_script(defined=False), **sizes)


class BeyondTurns(BeyondPanel, WavesPanel):
    """The wavelengths of A and B beside max_len."""

    title = "Which waves complete a turn?"
    how_to_read = (
        "x: pairs of dimensions, each a wave. y, in powers of 10: how many positions a full turn "
        "takes. Above the line of max_len: more than a text of max_len has."
    )

    @property
    def sources(self) -> Sequence[Source]:
        return [type(scheme.module).wavelengths for scheme in self.shown]

    def picture(self) -> Content:
        ends = {"max_len": self.state.max_len, "length": self.state.length}
        return self.chart([*self.curves, *(self.across(name, end) for name, end in ends.items())])

    def sentence(self) -> str:
        """How many waves have not completed a turn, and how far the slowest turns."""
        sentences: dict[str, list[str]] = {}
        for scheme, waves in self.sides:
            sentences.setdefault(self._about(waves), []).append(scheme.title)
        return " ".join(f"{' and '.join(titles)}: {sentence}" for sentence, titles in sentences.items())

    def _about(self, waves: Tensor) -> str:
        count, max_len, length = len(waves), self.state.max_len, self.state.length
        slow = int((waves > max_len - 1).sum())  # those that have not completed a turn
        kinds = formats.plural(count, "wave")  # an odd width's last sine has one, but no pair
        if not slow:
            all_of = "it" if count == 1 else "each"
            return f"{kinds}, and {all_of} has completed a turn at position {max_len - 1}, the last within max_len."
        have = "has" if slow == 1 else "have"
        share = formats.percent(slow / count)
        which = f"pair {count - 1}" if slow == 1 else f"pairs {count - slow} to {count - 1}"  # the slowest come last
        about = f"of {kinds}, {slow} ({share}, {which}) {have} not completed a turn at position {max_len - 1}"
        if length <= max_len:
            return f"{about}."
        old, new = (formats.number((end - 1) * 360 / waves[-1].item()) for end in (max_len, length))
        return (
            f"{about}; beyond, they turn further than at any position within max_len: the slowest gets from "
            f"{old}° to {new}° at position {length - 1}."
        )

    def table(self) -> pd.DataFrame:
        """A row per pair."""
        columns, last = {}, self.state.max_len - 1
        for scheme, waves in self.sides:
            columns[f"{scheme.title}, wavelength"] = pd.Series(waves.tolist())
            columns[f"{scheme.title}, turns at position {last}"] = pd.Series((last / waves).tolist())
        return pd.DataFrame(columns).rename_axis("pair")


PANELS: tuple[type[BeyondPanel], ...] = (Beyond, BeyondScores, BeyondTurns)


def _blocks(model: ModelState, state: PositionsState) -> list[Block]:
    """A panel for vectors, one for scores, one for waves, as far as A and B have them; below the first one, notes."""
    every = [panel(model, state) for panel in PANELS]
    panels = [panel for panel in every if panel.is_shown]
    shown, state = every[0].schemes, every[0].state
    without = [scheme.title for scheme in shown if not scheme.module.enters()]
    nothing = " ".join(f"{title} adds nothing and turns nothing: there is nothing to run out of." for title in without)
    is_within = state.length <= state.max_len and len(without) < len(shown)
    within = f"All {state.length} positions lie within max_len = {state.max_len}: raise Length beyond it."
    texts = [aside_of(model, state), nothing if panels else "", measured(model, state), within if is_within else ""]
    notes = [Note(text) for text in texts if text]
    return [panels[0], *notes, *panels[1:]] if panels else [Note(nothing), *notes]


VIEW = View(
    title="Past the end",
    exercise="alibi-slopes",
    shows=[_blocks],
    also=PANELS,
    beside=KNOB,
    controls=partial(a_and_b, more=("head",)),
    reads_instead=positions_alone,
)
