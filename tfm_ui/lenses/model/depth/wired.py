"""The same text through many layers that are wired in four ways: what becomes of vectors and of gradients."""

import math
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import pandas as pd
import torch
from torch import Tensor

from tfm_core import DepthSignal, TransformerConfig
from tfm_ui.lenses.model.depth import recipe
from tfm_ui.lenses.model.machine import drawn_config_of
from tfm_ui.lenses.model.state import ModelLensState
from tfm_ui.live.cache import cached
from tfm_ui.live.script import config_code, script
from tfm_ui.pictures.panel import Result
from tfm_ui.state.model_state import ModelState
from tfm_ui.state.pass_cost import KEPT_BY_GLIBC, NUMBER, weight_bytes
from tfm_ui.text import formats

READ, READ_OF_LARGE = 64, 24  # tokens at most, and of the largest stacks: more would take seconds
WORK = 2**30  # weights times tokens of a stack that is run through in a second or two under all wirings
WHAT = {"forward": "length ‖x‖", "backward": "gradient of the vectors", "similarity": "mean cosine"}
OF_PARAMETERS = "gradient of the parameters"


@cached()
def signals(
    config: TransformerConfig, ids: tuple[int, ...], causal: bool
) -> tuple[dict[str, DepthSignal], dict[str, Tensor]]:
    """Wiring -> its lengths, gradients and similarities; wiring -> the gradients of its parameters."""
    by_wiring, of_parameters = recipe.wired(config=config, ids=ids, causal=causal)
    return dict(by_wiring), dict(of_parameters)


@dataclass(frozen=True)
class Wired(Result):
    """What is measured on one stack with the layers' weights of the sidebar's seed, in float64.

    Attributes:
        config: the stack: one encoder or decoder, as deep as is asked for.
        ids: the tokens that are read, without padding.
        causal: whether no token sees a later one.
        by_wiring: wiring -> what is measured of the vectors and of their gradients.
        of_parameters: wiring -> (layers,), the length of the gradient of each layer's feed-forward output matrix.
    """

    config: TransformerConfig
    ids: tuple[int, ...]
    causal: bool
    by_wiring: dict[str, DepthSignal]
    of_parameters: dict[str, Tensor]

    @cached_property
    def means(self) -> dict[str, dict[str, np.ndarray]]:
        """Measure -> wiring -> the mean over tokens before the first layer and after each, (layers + 1)."""
        means = {
            measure: {
                wiring: getattr(signal, measure).reshape(self.config.num_layers + 1, -1).mean(-1).numpy()
                for wiring, signal in self.by_wiring.items()
            }
            for measure in WHAT
        }
        for wiring, lengths in means["forward"].items():  # vectors of zeros have no direction
            means["similarity"][wiring] = np.where(lengths > 0, means["similarity"][wiring], np.nan)
        return means

    def factors(self, measure: str) -> dict[str, float]:
        """Wiring -> how many times as large it is at one end as at the other: where the signal arrives, over where it
        starts. Vectors arrive after the last layer, gradients before the first.
        """
        ends = (-1, 0) if measure == "forward" else (0, -1)
        with np.errstate(all="ignore"):
            return {wiring: float(mean[ends[0]] / mean[ends[1]]) for wiring, mean in self.means[measure].items()}

    def most_changed(self) -> str:
        """The wiring whose gradient changes by the largest factor, up or down."""
        sizes = {name: abs(_log(factor)) for name, factor in self.factors("backward").items()}
        return max(sizes, key=sizes.__getitem__)

    def sentence(self) -> str:
        """What each wiring does to vectors and to gradients."""
        layers = formats.plural(self.config.num_layers, "layer")
        return (
            f"On their way up through {layers}, vectors change their length by these factors: "
            f"{self._changes('forward')}. {self.gradients()} The weights are random: this is what training has to "
            "start from."
        )

    def gradients(self) -> str:
        """What each wiring does to the gradient of the vectors, and that of the parameters beside it."""
        return (
            f"The gradient of the vectors, on its way down: {self._changes('backward')}; it changes most with "
            f"{self.most_changed()}. The gradient of the parameters is another one: {self._of_parameters()}."
        )

    def _changes(self, measure: str) -> str:
        return ", ".join(f"{_times(factor)} {wiring}" for wiring, factor in self.factors(measure).items())

    def _of_parameters(self) -> str:
        """The gradient of the last layer's matrix, which Xiong et al. bound."""
        pre, post = (float(self.of_parameters[norm][-1]) for norm in ("pre-norm", "post-norm"))
        lengths = f"at the last layer’s output matrix it has a length of {formats.number(pre)} pre-norm and "
        return lengths + f"{formats.number(post)} post-norm" + (f" ({_times(post / pre)})" if pre else "")

    def laws(self) -> dict[str, bool]:
        """All begin alike at both ends, and a norm at the end of a layer sets the length."""
        starts = [signal.forward[0] for signal in self.by_wiring.values()]
        ends = [signal.backward[-1] for signal in self.by_wiring.values()]
        same = all(torch.equal(start, starts[0]) for start in starts) and all(torch.equal(end, ends[0]) for end in ends)
        post = self.by_wiring["post-norm"].forward[1:]
        longest = float(post.max()) if post.numel() else 0.0
        root = math.sqrt(self.config.d_model)
        return {
            "all four start with the same vectors and, at the end, with the same gradient": same,
            f"after a norm no vector is longer than √d_model = {formats.number(root)} (longest "
            f"{formats.number(longest)})": longest <= root * (1 + 1e-9),
        }

    def table(self) -> pd.DataFrame:
        """A row per place, a column per measure and wiring."""
        columns = {
            (words, wiring): self.means[measure][wiring] for measure, words in WHAT.items() for wiring in self.by_wiring
        }
        for wiring, lengths in self.of_parameters.items():  # nothing stands before the first layer
            columns[OF_PARAMETERS, wiring] = np.array([np.nan, *lengths.tolist()])
        index = pd.Index(["input", *(f"layer {at + 1}" for at in range(self.config.num_layers))], name="after")
        return pd.DataFrame(columns, index=index)

    def recipe(self) -> str:
        """A script that leaves `signals` and `of_parameters`, wiring -> what is measured."""
        return script(recipe.wired, config=config_code(self.config), ids=list(self.ids), causal=self.causal)


