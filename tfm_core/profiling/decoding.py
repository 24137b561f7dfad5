"""Writing with a key-value cache and without, measured: time of one more token, and bytes, at several lengths.

A step is what `generate` does for a token: a pass and a draw. With the cache the pass reads the last token of the text,
without it all of them. Times depend on the shape of a model and not on its weights, so these are random.
"""

import secrets
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from itertools import starmap

import torch
from torch import Tensor

from tfm_core.generation.costs import step_flops
from tfm_core.generation.sampling import Sampling, next_token
from tfm_core.model.cache import KeyValueCache
from tfm_core.model.initialization import generator
from tfm_core.model.transformer import Transformer
from tfm_core.profiling import clock, contention, machine, memory
from tfm_core.profiling.decoding_report import AtLength, Decoding, DecodingPlan
from tfm_core.profiling.report import Blocks
from tfm_core.profiling.setup import Setup

GUESSED_RATE, GUESSED_CALL = 1.5e10, 2e-3  # operations a second, and seconds that a step takes beside them
WARM_UP_CALLS = 8


@dataclass(frozen=True)
class DecodingProgress:
    """How far a measurement has come.

    Attributes:
        share: done, 0 to 1.
        seconds_left: an estimate.
        doing: in words.
        report: what there is by now.
    """

    share: float
    seconds_left: float
    doing: str
    report: Decoding


def expected_seconds(plan: DecodingPlan) -> float:
    """How long it takes, roughly."""
    calls = [
        GUESSED_CALL + step_flops(plan.config, length, cached=cached) / GUESSED_RATE
        for length in plan.lengths
        for cached in (True, False)
    ]
    return sum(WARM_UP_CALLS * call + plan.rounds * (clock.BLOCK_SECONDS + 3 * call) for call in calls)


def measure_decoding(plan: DecodingPlan, gate: contention.Gate | None = None) -> Iterator[DecodingProgress]:
    """Measure a plan; each step says how far it is. Closing the generator stops it.

    Each length and way is warmed up and its memory counted. Then rounds: in each, every one of them has a turn, so that
    drift hits all alike.

    Args:
        plan: what is measured.
        gate: which blocks are contended; this machine's by default.
    """
    began, gate, patience = time.perf_counter(), gate or contention.gate(), clock.Patience()
    model = Transformer(plan.config).eval()
    pairs = [(_Step(model, length, cached=True), _Step(model, length, cached=False)) for length in plan.lengths]
    steps = [step for pair in pairs for step in pair]
    report = Decoding(
        id=secrets.token_hex(3),
        plan=plan,
        machine=machine.describe(Setup()),
        started=datetime.now(UTC).isoformat(timespec="seconds"),
    )
    turns, done = len(steps) * (1 + plan.rounds), 0

    def progress(doing: str) -> DecodingProgress:
        took, share = time.perf_counter() - began, done / turns
        left = took * (1 / share - 1) if share else expected_seconds(plan)
        so_far = replace(report, measured=tuple(starmap(_measured, pairs)), seconds=took, complete=share == 1)
        return DecodingProgress(share, left, doing, so_far)

    for step in steps:
        yield progress(f"{step.length} tokens, {step.how}: warming up")
        step.prepare()
        done += 1
    for number in range(plan.rounds):
        for step in steps:
            yield progress(f"round {number + 1} of {plan.rounds}")
            for blocks in clock.turn(step.blocks, step.write, number, 1, gate, patience, torch.no_grad):
                step.blocks = blocks
            done += 1
    yield progress("done")


class _Step:
    """One more token after a text of `length` tokens, in one of the two ways."""

    def __init__(self, model: Transformer, length: int, *, cached: bool) -> None:
        self.model, self.length, self.cached = model, length, cached
        vocab, random = model.config.vocab_size, generator(0, f"decoding {length}")
        self.ids = torch.randint(1, vocab, (1, length), generator=random)  # 0 is padding
        self.cache = KeyValueCache(model.config)
        self.blocks, self.stored = Blocks(), 0
        self.peak: int | None = None

    @property
    def how(self) -> str:
        """The way in words."""
        return "with the cache" if self.cached else "without it"

    def prepare(self) -> None:
        """Store what the step finds stored, warm up, and count bytes."""
        with torch.no_grad():
            if self.cached and self.length > 1:
                self.model(self.ids[:, :-1], cache=self.cache)
            self.blocks = clock.warm_up(self.write)
            self.peak = memory.allocated(self.run)
            if self.cached:
                after = self.cache.copy()
                self.model(self.ids[:, -1:], cache=after)
                self.stored = after.nbytes

    def run(self) -> Tensor:
        """The pass: logits of the next token, (vocab)."""
        if not self.cached:
            logits: Tensor = self.model(self.ids)
        else:  # a copy, so that the next call finds the cache as it was
            logits = self.model(self.ids[:, -1:], cache=self.cache.copy())
        return logits[0, -1]

    def write(self) -> int:
        """The pass and the draw."""
        return next_token(self.run(), Sampling(), self.length)


def _measured(cached: _Step, whole: _Step) -> AtLength:
    return AtLength(
        length=cached.length,
        cached=cached.blocks,
        whole=whole.blocks,
        stored=cached.stored,
        cached_peak=cached.peak,
        whole_peak=whole.peak,
    )
