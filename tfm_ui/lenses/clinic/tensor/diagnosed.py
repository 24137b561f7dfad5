"""The panels of the view: the result beside the right one, and the derivation of the first wrong number."""

from functools import cached_property

import numpy as np
import pandas as pd
import streamlit as st
from torch import Tensor

from tfm_core.study.diagnosis import NEAR as ROUNDED
from tfm_core.study.diagnosis import Compared, Diagnosis, Explanation, derivation, diagnose
from tfm_core.study.exercise import Exercise
from tfm_core.study.mistakes import MISTAKES
from tfm_core.study.steps import STEPS, Steps
from tfm_ui.lenses.clinic.beside import Pair, Shown, content_of, part_shown, table_of
from tfm_ui.lenses.clinic.state import NO_RIDDLE, PREFIX, ClinicState
from tfm_ui.lenses.clinic.tensor.handed import Handed, diagnosed, diagnosis_needs
from tfm_ui.lenses.clinic.tensor.verdict import verdict
from tfm_ui.lenses.clinic.tensors import of_exercise
from tfm_ui.live.script import Code, script
from tfm_ui.live.tensors.step import Step
from tfm_ui.page import controls
from tfm_ui.pictures import maps
from tfm_ui.pictures.canvas import Content
from tfm_ui.pictures.maps import MAPS
from tfm_ui.pictures.panel import OpenTable, Panel


class TensorPanel(Panel):
    """What all panels of the view have."""

    state: ClinicState

    uses_model = False
    needs = diagnosis_needs

    @cached_property
    def _made(self) -> tuple[Handed, Diagnosis | None]:
        return diagnosed(self.state)

    @property
    def handed(self) -> Handed:
        """What was handed in."""
        return self._made[0]

    @property
    def diagnosis(self) -> Diagnosis | None:
        """What was made of it; None where there is nothing to compare."""
        return self._made[1]

    @property
    def exercise(self) -> Exercise:
        """The exercise that it is a result of."""
        return self.state.setting if self.handed.is_example else self.state.exercise

    @property
    def tensors(self) -> Step | None:
        if not self.diagnosis:
            return None
        handed = self.handed.results
        return of_exercise(
            self.exercise, {"right": {step: self.right_of(step) for step in handed}, "handed_in": handed}
        )

    @property
    def shown(self) -> Compared | None:
        """The result that is drawn: the first that is wrong, or the last, if all are right."""
        if not self.diagnosis:
            return None
        compared = self.diagnosis.compared
        return next((each for each in compared if not each.ok), compared[-1])

    def right_of(self, step: str) -> Tensor:
        """The right result, with all of its axes; of the first sentence alone, where no other was handed in."""
        right: Tensor = Steps(self.exercise).value(step)
        return right if self.handed.results[step].squeeze().shape == right.squeeze().shape else right[:1]

    def place_in(self, right: Tensor) -> tuple[int, ...]:
        """Where the first wrong number stands in a result with all of its axes; at the beginning, if all are right."""
        assert self.shown
        if not self.shown.first:
            return (0,) * right.dim()
        flat = int(np.ravel_multi_index(self.shown.first, tuple(self.handed.results[self.shown.step].shape)))
        return tuple(int(at) for at in np.unravel_index(flat, tuple(right.shape)))

    @property
    def explanation(self) -> Explanation | None:
        """The nearest explanation."""
        return next(iter(self.diagnosis.explanations), None) if self.diagnosis else None


