"""The picture of the view "write": the text, and how the token of each step was chosen; and the sliders of sampling."""

from typing import Any

import numpy as np
import plotly.graph_objects as go
from numpy.typing import NDArray

from tfm_ui.lenses.generate.courses import why_not_write
from tfm_ui.lenses.generate.of_course import REPLAY
from tfm_ui.lenses.generate.state import PREFIX, GenerateState
from tfm_ui.lenses.generate.write.numbers import Written, written
from tfm_ui.lenses.generate.write.steps import OF_ROW, OF_STEP, ROWS
from tfm_ui.pictures import figures, knobs
from tfm_ui.pictures.canvas import Canvas, Content, Header
from tfm_ui.pictures.knobs import KNOBS, Knob
from tfm_ui.pictures.registry import Picture
from tfm_ui.state.fields import Number, controls_of
from tfm_ui.state.model_state import ModelState

FILTERS = ("top_k", "top_p", "min_p")


def content(shown: Written) -> Content:
    """The content for write.js."""
    both = [shown, *([shown.other] if shown.other else [])]
    pieces = shown.model.tokens_by.pieces
    numbers = [each.steps.numbers for each in both]
    ids = {int(number) for part in numbers for number in np.unique(part[:, OF_STEP::OF_ROW])}
    sampling = shown.settings.sampling
    header = {
        "about": shown.sentence(),
        "prompt": [pieces[token] for token in shown.course.prompt],
        "texts": [_text(each) for each in both],
        "pieces": {number: pieces[number] for number in ids if number >= 0},
        "rows": ROWS,
        "sampling": {
            "greedy": sampling.greedy,
            "temperature": sampling.temperature,
            "top_k": sampling.top_k,
            "top_p": sampling.top_p,
            "min_p": sampling.min_p,
        },
        "vocab": shown.model.config.vocab_size,
        "put": [[step + 1, token] for step, token in shown.settings.forced],
        "parts": shown.settings.forced[-1][0] if shown.settings.forced else -1,
    }
    return header, np.concatenate([part.ravel() for part in numbers]).astype(np.float32)


def _text(shown: Written) -> dict[str, Any]:
    return {
        "tokens": list(shown.pieces),
        "ids": [step.token for step in shown.course.steps],
        "forced": [step.forced for step in shown.course.steps],
        "begins": [step.begin for step in shown.course.steps],
    }


def write(model: ModelState, state: GenerateState) -> Content:
    """What the link asks for; no text of a model that writes none."""
    if reason := why_not_write(model):
        return nothing(reason)
    return content(written(model, state))


def nothing(reason: str) -> Content:
    """The content without a text."""
    text: dict[str, list[Any]] = {"tokens": [], "ids": [], "forced": [], "begins": []}
    sampling = {"greedy": True, "temperature": 1.0, "top_k": 0, "top_p": 1.0, "min_p": 0.0}
    return {
        "about": reason,
        "prompt": [],
        "texts": [text],
        "pieces": {},
        "rows": ROWS,
        "sampling": sampling,
        "vocab": 0,
        "put": [],
        "parts": -1,
    }, np.zeros(0, np.float32)


def figure(header: Header, numbers: NDArray[Any]) -> go.Figure:
    """The probability of each written token, before and after the cuts."""
    text = header["texts"][0]
    steps = len(text["tokens"])
    stride = OF_STEP + ROWS * OF_ROW
    table = np.asarray(numbers, np.float64)[: steps * stride].reshape(steps, stride)
    x = list(range(1, steps + 1))
    names = [figures.plain(token) for token in text["tokens"]]
    return go.Figure(
        [
            go.Bar(name="probability", x=x, y=table[:, 7], text=names, textposition="none"),
            go.Scatter(name="after the cuts", x=x, y=table[:, 8], mode="markers"),
        ],
        {
            "template": figures.TEMPLATE,
            "xaxis": {"title": {"text": "step"}},
            "yaxis": {"title": {"text": "probability of the written token"}, "range": [0, 1]},
        },
    )


def sliders(model: ModelState, state: GenerateState) -> Content:
    """Temperature, top-k, top-p and min-p, which move the text while they are dragged."""
    field, _ = controls_of(GenerateState)["temperature"]
    assert isinstance(field, Number)
    vocab = model.config.vocab_size
    counts = [count for count in (1, 2, 3, 5, 10, 20, 50, 100, 200, 500, 1000) if count < vocab]
    if state.method != "sample":
        return knobs.content([])
    return knobs.content(
        [
            Knob(field.label, f"{PREFIX}temperature", state.temperature, field.low, field.high, digits=field.digits),
            Knob("top-k", f"{PREFIX}top_k", state.top_k, 0, 2048, stops=[0, *counts]),
            Knob("top-p", f"{PREFIX}top_p", state.top_p, 0.01, 1, stops=[0.1, 0.3, 0.5, 0.7, 0.8, 0.9, 0.95, 0.99, 1]),
            Knob("min-p", f"{PREFIX}min_p", state.min_p, 0, 1, stops=[0, 0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.5, 1]),
        ]
    )


WRITE = Canvas(
    "lenses/generate/write",
    """
<div class="write flow" data-picture>
  <div class="texts"></div>"""
    + REPLAY % '<button type="button" class="undo" hidden>Take back</button>'
    + """
  <canvas tabindex="0" role="application"></canvas>
  <p class="tip" hidden></p>
  <span class="say" aria-live="polite"></span>
</div>
""",
    figure,
)
PICTURES = {"generate_write": Picture(WRITE, write), "generate_knobs": Picture(KNOBS, sliders)}
