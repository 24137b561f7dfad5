"""The changed model as a script: what recipe.py is told."""

from collections.abc import Sequence
from typing import TypeVar

from tfm_ui.lenses.attention.change import recipe
from tfm_ui.lenses.attention.change.changes import edits, positions, replaced
from tfm_ui.lenses.attention.change.kinds import Call, Change, Drop, OfText, Swap
from tfm_ui.live import places
from tfm_ui.live.script import Code, of_model, script, tokenizer_of
from tfm_ui.state.model_state import ModelState

T = TypeVar("T", bound=OfText)


def script_of(model: ModelState, changes: Sequence[Change], kind: str, layer: int, head: int) -> str:
    """A script that leaves the changed model's weights in `weights`, (query, key), in the order in which it reads.

    Args:
        model: the model.
        changes: all that are made to it.
        kind: of attention, as changes call it.
        layer: that is looked at, from 1.
        head: likewise.
    """
    header = of_model(model)
    texts = ["source", "target"][: 1 + model.is_encoder_decoder]
    made = edits(changes, model, positions(changes, model))
    arguments = {
        "edits": Code(_literal(made), *(call.func for calls in made.values() for call in calls)),
        "site": places.place(model, places.kind_of(model, kind)).format(layer=layer - 1, what="weights"),
        "head": head - 1,
    }
    if not any(isinstance(change, OfText) for change in changes):
        return script(recipe.changed_weights, **header, **arguments)
    del header["inputs"]  # other texts are read
    of_texts = {
        "texts": Code(f"[{', '.join(texts)}]"),
        "tokenizer": tokenizer_of(model),
        "replaced": [replaced(changes, text, model) for text in texts],
        "swapped": [[(swap.first - 1, swap.second - 1) for swap in _of(Swap, text, changes)] for text in texts],
        "dropped": [[drop.token - 1 for drop in _of(Drop, text, changes)] for text in texts],
    }
    return script(recipe.weights_of_changed_texts, **header, **of_texts, **arguments)


def _of(sort: type[T], text: str, changes: Sequence[Change]) -> list[T]:
    """The changes of one sort that are made to a text."""
    return [change for change in changes if isinstance(change, sort) and change.text == text]


def _literal(made: dict[str, list[Call]]) -> str:
    """Edits as an expression, a line for each name in the recording."""
    lines = (f"    {name!r}: [{', '.join(map(_called, calls))}],\n" for name, calls in made.items())
    return "{\n" + "".join(lines) + "}" if made else "{}"


def _called(call: Call) -> str:
    arguments = [*map(repr, call.args), *(f"{name}={value!r}" for name, value in call.keywords.items())]
    return f"{call.func.__name__}({', '.join(arguments)})"
