"""What panels on parts share: the locked cell, the head's weights, a logit, what can be done with a chosen source."""

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
import streamlit as st
import torch
from numpy.typing import NDArray

from tfm_core import Tokens
from tfm_core.study.attribution.logits import LogitParts, attribute_logit, logit_parts
from tfm_core.study.attribution.sources import CROSS, HEAD, NETWORK, Source
from tfm_ui.lenses.attention.inside import ASKS, COLUMNS, ROWS, AttentionPanel
from tfm_ui.lenses.attention.state import PREFIX, AttentionState
from tfm_ui.lenses.attention.trail import LOGIT, At, cells, written
from tfm_ui.lenses.attention.why.parts import Opening, kind_in, logit_of, opened_from, tokens_by_rank, why_no_logit
from tfm_ui.lenses.attention.why.streams import logits_at, needs_cell, token_name
from tfm_ui.live import passes
from tfm_ui.live.places import tokens_of
from tfm_ui.live.tensors import live_steps
from tfm_ui.live.tensors.step import Step, held
from tfm_ui.page import controls
from tfm_ui.pictures import maps
from tfm_ui.pictures.canvas import Content
from tfm_ui.pictures.map_scale import from_zero
from tfm_ui.pictures.maps import MAPS, MASKED, Axis, Map
from tfm_ui.pictures.panel import Note
from tfm_ui.pictures.panel import Source as Function
from tfm_ui.state.model_state import ModelState
from tfm_ui.text import formats, token_labels
from tfm_ui.text.markdown import escape_markdown

SIDES = {"q": "query", "k": "key", "v": "value", "l": "logit"}
SHOWN_IN = {"q": "why", "k": "why", "v": "written", "l": "logit"}  # in which view a source of this side is chosen
OPENS = {"q": "why", "k": "why", "v": "written", "l": "written"}  # and in which view it opens
NAMES = {"weights": "lab-gpt", "text": "The captain met Mr Darnay and then Mr"}  # of questions: a name that goes on
AFTER_MR = {"layer": 4, "head": 3, "query": 12, "key": 6}  # its last “Mr” looks at what came after the first
BY_CHANCE = "These weights are random, so what is large here is large by chance."


class PartsPanel(AttentionPanel):
    """A panel on the parts of one head's cell."""

    needs = needs_cell

    @property
    def row(self) -> int:
        """The query of the locked cell, from 0: a token that is read."""
        return min(self.state.query, self.read) - 1

    @cached_property
    def visible(self) -> NDArray[np.bool_]:
        """(key), which keys the query may look at."""
        visible: NDArray[np.bool_] = passes.run(self.model).attention[self.kind].visible[self.row]
        return visible

    @property
    def column(self) -> int:
        """The key of the locked cell, from 0."""
        return min(self.state.key, len(self.tokens[1].pieces)) - 1

    @cached_property
    def weights(self) -> NDArray[np.float32]:
        """The query's weights, (key)."""
        row: NDArray[np.float32] = passes.run(self.model).attention[self.kind].exact(self.layer, self.head)[self.row]
        return row

    @property
    def cell(self) -> At:
        """The locked cell as a trail has it."""
        return At(
            self.state.kind if self.model.is_encoder_decoder else "encoder",
            self.state.layer,
            self.state.head,
            self.row + 1,
            self.column + 1,
        )

    @cached_property
    def trail(self) -> list[At]:
        """The cells from which this one was opened; none if the reader has gone elsewhere since."""
        kept = [cell for cell in cells(self.state.trail) if self._has(cell)]
        return kept if opened_from(self.model, kept, self.cell) else []

    def opening(self, source: Source, side: str) -> Opening:
        """A source on one side of this cell: "q", "k" or "v"."""
        return Opening((*self.trail, self.cell._replace(side=side)), source)

    def _has(self, cell: At) -> bool:
        model = self.model
        if cell.side == "l":
            texts = model.target_tokens if model.is_encoder_decoder else model.source_tokens
            return why_no_logit(model) == "" and 1 <= cell.query <= len(texts.pieces)
        if cell.kind != "encoder" and not model.is_encoder_decoder:
            return False
        queries, keys = (len(tokens.pieces) for tokens in self.tokens_in(cell.kind))
        within = zip(cell[1:5], (model.num_layers, model.num_heads, queries, keys), strict=True)
        return all(1 <= number <= most for number, most in within)

    def tokens_in(self, kind: str) -> tuple[Tokens, Tokens]:
        """The tokens of the queries and of the keys of a kind of attention."""
        return tokens_of(self.model, kind_in(self.model, kind))

    @property
    def query_name(self) -> str:
        """The token that looks, in quotes."""
        return f"“{self.queries[self.row]}”"

    @property
    def key_name(self) -> str:
        """The token that is looked at, in quotes."""
        return f"“{self.keys[self.column]}”"

    @property
    def in_words(self) -> str:
        """The head."""
        return f"Layer {self.state.layer}, head {self.state.head}"


