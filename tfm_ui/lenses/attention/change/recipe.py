"""B as a few lines of plain Python: the changed model can be run, and its numbers checked, without the app."""

from collections.abc import Iterable

import numpy as np

from tfm_ui.lenses.attention.change.feasible import order
from tfm_ui.lenses.attention.change.grammar import OF_TEXT, Change, Drop, Replace, Silence, Swap, Weight, Zero
from tfm_ui.lenses.attention.change.numbers import ChangeView
from tfm_ui.lenses.attention.change.rerun import At
from tfm_ui.live import passes
from tfm_ui.live.recipe import script, weights_of
from tfm_ui.live.texts import texts_of
from tfm_ui.state.model_state import ModelState


def recipe_of(seen: ChangeView) -> str:
    """Lines that leave B's weights of the shown head in `weights`, (query, key), in the order in which B reads."""
    model, state = seen.model, seen.state
    site = passes.place(model, passes.kind_of(model, state.kind)).format(layer=state.layer - 1, what="weights")
    changes = seen.naming.possible(state.changes)
    at, before, tensors = {}, [], []
    for text in ["source", "target"][: 1 + model.is_encoder_decoder]:
        tokens = getattr(model, f"{text}_tokens")
        left = order(changes, text, len(tokens.pieces))
        at[text] = np.full(len(tokens.pieces), -1, np.intp)
        at[text][left] = np.arange(len(left))
        if moves := list(_moves(changes, text, model.tokenizer)):
            tensors.append(text)
            before += [
                f"ids, order = list({text}.ids), list(range({len(tokens.pieces)}))",
                *moves,
                f"{text} = torch.tensor([[ids[i] for i in order] + [0] * ({len(tokens.ids)} - len(order))])",
            ]
    imports, recorded = [], '"*.weights"'
    if made := _edits(model, changes, at):
        imports.append("from tfm_core.study.interventions import in_turn, set_weight, silence_head, zero_value")
        before += ["edits = {", *(f'    "{place}": in_turn({", ".join(those)}),' for place, those in made.items()), "}"]
        recorded += ", edits"
    end = weights_of(site, state.head - 1)
    return script(model, end, imports=imports, before=before, tensors=tensors, recorded=recorded)


def _moves(changes: Iterable[Change], text: str, tokenizer: str) -> Iterable[str]:
    """What is done to a text, line by line; tokens from 0."""
    of_text = [change for change in changes if isinstance(change, OF_TEXT) and change.text == text]
    for change in of_text:
        if isinstance(change, Replace):
            yield f"ids[{change.token - 1}] = encode({change.piece!r}, {tokenizer!r}).ids[0]"
        if isinstance(change, Swap):
            yield f"one, other = order.index({change.one - 1}), order.index({change.other - 1})"
            yield "order[one], order[other] = order[other], order[one]"
    yield from (f"order.remove({change.token - 1})" for change in of_text if isinstance(change, Drop))


def _edits(model: ModelState, changes: Iterable[Change], at: At) -> dict[str, list[str]]:
    """Site -> the calls that make its edits."""
    found: dict[str, list[str]] = {}
    for change in changes:
        match change:
            case Silence():
                what, call = "head_output", f"silence_head({change.head - 1})"
            case Zero():
                key = at[texts_of(change.kind)[1]][change.token - 1]
                what, call = "value", f"zero_value({key}, {change.head - 1 if change.head else None})"
            case Weight():
                of_queries, of_keys = texts_of(change.kind)
                cell = f"{at[of_queries][change.query - 1]}, {at[of_keys][change.key - 1]}"
                rest = f"renormalise={change.rescaled}"
                what, call = "weights", f"set_weight({change.head - 1}, {cell}, {change.weight:g}, {rest})"
            case _:
                continue
        place = passes.place(model, passes.kind_of(model, change.kind)).format(layer=change.layer - 1, what=what)
        found.setdefault(place, []).append(call)
    return found
