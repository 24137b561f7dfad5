"""Rows without any key: which they are, and what each way to treat them makes of one, in the chosen attention."""

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
import torch
from numpy.typing import NDArray
from streamlit.column_config import TextColumn
from torch import Tensor

from tfm_core import MultiHeadAttention, Positional, Transformer, TransformerConfig, attention_weights
from tfm_core.model import torch_twin
from tfm_core.study import empty_rows
from tfm_core.study.empty_rows import TREATMENTS, Case, Treated
from tfm_ui.lenses.masks.masked_passes import at, attention_of, read_by, reads, under_exactly
from tfm_ui.lenses.masks.padding.padded import Padded, PaddingPanel, of_batch, with_tokens, without_keys
from tfm_ui.live import passes
from tfm_ui.live.cache import cached
from tfm_ui.live.script import script
from tfm_ui.pictures import maps
from tfm_ui.pictures.canvas import Content
from tfm_ui.pictures.map_scale import from_zero
from tfm_ui.pictures.maps import Axis, Map
from tfm_ui.pictures.panel import OpenTable
from tfm_ui.text import formats

READ_UP_TO = 128  # places: what becomes of a row is the same at any length
SAME = 1e-5  # numbers that differ by less differ by rounding: by up to 1.5e-6 in 40 random models
EVALUATING, TRAINING = "nn.MHA, eval()", "nn.MHA, train()"
WIDTHS = {"its weights": 160, "its output": 170, "other rows, from ours": 150, "how": 400}


class EmptyRowsPanel(PaddingPanel):
    """A panel about the rows of the sentence's mask that have no key."""

    places = READ_UP_TO

    @cached_property
    def _emptied(self) -> tuple[Tensor, list[int], bool]:
        return without_keys(self.batch, self.state.row)

    @property
    def rows(self) -> list[int]:
        """The rows without a key, from 0."""
        return self._emptied[1]

    @property
    def by_hand(self) -> bool:
        """Whether the one among them was emptied here."""
        return self._emptied[2]

    @cached_property
    def queries(self) -> list[str]:
        """A label per row."""
        return self.names_of(self.setting.queries)

    @property
    def row(self) -> int:
        """The one that is looked at: the one that was asked for, if it is one of them, or else the first."""
        return self.state.row - 1 if self.state.row - 1 in self.rows else self.rows[0]

    @property
    def others(self) -> list[int]:
        """The rows that have a key."""
        return [row for row in range(len(self.queries)) if row not in self.rows]

    def called(self, row: int) -> str:
        """A row in words."""
        return f"row {row + 1} (“{self.queries[row]}”)"

    def about(self) -> str:
        """Which rows have no key, and why."""
        if self.by_hand:
            return f"The mask leaves every row a key: {self.called(self.row)} was emptied here."
        if len(self.rows) == 1:
            return f"The mask leaves {self.called(self.row)} no key."
        return f"The mask leaves {len(self.rows)} of {len(self.queries)} rows no key; shown is {self.called(self.row)}."

    def _cut(self, read: int, asked: int) -> str:
        return f"Empty rows are run on the first {read} of {asked} places: what becomes of them is the same."

    def in_script(self) -> dict[str, Any]:
        """The header of a recipe: that of the batch, and the rows that are emptied by hand."""
        return of_batch(self.batch, words=False) | {"emptied": self.rows if self.by_hand else []}


def emptied_by(batch: Padded, row: int) -> int:
    """A row as `without_keys` takes it: 0 for all rows that make no other mask, so that none is run twice."""
    _, empty, by_hand = without_keys(batch, row)
    return empty[0] + 1 if by_hand else 0


def treated_rows(batch: Padded, row: int, layer: int) -> Mapping[str, tuple[Treated, Case]]:
    """What each treatment makes of a row without a key (`without_keys`), in the attention of a layer, from 0."""
    return _treated(batch, emptied_by(batch, row), layer)


@cached()
def _read(batch: Padded, row: int) -> list[tuple[Tensor, Tensor]]:
    """What each layer's attention reads under a mask with a row without a key."""
    mask, _, _ = without_keys(batch, row)
    return read_by(batch.setting, mask=mask, source=batch.chosen_source)


@cached()
def _treated(batch: Padded, row: int, layer: int) -> Mapping[str, tuple[Treated, Case]]:
    setting = batch.setting
    mask, _, _ = without_keys(batch, row)
    scheme = passes.scheme(setting.model, setting.place)
    acts = scheme is not None and {"rotate", "bias_at"} & set(scheme.enters())
    queries, keys = _read(batch, row)[layer]
    case = Case.of(attention_of(setting, layer), queries, keys, mask, scheme if acts else None)
    return {name: treatment.run(case) for name, treatment in TREATMENTS.items()}


