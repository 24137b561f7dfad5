"""Passes of the sidebar's model under other schemes, kept by tfm_ui/live/cache.py. Results are shared: never write."""

from tfm_core import POSITIONAL, TransformerConfig
from tfm_ui.lenses.positions import readings
from tfm_ui.lenses.positions.readings import HeadReading, Reading, SharedWeights
from tfm_ui.lenses.positions.state import PositionsState
from tfm_ui.live import passes, places
from tfm_ui.live.cache import cached
from tfm_ui.live.never_trained import never_trained
from tfm_ui.state.model_state import ModelState
from tfm_ui.text import formats

ALL_UP_TO = 2**23  # weights of a pass, up to which all schemes are run: they take a second or two together
PLAIN = "none"  # the scheme that the others are compared with
ROUNDING = 1e-5  # what moves by less than this share of its length has moved by rounding alone


@cached()
def reading(state: ModelState, *, order: tuple[int, ...] = (), batch: int = 1, along: str = "") -> Reading:
    """A pass of the single stack, or of the encoder of an encoder-decoder; arguments as in `readings.read`."""
    kind = "encoder" if state.is_encoder_decoder else "self"
    model = passes.transformer(state.config)
    stack = model.encoder if state.is_encoder_decoder else model.stack
    return readings.read(stack, state, places.place(state, kind), order=order, batch=batch, along=along)


@cached()
def one_head(state: ModelState, layer: int, head: int) -> HeadReading:
    """A head of the pass of the text as written; layer and head from 0."""
    as_written = reading(state, order=())  # with `order`, as model/shuffle.py calls it: the same entry of the cache
    return readings.one_head(as_written.attention[0], layer, head, len(state.source_tokens.pieces))


@cached()
def shared_weights(config: TransformerConfig, plain: TransformerConfig) -> SharedWeights:
    """Which weights the models of these two have in common: with large ones side by side, that takes a while."""
    return readings.shared_weights(passes.transformer(config), passes.transformer(plain))


def run_schemes(model: ModelState, state: PositionsState) -> list[str]:
    """The schemes that are run, A and B first; of a model that takes long, these and what they are compared with."""
    pinned = list(state.sides)
    rest = [name for name in POSITIONAL if name not in pinned]
    if model.num_layers * model.num_heads * model.length**2 > ALL_UP_TO:
        rest = [name for name in rest if name == PLAIN]
    return [name for name in (*pinned, *rest) if not passes.too_large(model.varied(positional=name))]


def other_positions(model: ModelState, state: PositionsState) -> str:
    """A sentence that names those of the schemes here with which trained weights were never trained."""
    return never_trained(model, [model.varied(positional=name).config for name in run_schemes(model, state)])


def left_out(model: ModelState, state: PositionsState) -> str:
    """Which schemes are not run, in a sentence; "" if all are."""
    names = run_schemes(model, state)
    left = [name for name in POSITIONAL if name not in names]
    if not left:
        return ""
    layers, heads = formats.plural(model.num_layers, "layer"), formats.plural(model.num_heads, "head")
    size = f"{layers} of {heads} on {model.length} tokens"
    run, out = (f"{formats.listed(some)} {'is' if len(some) == 1 else 'are'}" for some in (names, left))
    return f"A pass through {size} takes long, so only {run} run; {out} left out. Choose others as A and B."


def unmasked(model: ModelState, name: str) -> ModelState:
    """The same weights in an encoder that sees everything. They are drawn by name, as a decoder's are."""
    architecture = "encoder" if model.architecture == "decoder" else model.architecture
    return model.varied(positional=name, causal=False, architecture=architecture)


def difference_in_words(difference: float) -> str:
    """A difference in words: very small ones, which may be rounding, as a power of 10."""
    return formats.tiny(difference) if difference < 0.001 else formats.number(difference)
