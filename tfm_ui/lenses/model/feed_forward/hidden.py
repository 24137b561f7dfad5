"""The hidden units of one feed-forward network of the live model: all under each activation, and one of them alone."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

import pandas as pd
import torch
from streamlit.column_config import NumberColumn
from torch import Tensor

from tfm_core import ACTIVATIONS, FeedForward, Transformer, TransformerConfig, recording
from tfm_ui.lenses.model.machine import SubLayerPanel, in_script, inputs_of_first, modules_of
from tfm_ui.live.cache import cached
from tfm_ui.live.passes import and_scores, transformer
from tfm_ui.live.script import script
from tfm_ui.live.tables import SIDE
from tfm_ui.live.tensors.step import Step
from tfm_ui.live.windows import part_of
from tfm_ui.pictures import maps
from tfm_ui.pictures.canvas import Content
from tfm_ui.pictures.map_scale import around_zero
from tfm_ui.pictures.maps import MAPS, Axis, Map
from tfm_ui.pictures.panel import OpenTable
from tfm_ui.state.model_state import ModelState
from tfm_ui.text import formats, token_labels
from tfm_ui.text.activation_names import CALLED
from tfm_ui.text.ties import one_of_ties, places_of_largest

READ = 64  # tokens: more would be much to keep, with every layer and activation
MOST = 24  # tokens in the picture of one unit: their names and numbers stay readable
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
            machine.states(*inputs, mask=mask)
    return {site.replace(f".{reads}", ".reads"): values[0, :READ].clone() for site, values in trace.items()}


def hidden_units(
    *, config: TransformerConfig, inputs: Sequence[Tensor], mask: Tensor | None, site: str, read: int
) -> Mapping[str, Tensor]:
    """Activation -> the hidden units of one feed-forward network, (token, d_ff), in the model with that activation."""
    hidden = {}
    for name in ACTIVATIONS:
        model = Transformer(replace(config, activation=name)).eval()
        with torch.no_grad(), recording(f"{site}.hidden") as trace:
            model(*inputs, mask=mask)
        hidden[name] = trace[f"{site}.hidden"][0, :read]
    return hidden


def written_by(model: Transformer, site: str, unit: int, ids: Sequence[int]) -> tuple[Tensor, Tensor]:
    """What a hidden unit writes when it is 1, (d_model); and its cosine with the embeddings of tokens, (token)."""
    modules = modules_of(model)
    writes = modules.get_parameter(f"{site}.output_projection.weight").detach()[:, unit]
    embedding = modules.get_parameter(site.rpartition("layers.")[0] + "embedding.weight").detach()
    return writes, torch.cosine_similarity(embedding[list(ids)], writes, dim=-1)


def single_unit(
    *,
    config: TransformerConfig,
    inputs: Sequence[Tensor],
    mask: Tensor | None,
    site: str,
    read: int,
    unit: int,
    ids: Sequence[int],
) -> tuple[Tensor, Tensor, Tensor]:
    """How far one hidden unit fires at each token, (token); what it writes; its cosine with the tokens' embeddings."""
    model = Transformer(config).eval()
    with torch.no_grad(), recording(f"{site}.hidden") as trace:
        model(*inputs, mask=mask)
    fires = trace[f"{site}.hidden"][0, :read, unit]
    writes, towards = written_by(model, site, unit, ids)
    return fires, writes, towards