@dataclass(frozen=True)
class Alike(Result):
    """How alike the vectors of different tokens become, under each wiring."""

    wired: Wired

    def sentence(self) -> str:
        """The mean cosine at both ends."""
        means = self.wired.means["similarity"]
        if len(self.wired.ids) == 1:
            return "A single token has no other to be compared with: read a longer text."
        start = formats.number(float(next(iter(means.values()))[0]))
        ends = ", ".join(f"{self._end(wiring)} {wiring}" for wiring in means)
        layers = formats.plural(self.wired.config.num_layers, "layer")
        return (
            f"The mean cosine between two different tokens is {start} before the first layer, and after {layers}: "
            f"{ends}. At 1 all tokens point the same way, and no later layer can tell them apart by direction."
        )

    def _end(self, wiring: str) -> str:
        """The mean cosine at the end, or why there is none."""
        cosine = float(self.wired.means["similarity"][wiring][-1])
        if math.isfinite(cosine):
            return formats.number(cosine)
        return "none" + (" (vectors of zeros)" if self.wired.means["forward"][wiring][-1] == 0 else " (too large)")

    def laws(self) -> dict[str, bool]:
        """A cosine lies between -1 and 1."""
        every = np.concatenate(list(self.wired.means["similarity"].values()))
        return {"no mean cosine is beyond ±1": bool((np.abs(every[np.isfinite(every)]) <= 1 + 1e-9).all())}

    def table(self) -> pd.DataFrame:
        """The same table: it has all measures."""
        return self.wired.table()

    def recipe(self) -> str:
        """The same script."""
        return self.wired.recipe()


def tokens_read(config: TransformerConfig) -> int:
    """How many tokens are read at most, by the size of the stack."""
    weights = weight_bytes(replace(config, vocab_size=1)) // NUMBER
    return min(READ, max(READ_OF_LARGE, WORK // weights))


def wired(model: ModelState, state: ModelLensState) -> Wired:
    """The text, of two texts the first, without padding."""
    causal = model.architecture == "decoder" or model.masks_the_future
    kind = "decoder" if causal else "encoder"
    config = replace(drawn_config_of(model, state), architecture=kind, num_layers=state.depth)
    text = [token for token in model.source_tokens.ids if token != model.config.pad_id]
    ids = tuple(text[: tokens_read(config)]) or (model.config.pad_id,)
    return Wired(config, ids, causal, *signals(config, ids, causal))


def wired_needs(model: ModelState, state: ModelLensState) -> int:
    """The bytes that the four wirings take: the stack; one layer in float64, with all that it remembers for its
    gradient under all wirings; and the vectors after each layer, with their gradients.
    """
    config = replace(drawn_config_of(model, state), architecture="encoder", num_layers=state.depth)
    tokens, wirings, double = min(tokens_read(config), model.length), 4, 2 * NUMBER
    rows = wirings * tokens
    layer = 3 * weight_bytes(replace(config, vocab_size=1, num_layers=1))  # a copy, and that in float64
    graph = double * (rows * (14 * config.d_model + 9 * config.feed_forward_dim) + 4 * config.num_heads * rows * tokens)
    streams = 3 * double * (state.depth + 1) * rows * config.d_model
    return weight_bytes(config) + weight_bytes(model.config) + layer + 2 * graph + streams + KEPT_BY_GLIBC


def _log(factor: float) -> float:
    return math.log(factor) if 0 < factor < math.inf else math.inf


def _times(factor: float) -> str:
    if not math.isfinite(factor):
        return "∞ (too large to count)"
    return f"×\u202f{formats.number(factor)}" if 1e-3 <= factor < 1e4 else f"×\u202f{formats.tiny(factor)}"
