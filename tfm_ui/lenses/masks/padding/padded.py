"""A batch of sentences padded to one length, on either side, the masks that it runs under, and its panels' base."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from tfm_core import Tokens, padding_mask
from tfm_core.model.tokens import PAD_ID
from tfm_core.study import order
from tfm_ui.lenses.masks.composition import composed
from tfm_ui.lenses.masks.mask_code import expression, mask_of, of_sentence, with_paint
from tfm_ui.lenses.masks.masked_passes import MasksPanel, argument_of, at
from tfm_ui.lenses.masks.state import MasksState, Setting, item_of, padded, sentences, setting
from tfm_ui.live import passes
from tfm_ui.live.cache import cached, never
from tfm_ui.live.memory import MOST
from tfm_ui.live.places import texts_of
from tfm_ui.live.script import Code
from tfm_ui.page.lens import texts_of as texts_of_model
from tfm_ui.pictures.maps import MAPS
from tfm_ui.state.model_state import ModelState
from tfm_ui.state.paint import painted
from tfm_ui.state.pass_cost import NUMBER
from tfm_ui.text import formats, token_labels
from tfm_ui.text.token_row import Text

WORK = 10**10  # multiplications of a pass, up to which a batch is run: half a second
LENGTHS = (1024, 512, 256, 128)
# What moves by less than this share of its length has moved by rounding alone. Vectors beside padding that was hidden,
# of 60 random models of 1 to 8 layers, moved by up to 2e-6.
ROUNDING = 1e-5
STREAM_TITLE = "residual stream"  # what the rows of maps of layers are


@dataclass(frozen=True, kw_only=True)
class Padded:
    """The batch.

    Attributes:
        settings: its sentences, each with its mask, all of one length.
        item: the sentence that is looked at, from 0.
        side: where padding stands, of `SIDES` in tfm_ui/lenses/masks/state.py.
    """

    settings: tuple[Setting, ...]
    item: int
    side: str

    @property
    def setting(self) -> Setting:
        """The sentence that is looked at."""
        return self.settings[self.item]

    @property
    def is_heavy(self) -> bool:
        """Whether a pass takes long."""
        return self.setting.is_heavy

    @property
    def pads(self) -> int:
        """How many PADs it has."""
        return self.setting.model.source_tokens.padding

    @property
    def read(self) -> int:
        """How many tokens it has."""
        return len(self.setting.model.source_tokens.pieces)

    @property
    def queries(self) -> slice:
        """The places of the tokens that look; padding left out."""
        return real(self.setting.queries, self.side)

    @property
    def keys(self) -> slice:
        """The places of the tokens that are looked at; padding left out."""
        return real(self.setting.keys, self.side)

    @cached_property
    def source(self) -> Tensor:
        """Token ids (batch, seq)."""
        return torch.cat([ids(setting.model.source_tokens, self.side) for setting in self.settings])

    @property
    def chosen_source(self) -> Tensor:
        """The token ids of the sentence that is looked at, padding included: (1, seq)."""
        return self.source[self.item : self.item + 1]

    @property
    def alone(self) -> tuple[Tensor, Tensor]:
        """The sentence without padding: token ids (1, seq), and its mask, (query, key)."""
        return self.setting.model.source_tokens.batch[:, : self.read], among_tokens(self.setting)

    @cached_property
    def _masks(self) -> Tensor:
        return torch.stack([laid(setting, self.side, words=True) for setting in self.settings])[:, None]

    def masks(self, *, hidden: bool) -> Tensor:
        """All sentences' masks, boolean (batch, 1, query, key): as composed if PAD were a word, PAD `hidden` or not."""
        if not hidden:
            return self._masks
        keys = torch.stack([key_mask(setting, self.side) for setting in self.settings])  # (batch, 1, key)
        return self._masks & keys[:, None]


def most_places(model: ModelState, count: int) -> int:
    """How many places of each of `count` sentences are read: all, if that takes no longer than it may."""
    attentions, stacks = (3, 2) if model.is_encoder_decoder else (1, 1)

    def work(length: int) -> int:
        pairs = length * (2 * model.d_model + 64 * model.num_heads)  # a softmax takes as long as 64 multiplications
        matrices = (4 * attentions + 8 * stacks) * model.d_model**2
        return model.num_layers * count * length * (matrices + attentions * pairs)

    def fits(length: int) -> bool:
        weights = 4 * count * model.num_heads * length**2  # bytes, of the layer whose weights are looked at
        return work(length) <= WORK and 6 * weights <= MOST

    return next((length for length in LENGTHS if fits(min(length, model.length))), LENGTHS[-1])


