"""A batch of sentences padded to one length, on either side, and the masks that it runs under. Pure."""

from dataclasses import dataclass, replace
from functools import cached_property

import torch
from torch import Tensor

from tfm_core import Tokens, causal_mask, padding_mask
from tfm_core.model.tokens import PAD_ID
from tfm_ui.lenses.masks.composition import combined, parse
from tfm_ui.lenses.masks.paint import painted
from tfm_ui.lenses.masks.state import MasksState, Setting, item_of, padded, sentences, setting
from tfm_ui.live import passes
from tfm_ui.live.memory import MOST
from tfm_ui.state.model_state import ModelState
from tfm_ui.state.pass_cost import NUMBER

WORK = 10**10  # multiplications of a pass, up to which a batch is run: half a second
LENGTHS = (1024, 512, 256, 128)


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

    def masks(self, *, hidden: bool) -> Tensor:
        """All sentences' masks, boolean (batch, 1, query, key): as composed if PAD were a word, PAD `hidden` or not."""
        masks = [laid(setting, self.side, words=True) for setting in self.settings]
        if hidden:
            masks = [mask & key_mask(setting, self.side) for mask, setting in zip(masks, self.settings, strict=True)]
        return torch.stack(masks)[:, None]


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


def ids(tokens: Tokens, side: str, pads: int | None = None) -> Tensor:
    """Token ids (1, seq), with `pads` PADs on that side; by default those that it has."""
    padding = [PAD_ID] * (tokens.padding if pads is None else pads)
    words = list(tokens.ids[: len(tokens.pieces)])
    return torch.tensor([padding + words if side == "left" else words + padding])


def real(tokens: Tokens, side: str, pads: int | None = None) -> slice:
    """The places of what is no padding."""
    first = (tokens.padding if pads is None else pads) if side == "left" else 0
    return slice(first, first + len(tokens.pieces))


def among_tokens(setting: Setting) -> Tensor:
    """The setting's mask without the rows and columns of padding: boolean (query, key)."""
    return setting.mask[: len(setting.queries.pieces), : len(setting.keys.pieces)]


def key_mask(setting: Setting, side: str, pads: int | None = None) -> Tensor:
    """Nobody looks at padding: boolean (1, key)."""
    return padding_mask(ids(setting.keys, side, _pads(setting, "keys", pads)))[0, 0]


def laid(setting: Setting, side: str, *, words: bool, pads: int | None = None) -> Tensor:
    """The setting's mask where padding stands on that side: boolean (query, key).

    Among tokens it is the setting's mask, paint included, and moves along with them. What looks at padding, and what
    padding looks at, follows from the composition: causality lets a token see what stands before it, PAD as well.

    Args:
        setting: the sentence and its mask.
        side: where padding stands, of `SIDES` in tfm_ui/lenses/masks/state.py.
        words: whether PAD is taken for a word like any other, as code does that forgets about padding.
        pads: another number of PADs than the sentence has.
    """
    pads_of = {what: _pads(setting, what, pads) for what in ("queries", "keys")}
    queries, keys = (ids(getattr(setting, what), side, count) for what, count in pads_of.items())
    rows, columns = (real(getattr(setting, what), side, count) for what, count in pads_of.items())
    least = PAD_ID + words
    mask = combined(parse(setting.composition)[0], queries.clamp(min=least), keys.clamp(min=least))
    mask = mask & causal_mask(*mask.shape) if setting.causal_anyway else mask.clone()
    if side == "right" and pads is None and setting.paint and setting.paintable:
        mask = torch.from_numpy(painted(mask.numpy(), setting.painted))
    mask[rows, columns] = among_tokens(setting)
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


def _pads(setting: Setting, what: str, pads: int | None) -> int:
    """The padding of queries or keys; the target text of an encoder-decoder is never padded."""
    padding: int = getattr(setting, what).padding
    grows = setting.place == "self" or (setting.place == "cross" and what == "keys")
    return padding if pads is None or not grows else pads
