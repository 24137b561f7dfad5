"""What the mask doctor made of a file or a text: tables of numbers, and what they may mean as a mask."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from tfm_core.clinic.finding import Finding

Meaning = Literal["attend", "ignore", "added", "weights", "token ids"]
MEANINGS: tuple[Meaning, ...] = ("attend", "ignore", "added", "weights", "token ids")


@dataclass(frozen=True)
class Reading:
    """What was read.

    Attributes:
        meaning: "attend" (True or 1 = may attend), "ignore" (True or 1 = hidden), "added" (to the scores), "weights"
            (of a softmax) or "token ids".
        alternatives: the meanings that stay open, the likeliest first; a single one if nothing is open.
        tables: float64 (row, column) each, in the order of the file; True is 1.
        visible: for each table boolean (row, column), True = may attend, under `meaning`; empty for weights and ids.
        labels: the tokens, where the file names them.
        why: the evidence for the meaning, a sentence.
        reasons: by meaning, the evidence for each of the alternatives, a sentence each.
        names: what each table is, such as "layer 1 of 2, head 3 of 4"; empty for a single table.
        notes: what was done with the input on the way, in sentences.
        kind: what stood there: "booleans", "whole numbers", "numbers", or "signs" that were drawn.
        precision: the float type that the numbers came in.
        findings: what the code that made the mask has wrong; empty where no code was read.
    """

    meaning: Meaning
    alternatives: tuple[Meaning, ...]
    tables: list[NDArray[np.float64]]
    visible: list[NDArray[np.bool_]]
    labels: tuple[str, ...] = ()
    why: str = ""
    reasons: Mapping[Meaning, str] = field(default_factory=dict)
    names: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    kind: str = "numbers"
    precision: str = "float64"
    findings: tuple[Finding, ...] = ()