class HeadMap(PartsPanel):
    """All weights of the head: a click chooses the cell whose score is split."""

    name = "why_head"
    canvas = MAPS
    how_to_read = "Click a cell to ask why this query looks at this key."
    locked = True

    @property
    def title(self) -> str:
        return f"{self.in_words}: where it looks"

    def sentence(self) -> str:
        """The locked cell's weight."""
        if not self.visible[self.column]:
            return f"{self.query_name} may not look at {self.key_name}: the mask hides this score, whatever it is."
        weight = formats.weight(float(self.weights[self.column]))
        return f"{self.query_name} gives {self.key_name} the weight {weight}."

    def table(self) -> pd.DataFrame:
        """A row for each pair that may be."""
        weights, visible = self.all_weights, passes.run(self.model).attention[self.kind].visible
        rows, columns = np.nonzero(visible)
        return pd.DataFrame({"weight": weights[rows, columns]}, index=self.pairs(rows, columns))

    @property
    def all_weights(self) -> NDArray[np.float32]:
        """(query, key)."""
        weights: NDArray[np.float32] = passes.run(self.model).attention[self.kind].exact(self.layer, self.head)
        return weights

    def picture(self) -> Content:
        """The weights, with the cell ringed."""
        weights, visible = self.all_weights, passes.run(self.model).attention[self.kind].visible
        drawn = Map(
            name="weights",
            values=np.where(visible, weights, MASKED),
            scale=from_zero(float(weights.max())),
            unit="weight",
        )
        return maps.content(
            [drawn],
            rows=Axis(self.queries, *ROWS),
            columns=Axis(self.keys, *COLUMNS),
            picked=(self.row, self.column),
            asks=ASKS,
            read=self.read,
        )


class LogitPanel(PartsPanel):
    """A panel on one logit in parts, at the locked query's token of the text that the model goes on with."""

    sources: Sequence[Function] = (logit_parts, attribute_logit)

    @property
    def position(self) -> int:
        """The token after which the next one is told, from 0."""
        return min(self.state.query, len(self._text.pieces)) - 1

    @property
    def _text(self) -> Tokens:
        return self.model.target_tokens if self.model.is_encoder_decoder else self.model.source_tokens

    @property
    def at(self) -> str:
        """The name of that token, in quotes."""
        return f"“{token_labels.labels(self._text)[self.position]}”"

    @cached_property
    def tokens_asked(self) -> tuple[int, int | None]:
        """The id whose logit it is, and that of the one that is subtracted."""
        return tokens_by_rank(self.model, self.position, self.state.rank, self.state.against)

    @cached_property
    def whose(self) -> str:
        """The logit in words: the logit of “mat”; that of “mat” minus that of “floor”."""
        token, minus = self.tokens_asked
        if minus is None:
            return f"the logit of {token_name(self.model, token)}"
        return f"the logit of {token_name(self.model, token)} minus that of {token_name(self.model, minus)}"

    @cached_property
    def parts(self) -> LogitParts:
        """The logit in parts."""
        return logit_of(self.model, self.position, self.state.rank, self.state.against)

    @cached_property
    def values(self) -> NDArray[np.float64]:
        """(source)."""
        values: NDArray[np.float64] = self.parts.parts.numpy()
        return values

    @property
    def tensors(self) -> Step:
        token, minus = self.tokens_asked
        logits = logits_at(self.model, self.position).astype(np.float64)
        total = torch.tensor(logits[token] - (0.0 if minus is None else logits[minus]))
        return live_steps.end(self.model, self.position).also(
            held("parts", ("source",), self.parts.parts, "what each source adds to the logit, or to the difference"),
            held("lead", (), total, "the logit, or the difference of two", "parts.sum()"),
            note="Who wrote what is not computed again: the parts of the logit are taken as they are.",
        )

    @cached_property
    def chosen(self) -> int:
        """The chosen source: the writer that the link names, in its layer; otherwise the largest head."""
        writers = {Source(kind, 0, head).code: (kind, head) for kind, head in self.writers}
        if self.state.from_key in writers:
            kind, head = writers[self.state.from_key]
            asked = [(source.kind, source.head, source.layer) for source in self.parts.sources]
            return asked.index((kind, head, self.state.from_layer - 1))
        heads = [source.is_head for source in self.parts.sources]
        return int(np.where(heads, np.abs(self.values), -1).argmax())

    @property
    def writers(self) -> list[tuple[str, int]]:
        """What writes in each layer, as kind and number: heads, and the network."""
        heads = range(self.model.num_heads)
        across = [(CROSS, head) for head in heads] * self.model.is_encoder_decoder
        return [*((HEAD, head) for head in heads), *across, (NETWORK, -1)]

    @property
    def opened(self) -> Opening:
        """The chosen source as what the logit reads."""
        cell = At(LOGIT, self.state.rank, self.state.against, self.position + 1, self.position + 1, "l")
        return Opening((cell,), self.parts.sources[self.chosen])


