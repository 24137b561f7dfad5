"""The panel "A row without a key": that row under each treatment, in the chosen attention of the live model."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd
import torch
from numpy.typing import NDArray

from tfm_core import MultiHeadAttention, attention_weights
from tfm_core.model import torch_twin
from tfm_core.study import empty_rows
from tfm_core.study.empty_rows import TREATMENTS, Case, Treated
from tfm_ui.lenses.masks.masked_passes import at, reads
from tfm_ui.lenses.masks.padding import recipe
from tfm_ui.lenses.masks.padding.padded_code import of_batch
from tfm_ui.lenses.masks.padding.rows_without_keys import RowsWithoutKeys, rows_without_keys, treated
from tfm_ui.lenses.masks.state import MasksState
from tfm_ui.live.script import script
from tfm_ui.pictures.panel import Result
from tfm_ui.state.model_state import ModelState
from tfm_ui.text import formats

SOURCES = (
    empty_rows.minus_infinity,
    empty_rows.minus_a_billion,
    empty_rows.fused,
    empty_rows.torch_module,
    torch_twin.as_torch,
    attention_weights,
    MultiHeadAttention.forward,
)
SAME = 1e-5  # numbers that differ by less differ by rounding: by up to 1.5e-6 in 40 random models
EVALUATING, TRAINING = "nn.MHA, eval()", "nn.MHA, train()"


@dataclass(frozen=True)
class TreatmentsOfRow(Result):
    """Each treatment of that row.

    Attributes:
        at: the sentence, its mask, and its rows without a key.
        model: the sidebar's.
        treated: as `treated` gives them.
    """

    at: RowsWithoutKeys
    model: ModelState
    treated: Mapping[str, tuple[Treated, Case]]

    @property
    def where(self) -> str:
        """Which attention and head it is."""
        return f"layer {self.at.state.layer}, head {self.at.state.head}"

    @cached_property
    def weights(self) -> dict[str, NDArray[np.float32]]:
        """Treatment -> the row's weights in the chosen head, (key), of those that hand weights out."""
        return {
            name: treated.weights[0, self.at.state.head - 1, self.at.row].numpy()
            for name, (treated, _) in self.treated.items()
            if treated.weights is not None
        }

    def is_nan(self, name: str) -> bool:
        """Whether the row's output is NaN."""
        return bool(self.treated[name][0].output[0, self.at.row].isnan().any())

    def weights_said(self, name: str) -> str:
        """The row's weights in words."""
        if name not in self.weights:
            return "not handed out"
        row = self.weights[name]
        if np.isnan(row).any():
            return "NaN"
        if not row.any():
            return "all 0"
        if np.ptp(row) < SAME:
            return f"{formats.weight(float(row[0]))} on {f'all {len(row)} keys' if len(row) > 1 else 'the only key'}"
        return f"{formats.weight(float(row.min()))} to {formats.weight(float(row.max()))}"

    def output_said(self, name: str) -> str:
        """The row's output in words: what it is equal to, as measured."""
        treated, case = self.treated[name]
        row = treated.output[0, self.at.row]
        if row.isnan().any():
            return "NaN"
        bias = case.attention.output_projection.bias
        with torch.no_grad():
            mean = case.gathered(case.value.mean(-2, keepdim=True))[0, 0]
        if (row - bias).abs().max() < SAME:
            return "the output projection’s bias" if bias.any() else "all 0"
        if (row - mean).abs().max() < SAME:
            return "the mean of all values"
        return f"of length {formats.number(float(row.norm()))}"

    def others(self, name: str) -> float:
        """The largest difference from ours in the rows that have keys; NaN where such a row is NaN."""
        treated, case = self.treated[name]
        rows = self.at.others
        return float((treated.output - case.output)[0, rows].abs().max()) if rows else 0.0

    def sentence(self) -> str:
        """Who gives a NaN, and who does not."""
        bad = [name for name in TREATMENTS if self.is_nan(name)]
        said = [self.at.about(), f"{len(bad)} of {len(TREATMENTS)} ways make it NaN."]
        spread_out = "−1e9 and softmax"
        if not self.is_nan(spread_out):
            said.append(f"−1e9 makes no NaN, but a weight of {self.weights_said(spread_out)}, hidden or not.")
        if self.is_nan(EVALUATING) != self.is_nan(TRAINING):
            said.append(
                "One and the same nn.MultiheadAttention, not asked for weights, gives "
                f"{'NaN' if self.is_nan(EVALUATING) else 'numbers'} in eval mode, on its fast path, and "
                f"{'NaN' if self.is_nan(TRAINING) else 'numbers'} in training mode."
            )
        else:
            said.append(
                "Not asked for weights, nn.MultiheadAttention gives the same in both modes here: its fast path takes "
                "self-attention with an even number of heads alone."
            )
        if any(self.treated[name][1] is not self.treated["ours"][1] for name in TREATMENTS):
            said.append(f"It has no place for {self.model.positional}, and is compared with ours without it.")
        return " ".join(said)

    def laws(self) -> dict[str, bool]:
        """What no treatment changes, and what must hold of ours."""
        laws = {"ours: no key, no weight, no NaN": not self.is_nan("ours") and not self.weights["ours"].any()}
        if self.at.others:
            apart = max(self.others(name) for name in TREATMENTS)
            law = f"in this layer the rows that have keys are right in all {len(TREATMENTS)} ways"
            laws[f"{law} (largest difference from ours {formats.tiny(apart)})"] = apart < SAME
        return laws

    def table(self) -> pd.DataFrame:
        """A row per treatment."""
        other = [formats.tiny(self.others(name)) if self.at.others else "there are none" for name in TREATMENTS]
        return pd.DataFrame(
            {
                "its weights": [self.weights_said(name) for name in TREATMENTS],
                "its output": [self.output_said(name) for name in TREATMENTS],
                "other rows, from ours": other,
                "how": [treatment.about for treatment in TREATMENTS.values()],
            },
            index=pd.Index(TREATMENTS, name="the row without a key"),
        )

    def recipe(self) -> str:
        """A script that leaves `treated`, treatment -> output (1, query, d_model), weights (1, head, query, key)."""
        setting, layer = self.at.batch.setting, self.at.state.layer - 1
        query_site, key_site = reads(setting, layer)
        single_stack = not setting.model.is_encoder_decoder
        acts = self.treated["ours"][1].positional is not None
        return script(
            recipe.treatments,
            **of_batch(self.at.batch, words=False),
            emptied=self.at.rows if self.at.by_hand else [],
            query_site=query_site,
            key_site=key_site,
            attention_path=("stack." if single_stack else "") + at(setting, layer, "").rstrip("."),
            positional_path=f"{'stack' if single_stack else 'decoder'}.positional" if acts else None,
        )


def treatments_of_row(model: ModelState, state: MasksState) -> TreatmentsOfRow:
    """Run each treatment."""
    at = rows_without_keys(model, state)
    return TreatmentsOfRow(at, model, treated(at.batch, state.row, state.layer - 1))
