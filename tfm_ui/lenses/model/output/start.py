"""The loss before training, by the standard deviation with which embeddings are drawn, tied and untied.

Where embeddings are multiplied by √d_model and also give the logits, a standard deviation of 1 makes the logit of the
token just read about d_model: the loss begins near d_model, and guessing evenly costs ln V alone.
"""

import math
from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property

import numpy as np
import pandas as pd
import torch
import torch.nn.functional as F
from torch import Tensor

from tfm_core import Transformer, TransformerConfig
from tfm_core.model.initialization import draw
from tfm_ui.lenses.model.machine import in_script, inputs_of
from tfm_ui.lenses.model.output.last_modules import needs_of_both
from tfm_ui.lenses.model.output.outcome import OutputPanel
from tfm_ui.lenses.model.shapes import SHAPES
from tfm_ui.lenses.model.state import SPREADS, START_SIZES, ModelLensState
from tfm_ui.live import passes
from tfm_ui.live.cache import cached
from tfm_ui.live.script import Code, script
from tfm_ui.pictures import lines
from tfm_ui.pictures.canvas import Content
from tfm_ui.pictures.chart import CHART
from tfm_ui.pictures.lines import Chart, Line
from tfm_ui.state.model_state import ModelState
from tfm_ui.state.pass_cost import NUMBER
from tfm_ui.text import formats

FEW_SPREADS = (0.005, 0.02, 0.2, 1, 2)  # of a large model, so that it takes a second or two
READ = 33  # token ids that are read at most, so that no long text takes minutes: 32 next tokens
DRAWS, FEW_DRAWS = 5, 3


def first_losses(
    *,
    config: TransformerConfig,
    inputs: Sequence[Tensor],
    mask: Tensor | None,
    spreads: Sequence[float],
    read: int,
    most: int,
) -> list[float]:
    """The loss of an untrained model on the first tokens of a text, nats, by its embeddings' standard deviation.

    Embeddings as they are drawn have a standard deviation of 1 / √d_model: they are multiplied by what is missing. The
    matrix of an untied output stays as it is.
    """
    inputs = [ids[:, :most] for ids in inputs]
    mask = None if mask is None else mask[:most, :most]
    model, ids = Transformer(config).eval(), inputs[-1]
    tables = {
        name: parameter
        for name, parameter in model.named_parameters()  # a table that is also the output's comes once
        if name.endswith("embedding.weight") and not name.startswith("unembedding")
    }
    losses = []
    for spread in spreads:
        scaled = {name: table * (spread * config.d_model**0.5) for name, table in tables.items()}
        with torch.no_grad():
            # A name that is handed over replaces all parameters that are tied to it.
            logits = torch.func.functional_call(model, scaled, tuple(inputs), {"mask": mask})
        losses.append(float(F.cross_entropy(logits[0, : read - 1], ids[0, 1:read])))
    return losses


@cached()
def _losses(model: ModelState, config: TransformerConfig, spreads: tuple[float, ...], drawn: bool) -> list[float]:
    inputs, mask, read = _texts(model, config, drawn)
    if read < 2:
        return []
    return first_losses(config=config, inputs=inputs, mask=mask, spreads=spreads, read=read, most=READ)


def _texts(model: ModelState, config: TransformerConfig, drawn: bool) -> tuple[tuple[Tensor, ...], Tensor | None, int]:
    """The texts, their mask, and how many tokens count, of the sidebar's text or of token ids that are drawn."""
    if drawn:
        return (ids_drawn(config.vocab_size, config.seed),), None, READ
    text = model.target_tokens if model.is_encoder_decoder else model.source_tokens
    return (*inputs_of(model), min(READ, len(text.pieces)))


def ids_drawn(vocab_size: int, seed: int) -> Tensor:
    """Token ids drawn evenly from the vocabulary, int64 (1, `READ`)."""
    shares = draw(seed, "token ids of the first loss", (1, READ), 1 / 12**0.5) + 0.5  # uniform in 0 to 1
    return (shares.clamp(0, 1) * vocab_size).long().clamp(0, vocab_size - 1)


def needs_of_start(model: ModelState, state: ModelLensState) -> int:
    """A pass; and of the larger size its weights, an output of its own, a scaled table, and logits."""
    if state.start_size == START_SIZES[0]:
        return needs_of_both(model, state) + NUMBER * model.config.vocab_size * model.config.d_model
    config = SHAPES["small GPT"].config
    return passes.needs(model) + NUMBER * config.vocab_size * (4 * config.d_model + 4 * READ)


