"""Dropout: a row of weights in training mode, draw by draw, beside the same row in evaluation mode."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property, partial
from threading import Lock

import pandas as pd
import torch
from torch import Tensor

from tfm_core import Tokens, TransformerConfig
from tfm_ui.lenses.model.depth import recipe
from tfm_ui.lenses.model.machine import config_of, in_script, inputs_of, prefix, token_of
from tfm_ui.lenses.model.state import ModelLensState
from tfm_ui.live.cache import cached
from tfm_ui.live.script import script
from tfm_ui.pictures.panel import Result
from tfm_ui.state.model_state import ModelState
from tfm_ui.text import formats, token_labels
from tfm_ui.text.ties import places_of_largest

DRAWS = 16
READ = 64  # tokens: each draw is a pass of its own
SITES = "*layers.*.self_attention.weights"

Weights = Mapping[str, Tensor]
_drawing = Lock()  # dropout draws from torch's one generator, whose seed another thread would set anew


@cached()
def passes(model: ModelState, config: TransformerConfig, rate: float) -> tuple[Weights, Weights, float]:
    """Weights in evaluation mode, their draws in training mode, and how far off training mode without dropout is."""
    inputs, mask = inputs_of(model)
    run = partial(recipe.dropped, config=config, inputs=inputs, mask=mask, read=READ, sites=SITES)
    with _drawing:
        calm, trained = run(rate=rate, draws=DRAWS)
        _, without = run(rate=0.0, draws=1)
    return calm, trained, max(float((without[site][0] - calm[site]).abs().max()) for site in calm)


@dataclass(frozen=True)
class Dropped(Result):
    """One row of weights.

    Attributes:
        model: the sidebar's model.
        config: what runs.
        rate: the share of units that dropout sets to zero in training mode.
        site: the weights that are read.
        head, token: which row of them, from 0.
        calm: (key), in evaluation mode, of the tokens that are read.
        trained: (draw, key), in training mode.
        off: the largest difference between training mode with a dropout of 0 and evaluation mode.
    """

    model: ModelState
    config: TransformerConfig
    rate: float
    site: str
    head: int
    token: int
    calm: Tensor
    trained: Tensor
    off: float

    @cached_property
    def names(self) -> list[str]:
        """A label per key."""
        return token_labels.labels(self.tokens)[: len(self.calm)]

    @property
    def tokens(self) -> Tokens:
        """The text of the stack."""
        return self.model.target_tokens if self.site.startswith("decoder.") else self.model.source_tokens

    @cached_property
    def strongest(self) -> list[int]:
        """The keys of the largest weight in evaluation mode: more than one if they tie."""
        return places_of_largest(self.calm.numpy())

    @cached_property
    def visible(self) -> list[int]:
        """The keys that the mask does not hide from this query; all if it hides all."""
        weights = torch.cat([self.calm[None], self.trained])
        return torch.nonzero((weights > 0).any(0))[:, 0].tolist() or list(range(len(self.calm)))

    @cached_property
    def changed(self) -> int:
        """The number of draws in which another key has the largest weight."""
        return int((~torch.isin(self.trained.argmax(-1), torch.tensor(self.strongest))).sum())

    def sentence(self) -> str:
        """How far the largest weight moves, and how often another key has it."""
        key = self.strongest[0]
        if len(self.visible) == 1:
            or_else = ", or turn causal off" if self.model.masks_the_future else ""
            return (
                f"“{self.names[self.token]}” sees one key, “{self.names[key]}”, and gives it all its weight at every "
                f"pass: dropout changes nothing here. Choose a later token{or_else}."
            )
        low, high = (float(end) for end in self.trained[:, key].aminmax())
        if not self.rate:
            return (
                "Dropout is 0: training mode and evaluation mode are the same. Choose a dropout above to see its draws."
            )
        return (
            f"In evaluation mode “{self.names[self.token]}” gives “{self.names[key]}” "
            f"{formats.weight(float(self.calm[key]))}, at every pass. In training mode with a dropout of {self.rate:g} "
            f"this weight goes from {formats.weight(low)} to {formats.weight(high)} over {len(self.trained)} draws; "
            f"in {self.changed} of them another key has the largest. That is why weights are pictured in evaluation "
            "mode: in training mode each picture would be another draw."
        )

    def laws(self) -> dict[str, bool]:
        """Dropout is all that differs, and each row of weights, recorded before its own dropout, sums to 1."""
        sums = float((torch.cat([self.calm[None], self.trained]).double().sum(-1) - 1).abs().max())
        law = f"each draw’s row sums to 1 (largest error {formats.tiny(sums)})"
        row = {law: sums < 1e-4} if self.calm.any() else {}
        return row | {
            f"with a dropout of 0, training mode gives what evaluation mode gives (largest difference "
            f"{formats.tiny(self.off)})": self.off <= 1e-5,
        }

    def table(self) -> pd.DataFrame:
        """A row per key."""
        return pd.DataFrame(
            {
                "evaluation mode": self.calm.numpy(),
                "mean of the draws": self.trained.mean(0).numpy(),
                "standard deviation": self.trained.std(0).numpy(),
                "least": self.trained.amin(0).numpy(),
                "most": self.trained.amax(0).numpy(),
            },
            index=pd.Index(self.names, name="key"),
        )

    def recipe(self) -> str:
        """A script that leaves `calm` and `trained`, site -> weights; the row is that of `head` and `token`."""
        return script(
            recipe.dropped,
            **in_script(self.model, self.config),
            read=READ,
            rate=float(self.rate),
            draws=len(self.trained),
            sites=SITES,
        )


def dropped(model: ModelState, state: ModelLensState) -> Dropped:
    """The attention weights with and without dropout, of the chosen stack, layer, head and token."""
    config = config_of(model, state)
    stack = state.stack if model.is_encoder_decoder else model.architecture
    site = f"{prefix(model, stack)}layers.{min(state.layer, model.num_layers) - 1}.self_attention.weights"
    tokens = model.target_tokens if model.is_encoder_decoder and stack == "decoder" else model.source_tokens
    head, token = min(state.head, model.num_heads) - 1, min(token_of(tokens, state), READ - 1)
    calm, trained, off = passes(model, config, float(state.depth_dropout))
    row, draws = calm[site][head, token], trained[site][:, head, token]
    return Dropped(model, config, state.depth_dropout, site, head, token, row, draws, off)
