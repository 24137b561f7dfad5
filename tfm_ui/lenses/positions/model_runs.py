"""Passes of the sidebar's model under other schemes, kept by tfm_ui/live/cache.py. Results are shared: never write."""

from tfm_core import TransformerConfig
from tfm_ui.lenses.positions.readings import HeadSeen, Reading, Shared, read, see
from tfm_ui.lenses.positions.readings import shared as compare_weights
from tfm_ui.live import passes
from tfm_ui.live.cache import cached
from tfm_ui.state.model_state import ModelState


@cached()
def reading(state: ModelState, *, order: tuple[int, ...] = (), batch: int = 1, along: str = "") -> Reading:
    """A pass of the single stack, or of the encoder of an encoder-decoder; arguments as in `readings.read`."""
    kind = "encoder" if state.is_encoder_decoder else "self"
    model = passes.transformer(state.config)
    stack = model.encoder if state.is_encoder_decoder else model.stack
    return read(stack, state, passes.place(state, kind), order=order, batch=batch, along=along)


@cached()
def head_seen(state: ModelState, layer: int, head: int) -> HeadSeen:
    """A head of that pass; layer and head from 0."""
    written = reading(state, order=())  # its key is what is given, and the shuffle gives an order
    return see(written.attention[0], layer, head, len(state.source_tokens.pieces))


@cached()
def shared(config: TransformerConfig, plain: TransformerConfig) -> Shared:
    """Which weights the models of these two have in common: with large ones side by side, that takes a while."""
    return compare_weights(passes.transformer(config), passes.transformer(plain))
