"""What a mask does to the next token: computed from what is on screen, and true of any mask and model."""

import torch
from torch import Tensor

from tfm_core import Tokens
from tfm_ui.lenses.masks.masked_passes import forward_under_mask
from tfm_ui.lenses.masks.state import MasksState, setting
from tfm_ui.live.known_words import known_texts
from tfm_ui.live.never_trained import under_mask
from tfm_ui.live.passes import forward
from tfm_ui.state.model_state import ModelState
from tfm_ui.text import formats
from tfm_ui.text.token_labels import labels, named, pieces_of_ids


def said_under_mask(model: ModelState, state: MasksState) -> str:
    """The likeliest next token without the mask on screen and under it, with its probabilities."""
    shown = setting(model, state)
    free, masked = _next(model, state)
    text, likeliest, now = _text(shown.model), int(free.argmax()), int(masked.argmax())
    before, after = formats.percents(float(free[likeliest]), float(masked[likeliest]))
    said = (
        f"After “{labels(text)[len(text.pieces) - 1]}” the model’s own mask leaves {_name(shown.model, likeliest)} as "
        f"the likeliest token, with {before}; under the mask on screen that token has {after}"
    )
    change = (
        ", and it is still the likeliest."
        if now == likeliest
        else f", and the likeliest is {_name(shown.model, now)}, with {formats.percent(float(masked[now]))}."
    )
    why = shown.model.if_random(
        "The weights are random, so neither says anything about language.",
        under_mask(shown.model, shown.mask, cross=shown.place == "cross"),
    )
    return f"{said}{change} {why}".strip()


def says_the_same(model: ModelState, state: MasksState) -> str:
    """ "yes" if the likeliest token is the same under the mask on screen and without it."""
    free, masked = _next(model, state)
    return "yes" if int(free.argmax()) == int(masked.argmax()) else "no"


def _next(model: ModelState, state: MasksState) -> tuple[Tensor, Tensor]:
    """The probabilities at the last token, without the mask on screen and under it, (vocab)."""
    shown = setting(model, state)
    last = len(_text(shown.model).pieces) - 1
    with torch.no_grad():
        free = forward(shown.model)[0, last].softmax(-1)
    return free, forward_under_mask(shown)[0][0, last].softmax(-1)


def _text(model: ModelState) -> Tokens:
    return model.target_tokens if model.is_encoder_decoder else model.source_tokens


def _name(model: ModelState, token_id: int) -> str:
    known = pieces_of_ids(known_texts(model)).get(token_id)
    return f"“{named(known[0])}”" if known else f"id {token_id}"
