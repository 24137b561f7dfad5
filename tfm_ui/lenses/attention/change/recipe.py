"""The weights of a head of a changed model, without the app, and the script that computes them."""

from collections.abc import Callable, Mapping, Sequence

import torch
from torch import Tensor

from tfm_core import Tokens, Transformer, TransformerConfig, recording
from tfm_core.model.tokens import Tokenizer
from tfm_core.study.interventions import in_turn
from tfm_ui.lenses.attention.changes import (
    Call,
    Change,
    OfText,
    changed_ids,
    drops,
    edits_of,
    in_order,
    replacements,
    swaps,
)
from tfm_ui.live.script import Code, of_model, script, tokenizer_of
from tfm_ui.state.model_state import ModelState


def changed_weights(
    *,
    config: TransformerConfig,
    inputs: Sequence[Tensor],
    mask: Tensor | None,
    edits: Mapping[str, Sequence[Callable[[Tensor], Tensor]]],
    site: str,
    head: int,
) -> Tensor:
    """The weights of a model with edits, (query, key)."""
    model = Transformer(config).eval()
    with torch.no_grad(), recording("*.weights", {name: in_turn(*made) for name, made in edits.items()}) as trace:
        model(*inputs, mask=mask)
    weights = trace[site][0, head]  # (query, key)
    return weights


def weights_of_changed_texts(
    *,
    config: TransformerConfig,
    texts: Sequence[Tokens],
    tokenizer: str | Tokenizer,
    replaced: Sequence[Mapping[int, str]],
    swapped: Sequence[Sequence[tuple[int, int]]],
    dropped: Sequence[Sequence[int]],
    mask: Tensor | None,
    edits: Mapping[str, Sequence[Callable[[Tensor], Tensor]]],
    site: str,
    head: int,
) -> Tensor:
    """The same of other texts; tokens count from 0, as the texts are written."""
    inputs = []
    for text, others, pairs, gone in zip(texts, replaced, swapped, dropped, strict=True):
        left = in_order(len(text.pieces), pairs, gone)
        inputs.append(changed_ids(text, tokenizer, others, left))
    weights = changed_weights(config=config, inputs=inputs, mask=mask, edits=edits, site=site, head=head)
    return weights


def script_of(model: ModelState, changes: Sequence[Change], site: str, head: int) -> str:
    """A script that leaves the changed model's weights in `weights`, (query, key), in the order in which it reads.

    Args:
        model: the model.
        changes: all that are made to it.
        site: the name of the weights in a recording.
        head: that is looked at, from 0.
    """
    header = of_model(model)
    texts = ["source", "target"][: 1 + model.is_encoder_decoder]
    made = edits_of(changes, model)
    arguments = {
        "edits": Code(_literal(made), *(call.func for calls in made.values() for call in calls)),
        "site": site,
        "head": head,
    }
    if not any(isinstance(change, OfText) for change in changes):
        return script(changed_weights, **header, **arguments)
    del header["inputs"]  # other texts are read
    of_texts = {
        "texts": Code(f"[{', '.join(texts)}]"),
        "tokenizer": tokenizer_of(model),
        "replaced": [replacements(changes, text, model) for text in texts],
        "swapped": [swaps(changes, text) for text in texts],
        "dropped": [drops(changes, text) for text in texts],
    }
    return script(weights_of_changed_texts, **header, **of_texts, **arguments)


def _literal(made: dict[str, list[Call]]) -> str:
    """Edits as an expression, a line for each name in the recording."""
    lines = (f"    {name!r}: [{', '.join(map(_called, calls))}],\n" for name, calls in made.items())
    return "{\n" + "".join(lines) + "}" if made else "{}"


def _called(call: Call) -> str:
    arguments = [*map(repr, call.args), *(f"{name}={value!r}" for name, value in call.keywords.items())]
    return f"{call.func.__name__}({', '.join(arguments)})"
