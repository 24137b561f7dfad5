"""The view "why", why schemes work: which positions are alike, what shifts and turns do, which can be told apart."""

from functools import partial

from tfm_ui.lenses.positions.controls import KNOB, a_and_b, positions_alone
from tfm_ui.lenses.positions.panel import SchemesPanel, note
from tfm_ui.lenses.positions.schemes import aside_of, schemes
from tfm_ui.lenses.positions.state import PositionsState
from tfm_ui.lenses.positions.why.added import ShiftErrors, ShiftMatrix, Unique
from tfm_ui.lenses.positions.why.pairs import Distances, Pairs
from tfm_ui.lenses.positions.why.turned import Turned
from tfm_ui.page.lens import View
from tfm_ui.pictures.panel import Block
from tfm_ui.state.model_state import ModelState

CLAIMED: dict[str, type[SchemesPanel]] = {  # claim -> the panel that shows it
    "alike pairs": Pairs,
    "by distance": Distances,
    "shift matrix": ShiftMatrix,
    "shift error": ShiftErrors,
    "told apart": Unique,
    "turned scores": Turned,
}


def _chosen(model: ModelState, state: PositionsState) -> Block | None:
    """The chosen claim, as far as A and B make it."""
    panel = CLAIMED[state.claim](model, state)
    return panel if panel.is_shown else panel.instead()


def _aside(model: ModelState, state: PositionsState) -> str:
    """What was changed of what the controls ask for, and which of A and B is not in a picture of added vectors."""
    aside = aside_of(model, state)
    shown_schemes = schemes(model, state)
    left_out = [scheme.title for scheme in shown_schemes if not scheme.has("encode")]
    if state.claim not in ("shift matrix", "shift error", "told apart") or len(left_out) in (0, len(shown_schemes)):
        return aside
    without = (f"{title} adds no vector to tokens, so it has no place in this picture." for title in left_out)
    return " ".join([aside, *without]).strip()


VIEW = View(
    title="Why they work",
    exercise="positional-encoding",
    shows=[_chosen, note(_aside)],
    also=[*CLAIMED.values()],
    beside=KNOB,
    controls=partial(a_and_b, in_sight=("claim",), more=("head", "measure", "pair")),
    reads_instead=positions_alone,
)