def treatments(
    *,
    config: TransformerConfig,
    padded: Sequence[Tensor],
    among_tokens: Tensor,
    mask_with_padding: Tensor,
    rows: slice,
    columns: slice,
    emptied: Sequence[int],
    argument: str,
    mask_site: str,
    query_site: str,
    key_site: str,
    attention_path: str,
    positional_path: str | None,
) -> dict[str, Treated]:
    """What each treatment makes of rows without a key: output (1, query, d_model), weights (1, head, query, key)."""
    mask = with_tokens(mask_with_padding, rows, columns, among_tokens)
    mask[emptied] = False
    model = Transformer(config).eval()
    _, trace = under_exactly(model, padded, mask, argument, mask_site, [query_site, key_site])
    attention = model.get_submodule(attention_path)
    positional = model.get_submodule(positional_path) if positional_path else None
    assert isinstance(attention, MultiHeadAttention)
    assert isinstance(positional, Positional | None)
    case = Case.of(attention, trace[query_site], trace[key_site], mask, positional)
    treated = {name: treatment.run(case)[0] for name, treatment in TREATMENTS.items()}
    return treated


class EmptyRow(EmptyRowsPanel):
    """Each treatment of that row."""

    title = "A row without a key"
    open_table = OpenTable({name: TextColumn(width=width) for name, width in WIDTHS.items()})
    sources = (
        *(empty_rows.minus_infinity, empty_rows.minus_a_billion, empty_rows.fused, empty_rows.torch_module),
        *(torch_twin.as_torch, attention_weights, MultiHeadAttention.forward),
    )

    @cached_property
    def treated(self) -> Mapping[str, tuple[Treated, Case]]:
        """Treatment -> what it gives, and the case that it can be compared in."""
        return treated_rows(self.batch, self.state.row, self.layer)

    @cached_property
    def weights(self) -> dict[str, NDArray[np.float32]]:
        """Treatment -> the row's weights in the chosen head, (key), of those that hand weights out."""
        return {
            name: treated.weights[0, self.head, self.row].numpy()
            for name, (treated, _) in self.treated.items()
            if treated.weights is not None
        }

    def is_nan(self, name: str) -> bool:
        """Whether the row's output is NaN."""
        return bool(self.treated[name][0].output[0, self.row].isnan().any())

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
        row = treated.output[0, self.row]
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

    def off_elsewhere(self, name: str) -> float:
        """The largest difference from ours in the rows that have keys; NaN where such a row is NaN."""
        treated, case = self.treated[name]
        rows = self.others
        return float((treated.output - case.output)[0, rows].abs().max()) if rows else 0.0

    def sentence(self) -> str:
        """Who gives a NaN, and who does not."""
        bad = [name for name in TREATMENTS if self.is_nan(name)]
        said = [self.about(), f"{len(bad)} of {len(TREATMENTS)} ways make it NaN."]
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

    @property
    def how_to_read(self) -> str:
        return (
            f"What its weights are in {self.where}, where they are handed out; below, every treatment, run with this "
            "model’s weights."
        )

    def picture(self) -> Content:
        """The weights of that row, of the treatments that hand weights out."""
        weights = np.stack(list(self.weights.values()))
        return maps.content(
            [Map(name="", values=weights, scale=from_zero(float(np.nanmax(weights))), unit="weight")],
            rows=Axis(list(self.weights), "treatment", "way"),
            columns=Axis(self.keys, "key (column): is looked at", "key", "key"),
            square=False,
            blank="NaN",
        )

    def laws(self) -> dict[str, bool]:
        """What no treatment changes, and what must hold of ours."""
        laws = {"ours: no key, no weight, no NaN": not self.is_nan("ours") and not self.weights["ours"].any()}
        if self.others:
            apart = max(self.off_elsewhere(name) for name in TREATMENTS)
            law = f"in this layer the rows that have keys are right in all {len(TREATMENTS)} ways"
            laws[f"{law} (largest difference from ours {formats.tiny(apart)})"] = apart < SAME
        return laws

    def table(self) -> pd.DataFrame:
        """A row per treatment."""
        other = [formats.tiny(self.off_elsewhere(name)) if self.others else "there are none" for name in TREATMENTS]
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
        setting, layer = self.setting, self.layer
        query_site, key_site = reads(setting, layer)
        single_stack = not setting.model.is_encoder_decoder
        acts = self.treated["ours"][1].positional is not None
        return script(
            treatments,
            **self.in_script(),
            query_site=query_site,
            key_site=key_site,
            attention_path=("stack." if single_stack else "") + at(setting, layer, "").rstrip("."),
            positional_path=f"{'stack' if single_stack else 'decoder'}.positional" if acts else None,
        )
