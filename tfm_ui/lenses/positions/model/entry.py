"""Where each scheme enters a model: the way of a token through it, drawn from the model's state and `enters()`."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go
from numpy.typing import NDArray

from tfm_core import POSITIONAL, MultiHeadAttention, Positional, TransformerLayer
from tfm_core.model.transformer import Stack
from tfm_ui.lenses.positions.model_runs import site_of
from tfm_ui.lenses.positions.panel import PositionsPanel
from tfm_ui.lenses.positions.schemes import enters
from tfm_ui.pictures.canvas import Canvas, Content, Header
from tfm_ui.pictures.figures import MUTED, PAPER, TEMPLATE, colour_of, plain
from tfm_ui.state.model_state import ModelState
from tfm_ui.text import formats

COLOURS = {"A": colour_of("head 1"), "B": colour_of("head 2")}  # of the sides, as everywhere on the page
ROW, MARGINS = 110, 130  # heights in pixels

# place -> what is done there, and the sites of the recording where the values can be read
STEPS = {
    "encode": ("+ position vectors", ("position",)),
    "rotate": ("turn Q and K", ("rotated_query", "rotated_key")),
    "bias_at": ("+ bias", ("position_bias",)),
}


@dataclass(frozen=True)
class EntryBox:
    """One box of the drawing, with this text in it."""

    text: str
    note: str = ""
    """The text below it."""
    marks: Mapping[str, str] = field(default_factory=dict)
    """Side -> scheme, of those that enter here."""
    place: bool = False
    """Whether schemes can enter here."""
    layer: bool = False
    """Whether it is repeated in each layer."""


def entry_figure(header: Header, numbers: NDArray[Any]) -> go.Figure:
    """A row of boxes per part of the model, as dots on a line; where a scheme enters, a large dot in its colour."""
    rows = header["rows"]
    traces = [
        {
            "type": "scatter",
            "mode": "lines+markers+text",
            "name": plain(row["title"]),
            "x": list(range(1, len(row["steps"]) + 1)),
            "y": [plain(row["title"])] * len(row["steps"]),
            "text": [_box(step) for step in row["steps"]],
            "customdata": [_told(step, header["layers"]) for step in row["steps"]],
            "hovertemplate": "%{customdata}<extra></extra>",
            "textposition": ["top center" if i % 2 else "bottom center" for i in range(len(row["steps"]))],
            "line": {"color": MUTED, "width": 1.5},
            "marker": {
                "color": [_colour(step) for step in row["steps"]],
                "size": [18 if step["marks"] else 11 for step in row["steps"]],
                "symbol": ["square-open" if step["place"] and not step["marks"] else "square" for step in row["steps"]],
                "line": {"color": PAPER, "width": 0},
            },
        }
        for row in rows
    ]
    most = max(len(row["steps"]) for row in rows)
    layout = {
        "template": TEMPLATE,
        "height": MARGINS + ROW * len(rows),
        "showlegend": False,
        "xaxis": {
            "title": {"text": "the way of a token, from left to right"},
            "range": [0.3, most + 0.7],
            "showgrid": False,
            "showticklabels": False,
        },
        "yaxis": {"title": {"text": "part"}, "type": "category", "showgrid": False, "range": [len(rows) - 0.4, -0.6]},
    }
    return go.Figure(data=traces, layout=layout)


def _colour(step: Header) -> str:
    return COLOURS[step["marks"][0][0]] if step["marks"] else MUTED


def _box(step: Header) -> str:
    """The box's text, and which schemes enter there."""
    marks = (f"<b>{side}: {plain(name)}</b>" for side, name in step["marks"])
    return "<br>".join([plain(step["text"]), *marks])


def _told(step: Header, layers: int) -> str:
    """All that the drawing tells of a box."""
    told = [_box(step), *([plain(step["note"])] if step["note"] else [])]
    if step["layer"]:
        told.append(f"in each of {formats.plural(layers, 'layer')}" if layers > 1 else "in the one layer")
    return "<br>".join(told)


ENTRY = Canvas(
    "lenses/positions/entry", '<div class="entry" data-picture><canvas role="img"></canvas></div>', entry_figure
)


