"""The table of conventions: what each call wants, and what it made of the batch's mask."""

from collections.abc import Callable, Iterable
from html import escape

import numpy as np
import pandas as pd

from tfm_core.study.mask_conventions import CONVENTIONS
from tfm_core.study.mask_verified import Verified, verify
from tfm_ui.lenses.masks.conventions.numbers import ROUNDING, Conventions
from tfm_ui.text import look

SOURCES: list[Callable[..., object]] = [verify, *dict.fromkeys(one.call for one in CONVENTIONS.values())]


def sentence(seen: Conventions) -> str:
    """What the table comes to."""
    found = seen.found
    if not bool(seen.mask.any()):
        return f"This mask hides everything, so there is nothing to compare. {_empties(seen)}"
    able = [name for name, one in found.items() if not one.lost]
    worst = _largest(found[name].difference for name in able)
    unable = len(found) - len(able)
    said = (
        f"{len(able)} of {len(found)} conventions can say this mask; the largest difference of their outputs from "
        f"ours is {look.tiny(worst)}."
    )
    if unable:
        far = max(one.difference for one in found.values() if one.lost)
        others = "The other one cannot, and is" if unable == 1 else f"The other {unable} cannot, and are"
        said += f" {others} off by up to {look.number(far)}."
    if "HF, 4-D" not in found:
        said += " transformers is not installed here, so its calls were not run."
    return f"{said} {_empties(seen)}".strip()


def _largest(differences: Iterable[float]) -> float:
    """NaN if any is, which `max` might pass over."""
    return float(np.max([0.0, *differences]))


def _empties(seen: Conventions) -> str:
    rows = int((~seen.mask.any(-1)).sum())
    if not rows:
        return ""
    nan = [name for name, one in seen.found.items() if one.empty == "NaN"]
    who = "A query that sees nothing gets" if rows == 1 else f"{rows} queries that see nothing get"
    return f"{who} zeros from our attention, and NaN from {len(nan)} of these calls."


def laws(seen: Conventions) -> dict[str, bool]:
    """Whether each call is ours, under what its convention can say."""
    worst = _largest(one.of_said for one in seen.found.values())
    law = f"each call equals ours under what its convention can say (largest difference {look.tiny(worst)})"
    return {law: all(one.of_said < ROUNDING * max(1.0, one.largest) for one in seen.found.values())}


def table(seen: Conventions) -> pd.DataFrame:
    """A row per convention."""
    rows = []
    for name, convention in CONVENTIONS.items():
        one = seen.found.get(name)
        handed = convention.to(seen.mask, seen.model.num_heads)
        rows.append(
            {
                "convention": name,
                "shape": str(tuple(handed.shape)),
                "dtype": str(handed.dtype).removeprefix("torch."),
                "may attend": convention.keeps,
                "hidden": convention.hides,
                "cells it cannot say": one.lost if one else None,
                "largest difference": one.difference if one else None,
                "from what it can say": one.of_said if one else None,
                "with the usual mistake": one.slipped if one else None,
                "queries with NaN then": one.slipped_nan if one else None,
                "a query that sees nothing": one.empty if one else None,
            }
        )
    return pd.DataFrame(rows).set_index("convention")


def html(seen: Conventions) -> str:
    """The same, to be read: on a phone each convention is a block of its own."""
    lines = []
    for name, convention in CONVENTIONS.items():
        handed = convention.to(seen.mask[:1], seen.model.num_heads)
        one = seen.found.get(name)
        missing = "not run" if convention.across or seen.settings[0].place != "cross" else "no such call"
        cells = {
            "call": f"<code>{_breakable(convention.name)}</code>",
            "shape": f"<span>{escape(convention.shape)}</span> {str(handed.dtype).removeprefix('torch.')}",
            "may attend": f"<b>{escape(convention.keeps)}</b>",
            "hidden": escape(convention.hides),
            "difference": escape(_difference(one)) if one else missing,
            "usual mistake": escape(_slipped(one)) if one else missing,
        }
        mark = "<i>below</i>" if name == seen.name else ""
        text = "".join(f'<td data-label="{escape(label)}"><div>{cell}</div></td>' for label, cell in cells.items())
        lines.append(f'<tr><th scope="row">{escape(name)} {mark}</th>{text}</tr>')
    head = "".join(f'<th scope="col">{escape(label)}</th>' for label in ("convention", *cells))
    return f'<table class="schemes"><thead><tr>{head}</tr></thead><tbody>{"".join(lines)}</tbody></table>'


def _breakable(name: str) -> str:
    """A call that may be broken before its argument, or within the function's name."""
    function, bracket, argument = escape(name).partition("(")
    return function.replace("_", "_<wbr>") + f"<wbr>{bracket}{argument}"


def _difference(found: Verified) -> str:
    if found.lost:
        return f"{look.number(found.difference)}: cannot say it"
    return look.tiny(found.difference)


def _slipped(found: Verified) -> str:
    queries = "query" if found.slipped_nan == 1 else "queries"
    nan = f"NaN in {look.count(found.slipped_nan)} {queries}" if found.slipped_nan else ""
    number = look.number(found.slipped) if found.slipped or not nan else ""  # where all is NaN, there is none
    return ", ".join(filter(None, (number, nan)))
