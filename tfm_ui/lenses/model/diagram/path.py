"""One token's way through the model: its vector's length and direction after each block of the residual stream."""

from collections.abc import Mapping, Sequence
from functools import cached_property

import numpy as np
import pandas as pd
import torch
from numpy.typing import NDArray
from torch import Tensor

from tfm_core import Transformer, TransformerConfig, TransformerLayer, recording
from tfm_core.model.transformer import Stack
from tfm_core.study.blocks import Block
from tfm_ui.lenses.model import naming
from tfm_ui.lenses.model.diagram.counted import DiagramPanel, added_up
from tfm_ui.lenses.model.machine import in_script
from tfm_ui.live.passes import transformer
from tfm_ui.live.script import script
from tfm_ui.live.tensors.step import Step, held
from tfm_ui.pictures import lines
from tfm_ui.pictures.canvas import Content
from tfm_ui.pictures.chart import CHART
from tfm_ui.pictures.lines import Chart, Line
from tfm_ui.text import formats
from tfm_ui.text.ties import one_of_ties, places_of_largest

MARKED = 12  # layers that all have their marks in the chart; of more, every fifth


def way_of_token(
    *,
    config: TransformerConfig,
    inputs: Sequence[Tensor],
    mask: Tensor | None,
    places: Sequence[Sequence[str]],
    token: int,
    read_out: bool,
) -> tuple[Sequence[float], Sequence[float], Tensor | None]:
    """One token's vector at each place of the residual stream: its length, and the cosine to the place before; and
    what the output makes of the last one, its logits.
    """
    model = Transformer(config).eval()
    with torch.no_grad(), recording(sorted({site for sites in places for site in sites})) as trace:
        model(*inputs, mask=mask)
    vectors, logits = along(trace, places, token, model if read_out else None)
    lengths, cosines = lengths_and_cosines(vectors)
    return lengths.tolist(), cosines.tolist(), logits


def along(
    trace: Mapping[str, Tensor], places: Sequence[Sequence[str]], token: int, reads_out: Transformer | None
) -> tuple[Tensor, Tensor | None]:
    """A token's vector at each place, float64 (place, d_model); and the logits that a model reads out of the last."""
    vectors = torch.stack([added_up(trace, sites)[token] for sites in places])
    with torch.no_grad():
        logits = reads_out.logits(vectors[-1]) if reads_out else None
    return vectors.double(), logits


def lengths_and_cosines(vectors: Tensor) -> tuple[Tensor, Tensor]:
    """The length of each vector, and the cosine of the angle between it and the one before."""
    return vectors.norm(dim=-1), torch.cosine_similarity(vectors[1:], vectors[:-1])


