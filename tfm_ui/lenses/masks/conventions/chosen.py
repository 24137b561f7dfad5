"""The convention that was chosen: our mask, what its call gets and gave, the usual mistake, and code to copy."""

from collections.abc import Callable, Sequence
from functools import partial
from html import escape
from typing import Any

import numpy as np
import pandas as pd
import streamlit as st
from numpy.typing import NDArray

from tfm_core.clinic.table import CORNER
from tfm_core.study.mask_verified import Verified
from tfm_ui.lenses.masks.conventions.calls import ROUNDING, ConventionsPanel, why_without
from tfm_ui.lenses.masks.state import PREFIX, MasksState
from tfm_ui.live.tables import matrix
from tfm_ui.live.windows import WHOLE, part_of, pooled
from tfm_ui.pictures import maps
from tfm_ui.pictures.canvas import Content
from tfm_ui.pictures.map_scale import SHARES
from tfm_ui.pictures.maps import MAPS, Axis, Map
from tfm_ui.pictures.panel import Source
from tfm_ui.state.model_state import ModelState
from tfm_ui.text import formats
from tfm_ui.text.token_labels import labels

NOT_ACROSS = "Cross-attention always looks both ways: there is no such call, so this is the one without causality."
EMPTY = {"NaN": "NaN", "as ours": "the same as from ours", "other numbers": "numbers of its own"}


class Ours(ConventionsPanel):
    """The chosen sentence's mask as we have it."""

    title = "Our mask"
    how_to_read = "Of the chosen sentence: rows look at columns, 1 = may attend."
    canvas = MAPS

    @property
    def shape(self) -> str:
        return self.pairs

    @property
    def sources(self) -> Sequence[Source]:
        return (self.convention.back,)

    def sentence(self) -> str:
        mask = self.mask[self.at]
        kept, lost = int(mask.sum()), int(self.lost[self.at].sum())
        said = f"Of {formats.count(mask.numel())} pairs {formats.count(kept)} may attend."
        if not lost:
            return f"{said} “{self.chosen}” says all of it."
        return f"{said} “{self.chosen}” cannot say {formats.count(lost)} of the {formats.count(mask.numel())}."

    def picture(self) -> Content:
        """The mask, and where the convention cannot say it, what it says instead."""
        mask = self.mask[self.at].numpy().astype(np.float32)
        lost = self.lost[self.at]
        shown = {"ours": mask}
        if lost.any():
            shown["what it can say"] = np.where(lost, maps.MASKED, mask)
        rows, columns = self.names
        part = part_of(self.state.part, *mask.shape)
        return maps.content(
            [
                Map(
                    name=name,
                    values=pooled(matrix(values), part),
                    scale=SHARES,
                    unit="= may attend",
                    words=("0", "1"),
                )
                for name, values in shown.items()
            ],
            rows=Axis(part.row_names(rows), "query (row): looks", "query", "query"),
            columns=Axis(part.column_names(columns), "key (column): is looked at", "key", "key"),
            blank="cannot be said",
            part=part,
            zooms=PREFIX + "part",
        )

    def table(self) -> pd.DataFrame:
        return _frame(self.mask[self.at].numpy(), *self.names, "True = may attend")


