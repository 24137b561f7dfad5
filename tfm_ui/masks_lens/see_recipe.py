"""The mask, and the weights under it, as a script of plain Python."""

from collections.abc import Sequence

import numpy as np

from tfm_core import MASKS
from tfm_core.tokens import FIRST_ID
from tfm_ui import mask_paint
from tfm_ui.compute_masks import LENGTHS, at
from tfm_ui.feasible import texts_of
from tfm_ui.mask_composition import Term
from tfm_ui.masks_lens.see import Seen
from tfm_ui.masks_lens.see_terms import PAINTS, Terms
from tfm_ui.recipe import script, weights_of

WAYS = {"and": "combine_masks", "or": "either_mask"}
CAUSAL = "causal_mask(rows, columns)"


def recipe_of(seen: Seen) -> str:
    """Leaves `mask` and `weights`, both (query, key)."""
    setting = seen.setting
    queries, keys = (f"{text}.batch" for text in texts_of(setting.place))
    which = "cross_mask" if setting.place == "cross" else "mask"
    return script(
        setting.model,
        weights_of(at(setting, seen.layer, "weights"), seen.head),
        imports=_imports(seen.terms),
        before=[
            f"queries, keys = {queries}, {keys}",
            "rows, columns = queries.shape[1], keys.shape[1]",
            *composed(seen.terms),
            "mask = mask.expand(1, 1, rows, columns)[0, 0].clone()  # (query, key)",
            *_painted(seen),
        ],
        recorded=f'"*.weights", {{"{at(setting, "*", "mask")}": lambda own: mask.expand_as(own)}}',
        given=f"{which}=mask",
    )


def composed(terms: Terms) -> list[str]:
    """Lines that leave `mask`, made of `queries`, `keys`, `rows` and `columns`."""
    lines = []
    for i, term in enumerate(terms.terms):
        own = _call(term)
        lines.append(f"mask = {WAYS[term.how]}(mask, {own})" if i else f"mask = {own}")
    if not lines:
        lines = ["mask = torch.ones(rows, columns, dtype=torch.bool)"]
    return lines + [f"mask = combine_masks(mask, {CAUSAL})"] * terms.setting.causal_anyway


def growth_recipe(terms: Terms) -> str:
    """Leaves `kept`: length -> pairs."""
    return "\n".join(
        [
            "import torch",
            "from tfm_core import causal_mask",
            *_imports(terms),
            "",
            "kept = {}",
            f"for rows in {LENGTHS}:",
            "    columns = rows",
            f"    queries = keys = torch.full((1, rows), {FIRST_ID})  # no padding",
            *(f"    {line}" for line in composed(terms)),
            "    kept[rows] = int(mask.expand(1, 1, rows, columns).sum())",
        ]
    )


def _call(term: Term) -> str:
    pattern = MASKS[term.name]
    given = ["rows", "columns"] if pattern.reads == "lengths" else ["keys"]
    if pattern.reads == "both":
        given = ["queries", "keys"]
    pairs = zip(pattern.arguments, term.values, strict=True)
    # what says nothing is left out, as in the link
    given += [f"{a.name}={value!r}" for a, value in pairs if value != a.default or a.low != value]
    return f"{pattern.function.__name__}({', '.join(given)})"


def _imports(terms: Terms) -> Sequence[str]:
    names = {MASKS[term.name].function.__name__ for term in terms.terms}
    names |= {WAYS[term.how] for term in terms.terms[1:]}
    names |= {"combine_masks"} if terms.setting.causal_anyway else set()
    names -= {"causal_mask"}  # every script has it
    return [f"from tfm_core import {', '.join(sorted(names))}"] if names else []


def _painted(seen: Seen) -> list[str]:
    """A line for each row and brush."""
    paint = seen.terms.reasons() % PAINTS if seen.setting.paint else np.zeros((0, 0), np.int16)
    lines = []
    for row, cells in enumerate(paint):
        for brush, value in ((mask_paint.SEE, True), (mask_paint.HIDE, False)):
            if columns := np.flatnonzero(cells == brush).tolist():
                lines.append(f"mask[{row}, {columns}] = {value}  # painted")
    return lines
