"""The box of d_ff: it shows the real number, which is 4 d_model unless another one is chosen."""

from tfm_ui.page import controls, unbound
from tfm_ui.state.fields import Whole, controls_of
from tfm_ui.state.model_state import ModelState
from tfm_ui.streamlit_private.containers import DeltaGenerator

KEY = "d_ff"


def draw(where: DeltaGenerator) -> None:
    """Draw the box. The control of d_model must have been drawn before.

    The widget is not bound to the address, because it always shows a number, but the address names d_ff only if
    somebody has chosen it.
    """
    field, _ = controls_of(ModelState)[KEY]
    assert isinstance(field, Whole)
    hidden = controls.current(ModelState).hidden
    key = unbound.key_of(KEY, hidden)
    where.number_input(field.label, 1, field.high, hidden, help=field.help, key=key, on_change=_changed, args=(key,))


def _changed(key: str) -> None:
    if chosen := unbound.moved_to(KEY, key):
        is_usual = chosen == controls.current(ModelState).d_model * 4
        controls.set_parameters({KEY: 0 if is_usual else chosen})
