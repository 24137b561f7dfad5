"""The view "surprise": how surprising a text is to the model, token by token."""

from tfm_core import Tokens
from tfm_ui.lenses.generate.courses import why_not_score
from tfm_ui.lenses.generate.panel import draw_knobs, unable
from tfm_ui.lenses.generate.state import PREFIX, GenerateState
from tfm_ui.lenses.generate.surprise.questions import QUESTIONS
from tfm_ui.lenses.generate.surprise.sides import OTHER_TEXT, SHORT_MEMORY, sides_of
from tfm_ui.lenses.generate.surprise.tokens import Surprise, SurprisePlaces
from tfm_ui.live import passes
from tfm_ui.page import controls, controls_line
from tfm_ui.page.lens import View
from tfm_ui.pictures import knobs
from tfm_ui.pictures.canvas import Content
from tfm_ui.pictures.knobs import KNOBS, Knob
from tfm_ui.pictures.picture import Picture
from tfm_ui.state.fields import Whole, controls_of
from tfm_ui.state.model_state import ModelState
from tfm_ui.text.token_row import Text


def _controls(model: ModelState) -> GenerateState:
    """What stands beside; with it the other text, or how much is remembered."""
    line = controls_line.row("line_generate_surprise")
    state = controls_line.draw(GenerateState, PREFIX, model, line, "against")
    if state.against == OTHER_TEXT:
        controls.draw(GenerateState, "other", controls_line.more(line, "Text B"), prefix=PREFIX)
        state = controls.current(GenerateState, PREFIX, GenerateState.limits(model))
    if state.against == SHORT_MEMORY and not why_not_score(model):
        draw_knobs("generate_surprise_knobs", model, state)
    return state


def knob(model: ModelState, state: GenerateState) -> Content:
    """How many tokens a short memory holds: its slider moves the pictures while it is dragged."""
    field, _ = controls_of(GenerateState)["memory"]
    assert isinstance(field, Whole)
    if state.against != SHORT_MEMORY:
        return knobs.content([])
    stops = list(range(field.low, field.high + 1))
    return knobs.content([Knob(field.label, f"{PREFIX}memory", state.memory, field.low, field.high, stops=stops)])


def _read(model: ModelState, state: GenerateState) -> list[Text]:
    """The text that is scored, and the other text, if one stands beside it."""
    a, *others = sides_of(model, state)
    sides = [a, *(side for side in others if side.text != a.text)]
    return [Text(Tokens(tuple(side.pieces), side.ids, side.dropped)) for side in sides]


VIEW = View(
    title="Surprise",
    exercise="next-token-loss",
    shows=[Surprise, SurprisePlaces],
    instead=unable(why_not_score),
    reads=_read,
    beside={"generate_surprise_knobs": Picture(KNOBS, knob, needs=passes.needs)},
    controls=_controls,
    questions=QUESTIONS,
)
