"""The view "beside": a mistake of the catalogue beside the right way, with the same inputs and weights."""

import ast
import inspect
import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from html import escape
from textwrap import dedent
from typing import NamedTuple

import numpy as np
import pandas as pd
import streamlit as st
import torch
from numpy.typing import NDArray
from torch import Tensor

from tfm_core.study.diagnosis import ASKED, Line, derivation
from tfm_core.study.exercise import Exercise
from tfm_core.study.mistake import Mistake
from tfm_core.study.mistakes import MISTAKES
from tfm_core.study.mistakes_masks import FILLS
from tfm_core.study.pieces import Pieces
from tfm_core.study.steps import STEPS, Steps
from tfm_ui.lenses.clinic.state import EXERCISE, NO_RIDDLE, PREFIX, ClinicState
from tfm_ui.lenses.clinic.tensors import of_exercise
from tfm_ui.live.cache import cached, never
from tfm_ui.live.memory import little
from tfm_ui.live.script import Code, script
from tfm_ui.live.tensors.step import Step
from tfm_ui.page import controls, controls_line
from tfm_ui.page.lens import View
from tfm_ui.pictures import maps
from tfm_ui.pictures.canvas import Content
from tfm_ui.pictures.map_scale import SHARES, around_zero, from_zero
from tfm_ui.pictures.maps import MAPS, Axis, Map
from tfm_ui.pictures.panel import Block, OpenTable, Panel, Source
from tfm_ui.state.model_state import ModelState
from tfm_ui.text import formats


@dataclass(frozen=True)
class Pair:
    """A step's results, right and wrong."""

    right: Tensor
    wrong: Tensor

    @cached_property
    def difference(self) -> float:
        """The largest of any number; NaN where the shapes differ."""
        if self.right.shape != self.wrong.shape:
            return math.nan
        right, wrong = self.right.double(), self.wrong.double()
        gap = (wrong - right).masked_fill((right == wrong) | wrong.isnan(), 0.0)
        return float(gap.abs().max())

    @property
    def nans(self) -> int:
        """How many numbers of the wrong result are NaN; none where the right ones are: no token has a loss then."""
        return 0 if self.right.isnan().all() else int(self.wrong.double().isnan().sum())

    @property
    def differs(self) -> bool:
        """Whether any number differs."""
        return self.difference != 0 or self.nans > 0


def exchanged_by(exercise: Exercise, mistake: str) -> Pieces:
    """What a mistake exchanges, and in a row without a key what a plain softmax makes of it: NaN."""
    wrong = MISTAKES[mistake].wrong
    plain = {**FILLS["−∞ without care for empty rows"], **wrong}  # what most code does
    return plain if Steps(exercise).value("weights", plain).isnan().any() else wrong


@cached(heavy=never)
def pairs(exercise: Exercise, mistake: str) -> dict[str, Pair]:
    """Each step, right and wrong."""
    steps, exchanged = Steps(exercise), exchanged_by(exercise, mistake)
    with torch.no_grad():
        return {step: Pair(steps.value(step), steps.value(step, exchanged)) for step in ASKED}


class Shown(NamedTuple):
    """What is drawn of a step: two matrices of the same size, and what their axes are."""

    right: NDArray[np.float64]
    wrong: NDArray[np.float64]
    rows: str
    columns: str


def part_shown(step: str, pair: Pair, sentence: int, head: int) -> Shown:
    """The matrices of a sentence and a head, both counted from 0; of a single number 1 × 1."""
    axes = STEPS[step].axes
    named = axes[-2:] if len(axes) > 1 else ("all tokens", "loss")
    cut = [_matrix(axes, result, sentence, head) for result in (pair.right, pair.wrong)]
    return Shown(cut[0], cut[1], *named)


def _matrix(axes: Sequence[str], result: Tensor, sentence: int, head: int) -> NDArray[np.float64]:
    part = result.double()
    for axis, at in (("batch", sentence), ("head", head)):
        if axis in axes and part.dim() > 2:
            part = part[min(at, len(part) - 1)]
    part = part.masked_fill(part == -math.inf, math.nan)  # both are drawn as hidden
    matrix: NDArray[np.float64] = part.reshape(1, 1).numpy() if part.dim() < 2 else part.numpy()
    return matrix