class OutputStart(OutputPanel):
    """The loss before training."""

    title = "The loss before training"
    sources = (first_losses, Transformer._tie)
    canvas = CHART
    slow = True
    needs = needs_of_start

    @property
    def is_shown(self) -> bool:
        """Weights that were trained do not begin any more."""
        return self.model.is_random

    @property
    def is_drawn(self) -> bool:
        """Whether another size than the sidebar's is looked at, on token ids that are drawn."""
        return self.state.start_size != START_SIZES[0]

    @property
    def is_large(self) -> bool:
        """Whether each loss takes so long that fewer are measured."""
        return self.is_drawn or self.model.is_heavy

    @cached_property
    def of_start(self) -> TransformerConfig:
        """What is run, tied."""
        if self.is_drawn:
            return replace(SHAPES["small GPT"].config, seed=self.model.seed)
        return replace(self.config, tie_embeddings=True)

    @property
    def usual(self) -> float:
        """The standard deviation with which this library draws embeddings."""
        return 1 / math.sqrt(self.of_start.d_model)

    @cached_property
    def spreads(self) -> tuple[float, ...]:
        """The standard deviations of the chart."""
        return tuple(sorted({*(FEW_SPREADS if self.is_large else SPREADS), self.usual, self.state.spread}))

    @cached_property
    def by_spread(self) -> dict[str, list[float]]:
        """ "tied" and "untied" -> the loss at each standard deviation; empty where the text has no next token."""
        sides = {name: replace(self.of_start, tie_embeddings=name == "tied") for name in ("tied", "untied")}
        return {name: _losses(self.model, config, self.spreads, self.is_drawn) for name, config in sides.items()}

    @property
    def count(self) -> int:
        """How many models are drawn."""
        return FEW_DRAWS if self.is_large else DRAWS

    @cached_property
    def draws(self) -> list[float]:
        """The loss at the chosen standard deviation, tied, of models drawn from this seed and the next ones."""
        seeds = range(self.model.seed, self.model.seed + self.count)
        configs = [replace(self.of_start, seed=seed) for seed in seeds]
        return [loss for config in configs for loss in _losses(self.model, config, (self.state.spread,), self.is_drawn)]

    @property
    def evenly(self) -> float:
        """The loss of guessing evenly."""
        return float(np.log(self.of_start.vocab_size))

    def at(self, spread: float, side: str = "tied") -> float:
        """The loss at a standard deviation of the chart; 0 where the text has no next token."""
        losses = self.by_spread[side]
        return losses[self.spreads.index(spread)] if losses else 0.0

    @property
    def how_to_read(self) -> str:
        text = self.model.target_tokens if self.model.is_encoder_decoder else self.model.source_tokens
        part = f"the first {READ} tokens of " if len(text.pieces) > READ else ""
        read = f"{READ} token ids drawn at random" if self.is_drawn else f"{part}the text in the sidebar"
        return (
            "The mean of −ln p of each next token, before any training, by the standard deviation of the embeddings; "
            f"both axes are logarithmic. Read: {read}. Tied, the embeddings are also the output’s matrix. Choose the "
            "standard deviation and the size in “More”."
        )

    @property
    def shape(self) -> str:
        config = self.of_start
        return f"d_model {config.d_model}, {formats.count(config.vocab_size)} token ids"

    def sentence(self) -> str:
        """The loss at the chosen standard deviation beside ln V, and as this library draws."""
        if not self.by_spread["tied"]:
            return "The text has no next token, so there is no loss: write a longer one."
        low, high = min(self.draws), max(self.draws)
        chosen, evenly = self.at(self.state.spread), formats.number(self.evenly)
        return (
            f"Drawn with a standard deviation of {self.state.spread:g}, tied embeddings begin at a loss of "
            f"{chosen:.1f}; guessing evenly among {formats.count(self.of_start.vocab_size)} token ids costs {evenly}. "
            f"Over {self.count} seeds it is {low:.1f} to {high:.1f}. Untied it is "
            f"{self.at(self.state.spread, 'untied'):.1f}, and drawn with {self.usual:.3g}, as this library does, "
            f"{self.at(self.usual):.1f} tied. d_model is {self.of_start.d_model}: the last vector and the row of the "
            "token just read are about √d_model long each, where the standard deviation is 1."
        )

    def table(self) -> pd.DataFrame:
        """A row per standard deviation."""
        columns = {f"loss, {name}": losses for name, losses in self.by_spread.items() if losses}
        columns["guessing evenly"] = [self.evenly] * len(self.spreads)
        return pd.DataFrame(columns, index=pd.Index(self.spreads, name="standard deviation"))

    def picture(self) -> Content:
        """Both lines, and what guessing evenly costs."""
        drawn = [
            Line(name, self.spreads, losses, colour)
            for (name, losses), colour in zip(self.by_spread.items(), ("result", "key"), strict=True)
            if losses
        ]
        even = Line("guessing evenly", self.spreads, [self.evenly] * len(self.spreads), "muted", "dashed")
        marks = {f"{self.state.spread:g}": self.state.spread}
        chart = Chart("standard deviation", "loss", [*drawn, even], x_scale="log10", y_scale="log10", marks=marks)
        return lines.content([chart])

    def recipe(self) -> str:
        """A script that leaves `losses`, of the tied model."""
        if not self.by_spread["tied"]:
            return ""
        inputs, _, read = _texts(self.model, self.of_start, self.is_drawn)
        arguments = in_script(self.model, self.of_start)
        if self.is_drawn:
            arguments |= {"inputs": Code(f"(torch.tensor({inputs[0].tolist()}),)"), "mask": Code("None")}
        return script(first_losses, **arguments, spreads=self.spreads, read=read, most=READ)
