"""What leaves the model: the vectors after the last layer, after the final norm, and the logits; tied or untied."""

from dataclasses import dataclass, replace
from functools import cached_property

import torch
from torch import Tensor

from tfm_core import Tokens, Transformer, TransformerConfig
from tfm_ui.lenses.model.machine import config_of, prefix, read, read_of
from tfm_ui.lenses.model.state import ModelLensState
from tfm_ui.live.learned import UNKNOWN, in_words, right_answers
from tfm_ui.live.passes import transformer
from tfm_ui.state.model_state import ModelState
from tfm_ui.text import formats, token_labels


@dataclass(frozen=True)
class Outcome:
    """The end of one pass. Positions that hold padding are left out.

    Attributes:
        model: the sidebar's.
        config: what was run.
        before: the residual stream after the last layer, (position, d_model).
        after: what the logits are made of: after the final norm; in post-norm, which has none, the same as `before`.
        logits: (position, vocab).
    """

    model: ModelState
    config: TransformerConfig
    before: Tensor
    after: Tensor
    logits: Tensor

    @property
    def tokens(self) -> Tokens:
        """The text whose positions are read out: in an encoder-decoder the target's."""
        return text_of(self.model)

    @cached_property
    def names(self) -> list[str]:
        """A label per position."""
        return token_labels.labels(self.tokens)[: len(self.logits)]

    @property
    def ids(self) -> Tensor:
        """The ids that stand at the positions, int64 (position)."""
        return torch.tensor(self.tokens.ids[: len(self.logits)])

    @property
    def vocab(self) -> int:
        """How many tokens there are to choose from."""
        return self.config.vocab_size

    @property
    def machine(self) -> Transformer:
        """The real modules that were run."""
        return transformer(self.config)

    def right_at(self, position: int) -> str:
        """What is right at a position, or what comes next in the text, and which probability that has."""
        if self.model.is_lab_gpt:
            return self._next_at(position)
        answers = self.model.right_answers
        if not answers:
            return UNKNOWN
        if not (right := answers[position]):
            return "At this position the task asks for nothing."
        number = self.model.tokens_by.id_of(right)
        share = float(self.logits[position].double().softmax(-1)[number])
        return f"The right answer is “{right}”: at temperature 1 it has {formats.percent(share, 3)}."

    def _next_at(self, position: int) -> str:
        if position + 1 >= len(self.names):
            return "The text ends here, so nobody knows what comes next."
        share = float(self.logits[position].double().softmax(-1)[self.ids[position + 1]])
        comes = f"In the text “{self.names[position + 1]}” comes next"
        return f"{comes}: at temperature 1 it has {formats.percent(share, 3)}."

    def right_in_all(self) -> str:
        """How many answers are right, over the positions where the task asks; or how many next tokens."""
        if self.model.is_lab_gpt:
            right, count = int((self.logits[:-1].argmax(-1) == self.ids[1:]).sum()), len(self.names) - 1
            return (
                f"The next token of the text is the likeliest at {right} of the {count} before the last."
                if count
                else ""
            )
        counted = right_answers(self.model, self.logits)
        return f"Right, where the task asks: {in_words(counted)}." if counted else UNKNOWN


def text_of(model: ModelState) -> Tokens:
    """The text that the stack with the logits reads."""
    return model.target_tokens if model.is_encoder_decoder else model.source_tokens


def tied_config(model: ModelState, state: ModelLensState, *, tied: bool) -> TransformerConfig:
    """The lens's configuration, with one matrix for embeddings and logits, or with a matrix for each."""
    return replace(config_of(model, state), tie_embeddings=tied)


def is_tied(model: ModelState, state: ModelLensState) -> bool:
    """Whether the model on screen is tied: as the lens's control says, but trained weights are as they were trained."""
    return state.tied if model.is_random else model.config.tie_embeddings


def sites(model: ModelState) -> tuple[str, ...]:
    """The sites after the last layer, and after the final norm if there is one."""
    stack = prefix(model, "decoder")
    last = f"{stack}layers.{model.num_layers - 1}.feed_forward.residual_after"
    return (last, f"{stack}final_norm") if model.norm == "pre" else (last,)


def outcome(model: ModelState, state: ModelLensState, *, tied: bool | None = None) -> Outcome:
    """The end of a pass, with embeddings tied or not; by default as the lens's control says."""
    config = tied_config(model, state, tied=is_tied(model, state) if tied is None else tied)
    trace, positions = read(model, config, (*sites(model), "logits")), read_of(text_of(model))
    vectors = [trace[site][0, :positions] for site in sites(model)]
    return Outcome(model, config, vectors[0], vectors[-1], trace["logits"][0, :positions])


def probabilities(logits: Tensor, temperature: float) -> Tensor:
    """softmax(logits / temperature) over the vocabulary, in float64."""
    return (logits.double() / temperature).softmax(-1)


def ranks_of(logits: Tensor, ids: Tensor) -> Tensor:
    """The rank of a token at each position, 1 for the largest logit: (position, vocab), (position) -> (position)."""
    larger: Tensor = (logits > logits.gather(-1, ids[:, None])).sum(-1)
    return larger + 1
