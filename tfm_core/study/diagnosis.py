"""Which mistake is in a result: the right steps of an exercise, and those under each mistake and pair of mistakes."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from tfm_core.study.exercise import Exercise
from tfm_core.study.mistake import Mistake
from tfm_core.study.mistakes import mistakes_of
from tfm_core.study.mistakes_masks import FILLS
from tfm_core.study.pieces import Pieces
from tfm_core.study.steps import STEPS, Steps, pieces_of

NEAR = 1e-5  # of the largest number, at least 1: what float32 code may be off
ASKED = tuple(step for step in STEPS if step != "in heads")  # the steps whose results can be handed in, in order
HIDDEN_BELOW = -1e4  # of masked scores: what stands for −∞
SHOWN = 4  # numbers of a vector in a derivation


@dataclass(frozen=True)
class Compared:
    """A result beside the right one.

    Attributes:
        step: which step's.
        difference: the largest of any number; infinite where one is NaN or −∞ and the other is not; NaN where the
            shapes do not fit.
        ok: whether it is right.
        first: where the first number stands that differs, counted from 0; () of a single number, or if all are right.
        expected, got: the two numbers there; of shapes that do not fit, NaN.
        shapes: (right, handed in), where they do not fit; else None.
    """

    step: str
    difference: float
    ok: bool
    first: tuple[int, ...] = ()
    expected: float = math.nan
    got: float = math.nan
    shapes: tuple[tuple[int, ...], tuple[int, ...]] | None = None


@dataclass(frozen=True)
class Explanation:
    """Mistakes that together give the results.

    Attributes:
        names: of the catalogue, one or two.
        exchanged: the pieces that they exchange.
        difference: the largest between what they give and what was handed in.
        fill: how code that gives this fills rows without a key; "" if that makes no difference.
        evidence: what tells it, where no second computation can repeat it; else "".
    """

    names: tuple[str, ...]
    exchanged: Pieces
    difference: float
    fill: str = ""
    evidence: str = ""


@dataclass(frozen=True)
class Diagnosis:
    """What was made of the results.

    Attributes:
        compared: each result beside the right one, in the order of the steps.
        explanations: what gives all of the results, the nearest first; several cannot be told apart here.
        tried: how many mistakes and pairs were computed.

    Examples:
        >>> import torch
        >>> from tfm_core import Exercise, diagnose
        >>> diagnosis = diagnose(Exercise(), {"scores": torch.zeros(1, 2, 6, 6)}, pairs=False)
        >>> diagnosis.ok, diagnosis.step
        (False, 'scores')
    """

    compared: tuple[Compared, ...]
    explanations: tuple[Explanation, ...]
    tried: int

    @property
    def ok(self) -> bool:
        """Whether all is right."""
        return all(each.ok for each in self.compared)

    @property
    def step(self) -> str:
        """The first step that is wrong; "" if none is."""
        return next((each.step for each in self.compared if not each.ok), "")


def diagnose(
    exercise: Exercise,
    results: Mapping[str, Tensor],
    *,
    starts: Mapping[str, Tensor] | None = None,
    rounding: float = 0.0,
    pairs: bool = True,
) -> Diagnosis:
    """Compare results with the right ones, and look for the mistake, or the two, that give exactly these.

    The steps are those of Vaswani et al. 2017, section 3, from token ids to the loss.

    Args:
        exercise: what was computed.
        results: by step, a name of `ASKED`, such as "scores" (batch, head, query, key) or "output" (batch, seq,
            d_model): any float type; axes of length 1 may be left out, and so may the second sentence.
        starts: tensors that were used in place of the exercise's.
        rounding: how far printed numbers may be off, such as 5e-5 for four digits.
        pairs: whether two mistakes at once are looked for, where none alone gives the results.

    Raises:
        ValueError: for a name that is no step, or for no result at all.

    Examples:
        >>> from tfm_core import Exercise, diagnose
        >>> from tfm_core.study.steps import Steps
        >>> exercise = Exercise(num_heads=2, d_model=16)
        >>> scores = Steps(exercise).value("scores")  # (batch, head, query, key)
        >>> diagnose(exercise, {"scores": scores}).ok
        True
        >>> unscaled = scores * exercise.head_dim**0.5
        >>> "no scale" in diagnose(exercise, {"scores": unscaled}).explanations[0].names
        True
    """
    unknown = [name for name in results if name not in ASKED]
    if unknown or not results:
        raise ValueError(f"diagnose: expected results of {', '.join(ASKED)}; got {', '.join(unknown) or 'none'}")
    with torch.inference_mode():
        steps = Steps(exercise, starts)
        handed = {step: _ready(step, results[step]) for step in ASKED if step in results}
        allowed = {
            step: _allowed(steps.value(step), results[step], rounding) for step in handed
        }  # by step, how far off is near enough
        compared = tuple(compare(step, steps.value(step), handed[step], allowed[step]) for step in handed)
        if all(each.ok for each in compared):
            return Diagnosis(compared, (), 0)
        # numbers may be far larger than the right ones, and rounded as coarsely
        near = {step: max(allowed[step], _allowed(handed[step], results[step], rounding)) for step in handed}
        search = _Search(steps, handed, near)
        explanations, tried = search.singles()
        if not explanations and pairs:
            explanations, more = search.pairs()
            tried += more
    return Diagnosis(compared, tuple(sorted(explanations, key=lambda each: each.difference)), tried)


def _ready(step: str, result: Tensor) -> Tensor:
    """The result in float64, with −∞ where a large negative number stands for it."""
    ready = result.detach().double()
    return ready.masked_fill(ready <= HIDDEN_BELOW, -math.inf) if step == "masked scores" else ready


def _allowed(right: Tensor, result: Tensor, rounding: float) -> float:
    """How far a result may be off: by float32's rounding over some steps, or by that of a smaller type."""
    finite = right.double()[right.double().isfinite()]
    largest = max(1.0, float(finite.abs().max()) if finite.numel() else 0.0)
    near = max(NEAR, 4 * torch.finfo(result.dtype).eps) if result.is_floating_point() else NEAR
    return near * largest + rounding