class FeedForwardPanel(SubLayerPanel):
    """A panel on the feed-forward network of the chosen stack and layer, at the first tokens."""

    sub_layer = "feed_forward"
    needs = and_scores(2)

    @cached_property
    def names(self) -> list[str]:
        """A label per token of the first ones, without padding."""
        return token_labels.labels(self.tokens)[: min(READ, self.read)]

    def network(self, activation: str) -> FeedForward:
        """The network in the live model with this activation."""
        module = modules_of(transformer(replace(self.config, activation=activation))).get_submodule(self.site)
        assert isinstance(module, FeedForward)
        return module

    @property
    def tensors(self) -> Step:
        return self.taken("feed-forward network")

    def _recorded(self, activation: str, what: str) -> Tensor:
        stack = self.stack if self.model.is_heavy else ""  # of a small model, both: another choice runs nothing again
        trace = recorded(self.model, replace(self.config, activation=activation), stack)
        return trace[f"{self.site}.{what}"][: len(self.names)]

    def units_under(self, activation: str) -> Tensor:
        """The hidden units, (token, d_ff), under this activation: what the output projection reads."""
        return self._recorded(activation, "hidden")

    def read_under(self, activation: str) -> Tensor:
        """What the activation itself reads, (token, d_ff): with a gate, the gate."""
        network = self.network(activation)
        projection = network.input_projection if network.gate_projection is None else network.gate_projection
        with torch.no_grad():
            read: Tensor = projection(self._recorded(activation, "reads"))
        return read


