"""The logit lens: what the final norm and the output matrix would say after each layer, if the model ended there."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd
import torch
from numpy.typing import NDArray
from torch import Tensor

from tfm_core import Transformer, TransformerConfig, logit_lens, recording
from tfm_core.study.logit_lens import each_read_out
from tfm_ui.lenses.model.machine import config_of, inputs_of
from tfm_ui.lenses.model.naming import name_of, trained_on
from tfm_ui.lenses.model.output.outcome import OutputPanel, ranks_of
from tfm_ui.lenses.model.state import PREFIX, ModelLensState
from tfm_ui.live import passes
from tfm_ui.live.cache import cached
from tfm_ui.pictures import maps, pairs
from tfm_ui.pictures.canvas import Content
from tfm_ui.pictures.chart import CHART
from tfm_ui.pictures.map_scale import from_zero
from tfm_ui.pictures.maps import MAPS, Axis, Map
from tfm_ui.pictures.panel import Source
from tfm_ui.state.model_state import ModelState
from tfm_ui.state.pass_cost import NUMBER
from tfm_ui.text import formats

TICK = 1_000_000_000  # multiply-adds: a core needs about 0.1 s for them


@dataclass(frozen=True)
class ReadOuts:
    """What is kept of the read-outs after the embedding and each layer, all (place, position), at temperature 1."""

    places: tuple[str, ...]
    """"embedding", "layer 1" and so on."""

    ids: NDArray[np.int64]
    """The likeliest token there."""

    shares: NDArray[np.float32]
    """Its probability there."""

    final_shares: NDArray[np.float32]
    """The probability there of the token that is likeliest after the last layer."""

    final_ranks: NDArray[np.int64]
    """The rank of that token there, from 1."""

    off: float
    """The largest difference between the last read-out and the model's logits."""