class Path(DiagramPanel):
    """The way of the chosen token through its stack, in the live model."""

    is_live = True
    how_to_read = (
        "The length of its vector in the residual stream after each block. How far each block turned it is in the "
        "table and, where it has room, beside the block in the diagram. Choose the token above."
    )
    sources = (Stack.run, TransformerLayer._add)
    canvas = CHART

    @property
    def title(self) -> str:
        return f"The way of “{self.names[self.token]}”"

    @property
    def sites(self) -> list[tuple[str, ...]]:
        """The sites whose sum is the residual stream, of each place."""
        return [block.writes for block in self.stream]

    @property
    def has_logits(self) -> bool:
        """Whether the stack ends in logits: an encoder beside a decoder does not."""
        return self.counts[self.stack][-1].block.kind == "logits"

    @cached_property
    def _along(self) -> tuple[Tensor, Tensor | None]:
        return along(self.recorded, self.sites, self.token, transformer(self.config) if self.has_logits else None)

    @property
    def vectors(self) -> Tensor:
        """The residual stream at each place, float64 (place, d_model)."""
        return self._along[0]

    @property
    def logits(self) -> Tensor | None:
        """What the output makes of the last one, (vocab); None of an encoder that ends in no logits."""
        return self._along[1]

    @property
    def tensors(self) -> Step:
        lengths, cosines = lengths_and_cosines(self.vectors)
        about = f"the vector of token {self.token + 1} in the residual stream after each block"
        turns = "the cosine of the angle to the vector before"
        alike = "F.cosine_similarity(stream[1:], stream[:-1])"
        return Step(
            "The way of a token",
            [
                held("stream", ("place", "d_model"), self.vectors, about),
                held("lengths", ("place",), lengths, "how long it is", "stream.norm(dim=-1)"),
                held("cosines", ("place",), cosines, turns, alike),
            ],
        )

    @cached_property
    def places(self) -> list[str]:
        """What has just been done to the stream."""
        return [name_of(block) for block in self.stream]

    @cached_property
    def lengths(self) -> NDArray[np.float64]:
        """The length of the vector at each place."""
        lengths: NDArray[np.float64] = lengths_and_cosines(self.vectors)[0].numpy()
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
        cosines: NDArray[np.float64] = lengths_and_cosines(self.vectors)[1].numpy()
        return cosines

    @property
    def angles(self) -> NDArray[np.float64]:
        """These angles, in degrees."""
        angles: NDArray[np.float64] = np.degrees(np.arccos(np.clip(self.cosines, -1, 1)))
        return angles

    @property
    def likeliest(self) -> str | None:
        """The name of the token with the largest logit."""
        return None if self.logits is None else naming.name_of(self.model, int(self.logits.argmax()))

    def cells(self) -> dict[str, tuple[str, str]]:
        """Block -> the vector's length and by how much the block turned it, in many words and in few."""
        turns = ["", *(f", turned {angle:.0f}°" for angle in self.angles)]
        cells = {
            block.name: (f"‖x‖ = {formats.number(length)}{turn}", formats.number(length))
            for block, length, turn in zip(self.stream, self.lengths, turns, strict=True)
        }
        return cells if self.likeliest is None else cells | {"logits": (f"largest: {self.likeliest}", self.likeliest)}

    def sentence(self) -> str:
        """The lengths at both ends, and which block changed the vector most."""
        most = places_of_largest(self.changes)
        most_of = formats.percent(self.changes[most[0]])
        first, last = formats.number(self.lengths[0]), formats.number(self.lengths[-1])
        return (
            f"“{self.names[self.token]}”: its vector has length {first} after the embedding and {last} at the end of "
            f"the stack. “{self.places[most[0] + 1]}” changed it most{one_of_ties(len(most))}: by {most_of} of its "
            f"length, and turned it by {self.angles[most[0]]:.0f}°. {self._ends_in()}"
            + self.model.if_random("The weights are random, so the direction has no meaning.")
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
                "cosine to the embedding": torch.cosine_similarity(self.vectors, self.vectors[:1]).numpy(),
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

    def picture(self) -> Content:
        """The length of the vector after each block; its turns are in the diagram, as a second chart is slow."""
        firsts = {name.split()[-1]: at for at, name in reversed(list(enumerate(self.places))) if name[-1].isdigit()}
        lengths = self.lengths.tolist()
        says = [f"{formats.number(length)}, after “{name}”" for length, name in zip(lengths, self.places, strict=True)]
        line = Line("length", list(range(len(lengths))), lengths, "query", says=says)
        each = 1 if self.config.num_layers <= MARKED else 5
        ordered = sorted(firsts.items(), key=lambda item: item[1])
        marks = {f"layer {layer}": at for layer, at in ordered if (int(layer) - 1) % each == 0}
        chart = Chart("block, from the embedding (0) on", "length ‖x‖", [line], reach=(0,), marks=marks)
        return lines.content([chart])

    def recipe(self) -> str:
        """A script that leaves `lengths`, `cosines` and `logits`."""
        return script(
            way_of_token,
            **in_script(self.model, self.config),
            places=self.sites,
            token=self.token,
            read_out=self.has_logits,
        )


def name_of(block: Block) -> str:
    """The block in words, with its layer: a sum is named after its sub-layer."""
    last = block.name.split(".")[-1]
    if block.kind == "norm":
        text = last.replace("_", " ") if block.layer is None else "norm"
    else:
        outside = {"position": "positions", "token_types": "token types"}
        text = outside.get(block.kind, last.removesuffix("_sum").replace("_", "-"))
    return text if block.layer is None else f"{text} {block.layer + 1}"
