"""What the controls of the Clinic hold: the mask that was brought, the exercise, and the mistake that is looked at."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import product
from typing import Any

from tfm_core.clinic.reading import MEANINGS
from tfm_core.clinic.table import SIDE
from tfm_core.study.diagnosis import ASKED
from tfm_core.study.exercise import MASKS, POSITIONALS, Exercise
from tfm_core.study.mistakes import MISTAKES, mistakes_of
from tfm_ui.lenses.clinic.listings import LISTINGS
from tfm_ui.live import windows
from tfm_ui.state.fields import Choice, Text, Whole, control
from tfm_ui.state.lens_state import LensState

PREFIX = "clinic_"
VIEWS = ("mask", "tensor", "beside", "code")
AS_READ = "as read"
AS_NAMED = "as its name or shape says"
PASTED_CHARS = 40_000  # 64 x 64, as torch prints them
PASTED = """tensor([[1., 0., 0., 0., 0.],
        [1., 1., 0., 0., 0.],
        [1., 1., 1., 0., 0.],
        [1., 1., 1., 1., 0.],
        [1., 1., 1., 1., 1.]])"""
WIDTHS = (8, 12, 16, 24, 32, 48, 64)
# The fields that make the exercise.
EXERCISE = ("d_model", "num_heads", "tokens", "positional", "hides", "norm", "activation", "cached", "seed")
NO_RIDDLE = "the mistake that is chosen"
# The cases of the questions: a mistake whose name is not on screen until the answer is.
CASES = {
    "case A": "padding on the query axis",
    "case B": "softmax over the queries",
    "case C": "heads merged without transpose",
    "case D": "diagonal hidden",
    "case E": "positions along the batch",
    "case F": "mask after the softmax",
}


@dataclass(frozen=True)
class UploadName:
    """A control that holds which upload is looked at: its name in `uploads`, as no link has room for a file."""

    label: str

    def read(self, raw: str, default: Any) -> tuple[str, str]:
        """The name, if it may be a name of an upload."""
        return (raw, "") if re.fullmatch(r"[0-9a-f]{32}|", raw) else (default, "it is no name of an upload")


@dataclass(frozen=True, kw_only=True)
class ClinicState(LensState):
    """One for all views: the mistake that was diagnosed is the one that is seen beside the right way."""

    PLACES = ("view", "case")

    view: str = control(Choice("View", VIEWS, "buttons"), default="mask", held=True)

    # mask
    pasted: str = control(
        Text("Paste a mask, or the line of code that makes it", PASTED_CHARS, height=116), default=PASTED
    )
    upload: str = control(UploadName("Uploaded mask"), default="", held=True)
    meaning: str = control(Choice("It means", (AS_READ, *MEANINGS[:3])), default=AS_READ)
    table: int = control(Whole("Table", 1, 64, box=True), default=1)
    part: str = control(windows.field("Part of the mask", SIDE), default=windows.WHOLE, held=True)

    # the exercise, of tensor and beside
    d_model: int = control(Choice("d_model", WIDTHS), default=16)
    num_heads: int = control(Whole("Heads", 1, 8, box=True), default=2)
    tokens: int = control(Whole("Tokens", 2, 32, box=True), default=6)
    positional: str = control(Choice("Positions", POSITIONALS), default="sines")
    hides: str = control(Choice("Mask", MASKS), default="causal and padding")
    norm: str = control(Choice("Norm", ("pre", "post")), default="pre")
    activation: str = control(Choice("Activation", ("gelu", "relu")), default="gelu")
    cached: int = control(
        Whole("Cached", 0, 16, box=True, help="The first tokens are keys and values alone, as with a cache."), default=0
    )
    seed: int = control(Whole("Exercise seed", 0, 9999, box=True), default=0)

    # tensor
    result: str = control(Text("Or paste it, as torch or NumPy prints it", PASTED_CHARS, height=68), default="")
    result_file: str = control(UploadName("Uploaded result"), default="", held=True)
    step: str = control(Choice("It is", (AS_NAMED, *ASKED)), default=AS_NAMED)

    # beside
    mistake: str = control(Choice("Mistake", tuple(MISTAKES)), default="no scale")
    case: str = control(Choice("Shown", (NO_RIDDLE, *CASES)), default=NO_RIDDLE, held=True)
    head: int = control(Whole("Head", 1, 8, box=True), default=1)
    sentence: int = control(Whole("Sentence", 1, 2, box=True), default=2)

    # code
    check: str = control(Choice("Check", tuple(LISTINGS)), default="check_attention")

    @cached_property
    def exercise(self) -> Exercise:
        """The exercise, with the nearest number of heads that divides d_model, and fewer cached tokens than tokens."""
        even = 2 if self.positional == "RoPE" else 1
        fitting = [heads for heads in range(1, 9) if self.d_model % (heads * even) == 0]
        return Exercise(
            d_model=self.d_model,
            num_heads=min(fitting, key=lambda heads: abs(heads - self.num_heads)),
            seq=self.tokens,
            positional=self.positional,
            mask=self.hides,
            norm=self.norm,
            activation=self.activation,
            cached=min(self.cached, self.tokens - 1),
            seed=self.seed,
        )

    @property
    def about_exercise(self) -> str:
        """What of the exercise is not as asked for; "" if nothing is."""
        exercise, said = self.exercise, []
        if exercise.num_heads != self.num_heads:
            said.append(f"{self.num_heads} heads do not fit a d_model of {self.d_model}: it has {exercise.num_heads}.")
        if exercise.cached != self.cached:
            said.append(f"Of {self.tokens} tokens at most {exercise.cached} can be cached.")
        if "padding" in self.hides and not exercise.has_padding:
            said.append("The sentences are too short for padding.")
        return " ".join(said)

    @property
    def shown_mistake(self) -> str:
        """The name of the mistake that is seen beside the right way."""
        return CASES.get(self.case, self.mistake)

    @cached_property
    def setting(self) -> Exercise:
        """The exercise in which the mistake is seen: as it is set, or with what the mistake needs to be made at all."""
        return setting_of(self.exercise, self.shown_mistake)


def setting_of(exercise: Exercise, mistake: str) -> Exercise:
    """The exercise, or the nearest to it in which this mistake can be made."""
    if mistake in mistakes_of(exercise):
        return exercise
    for change in _changes(exercise):
        try:
            other = replace(exercise, **change)
        except ValueError:
            continue
        if mistake in mistakes_of(other):
            return other
    raise ValueError(f"expected an exercise in which “{mistake}” can be made, got none near {exercise}")


def _changes(exercise: Exercise) -> Iterator[dict[str, Any]]:
    """What can be changed in an exercise: a line of this list alone first, then two together, then three."""
    alone: list[dict[str, Any]] = [
        *({"positional": name} for name in POSITIONALS),
        *({"mask": name} for name in MASKS),
        {"norm": "post"},
        {"norm": "pre"},
        {"activation": "relu"},
        {"activation": "gelu"},
        {"cached": 2, "seq": max(exercise.seq, 6)},
        {"cached": 0, "seq": max(exercise.seq, 6)},
        {"d_model": 16, "num_heads": 2},
        {"d_model": 24, "num_heads": 3},
    ]
    for together in (1, 2, 3):
        for changes in product(alone, repeat=together):
            yield {field: value for change in changes for field, value in change.items()}
