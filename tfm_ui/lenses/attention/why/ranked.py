"""What the model says comes after a token: its logits there, the likeliest next tokens, and how they are called."""

import numpy as np
import torch
from numpy.typing import NDArray

from tfm_core.study.attribution.logits import last_place
from tfm_ui.lenses.attention.state import RANKS
from tfm_ui.lenses.attention.why.streams import streams
from tfm_ui.live.cache import cached
from tfm_ui.live.known_words import known_texts
from tfm_ui.state.model_state import ModelState
from tfm_ui.text import token_labels


@cached()
def logits_at(model: ModelState, position: int) -> NDArray[np.float32]:
    """The model's logits after a token of the text that it goes on with, from 0: (vocab).

    The last vectors are those of the recorded pass; the model's final norm and output matrix make logits of them.
    """
    recorded = streams(model)
    end = last_place(recorded.model)
    last = recorded.site(recorded.order(end.stack)[-1], "residual_after")[position]
    norm = recorded.norm_of(end)
    with torch.no_grad():
        logits: NDArray[np.float32] = recorded.model.logits((last if norm is None else norm(last))[None, None])[
            0, 0
        ].numpy()
    return logits


@cached()
def ranked(model: ModelState, position: int) -> tuple[list[int], list[float]]:
    """The likeliest next tokens after a token, as many as can be asked for, and their probabilities."""
    shares, ids = torch.from_numpy(logits_at(model, position)).softmax(-1).topk(min(RANKS, model.config.vocab_size))
    return ids.tolist(), shares.tolist()


def token_name(model: ModelState, token: int) -> str:
    """A token by its id, in quotes; by its number, if no text that is known has a token of this id."""
    known = token_labels.pieces_of_ids(known_texts(model))
    return f"“{token_labels.named(known[token][0])}”" if token in known else f"token {token}"
