"""One sentence of the batch, and the mask that is handed to the model with it. Pure."""

from dataclasses import dataclass
from functools import cached_property

import torch
from torch import Tensor

from tfm_core import Tokens, causal_mask
from tfm_ui.lenses.masks.composition import combined, parse
from tfm_ui.lenses.masks.paint import SIDE, Cells, painted, resized, unpacked
from tfm_ui.live.texts import tokens_of
from tfm_ui.state.model_state import ModelState


@dataclass(frozen=True, kw_only=True)
class Setting:
    """What a pass under a mask depends on.

    Attributes:
        model: the sidebar's, reading the sentence that was chosen.
        place: the attention that the mask is for: "self" of a single stack; "decoder" or "cross" of an encoder-decoder.
        composition: masks, as in a link (tfm_ui/lenses/masks/composition.py).
        paint: what was painted over them, as in a link (tfm_ui/lenses/masks/paint.py).
    """

    model: ModelState
    place: str
    composition: str
    paint: str = ""

    @cached_property
    def _tokens(self) -> tuple[Tokens, Tokens]:
        return tokens_of(self.model, self.place)

    @property
    def is_heavy(self) -> bool:
        """Whether a pass takes long."""
        return self.model.is_heavy

    @property
    def queries(self) -> Tokens:
        """The tokens that look."""
        return self._tokens[0]

    @property
    def keys(self) -> Tokens:
        """The tokens that are looked at."""
        return self._tokens[1]

    @property
    def causal_anyway(self) -> bool:
        """Whether nobody looks ahead whatever is composed: by the sidebar's switch, or because a decoder never does."""
        return self.place == "decoder" or (self.place == "self" and self.model.looks_back_only)

    @cached_property
    def composed(self) -> Tensor:
        """What the masks say together, boolean (query, key)."""
        return self.of(self.composition)

    def of(self, composition: str) -> Tensor:
        """What another composition would say of this sentence, boolean (query, key)."""
        queries, keys = self.queries.batch, self.keys.batch
        mask = combined(parse(composition)[0], queries, keys)
        return mask & causal_mask(*mask.shape) if self.causal_anyway else mask

    @cached_property
    def mask(self) -> Tensor:
        """What the model gets: the composition, and the paint over it; boolean (query, key)."""
        if not self.paint or not self.paintable:
            return self.composed
        return torch.from_numpy(painted(self.composed.numpy(), self.painted))

    @property
    def painted(self) -> Cells:
        """How each pair is painted, (query, key), as in tfm_ui/lenses/masks/paint.py."""
        return resized(unpacked(self.paint if self.paintable else ""), *self.composed.shape)

    @property
    def paintable(self) -> bool:
        """Whether the mask is small enough to be painted; a larger one is shown, and run, without its paint."""
        return max(self.composed.shape) <= SIDE
