"""How arcs are drawn: all that is done with them is done in the browser. In a file the same weights are heatmaps.

For a long text only the largest weights of each row are known. They are in the order of their size then, so that a file
does not consist of gaps.
"""

from dataclasses import replace
from typing import Any

import numpy as np
import plotly.graph_objects as go
from numpy.typing import NDArray

from tfm_ui.lenses.attention.arcs.weights import MASKED
from tfm_ui.pictures import heatmaps
from tfm_ui.pictures.canvas import Canvas, Header
from tfm_ui.pictures.heat import Heat, Side, Values, numbered
from tfm_ui.pictures.map_scale import Scale, from_zero


def arcs_figure(header: Header, numbers: NDArray[Any]) -> go.Figure:
    """A heatmap per head, or of the aggregate."""
    rest, weights, keys = unpacked(header, numbers)
    names = numbered(header["keys"])
    rows = Side(labels=numbered(header["queries"]), title="query", noun="query", role="query")
    top = from_zero(float(weights.max()))
    titles = [f"head {name}" if header["heads"] else name for name in header["maps"]]
    if header["kept"] == len(names):
        cells = np.empty_like(weights)
        np.put_along_axis(cells, keys, weights, 2)
        columns = Side(labels=names, title="key", noun="key", role="key")
        told = "Every weight, whatever share of a row is drawn as lines."
        drawn = [_heat(title, part, rows, columns, top) for title, part in zip(titles, cells, strict=True)]
        return heatmaps.figure(drawn, told=told)
    columns = Side(labels=[f"{i}." for i in range(1, header["kept"] + 1)], title="weights, falling", noun="weight")
    others = f"the other {len(names) - header['kept']} keys together %{{customdata[1]:.4~g}}"
    heats = [
        replace(
            _heat(title, part, rows, columns, top),
            square=False,
            more=(f"to key %{{customdata[0]}}; {others}", np.stack([at + 1, left[:, None].repeat(len(at[0]), 1)], -1)),
        )
        for title, part, at, left in zip(titles, weights, keys.astype(np.float32), rest, strict=True)
    ]
    told = f"Of each row the {header['kept']} largest weights; a hover tells whose it is, and what all others get."
    return heatmaps.figure(heats, told=told)


def unpacked(header: Header, numbers: NDArray[Any]) -> tuple[Values, Values, NDArray[np.intp]]:
    """What is left of each row, float32 (map, query); the weights, (map, query, kept); and their keys."""
    maps, queries, kept = len(header["maps"]), len(header["queries"]), header["kept"]
    data, rows = numbers.tobytes(), maps * queries
    rest = np.frombuffer(data, np.float32, rows).reshape(maps, queries)
    weights = np.frombuffer(data, np.float32, rows * kept, 4 * rows).reshape(maps, queries, kept)
    keys = np.frombuffer(data, np.uint16, rows * kept, 4 * rows * (1 + kept)).reshape(maps, queries, kept)
    return rest, weights, keys.astype(np.intp)


def _heat(title: str, weights: Values, rows: Side, columns: Side, top: Scale) -> Heat:
    values = np.where(weights == MASKED, np.float32(np.nan), weights)
    return Heat(name=title, values=values, rows=rows, columns=columns, scale=top, unit="weight")


ARCS = Canvas(
    "lenses/attention/arcs",
    """
<div class="arcs" data-picture>
  <div class="tools">
    <span class="chips" role="group" aria-label="Heads shown"></span>
    <label class="mass">Draw of each row <input type="range" min="5" max="100" step="1"> <b></b></label>
    <span class="hide" role="group" aria-label="Not drawn">
      <button data-hide="padding">hide padding</button> <button data-hide="first">hide first token</button>
      <button class="clear" hidden>clear selection</button>
    </span>
    <span class="window"><span></span>
      <button data-by="-1" aria-label="Tokens before">↑</button><button data-by="1" aria-label="Tokens after">↓</button>
    </span>
  </div>
  <canvas tabindex="0" role="application"></canvas>
  <p class="say" aria-live="polite"></p>
  <div class="foot"></div>
</div>
""",
    arcs_figure,
)
