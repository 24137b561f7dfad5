"""The Letters lens: how many letters each token of the text has."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import pandas as pd

from tfm_ui.live.memory import little
from tfm_ui.live.script import script
from tfm_ui.page.lens import Lens, View
from tfm_ui.page.questions import Question
from tfm_ui.pictures import bars
from tfm_ui.pictures.canvas import Content
from tfm_ui.pictures.chart import CHART
from tfm_ui.pictures.panel import Panel
from tfm_ui.state.fields import Whole, control
from tfm_ui.state.lens_state import LensState
from tfm_ui.state.model_state import ModelState


@dataclass(frozen=True, kw_only=True)
class LettersState(LensState):
    """The lens's controls, and its link: `letters_most`."""

    most: int = control(Whole("Tokens", 1, 16), default=8)


def count(*, tokens: Sequence[str]) -> list[int]:
    """The letters of each token. Its body is in the script that the reader copies."""
    letters = [len(token) for token in tokens]
    return letters


class Letters(Panel):
    """The panel: what it says of a link, and what it draws."""

    state: LettersState

    title = "Letters"
    how_to_read = "A bar per token: its share of all letters."
    sources = (count,)
    canvas = CHART
    uses_model = False
    needs = little

    @property
    def tokens(self) -> Sequence[str]:
        """The first tokens of the text."""
        return self.model.source_tokens.pieces[: self.state.most]

    @cached_property
    def counts(self) -> list[int]:
        """The letters of each token."""
        return count(tokens=self.tokens)

    def sentence(self) -> str:
        """How many letters there are."""
        return f"{len(self.tokens)} tokens have {sum(self.counts)} letters."

    def laws(self) -> dict[str, bool]:
        """What must hold of the numbers on screen."""
        return {"every token has a letter": all(self.counts)}

    def table(self) -> pd.DataFrame:
        """A row per token."""
        return pd.DataFrame({"letters": self.counts}, index=pd.Index(self.tokens))

    def picture(self) -> Content:
        """A bar per token: its share of all letters."""
        return bars.content(self.tokens, [letters / sum(self.counts) for letters in self.counts])

    def recipe(self) -> str:
        """A script that leaves `letters`."""
        return script(count, tokens=list(self.tokens))


def longest(model: ModelState, state: LettersState) -> str:
    """The answer, computed from what is on screen: true of any text."""
    tokens = Letters(model, state).tokens
    return f"“{max(tokens, key=len)}” is the longest." if tokens else "There is no token."


LENS = Lens(
    name="letters",
    title="Letters",
    state=LettersState,
    views={"letters": View(shows=[Letters], controls=["most"])},
    questions=[
        Question("All tokens", "Which token has the most letters?", longest),
        Question(
            "Four tokens",
            "Which of these four is the longest?",
            longest,
            controls={"most": 4},
            because="the longest of all tokens may not be among the first.",
        ),
    ],
)
