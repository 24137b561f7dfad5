"""The same text with the cache and without it: the tokens, and how far the logits are apart."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import pandas as pd
import torch

from tfm_core import Course
from tfm_core.generation.costs import step_flops
from tfm_core.generation.sampling import next_token
from tfm_ui.lenses.generate import courses
from tfm_ui.lenses.generate.courses import Settings
from tfm_ui.lenses.generate.kept import recipe
from tfm_ui.lenses.generate.of_course import OfCourse
from tfm_ui.lenses.generate.state import GenerateState
from tfm_ui.live.cache import cached
from tfm_ui.live.passes import transformer
from tfm_ui.live.script import script
from tfm_ui.state.model_state import ModelState
from tfm_ui.text import formats

CLOSE = 1e-5  # of the largest logit: rounding of float32 through all layers is less
BUDGET = (
    2e10  # operations that passes without the cache may take, below a second: of longer texts some steps are compared
)


@dataclass(frozen=True)
class Whole:
    """A step without the cache.

    Attributes:
        number: of the step, from 0.
        token: that is chosen from its logits; the one that was put there, where one was.
        difference: the largest one between its logits and those with the cache.
        largest: the largest logit by size, of which rounding is a share.
    """

    number: int
    token: int
    difference: float
    largest: float


@cached()
def without_cache(model: ModelState, settings: Settings) -> tuple[Whole, ...]:
    """Steps without the cache: each reads all of the text before it that the context holds."""
    course, machine = courses.course_of(model, settings), transformer(model.config)
    whole = []
    for number in compared(model, course):
        step = course.steps[number]
        ids = course.tokens[step.begin : len(course.prompt) + number]
        with torch.no_grad():
            logits = machine(torch.tensor([ids]))[0, -1]
        token = step.token if step.forced else next_token(logits, settings.sampling, number)
        whole.append(Whole(number, token, float((logits - step.logits).abs().max()), float(step.logits.abs().max())))
    return tuple(whole)


def compared(model: ModelState, course: Course) -> Sequence[int]:
    """The numbers of the steps that are compared: all, or as many as the budget allows, evenly spread."""
    count = len(course.steps)
    total = sum(
        step_flops(model.config, len(course.prompt) + step.number - step.begin, cached=False) for step in course.steps
    )
    if total <= BUDGET or count <= 2:
        return range(count)
    few = max(2, int(count * BUDGET / total))
    return sorted({round(place * (count - 1) / (few - 1)) for place in range(few)})


@dataclass(frozen=True)
class Same(OfCourse):
    """The text on screen, written in both ways."""

    @cached_property
    def whole(self) -> tuple[Whole, ...]:
        """The steps, each computed by a whole pass without the cache."""
        return without_cache(self.model, self.settings)

    @property
    def largest(self) -> float:
        """The largest difference of a logit."""
        return max((step.difference for step in self.whole), default=0.0)

    @property
    def bound(self) -> float:
        """What rounding stays below: a share of the largest logit."""
        return CLOSE * max((step.largest for step in self.whole), default=0.0)

    @property
    def is_rounding(self) -> bool:
        """Whether the logits are the same but for rounding."""
        return self.largest < self.bound

    @property
    def same(self) -> int:
        """The number of steps at which the token is the same with and without the cache."""
        return sum(step.token == self.course.steps[step.number].token for step in self.whole)

    @property
    def passes(self) -> str:
        """How much each way reads, in words."""
        reads = [
            len(self.course.prompt) + step.number - step.begin for step in self.course.steps
        ]  # without the cache; with it, each token of a context once
        lasts = {step.begin: read for step, read in zip(self.course.steps, reads, strict=True)}
        return (
            f"With the cache all passes together read {formats.plural(sum(lasts.values()), 'token')}, without it "
            f"{formats.count(sum(reads))}."
        )

    def sentence(self) -> str:
        """Whether the tokens agree, and how far the logits are apart."""
        count, total = len(self.whole), len(self.course.steps)
        if not count:
            return "Nothing was written, so nothing is compared."
        which = f"all {formats.count(count)} steps" if count > 1 else "the one step"
        if count < total:
            which = f"{count} of {total} steps, evenly spread, as each pass over a long text takes time"
        equal = "the same" if self.same == count else f"the same only {self.same} times"
        logits = f"the {formats.count(self.model.config.vocab_size)} logits of each step"
        apart = f"{logits} are equal to the last digit"
        if self.largest:
            judged = "" if self.is_rounding else "not "
            apart = f"{logits} differ by at most {formats.tiny(self.largest)}, which is {judged}rounding"
        return f"At {which}, the token is {equal} without the cache; {apart}. {self.passes}"

    def laws(self) -> Mapping[str, bool]:
        """The same tokens, and the same logits to rounding."""
        if not self.whole:
            return {}
        largest = formats.number(self.bound / CLOSE)
        return {
            f"the same token with the cache and without it, at each step that is compared ({len(self.whole)})": (
                self.same == len(self.whole)
            ),
            f"logits differ by less than {formats.tiny(CLOSE)} of the largest, {largest} (largest difference "
            f"{formats.tiny(self.largest)})": self.is_rounding,
        }

    def table(self) -> pd.DataFrame:
        """A row per step that was compared."""
        pieces = self.model.tokens_by.pieces
        return pd.DataFrame(
            {
                "with the cache": [pieces[self.course.steps[step.number].token] for step in self.whole],
                "without": [pieces[step.token] for step in self.whole],
                "largest difference of a logit": [step.difference for step in self.whole],
            },
            index=pd.Index([step.number + 1 for step in self.whole], name="step"),
        )

    def recipe(self) -> str:
        """A script that leaves `with_cache`, `without` and `differences`."""
        return script(recipe.both_ways, **self.arguments())


def same(model: ModelState, state: GenerateState) -> Same:
    """The text that the link describes."""
    return Same(model, courses.settings_of(model, state))