def content_of(step: str, shown: Shown, other: str, *, rounded: float = 0.0) -> Content:
    """The maps of two results, and of their difference.

    Args:
        step: whose results.
        shown: the matrices.
        other: the name of the second.
        rounded: differences up to this share of the largest number are drawn as 0.
    """
    both = {"right": shown.right, other: shown.wrong}
    finite = np.concatenate([values[np.isfinite(values)] for values in both.values()])
    size = float(np.abs(finite).max(initial=0))
    is_mask = step == "mask"
    scale = SHARES if is_mask else around_zero(size) if finite.min(initial=0) < 0 else from_zero(size)
    words = ("0", "1") if is_mask else None
    drawn = [
        Map(
            name=name, values=np.where(np.isfinite(values), values, np.nan).astype(np.float32), scale=scale, words=words
        )
        for name, values in both.items()
    ]
    if shown.right.shape == shown.wrong.shape and not is_mask:
        apart = np.full(shown.right.shape, np.nan)
        known = np.isfinite(shown.right) & np.isfinite(shown.wrong)
        apart[known] = shown.wrong[known] - shown.right[known]
        apart[np.abs(apart) <= rounded * max(1.0, size)] = 0.0
        largest = float(np.abs(apart[known]).max(initial=0))
        drawn.append(Map(name="difference", values=apart.astype(np.float32), scale=around_zero(largest)))
    return maps.content(
        drawn,
        rows=axis_of(shown.rows, shown.right.shape[0]),
        columns=axis_of(shown.columns, shown.right.shape[1]),
        blank="−∞ or NaN",
        square=step in PAIRED,
    )


def table_of(lines: Sequence[Line]) -> pd.DataFrame:
    """A derivation, a row per step."""
    return pd.DataFrame(
        [[line.about, line.right, line.wrong, "yes" if line.differs else ""] for line in lines],
        index=pd.Index([line.step for line in lines], name="step"),
        columns=["what it is", "right", "with the mistake", "differs"],
    )


class BesidePanel(Panel):
    """What all panels of the view have."""

    state: ClinicState

    uses_model = False
    needs = little

    @property
    def exercise(self) -> Exercise:
        """The exercise in which the mistake is made."""
        return self.state.setting

    @property
    def name_of_mistake(self) -> str:
        """Its name, which a case keeps to itself."""
        return self.state.shown_mistake if self.state.case == NO_RIDDLE else f"the mistake of {self.state.case}"

    @property
    def mistake(self) -> Mistake:
        """The mistake."""
        return MISTAKES[self.state.shown_mistake]

    @cached_property
    def pairs(self) -> dict[str, Pair]:
        """Each step, right and wrong."""
        return pairs(self.exercise, self.state.shown_mistake)

    @property
    def first(self) -> str:
        """The first step that differs."""
        return next(step for step in ASKED if self.pairs[step].differs)

    @property
    def head(self) -> int:
        """The head that is looked at, from 0."""
        return min(self.state.head, self.exercise.num_heads) - 1


class Both(BesidePanel):
    """The first step that differs, right and wrong."""

    key = "clinic_beside"
    canvas = MAPS

    title = "The first step that differs"

    @property
    def shape(self) -> str:
        sizes = [formats.count(size) for size in self.pairs[self.first].right.shape]
        return " × ".join(sizes)

    @property
    def how_to_read(self) -> str:
        return f"“{self.first}” is {STEPS[self.first].about}. On the left right, on the right with the mistake."

    @property
    def sources(self) -> Sequence[Source]:
        return (*right_pieces(self.exercise, self.mistake), *wrong_pieces(self.mistake))

    @property
    def tensors(self) -> Step:
        sides = {side: {step: getattr(pair, side) for step, pair in self.pairs.items()} for side in ("right", "wrong")}
        return of_exercise(self.exercise, sides)

    @cached_property
    def drawn(self) -> Shown:
        """The matrices of the sentence and the head."""
        return part_shown(self.first, self.pairs[self.first], self.state.sentence - 1, self.head)

    def sentence(self) -> str:
        pair, mistake = self.pairs[self.first], self.mistake
        said = [f"Right: {mistake.right_is}. Here: {mistake.wrong_is}."] if self.state.case == NO_RIDDLE else []
        if math.isnan(pair.difference):
            shapes = [" × ".join(map(str, result.shape)) for result in (pair.right, pair.wrong)]
            said.append(f"The {self.first} should be {shapes[0]} and are {shapes[1]}.")
        elif pair.nans:
            said.append(f"Of {formats.count(pair.wrong.numel())} numbers {formats.count(pair.nans)} are NaN.")
        else:
            said.append(f"It shows first in “{self.first}”: {self._by_how_much(pair)}.")
        return " ".join([*said, self._later()])

    def _by_how_much(self, pair: Pair) -> str:
        """The difference of the two results in words."""
        right, wrong = pair.right, pair.wrong
        if right.dtype == torch.bool:
            return f"{formats.count(int((right != wrong).sum()))} of {formats.count(right.numel())} pairs differ"
        if bool(right.isinf().any()):
            uncovered = int((right.isinf() & wrong.isfinite()).sum())
            return f"{formats.plural(uncovered, 'hidden pair has', 'hidden pairs have')} a score"
        return f"numbers differ by up to {formats.number(pair.difference)}{self._where(pair)}"

    def _where(self, pair: Pair) -> str:
        """Where the largest difference stands, as far as the step has sentences and heads."""
        gap = (pair.wrong.double() - pair.right.double()).abs().nan_to_num(0.0)
        at = dict(zip(STEPS[self.first].axes, np.unravel_index(int(gap.argmax()), tuple(gap.shape)), strict=False))
        places = [
            f"{word} {int(at[axis]) + 1}" for axis, word in (("batch", "sentence"), ("head", "head")) if axis in at
        ]
        return f", in {', '.join(places)}" if places else ""

    def _later(self) -> str:
        """What becomes of it at the end: in the logits and the loss."""
        logits, loss = self.pairs["logits"], self.pairs["loss"]
        if logits.nans:
            return f"In the end {formats.count(logits.nans)} of {formats.count(logits.wrong.numel())} logits are NaN."
        right, wrong = (float(each) for each in (loss.right, loss.wrong))
        if math.isnan(right):
            return "There is no loss, as no token follows a single query."
        if right == wrong:
            return f"In the end the loss is the same, {formats.number(right)}."
        return f"In the end the loss is {formats.number(wrong)}, off by {formats.number(abs(wrong - right))}."

    def laws(self) -> dict[str, bool]:
        before = ASKED[: ASKED.index(self.first)]
        if not before:
            return {}
        return {
            "each step before this one is the same to the last digit": not any(
                self.pairs[step].differs for step in before
            )
        }

    def table(self) -> pd.DataFrame:
        """Both matrices, below each other."""
        shown = self.drawn
        frames = {"right": pd.DataFrame(shown.right), "with the mistake": pd.DataFrame(shown.wrong)}
        return pd.concat(frames, names=["which", f"{shown.rows} \\ {shown.columns}"])

    def picture(self) -> Content:
        """Right, wrong, and where they fit each other their difference."""
        return content_of(self.first, self.drawn, "with the mistake")

    def recipe(self) -> str:
        """A script that leaves `right` and `wrong`."""
        return script(
            right_and_wrong,
            exercise=Code(repr(self.exercise), Exercise),
            mistake=self.state.shown_mistake,
            step=self.first,
        )


