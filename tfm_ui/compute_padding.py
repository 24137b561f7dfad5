"""The passes of the view "padding" of the Masks lens, and their caches; keys as in compute.py."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial

import streamlit as st
import torch
from torch import Tensor

from tfm_core.empty_rows import TREATMENTS, Case, Treated, instead, minus_a_billion, minus_infinity
from tfm_core.recording import Edit
from tfm_ui import compute, padded
from tfm_ui.compute_masks import at, forward, read_by, stream
from tfm_ui.padded import Padded

WAYS = ("alone", "with", "without")
AMOUNTS = (0, 1, 2, 4, 8, 16, 32, 64)  # of PADs
SPREADS = {"−∞ and softmax": minus_infinity, "−1e9 and softmax": minus_a_billion, "ours": None}


@dataclass(frozen=True)
class Run:
    """One pass of the sentence, without what is padding.

    Attributes:
        streams: (place, token, d_model): what enters the first layer, what each layer leaves, and the output.
        weights: (query, key) of the chosen head; columns of padding included.
    """

    streams: Tensor
    weights: Tensor


def places(batch: Padded) -> list[str]:
    """The recording's names of `Run.streams`."""
    model = batch.setting.model
    stack = "decoder." if model.is_encoder_decoder else ""
    layers = [stream(model, layer) for layer in range(model.num_layers)]
    end = [f"{stack}final_norm"] if model.norm == "pre" else []
    return [f"{stack}layers.0.self_attention.residual_before", *layers, *end]


def _run(
    batch: Padded,
    source: Tensor,
    mask: Tensor,
    rows: slice,
    item: int,
    *,
    weights: tuple[int, int] | None = None,
    edits: Mapping[str, Edit] | None = None,
) -> tuple[Run, Tensor]:
    """A pass, and its logits (token, vocab); `rows` of sentence `item` are kept, weights of a layer and head."""
    kept: dict[str, Tensor] = {}

    def keep(at: int | tuple[int, int], site: str, tensor: Tensor) -> None:
        kept[site] = tensor[at][rows].clone()

    sites = places(batch)
    watch = {site: partial(keep, item) for site in sites}
    if weights:
        watch[looked := at(batch.setting, weights[0], "weights")] = partial(keep, (item, weights[1]))
    logits, _ = forward(batch.setting, mask=mask, source=source, edits=edits, watch=watch)
    own = kept[looked] if weights else torch.empty(0)
    return Run(torch.stack([kept[site] for site in sites]), own), logits[item, rows]


@st.cache_resource(max_entries=16, show_spinner=False, hash_funcs={Padded: repr})
def runs(batch: Padded, layer: int, head: int) -> Mapping[str, Run]:
    """The chosen sentence "alone", and in the batch "with" padding hidden and "without"; layer and head from 0."""
    source, mask = batch.alone
    found = [_run(batch, source, mask, slice(0, len(mask)), 0, weights=(layer, head))[0]]
    for hidden in (True, False):
        mask = batch.masks(hidden=hidden)
        found.append(_run(batch, batch.source, mask, batch.queries, batch.item, weights=(layer, head))[0])
    return dict(zip(WAYS, found, strict=True))


@st.cache_resource(max_entries=16, show_spinner=False, hash_funcs={Padded: repr})
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


@st.cache_resource(max_entries=16, show_spinner=False, hash_funcs={Padded: repr})
def treated(batch: Padded, row: int, layer: int) -> Mapping[str, tuple[Treated, Case]]:
    """What each treatment makes of a row without a key (`padded.emptied`), in the attention of a layer, from 0."""
    setting = batch.setting
    mask, _, _ = padded.emptied(batch, row)
    attention, queries, keys = read_by(setting, layer, mask=mask, source=batch.own_source)
    scheme = compute.scheme(setting.model, setting.place)
    acts = scheme is not None and {"rotate", "bias_at"} & set(scheme.enters())
    case = Case.of(attention, queries, keys, mask, scheme if acts else None)
    return {name: treatment.run(case) for name, treatment in TREATMENTS.items()}


@dataclass(frozen=True)
class Onto:
    """The weight that the chosen head of the second layer gives to rows without a key.

    Attributes:
        blind: how many rows with keys may not look there.
        largest: the largest weight that one of them gives; NaN if one is.
    """

    blind: int
    largest: float


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


@st.cache_resource(max_entries=16, show_spinner=False, hash_funcs={Padded: repr})
def spread(batch: Padded, row: int, head: int) -> Mapping[str, Spread]:
    """The whole model under a mask with a row without a key, each way of `SPREADS` in the place of ours.

    Args:
        batch: its chosen sentence is run.
        row: as in `padded.emptied`.
        head: of the second layer, from 0, whose weights are looked at.
    """
    setting, found = batch.setting, {}
    mask, empty, _ = padded.emptied(batch, row)
    blind = ~mask[:, empty].any(-1) & mask.any(-1)  # rows with keys that may look at none of these
    second = (1, head) if setting.model.num_layers > 1 and setting.place != "cross" else None
    for name, weights_of in SPREADS.items():
        edits = instead(weights_of, at(setting, "*", "").removesuffix(".")) if weights_of else None
        run, logits = _run(batch, batch.own_source, mask, slice(None), 0, weights=second, edits=edits)
        given = run.weights[blind][:, empty] if second else torch.empty(0)
        onto = Onto(int(blind.sum()), float(given.max()) if given.numel() else 0.0) if second else None
        found[name] = Spread(run.streams, logits, onto)
    return found
