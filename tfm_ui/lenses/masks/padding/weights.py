"""Where the weight goes: one head alone, in the batch with padding hidden, and without."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd
import torch
from numpy.typing import NDArray

from tfm_ui.lenses.masks.masked_passes import at
from tfm_ui.lenses.masks.padding import recipe
from tfm_ui.lenses.masks.padding.beside import TITLES, AloneAndPadded
from tfm_ui.lenses.masks.padding.padded_code import of_batch
from tfm_ui.live.script import script
from tfm_ui.pictures.panel import Result
from tfm_ui.text import formats
from tfm_ui.text.ties import one_of_ties, places_of_largest

RUNS = {"alone": "Alone"} | TITLES


@dataclass(frozen=True)
class Weights(Result):
    """The chosen head of each run.

    Attributes:
        beside: the sentence run alone and in its batch.
    """

    beside: AloneAndPadded

    @cached_property
    def maps(self) -> dict[str, NDArray[np.float32]]:
        """Way -> (token, key); NaN where the mask forbids to look, and alone where padding would be."""
        batch = self.beside.batch
        maps = {}
        for way, weights in self.beside.weights.items():
            if way == "alone":
                maps[way] = np.full((len(self.beside.names), len(self.beside.keys)), np.nan, np.float32)
                maps[way][:, batch.keys] = weights.where(batch.alone[1], torch.nan).numpy()
            else:
                mask = batch.masks(hidden=way == "with")[batch.item, 0][batch.queries]
                maps[way] = weights.where(mask, torch.nan).numpy()
        return maps

    @cached_property
    def onto(self) -> NDArray[np.float32]:
        """The share of each token's weights that lies on padding where that is not hidden: (token)."""
        onto: NDArray[np.float32] = self.beside.weights["without"][:, self.beside.open_columns].sum(-1).numpy()
        return onto

    @property
    def where(self) -> str:
        """Which head it is."""
        return f"layer {self.beside.state.layer}, head {self.beside.state.head}"

    def sentence(self) -> str:
        """The share of weight that lies on padding, in a sentence."""
        count = len(self.beside.open_columns)
        if not count:
            alone, *others = self.beside.weights.values()
            apart = max(float((weights - alone).abs().max()) for weights in others)
            return f"In {self.where} no key is padding, and the three maps differ by {formats.tiny(apart)} at most."
        pads, take = (f"the {count} PADs", "take") if count > 1 else ("the one PAD", "takes")
        if not self.beside.may_look:
            return f"In {self.where} nobody may look at {pads}, even where PAD is taken for a word."
        most = places_of_largest(self.onto, size=1.0)
        mean, largest = (formats.percent(float(share)) for share in (self.onto.mean(), self.onto[most[0]]))
        return (
            f"In {self.where} {pads} {take} {mean} of a token’s weight on average, of "
            f"“{self.beside.names[most[0]]}” most{one_of_ties(len(most))}, {largest}. "
            "A row sums to 1: what PAD takes, tokens lose."
        )

    def laws(self) -> dict[str, bool]:
        """Whether padding has no weight where it is hidden."""
        if not len(self.beside.open_columns):
            return {}
        given = float(self.beside.weights["with"][:, self.beside.open_columns].max())
        return {f"padding hidden: PAD gets no weight (largest {formats.weight(given)})": given == 0}

    def table(self) -> pd.DataFrame:
        """A row per run and token, a column per key, padding numbered."""
        keys = [f"{key} {place}" if key == "PAD" else key for place, key in enumerate(self.beside.keys, 1)]
        names = pd.Index(self.beside.names, name="query \\ key")
        tables = {RUNS[way]: pd.DataFrame(weights, index=names, columns=keys) for way, weights in self.maps.items()}
        return pd.concat(tables, names=["run"])

    def recipe(self) -> str:
        """A script that leaves `weights`, run -> (token, key)."""
        batch, state = self.beside.batch, self.beside.state
        site = at(batch.setting, state.layer - 1, "weights")
        return script(recipe.weights_beside, **of_batch(batch, words=True), site=site, head=state.head - 1)
