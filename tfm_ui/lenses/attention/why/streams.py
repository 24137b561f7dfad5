"""One pass of the sidebar's model, recorded so that it can be split into sources, and what it says comes next."""

from collections.abc import Mapping

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from tfm_core.study.attribution.logits import last_place
from tfm_core.study.attribution.streams import Streams, record
from tfm_core.study.attribution.values import AT_ONCE
from tfm_ui.lenses.attention.state import RANKS
from tfm_ui.live import passes
from tfm_ui.live.cache import cached
from tfm_ui.live.known_words import known_texts
from tfm_ui.live.places import place
from tfm_ui.state.model_state import ModelState
from tfm_ui.state.pass_cost import NUMBER
from tfm_ui.text import token_labels

DOUBLE = 8  # bytes of a float64


def streams(model: ModelState, *, weights: bool = False) -> Streams:
    """What the pass left behind. The result is shared: read it, never write into it.

    Args:
        model: the model, and the texts that it reads.
        weights: whether the attention weights of all heads are in it, too.
    """
    trace = _recorded(model)
    if weights:
        trace = {**trace, **_weights(model)}
    return Streams(passes.transformer(model.config), trace, _inputs(model), passes.mask_of(model))


@cached()
def _recorded(model: ModelState) -> Mapping[str, Tensor]:
    """The sites of the recording: not the model, which the cache counts where it is kept."""
    return record(passes.transformer(model.config), *_inputs(model), mask=passes.mask_of(model)).trace


def _weights(model: ModelState) -> dict[str, Tensor]:
    """The weights of all heads, computed again from the queries and keys of the pass that all lenses share."""
    return {
        place(model, kind).format(layer=layer, what="weights"): torch.from_numpy(
            np.stack([attention.exact(layer, head) for head in range(attention.heads)])
        )[None]
        for kind, attention in passes.run(model).attention.items()
        for layer in range(model.num_layers)
    }


def _inputs(model: ModelState) -> tuple[Tensor, ...]:
    texts = [model.source_tokens, *([model.target_tokens] if model.is_encoder_decoder else [])]
    return tuple(text.batch for text in texts)


def count_sources(model: ModelState) -> int:
    """How many sources the last vectors of a stack have, at most."""
    attentions = 2 if model.is_encoder_decoder else 1
    return 4 + model.num_layers * (attentions * model.num_heads + 1)


def of_recording(model: ModelState, *, weights: bool = False) -> int:
    """The bytes of a recording: per sub-layer the stream before and after it, and what it wrote; and the weights."""
    sub_layers = model.num_layers * (5 if model.is_encoder_decoder else 2)
    vectors = 5 * sub_layers * model.longest * model.d_model
    of_weights = model.num_layers * (3 if model.is_encoder_decoder else 1) * model.num_heads * model.longest**2
    return NUMBER * (vectors + (of_weights if weights else 0))


def needs_cell(model: ModelState, _: object = None) -> int:
    """The bytes of one score in parts: the recording, two places in parts, all pairs, and what a head gathered."""
    sources, wide = count_sources(model), AT_ONCE * model.d_model
    numbers = sources * (3 * wide + 4 * sources + 3 * model.longest * model.config.head_dim)
    return passes.needs(model) + of_recording(model) + DOUBLE * numbers


def needs_all(model: ModelState, _: object = None) -> int:
    """The bytes of all places of a stack in parts, in which a graph is made."""
    sources, stacks = count_sources(model), 2 if model.is_encoder_decoder else 1
    numbers = 3 * stacks * sources * model.longest * model.d_model
    return passes.needs(model) + of_recording(model, weights=True) + DOUBLE * numbers


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
    piece = token_piece(model, token)
    return f"token {token}" if piece is None else f"“{token_labels.named(piece)}”"


def token_piece(model: ModelState, token: int) -> str | None:
    """The piece of text that a token id stands for; None if no text that is known has a token of this id."""
    # Not by a dictionary of all ids: of a large vocabulary that takes 0.1 s to make.
    for text in known_texts(model):
        if token in text.ids and (at := text.ids.index(token)) < len(text.pieces):
            return text.pieces[at]
    return None
