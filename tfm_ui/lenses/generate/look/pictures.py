"""The picture of the view "look": text, arcs, heads and distribution, which move together."""

from typing import Any

import numpy as np
import plotly.graph_objects as go
from numpy.typing import NDArray

from tfm_ui.lenses.generate.courses import why_not_write
from tfm_ui.lenses.generate.look.numbers import Looked, looked
from tfm_ui.lenses.generate.of_course import REPLAY
from tfm_ui.lenses.generate.state import GenerateState
from tfm_ui.lenses.generate.write.numbers import Written
from tfm_ui.pictures import figures, heatmaps
from tfm_ui.pictures.canvas import Canvas, Content, Header
from tfm_ui.pictures.heat import Heat, Side, numbered
from tfm_ui.pictures.map_scale import from_zero
from tfm_ui.pictures.registry import Picture
from tfm_ui.state.model_state import ModelState

LIKELIEST = 8  # tokens of the distribution that are drawn; fewer than `ROWS`


def content(shown: Looked) -> Content:
    """The content for look.js: of each step the likeliest tokens, and the weights of all heads."""
    written = Written(shown.model, shown.settings)
    pieces, is_greedy = shown.model.tokens_by.pieces, shown.settings.sampling.greedy
    header = {
        "about": shown.sentence(),
        "prompt": [pieces[token] for token in written.course.prompt],
        "tokens": list(written.pieces),
        "forced": [step.forced for step in written.course.steps],
        "begins": shown.begins,
        "layers": shown.model.num_layers,
        "heads": shown.model.num_heads,
        "picked": [shown.layer, shown.head],
        "largest": max((float(row.max()) for row in shown.rows), default=1.0),
        "likeliest": [
            [
                [pieces[int(token)], share if is_greedy else final]  # nothing is cut of a greedy choice
                for token, _, share, final, _ in written.steps.candidates(step)[:LIKELIEST].tolist()
            ]
            for step in range(len(written.course.steps))
        ],
        "chances": (written.steps.shares if is_greedy else written.steps.finals).tolist(),
    }
    rows = [row.ravel() for row in shown.rows]
    return header, np.concatenate(rows) if rows else np.zeros(0, np.float32)


def look(model: ModelState, state: GenerateState) -> Content:
    """What the link asks for; no text of a model that writes none."""
    if not (reason := why_not_write(model)):
        return content(looked(model, state))
    return {
        "about": reason,
        "prompt": [],
        "tokens": [],
        "forced": [],
        "begins": [],
        "layers": model.num_layers,
        "heads": model.num_heads,
        "picked": [state.layer - 1, state.head - 1],
        "largest": 1.0,
        "likeliest": [],
        "chances": [],
    }, np.zeros(0, np.float32)


def figure(header: Header, numbers: NDArray[Any]) -> go.Figure:
    """The weights of the chosen head at all steps: a row per step, a column per token of the text."""
    if not header["tokens"]:
        return go.Figure(layout={"template": figures.TEMPLATE})
    text = [*header["prompt"], *header["tokens"]]
    steps, heads = len(header["tokens"]), header["layers"] * header["heads"]
    layer, head = header["picked"]
    table = np.full((steps, len(text)), np.nan, np.float32)
    start = 0
    for step, begin in enumerate(header["begins"]):
        keys = len(header["prompt"]) + step - begin
        row = np.asarray(numbers, np.float32)[start : start + heads * keys].reshape(heads, keys)
        table[step, begin : begin + keys] = row[layer * header["heads"] + head]
        start += heads * keys
    heat = Heat(
        name=f"layer {layer + 1}, head {head + 1}",
        values=table,
        rows=Side(labels=numbered(header["tokens"]), title="written token", noun="written token", role="query"),
        columns=Side(labels=numbered(text), title="key", noun="key", role="key"),
        scale=from_zero(header["largest"]),
        unit="weight",
    )
    return heatmaps.figure([heat])


LOOK = Canvas(
    "lenses/generate/look",
    """
<div class="look flow" data-picture>
  <div class="texts"></div>"""
    + REPLAY % ""
    + """
  <canvas tabindex="0" role="application"></canvas>
  <p class="tip" hidden></p>
  <span class="say" aria-live="polite"></span>
</div>
""",
    figure,
)
PICTURES = {"generate_look": Picture(LOOK, look)}
