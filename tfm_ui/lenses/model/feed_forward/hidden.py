"""The hidden units of one feed-forward network of the live model, under each activation."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property

import pandas as pd
import torch
from torch import Tensor

from tfm_core import ACTIVATIONS, Tokens, TransformerConfig, recording
from tfm_core.model.feed_forward import FeedForward
from tfm_ui.lenses.model.feed_forward import recipe
from tfm_ui.lenses.model.machine import config_of, in_script, inputs_of_first, prefix, read_of
from tfm_ui.lenses.model.state import ModelLensState
from tfm_ui.live.cache import cached
from tfm_ui.live.passes import transformer
from tfm_ui.live.script import script
from tfm_ui.pictures.panel import Result
from tfm_ui.state.model_state import ModelState
from tfm_ui.text import formats, token_labels

READ = 64  # tokens: more would be much to keep, with every layer and activation
CALLED = {name: name for name in ACTIVATIONS} | {"relu": "ReLU", "gelu": "GELU", "silu": "SiLU", "swiglu": "SwiGLU"}
NEAR = 0.01  # of the largest unit: below that a unit counts as nearly 0


@cached()
def recorded(model: ModelState, config: TransformerConfig, stack: str) -> Mapping[str, Tensor]:
    """What each feed-forward network reads and its hidden units, of the first tokens: site -> (token, width).

    If `stack` is the encoder of two stacks, the decoder, which reads it, is left out.
    """
    inputs, mask = inputs_of_first(model, config, READ)
    reads = "normed" if config.norm == "pre" else "residual_before"
    sites = [f"*layers.*.feed_forward.{site}" for site in (reads, "hidden")]
    machine = transformer(config)
    with torch.no_grad(), recording(sites) as trace:
        if model.is_encoder_decoder and stack == "encoder":
            machine.encoder(inputs[0])
        else:
            machine(*inputs, mask=mask)
    return {site.replace(f".{reads}", ".reads"): values[0, :READ].clone() for site, values in trace.items()}


@dataclass(frozen=True)
class Hidden(Result):
    """One feed-forward network.

    Attributes:
        model: the sidebar's model.
        config: its configuration, with its own activation.
        site: the network.
        tokens: the text of its stack.
        units: activation -> (token, d_ff), what the output projection reads.
        pre: activation -> (token, d_ff), what the activation itself reads: with a gate, the gate.
        again: activation -> the hidden units computed from what the network read, by its own modules.
    """

    model: ModelState
    config: TransformerConfig
    site: str
    tokens: Tokens
    units: dict[str, Tensor]
    pre: dict[str, Tensor]
    again: dict[str, Tensor]

    @property
    def activation(self) -> str:
        """The sidebar's activation."""
        return self.config.activation

    @cached_property
    def names(self) -> list[str]:
        """A label per token that is read."""
        return token_labels.labels(self.tokens)[: min(READ, read_of(self.tokens))]

    def zeros(self, name: str) -> float:
        """The share of units that are exactly 0."""
        return float((self.units[name] == 0).double().mean())

    def nearly(self, name: str) -> float:
        """The share of units that are 0, or smaller than NEAR of the largest."""
        units = self.units[name].abs()
        return float((units <= NEAR * units.max()).double().mean())

    def sentence(self) -> str:
        """The share of zeros under each activation."""
        zeros = ", ".join(f"{CALLED[name]} {formats.percent(self.zeros(name))}" for name in self.units)
        nearly = ", ".join(f"{CALLED[name]} {formats.percent(self.nearly(name))}" for name in self.units)
        return (
            f"Hidden units that are exactly 0: {zeros}. At most {formats.percent(NEAR, 1)} of the largest: {nearly}. "
            "The text and all weights that two models share are the same. "
            + self.model.if_random(
                "These weights are random; trained networks with ReLU can be far sparser (Li et al. 2023).",
                f"The model was trained with {CALLED[self.config.activation]} alone: under the others its weights "
                "have never been trained.",
            )
        )

    def laws(self) -> dict[str, bool]:
        """The networks' own modules, applied by hand, give what was recorded; ReLU is 0 where it reads less."""
        worst = max(float((self.again[name] - self.units[name]).abs().max()) for name in self.units)
        below = float((self.pre["relu"] <= 0).double().mean())
        return {
            f"activation(projection(x)) is what was recorded (largest error {formats.tiny(worst)})": worst < 1e-4,
            "ReLU’s share of zeros is the share of numbers at or below 0": abs(below - self.zeros("relu")) < 1e-9,
        }

    def table(self) -> pd.DataFrame:
        """A row per activation."""
        return pd.DataFrame(
            {
                "exactly 0": [self.zeros(name) for name in self.units],
                f"at most {formats.percent(NEAR, 1)} of the largest": [self.nearly(name) for name in self.units],
                "negative": [float((units < 0).double().mean()) for units in self.units.values()],
                "least": [float(units.min()) for units in self.units.values()],
                "most": [float(units.max()) for units in self.units.values()],
            },
            index=pd.Index(list(self.units), name="activation"),
        )

    def recipe(self) -> str:
        """A script that leaves `hidden`, activation -> (token, d_ff)."""
        return script(recipe.hidden_units, **in_script(self.model, self.config), site=self.site, read=len(self.names))


def network(config: TransformerConfig, site: str) -> FeedForward:
    """The module at this site of the live model."""
    model = transformer(config)
    root = model if config.architecture == "encoder-decoder" else model.stack
    module = root.get_submodule(site)
    assert isinstance(module, FeedForward)
    return module


def hidden(model: ModelState, state: ModelLensState) -> Hidden:
    """The hidden units of the chosen stack and layer."""
    config = config_of(model, state)
    stack = state.stack if model.is_encoder_decoder else model.architecture
    site = f"{prefix(model, stack)}layers.{min(state.layer, model.num_layers) - 1}.feed_forward"
    tokens = model.target_tokens if model.is_encoder_decoder and stack == "decoder" else model.source_tokens
    read = min(READ, read_of(tokens))
    asked = stack if model.is_heavy else ""  # of a small model, both stacks: another choice runs nothing again
    units, pre, again = {}, {}, {}
    for name, activation in ACTIVATIONS.items():
        other = replace(config, activation=name)
        trace, module = recorded(model, other, asked), network(other, site)
        x = trace[f"{site}.reads"][:read]
        with torch.no_grad():
            plain = module.input_projection(x)
            gate = plain if module.gate_projection is None else module.gate_projection(x)
            factor = 1.0 if module.gate_projection is None else plain
            again[name] = activation.function(gate) * factor
        units[name], pre[name] = trace[f"{site}.hidden"][:read], gate
    return Hidden(model, config, site, tokens, units, pre, again)
