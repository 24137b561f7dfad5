"""What each mask of a composition does to a sentence: which pairs it hides, and whether it changes anything."""

from collections.abc import Sequence
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from tfm_core import causal_mask
from tfm_ui.lenses.masks.composition import Term, bracketed, joined, parse
from tfm_ui.lenses.masks.state import Setting
from tfm_ui.text import formats

Mask = NDArray[np.bool_]
PAINTS = 4  # a reason is 4 times the sum of 2**i of all that hide a cell, and how it is painted


def anyway(setting: Setting) -> str:
    """Why nobody looks ahead whatever is composed; "" if that is a matter of the composition."""
    if not setting.causal_anyway:
        return ""
    return "the sidebar’s switch" if setting.model.masks_the_future else "built into the decoder"


class Terms:
    """The masks that a sentence's mask is composed of, and what hides a pair whatever they say."""

    def __init__(self, setting: Setting) -> None:
        self.setting = setting
        self.terms: Sequence[Term] = parse(setting.composition)[0]

    @cached_property
    def masks(self) -> list[Mask]:
        """The mask of each term alone, boolean (query, key)."""
        queries, keys = self.setting.queries.batch, self.setting.keys.batch
        return [term.mask(queries, keys).numpy() for term in self.terms]

    @cached_property
    def back(self) -> Mask | None:
        """What causality leaves that is there anyway; None if it is not."""
        return causal_mask(*self.setting.composed.shape).numpy() if self.setting.causal_anyway else None

    @property
    def names(self) -> list[str]:
        """Names of the masks, and of causality, in the order of their numbers in `reasons`."""
        because = anyway(self.setting)
        return [*map(str, self.terms), *([f"causality ({because})"] if because else [])]

    def reasons(self) -> NDArray[np.int16]:
        """Why a pair is hidden, (query, key): 4 x (the sum of 2**i of all masks that do) + how it is painted.

        Joined by "and", each mask that does not let see hides; by "or", all that do not, together.
        """
        before: Mask = np.ones(self.setting.composed.shape, np.bool_)
        hidden_by = np.zeros(before.shape, np.int16)
        for i, (term, mask) in enumerate(zip(self.terms, self.masks, strict=True)):
            hides = np.where(mask, 0, 2**i).astype(np.int16)
            if term.how == "and":
                hidden_by, before = hidden_by | hides, before & mask
            else:
                before = before | mask
                hidden_by = np.where(before, 0, hidden_by | hides)
        if self.back is not None:
            hidden_by |= np.where(self.back, 0, 2 ** len(self.terms)).astype(np.int16)
        return hidden_by * PAINTS + self.setting.painted

    @cached_property
    def idle(self) -> list[int]:
        """Those that change nothing for this sentence: without them the same pairs are visible."""
        return [i for i in range(len(self.terms)) if np.array_equal(self._without(i), self.setting.composed)]

    def _without(self, left_out: int) -> Mask:
        rest = [(term.how, mask) for term, mask in zip(self.terms, self.masks, strict=True)]
        del rest[left_out]
        others: Mask = joined(rest, np.ones(self.setting.composed.shape, np.bool_))
        return others if self.back is None else others & self.back

    @cached_property
    def ahead(self) -> list[int]:
        """Those that only say who may look ahead, where nobody may anyway."""
        if self.back is None:
            return []
        hides = [(i, mask) for i, mask in enumerate(self.masks) if i in self.idle and not mask.all()]
        return [i for i, mask in hides if mask[self.back].all()]

    def notes(self) -> str:
        """What has no effect, in sentences; "" if all have one."""
        ahead = [f"“{self.terms[i]}”" for i in self.ahead]
        idle = [f"“{self.terms[i]}”" for i in self.idle if i not in self.ahead]
        sentences = []
        if ahead:
            sentences.append(
                f"{formats.listed(ahead)} only {'says' if len(ahead) == 1 else 'say'} who may look ahead, and nobody "
                f"may: causality is {'on by ' if self.setting.model.masks_the_future else ''}{anyway(self.setting)}."
            )
        if len(idle) == 1:
            sentences.append(f"{idle[0]} changes nothing for this sentence.")
        elif idle:
            sentences.append(f"For this sentence, removing any one of {formats.listed(idle)} changes nothing.")
        return " ".join(sentences)

    @property
    def title(self) -> str:
        """The composition with its brackets, and causality that is there anyway."""
        text = bracketed(self.terms)
        if self.back is None:
            return text or "nothing hidden"
        mixed = len(self.terms) > 1 and self.terms[-1].how == "or"
        return f"causality and {f'({text})' if mixed else text}" if text else "causality"
