"""A mask as lines of plain Python, for the scripts of this lens: what is composed, and the paint over it."""

from collections.abc import Collection, Sequence

import numpy as np

from tfm_core import MASKS
from tfm_ui.lenses.masks import paint as mask_paint
from tfm_ui.lenses.masks.composition import Term, parse
from tfm_ui.lenses.masks.setting import Setting
from tfm_ui.live.texts import texts_of

WAYS = {"and": "combine_masks", "or": "either_mask"}


def sizes(setting: Setting) -> list[str]:
    """Lines that leave what a mask is made of: `queries` and `keys`, token ids; how many `rows` and `columns`."""
    queries, keys = (f"{text}.batch" for text in texts_of(setting.place))
    return [f"queries, keys = {queries}, {keys}", "rows, columns = queries.shape[1], keys.shape[1]"]


def composed(setting: Setting, composition: str | None = None, *, name: str = "mask") -> list[str]:
    """Lines that leave a mask, boolean (query, key), made of what `sizes` leaves.

    Args:
        setting: says whether there is causality anyway.
        composition: another one than the setting's.
        name: of the mask.
    """
    lines: list[str] = []
    for term in _terms(setting, composition):
        own = _call(term)
        lines.append(f"{name} = {WAYS[term.how]}({name}, {own})" if lines else f"{name} = {own}")
    if not lines:
        lines = [f"{name} = torch.ones(rows, columns, dtype=torch.bool)"]
    lines += [f"{name} = combine_masks({name}, causal_mask(rows, columns))"] * setting.causal_anyway
    return [*lines, f"{name} = {name}.expand(1, 1, rows, columns)[0, 0].clone()  # (query, key)"]


def painted(setting: Setting, *, name: str = "mask") -> list[str]:
    """Lines that paint over it, one for each brush that was used."""
    if not setting.paintable:
        return []
    cells = mask_paint.resized(mask_paint.unpacked(setting.paint), *setting.composed.shape)
    return [
        f"{name}[{rows.tolist()}, {columns.tolist()}] = {sees}  # painted"
        for sees, brush in ((True, mask_paint.SEE), (False, mask_paint.HIDE))
        for rows, columns in [np.nonzero(cells == brush)]
        if len(rows)
    ]


def imports(setting: Setting, *compositions: str, also: Collection[str] = ()) -> list[str]:
    """A line, or none, that imports what the setting's own mask and these compositions call, and these names."""
    names = {*also, *["combine_masks"] * setting.causal_anyway}
    for composition in (None, *compositions):
        terms = _terms(setting, composition)
        names |= {MASKS[term.name].function.__name__ for term in terms} | {WAYS[term.how] for term in terms[1:]}
    names -= {"causal_mask"}  # every script has it
    return [f"from tfm_core import {', '.join(sorted(names))}"] if names else []


def _terms(setting: Setting, composition: str | None) -> Sequence[Term]:
    return parse(setting.composition if composition is None else composition)[0]


def _call(term: Term) -> str:
    pattern = MASKS[term.name]
    given = {"lengths": ["rows", "columns"], "both": ["queries", "keys"]}.get(pattern.reads, ["keys"])
    pairs = zip(pattern.arguments, term.values, strict=True)
    # what says nothing is left out, as in the link
    given += [f"{a.name}={value!r}" for a, value in pairs if value != a.default or a.low != value]
    return f"{pattern.function.__name__}({', '.join(given)})"
