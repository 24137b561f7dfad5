"""Training: AdamW with a linear warm-up, looked at on held-out examples every few steps.

Attention is kept at steps that lie evenly on a log axis, and in between where answers become right.
"""

import math
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cached_property, partial

import torch
from torch import Tensor, nn
from torch.optim import AdamW

from tfm_core.model.initialization import generator
from tfm_core.training.config import TrainingConfig
from tfm_core.training.examples import EVALUATED, FINAL, PROBES, batches, held_out
from tfm_core.training.networks import network
from tfm_core.training.run import Point, Progress, Run
from tfm_core.training.schedule import divergence, is_point, is_rise, is_snapshot, rate
from tfm_core.training.scores import Looked, look, loss_of, pattern_score, site
from tfm_core.training.tasks.task import Examples

BETA1 = 0.9
REPORT_SECONDS = 0.2  # seconds between two reports


def train(config: TrainingConfig, begin: Run | None = None, *, device: str = "cpu") -> Iterator[Progress]:
    """Train a network, and report every fifth of a second. Closing the generator stops it.

    Run to its end or stopped and continued, a run comes out the same to the last digit: each step's examples and
    dropout depend on the configuration and the step's number alone.

    Args:
        config: what is trained, on what, and how.
        begin: an earlier run to go on from; its configuration may differ in the number of steps alone.
        device: "cpu" or "cuda".

    Raises:
        ValueError: for weights that were loaded from a file, or a beginning that belongs to another run or has no
            optimizer any more.

    Examples:
        >>> from tfm_core import TrainingConfig, train
        >>> config = TrainingConfig(task="reverse", steps=2, batch_size=4, warmup=1)
        >>> *_, last = train(config)
        >>> last.run.done, last.run.losses.shape
        (2, torch.Size([2]))
    """
    if config.file:
        raise ValueError(f"file: expected a run that is trained from a seed, got weights of a file, {config.file}")
    yield from _Training(config, begin, device).steps()


def untrained(config: TrainingConfig) -> Run:
    """A run before its first step: its first weights, what they do, and where their heads look."""
    training = _Training(config, None, "cpu")
    training.look_at(0)
    return training.run()


