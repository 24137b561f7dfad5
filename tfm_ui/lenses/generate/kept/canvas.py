"""The canvas of the view "kept": keys beside values, a row per stored token, and a slider through the steps."""

from typing import Any

import numpy as np
import plotly.graph_objects as go
from numpy.typing import NDArray

from tfm_ui.lenses.generate.kept.numbers import NUMBER, Kept, as_numbers
from tfm_ui.pictures import figures, heatmaps
from tfm_ui.pictures.canvas import Canvas, Content, Header
from tfm_ui.pictures.heat import Heat, Side, numbered
from tfm_ui.pictures.map_scale import Scale, around_zero
from tfm_ui.text import units

SIDES = ("keys", "values")


def content(shown: Kept) -> Content:
    """The content for kept.js: all that is stored by the last step, and how much of it there is at each step."""
    config, numbers = shown.model.config, as_numbers(shown)
    parts = [{"begin": begin, "rows": shown.rows(begin)} for begin in shown.begins]
    steps = [
        {
            "part": shown.begins.index(step.begin),
            "rows": length,
            "bytes": size,
            "short": units.bytes_of(size),
        }
        for step, length, size in zip(shown.steps, shown.lengths, shown.measured, strict=True)
    ]
    header = {
        "about": shown.sentence(),
        "layer": shown.layer + 1,
        "layers": config.num_layers,
        "heads": config.num_heads,
        "width": config.d_model,
        "number": NUMBER,
        "prompt": len(shown.course.prompt),
        "context": shown.course.context,
        "tokens": shown.pieces,
        "parts": parts,
        "steps": steps,
        "scales": [_ends(scale) for scale in scales(numbers, [part["rows"] for part in parts], config.d_model)],
    }
    return header, numbers


def nothing(why: str) -> Content:
    """The content where no cache can be shown."""
    empty: Header = {"layer": 1, "layers": 1, "heads": 1, "width": 1, "number": NUMBER, "prompt": 0, "context": None}
    empty |= {"about": why, "tokens": [], "parts": [], "steps": [], "scales": [_ends(around_zero(0.0))] * len(SIDES)}
    return empty, np.zeros(0, np.float32)


def scales(numbers: NDArray[np.float32], rows: list[int], width: int) -> list[Scale]:
    """The colour scales of all keys and of all values, around 0: the same at each step."""
    return [
        around_zero(max((float(np.abs(matrix).max()) for matrix in side), default=0.0))
        for side in zip(*_matrices(numbers, rows, width), strict=True)
    ] or [around_zero(0.0)] * len(SIDES)


def _matrices(numbers: NDArray[np.float32], rows: list[int], width: int) -> list[tuple[NDArray[np.float32], ...]]:
    """The keys and the values of each context, (token, d_model)."""
    cuts = np.cumsum([len(SIDES) * count * width for count in rows])[:-1]
    return [tuple(part.reshape(len(SIDES), -1, width)) for part in np.split(numbers, cuts)] if rows else []


def _ends(scale: Scale) -> dict[str, Any]:
    low, high = scale.texts(whole=False)
    return {"high": scale.high, "lowText": low, "highText": high}


def figure(header: Header, numbers: NDArray[Any]) -> go.Figure:
    """What is stored at the last step, as two heatmaps."""
    rows, width = [part["rows"] for part in header["parts"]], header["width"]
    if not rows:
        return go.Figure(layout={"template": figures.TEMPLATE})
    begin, last = header["parts"][-1]["begin"], _matrices(np.asarray(numbers, np.float32), rows, width)[-1]
    names = numbered(header["tokens"][begin : begin + rows[-1]], begin + 1)
    each = width // header["heads"]
    columns = [f"head {i // each + 1}, {i % each + 1}" for i in range(width)]
    heats = [
        _heat(f"{side} of layer {header['layer']}", matrix, names, columns, side.removesuffix("s"), scale["high"])
        for side, matrix, scale in zip(SIDES, last, header["scales"], strict=True)
    ]
    return heatmaps.figure(heats, told=f"Stored at step {len(header['steps'])}.", across=2)


def _heat(name: str, matrix: NDArray[np.float32], rows: list[str], columns: list[str], role: str, top: float) -> Heat:
    return Heat(
        name=name,
        values=matrix,
        rows=Side(labels=rows, title="token (row)", noun="token", role=role),
        columns=Side(labels=columns, title="numbers of all heads, d_model (columns)", noun="number"),
        scale=around_zero(top),
        unit=name,
        square=False,
    )


KEPT = Canvas(
    "lenses/generate/kept",
    """
<div class="kept" data-picture>
  <canvas tabindex="0" role="application"></canvas>
  <div class="tip" hidden></div>
  <div class="scrub">
    <button type="button" class="play" aria-label="Play">▶</button>
    <input type="range" min="1" step="1" aria-label="Step">
    <output></output>
  </div>
  <span class="say" aria-live="polite"></span>
</div>
""",
    figure,
)
