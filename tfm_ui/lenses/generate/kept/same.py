"""The same text with the cache and without it: the tokens, and how far the logits are apart."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import pandas as pd
import torch

from tfm_core import Course, Sampling, Transformer, TransformerConfig, generate
from tfm_core.generation.costs import step_flops
from tfm_core.generation.sampling import next_token
from tfm_ui.lenses.generate.courses import Settings, course_of
from tfm_ui.lenses.generate.panel import CoursePanel
from tfm_ui.live.cache import cached
from tfm_ui.live.passes import transformer
from tfm_ui.live.script import script
from tfm_ui.pictures import lines
from tfm_ui.pictures.canvas import Content
from tfm_ui.pictures.chart import CHART
from tfm_ui.pictures.lines import Chart, Line
from tfm_ui.state.model_state import ModelState
from tfm_ui.text import formats

CLOSE = 1e-5  # of the largest logit: rounding of float32 through all layers is less
# Operations that passes without the cache may take, below a second: of longer texts some steps are compared.
BUDGET = 2e10


@dataclass(frozen=True)
class Whole:
    """Steps without the cache."""

    numbers: Sequence[int]
    """Which steps, from 0."""

    tokens: Sequence[int]
    """Chosen from their logits; those that were put there, where they were."""

    differences: Sequence[float]
    """The largest one between the logits of each and those with the cache."""

    largest: Sequence[float]
    """The largest logit of each by size, of which rounding is a share."""


def once_more(
    model: Transformer, course: Course, sampling: Sampling, numbers: Sequence[int]
) -> tuple[list[int], list[float], list[float]]:
    """Steps without the cache, each of which reads all of the text before it that the context holds.

    Their tokens, the largest difference of a logit from those with the cache, and the largest logit by size.
    """
    tokens, differences, largest = [], [], []
    for number in numbers:
        step = course.steps[number]
        ids = course.tokens[step.begin : len(course.prompt) + number]
        with torch.no_grad():
            logits = model(torch.tensor([ids]))[0, -1]
        tokens.append(step.token if step.forced else next_token(logits, sampling, number))
        differences.append(float((logits - step.logits).abs().max()))
        largest.append(float(step.logits.abs().max()))
    return tokens, differences, largest


@cached()
def without_cache(model: ModelState, settings: Settings) -> Whole:
    """The steps that are compared."""
    course = course_of(model, settings)
    numbers = compared(model, course)
    return Whole(numbers, *once_more(transformer(model.config), course, settings.sampling, numbers))


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


def both_ways(
    *,
    config: TransformerConfig,
    prompt: Sequence[int],
    sampling: Sampling,
    steps: int,
    forced: Mapping[int, int],
    context: int,
    when_full: str,
) -> tuple[list[int], list[int], list[float]]:
    """The tokens that are written with the cache and without it, and the largest difference of logits at each step."""
    model = Transformer(config).eval()
    writing = generate(model, prompt, sampling, steps=steps, forced=forced, context=context, when_full=when_full)
    with_cache = [step.token for step in writing]
    without, differences, _ = once_more(model, writing.course(), sampling, range(len(with_cache)))
    return with_cache, without, differences


class KeptSame(CoursePanel):
    """The text on screen, written in both ways."""

    title = "The same text without the cache"
    how_to_read = (
        "Each step once more by a pass over the whole text before it. Both ways add the same numbers, but "
        "not always in the same order, so that their last digits differ."
    )
    sources = (generate, once_more, compared)
    canvas = CHART
    slow = True

    @cached_property
    def whole(self) -> Whole:
        """The steps, each computed by a whole pass without the cache."""
        return without_cache(self.model, self.settings)

    @cached_property
    def with_cache(self) -> list[int]:
        """The tokens of the same steps with the cache."""
        return [self.course.steps[number].token for number in self.whole.numbers]

    @property
    def largest(self) -> float:
        """The largest difference of a logit."""
        return max(self.whole.differences, default=0.0)

    @property
    def bound(self) -> float:
        """What rounding stays below: a share of the largest logit."""
        return CLOSE * max(self.whole.largest, default=0.0)

    @property
    def is_rounding(self) -> bool:
        """Whether the logits are the same but for rounding."""
        return self.largest < self.bound

    @property
    def same(self) -> int:
        """The number of steps at which the token is the same with and without the cache."""
        return sum(a == b for a, b in zip(self.with_cache, self.whole.tokens, strict=True))

    @property
    def passes(self) -> str:
        """How much each way reads, in words."""
        # Without the cache each step reads all before it; with it, each token of a context is read once.
        once = dict(zip(self.begins, self.lengths, strict=True))
        return (
            f"With the cache all passes together read {formats.plural(sum(once.values()), 'token')}, without it "
            f"{formats.count(sum(self.lengths))}."
        )

    def sentence(self) -> str:
        """Whether the tokens agree, and how far the logits are apart."""
        count, total = len(self.whole.numbers), len(self.course.steps)
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

    def laws(self) -> dict[str, bool]:
        """The same tokens, and the same logits to rounding."""
        count, largest = len(self.whole.numbers), formats.number(self.bound / CLOSE)
        return {
            f"the same token with the cache and without it, at each step that is compared ({count})": self.same
            == count,
            f"logits differ by less than {formats.tiny(CLOSE)} of the largest, {largest} (largest difference "
            f"{formats.tiny(self.largest)})": self.is_rounding,
        }

    def picture(self) -> Content:
        """The largest difference of a logit at each step, and what rounding stays below."""
        x = [number + 1 for number in self.whole.numbers]
        drawn = [
            Line("largest difference of a logit", x, self.whole.differences, "result"),
            Line("rounding stays below", x, [self.bound] * len(x), "muted", "dashed"),
        ]
        chart = Chart("step", "largest difference of a logit", drawn if x else [], y_scale="log10")
        return lines.content([chart], gap="equal to the last digit")

    def table(self) -> pd.DataFrame:
        """A row per step that was compared."""
        pieces = self.model.tokens_by.pieces
        return pd.DataFrame(
            {
                "with the cache": [pieces[token] for token in self.with_cache],
                "without": [pieces[token] for token in self.whole.tokens],
                "largest difference of a logit": self.whole.differences,
            },
            index=pd.Index([number + 1 for number in self.whole.numbers], name="step"),
        )

    def recipe(self) -> str:
        """A script that leaves `with_cache`, `without` and `differences`."""
        return script(both_ways, **self.arguments())