class Hidden(FeedForwardPanel):
    """The hidden units under each activation."""

    sources = (FeedForward.forward, recorded)
    canvas = MAPS

    @cached_property
    def units(self) -> dict[str, Tensor]:
        """Activation -> the hidden units."""
        return {name: self.units_under(name) for name in ACTIVATIONS}

    @property
    def title(self) -> str:
        return f"Hidden units under each, {self.where}"

    @property
    def how_to_read(self) -> str:
        cut = f" The first {READ} tokens." if self.read > READ else ""
        return (
            "What the output projection reads, on one scale. Each map is a model that differs in its activation alone; "
            f"SwiGLU has a gate beside.{cut}"
        )

    @property
    def shape(self) -> str:
        return f"token × d_ff = {len(self.names)} × {formats.count(self.config.feed_forward_dim)}"

    @property
    def open_table(self) -> OpenTable:
        numbers = {"least": NumberColumn(format="%.3f"), "most": NumberColumn(format="%.3f")}
        columns: dict[str, Any] = {name: NumberColumn(format="percent") for name in self.table().columns}
        return OpenTable(columns | numbers, not_on_phones=("negative", "least", "most"))

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

    def _again(self, name: str) -> Tensor:
        """The hidden units computed from what the network read, by its own modules."""
        network = self.network(name)
        with torch.no_grad():
            gated = network.gate_projection is not None
            factor = network.input_projection(self._recorded(name, "reads")) if gated else 1.0
        return ACTIVATIONS[name].function(self.read_under(name)) * factor

    def laws(self) -> dict[str, bool]:
        """The networks' own modules, applied by hand, give what was recorded; ReLU is 0 where it reads less."""
        worst = max(float((self._again(name) - units).abs().max()) for name, units in self.units.items())
        below = float((self.read_under("relu") <= 0).double().mean())
        return {
            f"activation(projection(x)) is what was recorded (largest error {formats.tiny(worst)})": worst
            < 1e-4 * max(1.0, *(float(units.abs().max()) for units in self.units.values())),
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

    def picture(self) -> Content:
        """A map of hidden units for each activation, on one scale."""
        rows, width = next(iter(self.units.values())).shape
        part = part_of(self.state.hidden_part, rows, width, SIDE // 2)
        return self.maps(self.units, part, "hidden_part", ("hidden unit", "unit"))

    def recipe(self) -> str:
        """A script that leaves `hidden`, activation -> (token, d_ff)."""
        return script(hidden_units, **in_script(self.model, self.config), site=self.site, read=len(self.names))


class OneUnit(FeedForwardPanel):
    """A single hidden unit: which tokens make it fire, and what it writes towards."""

    sources = (FeedForward.forward, single_unit)
    canvas = MAPS

    @cached_property
    def names(self) -> list[str]:
        """A label per token in the picture."""
        return token_labels.labels(self.tokens)[: min(MOST, self.read)]

    @cached_property
    def units(self) -> Tensor:
        """All hidden units of the live model, (token, d_ff)."""
        return self.units_under(self.config.activation)

    @property
    def unit(self) -> int:
        """Which unit, from 0."""
        return min(self.state.unit, self.units.shape[-1]) - 1

    @property
    def fires(self) -> Tensor:
        """The unit at each token, (token)."""
        return self.units[:, self.unit]

    @property
    def ids(self) -> list[int]:
        """The tokens."""
        return list(self.tokens.ids[: len(self.names)])

    @cached_property
    def _written(self) -> tuple[Tensor, Tensor]:
        return written_by(transformer(self.config), self.site, self.unit, self.ids)

    @property
    def writes(self) -> Tensor:
        """What it adds to the residual stream when it is 1, (d_model): its column of the output projection."""
        return self._written[0]

    @property
    def towards(self) -> Tensor:
        """The cosine of `writes` with each token's embedding, (token)."""
        return self._written[1]

    @property
    def title(self) -> str:
        return f"Hidden unit {self.unit + 1}, {self.where}, {self.config.activation}"

    @property
    def how_to_read(self) -> str:
        cut = f" The first {MOST} tokens." if self.read > MOST else ""
        return (
            "Fires: its value at each token. Writes towards: the cosine of the vector that it writes with each "
            f"token’s embedding. Choose the unit above.{cut}"
        )

    def _named(self, values: Tensor) -> str:
        places = places_of_largest(values.numpy())
        return f"“{self.names[places[0]]}”{one_of_ties(len(places), 'tokens')}"

    def sentence(self) -> str:
        """The token at which it is largest, and the embedding that it points to most."""
        most, length = float(self.fires.max()), formats.number(float(self.writes.norm()))
        firing, tokens = int((self.fires > 0).sum()), formats.plural(len(self.fires), "token")
        if not self.fires.any():
            return (
                f"Unit {self.unit + 1} is 0 at all of {tokens}: it fires at none of them and writes nothing. Choose "
                "another unit."
            )
        return (
            f"Unit {self.unit + 1} is above 0 at {firing} of {tokens}, largest at "
            f"{self._named(self.fires)}: {formats.number(most)}. Whatever makes it fire, it adds the same vector, of "
            f"length {length}, times its value. Among the tokens of the text, that vector points most towards the "
            f"embedding of {self._named(self.towards)}: cosine {formats.number(float(self.towards.max()))}. "
            + self.model.if_random(
                "The weights are random, so neither means anything; in a trained model both may.",
                "These weights are trained, so both may mean something; a single text does not show it.",
            )
        )

    def laws(self) -> dict[str, bool]:
        """The units' vectors, each times its value, add up to what the network writes."""
        module = self.network(self.config.activation)
        without = self.units.clone()
        without[:, self.unit] = 0
        with torch.no_grad():
            whole, rest = module.output_projection(self.units), module.output_projection(without)
        added = self.fires[:, None] * self.writes
        off = float((whole - rest - added).abs().max())
        law = f"without the unit, the network’s output lacks its value × its vector (largest error {formats.tiny(off)})"
        return {law: off < 1e-4 * max(1.0, float(whole.abs().max()))}

    def table(self) -> pd.DataFrame:
        """A row per token."""
        return pd.DataFrame(
            {"activation": self.fires.numpy(), "cosine with the embedding": self.towards.numpy()},
            index=pd.Index(self.names, name="token"),
        )

    def picture(self) -> Content:
        """A row of numbers over the tokens: how far the unit fires, and what it writes towards."""
        top = float(self.fires.abs().max())
        towards = "writes towards the embedding of"
        return maps.content(
            [
                Map(name="fires", values=self.fires[None].numpy(), scale=around_zero(top), unit="activation"),
                Map(name=towards, values=self.towards[None].numpy(), scale=around_zero(1.0), unit="cosine"),
            ],
            rows=Axis([f"unit {self.unit + 1}"], "hidden unit", "unit"),
            columns=Axis(self.names, "token", "token"),
            square=False,
        )

    def recipe(self) -> str:
        """A script that leaves `fires`, `writes` and `towards`."""
        return script(
            single_unit,
            **in_script(self.model, self.config),
            site=self.site,
            read=len(self.names),
            unit=self.unit,
            ids=self.ids,
        )
