"""A finding of the mask doctor: what is wrong in a mask, where, what will happen, and how to mend it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

Severity = Literal["error", "warning", "note"]
SEVERITIES: tuple[Severity, ...] = ("error", "warning", "note")  # the worst first


@dataclass(frozen=True)
class Finding:
    """One thing to know about a mask.

    Attributes:
        severity: "error" where numbers become NaN or a promise is broken for certain, "warning" where it is likely,
            "note" where the reader should know it.
        title: the finding in one sentence.
        consequence: what happens when this mask is used, in sentences.
        where: the place in words, counted from 1, such as "row 5", "row 3, column 2" or, in code, "line 1, column 8";
            "" for the whole mask.
        cell: the same as (row, column), counted from 0; None for the whole mask.
        fixes: by the call that gets the mask ("torch", "nn.MultiheadAttention", "Hugging Face"): code, two lines each.
        topic: the kind of finding, such as "diagonal hidden": what the code and its values both show is said once.
    """

    severity: Severity
    title: str
    consequence: str = ""
    where: str = ""
    cell: tuple[int, int] | None = None
    fixes: Mapping[str, str] = field(default_factory=dict)
    topic: str = ""
