"""The view "dictionary": a query asks a few keys in the plane, and attention answers with a blend of their values.

It reads no model.
"""

import math
from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go
import torch
from numpy.typing import NDArray
from torch import Tensor

from tfm_core import attention_scores, attention_weights, scaled_dot_product_attention
from tfm_ui.lenses.attention.state import PLANE, VALUES, AttentionState
from tfm_ui.live.memory import little
from tfm_ui.live.script import script
from tfm_ui.live.tensors.step import Step, held
from tfm_ui.page.lens import View
from tfm_ui.pictures.canvas import Canvas, Content, Header
from tfm_ui.pictures.figures import MUTED, NORMAL, PAPER, TEMPLATE, colour_of, plain
from tfm_ui.pictures.heatmaps import note
from tfm_ui.pictures.panel import Panel
from tfm_ui.state.lists import LETTERS, vector_names, vectors
from tfm_ui.state.model_state import ModelState
from tfm_ui.text import colours, formats

TIE = 1e-9  # scores that differ by no more are equal
HALO = 88  # width of a key's disc if the key had all the weight, in pixels
TOLD = (
    "value %{customdata[0]:.4~g}<br>q·k %{customdata[1]:.4~g}, score %{customdata[2]:.4~g}<br>"
    "weight %{customdata[3]:.4f}, × value %{customdata[4]:.4~g}"
)


def dictionary_figure(header: Header, numbers: NDArray[Any]) -> go.Figure:
    """Points, lines from the origin to them, discs whose area is the weight; bars of the weights."""
    cells = numbers.reshape(-1, 4)
    keys, values = np.array(header["keys"], np.float32), np.array(header["values"], np.float32)
    hovered = np.column_stack([values, cells])
    weights, names, asked = cells[:, 2], [plain(name) for name in header["names"][: len(keys)]], header["asked"]
    asks = f"query {plain(header['askedName'])}".strip()
    key, query, disc = colour_of("key"), colour_of("query"), colours.WEIGHTS["light"][8]
    points = {"type": "scatter", "x": keys[:, 0], "y": keys[:, 1]}
    lines = [
        {"type": "scatter", "mode": "lines", "x": [0, x], "y": [0, y], "hoverinfo": "skip", "line": {"color": key}}
        for x, y in header["keys"]
    ]
    discs = points | {
        "mode": "markers",
        "hoverinfo": "skip",
        "marker": {"size": HALO * np.sqrt(weights), "color": disc, "opacity": 0.5, "line": {"width": 0}},
    }
    at = points | {
        "mode": "markers+text",
        "name": "key",
        "text": [f"\u2003{name}: {value:g}" for name, value in zip(names, header["values"], strict=True)],
        "textposition": "middle right",
        "textfont": {"color": colour_of("value"), "size": NORMAL},
        "marker": {"color": PAPER, "size": 11, "line": {"color": key, "width": 2}},
        "customdata": hovered,
        "hovertemplate": "key %{x}, %{y}<br>" + TOLD,
    }
    query_line = {
        "type": "scatter",
        "mode": "lines+markers",
        "name": "query",
        "x": [0, asked[0]],
        "y": [0, asked[1]],
        "hovertemplate": f"{asks} %{{x}}, %{{y}}",
        "line": {"color": query, "width": 3},
        "marker": {"color": query, "size": [0, 12]},
    }
    bars = {
        "type": "bar",
        "orientation": "h",
        "name": "weight",
        "x": weights,
        "y": names,
        "customdata": hovered,
        "hovertemplate": "key %{y}<br>" + TOLD,
        "texttemplate": "%{x:.4f} × %{customdata[0]:~g} = %{customdata[4]:.4~g}",
        "textposition": "outside",
        "cliponaxis": False,
        "marker": {"color": disc},
        "xaxis": "x2",
        "yaxis": "y2",
    }
    plane = {"range": header["plane"], "dtick": 1, "zeroline": True, "zerolinecolor": MUTED}
    layout = {
        "template": TEMPLATE,
        "height": 560,
        "showlegend": False,
        "title": note(
            f"temperature {header['temperature']:g};",
            f"answer = {header['answerText']}.",
            f"Hard look-up: {header['hardText']}.",
            "A disc’s area is its key’s weight.",
        ),
        "xaxis": plane | {"domain": [0, 0.55], "title": {"text": "dimension 1"}, "constrain": "domain"},
        "yaxis": plane | {"title": {"text": "dimension 2"}, "scaleanchor": "x", "constrain": "domain"},
        "xaxis2": {"domain": [0.65, 0.86], "anchor": "y2", "range": [0, 1], "title": {"text": "weight"}},
        "yaxis2": {"anchor": "x2", "autorange": "reversed", "type": "category", "title": {"text": "key"}},
    }
    traces: list[dict[str, Any]] = [discs, *lines, at, query_line, bars]
    return go.Figure(data=traces, layout=layout)


