"""Which tokens are changed, and how often, so that a test of leaks stays below some seconds. Pure."""

from dataclasses import dataclass, replace

import numpy as np

from tfm_core import Tokens
from tfm_ui.lenses.masks.state import Setting
from tfm_ui.live.passes import adds_bias
from tfm_ui.state.model_state import ModelState
from tfm_ui.text import formats

SECONDS = 2.0  # seconds that a measurement may take, unless the fewest tokens take longer
PAIRS = 2**22  # pairs of tokens, counted once per head, of which a float64 bias still fits in memory
ALL_UP_TO, LEAST = 64, 4  # texts of up to 64 tokens: every token is changed; longer ones: at least 4
CROSSES = 4096  # leaks that a picture marks, of more those that move most
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


def fitting(model: ModelState) -> ModelState:
    """The model, reading no more than there is memory for."""
    most = int((PAIRS / model.num_heads) ** 0.5)
    return replace(model, seq_len=most) if adds_bias(model) and model.longest > most else model


def seconds_of(setting: Setting) -> float:
    """What one changed sentence takes on one core of the machine that this was written on, a little too much.

    Each layer and token counts what is read and written, the matrices, and in each head the attention to each other
    token.
    """
    state = setting.model
    queries, keys, width = len(setting.queries.ids), len(setting.keys.ids), state.d_model
    each = 6e-8 * width + (4 * width + 3 * state.config.feed_forward_dim) * width * 5e-11
    pair = (2e-8 if adds_bias(state) else 5e-9) * state.num_heads  # no fast kernel takes a bias
    layer = queries * (each + pair * queries)
    if state.is_encoder_decoder:
        layer += queries * (6e-8 * width + pair * len(state.source_tokens.ids))
    if setting.place == "cross":
        layer += keys * (each + pair * keys)
    return state.num_layers * layer


def plan(setting: Setting, tries: int, seq_len: int) -> Plan:
    """The part of what was asked for that there is time for: fewer replacements first, then fewer tokens.

    Args:
        setting: of a model that is `fitting`.
        tries: replacements that were asked for.
        seq_len: what was asked for before the model was made to fit.
    """
    tokens, once = setting.keys, seconds_of(setting)
    others = setting.model.tokens_by.vocab_size - 2  # neither the token itself nor padding
    many, runs = len(tokens.ids), max(1, int(SECONDS / once))
    count = many if many <= ALL_UP_TO else min(many, max(LEAST, runs))
    fewer = max(1, min(tries, others, runs // count))
    places = _spread(tokens, count)
    aside = _aside(tokens, places, min(tries, others), fewer, once)
    if others < tries:
        aside = f"Each token is changed into all {others} others that these weights know. {aside}".strip()
    if setting.model.length < seq_len:
        read = f"Of {formats.count(seq_len)} tokens the first {setting.model.length} are read"
        why = f"more take too much memory, as {setting.model.positional} adds a number per head and pair"
        aside = f"{read}: {why}. {aside}".strip()
    return Plan(places, fewer, once * count * fewer, aside)


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
