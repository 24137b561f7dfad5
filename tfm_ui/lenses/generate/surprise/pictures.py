"""The pictures of the view "surprise", as functions of the link."""

from tfm_ui.lenses.generate.state import PREFIX, GenerateState
from tfm_ui.lenses.generate.surprise import canvas
from tfm_ui.lenses.generate.surprise.along import Along
from tfm_ui.lenses.generate.surprise.canvas import COLOURS, SURPRISE
from tfm_ui.lenses.generate.surprise.numbers import surprising
from tfm_ui.lenses.generate.surprise.sides import FIRST, SHORT_MEMORY, Side, why_not_score
from tfm_ui.pictures import knobs, lines
from tfm_ui.pictures.canvas import Content
from tfm_ui.pictures.chart import CHART
from tfm_ui.pictures.knobs import KNOBS, Knob
from tfm_ui.pictures.lines import Chart, Line
from tfm_ui.pictures.registry import Picture
from tfm_ui.state.fields import Whole, controls_of
from tfm_ui.state.model_state import ModelState


def text(model: ModelState, state: GenerateState) -> Content:
    """The text, coloured by surprise."""
    if reason := why_not_score(model):
        return canvas.nothing(reason)
    return canvas.content(surprising(model, state))


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
