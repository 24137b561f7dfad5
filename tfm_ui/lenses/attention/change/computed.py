"""The model with changes, kept by tfm_ui/live/cache.py.

One pass of each side serves all layers and heads, and of an encoder-decoder both attentions of the decoder.
"""

from tfm_ui.lenses.attention.change.compared import Compared, Effect, compare, effect
from tfm_ui.lenses.attention.change.rerun import Bench, Side, possible
from tfm_ui.live import passes
from tfm_ui.live.cache import cached
from tfm_ui.state.model_state import ModelState


def compared(state: ModelState, a: str, b: str, kind: str, layer: int, head: int) -> Compared:
    """The model with changes A beside the model with changes B.

    Args:
        state: the model, and the texts that it reads.
        a: changes, as in a link; those that this model does not allow are passed over.
        b: likewise.
        kind: of attention; any, of a single stack.
        layer: from 0.
        head: from 0.

    Raises:
        ValueError: if the model is `too_large`.
    """
    if reason := passes.too_large(state):
        raise ValueError(reason)
    return _compared(state, a, b, kind if state.is_encoder_decoder else "encoder", layer, head)


@cached()
def _compared(state: ModelState, a: str, b: str, kind: str, layer: int, head: int) -> Compared:
    of_decoder = kind != "encoder"
    return compare(_side(state, a, of_decoder).looks, _effect(state, a, b, of_decoder), kind, layer, head)


@cached()
def _side(state: ModelState, changes: str, of_decoder: bool) -> Side:
    return _bench(state, of_decoder).run(possible(changes, state))


@cached()
def _effect(state: ModelState, a: str, b: str, of_decoder: bool) -> Effect:
    before, after = (possible(changes, state) for changes in (a, b))
    return effect(_bench(state, of_decoder), before, after, _side(state, a, of_decoder))


def _bench(state: ModelState, of_decoder: bool) -> Bench:
    def kind_of(kind: str) -> str:
        return passes.kind_of(state, kind)

    return Bench(
        forward=lambda source, target: passes.forward(state, source, target if state.is_encoder_decoder else None),
        place=lambda kind: passes.place(state, kind_of(kind)),
        scheme=lambda kind: passes.scheme(state, kind_of(kind)),
        state=state,
        kinds=("decoder", "cross") if of_decoder else ("encoder",),
    )
