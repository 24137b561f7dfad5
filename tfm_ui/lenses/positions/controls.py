"""The controls of the views that set A beside B: boxes, and beside them the sliders that move all pictures."""

import streamlit as st

from tfm_ui.lenses.positions.schemes import schemes
from tfm_ui.lenses.positions.state import PREFIX, PositionsState
from tfm_ui.live import passes
from tfm_ui.page import controls_line
from tfm_ui.page.drawing import Drawing
from tfm_ui.pictures import knobs
from tfm_ui.pictures.canvas import Content
from tfm_ui.pictures.knobs import KNOBS, Knob
from tfm_ui.pictures.picture import Picture
from tfm_ui.state.fields import Length, Number, Whole, controls_of
from tfm_ui.state.model_state import ModelState

PAIRS = ("alike pairs", "by distance")  # the claims that compare each pair of positions
SHIFTS = ("shift matrix", "shift error")

# view -> its sliders; all but the length only where a scheme on screen depends on them
SLIDERS = {
    "see": ("length", "base", "max_len"),
    "why": ("length", "base", "shift", "max_len"),
    "beyond": ("length", "max_len", "base"),
}


def a_and_b(model: ModelState, in_sight: tuple[str, ...] = (), more: tuple[str, ...] = ()) -> PositionsState:
    """Draw A and B, the sliders beside them, and what refines them behind "More".

    Args:
        model: the model's state.
        in_sight: fields whose controls stand beside A and B.
        more: fields whose controls stand behind "More", as far as they change something.
    """
    line = controls_line.row("line_positions")
    state = controls_line.draw(PositionsState, PREFIX, model, line, "a", "b", *in_sight)
    if any(scheme.module.overrides("pairs") for scheme in schemes(model, state)):
        state = controls_line.draw(PositionsState, PREFIX, model, line, "pairing")
    refined = [name for name in ("width", "heads", *more) if _changes_something(model, state, name)]
    if refined:
        state = controls_line.draw_more(PositionsState, PREFIX, model, line, *refined)
    with st.container(key="positions_knobs_place"):
        if sliders(model, state):
            Drawing("positions_knobs", ((model, ""), (state, PREFIX))).draw("positions_knobs")
    return state


def positions_alone(model: ModelState, state: PositionsState) -> str:
    """What the views are made from that show schemes, and not what becomes of them in the model."""
    return "No text is read here: a scheme depends on positions alone, whichever tokens stand there."


def _changes_something(model: ModelState, state: PositionsState, name: str) -> bool:
    """Whether the pictures of the visible view depend on this field, with the schemes on screen."""
    shown_schemes = schemes(model, state)
    depends = {name for scheme in shown_schemes for name in scheme.module.about.depends_on}
    places = {place for scheme in shown_schemes for place in scheme.module.enters()}
    compares_pairs = state.view != "why" or state.claim in PAIRS
    return {
        "width": "d_model" in depends,
        "heads": "num_heads" in depends,
        "head": "bias_at" in places and compares_pairs,
        "bias_scale": "bias_at" in places,
        "measure": bool(places - {"bias_at"}) and compares_pairs,
        "pair": state.claim == "shift matrix",
    }[name]


def sliders(model: ModelState, state: PositionsState) -> list[Knob]:
    """The sliders from left to right."""
    shown_schemes = schemes(model, state)
    depends = {name for scheme in shown_schemes for name in scheme.module.about.depends_on}
    if state.claim in SHIFTS and any(scheme.has("encode") for scheme in shown_schemes):
        depends.add("shift")  # of vectors that are added
    if state.view == "beyond" and not model.is_random:
        depends.discard("max_len")  # it is what the weights were trained on
    elif state.view == "beyond" and any(scheme.module.enters() for scheme in shown_schemes):
        depends.add("max_len")  # it stands for the length of a training, whatever the scheme
    names = [name for name in SLIDERS.get(state.view, ()) if name == "length" or name in depends]
    return [_slider(state, name) for name in names]


def _slider(state: PositionsState, name: str) -> Knob:
    field, _ = controls_of(PositionsState)[name]
    value = getattr(state, name)
    if isinstance(field, Length):
        return Knob(field.label, PREFIX + name, value, field.low, field.high, stops=field.stops)
    if isinstance(field, Number):
        return Knob(field.label, PREFIX + name, value, field.low, field.high, digits=field.digits)
    assert isinstance(field, Whole)
    last = min(field.high, state.length - 1)  # a place within the length
    return Knob(field.label, PREFIX + name, min(value, last), field.low, last, stops=range(field.low, last + 1))


def _content(model: ModelState, state: PositionsState) -> Content:
    return knobs.content(sliders(model, state))


KNOB = {"positions_knobs": Picture(KNOBS, _content, needs=passes.needs)}
