"""Masks combined by and / or, as a short text in the link: "window 3 or global 1 and causal". Pure.

Read from left to right, each word acts on all before it: (window 3 or global 1) and causal. The names are those of
tfm_core.MASKS, the numbers their arguments; tokens count from 1.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from tfm_core import MASKS, causal_mask
from tfm_ui.state.fields import whole_number

M = TypeVar("M", Tensor, NDArray[np.bool_])
HOW = ("and", "or")
MOST_TERMS, MOST_NUMBERS = 8, 16  # terms of a composition, numbers of a term
HIGH = 1024  # the largest number: no text is longer
EXPECTED = "expected such as: causal and padding, or: window 3 or global 1 and causal"


@dataclass(frozen=True)
class Term:
    """One mask of a composition.

    Attributes:
        how: "and" or "or", which combines it with all before it; of the first one "and".
        name: of tfm_core.MASKS.
        values: its arguments' values, as the library counts.
    """

    how: str
    name: str
    values: tuple[int | tuple[int, ...], ...]

    @property
    def numbers(self) -> list[int]:
        """The arguments as people count, from 1, one after the other."""
        pairs = zip(MASKS[self.name].arguments, self.values, strict=True)
        return [
            number + argument.of_tokens
            for argument, value in pairs
            for number in (value if isinstance(value, tuple) else (value,))
        ]

    def __str__(self) -> str:
        arguments = MASKS[self.name].arguments
        plain = all(
            value == argument.default == argument.low for value, argument in zip(self.values, arguments, strict=True)
        )
        return " ".join([self.name, *([] if plain else map(str, self.numbers))])

    def mask(self, queries: Tensor, keys: Tensor) -> Tensor:
        """The mask of these token ids, (1, query) and (1, key): boolean (query, key)."""
        made = MASKS[self.name].mask(queries, keys, *self.values)
        return made.expand(1, 1, queries.shape[1], keys.shape[1])[0, 0]


def parse(raw: str) -> tuple[list[Term], str]:
    """The terms of a text, and what is wrong with it, "" if nothing."""
    terms: list[Term] = []
    reason = ""
    how, words = "and", []
    for word in [*raw.lower().replace(",", " ").split(), "and"]:
        if word not in HOW:
            words.append(word)
            continue
        if words:
            term, wrong = _term(how, words)
            reason = reason or wrong
            if term and len(terms) < MOST_TERMS:
                terms.append(term)
            elif term:
                reason = reason or f"it holds {MOST_TERMS} masks"
        how, words = word, []
    return [Term("and", terms[0].name, terms[0].values), *terms[1:]] if terms else [], reason


def _term(how: str, words: list[str]) -> tuple[Term | None, str]:
    name, *rest = words
    if name not in MASKS:
        return None, f"“{name[:20]}” is no mask; there are {', '.join(MASKS)}"
    given, wrong = [number for number in map(whole_number, rest) if number is not None], ""
    if len(given) < len(rest):
        return None, f"“{' '.join(words)[:40]}” is no mask, {EXPECTED}"
    values: list[int | tuple[int, ...]] = []
    for argument in MASKS[name].arguments:
        taken = given[:MOST_NUMBERS] if argument.several else given[:1]
        given = given[len(taken) :]
        fitting = [min(max(number - argument.of_tokens, argument.low), HIGH) for number in taken]
        if fitting != [number - argument.of_tokens for number in taken]:
            wrong = f"{argument.name}: from {argument.low + argument.of_tokens} to {HIGH}"
        values.append((tuple(fitting) or argument.default) if argument.several else (*fitting, argument.default)[0])
    if given:
        wrong = wrong or f"{name} takes fewer numbers"
    return Term(how, name, tuple(values)), wrong


def written(terms: Iterable[Term]) -> str:
    """The terms as they stand in a link."""
    return "".join(f" {term.how} {term}" if i else str(term) for i, term in enumerate(terms))


def bracketed(terms: Iterable[Term]) -> str:
    """The terms with the brackets that say what acts on what; none where all are combined alike."""
    terms = list(terms)
    text, ways = "", {term.how for term in terms[1:]}
    for i, term in enumerate(terms):
        if i:
            text = f"{f'({text})' if i > 1 and len(ways) > 1 and term.how != terms[i - 1].how else text} {term.how} "
        text += str(term)
    return text


def combined(terms: Iterable[Term], queries: Tensor, keys: Tensor) -> Tensor:
    """The mask of all of them, boolean (query, key), of token ids (1, query) and (1, key); all True of none."""
    nothing_hidden = torch.ones(queries.shape[1], keys.shape[1], dtype=torch.bool)
    return joined(((term.how, term.mask(queries, keys)) for term in terms), nothing_hidden)


def composed(composition: str, queries: Tensor, keys: Tensor, *, causal: bool) -> Tensor:
    """The mask that a composition's text stands for, as of `combined`, and causality, if that is there anyway."""
    mask = combined(parse(composition)[0], queries, keys)
    return mask & causal_mask(*mask.shape) if causal else mask


def joined(masks: Iterable[tuple[str, M]], nothing_hidden: M) -> M:
    """Masks, each with the word that combines it with all before it; `nothing_hidden` if there are none."""
    before = nothing_hidden
    for i, (how, mask) in enumerate(masks):
        before = mask if not i else before & mask if how == "and" else before | mask
    return before


@dataclass(frozen=True)
class Composition:
    """A control that holds masks combined by and / or: the text that stands for them."""

    label: str
    max_chars: int = 200

    def read(self, raw: str, default: Any) -> tuple[str, str]:
        """The masks among what was asked for, as many as there is room for; the default if there are none."""
        terms, reason = parse(raw)
        if raw.strip() and not terms:
            return default, reason
        while len(written(terms)) > self.max_chars:
            terms, reason = terms[:-1], reason or f"it holds {self.max_chars} characters"
        return written(terms), reason
