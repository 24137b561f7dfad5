"""A single hidden unit: which tokens make it fire, and what it writes towards."""

from dataclasses import dataclass
from functools import cached_property

import pandas as pd
import torch
from torch import Tensor

from tfm_ui.lenses.model.feed_forward import recipe
from tfm_ui.lenses.model.feed_forward.hidden import Hidden, network
from tfm_ui.lenses.model.machine import in_script
from tfm_ui.lenses.model.state import ModelLensState
from tfm_ui.live.passes import transformer
from tfm_ui.live.script import script
from tfm_ui.pictures.panel import Result
from tfm_ui.text import formats
from tfm_ui.text.ties import one_of_ties, places_of_largest

MOST = 24  # tokens in the picture: their names and numbers stay readable


@dataclass(frozen=True)
class Unit(Result):
    """One hidden unit of the live model.

    Attributes:
        hidden: its network.
        unit: which, from 0.
        fires: (token), the unit at each token.
        writes: (d_model), what it adds to the residual stream when it is 1: its column of the output projection.
        towards: (token), the cosine of `writes` with each token's embedding.
    """

    hidden: Hidden
    unit: int
    fires: Tensor
    writes: Tensor
    towards: Tensor

    @cached_property
    def names(self) -> list[str]:
        """A label per token in the picture."""
        return self.hidden.names[: len(self.fires)]

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
            + self.hidden.model.if_random(
                "The weights are random, so neither means anything; in a trained model both may.",
                "These weights are trained, so both may mean something; a single text does not show it.",
            )
        )

    def laws(self) -> dict[str, bool]:
        """The units' vectors, each times its value, add up to what the network writes."""
        module = network(self.hidden.config, self.hidden.site)
        units = self.hidden.units[self.hidden.activation]
        with torch.no_grad():
            whole = module.output_projection(units)
            without = units.clone()
            without[:, self.unit] = 0
            rest = module.output_projection(without)
        added = units[:, self.unit, None] * self.writes
        off = float((whole - rest - added).abs().max())
        law = f"without the unit, the network’s output lacks its value × its vector (largest error {formats.tiny(off)})"
        return {law: off < 1e-4}

    def table(self) -> pd.DataFrame:
        """A row per token."""
        return pd.DataFrame(
            {"activation": self.fires.numpy(), "cosine with the embedding": self.towards.numpy()},
            index=pd.Index(self.names, name="token"),
        )

    def recipe(self) -> str:
        """A script that leaves `fires` and `towards`."""
        shown = self.hidden
        return script(
            recipe.single_unit,
            **in_script(shown.model, shown.config),
            site=shown.site,
            read=len(self.fires),
            unit=self.unit,
            ids=list(shown.tokens.ids[: len(self.fires)]),
        )


def unit(hidden: Hidden, state: ModelLensState) -> Unit:
    """The chosen unit, at the first tokens."""
    units = hidden.units[hidden.activation][:MOST]
    chosen = min(state.unit, units.shape[-1]) - 1
    module, model = network(hidden.config, hidden.site), transformer(hidden.config)
    root = model if hidden.model.is_encoder_decoder else model.stack
    embedding = root.get_parameter(hidden.site.rpartition("layers.")[0] + "embedding.weight").detach()
    writes = module.output_projection.weight.detach()[:, chosen].clone()
    towards = torch.cosine_similarity(embedding[list(hidden.tokens.ids[: len(units)])], writes, dim=-1)
    return Unit(hidden, chosen, units[:, chosen], writes, towards)