def read_out(logits: Tensor, final: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """The likeliest token at each position, its probability, and that of the token that is likeliest in the end."""
    shares = logits.softmax(-1)
    return logits.argmax(-1), shares.amax(-1), shares.gather(-1, final[:, None])[:, 0]


@cached()
def read_outs(model: ModelState, config: TransformerConfig, count: int) -> ReadOuts:
    """Run the logit lens; of its logits, (place, position, vocab), only what is shown of `count` positions is kept.

    They are read out place by place: of a large vocabulary, those of all places would take gigabytes.
    """
    inputs, mask = inputs_of(model)
    with recording("logits") as trace:  # the model's own, of the same pass
        every = each_read_out(passes.transformer(config), *inputs, mask=mask, count=count)
    last = trace["logits"][0, :count]
    final = last.argmax(-1)
    # Made before the tables, among which small ones would keep the memory of a freed table from the next one.
    shape = config.num_layers + 1, len(last)
    ids, ranks = torch.empty(shape, dtype=torch.int64), torch.empty(shape, dtype=torch.int64)
    shares, final_shares = torch.empty(shape), torch.empty(shape)
    places, table = [], last
    for number, (place, logits) in enumerate(every):
        places.append(place)
        table = logits[0]
        ids[number], shares[number], final_shares[number] = read_out(table, final)
        ranks[number] = ranks_of(table, final)
    return ReadOuts(
        places=tuple(places),
        ids=ids.numpy(),
        shares=shares.numpy(),
        final_shares=final_shares.numpy(),
        final_ranks=ranks.numpy(),
        off=float((table - last).abs().max()),
    )


def layer_by_layer(
    *, config: TransformerConfig, inputs: Sequence[Tensor], mask: Tensor | None, read: int
) -> tuple[Mapping[str, Tensor], Mapping[str, Tensor]]:
    """Place -> the likeliest token's id at each position, and the probability of the one that is likeliest at last."""
    every = logit_lens(Transformer(config).eval(), *inputs, mask=mask)
    logits = {place: table[0, :read] for place, table in every.items()}
    final = logits[f"layer {config.num_layers}"].argmax(-1)
    ids = {place: read_out(table, final)[0] for place, table in logits.items()}
    shares = {place: read_out(table, final)[2] for place, table in logits.items()}
    return ids, shares


def needs_of_lens(model: ModelState, state: ModelLensState) -> int:
    """The model's logits; those after one layer with their shares and ranks; and what is read out after each layer."""
    tables = 6
    vectors = (model.num_layers + 2) * model.longest * model.d_model
    return passes.needs(model) + NUMBER * (tables * model.longest * config_of(model, state).vocab_size + vectors)


class OutputLens(OutputPanel):
    """The logit lens at all positions."""

    how_to_read = (
        "The final norm, if there is one, and the output matrix, applied after each layer; temperature 1. "
        "A click on a column opens it beside. The idea: nostalgebraist 2020."
    )
    sources: Sequence[Source] = (logit_lens, read_outs, ranks_of)
    canvas = MAPS
    needs = needs_of_lens

    @property
    def slow(self) -> bool:
        """Whether all read-outs take longer than a tick may: multiply-adds of the output matrix after each layer."""
        return (self.config.num_layers + 1) * self.read * self.config.d_model * self.vocab > TICK

    @cached_property
    def outs(self) -> ReadOuts:
        """The read-outs."""
        return read_outs(self.model, self.config, self.read)

    @cached_property
    def agreeing(self) -> list[int]:
        """The number of positions, for each place, whose likeliest token there is the final one."""
        counts: list[int] = (self.outs.ids == self.outs.ids[-1]).sum(-1).tolist()
        return counts

    @property
    def title(self) -> str:
        return "The logit lens"

    @property
    def shape(self) -> str:
        return f"place × position = {len(self.outs.places)} × {len(self.names)}"

    def sentence(self) -> str:
        """How often each place agrees with the end."""
        places = self.outs.places
        nearly = f" and at {self.agreeing[-2]} after {places[-2]}" if len(places) > 2 else ""
        return (
            f"The likeliest token is already the one after {places[-1]} at {self.agreeing[0]} of "
            f"{formats.plural(len(self.names), 'position')} after the embedding{nearly}. "
            + self.model.if_random(
                "The weights are random, so this means nothing: no layer has learned to prepare the output.",
                f"Trained on {trained_on(self.model)}: what a layer has not yet done, a later one does.",
            )
        )

    def laws(self) -> dict[str, bool]:
        """The last read-out is the model's."""
        return {
            f"the read-out after {self.outs.places[-1]} is the model’s logits (largest difference "
            f"{formats.tiny(self.outs.off)})": self.outs.off < 1e-4 * max(1.0, self.largest),
            "after it, every final token has rank 1": bool((self.outs.final_ranks[-1] == 1).all()),
        }

    def table(self) -> pd.DataFrame:
        """A row per position and place."""
        rows = [(name, place) for name in self.names for place in self.outs.places]
        index = pd.MultiIndex.from_tuples(rows, names=["position", "after"])
        return pd.DataFrame(
            {
                "likeliest": [name_of(self.model, i) for i in self.outs.ids.T.flatten().tolist()],
                "its probability": self.outs.shares.T.flatten(),
                "probability of the final token": self.outs.final_shares.T.flatten(),
                "rank of the final token": self.outs.final_ranks.T.flatten(),
            },
            index=index,
        )

    def picture(self) -> Content:
        """The probability, after each layer, of the token that is likeliest at last."""
        values = 100 * self.outs.final_shares
        final = Map(
            name="probability of the finally likeliest token",
            values=values,
            scale=from_zero(float(values.max())),
            unit="% for the finally likeliest",
        )
        return maps.content(
            [final],
            rows=Axis(self.outs.places, "read out after", "after"),
            columns=Axis(self.names, "position", "position"),
            asks=(f"{PREFIX}layer", f"{PREFIX}token"),
            places=([max(number, 1) for number in range(len(values))], list(range(1, len(self.names) + 1))),
            square=False,
        )

    def recipe(self) -> str:
        """A script that leaves `ids` and `shares`, place -> (position)."""
        return self.script(layer_by_layer, read=self.read)


class OutputAt(OutputLens):
    """The logit lens at the chosen position, with the likeliest tokens by name."""

    how_to_read = (
        "After each layer, the likeliest token by name, and the one that is likeliest after the last; temperature 1."
    )
    sources = (logit_lens, read_outs)
    shape = ""
    canvas = CHART

    @property
    def title(self) -> str:
        return f"The logit lens at “{self.names[self.token]}”"

    @property
    def ids_here(self) -> NDArray[np.int64]:
        """The id of the likeliest token at each place."""
        return self.outs.ids[:, self.token]

    @cached_property
    def called(self) -> list[str]:
        """The names of these tokens."""
        return [name_of(self.model, i) for i in self.ids_here.tolist()]

    @property
    def shares(self) -> NDArray[np.float32]:
        """(2, place): the probability of the place's likeliest token, and of the final one."""
        return np.stack([self.outs.shares[:, self.token], self.outs.final_shares[:, self.token]])

    @property
    def settled(self) -> int:
        """The number of the place, 0 for the embedding, from which on the final token stays the likeliest."""
        other = np.flatnonzero(self.ids_here != self.ids_here[-1])
        return int(other[-1]) + 1 if len(other) else 0

    def sentence(self) -> str:
        """The likeliest token after each layer, and from where on it stays."""
        first, last = self.outs.places[self.settled], self.outs.places[-1]
        rank = int(self.outs.final_ranks[0, self.token])
        stays = "and stays so to the end" if first != last else "which it was not directly before"
        return (
            f"At “{self.names[self.token]}” the likeliest token is {self.called[-1]} after {_the(first)}, {stays}. "
            f"After the embedding its rank is {formats.count(rank)} of {formats.count(self.vocab)}. "
            + self.model.if_random("The weights are random: none of this was learned.")
        ).strip()

    def laws(self) -> dict[str, bool]:
        """No token is likelier than the likeliest."""
        likelier, final = self.shares
        return {
            "after each layer the final token is at most as likely as the likeliest there": bool(
                (final <= likelier).all()
            ),
            "after the last layer they are the same": bool(final[-1] == likelier[-1]),
        }

    def table(self) -> pd.DataFrame:
        """A row per place."""
        return pd.DataFrame(
            {
                "likeliest": self.called,
                "its probability": self.shares[0],
                "probability of the final token": self.shares[1],
                "rank of the final token": self.outs.final_ranks[:, self.token],
            },
            index=pd.Index(self.outs.places, name="after"),
        )

    def picture(self) -> Content:
        """The likeliest token after each layer, by name, beside the finally likeliest."""
        return pairs.content(
            [f"{place}: {name}" for place, name in zip(self.outs.places, self.called, strict=True)],
            ("likeliest after this layer", f"finally likeliest, {self.called[-1]}"),
            self.shares,
            roles=("result", "muted"),
            rows="read out after",
        )


def _the(place: str) -> str:
    return f"the {place}" if place == "embedding" else place
