"""What the view "kept" says of the cache: which keys and values it stores at each step, in how many bytes."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd
import torch
from numpy.typing import NDArray
from torch import Tensor

from tfm_core import Course, Step
from tfm_core.model.cache import KeyValueCache
from tfm_ui.lenses.generate import courses
from tfm_ui.lenses.generate.courses import Settings
from tfm_ui.lenses.generate.kept import recipe
from tfm_ui.lenses.generate.state import GenerateState
from tfm_ui.live.cache import cached
from tfm_ui.live.passes import transformer
from tfm_ui.live.script import config_of, script
from tfm_ui.pictures.panel import Result
from tfm_ui.state.model_state import ModelState
from tfm_ui.text import formats, units
from tfm_ui.text.token_labels import named

CLOSE = 1e-4  # of keys and values, which are of size 1: rounding of float32 through all layers
NUMBER = 4  # bytes of a number in float32


@dataclass(frozen=True)
class Kept(Result):
    """What the cache stores while the text on screen is written.

    Attributes:
        model: the sidebar's model, whose text is the prompt.
        settings: how the text is written.
        layer: whose keys and values are drawn, from 0.
    """

    model: ModelState
    settings: Settings
    layer: int

    @cached_property
    def course(self) -> Course:
        """What was written."""
        return courses.course_of(self.model, self.settings)

    @property
    def steps(self) -> Sequence[Step]:
        """A step per token that was written."""
        return self.course.steps

    @cached_property
    def lengths(self) -> list[int]:
        """How many tokens are stored when the token of each step is chosen: all before it that the context holds."""
        return [len(self.course.prompt) + step.number - step.begin for step in self.steps]

    @cached_property
    def begins(self) -> list[int]:
        """Where the contexts begin in the whole text, one after the other: each has a cache of its own."""
        return list(dict.fromkeys(step.begin for step in self.steps))

    def rows(self, begin: int) -> int:
        """How many tokens the cache of this context stores at last."""
        return max(length for length, step in zip(self.lengths, self.steps, strict=True) if step.begin == begin)

    def matrices(self, begin: int) -> tuple[Tensor, Tensor]:
        """The layer's keys and values of a context, (token, d_model) each, heads side by side."""
        cache, rows = self.course.caches[begin], slice(self.rows(begin))
        keys, values = cache.keys(self.layer)[0, :, rows], cache.values(self.layer)[0, :, rows]
        return keys.transpose(0, 1).flatten(1), values.transpose(0, 1).flatten(1)

    @cached_property
    def measured(self) -> list[int]:
        """Bytes of all layers' keys and values at each step, from the tensors."""
        sizes = []
        for step, length in zip(self.steps, self.lengths, strict=True):
            cache = self.course.caches[step.begin]
            tensors = [
                tensor[:, :, :length]
                for layer in range(self.model.num_layers)
                for tensor in (cache.keys(layer), cache.values(layer))
            ]
            sizes.append(sum(tensor.nbytes for tensor in tensors))
        return sizes

    @cached_property
    def by_formula(self) -> list[int]:
        """The same by 2 × layers × d_model × tokens × 4 bytes."""
        return [KeyValueCache.memory_of(self.model.config, length) for length in self.lengths]

    @property
    def per_token(self) -> int:
        """Bytes that a token takes."""
        return KeyValueCache.memory_of(self.model.config, 1)

    @cached_property
    def pieces(self) -> list[str]:
        """The tokens of the whole text, as labels with visible white space."""
        return [named(self.model.tokens_by.pieces[token]) for token in self.course.tokens]

    def sentence(self) -> str:
        """What each token adds, what is stored at last, and whether the context was full."""
        if not self.steps:
            return "Nothing was written: the prompt fills the context."
        last, shape = self.lengths[-1], self.model.config
        return (
            f"Of each token that is read, every layer keeps a key and a value of {shape.d_model} numbers: "
            f"2 × {formats.plural(shape.num_layers, 'layer')} × {shape.d_model} × {NUMBER} bytes = "
            f"{formats.count(self.per_token)} bytes a token. When the token of step {len(self.steps)} is chosen, "
            f"{formats.plural(last, 'token')} {'is' if last == 1 else 'are'} stored: "
            f"{formats.count(self.measured[-1])} bytes, {units.bytes_of(self.measured[-1])}. The token that is written "
            f"last is not among them: the next step reads it. {self.context_said()}"
        )

    def context_said(self) -> str:
        """Whether the context was full, at which step, and what was done."""
        if self.course.context is None:
            return "This model’s context has no end."
        context = f"the context of {formats.count(self.course.context)} tokens"
        moved = [step for before, step in zip(self.steps, self.steps[1:], strict=False) if step.begin != before.begin]
        begun = self.steps[0].begin if self.steps else 0
        said = []
        if begun:
            said.append(f"The prompt is longer than {context}: its end alone is read.")
        for step in moved:
            left = len(self.course.prompt) + step.number - step.begin
            said.append(
                f"At step {step.number + 1} {context} was full: its cache was dropped, and the newer {left} tokens "
                "were read anew, as a text of their own."
            )
        ended = len(self.steps) < self.settings.steps
        if self.settings.full == "stop" and ended:
            said.append(f"After step {len(self.steps)} {context} was full: there the text ends, as “stop” was chosen.")
        used = self.lengths[-1] + 1
        return " ".join(said) or f"With the last token the text has {used}: {context} is not full."

    @cached_property
    def difference(self) -> float:
        """The largest one between the last context's keys and values and those of one pass over all of it."""
        begin = self.begins[-1]
        keys, values = self.matrices(begin)
        ids = self.course.tokens[begin : begin + len(keys)]
        fresh = fresh_matrices(self.model, ids, self.layer)
        return max(float((ours - theirs).abs().max()) for ours, theirs in zip((keys, values), fresh, strict=True))

    def laws(self) -> Mapping[str, bool]:
        """Bytes by the formula, and what one pass would store."""
        if not self.steps:
            return {}
        return {
            f"2 × layers × d_model × tokens × {NUMBER} is the size of the tensors in bytes, at each step "
            f"({len(self.steps)})": self.measured == self.by_formula,
            "the keys and values on screen, which came token by token, are those of one pass over the text (largest "
            f"difference {formats.tiny(self.difference)})": self.difference < CLOSE,
        }

    def table(self) -> pd.DataFrame:
        """A row per step."""
        prompt = len(self.course.prompt)
        return pd.DataFrame(
            {
                "token": self.pieces[prompt:],
                "context begins at token": [step.begin + 1 for step in self.steps],
                "tokens stored": self.lengths,
                "bytes of the tensors": self.measured,
                "bytes by the formula": self.by_formula,
            },
            index=pd.Index([step.number + 1 for step in self.steps], name="step"),
        )

    def recipe(self) -> str:
        """A script that leaves `keys`, `values` and `nbytes` of the last step."""
        if not self.steps:
            return ""
        begin = self.begins[-1]
        ids = self.course.tokens[begin : begin + self.rows(begin)]
        return script(recipe.stored, config=config_of(self.model), tokens=list(ids), layer=self.layer)


@cached()
def fresh_matrices(model: ModelState, ids: tuple[int, ...], layer: int) -> tuple[Tensor, Tensor]:
    """Keys and values of one pass over these tokens, (token, d_model) each."""
    cache = KeyValueCache(model.config)
    with torch.no_grad():
        transformer(model.config)(torch.tensor([ids]), cache=cache)
    keys, values = cache.keys(layer)[0], cache.values(layer)[0]
    return keys.transpose(0, 1).flatten(1), values.transpose(0, 1).flatten(1)


def kept(model: ModelState, state: GenerateState) -> Kept:
    """What the link describes."""
    return Kept(model, courses.settings_of(model, state), min(state.layer, model.num_layers) - 1)


def as_numbers(shown: Kept) -> NDArray[np.float32]:
    """All matrices one after the other: of each context its keys, then its values."""
    parts = [matrix.numpy().ravel() for begin in shown.begins for matrix in shown.matrices(begin)]
    return np.concatenate(parts).astype(np.float32) if parts else np.zeros(0, np.float32)
