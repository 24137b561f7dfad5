"""What was written, how each token came about, and what would have been written without the last token put there."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd

from tfm_core import Draw, Sampling
from tfm_ui.lenses.generate import courses
from tfm_ui.lenses.generate.of_course import OfCourse
from tfm_ui.lenses.generate.state import GenerateState
from tfm_ui.lenses.generate.write.recipe import tokenizer_itself, write
from tfm_ui.lenses.generate.write.steps import Steps, steps_of
from tfm_ui.live.script import script
from tfm_ui.state.model_state import ModelState
from tfm_ui.text import formats
from tfm_ui.text.ties import one_of_ties, places_of_largest
from tfm_ui.text.token_labels import named

FILTERS = ("top_k", "top_p", "min_p")


@dataclass(frozen=True)
class Written(OfCourse):
    """A course after the sidebar's text, by sampling or greedily."""

    @cached_property
    def steps(self) -> Steps:
        """How each token was chosen, in a few numbers."""
        return steps_of(self.model, self.settings)

    @cached_property
    def draws(self) -> list[Draw]:
        """How each token was chosen, with the probabilities of all tokens: too much to be kept."""
        return [courses.draw_of(step, self.settings.sampling) for step in self.course.steps]

    @cached_property
    def other(self) -> "Written | None":
        """What would have been written without the last token that was put there."""
        if not self.settings.forced:
            return None
        return Written(self.model, courses.without_last(self.settings))

    @property
    def pieces(self) -> Sequence[str]:
        """How the written tokens are written, by step."""
        pieces = self.model.tokens_by.pieces
        return [pieces[step.token] for step in self.course.steps]

    @property
    def text(self) -> str:
        """What was written, as a text."""
        return self.model.tokens_by.join(self.pieces)

    def sentence(self) -> str:
        """How it was chosen, how often the likeliest was, and the least likely token."""
        steps = self.course.steps
        if not steps:
            return "Nothing was written: the prompt fills the context."
        likeliest, shares = int((self.steps.ranks == 0).sum()), self.steps.shares
        rarest = places_of_largest(-shares)
        said = [
            f"{formats.plural(len(steps), 'token')} written, {in_words(self.settings.sampling)}.",
            f"The likeliest was taken at {likeliest} of {formats.plural(len(steps), 'step')}.",
            f"The least likely, “{named(self.pieces[rarest[0]])}” at step {rarest[0] + 1}{one_of_ties(len(rarest))}, "
            f"had {formats.percent(float(shares[rarest[0]]))}{self._of_what}.",
            self._put(),
            self._full(),
        ]
        return " ".join(filter(None, said))

    @property
    def _of_what(self) -> str:
        """Which probabilities are meant: those before the cuts."""
        sampling = self.settings.sampling
        return "" if sampling.greedy else " at this temperature, before the cuts"

    def _put(self) -> str:
        other = self.other
        if other is None:
            return ""
        last, token = self.settings.forced[-1]
        if last >= len(self.course.steps):
            return ""
        known = other.course.steps[last]
        if known.token == token:
            return f"“{named(self.pieces[last])}” was put at step {last + 1}, where it would have been chosen anyway."
        same = _agreement(
            self.course.tokens[len(self.course.prompt) :], other.course.tokens[len(other.course.prompt) :], last
        )
        return (
            f"“{named(self.pieces[last])}” was put at step {last + 1} in place of “{named(other.pieces[last])}”; "
            f"after it {formats.plural(same, 'token')} of {len(self.course.steps) - last - 1} are the same in both."
        )

    def _full(self) -> str:
        begins = [step for step in self.course.steps if step.begin]
        if begins:
            first = begins[0]
            return (
                f"The context of {self.course.context} tokens was full at step {first.number + 1}: "
                "the model went on with its newer half."
            )
        if len(self.course.steps) < self.settings.steps:
            return f"It stopped where the context of {self.course.context} tokens was full."
        return ""

    def table(self) -> pd.DataFrame:
        """A row per step."""
        rows = []
        for step, draw, piece in zip(self.course.steps, self.draws, self.pieces, strict=True):
            rank = int((draw.order == step.token).nonzero())
            rows.append(
                {
                    "step": step.number + 1,
                    "token": piece,
                    "id": step.token,
                    "put there": step.forced,
                    "logit": float(draw.logits[step.token]),
                    "probability": float(draw.probabilities[step.token]),
                    "after the cuts": float(draw.final[step.token]),
                    "rank": rank + 1,
                    "left by top-k": draw.left.top_k,
                    "left by top-p": draw.left.top_p,
                    "left by min-p": draw.left.min_p,
                    "random number": draw.number,
                    "context begins": step.begin + 1,
                }
            )
        return pd.DataFrame(rows).set_index("step") if rows else pd.DataFrame({"step": []}).set_index("step")

    def laws(self) -> dict[str, bool]:
        """What must hold of each draw."""
        if not self.course.steps:
            return {}
        was_drawn = ~np.array([step.forced for step in self.course.steps])
        return {
            "at each step, what is left sums to 1": bool((abs(self.steps.totals - 1) < 1e-9).all()),
            "no token that was cut was drawn": bool((self.steps.finals[was_drawn] > 0).all()),
        }

    def recipe(self) -> str:
        """Plain Python that gives the same text."""
        return script(write, tokenizer=tokenizer_itself(self.model), **self.arguments())


def written(model: ModelState, state: GenerateState) -> Written:
    """What the link asks for."""
    return Written(model, courses.settings_of(model, state))


def in_words(sampling: Sampling) -> str:
    """How tokens are chosen."""
    if sampling.greedy:
        return "always the likeliest"
    cuts = [
        f"top-k {sampling.top_k}" if sampling.top_k else "",
        f"top-p {sampling.top_p:g}" if sampling.top_p < 1 else "",
        f"min-p {sampling.min_p:g}" if sampling.min_p else "",
    ]
    named_cuts = formats.listed([cut for cut in cuts if cut]) if any(cuts) else "no cut"
    return f"drawn at temperature {sampling.temperature:g} with {named_cuts}, seed {sampling.seed}"


def _agreement(tokens: Sequence[int], others: Sequence[int], last: int) -> int:
    """How many tokens after a step are the same in both texts, place by place."""
    return sum(a == b for a, b in zip(tokens[last + 1 :], others[last + 1 :], strict=False))
