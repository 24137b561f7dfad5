"""A, the model's text, and B, what it is compared with: another text, other weights, or a short memory."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from tfm_core import TransformerConfig
from tfm_core.language.bpe import as_bytes
from tfm_core.model.trained import RANDOM
from tfm_ui.lenses.generate.state import AGAINST, GenerateState, bytes_of_a_token, is_large
from tfm_ui.lenses.generate.surprise.scored import Scored, most_scored, scored
from tfm_ui.state.model_state import ModelState
from tfm_ui.text import units
from tfm_ui.text.token_labels import named

OTHER_TEXT, RANDOM_WEIGHTS, SHORT_MEMORY = AGAINST
FIRST = 1  # the place of the first token that is scored, from 0: nothing stands before the one at 0


@dataclass(frozen=True)
class Side:
    """A text under a model."""

    name: str
    """Either "A" or "B"."""

    label: str
    """What is special about it, in a few words."""

    model: ModelState
    """The sidebar's model, whose tokenizer cuts the text."""

    config: TransformerConfig
    """The configuration of the weights."""

    text: Sequence[str]
    """All tokens of the text."""

    most: int
    """How many of them are scored at most."""

    memory: int = 0
    """How many tokens before it are read of each token; 0 for as many as the context holds."""

    @property
    def pieces(self) -> Sequence[str]:
        """The tokens that are scored."""
        return self.text[: self.most]

    @cached_property
    def ids(self) -> tuple[int, ...]:
        """Their ids."""
        return tuple(map(self.model.tokens_by.id_of, self.pieces))

    @property
    def dropped(self) -> int:
        """How many tokens of the text beyond these are not scored."""
        return len(self.text) - len(self.pieces)

    @cached_property
    def scored(self) -> Scored:
        """The probability of each token but the first. As in all views, no start token is put before the text."""
        return scored(self.config, self.ids, self.model.most_tokens, self.memory)

    @cached_property
    def bits(self) -> NDArray[np.float64]:
        """(token), the surprise; NaN where there is none."""
        bits = np.full(len(self.pieces), np.nan)
        bits[FIRST:] = self.scored.bits.numpy()
        return bits

    @cached_property
    def names(self) -> list[str]:
        """The tokens as sentences call them."""
        return [named(piece) for piece in self.pieces]

    @property
    def bits_per_token(self) -> float:
        """The mean surprise."""
        return self.scored.bits_per_token

    @property
    def bits_per_byte(self) -> float:
        """All bits over the bytes of the tokens that are scored."""
        return self.scored.bits_per_byte(bytes_of(self.model, self.pieces[FIRST:]))


def bytes_of(model: ModelState, pieces: Sequence[str]) -> int:
    """How many bytes of UTF-8 these tokens stand for."""
    if model.pretrained:
        return sum(len(as_bytes(piece)) for piece in pieces)
    if model.trained:
        return len(model.tokens_by.join(pieces).encode("utf-8", "surrogatepass"))
    return len(pieces)  # tokens by byte


def why_no_other(model: ModelState, state: GenerateState) -> str:
    """Why there is no B beside A, in a sentence; "" if there is one."""
    if state.against == RANDOM_WEIGHTS and is_large(model.config):
        size = units.bytes_of(bytes_of_a_token(model.config))
        return f"Random weights of this shape would take {size} of memory: choose what else stands beside."
    if state.against != OTHER_TEXT:
        return ""
    if not state.other.strip():
        return "Type another text into “Text B”, or choose what else stands beside: then A and B are side by side."
    if not model.reads(state.other):
        return f"These weights know the tokens of “{model.weights}” alone, so the other text cannot be read."
    return ""


def sides_of(model: ModelState, state: GenerateState) -> list[Side]:
    """The sidebar's text under the sidebar's model, and what it is compared with, if there is something."""
    most = most_scored(model.config, model.most_tokens)
    if state.against == SHORT_MEMORY:  # the same number of both
        most = min(most, most_scored(model.config, model.most_tokens, state.memory))
    a = Side("A", "", model, model.config, _pieces(model), most)
    if why_no_other(model, state):
        return [a]
    if state.against == OTHER_TEXT:
        return [a, replace(a, name="B", label="the other text", text=model.tokens_by.split(state.other))]
    if state.against == SHORT_MEMORY:
        few = "the last token" if state.memory == 1 else f"the last {state.memory} tokens"
        return [a, replace(a, name="B", label=f"from {few} alone", memory=state.memory)]
    seed = model.config.seed + model.is_random  # random weights are compared with those of another seed
    config = replace(model.config, weights=RANDOM, seed=seed)
    return [a, replace(a, name="B", label=f"random weights, seed {seed}", config=config)]


def _pieces(model: ModelState) -> Sequence[str]:
    """The tokens of the sidebar's text: all, where the model's length follows the text; else those that it reads."""
    if model.trained or (model.seq_len and model.read_text):
        return model.source_tokens.pieces
    return model.tokens_by.split(model.read_text)
