"""The canvas of the view "surprise": flowing text, each token coloured by how surprising it is."""

from typing import Any

import numpy as np
import plotly.graph_objects as go
from numpy.typing import NDArray

from tfm_ui.lenses.generate.surprise.scored import TOP
from tfm_ui.pictures import figures, heatmaps
from tfm_ui.pictures.canvas import Canvas, Header

WIDTH = 4 + 2 * TOP  # of a token: bits, probability, rank, entropy in bits, the likeliest tokens, their probabilities
COLOURS = {"A": "query", "B": "key"}


def figure(header: Header, numbers: NDArray[Any]) -> go.Figure:
    """The surprise of each token of each side, as bars."""
    table, begin, drawn = np.asarray(numbers, np.float64).reshape(-1, WIDTH), 0, []
    for side in header["sides"]:
        rows = table[begin : begin + len(side["tokens"])]
        begin += len(rows)
        there = rows[side["first"] :]
        labels = side["labels"][side["first"] :]
        drawn.append(
            go.Bar(
                name=figures.plain(side["name"]),
                x=np.arange(side["first"] + 1, len(rows) + 1),
                y=there[:, 0],
                marker={"color": figures.colour_of(COLOURS[side["name"]])},
                text=[figures.plain(label) for label in labels],
                textposition="none",
                customdata=there[:, 1:3],
                hovertemplate="%{text}, token %{x}: %{y:.4g} bits, probability %{customdata[0]:.4g}, "
                "rank %{customdata[1]}",
            )
        )
    titles = [side["title"] for side in header["sides"]]
    return go.Figure(
        drawn,
        {
            "template": figures.TEMPLATE,
            "title": heatmaps.note(*titles),
            "xaxis": {"title": {"text": "token"}},
            "yaxis": {"title": {"text": "surprise, bits"}, "range": [0, 1.05 * (header["top"] or 1)]},
            "showlegend": len(drawn) > 1,
            "height": 420,
        },
    )


SURPRISE = Canvas(
    "lenses/generate/surprise",
    """
<div class="surprise" data-picture>
  <div class="sides"></div>
  <div class="legend"><span>0</span><i></i><span class="high"></span><span class="hint"></span></div>
  <div class="detail"></div>
  <span class="say" aria-live="polite"></span>
</div>
""",
    figure,
)