def aligned(right: Tensor, result: Tensor) -> Tensor | None:
    """The part of the right result that this one is of: all, or the first sentence's; None if no shape fits."""
    if right.squeeze().shape == result.squeeze().shape:
        return right.reshape(result.shape)
    if right.dim() > 1 and right[0].squeeze().shape == result.squeeze().shape:
        return right[0].reshape(result.shape)
    return None


def difference_of(right: Tensor, result: Tensor) -> float:
    """The largest of any number; infinite where NaN and infinities do not stand at the same places."""
    part = aligned(right, result)
    if part is None:
        return math.inf
    gap = _gap(part.to(result), result)
    return float(gap.max()) if gap.numel() else 0.0


def _gap(right: Tensor, result: Tensor) -> Tensor:
    """The difference of each number: 0 where both are NaN or the same infinity, infinite where one alone is."""
    same = (right == result) | (right.isnan() & result.isnan())
    return (right - result).abs().masked_fill(same, 0.0).nan_to_num(math.inf)


def compare(step: str, right: Tensor, result: Tensor, allowed: float) -> Compared:
    """A result beside the right one."""
    part = aligned(right, result)
    if part is None:
        return Compared(step, math.nan, False, shapes=(tuple(right.shape), tuple(result.shape)))
    part = part.to(result)
    gap = _gap(part, result)
    wrong = (gap > allowed).nonzero()
    largest = float(gap.max()) if gap.numel() else 0.0
    if not len(wrong):
        return Compared(step, largest, True)
    first = tuple(int(at) for at in wrong[0])
    return Compared(step, largest, False, first, float(part[first]), float(result[first]))


