"""Which tokens are changed, and how often, so that a test of leaks stays below some seconds. Pure."""

from dataclasses import dataclass, replace

import numpy as np

from tfm_core import Tokens
from tfm_ui.lenses.masks.state import Setting
from tfm_ui.live.passes import adds_bias
from tfm_ui.state.model_state import MAX_TOKENS, ModelState
from tfm_ui.state.sizes import TOKENS
from tfm_ui.text import formats

SECONDS = 2.0  # seconds that a measurement may take, unless the fewest tokens take longer
MOST_SECONDS = 3.0  # seconds that these may take, the sentence itself included: otherwise less of the text is read
WITH_BIAS = 1.3  # times the seconds: more text takes more memory beside the page's pass than is stated
PAIRS = 2**22  # pairs of tokens, counted once per head, of which a float64 bias still fits in memory
ALL_UP_TO, LEAST = 64, 4  # texts of up to 64 tokens: every token is changed; longer ones: at least 4
SLOW = 0.5  # seconds from which the reader is told to wait


@dataclass(frozen=True)
class Plan:
    """What is run.

    Attributes:
        places: the tokens that are changed, from 0.
        tries: how many replacements each gets.
        seconds: what it takes, roughly.
        aside: what is not run and why; "" if all is.
    """

    places: tuple[int, ...]
    tries: int
    seconds: float
    aside: str

    @property
    def slow(self) -> bool:
        """Whether the reader is told to wait."""
        return self.seconds > SLOW


def fitting(model: ModelState, place: str, seconds: float = MOST_SECONDS) -> tuple[ModelState, str]:
    """The model, reading no more than there is memory and time for; and why it reads less, "" if it does not.

    Args:
        model: as it was asked for.
        place: the attention that the mask is for, as in `Setting`.
        seconds: that the fewest tokens may take.
    """
    why, most = "", int((PAIRS / model.num_heads) ** 0.5)
    if adds_bias(model) and model.longest > most:
        why = f"more take too much memory, as {model.positional} adds a number per head and pair"
        model = replace(model, seq_len=most)
    if _fewest_take(model, place, model.longest) > seconds:
        why = f"to change {LEAST} tokens of a longer text would take too long here"
        stops = (length for length in reversed(TOKENS.stops) if _fewest_take(model, place, length) <= seconds)
        model = replace(model, seq_len=next(stops))
    return model, why


def _fewest_take(model: ModelState, place: str, most: int) -> float:
    """What it takes, in seconds, to change the fewest tokens of texts of at most so many tokens."""
    return (LEAST + 1) * seconds_of(model, place, most) * (WITH_BIAS if adds_bias(model) else 1)


def seconds_of(model: ModelState, place: str, most: int = MAX_TOKENS) -> float:
    """What one changed sentence takes on one core of the machine that this was written on, a little too much.

    Each layer and token counts what is read and written, the matrices, and in each head the attention to each other
    token.

    Args:
        model: which reads the sentence.
        place: the attention that the mask is for, as in `Setting`.
        most: how many tokens of a text are read at most.
    """
    source, width = min(most, len(model.source_tokens.ids)), model.d_model
    queries = min(most, len(model.target_tokens.ids)) if model.is_encoder_decoder else source
    each = 6e-8 * width + (4 * width + 3 * model.config.feed_forward_dim) * width * 5e-11
    pair = (1.2e-8 if adds_bias(model) else 5e-9) * model.num_heads  # a bias is added in parts
    layer = queries * (each + pair * queries)
    if model.is_encoder_decoder:
        layer += queries * (6e-8 * width + pair * source)
    if place == "cross":
        layer += source * (each + pair * source)
    return model.num_layers * layer


def plan(setting: Setting, tries: int, seq_len: int, why: str = "") -> Plan:
    """The part of what was asked for that there is time for: fewer replacements first, then fewer tokens.

    Args:
        setting: of a model that is `fitting`.
        tries: replacements that were asked for.
        seq_len: what was asked for before the model was made to fit.
        why: why it was made to fit, as `fitting` says it.
    """
    tokens, once = setting.keys, seconds_of(setting.model, setting.place)
    others = setting.model.tokens_by.vocab_size - 2  # neither the token itself nor padding
    many, runs = len(tokens.ids), max(1, int(SECONDS / once))
    count = many if many <= ALL_UP_TO else min(many, max(LEAST, runs))
    fewer = max(1, min(tries, others, runs // count))
    places = _spread(tokens, count)
    aside = _aside(tokens, places, min(tries, others), fewer, once)
    return Plan(places, fewer, once * count * fewer, _with_limits(aside, setting, tries, seq_len, why))


def everything(setting: Setting, tries: int, seq_len: int, why: str = "") -> Plan:
    """All of what was asked for, however long it takes. Arguments as of `plan`, the model reads all that fits."""
    many, into = len(setting.keys.ids), min(tries, setting.model.tokens_by.vocab_size - 2)
    seconds = many * into * seconds_of(setting.model, setting.place)
    aside = f"All {formats.count(many)} tokens were changed, each into {formats.plural(into, 'other')}."
    return Plan(tuple(range(many)), into, seconds, _with_limits(aside, setting, tries, seq_len, why))


def _with_limits(aside: str, setting: Setting, tries: int, seq_len: int, why: str) -> str:
    """What is said, after what there is no more of: of other tokens, and of the text."""
    others = setting.model.tokens_by.vocab_size - 2
    if others < tries:
        aside = f"Each token is changed into all {others} others that these weights know. {aside}".strip()
    if why:
        read = f"Of {formats.count(seq_len)} tokens the first {setting.model.longest} are read"
        aside = f"{read}: {why}. {aside}".strip()
    return aside


def _spread(tokens: Tokens, count: int) -> tuple[int, ...]:
    """`count` places, evenly over the text; some of them in its padding, if there is any."""
    real, padding = len(tokens.pieces), tokens.padding
    of_text = min(real, max(1, count - 1) if padding else count)
    of_padding = min(padding, count - of_text)
    chosen = [np.linspace(0, real - 1, of_text), np.linspace(real, real + padding - 1, of_padding)]
    return tuple(np.concatenate(chosen).round().astype(int).tolist())


def _aside(tokens: Tokens, places: tuple[int, ...], asked: int, tries: int, once: float) -> str:
    many, said = len(tokens.ids), []
    if len(places) < many:
        said.append(f"Of {formats.count(many)} tokens {len(places)} are changed, spread over the text")
    if tries < asked:
        into = f"into {formats.plural(tries, 'other')} instead of {asked}"
        said.append(f"each {into}" if said else f"Each token is changed {into}")
    if not said:
        return ""
    seconds = once * many * asked
    takes = formats.duration(1000 * seconds) if seconds < 100 else f"{seconds / 60:.0f} minutes"
    return f"{', '.join(said)}: to run all would take about {takes}."
