"""Measuring a plan: interleaved rounds, so that drift hits all rows alike."""

import platform
import secrets
import time
from collections.abc import Iterator
from datetime import UTC, datetime

import torch
from torch.utils.benchmark import Timer

from tfm_core.profiling.plan import Plan
from tfm_core.profiling.report import Blocks, Machine, Measured, Progress, Report
from tfm_core.profiling.targets import TARGETS


def profile(plan: Plan) -> Iterator[Progress]:
    """Measure it; each step tells how far it is, and has the report by then. Whoever stops asking has stopped it."""
    begin = time.perf_counter()
    machine = Machine(
        device="cpu",
        processor=platform.processor(),
        cores=1,
        system=platform.platform(),
        torch=torch.__version__,
    )
    report_id, started = secrets.token_hex(3), datetime.now(UTC).isoformat(timespec="seconds")
    torch.manual_seed(plan.setup.seed)
    timers = []
    for row in plan.rows:
        size = row.size
        module = TARGETS[row.target].build(size).eval()
        x = torch.randn(size.batch, size.seq_len, size.d_model)
        timers.append(Timer("module(x)", globals={"module": module, "x": x}, num_threads=plan.setup.threads))
    seconds: list[list[float]] = [[] for _ in plan.rows]
    for number in range(plan.setup.rounds):
        for timer, own in zip(timers, seconds, strict=True):
            with torch.inference_mode():
                own.append(timer.timeit(1).median)
        share = (number + 1) / plan.setup.rounds
        took = time.perf_counter() - begin
        yield Progress(
            share,
            took * (1 / share - 1),
            f"round {number + 1} of {plan.setup.rounds}",
            Report(
                id=report_id,
                plan=plan,
                machine=machine,
                measured=tuple(
                    Measured(row, Blocks(tuple(own), tuple(range(number + 1))))
                    for row, own in zip(plan.rows, seconds, strict=True)
                ),
                started=started,
                seconds=took,
                complete=share == 1,
            ),
        )
