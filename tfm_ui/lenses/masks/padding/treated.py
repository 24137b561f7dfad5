"""The whole model run on under a mask with a row without a key, each of three ways to treat it in all attentions."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import torch
from torch import Tensor

from tfm_core.study.empty_rows import instead, minus_a_billion, minus_infinity
from tfm_ui.lenses.masks.masked_passes import at, forward_under_mask, layer_sites, logits_of, reads
from tfm_ui.lenses.masks.padding.padded import Padded, without_keys
from tfm_ui.live.cache import cached


def spreads() -> dict[str, Callable[[Tensor], Tensor] | None]:
    """The ways to treat a row without a key that run through the whole model, in the place of ours."""
    return {"−∞ and softmax": minus_infinity, "−1e9 and softmax": minus_a_billion, "ours": None}


SPREADS = spreads()
INFINITE, LARGE, OURS = SPREADS


@dataclass(frozen=True)
class TreatedPass:
    """One way to treat an empty row, through the whole model; padding included."""

    streams: Tensor
    """(place, row, d_model), as in `Run`."""

    logits: Tensor
    """(token, vocab)."""

    reads: list[tuple[Tensor, Tensor]]
    """What the queries and the keys of each layer's attention are made of, (1, seq, d_model)."""

    onto_empty: list[float] | None
    """The largest weight that a row with keys gives, in a head of the second layer, to rows without that it may not
    look at, (head); NaN if one is. None where there is no second layer, or where keys are another text's."""


def blind_to(mask: Tensor, empty: list[int]) -> Tensor:
    """Boolean (query): the rows with keys that may look at none of these."""
    return ~mask[:, empty].any(-1) & mask.any(-1)


@cached()
def treated_passes(batch: Padded, row: int) -> Mapping[str, TreatedPass]:
    """The whole model under a mask with a row without a key (`without_keys`), each of `SPREADS` in place of ours."""
    return {
        name: _treated_pass(batch, row, weights_of) if weights_of else treated_by_ours(batch, row)
        for name, weights_of in SPREADS.items()
    }


@cached()
def treated_by_ours(batch: Padded, row: int) -> TreatedPass:
    """The pass in which nothing is replaced; both panels look at it."""
    return _treated_pass(batch, row, None)


def _treated_pass(batch: Padded, row: int, weights_of: Callable[[Tensor], Tensor] | None) -> TreatedPass:
    setting, sites = batch.setting, layer_sites(batch.setting.model)
    mask, empty, _ = without_keys(batch, row)
    blind = blind_to(mask, empty)
    second = at(setting, 1, "weights") if setting.model.num_layers > 1 and setting.place != "cross" else ""
    edits = instead(weights_of, at(setting, "*", "").removesuffix(".")) if weights_of else None
    largest: list[float] = []

    def look(_: str, weights: Tensor) -> None:
        given = weights[0][:, blind][:, :, empty].flatten(1)
        largest.extend(given.amax(1).tolist() if given.numel() else [0.0] * len(given))

    read = [reads(setting, layer) for layer in range(setting.model.num_layers)]
    states, trace = forward_under_mask(
        setting,
        {*sites, *(site for both in read for site in both)},
        mask=mask,
        source=batch.chosen_source,
        edits=edits,
        watch={second: look} if second else None,
    )
    return TreatedPass(
        torch.stack([trace[site][0] for site in sites]),
        logits_of(setting, states[0]),
        [(trace[queries], trace[keys]) for queries, keys in read],
        largest if second else None,
    )