DICTIONARY = Canvas(
    "lenses/attention/dictionary",
    """
<div class="dictionary" data-picture>
  <div class="plane"><canvas role="img"></canvas></div>
  <div class="book">
    <div class="warm">
      <span>temperature <b></b></span>
      <small>harder</small>
      <input type="range" min="-1.30103" max="1" step="0.01" aria-label="temperature">
      <small>softer</small>
    </div>
    <div class="entries"></div>
    <p class="answer"></p>
    <p class="hard"></p>
    <button class="add">+ Add a key</button>
  </div>
  <span class="say" aria-live="polite"></span>
</div>
""",
    dictionary_figure,
)


def look_up(
    *, point: Sequence[float], keys: Sequence[Sequence[float]], values: Sequence[float], temperature: float
) -> tuple[Tensor, Tensor]:
    """The blended value, and the weights that blend it: (query, 1) and (query, key).

    It is computed in float64; dₖ is 2, and the temperature multiplies its root.
    """
    query, key = (torch.tensor(points, dtype=torch.float64) for points in ([point], keys))
    value = torch.tensor(values, dtype=torch.float64)[:, None]
    scale = 1 / (math.sqrt(2) * temperature)
    answer, weights = scaled_dot_product_attention(query, key, value, scale=scale)
    return answer, weights


def number(value: float) -> str:
    """Two decimals at most: 10, 17.31; with a true minus, and 0 rather than -0."""
    text = f"{value:.2f}".rstrip("0").rstrip(".")
    return "0" if text == "-0" else text.replace("-", "−")


def _quoted(name: str) -> str:
    """A key's name within a sentence: a letter as it is, a word in quotes."""
    return name if name in LETTERS else f"“{name}”"


