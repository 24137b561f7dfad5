"""How fast tasks are learned, through the server's queue and worker, and how fast a step is beside a bare loop.

"From the press" begins when a visitor's request enters the queue of a warm worker, and ends when the server has a
report in which 99 % of the held-out answers are right. The bare loop is the same model, the same batches and the same
optimizer, for as many steps, without looks on the way, snapshots and reports; ours counts these, but not the last look,
over 2,048 examples, which follows the last step. Both take turns, so that drift affects both.
"""

import os
import statistics
import threading
import time
from tempfile import TemporaryDirectory

import torch
import torch.nn.functional as F
from torch import nn
from torch.optim import AdamW

from benchmarks.measure import Figure, Figures, Ratio, ratio, show
from tfm_core import TrainingConfig
from tfm_core.training.config import of_task
from tfm_core.training.examples import batches
from tfm_core.training.networks import network
from tfm_core.training.run import Progress, Run
from tfm_core.training.schedule import rate
from tfm_core.training.tasks.task import IGNORED
from tfm_core.training.train import BETA1, train
from tfm_ui.jobs.job import Request, Tab
from tfm_ui.jobs.messages import JobStep
from tfm_ui.jobs.queue import Queue

SEEDS = (0, 1, 2)
RIGHT, LOOKS = 0.99, 0.9  # shares of right answers, and of a head's weight
MOST_SECONDS = {"copy": 5.0, "reverse": 5.0, "majority": 5.0, "induction": 5.0, "sort": 15.0}
LOOKING = ("copy", "reverse", "induction")
FIRST_POINT, SPEED = 1.0, 0.9
ROUNDS = 3
WAIT = 0.02  # seconds between two looks at the queue
TIMED = ("reverse", "induction")


def _seconds(task: str) -> Figure:
    return Figure(f"{task}: from the press to 99 % right, median of seeds 0, 1, 2", f"{MOST_SECONDS[task]:g} s", "s")


def _looks(task: str) -> Figure:
    return Figure(f"{task}: weight of the best head where the answer stands, least of the seeds", f"{LOOKS:g}", "of 1")


def _speed(task: str) -> Figure:
    return Figure(f"{task}: steps a second", "a bare loop of the same model")


FIRST = Figure("First point of the curve, from the press, the worst", f"{FIRST_POINT:g} s", "s")
FIGURES = [*map(_seconds, MOST_SECONDS), *map(_looks, LOOKING), FIRST, *map(_speed, TIMED)]


def main() -> Figures:
    """Print the tables."""
    torch.set_num_threads(1)
    told: Figures = {}
    with TemporaryDirectory() as folder:
        learned = _learn(folder)
    rows = []
    for task, runs in learned.items():
        middle = statistics.median(run.seconds for run in runs)
        told[_seconds(task)] = middle
        least = min(run.accuracy for run in runs)
        looks = min(run.looks for run in runs)
        if task in LOOKING:
            told[_looks(task)] = looks
        rows.append(
            [
                task,
                f"{middle:.2f} s {_mark(middle <= MOST_SECONDS[task])}",
                f"{least:.2%} {_mark(least >= RIGHT)}",
                f"{looks:.2f} {_mark(looks >= LOOKS) if task in LOOKING else ''}",
                f"{max(run.first for run in runs):.2f} s",
            ]
        )
    told[FIRST] = max(run.first for runs in learned.values() for run in runs)
    show("Learning", ["task", "from the press to 99 %", "least at the end", "best head", "first point"], rows)
    lines = []
    for task in TIMED:
        beside = _beside(task)
        told[_speed(task)] = beside.median
        lines.append([task, f"{beside} {_mark(beside.median >= SPEED)}"])
    show("Steps a second, ours over the bare loop", ["task", f"median of {ROUNDS} rounds"], lines)
    return told


def _mark(is_met: bool) -> str:
    return "✓" if is_met else "✕"


class Learned:
    """A run as a visitor saw it.

    Attributes:
        first: seconds until the first point of the curve.
        seconds: until 99 % were right; infinite if they never were.
        accuracy, looks: at the end, of the last point; the best head's score on the first pattern.
    """

    def __init__(self, config: TrainingConfig, queue: Queue) -> None:
        done, last = threading.Event(), list[Run]()

        def then(step: JobStep) -> None:
            assert isinstance(step, Progress)
            last.append(step.run)
            done.set()

        self.first = self.seconds = float("inf")
        tab = Tab("benchmark")
        begin = time.monotonic()
        queue.submit("benchmark", Request("train", config, seconds=10, limit=120, then=then), tab)
        while not done.wait(WAIT):
            job = queue.find("benchmark", "train", config, tab)
            if job and isinstance(job.step, Progress):
                self._note(job.step.run, time.monotonic() - begin)
        self._note(last[0], time.monotonic() - begin)
        point = last[0].last
        self.accuracy = point.accuracy
        self.looks = max(score for layer in point.scores[0] for score in layer)

    def _note(self, run: Run, seconds: float) -> None:
        self.first = min(self.first, seconds)
        if run.last.accuracy >= RIGHT:
            self.seconds = min(self.seconds, seconds)


def _learn(folder: str) -> dict[str, list[Learned]]:
    """Each task with each seed, in a worker that is warm and knows no earlier run."""
    os.environ["ATTENTION_LAB_RUNS"] = folder
    queue = Queue()
    queue.open()
    try:
        Learned(of_task("reverse", seed=99, steps=20), queue)  # the worker's imports, and torch's first step
        return {task: [Learned(of_task(task, seed=seed), queue) for seed in SEEDS] for task in MOST_SECONDS}
    finally:
        queue.close()


def _beside(task: str) -> Ratio:
    """Steps a second of ours over those of a bare loop, round by round."""
    config = of_task(task)
    ours, bare = [], []
    for _ in range(ROUNDS):
        for progress in train(config):
            seconds = progress.run.seconds
        ours.append(config.steps / seconds)
        begin = time.perf_counter()
        _bare(config)
        bare.append(config.steps / (time.perf_counter() - begin))
    return ratio(ours, bare)


def _bare(config: TrainingConfig) -> None:
    """What one would write by hand."""
    model, examples = network(config).train(), batches(config)
    betas = (BETA1, config.beta2)
    optimizer = AdamW(model.parameters(), config.learning_rate, betas, weight_decay=config.weight_decay, fused=True)
    for step in range(1, config.steps + 1):
        batch = next(examples)
        optimizer.param_groups[0]["lr"] = rate(config, step)
        optimizer.zero_grad()
        loss = F.cross_entropy(model(*batch.inputs).flatten(0, -2), batch.answers.flatten(), ignore_index=IGNORED)
        torch.autograd.backward(loss)
        nn.utils.clip_grad_norm_(model.parameters(), config.clip)
        optimizer.step()
        loss.item()