def batch_needs(model: ModelState, state: MasksState) -> int:
    """The bytes that a pass of the batch takes: scores, weights and vectors of all sentences; and that of the page."""
    count = max(len(sentences(model, state)), 2)
    read = padded(model, state)
    places = min(most_places(read, count), read.length)
    scores, vectors = 2 * model.num_heads * places**2, places * (3 * model.hidden + 8 * model.d_model)
    return passes.needs(model) + NUMBER * count * (scores + vectors)


@cached(heavy=never)  # each panel asks for it, for its picture and for its words
def batch_of(model: ModelState, state: MasksState, most: int = 0) -> Padded:
    """The lens's batch, of which at most `most` places are read."""
    model, count = padded(model, state), len(sentences(model, state))
    settings = tuple(setting(model, state, item) for item in range(1, count + 1))
    whole = Padded(settings=settings, item=item_of(model, state) - 1, side=state.pad_side)
    return cut(whole, most or most_places(model, max(count, 2)))


def cut(batch: Padded, length: int) -> Padded:
    """The same batch, of which no more than the first `length` places are read."""
    if batch.setting.model.length <= length:
        return batch
    short = (replace(setting, model=replace(setting.model, seq_len=length)) for setting in batch.settings)
    return replace(batch, settings=tuple(short))


def texts_of_batch(model: ModelState, state: MasksState, most: int = 0) -> Sequence[Text]:
    """The texts that the model reads: the sentence on screen, with its padding on the side where it stands, and the
    target text, if there is one.

    Args:
        model: the sidebar's.
        state: the lens's.
        most: places that are read at most; 0 for as many as there is time for.
    """
    batch = batch_of(model, state, most)
    source, *target = texts_of_model(batch.setting.model, state)
    return [replace(source, padded_before=batch.side == "left"), *target]


def ids(tokens: Tokens, side: str) -> Tensor:
    """Token ids (1, seq), with their padding on that side."""
    padding, words = [PAD_ID] * tokens.padding, list(tokens.ids[: len(tokens.pieces)])
    return torch.tensor([padding + words if side == "left" else words + padding])


def real(tokens: Tokens, side: str) -> slice:
    """The places of what is no padding."""
    first = tokens.padding if side == "left" else 0
    return slice(first, first + len(tokens.pieces))


def among_tokens(setting: Setting) -> Tensor:
    """The setting's mask without the rows and columns of padding: boolean (query, key)."""
    return setting.mask[: len(setting.queries.pieces), : len(setting.keys.pieces)]


def key_mask(setting: Setting, side: str) -> Tensor:
    """Nobody looks at padding: boolean (1, key)."""
    return padding_mask(ids(setting.keys, side))[0, 0]


def laid(setting: Setting, side: str, *, words: bool) -> Tensor:
    """The setting's mask where padding stands on that side: boolean (query, key).

    Among tokens it is the setting's mask, paint included, and moves along with them. What looks at padding, and what
    padding looks at, follows from the composition: causality lets a token see what stands before it, PAD as well.

    Args:
        setting: the sentence and its mask.
        side: where padding stands, of `SIDES` in tfm_ui/lenses/masks/state.py.
        words: whether PAD is taken for a word like any other, as code does that forgets about padding.
    """
    queries, keys = (ids(text, side).clamp(min=PAD_ID + words) for text in (setting.queries, setting.keys))
    mask = composed(setting.composition, queries, keys, causal=setting.causal_anyway)
    if side == "right" and setting.paint and setting.paintable:
        mask = torch.from_numpy(painted(mask.numpy(), setting.painted))
    return with_tokens(mask, real(setting.queries, side), real(setting.keys, side), among_tokens(setting))


def with_tokens(mask_with_padding: Tensor, rows: slice, columns: slice, without_padding: Tensor) -> Tensor:
    """A mask with padding, (query, key), that is among tokens what it is without padding."""
    mask = mask_with_padding.clone()
    mask[rows, columns] = without_padding
    return mask


