"""The drawing of the machine: rows of boxes, from the tokens at the bottom to the end of each stack at the top."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from itertools import groupby
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go
from numpy.typing import NDArray

from tfm_core import block_costs, block_parameters, stack_blocks
from tfm_ui.lenses.model.diagram.counted import Counted, DiagramPanel, written
from tfm_ui.lenses.model.diagram.path import Path
from tfm_ui.lenses.model.state import OUTSIDE_LAYERS, PREFIX
from tfm_ui.live.passes import transformer
from tfm_ui.pictures.canvas import Canvas, Content, Header
from tfm_ui.pictures.figures import MUTED, TEMPLATE, plain
from tfm_ui.text import formats
from tfm_ui.text.ties import one_of_ties, places_of_largest

ROW, MARGINS = 44, 130  # heights in pixels
STEP_OF = {"_norm": "norm", "": "sub-layer", "_sum": "sum"}  # the end of a block's name -> the step of its sub-layer
COLUMNS = ("flows out", "parameters", "multiply-adds", "numbers written")


def diagram_figure(header: Header, numbers: NDArray[Any]) -> go.Figure:
    """A column of boxes per stack, each a dot with its name, and its numbers below the pointer."""
    stacks = header["stacks"]
    traces = [
        {
            "type": "scatter",
            "mode": "lines+markers+text",
            "name": plain(stack["title"]),
            "x": [plain(stack["title"])] * len(stack["rows"]),
            "y": list(range(len(stack["rows"]))),
            "text": [plain(row["text"]) for row in stack["rows"]],
            "customdata": [_told(row, header["columns"]) for row in stack["rows"]],
            "hovertemplate": "%{customdata}<extra></extra>",
            "textposition": "middle right",
            "line": {"color": MUTED, "width": 1.5},
            "marker": {"color": MUTED, "size": 10, "symbol": "square"},
        }
        for stack in stacks
    ]
    layout = {
        "template": TEMPLATE,
        "height": MARGINS + ROW * max(len(stack["rows"]) for stack in stacks),
        "showlegend": False,
        "xaxis": {
            "title": {"text": "stack"},
            "type": "category",
            "showgrid": False,
            "range": [-0.3, len(stacks) - 0.2],
        },
        "yaxis": {"title": {"text": "from the tokens upwards"}, "showgrid": False, "showticklabels": False},
    }
    return go.Figure(data=traces, layout=layout)


def _told(row: Header, columns: Sequence[str]) -> str:
    """All that the drawing tells of a row."""
    cells = [f"{plain(name)}: {plain(long)}" for name, (long, _) in zip(columns, row["cells"], strict=False) if long]
    return "<br>".join([plain(" ".join(filter(None, (row["text"], row["mark"])))), *cells])


def opens(block: str) -> dict[str, Any]:
    """Parameter -> value, of a click that opens a block of the live model at full size, in the view "block".

    Args:
        block: its name in links. Of a sub-layer's norm, the sub-layer itself and its sum, the view shows that step.
    """
    if block in OUTSIDE_LAYERS.values():
        return {
            f"{PREFIX}view": "block",
            f"{PREFIX}sub_layer": next(name for name in OUTSIDE_LAYERS if OUTSIDE_LAYERS[name] == block),
        }
    sub_layer = block.removesuffix("_norm").removesuffix("_sum")
    return {
        f"{PREFIX}view": "block",
        f"{PREFIX}sub_layer": sub_layer.replace("_", "-"),
        f"{PREFIX}step": STEP_OF[block.removeprefix(sub_layer)],
    }


@dataclass(frozen=True)
class DiagramRow:
    """One row of the drawing, as diagram.js reads it."""

    kind: str
    """As in `Block`; or "tokens", "fold" (the line that opens or folds the layers), "layer" (a folded layer)."""
    text: str
    """In the box."""
    mark: str = ""
    """What enters the box from outside, such as a positional scheme."""
    cells: list[tuple[str, str]] = field(default_factory=list)
    """The long and the short text of each column."""
    sets: dict[str, Any] = field(default_factory=dict)
    """Parameter -> value, of a click."""
    picked: bool = False
    """Whether it is the block that is looked at."""
    inside: bool = False
    """Whether the row belongs to the layers."""
    begins: int = -1
    """Of a sum, the number of the row before which the residual connection leaves the stream."""
    looks: bool = False
    """Whether the encoder's output flows in."""
    name: str = ""
    """The block's; "" if it is none."""