class _Search:
    """Tries exchanges of pieces until the results come out; in float32 first, which is twice as fast."""

    def __init__(self, steps: Steps, handed: Mapping[str, Tensor], allowed: Mapping[str, float]) -> None:
        self.exact = steps
        self.fast = Steps(steps.exercise, {name: steps.given[name] for name in steps.given}, torch.float32)
        self.handed, self.allowed = handed, allowed
        self.rough = {step: result.float() for step, result in handed.items()}
        self.has_nan = any(bool(result.isnan().any()) for result in handed.values())
        self.concerned = frozenset().union(*(pieces_of(step) for step in handed))
        self.mistakes = {
            name: mistake
            for name, mistake in mistakes_of(steps.exercise).items()
            if self.concerned & set(mistake.wrong)
        }
        self._empties: dict[str, bool] = {}

    def singles(self) -> tuple[list[Explanation], int]:
        """Each mistake alone."""
        explanations: list[Explanation] = []
        for name, mistake in self.mistakes.items():
            if mistake.recognise is None:
                explanations += self._tried((name,))
            elif evidence := self._recognised(mistake):
                explanations.append(Explanation((name,), mistake.wrong, 0.0, evidence=evidence))
        return explanations, len(self.mistakes)

    def pairs(self) -> tuple[list[Explanation], int]:
        """Two mistakes at once, that exchange different pieces."""
        explanations: list[Explanation] = []
        tried = 0
        able = [name for name, mistake in self.mistakes.items() if mistake.recognise is None]
        for at, first in enumerate(able):
            wrong = self.mistakes[first].wrong
            for second in able[at + 1 :]:
                if set(wrong).isdisjoint(self.mistakes[second].wrong):
                    explanations += self._tried((first, second))
                    tried += 1
            self.fast.forget(wrong)  # no later pair has it
        return explanations, tried

    def _recognised(self, mistake: Mistake) -> str:
        """What tells a mistake that chance has a part in, in the step where it enters; "" if nothing does."""
        assert mistake.recognise is not None
        for step, result in self.handed.items():
            right = aligned(self.exact.value(step), result)
            if right is not None and set(mistake.wrong) & set(STEPS[step].uses):
                return mistake.recognise(right, result)
        return ""

    def _tried(self, names: tuple[str, ...]) -> list[Explanation]:
        """The mistakes together, if they give the results under any way to fill rows without a key."""
        exchanged: Pieces = {}
        for name in names:
            exchanged = {**exchanged, **self.mistakes[name].wrong}
        explanations = []
        for fill, pieces in self._fills(names):
            together: Pieces = {**exchanged, **pieces}
            if set(pieces) & set(exchanged) or self._near(self.fast, self.rough, together, 30.0) is None:
                continue
            difference = self._near(self.exact, self.handed, together, 1.0)
            if difference is not None:
                explanations.append(Explanation(names, together, difference, fill))
        # Where every fill gives the same, as before the softmax, none is to be told.
        return explanations if len(explanations) < 2 else [replace(explanations[0], fill="")]

    def _fills(self, names: Sequence[str]) -> list[tuple[str, Pieces]]:
        ours: tuple[str, Pieces] = ("", {})
        if not any(map(self._leaves_empty, names)):
            return [] if self.has_nan else [ours]
        if self.has_nan:
            return list(FILLS.items())[:1]
        return [ours, *list(FILLS.items())[1:]]

    def _leaves_empty(self, name: str) -> bool:
        """Whether a mistake leaves a softmax without anything that may be attended to."""
        if name not in self._empties:
            plain = next(iter(FILLS.values()))
            wrong = self.mistakes[name].wrong
            self._empties[name] = bool(self.fast.value("weights", {**plain, **wrong}).isnan().any())
        return self._empties[name]

    def _near(self, steps: Steps, results: Mapping[str, Tensor], exchanged: Pieces, margin: float) -> float | None:
        """The largest difference from the results, if each is near enough; None if not."""
        largest = 0.0
        for step, result in results.items():
            try:
                value = steps.value(step, exchanged)
            except RuntimeError:  # shapes of two mistakes that do not fit each other
                return None
            difference = difference_of(_ready(step, value).to(result), result)
            if not difference <= margin * self.allowed[step]:
                return None
            largest = max(largest, difference)
        return largest


