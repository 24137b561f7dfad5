"""A mask as an expression of Python, for the scripts of this lens: what is composed, and the paint over it."""

from collections.abc import Sequence

import numpy as np

from tfm_core import MASKS
from tfm_ui.lenses.masks.composition import Term, parse
from tfm_ui.lenses.masks.paint import SEE
from tfm_ui.lenses.masks.state import Setting
from tfm_ui.live.script import Code
from tfm_ui.live.texts import texts_of

COMBINE = {"and": "combine_masks", "or": "either_mask"}


def mask_of(setting: Setting, composition: str | None = None) -> Code:
    """The sentence's mask, boolean (query, key), of the texts `source` and `target`; without paint if another is asked.

    Args:
        setting: the sentence and its mask.
        composition: another one than the setting's.
    """
    queries, keys = (f"{text}.batch" for text in texts_of(setting.place))
    if composition is not None:
        return expression(setting, queries, keys, composition=composition)
    return with_paint(setting, expression(setting, queries, keys))


def function_of(setting: Setting) -> Code:
    """A function of token ids and their numbers that composes their mask: boolean (query, key)."""
    composed = expression(setting, "queries", "keys", shape=("rows", "columns"))
    return Code(f"lambda queries, keys, rows, columns: {composed}")


def expression(
    setting: Setting,
    queries: str,
    keys: str,
    *,
    composition: str | None = None,
    shape: tuple[int | str, int | str] | None = None,
    count: int = 1,
) -> Code:
    """What is composed, boolean (query, key), or (batch, query, key).

    Args:
        setting: says what is composed, and whether there is causality anyway.
        queries: an expression for the token ids of those that look, (batch, token).
        keys: likewise of those that are looked at.
        composition: another one than the setting's.
        shape: how many rows and columns it has, by default as many as the sentence's mask.
        count: how many sentences there are.
    """
    rows, columns = map(str, shape or setting.composed.shape)
    terms = parse(setting.composition if composition is None else composition)[0]
    calls = [(term.how, _call(term, queries, keys, rows, columns)) for term in terms]
    calls += [("and", f"causal_mask({rows}, {columns})")] * setting.causal_anyway
    combined = _combined(calls) if calls else f"torch.ones({rows}, {columns}, dtype=torch.bool)"
    reads_tokens = any(MASKS[term.name].reads != "lengths" for term in terms)  # then it has axes of batch and head
    if count == 1:
        return Code(f"{combined}.expand(1, 1, {rows}, {columns})[0, 0]" if reads_tokens else combined)
    return Code(f"{combined}.expand({count}, 1, {rows}, {columns})[:, 0]")


def with_paint(setting: Setting, mask: str) -> Code:
    """The mask with the paint over it, if there is any."""
    rows, columns = np.nonzero(setting.painted)
    if not len(rows):
        return Code(mask)
    visible = (setting.painted[rows, columns] == SEE).tolist()
    places = f"(torch.tensor({rows.tolist()}), torch.tensor({columns.tolist()}))"
    return Code(f"{mask}.index_put({places}, torch.tensor({visible}))  # painted")


def _combined(calls: Sequence[tuple[str, str]]) -> str:
    """Calls, each with the word that combines it with all before it, as one call."""
    masks: list[str] = []
    how = "and"
    for word, call in calls:
        if len(masks) > 1 and word != how:
            masks = [f"{COMBINE[how]}({', '.join(masks)})"]
        masks.append(call)
        how = word
    return f"{COMBINE[how]}({', '.join(masks)})" if len(masks) > 1 else masks[0]


def _call(term: Term, queries: str, keys: str, rows: str, columns: str) -> str:
    pattern = MASKS[term.name]
    arguments = {"lengths": [rows, columns], "both": [queries, keys]}.get(pattern.reads, [keys])
    pairs = zip(pattern.arguments, term.values, strict=True)
    # what says nothing is left out, as in the link
    arguments += [f"{a.name}={value!r}" for a, value in pairs if value != a.default or a.low != value]
    return f"{pattern.function.__name__}({', '.join(arguments)})"
