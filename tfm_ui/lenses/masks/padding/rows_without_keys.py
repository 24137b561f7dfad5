"""Rows without any key: which they are, and what each way to treat them gives, in one attention and in the model."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import torch
from torch import Tensor

from tfm_core.study.empty_rows import TREATMENTS, Case, Treated, instead, minus_a_billion, minus_infinity
from tfm_ui.lenses.masks.masked_passes import at, attention_of, forward_under_mask, layer_sites, read_by
from tfm_ui.lenses.masks.padding.padded import Padded, batch_of, without_keys
from tfm_ui.lenses.masks.padding.shares import names_of
from tfm_ui.lenses.masks.state import MasksState
from tfm_ui.live import passes
from tfm_ui.live.cache import cached
from tfm_ui.state.model_state import ModelState

READ_UP_TO = 128  # places: what becomes of a row is the same at any length
SPREADS = {"−∞ and softmax": minus_infinity, "−1e9 and softmax": minus_a_billion, "ours": None}


@dataclass(frozen=True)
class RowsWithoutKeys:
    """A sentence, its mask, and the rows of it that have no key.

    Attributes:
        state: the lens's controls.
        batch: the sentences; the chosen one is run.
        rows: without a key, from 0.
        by_hand: whether the one among them was emptied here.
    """

    state: MasksState
    batch: Padded
    rows: list[int]
    by_hand: bool

    @cached_property
    def queries(self) -> list[str]:
        """A label per row."""
        return names_of(self.batch.setting.queries, self.batch.side)

    @cached_property
    def keys(self) -> list[str]:
        """A label per key."""
        return names_of(self.batch.setting.keys, self.batch.side)

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

    def aside(self, model: ModelState) -> str:
        """What is another than the sidebar says; "" if nothing."""
        read = self.batch.setting.model.length
        if read == model.length:
            return ""
        return f"Empty rows are run on the first {read} of {model.length} places: what becomes of them is the same."


def rows_without_keys(model: ModelState, state: MasksState) -> RowsWithoutKeys:
    """The rows without a key, of the batch's chosen sentence."""
    batch = batch_of(model, state, READ_UP_TO)
    _, rows, by_hand = without_keys(batch, state.row)
    return RowsWithoutKeys(state, batch, rows, by_hand)


def _emptied_by(batch: Padded, row: int) -> int:
    """A row as `without_keys` takes it: 0 for all rows that make no other mask, so that none is run twice."""
    _, empty, by_hand = without_keys(batch, row)
    return empty[0] + 1 if by_hand else 0


def treated(batch: Padded, row: int, layer: int) -> Mapping[str, tuple[Treated, Case]]:
    """What each treatment makes of a row without a key (`without_keys`), in the attention of a layer, from 0."""
    return _treated(batch, _emptied_by(batch, row), layer)


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


@dataclass(frozen=True)
class WeightOnEmptyRows:
    """The weight, in the heads of the second layer, of rows without a key.

    Attributes:
        blind: how many rows with keys may not look there.
        largest: (head), the largest weight that one of them gives; NaN if one is.
    """

    blind: int
    largest: list[float]


@dataclass(frozen=True)
class TreatedPass:
    """One way to treat an empty row, through the whole model; padding included.

    Attributes:
        streams: as in `Run`.
        logits: (token, vocab).
        on_empty_rows: None where there is no second layer, or where keys are another text's.
    """

    streams: Tensor
    logits: Tensor
    on_empty_rows: WeightOnEmptyRows | None


def treated_passes(batch: Padded, row: int) -> Mapping[str, TreatedPass]:
    """The whole model under a mask with a row without a key, each way of `SPREADS` in the place of ours.

    Args:
        batch: its chosen sentence is run.
        row: as in `without_keys`.
    """
    return _treated_passes(batch, _emptied_by(batch, row))


@cached()
def _treated_passes(batch: Padded, row: int) -> Mapping[str, TreatedPass]:
    setting, sites, ways = batch.setting, layer_sites(batch.setting.model), {}
    mask, empty, _ = without_keys(batch, row)
    blind = ~mask[:, empty].any(-1) & mask.any(-1)  # rows with keys that may look at none of these
    second = at(setting, 1, "weights") if setting.model.num_layers > 1 and setting.place != "cross" else ""
    for name, weights_of in SPREADS.items():
        edits = instead(weights_of, at(setting, "*", "").removesuffix(".")) if weights_of else None
        largest: list[float] = []

        def look(_: str, weights: Tensor, largest: list[float] = largest) -> None:
            given = weights[0][:, blind][:, :, empty].flatten(1)
            largest += given.amax(1).tolist() if given.numel() else [0.0] * len(given)

        logits, trace = forward_under_mask(
            setting, sites, mask=mask, source=batch.chosen_source, edits=edits, watch={second: look} if second else None
        )
        streams = torch.stack([trace[site][0] for site in sites])
        ways[name] = TreatedPass(streams, logits[0], WeightOnEmptyRows(int(blind.sum()), largest) if second else None)
    return ways