# the derivation of two numbers


@dataclass(frozen=True)
class Line:
    """A step of a derivation.

    Attributes:
        step: its name.
        about: what it is.
        right, wrong: the numbers, as text; of vectors the first few.
        differs: whether the two are different.
    """

    step: str
    about: str
    right: str
    wrong: str
    differs: bool


def derivation(steps: Steps, step: str, place: Sequence[int], exchanged: Pieces) -> tuple[Line, ...]:
    """The steps that lead to a number, right beside wrong, from where the two part.

    Args:
        steps: of the exercise.
        step: whose result.
        place: the number's place in it, counted from 0.
        exchanged: the pieces of the mistake.
    """
    at = dict(zip(STEPS[step].axes, place, strict=False))
    cached = steps.exercise.cached
    if "token" in at or "query" in at:
        at["token"] = at.get("query", at.get("token", 0)) + (0 if _of_all_tokens(step) else cached)
    lines = []
    for name in _before(step):
        with torch.inference_mode():
            right, wrong = steps.value(name), steps.value(name, exchanged)
        if not isinstance(right, Tensor):
            continue
        ours, theirs = _part(name, right, at, cached), _part(name, wrong, at, cached)
        differs = ours.shape != theirs.shape or not torch.equal(ours.nan_to_num(math.pi), theirs.nan_to_num(math.pi))
        lines.append(Line(name, STEPS[name].about, _written(ours), _written(theirs), differs))
    first = next((i for i, line in enumerate(lines) if line.differs), len(lines))
    leads = {read for line in lines[first:] for read in STEPS[line.step].reads}
    return tuple(line for i, line in enumerate(lines) if i >= first or line.step in leads)


def _before(step: str) -> list[str]:
    """The steps that a step is computed of, in order, and itself."""
    needed, left = {step}, [step]
    while left:
        reads = [read for read in STEPS[left.pop()].reads if read in STEPS]
        left += [read for read in reads if read not in needed]
        needed |= set(reads)
    return [name for name in STEPS if name in needed]


def _of_all_tokens(step: str) -> bool:
    """Whether a step has the cached tokens, too, as keys and values have, and all that they are made of."""
    return step in (*_before("query"), *_before("key of each head"), "value", "value of each head")


def _part(step: str, result: Tensor, at: Mapping[str, int], cached: int) -> Tensor:
    """What of a step's result concerns the place: the same sentence, head, token and dimension, as far as it has it.

    Tokens of `at` count from the first of the text on: where the first ones are cached, queries begin after them.
    """
    token = at["key"] if "key" in at and step.startswith(("key", "value")) else at.get("token")
    places = {**at, "token": token}
    if token is not None and not _of_all_tokens(step):
        places["token"] = token - cached
    part = result
    axes = STEPS[step].axes[len(STEPS[step].axes) - result.dim() :] if result.dim() else ()
    for axis in axes:
        index = places.get(axis)
        if index is None:
            break  # what follows is drawn whole
        part = part[min(index, len(part) - 1)]
    return part


def _written(part: Tensor) -> str:
    """Numbers as text, with a true minus; of many the first few."""
    flat = part.flatten()
    if part.dtype == torch.bool:
        texts = [str(bool(value)) for value in flat[:SHOWN]]
    else:
        texts = [_number(float(value)) for value in flat[:SHOWN]]
    more = f", … ({len(flat):,} numbers)" if len(flat) > SHOWN else ""
    return ", ".join(texts) + more


def _number(value: float) -> str:
    if math.isinf(value):
        return "∞" if value > 0 else "−∞"
    return "NaN" if math.isnan(value) else f"{value:.5f}".replace("-", "−")
