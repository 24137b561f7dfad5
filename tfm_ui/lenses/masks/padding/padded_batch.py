"""The batch of the view "padding", and how it is spoken of."""

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from tfm_core import Tokens
from tfm_core.study import order
from tfm_ui.lenses.masks.padding.padded import Padded, cut
from tfm_ui.lenses.masks.state import MasksState, item_of, sentences, setting
from tfm_ui.live.passes import BUDGET
from tfm_ui.state.model_state import ModelState
from tfm_ui.text import look, words

# What moves by less than this share of its length has moved by rounding alone. Vectors beside padding that was hidden,
# of 60 random models of 1 to 8 layers, moved by up to 2e-6.
ROUNDING = 1e-5
WORK = 10**10  # multiplications of a pass, up to which a batch is run: half a second
LENGTHS = (1024, 512, 256, 128)


def most_places(model: ModelState, count: int) -> int:
    """How many places of each of so many sentences are read: all, if that takes no longer than it may."""

    def work(length: int) -> int:
        pairs = length * (2 * model.d_model + 64 * model.num_heads)  # a softmax takes as long as 64 multiplications
        return model.num_layers * count * length * (12 * model.d_model**2 + pairs)

    def fits(length: int) -> bool:
        weights = 4 * count * model.num_heads * length**2  # bytes, of the layer whose weights are looked at
        return work(length) <= WORK and 2 * weights <= BUDGET

    return next((length for length in LENGTHS if fits(min(length, model.seq_len))), LENGTHS[-1])


def batch_of(model: ModelState, state: MasksState, most: int = 0) -> Padded:
    """The lens's batch, of which at most so many places are read."""
    count = len(sentences(model, state))
    settings = tuple(setting(model, state, item) for item in range(1, count + 1))
    whole = Padded(settings=settings, item=item_of(model, state) - 1, side=state.pad_side)
    return cut(whole, most or most_places(model, max(count, 2)))


def names_of(tokens: Tokens, side: str) -> list[str]:
    """A label per place, padding where it stands."""
    names, read = words.labels(tokens), len(tokens.pieces)
    return names[read:] + names[:read] if side == "left" else names


def titles_of(batch: Padded) -> list[str]:
    """Of the places of `Run.streams`."""
    model = batch.setting.model
    layers = [f"layer {layer + 1}" for layer in range(model.num_layers)]
    return ["input", *layers, *["output"] * (model.norm == "pre")]


def moved(before: Tensor, after: Tensor) -> NDArray[np.float32]:
    """How far vectors moved, as a share of their length: (..., token, d_model) twice to (..., token)."""
    found: NDArray[np.float32] = (order.apart(before, after)).numpy()
    return found


def told(share: float) -> str:
    """A share of a length, which may exceed it; rounding is not 0%."""
    return look.tiny(share) if share < ROUNDING else look.percent(share)
