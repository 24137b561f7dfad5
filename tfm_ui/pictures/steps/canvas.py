"""How the matrices of one head are drawn: in the browser, and as a Plotly figure."""

from typing import Any

import numpy as np
import plotly.graph_objects as go
from numpy.typing import NDArray

from tfm_ui.pictures import heatmaps
from tfm_ui.pictures.canvas import Canvas, Header
from tfm_ui.pictures.heatmaps import Heat, Side, numbered
from tfm_ui.pictures.map_scale import around_zero, from_zero

NOUNS = {"dim": "dimension", "channel": "channel", "merged": "dimension of all heads"}


def matrices_figure(header: Header, numbers: NDArray[Any]) -> go.Figure:
    """A heatmap per matrix, in the order in which they are computed."""
    starts, heats, counts = header["starts"], [], dict[str, int]()
    for name, about in header["matrices"].items():
        cells = numbers[about["begin"] : about["begin"] + about["rows"] * about["columns"]]
        values = cells.reshape(about["rows"], about["columns"])
        shape = dict(zip(about["axes"], values.shape, strict=True))
        rows, columns = (_side(axis, header, starts[axis], count) for axis, count in shape.items())
        counts |= shape
        heats.append(
            Heat(
                name=f"{about['symbol']} {name}",
                values=np.where(np.isneginf(values), np.float32(np.nan), values),
                rows=rows,
                columns=columns,
                scale=from_zero(about["top"]) if about["weights"] else around_zero(about["top"]),
                gaps=["−∞ (masked)"],
                square=set(about["axes"]) == {"query", "key"},
            )
        )
    window = [
        f"{NOUNS.get(axis, axis)} {starts[axis] + 1}–{starts[axis] + count} of {header['ends'][axis]}"
        for axis, count in counts.items()
        if count < header["ends"][axis]
    ]
    return heatmaps.figure(heats, told=f"Shown: {', '.join(window)}." if window else "", named=not header["whole"])


def _side(axis: str, header: Header, start: int, count: int) -> Side:
    if axis in NOUNS:
        return Side(labels=[str(start + i) for i in range(1, count + 1)], title=NOUNS[axis], noun=NOUNS[axis])
    names = header["queries"] if axis == "query" else header["keys"]
    return Side(labels=numbered(names[:count], start + 1), title=axis, noun=axis, role=axis)


MATRICES_CANVAS = Canvas(
    "lenses/attention/matrices",
    """
<div class="matrices" data-picture>
  <div class="bar">
    <span class="walk">
      <button class="back" aria-label="Step back">‹</button>
      <span class="chips" role="tablist" aria-label="Steps"></span>
      <button class="next" aria-label="Step on">›</button>
    </span>
    <span class="modes"><button class="play"></button><button class="all"></button></span>
    <label class="warmth">temperature <input type="range" min="-13" max="10" step="1"> <output></output></label>
  </div>
  <div class="body">
    <div class="scene"></div>
    <div class="derived" aria-live="polite">
      <h4></h4>
      <div class="lines"></div>
      <pre><code></code></pre>
    </div>
  </div>
  <div class="tip" hidden></div>
</div>
""",
    matrices_figure,
)
