"""A, the model's text, and B, what it is compared with: another text, other weights, or a short memory."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from tfm_core import TransformerConfig
from tfm_core.language.bpe import as_bytes
from tfm_core.model.trained import RANDOM
from tfm_ui.lenses.generate.state import AGAINST, GenerateState, not_a_decoder
from tfm_ui.lenses.generate.surprise.scored import Scored, most_scored, scored
from tfm_ui.state.model_state import ModelState
from tfm_ui.text.token_labels import named

OTHER_TEXT, RANDOM_WEIGHTS, SHORT_MEMORY = AGAINST
FIRST = 1  # the place of the first token that is scored, from 0: nothing stands before the one at 0


@dataclass(frozen=True)
class Side:
    """A text under a model.

    Attributes:
        name: "A" or "B".
        label: what is special about it, in a few words.
        model: the sidebar's model, whose tokenizer cuts the text.
        config: of the weights.
        pieces: the tokens of the text.
        ids: their ids.
        dropped: how many tokens of the text beyond these are not scored.
        memory: how many tokens before it are read of each token; 0 for as many as the context holds.
    """

    name: str
    label: str
    model: ModelState
    config: TransformerConfig
    pieces: tuple[str, ...]
    ids: tuple[int, ...]
    dropped: int
    memory: int = 0

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
        return float(self.scored.bits.mean())

    @property
    def bits_per_byte(self) -> float:
        """All bits over the bytes of the tokens that are scored."""
        return float(self.scored.bits.sum()) / bytes_of(self.model, self.pieces[FIRST:])


def bytes_of(model: ModelState, pieces: Sequence[str]) -> int:
    """How many bytes of UTF-8 these tokens stand for."""
    if model.is_lab_gpt:
        return sum(len(as_bytes(piece)) for piece in pieces)
    if model.trained:
        return len(model.tokens_by.join(pieces).encode("utf-8", "surrogatepass"))
    return len(pieces)  # tokens by byte


def why_not_score(model: ModelState) -> str:
    """Why this model gives the tokens of a text no probabilities, in a sentence; "" if it does."""
    if model.architecture != "decoder":
        return (
            f"Each token is rated by a decoder from those before it. {not_a_decoder(model)} Choose Lab GPT as "
            "weights, or the architecture “decoder”."
        )
    if not model.tokens_by.pieces:
        return (
            f"By {model.tokenizer}, several words share an id, so its probability is no single word’s. Choose Lab GPT "
            "as weights, or tokens by byte."
        )
    return ""


def why_no_other(model: ModelState, state: GenerateState) -> str:
    """Why there is no B beside A, in a sentence; "" if there is one."""
    if state.against != OTHER_TEXT:
        return ""
    if not state.other.strip():
        return "Type another text into “Text B”, or choose what else stands beside: then A and B are side by side."
    if not model.reads(state.other):
        return f"These weights know the tokens of “{model.weights}” alone, so the other text cannot be read."
    return ""


def side_a(model: ModelState, state: GenerateState) -> Side:
    """The sidebar's text under the sidebar's model."""
    return _side("A", "", model, model.config, _pieces(model), _most(model, state))


def side_b(model: ModelState, state: GenerateState) -> Side | None:
    """What A is compared with; None if there is no other text."""
    if why_no_other(model, state):
        return None
    most, pieces = _most(model, state), _pieces(model)
    if state.against == OTHER_TEXT:
        return _side("B", "the other text", model, model.config, model.tokens_by.split(state.other), most)
    if state.against == SHORT_MEMORY:
        few = "the last token" if state.memory == 1 else f"the last {state.memory} tokens"
        return _side("B", f"from {few} alone", model, model.config, pieces, most, state.memory)
    seed = model.config.seed + model.is_random  # random weights are compared with those of another seed
    config = replace(model.config, weights=RANDOM, seed=seed)
    return _side("B", f"random weights, seed {seed}", model, config, pieces, most)


def _most(model: ModelState, state: GenerateState) -> int:
    """How many tokens of a text are scored at most: the same number of both."""
    most = most_scored(model.config, model.most_tokens)
    if state.against == SHORT_MEMORY:
        most = min(most, most_scored(model.config, model.most_tokens, state.memory))
    return most


def _pieces(model: ModelState) -> Sequence[str]:
    """The tokens of the sidebar's text: all, where the model's length follows the text; else those that it reads."""
    if model.trained or (model.seq_len and model.read_text):
        return model.source_tokens.pieces
    return model.tokens_by.split(model.read_text)


def _side(
    name: str,
    label: str,
    model: ModelState,
    config: TransformerConfig,
    pieces: Sequence[str],
    most: int,
    memory: int = 0,
) -> Side:
    kept = tuple(pieces[:most])
    ids = tuple(map(model.tokens_by.id_of, kept))
    return Side(name, label, model, config, kept, ids, len(pieces) - len(kept), memory)