def instead_of_a_logit(model: ModelState, state: AttentionState) -> Sequence[Note]:
    """What stands in place of a logit's parts: why this model has none that can be split; nothing if it has."""
    reason = why_no_logit(model)
    return [Note(reason)] if reason else []


def draw_acts(panel: PartsPanel, *openings: Opening, can_hold_out: bool = False) -> None:
    """A row of buttons: the cells that led here, and what can be done with the chosen sources."""
    with st.container(key=f"acts_{panel.name}"):
        _draw_trail(panel)
        with st.container(horizontal=True, gap="small"):
            for opening in openings:
                if opening.source.is_head:
                    _open_button(panel, opening)
            if can_hold_out:
                _draw_holding_out(panel, openings)


def _open_button(panel: PartsPanel, opening: Opening) -> None:
    side = SIDES[opening.cell.side]
    st.button(
        escape_markdown(f"Open {opening.source.name} ({side})"),
        icon=":material/zoom_in:",
        on_click=open_source,
        args=(panel, opening),
        key=f"_open_{panel.name}_{side}",
    )


def open_source(panel: PartsPanel, opening: Opening) -> None:
    """Go to the cell in which the source's head got what it gave, and note where this was."""
    go_to(opening.opened(panel.model), opening.trail, view=OPENS[opening.cell.side])


def go_to(cell: At, trail: Sequence[At], *, view: str, opened: At | None = None) -> None:
    """Show a cell in a view, reached through these; or a logit.

    Args:
        cell: what is shown; in a trail, it says on which side a source was opened.
        trail: the cells before it.
        view: in which it is shown.
        opened: the cell that was opened there, whose head is then the chosen source again.
    """
    fields: dict[str, Any] = cell._asdict()
    side, sign = fields.pop("side"), "x" if opened and opened.kind == "cross" else "."
    chosen = f"{opened.layer}{sign}{opened.head}" if opened else ""
    if side == "l" and opened:  # in the map of all heads a column is called as in the first layer
        fields = {"rank": cell.layer, "against": cell.head, "query": cell.query, "from_layer": opened.layer}
        chosen = f"1{sign}{opened.head}"
    sources = {"from_query": chosen if side == "q" else "", "from_key": "" if side == "q" else chosen}
    controls.change(PREFIX, **fields, **sources, out="none", view=view, trail=written(trail))


def _draw_trail(panel: PartsPanel) -> None:
    trail, here = panel.trail, panel.cell
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key=f"trail_{panel.name}"):
        for number, cell in enumerate(trail):
            st.button(
                escape_markdown(in_words(panel, cell)),
                icon=":material/arrow_back:",
                on_click=go_to,
                args=(cell, trail[:number]),
                kwargs={"view": SHOWN_IN[cell.side], "opened": [*trail, here][number + 1]},
                type="tertiary",
                key=f"_trail_{panel.name}_{number}",
            )


def in_words(panel: PartsPanel, cell: At) -> str:
    """A cell as a button says it."""
    if cell.side == "l":
        text = panel.model.target_tokens if panel.model.is_encoder_decoder else panel.model.source_tokens
        at = token_labels.labels(text)[cell.query - 1]
        return f"the logit at “{at}”, rank {cell.layer}" + (f" minus rank {cell.head}" if cell.head else "")
    queries, keys = panel.tokens_in(cell.kind)
    query, key = token_labels.labels(queries)[cell.query - 1], token_labels.labels(keys)[cell.key - 1]
    kind = f"{cell.kind}, " if panel.model.is_encoder_decoder else ""
    return f"{kind}layer {cell.layer}, head {cell.head}: “{query}” → “{key}”"


def _draw_holding_out(panel: PartsPanel, openings: Sequence[Opening]) -> None:
    for opening in openings:
        side = SIDES[opening.cell.side]
        is_out = panel.state.out == side
        st.button(
            escape_markdown(f"{'Let back in' if is_out else 'Hold out'} {opening.source.name} ({side})"),
            icon=":material/undo:" if is_out else ":material/block:",
            on_click=controls.change,
            args=(PREFIX,),
            kwargs={"out": "none" if is_out else side, f"from_{side}": opening.source.code},
            key=f"_out_{panel.name}_{side}",
        )
