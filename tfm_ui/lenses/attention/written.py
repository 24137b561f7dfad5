"""The view "written": what a head wrote at a query, split by the keys that it took it from and by their sources."""

from collections.abc import Sequence
from functools import cached_property

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from tfm_core.study.attribution.scores import value_terms
from tfm_core.study.attribution.sources import BIASES, CROSS, EMBEDDING, HEAD, NETWORK, POSITION, TYPES, Source
from tfm_core.study.attribution.values import WrittenParts, written_parts
from tfm_ui.lenses.attention.inside import ASKS
from tfm_ui.lenses.attention.state import AttentionState
from tfm_ui.lenses.attention.why.panel import AFTER_MR, BY_CHANCE, NAMES, HeadMap, PartsPanel, draw_acts, in_words
from tfm_ui.lenses.attention.why.parts import (
    Named,
    Opening,
    asked_of_output,
    kind_in,
    logit_of,
    named,
    opened_from,
    parts_of,
    written_of,
)
from tfm_ui.lenses.attention.why.recipes import written_in_parts
from tfm_ui.live.script import of_model, script
from tfm_ui.page.lens import View
from tfm_ui.page.questions import Prediction, Question
from tfm_ui.pictures import maps, signed
from tfm_ui.pictures.canvas import Content
from tfm_ui.pictures.chart import CHART
from tfm_ui.pictures.map_scale import around_zero
from tfm_ui.pictures.maps import MAPS, MASKED, Axis, Map
from tfm_ui.pictures.panel import Columns
from tfm_ui.pictures.panel import Source as Function
from tfm_ui.state.model_state import ModelState
from tfm_ui.text import formats

KEYS = 12  # that have a row
CLICKS = (ASKS[1], "attention_from_key")


class WrittenPanel(PartsPanel):
    """A panel on what the head wrote at the locked query."""

    sources: Sequence[Function] = (written_parts, value_terms, WrittenParts.along)

    @property
    def slow(self) -> bool:
        """All keys in parts: of a large model's long text that takes seconds."""
        return self.model.is_heavy

    @cached_property
    def wrote(self) -> WrittenParts:
        """What the head gathered at the query."""
        return written_of(self.model, self.kind, self.layer, self.head, self.row)

    @cached_property
    def opened_from(self) -> Opening | None:
        """The opening that led here; None if this head was not opened from another cell."""
        return opened_from(self.model, self.trail, self.cell)

    @cached_property
    def matrix(self) -> NDArray[np.float64]:
        """(key, source): along what the opening head asked for, or else along the head's whole output."""
        direction = asked_of_output(self.model, self.trail, self.cell)
        return self.wrote.along(direction).numpy()

    @property
    def unit(self) -> str:
        """What the numbers are."""
        if not self.opened_from:
            return "length along the output"
        return {"q": "score", "k": "score", "l": "logit"}.get(self.trail[0].side, "along what was asked")

    @cached_property
    def of_values(self) -> Named:
        """The sources that have a column."""
        sizes = np.maximum(np.abs(self.matrix.sum(0)), np.abs(self.matrix).max(0))
        return named(self.wrote.sources, sizes)

    @cached_property
    def shown_keys(self) -> list[int]:
        """The keys that have a row, in the order of the text."""
        sizes = np.abs(self.matrix).sum(1)
        sizes[self.column] = np.inf
        return sorted(np.argsort(-sizes, kind="stable")[:KEYS].tolist())

    @cached_property
    def rest(self) -> int:
        """How many keys are summed in a last row."""
        return len(self.matrix) - len(self.shown_keys)

    @cached_property
    def chosen(self) -> int:
        """The chosen source: that of the link, as far as it names one; otherwise the largest at the locked key."""
        codes = [source.code for source in self.wrote.sources]
        if self.state.from_key in codes:
            return codes.index(self.state.from_key)
        return int(np.abs(self.matrix[self.column]).argmax())


