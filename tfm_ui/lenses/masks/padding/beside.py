"""The chosen sentence alone and in a padded batch, with padding hidden and without: the passes, and what they give."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from tfm_core import POSITIONAL
from tfm_ui.lenses.masks.masked_passes import forward_under_mask, layer_sites
from tfm_ui.lenses.masks.padding.padded import Padded, batch_of, ids, key_mask, laid, most_places, real
from tfm_ui.lenses.masks.padding.shares import ROUNDING, moved, names_of
from tfm_ui.lenses.masks.state import MasksState, padded
from tfm_ui.live import origins, passes
from tfm_ui.live.cache import cached
from tfm_ui.live.origins import Heads
from tfm_ui.live.places import place
from tfm_ui.state.model_state import ModelState
from tfm_ui.text import formats, token_labels

WAYS = ("alone", "with", "without")
TITLES = {"with": "Padding hidden", "without": "Padding not hidden"}
AMOUNTS = (0, 1, 2, 4, 8, 16, 32, 64)  # of PADs


@dataclass(frozen=True)
class Run:
    """One pass of the sentence.

    Attributes:
        streams: (place, row, d_model): what enters the first layer, what each layer leaves, and the output.
        heads: of the attention that the mask is for.
        rows: which of its queries the rows are.
    """

    streams: Tensor
    heads: Heads
    rows: slice

    def weights(self, layer: int, head: int) -> Tensor:
        """(row, key) of a head, columns of padding included; layer and head from 0."""
        return torch.from_numpy(self.heads.exact(layer, head)[self.rows])


def _run(batch: Padded, source: Tensor, mask: Tensor, rows: slice, item: int) -> Run:
    """A pass, of which `rows` of sentence `item` are kept; its mask is boolean (batch, 1, query, key)."""
    setting, sites = batch.setting, layer_sites(batch.setting.model)
    where = place(setting.model, setting.place)
    kept: dict[str, Tensor] = {}

    def keep(site: str, tensor: Tensor) -> None:
        kept[site] = tensor[item : item + 1].clone()  # of the batch no more than this

    forward_under_mask(setting, mask=mask, source=source, watch=dict.fromkeys([*sites, *origins.sites(where)], keep))
    made_of = origins.origins(kept, where, setting.model.num_layers, passes.scheme(setting.model, setting.place))
    heads = Heads(made_of, mask[item, 0].contiguous().numpy())
    return Run(torch.stack([kept[site][0, rows] for site in sites]), heads, rows)


@cached()
def runs(batch: Padded) -> Mapping[str, Run]:
    """The chosen sentence "alone", and in the batch "with" padding hidden and "without"; rows that are no padding."""
    source, mask = batch.alone
    alone = _run(batch, source, mask[None, None], slice(0, len(mask)), 0)
    beside = (
        _run(batch, batch.source, batch.masks(hidden=hidden), batch.queries, batch.item) for hidden in (True, False)
    )
    return dict(zip(WAYS, (alone, *beside), strict=True))


@cached()
def by_amount(batch: Padded, most: int) -> Mapping[int, tuple[Tensor, Tensor]]:
    """How many PADs -> the sentence's output (token, d_model) with PAD hidden, and without.

    Args:
        batch: the sentence that is looked at is run, one copy with the mask and one without it.
        most: places that tokens and padding may take together.
    """
    setting, outputs = batch.setting, {}
    text, side = setting.model.source_tokens, batch.side
    for pads in sorted({*AMOUNTS, batch.pads}):
        if batch.read + pads > most:
            break
        mask_with_padding = laid(setting, side, words=True, pads=pads)
        masks = torch.stack([mask_with_padding & key_mask(setting, side, pads), mask_with_padding])[:, None]
        source = ids(text, side, pads).expand(2, -1)
        rows = real(text, side, pads) if setting.place == "self" else batch.queries
        output = layer_sites(batch.setting.model)[-1]
        _, trace = forward_under_mask(setting, [output], mask=masks, source=source)
        with_it, without = trace[output][:, rows]
        outputs[pads] = (with_it, without)
    return outputs


@dataclass(frozen=True)
class AloneAndPadded:
    """The sentence alone beside the sentence in its batch.

    Attributes:
        model: the sidebar's.
        state: the lens's controls.
        batch: the padded batch.
        runs: as `runs` gives them.
        amounts: PADs -> the largest move of an output, with padding hidden and without.
    """

    model: ModelState
    state: MasksState
    batch: Padded
    runs: Mapping[str, Run]
    amounts: Mapping[int, tuple[float, float]]

    @cached_property
    def shares(self) -> dict[str, NDArray[np.float32]]:
        """Way -> (place, token), how far each vector is from what it is alone."""
        return {way: moved(self.runs["alone"].streams, self.runs[way].streams) for way in TITLES}

    @cached_property
    def weights(self) -> dict[str, Tensor]:
        """Way -> (token, key) of the chosen head, columns of padding included."""
        return {way: run.weights(self.state.layer - 1, self.state.head - 1) for way, run in self.runs.items()}

    @cached_property
    def names(self) -> list[str]:
        """A label per token whose output is compared."""
        tokens = self.batch.setting.queries
        return token_labels.labels(tokens)[: len(tokens.pieces)]

    @cached_property
    def keys(self) -> list[str]:
        """A label per key, padding included."""
        return names_of(self.batch.setting.keys, self.batch.side)

    def largest(self, way: str) -> float:
        """The largest move of an output."""
        return float(self.shares[way][-1].max())

    @property
    def where(self) -> str:
        """Where padding stands, and how much of it."""
        on = {"right": "after", "left": "before"}[self.batch.side]
        return f"{formats.plural(self.batch.pads, 'PAD')} {on} {formats.plural(self.batch.read, 'token')}"

    @cached_property
    def open_columns(self) -> NDArray[np.intp]:
        """The columns of padding, of the attention that the mask is for."""
        return np.delete(np.arange(len(self.keys)), self.batch.keys)

    @property
    def may_look(self) -> bool:
        """Whether any token may look at padding if it is taken for words."""
        mask = self.batch.masks(hidden=False)[self.batch.item, 0][self.batch.queries]
        return bool(mask[:, self.open_columns].any())

    @property
    def harmless(self) -> bool:
        """Whether it makes no difference that padding is not hidden."""
        return max(self.largest(way) for way in TITLES) < ROUNDING

    @property
    def shifted(self) -> bool:
        """Whether tokens get other positions than alone: those that are added by place, where PAD stands before."""
        return self.batch.side == "left" and "encode" in POSITIONAL[self.model.positional].enters()

    def aside(self) -> str:
        """What is another than the sidebar says; "" if nothing."""
        read = self.batch.setting.model.length
        if read == self.model.length:
            return ""
        return (
            f"{formats.plural(len(self.batch.settings), 'sentence')} of {self.model.length} places in "
            f"{formats.plural(self.model.num_layers, 'layer')} of {formats.plural(self.model.num_heads, 'head')} take "
            f"long: of each the first {read} are read."
        )


def run_beside(model: ModelState, state: MasksState) -> AloneAndPadded:
    """Run the sentence alone, in its batch, and with more or less padding."""
    model, batch = padded(model, state), batch_of(model, state)
    three_runs = runs(batch)
    end = three_runs["alone"].streams[-1]
    most = max(batch.read, min(most_places(model, 2 * len(AMOUNTS)), model.most_tokens))  # of all of them together
    amounts = {
        pads: (float(moved(end, with_it).max()), float(moved(end, without).max()))
        for pads, (with_it, without) in by_amount(batch, most).items()
    }
    return AloneAndPadded(model, state, batch, three_runs, amounts)
