"""What leaves the model: the vectors after the last layer, after the final norm, and the logits; and panels on them."""

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property

import torch
from torch import Tensor

from tfm_core import Transformer, TransformerConfig, recording
from tfm_core.model.transformer import Stack
from tfm_ui.lenses.model import machine
from tfm_ui.lenses.model.machine import LayerPanel, config_of, prefix
from tfm_ui.live.learned import UNKNOWN, in_words, right_answers
from tfm_ui.live.passes import transformer
from tfm_ui.live.tensors.layers import of_output
from tfm_ui.live.tensors.step import Step
from tfm_ui.state.model_state import ModelState
from tfm_ui.text import formats, token_labels


def run(
    config: TransformerConfig, inputs: Sequence[Tensor], mask: Tensor | None, sites: Sequence[str]
) -> tuple[list[Tensor], Transformer]:
    """What a pass records at these sites, without the batch axis; and the model."""
    model = Transformer(config).eval()
    with torch.no_grad(), recording(sites) as trace:
        model(*inputs, mask=mask)
    return [trace[site][0] for site in sites], model


def probabilities(logits: Tensor, temperature: float) -> Tensor:
    """softmax(logits / temperature) over the vocabulary, in float64."""
    return (logits.double() / temperature).softmax(-1)


def ranks_of(logits: Tensor, ids: Tensor) -> Tensor:
    """The rank of a token at each position, 1 for the largest logit: (position, vocab), (position) -> (position)."""
    # Torch writes what it adds up as the type of the sum: int32 is as large as the logits, and fits where they were.
    larger: Tensor = (logits > logits.gather(-1, ids[:, None])).sum(-1, dtype=torch.int32)
    return larger.long() + 1


def ends_of(model: ModelState, config: TransformerConfig) -> tuple[str, ...]:
    """The sites after the last layer, after the final norm if there is one, and of the logits: read in one pass."""
    stack = prefix(model, "decoder")
    last = f"{stack}layers.{model.num_layers - 1}.feed_forward.residual_after"
    return (last, *([f"{stack}final_norm"] if config.norm == "pre" else []), "logits")


class OutputPanel(LayerPanel):
    """A panel on the end of one pass. Positions that hold padding are left out."""

    stack = "decoder"  # of two stacks the one with the logits

    @property
    def tied(self) -> bool:
        """Whether one matrix is the embedding and gives the logits: as the control says, but as trained if trained."""
        return self.state.tied if self.model.is_random else self.model.config.tie_embeddings

    @cached_property
    def config(self) -> TransformerConfig:
        """What is run."""
        return replace(config_of(self.model, self.state), tie_embeddings=self.tied)

    @property
    def modules(self) -> Transformer:
        """The real modules that are run."""
        return transformer(self.config)

    @property
    def last_stack(self) -> Stack:
        """The stack with the logits."""
        return self.modules.decoder if self.model.is_encoder_decoder else self.modules.stack

    @property
    def sites(self) -> tuple[str, ...]:
        """The sites after the last layer, and after the final norm if there is one."""
        return ends_of(self.model, self.config)[:-1]

    @cached_property
    def vectors(self) -> list[Tensor]:
        """The vectors after the last layer and, if there is a final norm, after it, (position, d_model)."""
        trace = machine.read(self.model, self.config, (*self.sites, "logits"))
        return [trace[site][0, : self.read] for site in self.sites]

    @cached_property
    def logits(self) -> Tensor:
        """What all of it ends in, (position, vocab)."""
        return machine.read(self.model, self.config, (*self.sites, "logits"))["logits"][0, : self.read]

    @property
    def tensors(self) -> Step:
        return of_output(self.modules, self.vectors, self.logits, "The end of the model", self.state.temperature)

    @property
    def largest(self) -> float:
        """The largest logit, without its sign."""
        return float(self.logits.abs().max())

    @cached_property
    def names(self) -> list[str]:
        """A label per position."""
        return token_labels.labels(self.tokens)[: self.read]

    @property
    def ids(self) -> Tensor:
        """The ids that stand at the positions, int64 (position)."""
        return torch.tensor(self.tokens.ids[: self.read])

    @cached_property
    def ranks(self) -> Tensor:
        """The rank, at each position, of the token that stands there itself, from 1, (position)."""
        return ranks_of(self.logits, self.ids)

    @property
    def first(self) -> int:
        """The number of positions at which the token itself is the likeliest."""
        return int((self.ranks == 1).sum())

    @property
    def vocab(self) -> int:
        """How many tokens there are to choose from."""
        return self.config.vocab_size

    @property
    def marks(self) -> dict[str, float]:
        """The chosen position, as a mark in charts over the positions."""
        return {f"“{self.names[self.token]}”": float(self.token + 1)}

    def right_at(self, position: int) -> str:
        """What is right at a position, or what comes next in the text, and which probability that has."""
        if self.model.pretrained and not self.model.looks_back_only:
            share = float(probabilities(self.logits[position], 1.0)[self.tokens.ids[position]])
            return f"An encoder says what stands here: “{self.names[position]}” has {formats.percent(share, 3)}."
        if self.model.pretrained:
            if position + 1 >= len(self.names):
                return "The text ends here, so nobody knows what comes next."
            right, token = f"In the text “{self.names[position + 1]}” comes next", self.tokens.ids[position + 1]
        elif not (answers := self.model.right_answers):
            return UNKNOWN
        elif not (answer := answers[position]):
            return "At this position the task asks for nothing."
        else:
            right, token = f"The right answer is “{answer}”", self.model.tokens_by.id_of(answer)
        share = float(probabilities(self.logits[position], 1.0)[token])
        return f"{right}: at temperature 1 it has {formats.percent(share, 3)}."

    def right_in_all(self) -> str:
        """How many answers are right, over the positions where the task asks; or how many next tokens."""
        if self.model.pretrained and not self.model.looks_back_only:
            return "An encoder sees each of these tokens, so none of this is a guess; hide one to make it guess."
        if self.model.pretrained:
            right, count = int((self.logits[:-1].argmax(-1) == self.ids[1:]).sum()), len(self.names) - 1
            return (
                f"The next token of the text is the likeliest at {right} of the {count} before the last."
                if count
                else ""
            )
        counted = right_answers(self.model, self.logits)
        return f"Right, where the task asks: {in_words(counted)}." if counted else UNKNOWN