class _Training:
    def __init__(self, config: TrainingConfig, begin: Run | None, device: str) -> None:
        self.config, self.device = config, torch.device(device)
        self.model = network(config).to(self.device)
        self.names = {id(parameter): name for name, parameter in self.model.named_parameters()}
        self.attention = config.network == "transformer"
        self.held_out = held_out(config, EVALUATED).to(self.device)
        self.cells = [pattern.cells(self.held_out.to("cpu")).to(self.device) for pattern in config.about.patterns]
        self.losses: list[float] = []
        self.points: list[Point] = []
        self.maps: dict[str, list[Tensor]] = {}
        self.said: list[Tensor] = []
        self.snapshots: list[int] = []
        self.seconds = self.stepping = 0.0
        self.problem = ""
        if begin:
            self._resume(begin)

    @cached_property
    def optimizer(self) -> AdamW:
        """The optimizer, made at the first step: torch imports its compiler for it, which takes seconds and 70 MB."""
        config, betas = self.config, (BETA1, self.config.beta2)
        parameters = self.model.parameters()
        return AdamW(parameters, config.learning_rate, betas, weight_decay=config.weight_decay, fused=True)

    def steps(self) -> Iterator[Progress]:
        """Train to the end, a step at a time."""
        clock, reported = time.perf_counter, -math.inf
        began, before = clock(), self.seconds
        self.model.train()
        if not self.points:
            self.look_at(0)
        examples = batches(self.config, len(self.losses))
        first = len(self.losses)
        while len(self.losses) < self.config.steps and not self.problem:
            step = len(self.losses) + 1
            begin_of_step = clock()
            self._step(step, next(examples))
            self.stepping += clock() - begin_of_step
            if is_point(step):
                self.look_at(step)
            self.seconds = before + clock() - began
            if clock() - reported >= REPORT_SECONDS and step < self.config.steps:
                reported = clock()
                yield self._progress((clock() - began) / (step - first))
        self.seconds = before + clock() - began
        self._end()
        yield self._progress(0.0)

    def _step(self, step: int, examples: Examples) -> None:
        for group in self.optimizer.param_groups:
            group["lr"] = rate(self.config, step)
        self.optimizer.zero_grad()
        loss = loss_of(self._logits(step, examples), examples.answers.to(self.device))
        torch.autograd.backward(loss)
        if self.config.clip:
            nn.utils.clip_grad_norm_(self.model.parameters(), self.config.clip)
        self.optimizer.step()
        self.losses.append(loss.item())
        self.problem = divergence(self.config, self.losses)

    def _logits(self, step: int, examples: Examples) -> Tensor:
        run: Callable[[], Tensor] = partial(self.model, *examples.to(self.device).inputs)
        if not self.config.dropout:
            return run()
        with torch.random.fork_rng(devices=[self.device] if self.device.type == "cuda" else []):
            torch.manual_seed(generator(self.config.seed, f"dropout {step}").initial_seed())
            return run()

    def look_at(self, step: int) -> None:
        """Add a point to the curve, and where it is time a snapshot."""
        looked = look(self.model, self.held_out, attention=self.attention)
        kept = [point.accuracy for point in self.points if point.step in self.snapshots]
        self.points.append(Point(step, looked.loss, looked.accuracy, looked.exact, self._scores(looked)))
        if is_snapshot(step) or is_rise(looked.accuracy, kept):
            self._snapshot(step, looked)

    def _snapshot(self, step: int, looked: Looked) -> None:
        self.snapshots.append(step)
        self.said.append(looked.said[:PROBES].cpu())
        for name, weights in looked.weights.items():
            self.maps.setdefault(name, []).append(weights[:PROBES].cpu())

    def _scores(self, looked: Looked) -> tuple[tuple[tuple[float, ...], ...], ...]:
        if not self.attention:
            return ()
        task, layers = self.config.about, range(self.config.num_layers)
        return tuple(
            tuple(
                tuple(
                    pattern_score(
                        looked.weights[site(pattern.kind, layer, task.architecture)], cells, even=pattern.even
                    ).tolist()
                )
                for layer in layers
            )
            for pattern, cells in zip(task.patterns, self.cells, strict=True)
        )

    def _end(self) -> None:
        """The last point: over many more examples, and with a snapshot, whatever its step."""
        step = len(self.losses)
        if self.points[-1].step == step:
            self.points.pop()
        if self.snapshots and self.snapshots[-1] == step:
            self._drop_snapshot()
        looked = look(self.model, self.held_out, attention=self.attention)
        self._snapshot(step, looked)
        scores = self._scores(looked)
        many = look(self.model, held_out(self.config, FINAL).to(self.device), attention=False)
        self.points.append(Point(step, many.loss, many.accuracy, many.exact, scores))

    def _drop_snapshot(self) -> None:
        self.snapshots.pop()
        self.said.pop()
        for kept in self.maps.values():
            kept.pop()

    def _progress(self, seconds_a_step: float) -> Progress:
        done, steps = len(self.losses), self.config.steps
        over = bool(self.problem) or done >= steps
        return Progress(
            share=1.0 if over else done / steps,
            seconds_left=(steps - done) * seconds_a_step,
            doing="done" if over else f"step {done} of {steps}",
            run=self.run(),
        )

    def run(self) -> Run:
        """What there is by now."""
        state = {self.names[id(key)]: value for key, value in self.optimizer.state.items()} if self.losses else {}
        return Run(
            config=self.config,
            losses=torch.tensor(self.losses),
            points=tuple(self.points),
            maps={name: torch.stack(kept) for name, kept in self.maps.items()},
            said=torch.stack(self.said),
            snapshots=tuple(self.snapshots),
            weights={name: value.detach().cpu().clone() for name, value in self.model.named_parameters()},
            optimizer={
                f"{name}.{what}": kept[what].cpu().clone()
                for name, kept in state.items()
                for what in ("exp_avg", "exp_avg_sq")
            },
            seconds=self.seconds,
            stepping=self.stepping,
            problem=self.problem,
            made_with=f"torch {torch.__version__}",
        )

    def _resume(self, run: Run) -> None:
        if replace(run.config, steps=self.config.steps) != self.config or run.done > self.config.steps:
            raise ValueError(
                f"begin: expected a shorter run of {self.config.name}, got {run.done} steps of {run.config.name}"
            )
        if run.done and not run.optimizer:
            raise ValueError("begin: expected a run with its optimizer, got one of which only the weights are kept")
        self.losses, self.seconds, self.stepping = run.losses.tolist(), run.seconds, run.stepping
        # The end of a run is a point and a snapshot of its own, where an unbroken run has none.
        self.points = [point for point in run.points if is_point(point.step)]
        kept = [number for number, step in enumerate(run.snapshots) if is_point(step)]
        self.snapshots = [run.snapshots[number] for number in kept]
        self.said = [run.said[number] for number in kept]
        self.maps = {name: [maps[number] for number in kept] for name, maps in run.maps.items()}
        with torch.no_grad():
            for name, parameter in self.model.named_parameters():
                parameter.copy_(run.weights[name])
                if run.done:
                    self.optimizer.state[parameter] = {
                        "step": torch.tensor(float(run.done), device=self.device),
                        **{
                            what: run.optimizer[f"{name}.{what}"].to(self.device, copy=True)  # AdamW writes into it
                            for what in ("exp_avg", "exp_avg_sq")
                        },
                    }
        if run.done and is_point(run.done):
            self._again(run.done)

    def _again(self, step: int) -> None:
        """The point at which the earlier run ended was measured over more examples: as an unbroken run has it."""
        self.points = [point for point in self.points if point.step != step]
        if self.snapshots and self.snapshots[-1] == step:
            self._drop_snapshot()
        self.look_at(step)
