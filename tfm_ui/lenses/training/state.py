"""The Training lens's own controls: what is learned by what, how, and what of it is looked at."""

from dataclasses import dataclass

from tfm_core import NORMS, POSITIONAL, TASKS
from tfm_core.model.classifier import POOLINGS
from tfm_core.training.compare.finetuning.labelled import SETS
from tfm_core.training.compare.finetuning.outcome import SIZES
from tfm_core.training.compare.finetuning.ways import WAYS
from tfm_ui.state.fields import Choice, Text, Whole, control
from tfm_ui.state.lens_state import LensState

PREFIX = "training_"
VIEWS = ("learn", "decode", "classify", "compare", "deep", "sizes", "finetune")
AS_TRAINED, LONGER = "trained length", "longer"  # sequences on which networks are tested
MEASURES = ("right answers", "whole examples", "loss", "steps to 99 %")
# Tasks whose source may be typed, and that a decoder or a reader of spans answers.
PAIRS = tuple(
    name for name, task in TASKS.items() if task.solve and (task.spans or task.architecture == "encoder-decoder")
)
# Tasks with one label for the whole sequence.
LABELLED = tuple(sorted((name for name, task in TASKS.items() if task.labels), key=lambda name: name != "authors"))
# Networks of several depths: with or without a warm-up, what of them is drawn, and by what they are judged.
BOTH, WITH, WITHOUT = "both", "with", "without"
DEEP = ("by depth", "loss curves", "gradients")
GOOD = ("loss", "right answers")
# Lab GPT's recipe at several sizes: over what its loss is drawn, and shares of its prose.
OVER = ("parameters", "prose", "steps")
PARTS = ("1/27", "1/9", "1/3", "all")
# Fine-tuning: over what the share of right labels is drawn.
AGAINST = ("examples", "parameters", "seconds")
AUTO = "auto"  # as the task has it: the line below the controls says what that is
MOST_STEPS = 20_000
RATES = (0.0003, 0.001, 0.003, 0.01, 0.03, 0.1, 1, 10)
# Fields of what is trained, and how.
NETWORK = ("layers", "heads", "width", "positional", "norm")
HOW = ("rate", "warmup", "batch", "dropout", "decay", "steps")


def _or_auto(label: str, *values: object, help: str | None = None) -> Choice:
    return Choice(label, (AUTO, *values), help=help)


@dataclass(frozen=True, kw_only=True)
class TrainingState(LensState):
    """The controls of all views."""

    PLACES = ("view", "tested", "drawn", "over", "against")
    NOT_SET_UP = LensState.NOT_SET_UP | {"step", "probe", "written", "example"}

    view: str = control(
        Choice("View", VIEWS, "buttons", older={"lengths": ("compare", {"tested": LONGER})}),
        default=VIEWS[0],
        held=True,
    )

    # what is learned
    task: str = control(Choice("Task", tuple(TASKS)), default="reverse")

    # by what
    layers: object = control(_or_auto("Layers", 1, 2, 3, 4), default=AUTO)
    heads: object = control(_or_auto("Heads", 1, 2, 4, 8), default=AUTO)
    width: object = control(_or_auto("d_model", 16, 32, 64, 128), default=AUTO)
    positional: str = control(_or_auto("Positions", *POSITIONAL), default=AUTO)
    norm: str = control(_or_auto("Norm", *NORMS), default=AUTO)

    pooling: str = control(
        _or_auto("Pooling", *POOLINGS, help="What the head reads: the mean over all tokens, or the first token."),
        default=AUTO,
    )

    # how
    rate: object = control(
        _or_auto("Learning rate", *RATES, help="The learning rate of AdamW after the warm-up."), default=AUTO
    )
    warmup: object = control(
        _or_auto("Warm-up", 0, 10, 50, 200, 1000, help="Steps in which the learning rate rises from 0."), default=AUTO
    )
    batch: object = control(_or_auto("Batch", 8, 16, 32, 64, 128, 256, help="Examples of a step."), default=AUTO)
    dropout: object = control(
        _or_auto("Dropout", 0, 0.1, 0.3, 0.5, help="Share of units set to zero at each step."), default=AUTO
    )
    decay: object = control(_or_auto("Weight decay", 0, 0.01, 0.1, 1, help="The weight decay of AdamW."), default=AUTO)
    steps: object = control(_or_auto("Steps", 50, 100, 200, 400, 800, 1500, 3000, 6000), default=AUTO)
    seed: int = control(Whole("Seed", 0, 9999, box=True), default=0)

    # what of it is looked at
    step: int = control(Whole("Step on screen", 0, MOST_STEPS), default=MOST_STEPS, held=True, local=True)
    pair: str = control(Choice("Task", PAIRS), default=PAIRS[0])
    source: str = control(Text("Source", 200), default="")
    written: int = control(Whole("Tokens written", 0, 40), default=40, held=True)
    probe: int = control(Choice("Example", (1, 2)), default=1)

    # what is classified, and which row of the table of examples is looked at
    labelled: str = control(Choice("Task", LABELLED), default=LABELLED[0])
    example: int = control(Whole("Example of the table", 1, 10), default=1, held=True)

    # on which sequences networks are tested, and what they are compared by
    tested: str = control(Choice("Sequences", (AS_TRAINED, LONGER), "buttons"), default=AS_TRAINED)
    measure: str = control(Choice("By", MEASURES), default=MEASURES[0])

    # networks of several depths
    drawn: str = control(Choice("Picture", DEEP, "buttons"), default=DEEP[0])
    warm: str = control(Choice("Warm-up", (BOTH, WITH, WITHOUT)), default=BOTH)
    good: str = control(Choice("By", GOOD), default=GOOD[0])
    deep: int = control(Choice("Layers", (2, 6, 12, 24)), default=24)
    at: int = control(
        Choice("Step", (1, 10, 50, 100, 200, 400), help="The step before which gradients were measured."), default=1
    )

    # sizes of a language model, and amounts of prose
    over: str = control(Choice("Loss over", OVER, "buttons"), default=OVER[0])
    part: str = control(Choice("Prose", PARTS, help="The share of Lab GPT’s prose."), default=PARTS[-1])

    # fine-tuning a body that has read before: on what, in which way, and which head of it is looked at
    tuned: str = control(Choice("Task", tuple(SETS)), default="authors")
    against: str = control(Choice("Right labels over", AGAINST, "buttons"), default=AGAINST[0])
    shots: int = control(Choice("Examples", SIZES, help="Labelled sentences to learn from."), default=200)
    way: str = control(Choice("Way", tuple(WAYS)), default="whole")
    layer: int = control(Whole("Layer", 1, 4), default=4, held=True)
    head: int = control(Whole("Head", 1, 4), default=1, held=True)

    @property
    def has_classes(self) -> bool:
        """Whether the task is learned by a classifier of whole sequences."""
        return bool(TASKS[self.task].classes)
