"""What a check says: right or not, the first step that differs, and the mistake that explains it."""

import math
from dataclasses import dataclass

from tfm_core.checks.callables import BLANK
from tfm_core.study.mistakes import MISTAKES


@dataclass(frozen=True, repr=False)
class Report:
    """The result of a check. It is true if all is right, so that `assert check(f)` is a test, and prints as text.

    Attributes:
        ok: whether all is right.
        step: the first step that differs; "" if all is right.
        mistake: the mistake that gives these results, by its name in the catalogue (`tfm_core.study.mistakes`); "" if
            there is none, or none is known.
        largest_difference: of any number from the right one; infinite where NaN stands for numbers, NaN where nothing
            can be compared.
        what: the name of the check.
        notes: what else there is to know, in sentences, without the cure.
        equal: other mistakes of the catalogue that give the same here.
        hint: whether the text says more: symptom and cure.
        advice: the cure of what the catalogue does not have; of what it has, a cure that fits better here.
        error: the last line of the exception that the code raised; else "".
        blank: what is still to be filled in, with its line; else "".
        of_result: whether the step is merely what the code returns: the fault may lie in any step before.

    Examples:
        >>> from tfm_core import causal_mask, check_causal_mask
        >>> report = check_causal_mask(causal_mask)
        >>> bool(report), report.what, report.step
        (True, 'check_causal_mask', '')
    """

    ok: bool
    step: str = ""
    mistake: str = ""
    largest_difference: float = 0.0
    what: str = ""
    notes: tuple[str, ...] = ()
    equal: tuple[str, ...] = ()
    hint: bool = False
    advice: str = ""
    error: str = ""
    blank: str = ""
    of_result: bool = False

    @property
    def in_short(self) -> str:
        """The result in a line, as the message of an assertion below the printed report; "" if all is right."""
        if self.ok:
            return ""
        if self.blank or BLANK in self.error:
            return f"Not filled in yet: {self.blank or 'the report says more'}"
        return "Not right yet: the report says more."

    def __bool__(self) -> bool:
        return self.ok

    def __str__(self) -> str:
        if self.ok:
            return " ".join([f"{self.what}: right.", *self._difference(), *self.notes])
        if self.blank:
            return f"{self.what}: not filled in yet.\n{self.blank[0].upper()}{self.blank[1:]}."
        differs = "What differs" if self.of_result and not self.mistake else "The first step that differs"
        said = [f"{self.what}: not right." + f" {differs}: {self.step}." * (not self.error)]
        if self.error:
            said.append(f"The code raised {self.error}")
        if self.mistake:
            about = MISTAKES[self.mistake]
            said.append(f"The mistake: “{self.mistake}” ({about.about}). What is computed: {about.wrong_is}.")
            if self.equal:
                said.append(f"It cannot be told here from {' or '.join(f'“{name}”' for name in self.equal)}.")
        elif not (self.error or self.notes):
            said.append("No mistake of the catalogue gives these numbers.")
            if self.of_result:
                said.append("Only what the code returns is compared: the fault may lie in any step before.")
        said += [*self._difference(), *self.notes, *self._hints()]
        if not self.hint and (self.mistake or self.advice):
            said.append("With hint=True it says more.")
        return "\n".join(said)

    __repr__ = __str__

    def _difference(self) -> list[str]:
        if self.error or math.isnan(self.largest_difference):
            return []
        size = "∞" if math.isinf(self.largest_difference) else f"{self.largest_difference:.0e}".replace("e-0", "e-")
        return [f"Largest difference from tfm_core’s result: {size.replace('e+00', '')}."]

    def _hints(self) -> list[str]:
        if not self.hint:
            return []
        if self.mistake:
            about = MISTAKES[self.mistake]
            return [f"Symptom: {about.symptom}", f"Cure: {self.advice or about.cure}", f"Source: {about.source}."]
        return [f"Cure: {self.advice}"] if self.advice else []
