"""What was handed in of the exercise, by step, and what was made of it."""

from collections.abc import Mapping
from dataclasses import dataclass

import torch
from torch import Tensor

from tfm_core.clinic.results import Results, read_results, step_of
from tfm_core.study.diagnosis import ASKED, Diagnosis, diagnose
from tfm_core.study.exercise import BATCH, Exercise
from tfm_core.study.mistakes import MISTAKES
from tfm_core.study.steps import Steps
from tfm_ui.lenses.clinic import uploads
from tfm_ui.lenses.clinic.state import AS_NAMED, EXERCISE, ClinicState
from tfm_ui.live.cache import cached
from tfm_ui.live.memory import LITTLE
from tfm_ui.state.model_state import ModelState
from tfm_ui.state.pass_cost import NUMBER
from tfm_ui.store.store import StoreAway

EXAMPLE = "weights"  # the step that the example hands in
TOGETHER = 105  # how often a layer's numbers are held: by seventy mistakes, and by half of the steps of seventy pairs


@dataclass(frozen=True)
class Handed:
    """What was handed in, by step; `problem` says in a sentence why there is nothing."""

    results: Mapping[str, Tensor]
    rounding: float = 0.0
    problem: str = ""
    notes: tuple[str, ...] = ()
    is_example: bool = False


def handed_in(exercise: Exercise, read: Results, step: str) -> Handed:
    """Which step each tensor is of: by its name, as the reader says, or by its shape.

    Args:
        exercise: what was computed.
        read: the tensors.
        step: what the reader says that they are; "" to find it out.
    """
    if step:
        if len(read.tensors) > 1 and step not in map(step_of, read.tensors):
            return Handed({}, problem=f"There are {len(read.tensors)} tensors: hand in the {step} alone, or by name.")
        by_name = {step_of(name): tensor for name, tensor in read.tensors.items()}
        return Handed({step: by_name.get(step, next(iter(read.tensors.values())))}, read.rounding)
    named = {step_of(name): tensor for name, tensor in read.tensors.items() if step_of(name)}
    left = [name for name in read.tensors if name and not step_of(name)]
    notes = [f"Nothing is known by the name “{left[0][:30]}”{_more(len(left))}: left out."] if named and left else []
    if named:
        return Handed(named, read.rounding, notes=tuple(notes))
    tensor = next(iter(read.tensors.values()))
    fitting = steps_of_shape(exercise, tensor)
    if not fitting:
        shape = " × ".join(map(str, tensor.shape)) or "a single number"
        return Handed({}, problem=f"No step of this exercise has the shape {shape}: say under “It is” what it is.")
    right = [name for name in fitting if diagnose(exercise, {name: tensor}, rounding=read.rounding, pairs=False).ok]
    chosen = next(iter(right), fitting[0] if len(fitting) == 1 else "")
    if chosen:
        return Handed({chosen: tensor}, read.rounding)
    explained = [
        name for name in fitting if diagnose(exercise, {name: tensor}, rounding=read.rounding, pairs=False).explanations
    ]
    others = " or ".join(f"“{name}”" for name in fitting)
    note = f"By its shape it may be {others}: it is taken for the one that a mistake explains, “{{}}”."
    if explained:
        return Handed({explained[0]: tensor}, read.rounding, notes=(note.format(explained[0]),))
    return Handed({}, problem=f"By its shape it may be {others}: say under “It is” which.")


def _more(count: int) -> str:
    return f" and {count - 1} more" if count > 1 else ""


def steps_of_shape(exercise: Exercise, tensor: Tensor) -> list[str]:
    """The steps whose right result has the tensor's shape, the ones that are asked for most often first."""
    steps, shape = Steps(exercise), tensor.squeeze().shape
    often = ("weights", "scores", "output", "layer output", "head outputs", "logits", "loss", "positional encoding")
    order = [*often, *(step for step in ASKED if step not in often)]
    return [step for step in order if shape in (steps.value(step).squeeze().shape, _first(steps.value(step)))]


def _first(result: Tensor) -> torch.Size:
    return result[0].squeeze().shape if result.dim() > 1 else result.shape


def handed(state: ClinicState) -> Handed:
    """What was handed in; the example, where nothing was.

    Raises:
        ValueError: if it cannot be read.
        LookupError: if the upload is not there any more.
        StoreAway: if the store does not answer.
    """
    if state.result.strip():
        read = read_results(state.result)
    elif state.result_file:
        read = read_results(uploads.find(state.result_file).data)
    else:
        return example(state.setting, state.shown_mistake)
    return handed_in(state.exercise, read, "" if state.step == AS_NAMED else state.step)


def example(exercise: Exercise, mistake: str) -> Handed:
    """What somebody would hand in who made this mistake: the first step that shows it, in float32."""
    steps, wrong = Steps(exercise), MISTAKES[mistake].wrong
    names = (EXAMPLE, *ASKED)
    with torch.no_grad():
        step = next(name for name in names if _differs(steps.value(name), steps.value(name, wrong)))
        return Handed({step: steps.value(step, wrong).float()}, is_example=True)


def _differs(right: Tensor, wrong: Tensor) -> bool:
    return right.shape != wrong.shape or not torch.equal(right, wrong)


@cached(heavy=lambda *_: True)
def diagnosed_once(state: ClinicState) -> tuple[Handed, Diagnosis | None]:
    """What was handed in, and what was made of it: up to two seconds, where no mistake alone explains it.

    Raises:
        ValueError, LookupError, StoreAway: as `handed`.
    """
    given_in = handed(state)
    if given_in.problem:
        return given_in, None
    exercise = state.setting if given_in.is_example else state.exercise
    return given_in, diagnose(exercise, given_in.results, rounding=given_in.rounding)


def diagnosed(state: ClinicState) -> tuple[Handed, Diagnosis | None]:
    """The same of what counts of a state; where nothing could be read, why, as the problem."""
    try:
        return diagnosed_once(only_what_counts(state))
    except (ValueError, LookupError, StoreAway) as problem:
        return Handed({}, problem=str(problem)), None


def diagnosis_needs(model: ModelState, state: ClinicState) -> int:
    """The bytes that a diagnosis takes at most: the steps of each mistake alone, and of a mistake with every other."""
    exercise = state.setting
    of_layer = exercise.seq * (18 * exercise.d_model + 5 * exercise.num_heads * exercise.seq)
    return LITTLE + NUMBER * BATCH * of_layer * TOGETHER


def only_what_counts(state: ClinicState) -> ClinicState:
    """The state without what the diagnosis does not depend on, so that it is computed once."""
    names = ("result", "result_file", "step", "mistake", "case", *EXERCISE)
    return ClinicState(**{name: getattr(state, name) for name in names})
