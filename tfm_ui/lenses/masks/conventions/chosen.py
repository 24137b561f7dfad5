"""The convention that was chosen: whether it can say the batch's mask, what its call gave, and the usual mistake."""

import numpy as np

from tfm_core.study.mask_verified import Verified
from tfm_ui.lenses.masks.conventions.calls import ROUNDING, Conventions, why_without
from tfm_ui.text import formats
from tfm_ui.text.token_labels import labels

NOT_ACROSS = "Cross-attention always looks both ways: there is no such call, so this is the one without causality."
EMPTY = {"NaN": "NaN", "as ours": "the same as from ours", "other numbers": "numbers of its own"}


def about(conventions: Conventions) -> str:
    """Whether the convention can say this mask, and what the call made of it."""
    verified, lost = conventions.verified.get(conventions.name), int(conventions.lost.sum())
    said = [NOT_ACROSS] * (conventions.name != conventions.state.convention) + [conventions.convention.about]
    if lost:
        said.append(_first_lost(conventions, lost))
    if not verified:
        return " ".join([*said, f"{why_without()}, so this call was not run."])
    said.append(_compared(conventions, verified, lost))
    if verified.empty:
        said.append(f"A query that may see nothing gets {EMPTY[verified.empty]}.")
    return " ".join(said)


def _compared(conventions: Conventions, verified: Verified, lost: int) -> str:
    if not bool(conventions.mask.any()):
        return "This mask hides everything: there is no query whose output could be compared."
    if lost:
        return (
            f"So the call’s output differs from ours by up to {formats.number(verified.difference)}, because of those "
            f"cells: given the same reduced mask, ours differs from it by at most {formats.tiny(verified.of_said)}."
        )
    gathered = conventions.convention.compares == "head_output"
    compared = f"{'the heads’ outputs' if gathered else 'the attention’s output'} of {conventions.where}"
    if verified.difference == 0:
        return f"It equals ours to the last digit, in {compared}."
    return (
        f"Largest difference from ours, in {compared}: {formats.tiny(verified.difference)}, of numbers up to "
        f"{formats.number(verified.largest)}."
    )


def _first_lost(conventions: Conventions, lost: int) -> str:
    batch, query, key = (int(at) for at in np.argwhere(conventions.lost)[0])
    setting = conventions.settings[batch]
    sentence = f"sentence {batch + 1}, " if len(conventions.settings) > 1 else ""
    names = [f"{axis + 1} “{labels(tokens)[axis]}”" for axis, tokens in ((query, setting.queries), (key, setting.keys))]
    if conventions.mask[batch, query, key]:
        what = "should be visible, but this convention hides it"
    else:
        what = "should be hidden, but this convention shows it"
    return (
        f"It cannot say {formats.count(lost)} of this mask’s {formats.count(int(conventions.mask.numel()))} cells"
        f"{_by_sentence(conventions)}: the first, {sentence}query {names[0]} and key {names[1]}, {what}."
    )


def _by_sentence(conventions: Conventions) -> str:
    """How many of the lost cells are each sentence's: the map shows one sentence alone. "" of a single one."""
    if len(conventions.settings) == 1:
        return ""
    each = enumerate(conventions.lost.sum((1, 2)).tolist(), 1)
    return f", {formats.listed([f'{formats.count(lost)} in sentence {number}' for number, lost in each if lost])}"


def slip(conventions: Conventions) -> str:
    """What the usual mistake does, "" where the call was not made."""
    verified = conventions.verified.get(conventions.name)
    if not verified or not bool(conventions.mask.any()):
        return ""
    rows, about = int(conventions.mask.any(-1).sum()), conventions.convention.slip_about
    if verified.slipped_nan == rows:
        return f"If it is handed over {about}, no error is raised, and every query becomes NaN."
    if verified.slipped < ROUNDING and not verified.slipped_nan:
        return (
            f"If it is handed over {about}, this mask happens to do no harm: outputs move by "
            f"{formats.tiny(verified.slipped)}."
        )
    nan = ""
    if verified.slipped_nan:
        become = "becomes" if verified.slipped_nan == 1 else "become"
        nan = f" and {formats.count(verified.slipped_nan)} of {formats.count(rows)} queries {become} NaN"
    return (
        f"If it is handed over {about}, no error is raised: outputs are off by up to "
        f"{formats.number(verified.slipped)}{nan}."
    )
