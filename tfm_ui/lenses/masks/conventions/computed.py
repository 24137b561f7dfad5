"""What the view "conventions" of the Masks lens runs and keeps: the calls that masks are for."""

import gc
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib import import_module

import torch
from torch import Tensor

from tfm_core import MultiHeadAttention
from tfm_core.study.mask_conventions import CONVENTIONS
from tfm_core.study.mask_verified import Verified, verify
from tfm_ui.lenses.masks.passes import attention_of, read_by
from tfm_ui.lenses.masks.state import Setting
from tfm_ui.live.cache import cached

CELLS_AT_ONCE = 2**22  # cells of all heads of a batch whose calls are compared; a larger batch is left to one sentence


@dataclass(frozen=True)
class Live:
    """What a layer's attention works on in a pass under the mask.

    Attributes:
        attention: the layer's.
        query: (batch, query, d_model), what its queries are made of.
        key: (batch, key, d_model), likewise; the same tensor in self-attention.
        mask: boolean (batch, query, key), True = may attend.
    """

    attention: MultiHeadAttention
    query: Tensor
    key: Tensor
    mask: Tensor


@cached()
def _read(settings: tuple[Setting, ...]) -> tuple[Tensor, list[tuple[Tensor, Tensor]]]:
    """The masks of a batch, and what each layer's attention reads of it, as in `read_by`."""
    mask = torch.stack([setting.mask for setting in settings])
    source = torch.cat([setting.model.source_tokens.batch for setting in settings])
    return mask, read_by(settings[0], mask=mask[:, None], source=source)


def live(settings: Sequence[Setting], layer: int) -> Live:
    """A pass of a batch, each sentence under its own mask, up to the attention of a layer, from 0."""
    mask, read = _read(tuple(settings))
    return Live(attention_of(settings[0], layer), *read[layer], mask)


@cached()
def verified(settings: tuple[Setting, ...], layer: int, hugging_face: bool) -> dict[str, Verified]:
    """Each convention's call, by its name, beside ours; without transformers' calls, if it is not installed."""
    seen = live(settings, layer)
    return {
        name: verify(convention, seen.attention, seen.query, seen.key, seen.mask)
        for name, convention in CONVENTIONS.items()
        if (hugging_face or convention.library == "torch") and (convention.across or settings[0].place != "cross")
    }


@cache
def hugging_face() -> bool:
    """Load transformers, and say whether it is there: this takes seconds, and only the view that calls it pays."""
    try:
        import_module("transformers.models.bert.modeling_bert")
    except ImportError:
        return False
    gc.collect()
    gc.freeze()  # as when the server starts: else each run of a page looks through all of this anew
    return True