class Diagnosed(TensorPanel):
    """What was handed in, beside the right result."""

    key = "clinic_diagnosed"
    title = "Right, and what was handed in"
    sources = (diagnose, derivation)
    canvas = MAPS

    @property
    def is_drawn(self) -> bool:
        """Whether there are two results of the same shape."""
        return self.shown is not None and self.shown.shapes is None

    @property
    def picture_name(self) -> str:
        return self.name if self.is_drawn else ""

    @property
    def shape(self) -> str:
        if not self.shown:
            return ""
        return f"{self.shown.step}: " + (" × ".join(map(str, self.handed.results[self.shown.step].shape)) or "a number")

    @property
    def how_to_read(self) -> str:
        if not self.shown:
            return ""
        places = self.place_in_words(self.shown)
        return f"{STEPS[self.shown.step].about.capitalize()}. {places}".strip()

    def place_in_words(self, compared: Compared) -> str:
        """Where the first wrong number stands."""
        if not compared.first:
            return ""
        axes = STEPS[compared.step].axes[-len(compared.first) :]
        places = ", ".join(f"{axis} {at + 1}" for axis, at in zip(axes, compared.first, strict=False))
        return f"The first wrong number stands at {places}."

    def sentence(self) -> str:
        return verdict(self.handed, self.diagnosis)

    def table(self) -> pd.DataFrame:
        """A row per result."""
        if not self.diagnosis:
            return pd.DataFrame()
        rows = [
            {"step": each.step, "right": each.ok, "largest difference": each.difference, "expected": each.expected,
             "got": each.got}
            for each in self.diagnosis.compared
        ]  # fmt: skip
        return pd.DataFrame(rows).set_index("step")

    @cached_property
    def matrices(self) -> Shown:
        """Right and handed in, of the sentence and head where the first number differs; and what their axes are."""
        assert self.shown
        right = self.right_of(self.shown.step).double()
        result = self.handed.results[self.shown.step].double().reshape(right.shape)
        at = dict(zip(STEPS[self.shown.step].axes, self.place_in(right), strict=False))
        return part_shown(self.shown.step, Pair(right, result), at.get("batch", 0), at.get("head", 0))

    def picture(self) -> Content:
        """Right, handed in, and the difference; where there is nothing to compare cell by cell, that alone."""
        if not self.is_drawn:
            return maps.nothing(self.sentence())
        assert self.shown
        return content_of(self.shown.step, self.matrices, "handed in", rounded=ROUNDED)  # what float32 is off by

    def recipe(self) -> str:
        """A script that leaves `diagnosis`."""
        if not self.handed.is_example:
            return ""
        (step,) = self.handed.results
        return script(
            diagnosis_of_mistake,
            exercise=Code(repr(self.exercise), Exercise),
            mistake=self.state.shown_mistake,
            step=step,
        )


def diagnosis_of_mistake(*, exercise: Exercise, mistake: str, step: str) -> Diagnosis:
    """What is found in the result of somebody who made this mistake."""
    result = Steps(exercise).value(step, MISTAKES[mistake].wrong).float()
    diagnosis = diagnose(exercise, {step: result})
    return diagnosis


class Cure(TensorPanel):
    """What was done and what is right: the derivation of the first wrong number, and the cure."""

    key = "clinic_cure"
    title = "The first wrong number, derived twice"
    sources = (derivation,)

    @property
    def is_shown(self) -> bool:
        return bool(self.explanation and self.shown and not self.shown.shapes and not self.explanation.evidence)

    def sentence(self) -> str:
        assert self.explanation
        said = []
        for name in self.explanation.names:
            mistake = MISTAKES[name]
            said.append(f"{name.capitalize()}: {mistake.wrong_is}; right is {mistake.right_is}. Cure: {mistake.cure}")
        return " ".join(said)

    def table(self) -> pd.DataFrame:
        assert self.explanation
        assert self.shown
        steps = Steps(self.exercise)
        place = self.place_in(self.right_of(self.shown.step))
        return table_of(derivation(steps, self.shown.step, place, self.explanation.exchanged))

    @property
    def open_table(self) -> OpenTable:
        return OpenTable({}, not_on_phones=["what it is"])

    def below(self) -> None:
        """Draw the way to the mistake beside the right way."""
        assert self.explanation
        name = self.explanation.names[0]
        st.button(
            f"See “{name}” beside the right way, with its symptom and its code",
            icon=":material/arrow_forward:",
            on_click=controls.change,
            args=(PREFIX,),
            kwargs={"view": "beside", "mistake": name, "case": NO_RIDDLE},
            key="_clinic_see_beside",
        )
