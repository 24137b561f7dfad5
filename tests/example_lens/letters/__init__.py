"""The Letters lens: how many letters each token of the text has."""

from collections.abc import Sequence
from dataclasses import dataclass

import pandas as pd

from tfm_ui.live.memory import little
from tfm_ui.live.script import script
from tfm_ui.page.lens import Lens, View
from tfm_ui.page.questions import Question
from tfm_ui.pictures import bars
from tfm_ui.pictures.canvas import Content
from tfm_ui.pictures.chart import CHART
from tfm_ui.pictures.panel import Panel, Result
from tfm_ui.pictures.registry import Picture
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


@dataclass(frozen=True)
class Letters(Result):
    """What the panel says: each answer is a pure function of the link."""

    tokens: Sequence[str]

    def sentence(self) -> str:
        """The text alternative of the picture."""
        return f"{len(self.tokens)} tokens have {sum(count(tokens=self.tokens))} letters."

    def table(self) -> pd.DataFrame:
        """A row per token."""
        return pd.DataFrame({"letters": count(tokens=self.tokens)}, index=pd.Index(self.tokens))

    def laws(self) -> dict[str, bool]:
        """What must hold of the numbers on screen."""
        return {"every token has a letter": all(self.tokens)}

    def recipe(self) -> str:
        """A script that computes the same numbers without the app."""
        return script(count, tokens=list(self.tokens))


def result(model: ModelState, state: LettersState) -> Letters:
    """The first tokens of the text."""
    return Letters(model.source_tokens.pieces[: state.most])


def draw(model: ModelState, state: LettersState) -> Content:
    """A bar per token: its share of all letters."""
    shown = result(model, state)
    letters = count(tokens=shown.tokens)
    return bars.content(shown.tokens, [number / sum(letters) for number in letters], about=shown.sentence())


def blocks(model: ModelState, state: LettersState) -> list[Panel]:
    """What the view shows, from top to bottom."""
    return [
        Panel(
            key="letters",
            title="Letters",
            how_to_read="A bar per token: its share of all letters.",
            picture="letters",
            result=result(model, state),
            sources=[count],
        )
    ]


def longest(model: ModelState, state: LettersState) -> str:
    """The answer, computed from what is on screen: true of any text."""
    tokens = result(model, state).tokens
    return f"“{max(tokens, key=len)}” is the longest." if tokens else "There is no token."


LENS = Lens(
    name="letters",
    title="Letters",
    state=LettersState,
    views={
        "letters": View(
            blocks=blocks, pictures={"letters": Picture(CHART, draw, uses_model=False, needs=little)}, controls=["most"]
        )
    },
    questions=[
        Question("All tokens", "Which token has the most letters?", longest),
        Question("Four tokens", "Which of these four is the longest?", longest, page={"most": 4}),
    ],
)