PAIRED = ("products", "scores", "mask", "masked scores", "weights")
ROLES = {"query": "query", "key": "key"}


def axis_of(name: str, count: int) -> Axis:
    """An axis of a step's matrix."""
    return Axis([str(i + 1) for i in range(count)], name, name, ROLES.get(name, "ink"), counted=True)


def right_and_wrong(*, exercise: Exercise, mistake: str, step: str) -> tuple[Tensor, Tensor]:
    """A step's result, right and with the mistake; NaN in a row without a key, as from a plain softmax."""
    steps, exchanged = Steps(exercise), exchanged_by(exercise, mistake)
    right, wrong = steps.value(step), steps.value(step, exchanged)
    return right, wrong


class Course(BesidePanel):
    """What becomes of it, step by step."""

    key = "clinic_course"
    title = "What becomes of it, step by step"
    how_to_read = "A row per step from there on: by how much any number is off, and how many are NaN."

    @property
    def rows(self) -> Sequence[str]:
        """The steps, without those that this exercise does not have."""
        return [step for step in ASKED if step != "positional encoding" or self.exercise.positional == "sines"]

    def sentence(self) -> str:
        off = [step for step in self.rows if self.pairs[step].differs]
        said = f"{len(off)} of {len(self.rows)} steps differ, the first is “{off[0]}”."
        return said if self.state.case != NO_RIDDLE else f"{said} In training: {self.mistake.symptom}"

    @property
    def shown_rows(self) -> Sequence[str]:
        """The steps from the first that differs on."""
        return self.rows[list(self.rows).index(self.first) :]

    def table(self) -> pd.DataFrame:
        columns = {
            "largest difference": [self.pairs[step].difference for step in self.shown_rows],
            "NaN": [self.pairs[step].nans for step in self.shown_rows],
            "of numbers": [self.pairs[step].wrong.numel() for step in self.shown_rows],
        }
        return pd.DataFrame(columns, index=pd.Index(self.shown_rows, name="step"))

    @property
    def open_table(self) -> OpenTable:
        return OpenTable({"largest difference": st.column_config.NumberColumn(format="%.5f")})


