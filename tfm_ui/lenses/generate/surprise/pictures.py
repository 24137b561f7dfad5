"""The pictures of the view "surprise", as functions of the link."""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tfm_ui.lenses.generate.state import PREFIX, GenerateState
from tfm_ui.lenses.generate.surprise.canvas import COLOURS, SURPRISE, WIDTH
from tfm_ui.lenses.generate.surprise.numbers import Along, Surprising, surprising
from tfm_ui.lenses.generate.surprise.scored import TOP
from tfm_ui.lenses.generate.surprise.sides import FIRST, SHORT_MEMORY, Side, why_not_score
from tfm_ui.pictures import knobs, lines
from tfm_ui.pictures.canvas import Content, Header
from tfm_ui.pictures.chart import CHART
from tfm_ui.pictures.knobs import KNOBS, Knob
from tfm_ui.pictures.lines import Chart, Line
from tfm_ui.pictures.registry import Picture
from tfm_ui.state.fields import Whole, controls_of
from tfm_ui.state.model_state import ModelState
from tfm_ui.text import units
from tfm_ui.text.token_labels import named


def text(model: ModelState, state: GenerateState) -> Content:
    """The text, coloured by surprise."""
    if reason := why_not_score(model):
        return _nothing(reason)
    return drawn(surprising(model, state))


def drawn(shown: Surprising) -> Content:
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


def _nothing(why: str) -> Content:
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


def over_places(model: ModelState, state: GenerateState) -> Content:
    """The surprise of each token, and the perplexity up to it."""
    if reason := why_not_score(model):
        return lines.content([], about=reason)
    shown = surprising(model, state)
    bits = [Line(_name(side), _x(side), side.scored.bits.tolist(), COLOURS[side.name]) for side in shown.rated]
    running = [Line(_name(side), _x(side), side.scored.running.tolist(), COLOURS[side.name]) for side in shown.rated]
    place = "token"
    return lines.content(
        [
            Chart(place, "surprise, bits", bits, reach=[0]),
            Chart(place, "perplexity of the text up to here", running, y_scale="log10"),
        ],
        about=Along(shown).sentence(),
    )


def _x(side: Side) -> list[float]:
    return [float(place) for place in range(FIRST + 1, len(side.pieces) + 1)]


def _name(side: Side) -> str:
    return f"{side.name}, {side.label}" if side.label else side.name


def knob(model: ModelState, state: GenerateState) -> Content:
    """How many tokens a short memory holds: its slider moves the pictures while it is dragged."""
    field, _ = controls_of(GenerateState)["memory"]
    assert isinstance(field, Whole)
    if state.against != SHORT_MEMORY:
        return knobs.content([])
    stops = list(range(field.low, field.high + 1))
    return knobs.content([Knob(field.label, f"{PREFIX}memory", state.memory, field.low, field.high, stops=stops)])


PICTURES = {
    "generate_surprise": Picture(SURPRISE, text),
    "generate_surprise_places": Picture(CHART, over_places),
    "generate_surprise_knobs": Picture(KNOBS, knob),
}