def sites(model: ModelState, name: str, layer: int = 0) -> list[str]:
    """The sites of the recording where what this scheme does can be read; layer from 0."""
    start = "encoder." if model.is_encoder_decoder else ""
    places = POSITIONAL[name].enters()
    return [
        start + site if place == "encode" else site_of(model, layer, site)
        for place in places
        for site in STEPS[place][1]
    ]


class Entry(PositionsPanel):
    """The way of a token through the sidebar's model, with A and B where they enter."""

    title = "Where they enter"
    how_to_read = (
        "The way of a token through the sidebar’s model. Dashed: where a scheme could enter, and neither A nor B does."
    )
    sources = (Positional.enters, Stack.place, Stack.run, TransformerLayer.forward, MultiHeadAttention.forward)
    canvas = ENTRY

    @cached_property
    def rows(self) -> Mapping[str, list[EntryBox]]:
        """Title -> its boxes, in the order in which a token meets them."""
        model = self.model
        title = "Encoder" if model.is_encoder_decoder else model.architecture_name.capitalize()
        looks_back = "causal" if model.looks_back_only and not model.is_encoder_decoder else ""
        rows = {f"{title}, {model.norm}-norm": self._stack(cross=False, last=not model.is_encoder_decoder)}
        if model.is_encoder_decoder:
            rows[f"Decoder, {model.norm}-norm"] = self._stack(cross=True, last=True)
            looks_back = "causal in the decoder"
        rows["Inside each self-attention"] = [
            EntryBox("Q, K, V", f"{formats.plural(model.num_heads, 'head')}"),
            self._place("rotate"),
            EntryBox("q·k / √dₖ", f"dₖ = {model.config.head_dim}"),
            self._place("bias_at"),
            EntryBox("mask", looks_back or "padding alone"),
            EntryBox("softmax", "weights"),
            EntryBox("× V"),
            EntryBox("Wᴼ"),
        ]
        return rows

    def _stack(self, *, cross: bool, last: bool) -> list[EntryBox]:
        """The boxes of one stack, from tokens to its end."""
        tokens = self.model.target_tokens if cross else self.model.source_tokens
        steps = [
            EntryBox("tokens", str(len(tokens.ids))),
            EntryBox("embedding", f"d_model {self.model.d_model}"),
            self._place("encode"),
        ]
        pre = self.model.norm == "pre"
        for name in ("self-attention", *["cross-attention"] * cross, "feed-forward"):
            norm, rest = EntryBox("norm", layer=True), [EntryBox(name, layer=True), EntryBox("+ residual", layer=True)]
            steps += [norm, *rest] if pre else [*rest, norm]
        steps += [EntryBox("norm")] if pre else []
        return [*steps, EntryBox("logits") if last else EntryBox("to the decoder")]

    def _place(self, place: str) -> EntryBox:
        text, read = STEPS[place]
        marks = {side: name for name, side in self.state.sides.items() if place in POSITIONAL[name].enters()}
        return EntryBox(text, ", ".join(read), marks, place=True)

    def picture(self) -> Content:
        """What entry.js draws."""
        rows: list[dict[str, Any]] = [
            {"title": title, "steps": [{**vars(step), "marks": list(step.marks.items())} for step in steps]}
            for title, steps in self.rows.items()
        ]
        return {"rows": rows, "layers": self.model.num_layers}, np.zeros(0, np.float32)

    def sentence(self) -> str:
        enter = " ".join(f"{side}, {name}, enters {enters(name)}." for name, side in self.state.sides.items())
        read = [
            f"{name} at {' and '.join(sites(self.model, name, self.state.layer - 1))}"
            for name in self.state.sides
            if POSITIONAL[name].enters()
        ]
        both = ", and in the decoder likewise" if self.model.is_encoder_decoder else ""
        return f"{enter} Their names in a recording of the model: {'; '.join(read)}{both}." if read else enter

    def table(self) -> pd.DataFrame:
        """A row per scheme."""
        rows = [
            {
                "scheme": name,
                "pinned as": self.state.sides.get(name, ""),
                "enters": enters(name),
                "to be read at": ", ".join(sites(self.model, name, self.state.layer - 1)),
            }
            for name in POSITIONAL
        ]
        return pd.DataFrame(rows).set_index("scheme")