class Diagram(DiagramPanel):
    """The whole machine, block by block."""

    sources = (stack_blocks, block_parameters, block_costs)
    canvas = Canvas(
        "lenses/model/diagram",
        '<div class="diagram" data-picture><canvas role="img"></canvas><div class="boxes"></div></div>',
        diagram_figure,
    )

    @property
    def title(self) -> str:
        counted = "counted" if self.state.run else "counted only"
        return f"The machine, {'live' if self.chosen.live else counted}"

    @property
    def how_to_read(self) -> str:
        below = "below are its formula, what flows in and out, and its program"
        click = f"Click a block to open it; {below}" if self.chosen.live else f"Click a block: {below}"
        return f"From the tokens upwards. {click}. Multiply-adds are those of matrix products."

    @property
    def shape(self) -> str:
        config = self.config
        kind = config.architecture if len(self.counts) > 1 else self.called(config.architecture)
        layers = "+".join([str(config.num_layers)] * len(self.counts))
        deep = f"{layers} {'layer' if layers == '1' else 'layers'}"
        sizes = f"d_model {formats.count(config.d_model)}, {self.heads}, {deep}"
        ids = formats.plural(config.vocab_size, "token id")
        if target := self.chosen.target_words:
            ids = f"{formats.count(config.vocab_size)} and {formats.plural(target, 'token id')}"
        words = f"d_ff {formats.count(config.feed_forward_dim)}, {ids}"
        return f"{kind}, {config.norm}-norm, {sizes}, {words}"

    def called(self, stack: str) -> str:
        """The name of a stack: that of the whole model, if it has one only."""
        if len(self.counts) > 1:
            return stack
        return "decoder-only" if stack == "decoder" or self.masks(stack) else stack

    def sentence(self) -> str:
        """How many parameters there are, where most of them are, which part computes most, and what is live."""
        kinds = {"attention": ("self_attention", "cross_attention"), "feed-forward": ("feed_forward",)}
        kinds |= {"logits": ("logits",)} if not self.chosen.classes else {"the head": ("head",)}
        kinds |= {"the pooler": ("pooler",), "the transform": ("transform",)}
        times = {name: self.time_of(*each) for name, each in kinds.items()}
        most = places_of_largest(np.array(list(times.values()), float))
        share = times[list(times)[most[0]]] / sum(times.values())
        ends = "neither in the embedding nor in the output" if self.has_output else "not in the embedding"
        return (
            f"{formats.count(self.parameters)} parameters; {formats.count(self.without_ends)} of them are {ends}. "
            f"{formats.percent(share)} of the multiply-adds are in {list(times)[most[0]]}{one_of_ties(len(most))}. "
            f"{self.shared_in_words()}{self.what_it_is()}"
        )

    def laws(self) -> dict[str, bool]:
        """The sum beside the real modules, here or in somebody else's code."""
        laws = {}
        if self.chosen.live:
            real = sum(each.numel() for each in transformer(self.config).parameters())
            laws[f"the blocks sum to the live model’s {formats.count(real)} parameters"] = real == self.parameters
        if shape := self.chosen.shape:
            number = self.without_ends if shape.without_ends else self.parameters
            where = "without embedding and output" if shape.without_ends else "in all"
            code = shape.code[0].lower() + shape.code.removesuffix(",")[1:]
            laws[f"{formats.count(number)} {where}, as many as {code}"] = number == shape.parameters
        return laws

    def table(self) -> pd.DataFrame:
        """A row per block."""
        return self.table_of(self.items)

    def picture(self) -> Content:
        """What diagram.js draws. Of a live model, a last column follows one token through the stack looked at."""
        stacks: list[dict[str, Any]] = [
            {
                "title": f"{self.called(stack).capitalize()}, {self.config.norm}-norm{self._sharing()}",
                "rows": [asdict(row) for row in self.rows_of(stack)],
            }
            for stack in self.counts
        ]
        columns = list(COLUMNS)
        if self.chosen.live:
            path = Path(self.model, self.state)
            columns.append(f"“{path.names[path.token]}”")
            cells = path.cells()
            for row in (row for stack in stacks for row in stack["rows"]):
                row["cells"] += [("", "")] * (len(COLUMNS) - len(row["cells"])) + [cells.get(row["name"], ("", ""))]
        return {"stacks": stacks, "columns": columns}, np.zeros(0, np.float32)

    def _sharing(self) -> str:
        """How many heads share keys and values, to follow a stack's name; "" where none do."""
        return f", {self.heads}" if self.config.kv_heads < self.config.num_heads else ""

    def rows_of(self, stack: str) -> list[DiagramRow]:
        """The rows of one stack. One layer is drawn in full; the others are folded, or a line each."""
        n = self.chosen.lengths[stack]
        rows = [
            DiagramRow("tokens", formats.plural(n, "token"), cells=[(f"(n) = ({formats.count(n)})", formats.count(n))])
        ]
        for layer, items in groupby(self.counts[stack], key=lambda item: item.block.layer):
            inside = list(items)
            if layer in (None, self.layer - 1):
                for item in inside:
                    rows.append(self._row(item, stack, len(rows)))
                if layer is not None and self.config.num_layers > 1:
                    rows.append(self._fold(stack))
            elif self.state.all_layers and self.chosen.live:
                rows.append(self._whole_layer(inside, stack, layer + 1))
        return rows

    def _whole_layer(self, inside: list[Counted], stack: str, layer: int) -> DiagramRow:
        """A layer in a line: what flows out, and its sums. Its name is that of the block that writes the stream."""
        last = inside[-1].block
        sums = (
            sum(item.block.parameters for item in inside),
            sum(item.time for item in inside),
            sum(item.space for item in inside),
        )
        cells = [self.shape_out(last, stack), *((text, text) for text in map(formats.count, sums))]
        sets = {f"{PREFIX}layer": layer, f"{PREFIX}stack": stack}
        return DiagramRow("layer", f"Layer {layer}", cells=cells, sets=sets, inside=True, name=last.name)

    def _fold(self, stack: str) -> DiagramRow:
        """The line that opens or folds the other layers. Those of a shape that is only counted are alike."""
        layers = self.config.num_layers
        if not self.chosen.live:
            in_layers = [[item for item in self.counts[stack] if item.block.layer == at] for at in range(layers)]
            alike = len({sum(item.block.parameters for item in inside) for inside in in_layers}) == 1
            return DiagramRow("fold", f"× {layers} layers, {'all alike' if alike else 'one table shared'}", inside=True)
        acts = "fold the others" if self.state.all_layers else "show all"
        sets = {f"{PREFIX}all_layers": not self.state.all_layers}
        return DiagramRow("fold", f"Layer {self.layer} of {layers}: {acts}", sets=sets, inside=True)

    def _row(self, item: Counted, stack: str, at: int) -> DiagramRow:
        block = item.block
        text, mark = self.name_of(block, stack)
        sets: dict[str, Any] = {f"{PREFIX}block": item.name_in_link, f"{PREFIX}stack": stack}
        if block.layer is not None:
            sets[f"{PREFIX}layer"] = block.layer + 1
        if self.chosen.live:
            sets |= opens(item.name_in_link)
        parameters = formats.count(block.parameters) if block.parameters else ""
        if not block.parameters and block.kind in ("embedding", "logits"):
            parameters = "shared"
        shape, time, space = self.shape_out(block, stack), written(item.cost.time), written(item.cost.space)
        return DiagramRow(
            block.kind,
            text,
            mark,
            [shape, (parameters, parameters), time, space],
            sets,
            picked=block.name == self.picked.block.name,
            inside=block.layer is not None,
            begins=at - (2 if self.config.norm == "pre" else 1) if block.kind == "sum" else -1,
            looks=block.kind == "cross_attention",
            name=block.name,
        )
