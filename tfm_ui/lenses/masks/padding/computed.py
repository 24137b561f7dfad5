"""The passes of the view "padding" of the Masks lens, kept by tfm_ui/live/cache.py."""

from collections.abc import Mapping
from dataclasses import dataclass

import torch
from torch import Tensor

from tfm_core.study.empty_rows import TREATMENTS, Case, Treated, instead, minus_a_billion, minus_infinity
from tfm_ui.lenses.masks.padding import padded
from tfm_ui.lenses.masks.padding.padded import Padded
from tfm_ui.lenses.masks.passes import at, attention_of, forward, read_by, stream
from tfm_ui.live import origins, passes
from tfm_ui.live.cache import cached
from tfm_ui.live.origins import Heads
from tfm_ui.live.passes import place

WAYS = ("alone", "with", "without")
AMOUNTS = (0, 1, 2, 4, 8, 16, 32, 64)  # of PADs
SPREADS = {"−∞ and softmax": minus_infinity, "−1e9 and softmax": minus_a_billion, "ours": None}


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


def places(batch: Padded) -> list[str]:
    """The recording's names of `Run.streams`."""
    model = batch.setting.model
    stack = "decoder." if model.is_encoder_decoder else ""
    layers = [stream(model, layer) for layer in range(model.num_layers)]
    end = [f"{stack}final_norm"] if model.norm == "pre" else []
    return [f"{stack}layers.0.self_attention.residual_before", *layers, *end]


def _run(batch: Padded, source: Tensor, mask: Tensor, rows: slice, item: int) -> Run:
    """A pass, of which `rows` of sentence `item` are kept; its mask is boolean (batch, 1, query, key)."""
    setting, sites = batch.setting, places(batch)
    where = place(setting.model, setting.place)
    kept: dict[str, Tensor] = {}

    def keep(site: str, tensor: Tensor) -> None:
        kept[site] = tensor[item : item + 1].clone()  # of the batch no more than this

    forward(setting, mask=mask, source=source, watch=dict.fromkeys([*sites, *origins.sites(where)], keep))
    made_of = origins.origins(kept, where, setting.model.num_layers, passes.scheme(setting.model, setting.place))
    heads = Heads(made_of, mask[item, 0].contiguous().numpy())
    return Run(torch.stack([kept[site][0, rows] for site in sites]), heads, rows)


@cached()
def runs(batch: Padded) -> Mapping[str, Run]:
    """The chosen sentence "alone", and in the batch "with" padding hidden and "without"; rows that are no padding."""
    source, mask = batch.alone
    found = [_run(batch, source, mask[None, None], slice(0, len(mask)), 0)]
    found += [
        _run(batch, batch.source, batch.masks(hidden=hidden), batch.queries, batch.item) for hidden in (True, False)
    ]
    return dict(zip(WAYS, found, strict=True))


@cached()
def by_amount(batch: Padded, most: int) -> Mapping[int, tuple[Tensor, Tensor]]:
    """How many PADs -> the sentence's output (token, d_model) with PAD hidden, and without.

    Args:
        batch: the sentence that is looked at is run, one copy with the mask and one without it.
        most: places that tokens and padding may take together.
    """
    setting, found = batch.setting, {}
    text, side = setting.model.source_tokens, batch.side
    for pads in sorted({*AMOUNTS, batch.pads}):
        if batch.read + pads > most:
            break
        free = padded.laid(setting, side, words=True, pads=pads)
        masks = torch.stack([free & padded.key_mask(setting, side, pads), free])[:, None]
        source = padded.ids(text, side, pads).expand(2, -1)
        rows = padded.real(text, side, pads) if setting.place == "self" else batch.queries
        output = places(batch)[-1]
        _, trace = forward(setting, [output], mask=masks, source=source)
        with_it, without = trace[output][:, rows]
        found[pads] = (with_it, without)
    return found


def _emptied_by(batch: Padded, row: int) -> int:
    """A row as `padded.emptied` takes it: 0 for all rows that make no other mask, so that none is run twice."""
    _, empty, by_hand = padded.emptied(batch, row)
    return empty[0] + 1 if by_hand else 0


def treated(batch: Padded, row: int, layer: int) -> Mapping[str, tuple[Treated, Case]]:
    """What each treatment makes of a row without a key (`padded.emptied`), in the attention of a layer, from 0."""
    return _treated(batch, _emptied_by(batch, row), layer)


@cached()
def _read(batch: Padded, row: int) -> list[tuple[Tensor, Tensor]]:
    """What each layer's attention reads under a mask with a row without a key."""
    mask, _, _ = padded.emptied(batch, row)
    return read_by(batch.setting, mask=mask, source=batch.own_source)


@cached()
def _treated(batch: Padded, row: int, layer: int) -> Mapping[str, tuple[Treated, Case]]:
    setting = batch.setting
    mask, _, _ = padded.emptied(batch, row)
    scheme = passes.scheme(setting.model, setting.place)
    acts = scheme is not None and {"rotate", "bias_at"} & set(scheme.enters())
    queries, keys = _read(batch, row)[layer]
    case = Case.of(attention_of(setting, layer), queries, keys, mask, scheme if acts else None)
    return {name: treatment.run(case) for name, treatment in TREATMENTS.items()}


@dataclass(frozen=True)
class Onto:
    """The weight that the heads of the second layer give to rows without a key.

    Attributes:
        blind: how many rows with keys may not look there.
        largest: (head), the largest weight that one of them gives; NaN if one is.
    """

    blind: int
    largest: list[float]


@dataclass(frozen=True)
class Spread:
    """One way to treat an empty row, through the whole model; padding included.

    Attributes:
        streams: as in `Run`.
        logits: (token, vocab).
        onto: None where there is no second layer, or where keys are another text's.
    """

    streams: Tensor
    logits: Tensor
    onto: Onto | None


def spread(batch: Padded, row: int) -> Mapping[str, Spread]:
    """The whole model under a mask with a row without a key, each way of `SPREADS` in the place of ours.

    Args:
        batch: its chosen sentence is run.
        row: as in `padded.emptied`.
    """
    return _spread(batch, _emptied_by(batch, row))


@cached()
def _spread(batch: Padded, row: int) -> Mapping[str, Spread]:
    setting, sites, found = batch.setting, places(batch), {}
    mask, empty, _ = padded.emptied(batch, row)
    blind = ~mask[:, empty].any(-1) & mask.any(-1)  # rows with keys that may look at none of these
    second = at(setting, 1, "weights") if setting.model.num_layers > 1 and setting.place != "cross" else ""
    for name, weights_of in SPREADS.items():
        edits = instead(weights_of, at(setting, "*", "").removesuffix(".")) if weights_of else None
        largest: list[float] = []

        def look(_: str, weights: Tensor, largest: list[float] = largest) -> None:
            given = weights[0][:, blind][:, :, empty].flatten(1)
            largest += given.amax(1).tolist() if given.numel() else [0.0] * len(given)

        logits, trace = forward(
            setting, sites, mask=mask, source=batch.own_source, edits=edits, watch={second: look} if second else None
        )
        streams = torch.stack([trace[site][0] for site in sites])
        found[name] = Spread(streams, logits[0], Onto(int(blind.sum()), largest) if second else None)
    return found
