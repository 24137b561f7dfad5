"""What is wrong in the numbers of a mask that is added to the scores, or that would be."""

import math

import numpy as np

from tfm_core.clinic.finding import Finding
from tfm_core.clinic.findings_case import Case, first, signed

TINY = -1e-3  # a negative number above this hides nothing
LARGE = 1000.0  # a bias beyond this decides alone
WEAK = -10.0  # a number below this is meant to hide
HALF = -65504.0  # float16 ends here
LISTED = 4
TOO_LARGE = " Below −65,504 float16 ends: there it becomes −∞, and masked_fill with it raises a RuntimeError."


def of_values(case: Case) -> list[Finding]:
    """The findings that need no more than the numbers."""
    if case.zeros_and_ones:
        return _zeros_and_ones(case)
    if case.meaning != "added":
        return []
    return [*_without_order(case), *_almost_zero(case), *_hiding(case), *_positive(case)]


def _zeros_and_ones(case: Case) -> list[Finding]:
    if case.boolean or not case.values.any():
        return []
    mending = dict.fromkeys(("attend", "ignore", "added"), "mask.bool()")
    if case.kind == "whole numbers" and case.meaning != "added":
        return [
            case.finding(
                "note",
                "whole numbers handed",
                "The mask is of whole numbers, 0 and 1; torch takes booleans or floats.",
                "F.scaled_dot_product_attention raises a RuntimeError, nn.MultiheadAttention an AssertionError. "
                "Hugging Face takes whole numbers of two axes, (batch, key), 1 = may attend.",
                mending=mending,
            )
        ]
    below, above = np.tril(case.values, -1).any(), np.triu(case.values, 1).any()
    meant = "ignore" if case.square and above and not below else "attend"
    return [
        case.finding(
            "error" if case.meaning == "added" else "warning",
            "floats added",
            "The mask is of the floats 0 and 1, which torch adds to the scores: as it is, it hides nothing.",
            f"At equal scores a key with 1 gets e ≈ {math.e:.2f} times the weight of a key with 0; no weight is 0. As "
            "booleans it hides.",
            mending=mending,
            meaning=meant if case.meaning == "added" else "",
        )
    ]


def _without_order(case: Case) -> list[Finding]:
    """NaN and +∞, which make a row NaN."""
    bad = np.isnan(case.values) | (case.values == np.inf)
    if not bad.any():
        return []
    cell = first(bad)
    name = "NaN" if np.isnan(case.values[cell]) else "+∞"
    return [
        case.finding(
            "error",
            "NaN or infinity",
            f"There is {name} in the mask: its whole row becomes NaN.",
            f"Softmax over a row with {name} is NaN, in every entry of the row's weights and of its output.",
            cell,
            {"added": 'mask.nan_to_num(nan=0.0, posinf=0.0, neginf=float("-inf"))'},
        )
    ]


def _almost_zero(case: Case) -> list[Finding]:
    negative, tiny = case.values < 0, (case.values < 0) & (case.values > TINY)
    if not tiny.any() or (negative & ~tiny).any():
        return []
    cell = first(tiny)
    told = signed(float(case.values[cell]))
    return [
        case.finding(
            "error",
            "tiny negative",
            f"The number {told} is almost 0: it hides nothing.",
            f"The factor e^({told}) is almost exactly 1, so that these keys keep their weights. Probably −1e9 or −∞ "
            "was meant.",
            cell,
            {"added": 'mask.masked_fill(mask < 0, float("-inf"))'},
        )
    ]


def _hiding(case: Case) -> list[Finding]:
    """What stands for −∞: finite numbers, several, or too weak."""
    made: list[Finding] = []
    finite = np.isfinite(case.values) & (case.values <= case.limit)
    weak = (case.values > case.limit) & (case.values <= WEAK)
    mending = {"added": 'mask.masked_fill(mask <= {limit}, float("-inf"))'}
    if weak.any() and len(np.unique(case.values[weak])) == 1 and not finite.any():
        cell = first(weak)
        number = float(case.values[cell])
        made.append(
            case.finding(
                "warning",
                "weak stand-in",
                f"The number {signed(number)} hides almost, not quite.",
                f"The factor e^({signed(number)}) is {signed(math.exp(number))}: a hidden key with a score that is "
                f"{signed(-number)} higher would get as much weight as a visible key.",
                cell,
                {"added": f'mask.masked_fill(mask <= {number:g}, float("-inf"))'},
            )
        )
    numbers = np.unique(case.values[case.values <= case.limit])
    if finite.any():
        cell = first(finite)
        half = "" if case.values[finite].min() >= HALF else TOO_LARGE
        told = ", ".join(signed(float(number)) for number in numbers[::-1][:LISTED])
        more = f" and {len(numbers) - LISTED:,} more" if len(numbers) > LISTED else ""
        if len(numbers) > 1:
            made.append(
                case.finding(
                    "note",
                    "several stand-ins",
                    f"Several numbers hide: {told}{more}.",
                    "Beside a visible key all of them give a weight of exactly 0. In a row without any visible key the "
                    f"largest of them takes the weight, as a visible key would.{half}",
                    cell,
                    mending,
                )
            )
        else:
            made.append(
                case.finding(
                    "note",
                    "finite stand-in",
                    f"The number {told} stands for −∞.",
                    f"Beside a visible key it gives a weight of exactly 0 in {case.precision}. In a row without a key "
                    f"it gives no NaN, and hides nothing.{half}",
                    cell,
                    mending,
                )
            )
    return made


def _positive(case: Case) -> list[Finding]:
    positive = np.isfinite(case.values) & (case.values > 0)
    if not positive.any():
        return []
    cell = first(positive)
    told = signed(float(case.values[cell]))
    if case.values[positive].min() >= LARGE and not (case.values < 0).any():
        return [
            case.finding(
                "error",
                "sign lost",
                f"The number {told} is added to scores: only these keys get weight.",
                "A large positive number does not hide a key: it hides all others. The minus is missing.",
                cell,
                {"added": "-mask"},
            )
        ]
    return [
        case.finding(
            "note",
            "positive bias",
            f"The number {told} raises a score.",
            "A positive number gives a key more weight; 0 leaves a key as it is. A mask that hides has no positive "
            "numbers, a position bias may.",
            cell,
        )
    ]