class Written(WrittenPanel):
    """Keys and sources as a matrix."""

    name = "written"
    locked = True
    canvas = MAPS

    @property
    def title(self) -> str:
        return f"{self.in_words}: what it wrote at {self.query_name}"

    @property
    def shape(self) -> str:
        return f"key × source = {self.matrix.shape[0]} × {self.matrix.shape[1]}"

    @property
    def how_to_read(self) -> str:
        along = (
            f"what {in_words(self, self.opened_from.cell)} asked for"
            if self.opened_from
            else "the direction of the head’s whole output"
        )
        return (
            "Rows: the tokens it took values from. Columns: what these values are made of; L1 H4 is layer 1, head 4. A "
            f"cell: weight × value × Wᴼ, along {along}. Weights and norms’ statistics are held fixed."
        )

    def sentence(self) -> str:
        """The token from which most came, and what that was made of."""
        if not np.abs(self.matrix).any():
            return f"The head wrote nothing at {self.query_name}."
        row, column = divmod(int(np.abs(self.matrix).argmax()), self.matrix.shape[1])
        by_key = self.matrix.sum(1)
        most = int(np.abs(by_key).argmax())
        total = float(self.matrix.sum())
        what = (
            f"The head gave {signed.signed(total)} there"
            if self.opened_from
            else f"The head adds a vector of length {formats.number(total)} to {self.query_name}"
        )
        key, name, part = f"“{self.keys[row]}”", self.wrote.names[column], float(self.matrix[row, column])
        sentence = (
            f"{what}; {signed.signed(float(by_key[most]))} of it were taken from “{self.keys[most]}”. "
            f"The largest part is {name} of {key}: {signed.signed(part)}."
        )
        return " ".join(filter(None, [sentence, self.model.if_random(BY_CHANCE)]))

    def laws(self) -> dict[str, bool]:
        """The parts sum to what the pass recorded of this head, and to what the opening score had of it."""
        gathered = self.inside.recorded["head_output"][self.head, self.row].double()
        error = float((self.wrote.vectors.sum((0, 1)) - gathered).abs().max())
        laws = {f"all parts sum to the head’s output (largest error {formats.tiny(error)})": error < 1e-4}
        if opening := self.opened_from:
            error = abs(self._given_to(opening) - float(self.matrix.sum()))
            law = f"they sum to what this head gave there (error {formats.tiny(error)})"
            laws[law] = error < 1e-5 * max(1.0, float(np.abs(self.matrix).sum()))
        return laws

    def _given_to(self, opening: Opening) -> float:
        """What the opening cell's own split says of this head: there it is a source."""
        cell, kind = opening.cell, kind_in(self.model, opening.cell.kind)
        if cell.side == "l":
            parts_of_logit = logit_of(self.model, cell.query - 1, cell.layer, cell.head)
            return float(parts_of_logit.parts[parts_of_logit.sources.index(opening.source)])
        if cell.side == "v":
            layer, head, query, key = cell.numbers
            wrote = written_of(self.model, kind, layer, head, query)
            along = wrote.along(asked_of_output(self.model, opening.trail[:-1], cell))
            return float(along[key, wrote.sources.index(opening.source)])
        parts = parts_of(self.model, kind, *cell.numbers)
        side, axis = (parts.key_side, 0) if cell.side == "k" else (parts.query_side, 1)
        return float(parts.parts.sum(axis)[side.index(opening.source)])

    def table(self) -> pd.DataFrame:
        """A row for each key and source, the largest first by size."""
        rows, columns = np.unravel_index(np.argsort(-np.abs(self.matrix), axis=None, kind="stable"), self.matrix.shape)
        names, keys = self.wrote.names, self.numbered[1]
        index = pd.MultiIndex.from_arrays(
            [[keys[row] for row in rows], [names[column] for column in columns]], names=["key", "source"]
        )
        return pd.DataFrame({self.unit: self.matrix[rows, columns]}, index=index)

    def picture(self) -> Content:
        """The named keys and sources, the chosen cell ringed."""
        values = self.of_values.summed(self.matrix, 1)
        others = np.delete(values, self.shown_keys, 0).sum(0, keepdims=True)
        values = np.concatenate([values[self.shown_keys], others][: 2 if self.rest else 1])
        column = self.of_values.at.index(self.chosen) if self.chosen in self.of_values.at else len(self.of_values.at)
        visible = self.visible[self.shown_keys]
        masked = np.where(np.append(visible, [True] * bool(self.rest))[:, None], values, MASKED).astype(np.float32)
        drawn = Map(name="", values=masked, scale=around_zero(float(np.abs(values).max())), unit=self.unit)
        rows = [self.keys[key] for key in self.shown_keys] + [f"the other {self.rest}, summed"] * bool(self.rest)
        return maps.content(
            [drawn],
            rows=Axis(rows, "token that the value is of", "key", "key"),
            columns=Axis(self.of_values.shorts, "what the value is made of", "source", "value"),
            picked=(self.shown_keys.index(self.column), column),
            asks=CLICKS,
            places=([key + 1 for key in self.shown_keys] + [self.column + 1] * bool(self.rest), self.of_values.codes),
        )

    def tools(self) -> None:
        """Draw what can be done with the chosen source, and the way back."""
        draw_acts(self, *_openings(self))

    def recipe(self) -> str:
        """A script that leaves the parts in `parts`, (key, source); "" where they are read along another direction."""
        if self.opened_from:
            return ""
        cell = {"layer": self.layer, "head": self.head, "query": self.row}
        return script(written_in_parts, **of_model(self.model), attention=self.kind, **cell)


