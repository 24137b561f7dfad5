"""A run of training: its curves, and where its heads look at each snapshot."""

from bisect import bisect_right
from functools import partial
from typing import Any

import traitlets

from attention_lab.picture import NotThereError, Picture
from tfm_core.training.config import TrainingConfig
from tfm_core.training.run import Run
from tfm_core.training.store import run_store
from tfm_core.training.train import untrained
from tfm_ui.pictures.learn.learned import Learned
from tfm_ui.pictures.learn.left_out import probes_of, score_by_chance
from tfm_ui.pictures.learn.maps import LEARN
from tfm_ui.text import formats

NEWEST = 20_000  # a step that no run is beyond: as the script has it, the slider then follows the newest snapshot
STEP = "training_step"  # what the script calls the step


class Training(Picture):
    """A run, as far as it is: loss and accuracy, and beside them the attention of each head on a held-out example.

    Attributes:
        run: the run. Each that is assigned is drawn: `picture.run = progress.run` shows a network while it learns.
        step: the step of training at which the slider stands; `NEWEST`, 20,000, follows the last one.
        example: which held-out example is read, from 0.

    Examples:
        >>> import attention_lab
        >>> from tfm_core import TrainingConfig
        >>> picture = attention_lab.training(TrainingConfig(task="reverse", steps=50))
        >>> picture.step, picture.example = 0, 1
        >>> picture.run.config.steps
        50
    """

    canvases = (LEARN,)
    choices = ("run", "step", "example")

    run: Any = traitlets.Instance(Run)
    step = traitlets.Int(NEWEST)
    example = traitlets.Int(0)
    stands = traitlets.Int(NEWEST).tag(sync=True)  # the step, as the reader has set it in the picture

    def __init__(self, run: Run, **traits: Any) -> None:
        self._turns = 0  # how often Python has moved the slider
        self._drawn: tuple[Run, int] | None = None
        super().__init__(run=run, **traits)

    @property
    def _learned(self) -> Learned:
        """The run, as it is drawn and told."""
        task = self.run.config.task
        example = probes_of(task)[self.example : self.example + 1]
        return Learned(self.run, example, partial(score_by_chance, task), self.example)

    def png(self) -> bytes:
        """The attention at the slider's step as a PNG, as that of other pictures; the widget shows the curves, too.

        Raises:
            ImportError: where Matplotlib is not installed.
        """
        header, numbers = self._contents[0]
        steps = header["snapshots"]
        count = max(bisect_right(steps, self.step), 1)  # of the snapshots up to this step
        figure = LEARN.figure
        assert figure
        drawn = figure({**header, "snapshots": steps[:count]}, numbers[: len(numbers) // len(steps) * count])
        title = f"{self.parts[0]['title']}, step {formats.count(steps[count - 1])}"
        return self._png_of(drawn, title, self.parts[0]["sentence"])

    @traitlets.validate("step", "stands")
    def _check_step(self, proposal: Any) -> int:
        step = int(proposal["value"])
        if not 0 <= step <= NEWEST:
            raise NotThereError(f"step: expected a step of 0 to {NEWEST}, got {step}")
        return step

    @traitlets.validate("example")
    def _check_example(self, proposal: Any) -> int:
        example, most = int(proposal["value"]), len(probes_of(self.run.config.task)) - 1
        if not 0 <= example <= most:
            raise NotThereError(f"example: expected a number of 0 to {most}, got {example}")
        return example

    @traitlets.observe("stands")
    def _stands_elsewhere(self, change: Any) -> None:
        self.step = change["new"]

    def draw(self) -> None:
        """The curves and maps; where only the slider has moved, the numbers stay."""
        if self.step != self.stands:  # the script moves its slider when it is told of another picture
            self._turns += 1
            self.stands = self.step
        learned, drawn = self._learned, (self.run, self.example)
        is_new = self._drawn is None or self._drawn[0] is not drawn[0] or self._drawn[1] != drawn[1]
        self._drawn = drawn
        config = self.run.config
        header, numbers = learned.content() if is_new else ({}, None)
        self.show(
            0,
            # Nobody asks for more of the run: what there is of it comes by itself.
            ({**header, "complete": True, "about": learned.sentence()}, numbers) if numbers is not None else None,
            title=learned.title,
            sentence=learned.sentence(),
            shape=f"step {formats.count(self.run.done)} of {formats.count(config.steps)}",
            header={"query": str(self._turns)},
            sets={STEP: "stands"},
            local={STEP: self.step},
        )


def training(run: Run | TrainingConfig, *, step: int = NEWEST, example: int = 0, mode: str = "auto") -> Training:
    """A run of training, live in a notebook: a slider moves curves and attention along its steps.

    Args:
        run: a run, as `tfm_core.train` hands it out; or a `TrainingConfig`, whose run is looked up among those that are
            kept and those that come with the library. Where there is none, its first weights are shown.
        step: where the slider stands first; by default at the last snapshot.
        example: which of the held-out examples is read, from 0.
        mode: "light", "dark", or "auto", which follows the notebook.

    Raises:
        ValueError: for what is neither, and for a step or an example that is not there; the message says what was
            expected and what came.

    Examples:
        >>> import attention_lab
        >>> from tfm_core import TrainingConfig, train
        >>> config = TrainingConfig(task="reverse", steps=50)
        >>> picture = attention_lab.training(config)
        >>> for progress in train(config):  # the picture shows the network while it learns
        ...     picture.run = progress.run
        >>> picture.parts[0]["shape"]
        'step 50 of 50'
    """
    if isinstance(run, TrainingConfig):
        run = run_store().find(run) or untrained(run)
    if not isinstance(run, Run):
        raise ValueError(f"run: expected a Run or a TrainingConfig, got {type(run).__name__}")
    return Training(run, step=step, example=example, mode=mode)
