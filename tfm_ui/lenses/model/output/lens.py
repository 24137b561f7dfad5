"""The logit lens: what the final norm and the output matrix would say after each layer, if the model ended there."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd
import torch
from numpy.typing import NDArray

from tfm_core import TransformerConfig, logit_lens, recording
from tfm_ui.lenses.model.machine import in_script, inputs_of, read_of, token_of
from tfm_ui.lenses.model.naming import name_of, trained_on
from tfm_ui.lenses.model.output import recipe
from tfm_ui.lenses.model.output.outcome import Outcome, outcome, ranks_of, text_of
from tfm_ui.lenses.model.state import ModelLensState
from tfm_ui.live.cache import cached
from tfm_ui.live.passes import transformer
from tfm_ui.live.script import script
from tfm_ui.pictures.panel import Result
from tfm_ui.state.model_state import ModelState
from tfm_ui.text import formats


@dataclass(frozen=True)
class ReadOuts:
    """What is kept of the read-outs after the embedding and each layer, all (place, position), at temperature 1.

    Attributes:
        places: "embedding", "layer 1" and so on.
        ids: the likeliest token there.
        shares: its probability there.
        final_shares: the probability there of the token that is likeliest after the last layer.
        final_ranks: the rank of that token there, from 1.
        off: the largest difference between the last read-out and the model's logits.
    """

    places: tuple[str, ...]
    ids: NDArray[np.int64]
    shares: NDArray[np.float32]
    final_shares: NDArray[np.float32]
    final_ranks: NDArray[np.int64]
    off: float


@cached()
def read_outs(model: ModelState, config: TransformerConfig) -> ReadOuts:
    """Run the logit lens; of its logits, (place, position, vocab), only what is shown is kept."""
    inputs, mask = inputs_of(model)
    machine, positions = transformer(config), read_of(text_of(model))
    with recording("logits") as trace:  # the model's own, of the same pass
        logits = {place: table[0, :positions] for place, table in logit_lens(machine, *inputs, mask=mask).items()}
    last = trace["logits"][0, :positions]
    final = last.argmax(-1)
    shares = (table.softmax(-1) for table in logits.values())  # one after the other, as each is as large as the logits
    largest = [(share.amax(-1), share.gather(-1, final[:, None])[:, 0]) for share in shares]
    return ReadOuts(
        places=tuple(logits),
        ids=torch.stack([table.argmax(-1) for table in logits.values()]).numpy(),
        shares=torch.stack([likeliest for likeliest, _ in largest]).numpy(),
        final_shares=torch.stack([at_the_end for _, at_the_end in largest]).numpy(),
        final_ranks=torch.stack([ranks_of(table, final) for table in logits.values()]).numpy(),
        off=float((list(logits.values())[-1] - last).abs().max()),
    )


@dataclass(frozen=True)
class LayerByLayer(Result):
    """The logit lens at all positions.

    Attributes:
        out: the end of the pass.
        read: the read-outs.
        token: the chosen position, from 0.
    """

    out: Outcome
    read: ReadOuts
    token: int

    @cached_property
    def agreeing(self) -> list[int]:
        """The number of positions, for each place, whose likeliest token there is the final one."""
        counts: list[int] = (self.read.ids == self.read.ids[-1]).sum(-1).tolist()
        return counts

    def sentence(self) -> str:
        """How often each place agrees with the end."""
        every, places = len(self.out.names), self.read.places
        nearly = f" and at {self.agreeing[-2]} after {places[-2]}" if len(places) > 2 else ""
        return (
            f"The likeliest token is already the one after {places[-1]} at {self.agreeing[0]} of "
            f"{formats.plural(every, 'position')} after the embedding{nearly}. "
            + self.out.model.if_random(
                "The weights are random, so this means nothing: no layer has learned to prepare the output.",
                f"Trained on {trained_on(self.out.model)}: what a layer has not yet done, a later one does.",
            )
        )

    def laws(self) -> dict[str, bool]:
        """The last read-out is the model's."""
        return {
            f"the read-out after {self.read.places[-1]} is the model’s logits (largest difference "
            f"{formats.tiny(self.read.off)})": self.read.off < 1e-4,
            "after it, every final token has rank 1": bool((self.read.final_ranks[-1] == 1).all()),
        }

    def table(self) -> pd.DataFrame:
        """A row per position and place."""
        rows = [(name, place) for name in self.out.names for place in self.read.places]
        index = pd.MultiIndex.from_tuples(rows, names=["position", "after"])
        return pd.DataFrame(
            {
                "likeliest": [name_of(self.out.model, i) for i in self.read.ids.T.flatten().tolist()],
                "its probability": self.read.shares.T.flatten(),
                "probability of the final token": self.read.final_shares.T.flatten(),
                "rank of the final token": self.read.final_ranks.T.flatten(),
            },
            index=index,
        )

    def recipe(self) -> str:
        """A script that leaves `ids` and `shares`, place -> (position)."""
        return script(recipe.layer_by_layer, **in_script(self.out.model, self.out.config), read=len(self.out.names))


@dataclass(frozen=True)
class AtToken(Result):
    """The logit lens at the chosen position, with the likeliest tokens by name."""

    whole: LayerByLayer

    @cached_property
    def names(self) -> list[str]:
        """The name of the likeliest token at each place."""
        at, model = self.whole.token, self.whole.out.model
        return [name_of(model, i) for i in self.whole.read.ids[:, at].tolist()]

    @property
    def shares(self) -> NDArray[np.float32]:
        """(2, place): the probability of the place's likeliest token, and of the final one."""
        read, at = self.whole.read, self.whole.token
        return np.stack([read.shares[:, at], read.final_shares[:, at]])

    @property
    def settled(self) -> int:
        """The number of the place, 0 for the embedding, from which on the final token stays the likeliest."""
        ids = self.whole.read.ids[:, self.whole.token]
        other = np.flatnonzero(ids != ids[-1])
        return int(other[-1]) + 1 if len(other) else 0

    def sentence(self) -> str:
        """The likeliest token after each layer, and from where on it stays."""
        read, at = self.whole.read, self.whole.token
        first = read.places[self.settled]
        rank = int(read.final_ranks[0, at])
        stays = "and stays so to the end" if first != read.places[-1] else "which it was not directly before"
        return (
            f"At “{self.whole.out.names[at]}” the likeliest token is {self.names[-1]} after {_the(first)}, {stays}. "
            f"After the embedding its rank is {formats.count(rank)} of {formats.count(self.whole.out.vocab)}. "
            + self.whole.out.model.if_random("The weights are random: none of this was learned.")
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
        read, at = self.whole.read, self.whole.token
        return pd.DataFrame(
            {
                "likeliest": self.names,
                "its probability": self.shares[0],
                "probability of the final token": self.shares[1],
                "rank of the final token": read.final_ranks[:, at],
            },
            index=pd.Index(read.places, name="after"),
        )

    def recipe(self) -> str:
        """The same script: it has all positions."""
        return self.whole.recipe()


def layer_by_layer(model: ModelState, state: ModelLensState) -> LayerByLayer:
    """The logit lens of the model on screen."""
    out = outcome(model, state)
    return LayerByLayer(out, read_outs(model, out.config), token_of(text_of(model), state))


def _the(place: str) -> str:
    return f"the {place}" if place == "embedding" else place
