"""The same text with the cache and without it: the tokens, and how far the logits are apart."""

from collections.abc import Mapping, Sequence
from functools import cached_property

import pandas as pd
import torch

from tfm_core import Course, Sampling, Transformer, TransformerConfig, generate
from tfm_core.generation.costs import step_flops
from tfm_core.generation.sampling import next_token
from tfm_ui.lenses.generate.courses import QUICK, Settings, course_of, text_of
from tfm_ui.lenses.generate.panel import CoursePanel
from tfm_ui.live.cache import grown
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


def once_more(
    model: Transformer, course: Course, sampling: Sampling, numbers: Sequence[int]
) -> tuple[list[int], list[float]]:
    """Steps without the cache, each of which reads all of the text before it that the context holds.

    Their tokens, and the largest difference of a logit from those with the cache.
    """
    tokens, differences = [], []
    for number in numbers:
        step = course.steps[number]
        ids = course.tokens[step.begin : len(course.prompt) + number]
        with torch.no_grad():
            logits = model(torch.tensor([ids]))[0, -1]
        tokens.append(step.token if step.forced else next_token(logits, sampling, number))
        differences.append(float((logits - step.logits).abs().max()))
    return tokens, differences


def without_cache(model: ModelState, settings: Settings) -> tuple[list[int], list[float]]:
    """What `once_more` tells of the steps that are compared; of a text that has been written on, of its new steps."""
    course = course_of(model, settings)
    numbers = compared(model, course)

    def look_on(known: Mapping[int, tuple[int, float]] | None) -> Mapping[int, tuple[int, float]]:
        new = [number for number in numbers if number not in (known or {})]
        pairs = zip(*once_more(transformer(model.config), course, settings.sampling, new), strict=True)
        return {**(known or {}), **dict(zip(new, pairs, strict=True))}

    by_step = grown(
        ("without the cache", *text_of(model, settings)),
        look_on,
        is_enough=lambda known: known.keys() >= set(numbers),
        heavy=lambda known: model.is_heavy or len(set(numbers) - (known or {}).keys()) > QUICK,
    )
    return [by_step[number][0] for number in numbers], [by_step[number][1] for number in numbers]


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
    without, differences = once_more(model, writing.course(), sampling, range(len(with_cache)))
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
    def numbers(self) -> Sequence[int]:
        """Which steps are compared, from 0."""
        return compared(self.model, self.course)

    @cached_property
    def _whole(self) -> tuple[list[int], list[float]]:
        return without_cache(self.model, self.settings)

    @property
    def tokens(self) -> Sequence[int]:
        """The tokens without the cache; those that were put there, where they were."""
        return self._whole[0]

    @property
    def differences(self) -> Sequence[float]:
        """The largest difference of a logit from that with the cache, at each of these steps."""
        return self._whole[1]

    @property
    def with_cache(self) -> list[int]:
        """The tokens of the same steps with the cache."""
        return [self.course.steps[number].token for number in self.numbers]

    @property
    def largest(self) -> float:
        """The largest difference of a logit."""
        return max(self.differences, default=0.0)

    @property
    def bound(self) -> float:
        """What rounding stays below: a share of the largest logit."""
        return CLOSE * max(
            (float(self.course.steps[number].logits.abs().max()) for number in self.numbers), default=0.0
        )

    @property
    def is_rounding(self) -> bool:
        """Whether the logits are the same but for rounding."""
        return self.largest < self.bound

    @property
    def same(self) -> int:
        """The number of steps at which the token is the same with and without the cache."""
        return sum(a == b for a, b in zip(self.with_cache, self.tokens, strict=True))

    def sentence(self) -> str:
        """Whether the tokens agree, and how far the logits are apart."""
        count, total = len(self.numbers), len(self.course.steps)
        which = f"all {formats.count(count)} steps" if count > 1 else "the one step"
        if count < total:
            which = f"{count} of {total} steps, evenly spread, as each pass over a long text takes time"
        equal = "the same" if self.same == count else f"the same only {self.same} times"
        logits = f"the {formats.count(self.model.config.vocab_size)} logits of each step"
        apart = f"{logits} are equal to the last digit"
        if self.largest:
            judged = "" if self.is_rounding else "not "
            apart = f"{logits} differ by at most {formats.tiny(self.largest)}, which is {judged}rounding"
        once = dict(zip(self.begins, self.lengths, strict=True))  # with the cache each token of a context is read once
        return (
            f"At {which}, the token is {equal} without the cache; {apart}. With the cache all passes together read "
            f"{formats.plural(sum(once.values()), 'token')}, without it {formats.count(sum(self.lengths))}."
        )

    def laws(self) -> dict[str, bool]:
        """The same tokens, and the same logits to rounding."""
        count, largest = len(self.numbers), formats.number(self.bound / CLOSE)
        return {
            f"the same token with the cache and without it, at each step that is compared ({count})": self.same
            == count,
            f"logits differ by less than {formats.tiny(CLOSE)} of the largest, {largest} (largest difference "
            f"{formats.tiny(self.largest)})": self.is_rounding,
        }

    def picture(self) -> Content:
        """The largest difference of a logit at each step, and what rounding stays below."""
        x = [number + 1 for number in self.numbers]
        drawn = [
            Line("largest difference of a logit", x, self.differences, "result"),
            Line("rounding stays below", x, [self.bound] * len(x), "muted", "dashed"),
        ]
        chart = Chart("step", "largest difference of a logit", drawn if x else [], y_scale="log10")
        return lines.content([chart], gap="equal to the last digit")

    def table(self) -> pd.DataFrame:
        """A row per step that was compared."""
        return pd.DataFrame(
            {
                "with the cache": self.written(self.with_cache),
                "without": self.written(self.tokens),
                "largest difference of a logit": self.differences,
            },
            index=pd.Index([number + 1 for number in self.numbers], name="step"),
        )

    def recipe(self) -> str:
        """A script that leaves `with_cache`, `without` and `differences`."""
        return script(both_ways, **self.arguments())