class Dictionary(Panel):
    """One question to the dictionary, and its answer."""

    state: AttentionState

    name = "dictionary"
    title = "A soft dictionary"
    how_to_read = (
        "Drag the query or a key, change a value: the answer is the sum of weight × value. Dotted: how far each key "
        "reaches along the query, which is what q·k measures."
    )
    shape = "softmax(q·k / (√2 · temperature)) · value"
    sources = (look_up, scaled_dot_product_attention, attention_scores, attention_weights)
    canvas = DICTIONARY
    uses_model = False
    needs = little

    @property
    def query(self) -> tuple[float, ...]:
        """What is asked: two numbers."""
        return vectors(self.state.ask)[0]

    @cached_property
    def names(self) -> list[str]:
        """The name of each key: the word that it was given, or the letter of its place."""
        given = vector_names(self.state.entries)
        return [name or letter for name, letter in zip(given, LETTERS, strict=False)]

    @property
    def query_name(self) -> str:
        """The word that asks; "" if it has no name."""
        return vector_names(self.state.ask)[0]

    def named(self, *keys: int) -> str:
        """Keys, from 0, within a sentence: A and B, or “cat” and “dog”."""
        return " and ".join(_quoted(self.names[key]) for key in keys)

    @cached_property
    def _entries(self) -> NDArray[np.float64]:
        return np.array(vectors(self.state.entries), np.float64)

    @property
    def keys(self) -> NDArray[np.float64]:
        """float64 (key, 2)."""
        return self._entries[:, :2]

    @property
    def values(self) -> NDArray[np.float64]:
        """float64 (key)."""
        return self._entries[:, 2]

    @property
    def _arguments(self) -> dict[str, Any]:
        keys, values = self.keys.tolist(), self.values.tolist()
        return {"point": list(self.query), "keys": keys, "values": values, "temperature": self.state.temperature}

    @cached_property
    def _answered(self) -> tuple[Tensor, Tensor]:
        return look_up(**self._arguments)

    @cached_property
    def answer(self) -> float:
        """The blended value, sum of weight times value."""
        return self._answered[0].item()

    @cached_property
    def weights(self) -> NDArray[np.float64]:
        """softmax of the scores, float64 (key)."""
        return self._answered[1][0].numpy()

    @property
    def tensors(self) -> Step:
        query, pairs = torch.tensor([self.query], dtype=torch.float64), ("query", "key")
        of_scores, parts = "products / (2**0.5 * temperature)", (self.weights * self.values)[:, None]
        return Step(
            "A soft dictionary",
            [
                held("Q", ("query", "head_dim"), query, "what is asked: a point"),
                held("K", ("key", "head_dim"), self.keys, "the keys: points"),
                held("V", ("key", "1"), self.values[:, None], "the value of each key"),
                held("products", pairs, self.products[None], "q·k, how well each key matches", "Q @ K.mT"),
                held("scores", pairs, self.scores[None], "q·k / (√2 · temperature)", of_scores),
                held("weights", pairs, self.weights[None], "the softmax of them", "scores.softmax(-1)"),
                held("weighted_values", ("key", "1"), parts, "weight × value", "weights.mT * V"),
                held("answer", ("query", "1"), self._answered[0], "values times weights, summed", "weights @ V"),
            ],
            {"temperature": self.state.temperature},
        )

    @cached_property
    def products(self) -> NDArray[np.float64]:
        """q.k, float64 (key)."""
        query = torch.tensor([self.query], dtype=torch.float64)
        return attention_scores(query, torch.from_numpy(self.keys), scale=1.0)[0].numpy()

    @property
    def scores(self) -> NDArray[np.float64]:
        """q.k / (sqrt(2) temperature), float64 (key)."""
        return self.products / (math.sqrt(2) * self.state.temperature)

    @property
    def best(self) -> list[int]:
        """The keys of the largest q.k: mostly one."""
        return np.flatnonzero(self.products >= self.products.max() - TIE).tolist()

    @property
    def hard(self) -> float:
        """What the blend becomes as the temperature goes to 0: the best key's value; of several, the values' mean."""
        return float(self.values[self.best].mean())

    @property
    def hard_text(self) -> str:
        """The same in words."""
        names = self.named(*self.best)
        return (
            f"key {names}, value {number(self.hard)}"
            if len(self.best) == 1
            else (f"keys {names} tie, mean value {number(self.hard)}")
        )

    def sentence(self) -> str:
        """Which key wins, what the blend is, and how far it is from a look-up."""
        best, apart = self.best, abs(self.answer - self.hard)
        names, asks = self.named(*best), f"query {_quoted(self.query_name)}" if self.query_name else "query"
        keys, fit, get = ("Key", "fits", "gets") if len(best) == 1 else ("Keys", "fit", "get")
        share = formats.percent(float(self.weights[best].sum()), 3)
        distance = np.hypot(*(self.keys - self.query).T)
        nearest = int(distance.argmin())
        closer = bool(distance[nearest] < distance[best].min() - TIE)
        near = f" Key {self.named(nearest)} lies nearer, but a dot product asks for direction and length." * closer
        return (
            f"{keys} {names} {fit} the {asks} best (q·k = {self.products.max():.2f}).{near} "
            f"At temperature {self.state.temperature:g}, {names} {get} {share} of the weight, and the answer is "
            f"{number(self.answer)}; a hard look-up would answer {number(self.hard)}, {number(apart)} away."
        )

    def laws(self) -> dict[str, bool]:
        low, high = self.values.min(), self.values.max()
        slack = 1e-9 * max(abs(low), abs(high), 1)
        return {
            "the weights sum to 1": bool(abs(self.weights.sum() - 1) < 1e-12),
            "the answer lies between the smallest and the largest value": bool(
                low - slack <= self.answer <= high + slack
            ),
        }

    def table(self) -> pd.DataFrame:
        """A row per key."""
        columns = {
            "x": self.keys[:, 0], "y": self.keys[:, 1], "q·k": self.products, "score": self.scores,
            "weight": self.weights, "value": self.values, "weight × value": self.weights * self.values,
        }  # fmt: skip
        return pd.DataFrame(columns, index=pd.Index(self.names, name="key"))

    def picture(self) -> Content:
        """What dictionary.js draws: per key q.k, score, weight, and weight times value."""
        header = {
            "names": [*self.names, *LETTERS[len(self.names) :]],
            "given": vector_names(self.state.entries),
            "askedName": self.query_name,
            "keys": self.keys.tolist(),
            "values": self.values.tolist(),
            "asked": list(self.query),
            "temperature": self.state.temperature,
            "answerText": number(self.answer),
            "hardText": self.hard_text,
            "plane": PLANE,
            "most": VALUES[1],
        }
        columns = [self.products, self.scores, self.weights, self.weights * self.values]
        return header, np.stack(columns, -1).astype(np.float32)

    def recipe(self) -> str:
        """A script that leaves the same in `answer` and `weights`."""
        return script(look_up, **self._arguments)


def _reads_instead(model: ModelState, state: AttentionState) -> str:
    return "No text is read here: the query, the keys and the values are those that you set in the picture."


VIEW = View(title="Dictionary", exercise="softmax", shows=[Dictionary], uses_model=False, reads_instead=_reads_instead)