def without_keys(batch: Padded, row: int) -> tuple[Tensor, list[int], bool]:
    """The mask of the chosen sentence, with a row that has no key.

    Args:
        batch: the batch; only its chosen sentence is used.
        row: counted from 1, emptied if there is no such row yet; 0 and what lies beyond the last are the last.

    Returns:
        the mask, (query, key); its rows without any key, from 0; whether the one among them was emptied here.
    """
    mask = laid(batch.setting, batch.side, words=False)
    empty: list[int] = (~mask.any(-1)).nonzero().flatten().tolist()
    if empty:
        return mask, empty, False
    chosen = min(row or len(mask), len(mask)) - 1
    mask[chosen] = False
    return mask, [chosen], True


def of_batch(batch: Padded, *, words: bool) -> dict[str, Any]:
    """The header's part on the chosen sentence, alone and beside its padding.

    It holds the sentence's `mask`, and what of it is `among_tokens`; the texts `alone`, and `padded`; the composed mask
    with that padding, `mask_with_padding`, and where in it the tokens stand, `rows` and `columns`.

    Args:
        batch: the batch; only its chosen sentence is used.
        words: whether PAD is taken for a word.
    """
    setting = batch.setting
    tokens = ", ".join(f":{len(text.pieces)}" for text in (setting.queries, setting.keys))
    second = ", target.batch" if setting.model.is_encoder_decoder else ""
    queries, keys = ("ids" if text == "source" else "target.batch" for text in texts_of(setting.place))
    clamp = ".clamp(min=1)" if words else ""
    mask_with_padding = expression(setting, queries + clamp, keys + clamp)
    if batch.side == "right":
        mask_with_padding = with_paint(setting, mask_with_padding)
    return {
        **{name: value for name, value in of_sentence(setting.model).items() if name != "inputs"},
        "model": Code("Transformer(config).eval()"),
        "mask": mask_of(setting),
        "among_tokens": Code(f"mask[{tokens}]"),
        "alone": Code(f"[source.batch[:, :{batch.read}]{second}]"),
        "ids": Code("source.batch" if batch.side == "right" else f"source.batch.roll({batch.pads}, 1)"),
        "padded": Code(f"[ids{second}]"),
        "key_ids": Code(keys),
        "mask_with_padding": Code(
            f"{mask_with_padding}{'  # PAD taken for a word' if words and '#' not in mask_with_padding else ''}"
        ),
        "rows": batch.queries,
        "columns": batch.keys,
        "argument": argument_of(setting),
        "mask_site": at(setting, "*", "mask"),
    }


def moved(before: Tensor, after: Tensor) -> NDArray[np.float32]:
    """How far vectors moved, as a share of their length: (..., token, d_model) twice to (..., token)."""
    shares: NDArray[np.float32] = order.apart(before, after).numpy()
    return shares


def told(share: float) -> str:
    """A share of a length, which may exceed it; rounding is not 0%."""
    return formats.tiny(share) if share < ROUNDING else formats.percent(share)


class PaddingPanel(MasksPanel):
    """A panel of this view: about the chosen sentence, in its batch."""

    canvas = MAPS
    places = 0
    """How many places are read at most; 0 for as many as there is time for."""

    @cached_property
    def batch(self) -> Padded:
        """The padded batch."""
        return batch_of(self.model, self.state, self.places)

    @cached_property
    def setting(self) -> Setting:
        return self.batch.setting

    def names_of(self, tokens: Tokens) -> list[str]:
        """A label per place, padding where it stands."""
        names, read = token_labels.labels(tokens), len(tokens.pieces)
        return names[read:] + names[:read] if self.batch.side == "left" else names

    @cached_property
    def keys(self) -> list[str]:
        """A label per key, padding included."""
        return self.names_of(self.setting.keys)

    @property
    def titles(self) -> list[str]:
        """Titles of the places where the residual stream is looked at, in the order of `layer_sites`."""
        layers = [f"layer {layer + 1}" for layer in range(self.model.num_layers)]
        return ["input", *layers, *["output"] * (self.model.norm == "pre")]

    @property
    def asked(self) -> ModelState:
        """The model with as many places as each sentence of the batch has, before it is cut."""
        return padded(self.model, self.state)

    def aside(self) -> str:
        """What is another than the sidebar says; "" if nothing."""
        read, asked = self.setting.model.length, self.asked.length
        return "" if read == asked else self._cut(read, asked)

    def _cut(self, read: int, asked: int) -> str:
        """What is said where less is read than was asked for."""
        return (
            f"{formats.plural(len(self.batch.settings), 'sentence')} of {asked} places in "
            f"{formats.plural(self.model.num_layers, 'layer')} of {formats.plural(self.model.num_heads, 'head')} take "
            f"long: of each the first {read} are read."
        )
