"""The verdict on what was handed in, in sentences."""

import math

from tfm_core.study.diagnosis import Compared, Diagnosis
from tfm_core.study.steps import STEPS
from tfm_ui.lenses.clinic.tensor.handed import Handed
from tfm_ui.text import formats

FILLED = {
    "−∞ without care for empty rows": "Where everything is hidden, this code gives NaN.",
    "−1e9": "Hidden scores are −1e9 in this code: where everything is hidden, all weights are equal.",
}
SAID = 4  # explanations that are named before "and n more"


def verdict(given_in: Handed, diagnosis: Diagnosis | None) -> str:
    """The verdict in sentences."""
    if not diagnosis:
        return given_in.problem
    said = ["Hand in your own result above."] if given_in.is_example else []
    if diagnosis.ok:
        steps = formats.listed([f"“{each.step}”" for each in diagnosis.compared])
        worst = max(each.difference for each in diagnosis.compared)
        return " ".join([f"Right: {steps}. The largest difference is {formats.tiny(worst)}.", *said, *given_in.notes])
    example = "Example, handed in by nobody yet. " if given_in.is_example else ""
    return " ".join([example + _wrong(diagnosis), *said, *given_in.notes])


def _wrong(diagnosis: Diagnosis) -> str:
    compared = next(each for each in diagnosis.compared if not each.ok)
    explanations = diagnosis.explanations
    if not explanations:
        return f"{_unknown(compared)} None of {formats.count(diagnosis.tried)} mistakes and pairs of mistakes gives it."
    named = [" and ".join(f"“{name}”" for name in each.names) for each in explanations]
    more = f" or {len(named) - SAID} more" if len(named) > SAID else ""
    first = explanations[0]
    kind = "Two mistakes" if len(first.names) == 2 else "The mistake"
    said = f"{kind}: {' or '.join(named[:SAID])}{more}."
    if len(named) > 1:
        said += " On this input they cannot be told apart."
    if first.fill:
        said += f" {FILLED[first.fill]}"
    if first.evidence:
        said += f" {first.evidence}."
    elif math.isfinite(first.difference):
        said += f" It gives these numbers to within {formats.tiny(first.difference)}."
    return said


def _unknown(compared: Compared) -> str:
    if compared.shapes:
        right, got = (" × ".join(map(str, shape)) or "a single number" for shape in compared.shapes)
        return f"Wrong: the {compared.step} should have the shape {right}, and have {got}."
    axes = STEPS[compared.step].axes[-len(compared.first) :] if compared.first else ()
    places = ", ".join(f"{axis} {at + 1}" for axis, at in zip(axes, compared.first, strict=False))
    where = f" at {places}" if places else ""
    expected, got = (formats.number(value) for value in (compared.expected, compared.got))
    return f"Wrong, by no mistake that is known here: your first wrong number{where} is {got}, right is {expected}."