class Derived(BesidePanel):
    """The first number that differs, derived twice."""

    key = "clinic_derived"
    title = "The first number that differs, derived twice"

    @cached_property
    def place(self) -> tuple[int, ...]:
        """Where it stands in the first step that differs, counted from 0; () of a single number."""
        pair = self.pairs[self.first]
        right = pair.right.double()
        wrong = pair.wrong.double().expand_as(right)
        return tuple(int(at) for at in ((right != wrong) & ~(right.isnan() & wrong.isnan())).nonzero()[0])

    @property
    def how_to_read(self) -> str:
        axes = STEPS[self.first].axes
        places = [f"{axis} {at + 1}" for axis, at in zip(axes, self.place, strict=True)]
        return f"Of {self.first}, {', '.join(places)}. Of vectors the first numbers are written." if places else ""

    def sentence(self) -> str:
        mistake = self.mistake
        if self.state.case != NO_RIDDLE:
            return "Both derivations part where the mistake is."
        return f"Right: {mistake.right_is}. With the mistake: {mistake.wrong_is}. Cure: {mistake.cure}"

    def table(self) -> pd.DataFrame:
        steps = Steps(self.exercise)
        exchanged = exchanged_by(self.exercise, self.state.shown_mistake)
        return table_of(derivation(steps, self.first, self.place, exchanged))

    @property
    def open_table(self) -> OpenTable:
        return OpenTable({}, not_on_phones=["what it is"])


def right_pieces(exercise: Exercise, mistake: Mistake) -> list[Source]:
    """The functions that the mistake exchanges."""
    right = Steps(exercise).right
    return [right[name] for name in mistake.wrong if right[name] not in mistake.wrong.values()]


def wrong_pieces(mistake: Mistake) -> list[Source]:
    """The functions that it puts in their place."""
    return list(mistake.wrong.values())


def code_beside(model: ModelState, state: ClinicState) -> Block | None:
    """The code of both, side by side; nothing while the mistake has no name on screen."""
    return partial(_draw_code, state) if state.case == NO_RIDDLE else None


def _draw_code(state: ClinicState) -> None:
    mistake = MISTAKES[state.shown_mistake]
    with st.container(border=True, key="clinic_code_beside"):
        st.html('<div class="phead"><h2>The code</h2></div>')
        both = ("right", right_pieces(state.setting, mistake)), ("with the mistake", wrong_pieces(mistake))
        for column, (name, pieces) in zip(st.columns(2, gap="medium"), both, strict=True):
            with column:
                st.html(f'<p class="note">{name}</p>')
                st.code("\n\n".join(map(short_source, pieces)), wrap_lines=True)
        about = f"Cure: {mistake.cure} Source of the right way: {mistake.source}."
        st.html(f'<p class="said">{escape(about)}</p>')


def short_source(piece: Source) -> str:
    """A function's code, with the first line alone of what it says of itself."""
    source = dedent(inspect.getsource(piece)).strip()
    about = ast.get_docstring(ast.parse(source).body[0], clean=False)  # type: ignore[arg-type]
    return source.replace(about, about.strip().split("\n")[0]) if about else source


def about_setting(state: ClinicState) -> str:
    """What of the exercise is not as it is set, so that the mistake can be made."""
    asked, shown = state.exercise, state.setting
    said = [state.about_exercise]
    changed = {name: value for name, value in vars(shown).items() if name in LABELS and value != getattr(asked, name)}
    if changed:
        named = formats.listed([f"{LABELS[name]} {value}" for name, value in changed.items()])
        said.append(f"So that this mistake can be made, the exercise has {named} here.")
    return " ".join(filter(None, said))


LABELS: dict[str, str] = {
    "positional": "positions",
    "mask": "the mask",
    "norm": "norm",
    "activation": "activation",
    "cached": "cached tokens:",
    "seq": "tokens:",
    "d_model": "d_model",
    "num_heads": "heads:",
}


def _controls(model: ModelState) -> ClinicState:
    """The mistake, sentence and head; a button opens the exercise."""
    line = controls_line.row("line_clinic")
    draw = partial(controls_line.draw, ClinicState, PREFIX, model)
    state = draw(line)
    if state.case == NO_RIDDLE:
        draw(line, "mistake")
    else:
        line.html(f'<p class="note">{escape(state.case[:1].upper() + state.case[1:])}: a mistake without its name</p>')
        line.button(
            "Say its name",
            on_click=controls.change,
            args=(PREFIX,),
            kwargs={"case": NO_RIDDLE, "mistake": state.shown_mistake},
            key="_clinic_name",
        )
    draw(line, "sentence", "head")
    return draw(controls_line.more(line, "The exercise"), *EXERCISE)


def reads_instead(model: ModelState, state: ClinicState) -> str:
    """What is read in place of the text in the sidebar."""
    return f"An exercise of two sentences, of seed {state.seed}: no text is read. {about_setting(state)}".strip()


VIEW = View(
    title="Right beside wrong",
    shows=[Both, Course, Derived, code_beside],
    controls=_controls,
    uses_model=False,
    reads_instead=reads_instead,
    line="line_clinic",
)