class Handed(ConventionsPanel):
    """What the call gets, number by number."""

    canvas = MAPS

    @property
    def title(self) -> str:
        return self.chosen

    @property
    def shape(self) -> str:
        return f"{self.convention.shape} = ({', '.join(formats.count(size) for size in self.handed.shape)})"

    @property
    def per_query(self) -> bool:
        """Whether what is handed over has a row per query, rather than one per sentence."""
        return "query" in self.convention.shape

    @property
    def dtype(self) -> str:
        """The dtype of what is handed over."""
        return str(self.handed.dtype).removeprefix("torch.")

    @property
    def sources(self) -> Sequence[Source]:
        return (self.convention.to, self.convention.call)

    def slice(self) -> tuple[NDArray[np.float64], str]:
        """The two axes of what is handed over that concern the chosen sentence and head, and what to call them."""
        handed = self.handed
        if handed.dim() == 4:
            return handed[self.at, 0].double().numpy(), f"mask[{self.at}, 0]"
        if handed.dim() == 3:
            at = self.at * self.model.num_heads + self.head
            return handed[at].double().numpy(), f"mask[{at}]"
        return handed.double().numpy(), "handed over"

    def slice_names(self) -> tuple[list[str], list[str]]:
        """Names of the slice's rows and columns."""
        queries, keys = self.names
        if self.per_query:
            return queries, keys
        count = len(self.settings)
        return [str(i + 1) for i in range(count)], keys if count == 1 else [str(i + 1) for i in range(len(keys))]

    @property
    def how_to_read(self) -> str:
        if self.handed.dim() > 2:
            head = " and head" * (self.handed.dim() == 3)
            return f"Of what the call gets, the part of the chosen sentence{head}."
        what = "one mask for all sentences" if self.per_query else "a row per sentence"
        return f"All that the call gets: {what}."

    def sentence(self) -> str:
        shape, dtype, convention = self.shape, self.dtype, self.convention
        return f"{shape}, {dtype}: {convention.keeps} where a pair may attend, {convention.hides} where it may not."

    def picture(self) -> Content:
        values, name = self.slice()
        rows, columns = self.slice_names()
        cells = values.astype(np.float32)
        words = ("False", "True") if self.dtype == "bool" else ("0", "1")
        unit = "= may attend" if self.convention.keeps == words[1] else "= hidden"
        if self.convention.hides == "−∞":  # 0 is the one value that is drawn
            cells, words, unit = np.where(values < 0, np.nan, 1).astype(np.float32), ("", "0"), "= may attend"
        about_rows = ("query (row)", "query", "query") if self.per_query else ("sentence", "sentence")
        part = part_of(self.state.part if self.per_query else WHOLE, *cells.shape)
        return maps.content(
            [Map(name=name, values=pooled(matrix(cells), part), scale=SHARES, unit=unit, words=words)],
            rows=Axis(part.row_names(rows), *about_rows),
            columns=Axis(part.column_names(columns), "key (column)", "key", "key"),
            blank="−∞",
            part=part,
            zooms=PREFIX + "part" if self.per_query else "",
            square=self.per_query,  # a row for each sentence would be a strip
        )

    def table(self) -> pd.DataFrame:
        convention = self.convention
        says = f"{convention.keeps} = may attend, {convention.hides} = hidden"
        return _frame(self.slice()[0], *self.slice_names(), says)

    def about(self) -> str:
        """Whether the convention can say this mask, and what the call made of it."""
        verified, lost = self.verified.get(self.chosen), int(self.lost.sum())
        said = [NOT_ACROSS] * (self.chosen != self.state.convention) + [self.convention.about]
        if lost:
            said.append(self._first_lost(lost))
        if not verified:
            return " ".join([*said, f"{why_without()}, so this call was not run."])
        said.append(self._compared(verified, lost))
        if verified.empty:
            said.append(f"A query that may see nothing gets {EMPTY[verified.empty]}.")
        return " ".join(said)

    def _compared(self, verified: Verified, lost: int) -> str:
        if not bool(self.mask.any()):
            return "This mask hides everything: there is no query whose output could be compared."
        if lost:
            return (
                f"So the call’s output differs from ours by up to {formats.number(verified.difference)}, because of "
                "those cells: given the same reduced mask, ours differs from it by at most "
                f"{formats.tiny(verified.of_said)}."
            )
        gathered = self.convention.compares == "head_output"
        compared = f"{'the heads’ outputs' if gathered else 'the attention’s output'} of {self.where}"
        if verified.difference == 0:
            return f"It equals ours to the last digit, in {compared}."
        return (
            f"Largest difference from ours, in {compared}: {formats.tiny(verified.difference)}, of numbers up to "
            f"{formats.number(verified.largest)}."
        )

    def _first_lost(self, lost: int) -> str:
        batch, query, key = (int(at) for at in np.argwhere(self.lost)[0])
        setting = self.settings[batch]
        sentence = f"sentence {batch + 1}, " if len(self.settings) > 1 else ""
        places = ((query, setting.queries), (key, setting.keys))
        names = [f"{place + 1} “{labels(tokens)[place]}”" for place, tokens in places]
        if self.mask[batch, query, key]:
            what = "should be visible, but this convention hides it"
        else:
            what = "should be hidden, but this convention shows it"
        return (
            f"It cannot say {formats.count(lost)} of this mask’s {formats.count(int(self.mask.numel()))} cells"
            f"{self._by_sentence()}: the first, {sentence}query {names[0]} and key {names[1]}, {what}."
        )

    def _by_sentence(self) -> str:
        """How many of the lost cells are each sentence's: the map shows one sentence alone. "" of a single one."""
        if len(self.settings) == 1:
            return ""
        each = enumerate(self.lost.sum((1, 2)).tolist(), 1)
        return f", {formats.listed([f'{formats.count(lost)} in sentence {number}' for number, lost in each if lost])}"

    def slip(self) -> str:
        """What the usual mistake does, "" where the call was not made."""
        verified = self.verified.get(self.chosen)
        if not verified or not bool(self.mask.any()):
            return ""
        rows, about = int(self.mask.any(-1).sum()), self.convention.slip_about
        if verified.slipped_nan == rows:
            return f"If it is handed over {about}, no error is raised, and every query becomes NaN."
        if verified.slipped < ROUNDING and not verified.slipped_nan:
            return (
                f"If it is handed over {about}, this mask happens to do no harm: outputs move by "
                f"{formats.tiny(verified.slipped)}."
            )
        nan = ""
        if verified.slipped_nan:
            become = "becomes" if verified.slipped_nan == 1 else "become"
            nan = f" and {formats.count(verified.slipped_nan)} of {formats.count(rows)} queries {become} NaN"
        return (
            f"If it is handed over {about}, no error is raised: outputs are off by up to "
            f"{formats.number(verified.slipped)}{nan}."
        )


def code_block(model: ModelState, state: MasksState) -> Callable[[], None]:
    """The code to copy, and what the call made of the mask."""
    return partial(_draw_code, Handed(model, state))


def _draw_code(handed: Handed) -> None:
    with st.container(border=True, key="panel_masks_code"):
        st.html(
            '<div class="phead"><h2>Code to copy</h2></div>'
            f'<p class="said">{escape(handed.about())}</p>'
            f'<p class="said">{escape(handed.slip())}</p>'
        )
        st.code(handed.recipe(), wrap_lines=True)


def _frame(values: NDArray[Any], rows: list[str], columns: list[str], says: str) -> pd.DataFrame:
    """A table with numbers before the names, as several may be PAD; its file's first cell says what cells mean."""
    return pd.DataFrame(
        values,
        index=pd.Index([f"{i + 1} {name}" for i, name in enumerate(rows)], name=f"{CORNER}: {says}"),
        columns=[f"{i + 1} {name}" for i, name in enumerate(columns)],
    )
