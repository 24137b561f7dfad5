"""How much memory a picture may take, and how much it may take beside others; each says what it needs beforehand."""

from tfm_core import POSITIONAL
from tfm_ui.settings import SETTINGS
from tfm_ui.state.arrays import AttentionFile
from tfm_ui.state.model_state import ModelState
from tfm_ui.state.pass_cost import AT_ONCE, EXACT_UP_TO, NUMBER, SMALL, peak_bytes

MOST = SETTINGS.picture_bytes  # bytes that computing one picture may take in addition to what its process has
QUICK = MOST // 4  # bytes that several may take at once; what needs more waits for the slow lane
KEPT = MOST // 8  # bytes from which freed memory is given back at once, as other processes may need it
LITTLE = 20_000_000  # bytes that a picture takes that reads no model: a chart, a text, an answer


def adds_bias(state: ModelState) -> bool:
    """Whether the positional scheme adds a bias to the scores."""
    return "bias_at" in POSITIONAL[state.positional].enters()


def needs(state: ModelState, _: object = None) -> int:
    """The bytes that a first pass takes at most, its model included; pictures that only read a pass need as many."""
    if state.array:
        return _file_bytes(state.array)
    return peak_bytes(state.config, state.longest, bias=adds_bias(state))


def _file_bytes(array: AttentionFile) -> int:
    """The bytes that a file of weights takes at most: as it is kept, read, and checked; one sentence of it, its maps;
    and the weights that are summarised at a time, as in a pass.
    """
    pairs = array.num_heads * array.length**2
    maps = array.num_layers * array.num_heads * min(array.length, EXACT_UP_TO) ** 2
    running = NUMBER * (3 * min(pairs, AT_ONCE) + 8 * array.length**2 + pairs)
    return 3 * array.size + maps + running + SMALL


def little(*_: object) -> int:
    """What a picture needs that reads no model and has no sizes of its own."""
    return LITTLE


def is_large(size: int) -> bool:
    """Whether a picture of so many bytes has to wait for the slow lane, in which there are few at a time."""
    return size > QUICK


def why_too_large(size: int) -> str:
    """Why what needs so many bytes is not computed, in a sentence; "" if it may be."""
    if size <= MOST:
        return ""
    return (
        f"This needs {size / 1e6:,.0f} MB of memory at a time; {MOST / 1e6:,.0f} MB is the limit"
        f"{SETTINGS.lowered_by('picture_bytes')}. Fewer tokens, layers or heads, or a smaller width, need less."
    )
