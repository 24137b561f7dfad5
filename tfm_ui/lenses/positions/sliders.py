"""The sliders above a view: those that something on screen depends on."""

from tfm_ui.lenses.positions.schemes import schemes
from tfm_ui.lenses.positions.state import PREFIX, PositionsState
from tfm_ui.pictures import knobs as drawing
from tfm_ui.pictures.canvas import Content
from tfm_ui.pictures.knobs import Knob
from tfm_ui.state.fields import Length, Number, Whole, controls_of
from tfm_ui.state.model_state import ModelState

# view -> its knobs; all but the length only where a scheme on screen depends on them
OF_VIEW = {
    "see": ("length", "base", "max_len"),
    "why": ("length", "base", "shift", "max_len"),
    "model": (),
    "beyond": ("length", "max_len", "base"),
    "fault": (),
    "table": (),
}


def positions_knobs(model: ModelState, state: PositionsState) -> Content:
    """What moves all pictures of the page."""
    return drawing.content(knobs(model, state))


def knobs(model: ModelState, state: PositionsState) -> list[Knob]:
    """From left to right."""
    sides = schemes(model, state)
    depends = {name for scheme in sides for name in scheme.module.about.depends_on}
    if any(scheme.has("encode") for scheme in sides):
        depends.add("shift")  # of vectors that are added
    if state.view == "beyond" and any(scheme.module.enters() for scheme in sides):
        depends.add("max_len")  # it stands for the length of a training, whatever the scheme
    shown = [name for name in OF_VIEW[state.view] if name == "length" or name in depends]
    return [_knob(state, name) for name in shown]


def _knob(state: PositionsState, name: str) -> Knob:
    field, _ = controls_of(PositionsState)[name]
    value = getattr(state, name)
    if isinstance(field, Length):
        return Knob(field.label, PREFIX + name, value, field.low, field.high, stops=field.stops)
    if isinstance(field, Number):
        return Knob(field.label, PREFIX + name, value, field.low, field.high, digits=field.digits)
    assert isinstance(field, Whole)
    last = min(field.high, state.length - 1)  # a place within the length
    return Knob(field.label, PREFIX + name, min(value, last), field.low, last, stops=range(field.low, last + 1))
