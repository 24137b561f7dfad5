"""What the view "conventions" of the Masks lens runs and keeps: the calls that masks are for, and what was uploaded."""

import gc
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import import_module

import streamlit as st
import torch
from torch import Tensor

from tfm_core import MultiHeadAttention
from tfm_core.mask_conventions import CONVENTIONS
from tfm_core.mask_verified import Verified, verify
from tfm_ui.compute_masks import read_by
from tfm_ui.mask_setting import Setting
from tfm_ui.mask_text import Table

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


def live(settings: Sequence[Setting], layer: int) -> Live:
    """A pass of a batch, each sentence under its own mask, up to the attention of a layer, from 0."""
    mask = torch.stack([setting.mask for setting in settings])
    source = torch.cat([setting.model.source_tokens.batch for setting in settings])
    return Live(*read_by(settings[0], layer, mask=mask[:, None], source=source), mask)


@st.cache_resource(max_entries=16, show_spinner=False, hash_funcs={tuple: repr})
def verified(settings: tuple[Setting, ...], layer: int, hugging_face: bool) -> dict[str, Verified]:
    """Each convention's call, by its name, beside ours; without transformers' calls, if it is not installed."""
    seen = live(settings, layer)
    return {
        name: verify(convention, seen.attention, seen.query, seen.key, seen.mask)
        for name, convention in CONVENTIONS.items()
        if (hugging_face or convention.library == "torch") and (convention.across or settings[0].place != "cross")
    }


@st.cache_resource(show_spinner=False)
def hugging_face() -> bool:
    """Load transformers, and say whether it is there: this takes seconds, and only the view that calls it pays."""
    try:
        import_module("transformers.models.bert.modeling_bert")
    except ImportError:
        return False
    gc.collect()
    gc.freeze()  # as when the server starts: else each run of a page looks through all of this anew
    return True


@st.cache_resource(max_entries=4, show_spinner=False)
def uploaded(digest: str, _table: Table | None = None) -> Table:
    """An uploaded mask by its digest, kept by the server for a while; no link holds it.

    Raises:
        LookupError: if it is not there any more.
    """
    if _table is None:
        raise LookupError(f"expected the digest of an upload that is kept, got {digest}")
    return _table
