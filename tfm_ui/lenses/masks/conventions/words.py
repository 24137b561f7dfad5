"""The convention that was chosen: whether it can say the batch's mask, what its call gave, and the usual mistake."""

import numpy as np

from tfm_core.study.mask_verified import Verified
from tfm_ui.lenses.masks.conventions.numbers import ROUNDING, Conventions
from tfm_ui.text import look
from tfm_ui.text.words import labels

NOT_INSTALLED = "transformers is not installed here, so this call was not run."
NOT_ACROSS = "Cross-attention always looks both ways: there is no such call, so this is the one without causality."
EMPTY = {"NaN": "NaN", "as ours": "the same as from ours", "other numbers": "numbers of its own"}


def about(seen: Conventions) -> str:
    """Whether the convention can say this mask, and what the call made of it."""
    found, lost = seen.found.get(seen.name), int(seen.lost.sum())
    said = [NOT_ACROSS] * (seen.name != seen.state.convention) + [seen.convention.about]
    if lost:
        said.append(_first_lost(seen, lost))
    if not found:
        return " ".join([*said, NOT_INSTALLED])
    said.append(_compared(seen, found, lost))
    if found.empty:
        said.append(f"A query that may see nothing gets {EMPTY[found.empty]}.")
    return " ".join(said)


def _compared(seen: Conventions, found: Verified, lost: int) -> str:
    if not bool(seen.mask.any()):
        return "This mask hides everything: there is no query whose output could be compared."
    if lost:
        return (
            f"So the call’s output is off by up to {look.number(found.difference)}; from ours under the mask that it "
            f"was told, by {look.tiny(found.of_said)}."
        )
    compared = "what the heads gathered" if seen.convention.compares == "head_output" else "the attention’s output"
    if found.difference == 0:
        return f"It equals ours to the last digit, in {compared} of {seen.where}."
    return (
        f"Largest difference from ours, in {compared} of {seen.where}: {look.tiny(found.difference)}, of numbers "
        f"up to {look.number(found.largest)}."
    )


def _first_lost(seen: Conventions, lost: int) -> str:
    batch, query, key = (int(at) for at in np.argwhere(seen.lost)[0])
    setting = seen.settings[batch]
    sentence = f"sentence {batch + 1}, " if len(seen.settings) > 1 else ""
    names = [f"{axis + 1} “{labels(tokens)[axis]}”" for axis, tokens in ((query, setting.queries), (key, setting.keys))]
    what = "is to be seen, and it hides it" if seen.mask[batch, query, key] else "is hidden, and it shows it"
    return (
        f"It cannot say {look.count(lost)} of this mask’s {look.count(int(seen.mask.numel()))} cells: "
        f"the first, {sentence}query {names[0]} and key {names[1]}, {what}."
    )


def slip(seen: Conventions) -> str:
    """What the usual mistake does, "" where the call was not made."""
    found = seen.found.get(seen.name)
    if not found or not bool(seen.mask.any()):
        return ""
    rows, about = int(seen.mask.any(-1).sum()), seen.convention.slip_about
    if found.slipped_nan == rows:
        return f"Handed over {about}, there is no error, and every query gets NaN."
    if found.slipped < ROUNDING and not found.slipped_nan:
        return f"Handed over {about}, this mask happens to do no harm: outputs move by {look.tiny(found.slipped)}."
    nan = ""
    if found.slipped_nan:
        get = "gets" if found.slipped_nan == 1 else "get"
        nan = f", and {look.count(found.slipped_nan)} of {look.count(rows)} queries {get} NaN"
    return f"Handed over {about}, there is no error, but outputs are off by up to {look.number(found.slipped)}{nan}."
