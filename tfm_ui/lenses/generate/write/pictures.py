"""The picture of the view "write": the text, and how the token of each step was chosen; and the sliders of sampling."""

from typing import Any

import numpy as np
import plotly.graph_objects as go
from numpy.typing import NDArray

from tfm_core import Draw
from tfm_ui.lenses.generate.forced import MOST_STEPS
from tfm_ui.lenses.generate.state import PREFIX, GenerateState
from tfm_ui.lenses.generate.write.numbers import Written, written
from tfm_ui.pictures import figures, knobs
from tfm_ui.pictures.canvas import Canvas, Content, Header
from tfm_ui.pictures.knobs import KNOBS, Knob
from tfm_ui.pictures.registry import Picture
from tfm_ui.state.fields import Number, controls_of
from tfm_ui.state.model_state import ModelState

ROWS = 12  # candidates of a step; the token itself is the last of them if it is less likely
OF_STEP = 9  # numbers of a step before its candidates, see `_numbers`
OF_ROW = 5
FILTERS = ("top_k", "top_p", "min_p")


def content(shown: Written) -> Content:
    """The content for write.js."""
    both = [shown, *([shown.other] if shown.other else [])]
    pieces = shown.model.tokens_by.pieces
    numbers = [_numbers(each) for each in both]
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


def _numbers(shown: Written) -> NDArray[np.float64]:
    """A row per step: the random number, where the token begins and ends on the cumulative bar, its rank; how many

    tokens top-k, top-p and min-p left; its probability before and after the cuts; then of each candidate its id, logit,
    probability, final probability, and which filter cut it (0: none). Rows that are not needed have the id -1.
    """
    rows = [_of_step(draw, step.token) for draw, step in zip(shown.draws, shown.course.steps, strict=True)]
    return np.array(rows) if rows else np.zeros((0, OF_STEP + ROWS * OF_ROW))


def _of_step(draw: Draw, token: int) -> list[float]:
    rank = int((draw.order == token).nonzero())
    end = float(draw.cumulative[rank]) if rank < len(draw.cumulative) else 1.0
    begin = float(draw.cumulative[rank - 1]) if 0 < rank <= len(draw.cumulative) else float(rank > 0)
    left = draw.left
    ranks = list(range(min(ROWS, len(draw.order))))
    if rank not in ranks:
        ranks[-1] = rank
    numbers = [draw.number, begin, end, rank, left.top_k, left.top_p, left.min_p]
    numbers += [float(draw.probabilities[token]), float(draw.final[token])]
    for at in ranks:
        number = int(draw.order[at])
        cut = next((i for i, limit in enumerate((left.top_k, left.top_p, left.min_p), 1) if at >= limit), 0)
        numbers += [
            number, float(draw.logits[number]), float(draw.probabilities[number]), float(draw.final[number]), cut
        ]  # fmt: skip
    return numbers + [-1.0, 0.0, 0.0, 0.0, 0.0] * (ROWS - len(ranks))


def write(model: ModelState, state: GenerateState) -> Content:
    """What the link asks for."""
    return content(written(model, state))


def figure(header: Header, numbers: NDArray[Any]) -> go.Figure:
    """The probability of each written token, before and after the cuts."""
    text = header["texts"][0]
    steps = len(text["tokens"])
    table = np.asarray(numbers, np.float64)[: steps * (OF_STEP + ROWS * OF_ROW)].reshape(steps, -1)
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
    tokens = Knob("Tokens", f"{PREFIX}steps", state.steps, 1, MOST_STEPS, stops=[*range(1, 20), *range(20, 201, 10)])
    if state.method != "sample":
        return knobs.content([tokens])
    return knobs.content(
        [
            tokens,
            Knob(field.label, f"{PREFIX}temperature", state.temperature, field.low, field.high, digits=field.digits),
            Knob("top-k (0: all)", f"{PREFIX}top_k", state.top_k, 0, 2048, stops=[*counts, 0]),
            Knob("top-p", f"{PREFIX}top_p", state.top_p, 0.01, 1, stops=[0.1, 0.3, 0.5, 0.7, 0.8, 0.9, 0.95, 0.99, 1]),
            Knob("min-p", f"{PREFIX}min_p", state.min_p, 0, 1, stops=[0, 0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.5, 1]),
        ]
    )


WRITE = Canvas(
    "lenses/generate/write",
    """
<div class="write flow" data-picture>
  <div class="texts"></div>
  <div class="scrub">
    <button type="button" class="back" aria-label="Step back">◀</button>
    <button type="button" class="play" aria-label="Play">▶</button>
    <button type="button" class="on" aria-label="Step on">▶|</button>
    <input type="range" min="1" step="1" aria-label="Step">
    <output></output>
    <button type="button" class="undo" hidden>Take back</button>
  </div>
  <canvas tabindex="0" role="application"></canvas>
  <p class="tip" hidden></p>
  <span class="say" aria-live="polite"></span>
</div>
""",
    figure,
)
PICTURES = {"generate_write": Picture(WRITE, write), "generate_knobs": Picture(KNOBS, sliders)}
