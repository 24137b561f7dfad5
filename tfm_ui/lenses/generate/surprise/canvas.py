"""The canvas of the view "surprise": flowing text, each token coloured by how surprising it is."""

import math
from typing import Any

import numpy as np
import plotly.graph_objects as go
from numpy.typing import NDArray

from tfm_ui.lenses.generate.surprise.numbers import Surprising
from tfm_ui.lenses.generate.surprise.scored import TOP
from tfm_ui.lenses.generate.surprise.sides import FIRST, Side
from tfm_ui.pictures import figures, heatmaps
from tfm_ui.pictures.canvas import Canvas, Content, Header
from tfm_ui.text import units
from tfm_ui.text.token_labels import named

WIDTH = 4 + 2 * TOP  # of a token: bits, probability, rank, entropy in bits, the likeliest tokens, their probabilities
COLOURS = {"A": "query", "B": "key"}


def content(shown: Surprising) -> Content:
    """The content for surprise.js."""
    ids = sorted({token for side in shown.sides for token in side.scored.top_ids.ravel().tolist()})
    places = {token: place for place, token in enumerate(ids)}
    pieces = shown.sides[0].model.tokens_by.pieces
    header = {
        "about": shown.sentence(),
        "sides": [_told(side, many=len(shown.sides) > 1) for side in shown.sides],
        "names": [named(pieces[token]) for token in ids],
        "top": shown.top,
        "topText": units.three(shown.top),
        "count": TOP,
        "vocab": shown.sides[0].config.vocab_size,
        "linked": shown.linked,
        "hint": shown.hint,
    }
    return header, np.concatenate([_numbers(side, places) for side in shown.sides]).ravel()


def nothing(why: str) -> Content:
    """The content where no token can be rated."""
    empty: Header = {"about": why, "sides": [], "names": [], "top": 0.0, "topText": "0", "count": TOP, "vocab": 0}
    return empty | {"linked": False, "hint": why}, np.zeros(0, np.float32)


def _told(side: Side, *, many: bool) -> dict[str, Any]:
    """What a side's header says."""
    perplexity = f"perplexity {units.three(side.scored.perplexity)}" if side.scored.count else ""
    name = f"{side.name}: {side.label or 'the text'}" if many else ""
    return {
        "title": " · ".join(filter(None, [name, perplexity])),
        "name": side.name,
        "tokens": side.pieces,
        "labels": side.names,
        "first": FIRST,
    }


def _numbers(side: Side, places: dict[int, int]) -> NDArray[np.float32]:
    """(token, WIDTH); NaN where a token has no probability."""
    scored = side.scored
    table = np.full((len(side.pieces), WIDTH), np.nan, np.float32)
    if not scored.count:
        return table
    rows, few = table[FIRST:], scored.top_ids.shape[1]
    rows[:, 0] = scored.bits.numpy()
    rows[:, 1] = scored.logs.exp().numpy()
    rows[:, 2] = scored.ranks.numpy()
    rows[:, 3] = scored.entropies.numpy() / math.log(2)
    rows[:, 4 : 4 + few] = [[places[token] for token in row] for row in scored.top_ids.tolist()]
    rows[:, 4 + TOP : 4 + TOP + few] = scored.top_shares.numpy()
    return table


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
