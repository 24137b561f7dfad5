"""One token's way through the model: its vector's length and direction after each block of the residual stream."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd
import torch
from numpy.typing import NDArray
from torch import Tensor

from tfm_core.study.blocks import Block
from tfm_ui.lenses.model import naming
from tfm_ui.lenses.model.diagram import recipe
from tfm_ui.lenses.model.diagram.numbers import Machine
from tfm_ui.lenses.model.machine import in_script, transformer_of
from tfm_ui.live.script import script
from tfm_ui.pictures.panel import Result
from tfm_ui.text import formats, token_labels
from tfm_ui.text.ties import one_of_ties, places_of_largest

SHORT = {
    "self_attention_sum": "self-attention",
    "cross_attention_sum": "cross-attention",
    "feed_forward_sum": "feed-forward",
}


@dataclass(frozen=True)
class Path(Result):
    """The way of one token through its stack.

    Attributes:
        machine: the diagram, of a live model.
        vectors: float64 (place, d_model), the residual stream at each place.
        logits: (vocab), what the output makes of the last one; None of an encoder that ends in no logits.
    """

    machine: Machine
    vectors: Tensor
    logits: Tensor | None

    @property
    def names(self) -> list[str]:
        """A label per token of the stack."""
        return token_labels.labels(self.machine.tokens)

    @property
    def token(self) -> int:
        """The token, from 0."""
        return self.machine.token

    @property
    def places(self) -> list[str]:
        """What has just been done to the stream."""
        return [name_of(block) for block in self.machine.stream]

    @cached_property
    def lengths(self) -> NDArray[np.float64]:
        """The length of the vector at each place."""
        lengths: NDArray[np.float64] = self.vectors.norm(dim=-1).numpy()
        return lengths

    @cached_property
    def changes(self) -> NDArray[np.float64]:
        """The length of the difference from the place before, as a share of the length there."""
        moved = (self.vectors[1:] - self.vectors[:-1]).norm(dim=-1).numpy()
        shares: NDArray[np.float64] = moved / np.maximum(self.lengths[:-1], np.finfo(float).tiny)
        return shares

    @cached_property
    def cosines(self) -> NDArray[np.float64]:
        """The cosine of the angle between the vector at each place and that at the place before."""
        cosines: NDArray[np.float64] = torch.cosine_similarity(self.vectors[1:], self.vectors[:-1]).numpy()
        return cosines

    @cached_property
    def to_embedding(self) -> NDArray[np.float64]:
        """The cosine of the angle to the embedding, the first place."""
        cosines: NDArray[np.float64] = torch.cosine_similarity(self.vectors, self.vectors[:1]).numpy()
        return cosines

    def cells(self) -> dict[str, tuple[str, str]]:
        """Block -> the vector's length and by how much the block turned it, in many words and in few."""
        turns = ["", *(f", turned {angle:.0f}°" for angle in self.angles)]
        names = [block.name for block in self.machine.stream]
        cells = {
            name: (f"‖x‖ = {formats.number(length)}{turn}", formats.number(length))
            for name, length, turn in zip(names, self.lengths, turns, strict=True)
        }
        return cells if self.likeliest is None else cells | {"logits": (f"largest: {self.likeliest}", self.likeliest)}

    @cached_property
    def likeliest(self) -> str | None:
        """The name of the token with the largest logit."""
        return None if self.logits is None else naming.name_of(self.machine.model, int(self.logits.argmax()))

    @cached_property
    def angles(self) -> NDArray[np.float64]:
        """The angle between the vector at each place and that at the place before, in degrees."""
        angles: NDArray[np.float64] = np.degrees(np.arccos(np.clip(self.cosines, -1, 1)))
        return angles

    def sentence(self) -> str:
        """The lengths at both ends, and which block changed the vector most."""
        most = places_of_largest(self.changes)
        most_of = formats.percent(self.changes[most[0]])
        first, last = formats.number(self.lengths[0]), formats.number(self.lengths[-1])
        return (
            f"“{self.names[self.token]}”: its vector has length {first} after the embedding and {last} at the end of "
            f"the stack. “{self.places[most[0] + 1]}” changed it most{one_of_ties(len(most))}: by {most_of} of its "
            f"length, and turned it by {self.angles[most[0]]:.0f}°. {self._ends_in()}"
            + self.machine.model.if_random("The weights are random, so the direction has no meaning.")
        ).strip()

    def _ends_in(self) -> str:
        """The logits, if there are any."""
        if self.logits is None:
            return ""
        logit = formats.number(float(self.logits.max()))
        return f"Its largest logit of {formats.count(len(self.logits))} is {logit}, of {self.likeliest}. "

    def table(self) -> pd.DataFrame:
        """A row per place."""
        return pd.DataFrame(
            {
                "length": self.lengths,
                "change, share of the length before": [np.nan, *self.changes],
                "cosine to the place before": [np.nan, *self.cosines],
                "cosine to the embedding": self.to_embedding,
            },
            index=pd.Index(self.places, name="after"),
        )

    def laws(self) -> dict[str, bool]:
        """The triangle inequality, and cosines within their bounds."""
        moved = self.changes * self.lengths[:-1]
        slack = 1e-9 * self.lengths.max()
        return {
            "no block changes the length by more than the length of what it adds (triangle inequality)": bool(
                (np.abs(np.diff(self.lengths)) <= moved + slack).all()
            ),
            "each cosine is from −1 to 1": bool((np.abs(self.cosines) <= 1 + 1e-9).all()),
        }

    def recipe(self) -> str:
        """A script that leaves `lengths`, `cosines` and `logits`."""
        model = self.machine.model
        return script(
            recipe.path,
            **in_script(model, self.machine.shown.config),
            places=[block.writes for block in self.machine.stream],
            token=self.token,
            read_out=self.logits is not None,
        )


def name_of(block: Block) -> str:
    """The block in words, with its layer."""
    last = block.name.split(".")[-1]
    if block.kind == "norm":
        text = "final norm" if last == "final_norm" else "norm"
    else:
        text = SHORT.get(last, "positions" if block.kind == "position" else last)
    return text if block.layer is None else f"{text} {block.layer + 1}"


def path(machine: Machine) -> Path:
    """The way of the picked token."""
    places, at = machine.stream, machine.token
    trace = machine.recorded
    vectors = torch.stack([torch.stack([trace[site][0, at] for site in block.writes]).sum(0) for block in places])
    if machine.counts[machine.stack][-1].block.kind != "logits":
        return Path(machine, vectors.double(), None)
    with torch.no_grad():
        logits = transformer_of(machine.model, machine.state).unembedding(vectors[-1])
    return Path(machine, vectors.double(), logits)