def _openings(panel: Written) -> list[Opening]:
    """The chosen source at the locked key, if a head wrote it."""
    source: Source = panel.wrote.sources[panel.chosen]
    return [panel.opening(source, "v")] if source.is_head else []


class WrittenSources(WrittenPanel):
    """The sources, summed over the keys."""

    name = "written_sources"
    shape = ""
    canvas = CHART
    title = "By source"
    how_to_read = "A bar: what comes from this source, over all tokens that the head looked at."

    def sentence(self) -> str:
        """The largest source."""
        sums = self.matrix.sum(0)
        at = int(np.abs(sums).argmax())
        return (
            f"Largest: {self.wrote.names[at]}, {signed.signed(float(sums[at]))} of {formats.number(float(sums.sum()))}."
        )

    def table(self) -> pd.DataFrame:
        """A row per source."""
        return pd.DataFrame({self.unit: self.matrix.sum(0)}, index=pd.Index(self.wrote.names, name="source"))

    def picture(self) -> Content:
        """A bar per named source, and one for the others together."""
        values = self.of_values.summed(self.matrix.sum(0), 0)
        return signed.content(self.of_values.names, values.tolist(), unit=self.unit, rows="source")


def what_was_carried(model: ModelState, state: AttentionState) -> str:
    """What the head took of the tokens that it looked at."""
    written = Written(model, state)
    sums = written.matrix.sum(0)
    if not np.abs(sums).any():
        return written.sentence()
    most = int(np.abs(sums).argmax())
    share = formats.percent(float(abs(sums[most]) / np.abs(sums).sum()))
    return f"{written.sentence()} Over all tokens, {written.wrote.names[most]} is {share} of the sources by size."


def carried_source(model: ModelState, state: AttentionState) -> str:
    """The kind of source from which most of what the head wrote comes, over all tokens."""
    written = Written(model, state)
    return KINDS[written.wrote.sources[int(np.abs(written.matrix.sum(0)).argmax())].kind]


def taken_from(model: ModelState, state: AttentionState) -> str:
    """The place of the token from which the head took most, beside that at which it wrote."""
    written = Written(model, state)
    back = written.row - int(np.abs(written.matrix.sum(1)).argmax())
    return PLACES[back] if written.kind != "cross" and back in (0, 1) else PLACES[2]


KINDS = {
    EMBEDDING: "token embedding",
    TYPES: "token embedding",
    POSITION: "position",
    HEAD: "an earlier head",
    CROSS: "an earlier head",
    NETWORK: "a network",
    BIASES: "biases",
}
PLACES = ("the same token", "the token before", "another token")
QUESTIONS = (
    Question(
        "What it carries on",
        "The head of layer 4 looks at “D”, to write it after “Mr”. What of “D” does it take: its embedding, or what "
        "others wrote there?",
        what_was_carried,
        Prediction(
            ask="Which source is the largest?",
            measured=carried_source,
            options=tuple(dict.fromkeys(KINDS.values())),
            hides=("written*",),
        ),
        model=NAMES,
        controls={"view": "written", **AFTER_MR},
        because="why a head looks is one half, and what it takes from there is the other.",
    ),
    Question(
        "One step back",
        "Opened: layer 1, head 3 wrote at “D” what made “Mr” look there. From which token had it taken it?",
        what_was_carried,
        Prediction(
            ask="From which token?",
            measured=taken_from,
            options=PLACES,
            hides=("written*", "why*"),
        ),
        model=NAMES,
        controls={"view": "written", "layer": 1, "head": 3, "query": 6, "key": 5, "trail": "4.3.12.6k"},
        because="what a head takes may have been written there by another one, to be followed back.",
    ),
)

VIEW: View[AttentionState] = View(
    title="What it wrote",
    tab="why",
    choice="What it wrote",
    exercise="merge-heads",
    shows=[Columns([[Written], [WrittenSources]], widths=(5, 3)), HeadMap],
    controls=("kind", "layer", "head"),
    line="line_written",
    reads_pass=True,
    questions=QUESTIONS,
)
