"""The batch's mask as other libraries' calls expect it, and what these calls make of it."""

import gc
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from importlib import import_module

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from tfm_core import POSITIONAL, MultiHeadAttention
from tfm_core.study.mask_conventions import CONVENTIONS, Convention
from tfm_core.study.mask_verified import Verified, verify
from tfm_ui.lenses.masks.mask_code import code_to_copy
from tfm_ui.lenses.masks.masked_passes import MasksPanel, attention_of, attention_under, read_by
from tfm_ui.lenses.masks.state import MasksState, Setting, item_of, padded, sentences, setting
from tfm_ui.live import passes
from tfm_ui.live.cache import cached
from tfm_ui.live.memory import LITTLE
from tfm_ui.live.tensors.step import Step, held
from tfm_ui.settings import ENTRIES, SETTINGS
from tfm_ui.state.model_state import WEIGHTS, ModelState
from tfm_ui.state.pass_cost import NUMBER

ROUNDING = 1e-5  # by how much float32 outputs may differ when summed in another order, as a share of the largest
ACROSS = "HF, attention_mask"
INSIDE = {"rotate": "turns queries and keys", "bias_at": "adds to the scores"}  # what positions do in an attention
CELLS_AT_ONCE = 2**22  # cells of all heads of a batch whose calls are compared; a larger batch is left to one sentence


@dataclass(frozen=True)
class AttentionInputs:
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


def attention_inputs(settings: Sequence[Setting], layer: int) -> AttentionInputs:
    """A pass of a batch, each sentence under its own mask, up to the attention of a layer, from 0."""
    mask, read = _read(tuple(settings))
    return AttentionInputs(attention_of(settings[0], layer), *read[layer], mask)


@cached()
def verified(settings: tuple[Setting, ...], layer: int, hugging_face: bool) -> dict[str, Verified]:
    """Each convention's call, by its name, beside ours; without transformers' calls, if it is not installed."""
    inputs = attention_inputs(settings, layer)
    return {
        name: verify(convention, inputs.attention, inputs.query, inputs.key, inputs.mask)
        for name, convention in CONVENTIONS.items()
        if (hugging_face or convention.library == "torch") and (convention.across or settings[0].place != "cross")
    }


def why_without() -> str:
    """Why transformers is not called, as the beginning of a sentence."""
    if SETTINGS.transformers == "no":
        return f"transformers is not loaded on this server (its setting {ENTRIES['transformers'].variable})"
    return "transformers is not installed here"


@cache
def hugging_face() -> bool:
    """Load transformers, and say whether it is there: this takes seconds, and only the view that calls it pays."""
    if SETTINGS.transformers == "no":
        return False
    try:
        import_module("transformers.models.bert.modeling_bert")
    except ImportError:
        return False
    gc.collect()
    gc.freeze()  # as when the server starts: else each run of a page looks through all of this anew
    return True


def conventions_needs(model: ModelState, state: MasksState) -> int:
    """The bytes that a pass of the page takes, and the scores of a batch, or of a large one's chosen sentence, in the
    calls that are compared.
    """
    count, alone = len(sentences(model, state)), model.num_heads * padded(model, state).longest ** 2
    return passes.needs(model) + LITTLE + 6 * NUMBER * (count * alone if count * alone <= CELLS_AT_ONCE else alone)


class ConventionsPanel(MasksPanel):
    """A panel about the batch, and the convention that was chosen."""

    ignores = WEIGHTS
    needs = conventions_needs

    @cached_property
    def count(self) -> int:
        """How many sentences the batch has."""
        return len(sentences(self.model, self.state))

    @cached_property
    def settings(self) -> tuple[Setting, ...]:
        """The sentences that are run: the whole batch, or of a large one the chosen sentence alone."""
        every = tuple(setting(self.model, self.state, item + 1) for item in range(self.count))
        cells = self.model.num_heads * every[0].mask.numel() * self.count
        return every if cells <= CELLS_AT_ONCE else (setting(self.model, self.state),)

    @property
    def at(self) -> int:
        """The chosen sentence, from 0, among those that are run."""
        return item_of(self.model, self.state) - 1 if len(self.settings) == self.count else 0

    @cached_property
    def setting(self) -> Setting:
        return self.settings[self.at]

    @property
    def chosen(self) -> str:
        """The chosen one's name; for cross-attention, where that has no such call, the name of the one in its place."""
        chosen = self.state.convention
        return chosen if CONVENTIONS[chosen].across or self.settings[0].place != "cross" else ACROSS

    @property
    def convention(self) -> Convention:
        """The convention that is chosen."""
        return CONVENTIONS[self.chosen]

    @cached_property
    def mask(self) -> torch.Tensor:
        """Boolean (batch, query, key), True = may attend."""
        return torch.stack([setting.mask for setting in self.settings])

    @cached_property
    def handed(self) -> torch.Tensor:
        """The mask as the chosen convention has it."""
        return self.convention.to(self.mask, self.model.num_heads)

    @property
    def tensors(self) -> Step:
        called = self.convention.shape.strip("()").split(", ")
        axes = called if len(called) == self.handed.dim() else [f"axis {at}" for at in range(self.handed.dim())]
        about = f"what “{self.chosen}” takes in its place"
        return attention_under(self.setting, self.layer).also(
            held("masks", ("batch", "query", "key"), self.mask, "the mask of each sentence, True = may attend"),
            held("handed", axes, self.handed, about),
            note="What is handed to a library is taken as it is.",
        )

    @cached_property
    def lost(self) -> NDArray[np.bool_]:
        """(batch, query, key): what the chosen convention cannot say."""
        said = self.convention.back(self.handed, tuple(self.mask.shape), self.model.num_heads)
        return (said != self.mask).numpy()

    @cached_property
    def verified(self) -> dict[str, Verified]:
        """What the calls gave, by convention."""
        return verified(self.settings, self.layer, hugging_face())

    @property
    def where(self) -> str:
        """The attention that the calls stand in for."""
        place = {"self": "", "decoder": "the decoder’s ", "cross": "the decoder’s cross-attention, "}
        return f"{place[self.settings[0].place]}layer {self.layer + 1}"

    def aside(self) -> str:
        """What of the model or the batch takes no part, "" if all does."""
        sentences = []
        if len(self.settings) < self.count:
            sentences.append(
                f"All {self.count} sentences of this size at once would take seconds: the calls get the chosen "
                "sentence alone."
            )
        does = [INSIDE[place] for place in POSITIONAL[self.model.positional].enters() if place in INSIDE]
        if does and self.settings[0].place != "cross":
            sentences.append(
                f"{self.model.positional} {' and '.join(does)} within the attention, which no call here knows of: it "
                "is left out on both sides of the comparison."
            )
        return " ".join(sentences)

    def recipe(self) -> str:
        """The code to copy."""
        return code_to_copy(self.settings, self.convention)
