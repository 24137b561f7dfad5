"""What is said where trained weights stand in a model that was never trained so: with other positions, another norm."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch
from torch import Tensor

from tfm_core import TransformerConfig, causal_mask
from tfm_core.model.trained import untrained
from tfm_core.positional.schemes import called
from tfm_ui.live.passes import transformer
from tfm_ui.state.model_state import ModelState
from tfm_ui.text import formats

# Field of a configuration -> how its values are called, and what follows them.
CALLED: Mapping[str, tuple[Callable[[Any], str], str]] = {
    "positional": (called, " positions"),
    "norm": (str, "-norm"),
    "activation": (str, ""),
    "attention": (str, " attention"),
    "tie_embeddings": (lambda tied: "tied" if tied else "untied", " embeddings"),
}
SHOWN = 3  # names of parameters in a sentence


def never_trained(model: ModelState, configs: Sequence[TransformerConfig]) -> str:
    """A sentence that names the settings here under which the weights were never trained; "" if none, or if random."""
    if model.is_random:
        return ""
    ours, others, random = model.config, dict[str, dict[Any, None]](), dict[str, None]()
    for config in configs:
        for field in CALLED:
            if (value := _value(config, field)) != _value(ours, field):
                others.setdefault(field, {})[value] = None
        if config != ours:
            random |= dict.fromkeys(untrained(transformer(config), model.weights))
    if not others:
        return ""
    with_these = formats.listed([_in_words(field, [_value(ours, field)]) for field in others])
    with_those = formats.listed([_in_words(field, list(values)) for field, values in others.items()])
    sentence = f"These weights were trained with {with_these}; with {with_those} they have never been trained."
    if not random:
        return sentence
    names = list(random)
    more = f" and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
    return f"{sentence} What they do not have is random there: {', '.join(names[:SHOWN])}{more}."


def under_mask(model: ModelState, mask: Tensor, *, cross: bool = False) -> str:
    """A sentence that the weights were trained under another mask; "" if they were not, or if they are random.

    Args:
        model: the model, with the text that it reads.
        mask: boolean (query, key), of its self-attention, or of its cross-attention.
        cross: whether it is that of the cross-attention.
    """
    if model.is_random:
        return ""
    looks_back = not cross and model.architecture != "encoder"
    trained = causal_mask(*mask.shape) if looks_back else torch.ones_like(mask)
    read = len(model.source_tokens.pieces)
    if model.is_encoder_decoder or mask.shape[-1] != len(model.source_tokens.ids):
        read = mask.shape[-1]
    if torch.equal(mask[:read, :read], trained[:read, :read]):  # padding is no part of the text
        return ""
    saw = "itself and the tokens before it" if looks_back else "every token"
    return f"While these weights were trained, each token could see {saw}; with this mask they have never been trained."


def _value(config: TransformerConfig, field: str) -> Any:
    value = getattr(config, field)
    return "full" if field == "attention" and value == "fused" else value  # which computes the same


def _in_words(field: str, values: Sequence[Any]) -> str:
    in_words, follows = CALLED[field]
    return formats.listed([in_words(value) for value in values]) + follows
