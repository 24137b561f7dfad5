"""The Profiling lens beside torch.utils.benchmark by hand, and its closed forms beside torch's own count.

"By hand" is what torch's documentation recommends: `Timer("model(x)").blocked_autorange()` in inference mode, for the
same model and input in the same process, between two rounds of our own measurement. The two times of a round are
measured at nearly the same moment, and give one ratio. Rounds in which another process used the processor are left out.
"""

import math
import os
import time

import torch
from torch.utils.benchmark import Timer
from torch.utils.flop_counter import FlopCounterMode

from benchmarks.measure import Figure, FiguresOrWords, show
from tfm_core.profiling import DEFAULT_SIZES, TARGETS, Blocks, Plan, Row, Setup, contention, costs, profile
from tfm_core.profiling.run_subject import Subject
from tfm_core.profiling.statistics import Interval, median_interval

TARGET = "with weights"
RATIOS = 9
PATIENCE, PAUSE = 60, 0.3  # seconds for a configuration; seconds to wait after a round that was disturbed
DISTURBED = "each round was disturbed"
NEAR, WIDE = (0.9, 1.1), 0.2
FIGURES = [
    Figure(
        f"A profile's median, {TARGET}, ({size.d_model}, {size.num_heads}, {size.num_layers}), {size.seq_len} tokens",
        "torch.utils.benchmark by hand on the same model, in the same rounds",
        form="{:.3f}",
    )
    for size in DEFAULT_SIZES
]


def main() -> FiguresOrWords:
    """Print the table."""
    print(
        f"\ntorch {torch.__version__} on {os.cpu_count()} CPUs, {Setup().threads} thread, {TARGET}, forward, batch 16"
    )
    print(f"median of {RATIOS} ratios, paired by round, and its interval of at least 95 % by order statistics")
    columns = ["d_model, heads, layers, seq", "ours", "ours / by hand", "blocks thrown away", "FLOPs / torch's count"]
    lines = [_line(Row(TARGET, size)) for size in DEFAULT_SIZES]
    show("Profiling", columns, [line for line, _ in lines])
    medians = zip(FIGURES, (median for _, median in lines), strict=True)
    return {figure: DISTURBED if math.isnan(median) else median for figure, median in medians}


def _line(row: Row) -> tuple[list[object], float]:
    """A row of the table, and the median of its ratios."""
    ratios, last = _ratios(row)
    interval, size = median_interval(ratios), row.size
    cells: list[object] = [
        f"{size.d_model}, {size.num_heads}, {size.num_layers}, {size.seq_len}",
        f"{1000 * last.median:.2f} ms",
        f"{interval.middle:.3f} ({interval.low:.3f} to {interval.high:.3f})  {_verdict(interval, len(ratios))}",
        last.contended,
        _count(row),
    ]
    return cells, interval.middle


def _ratios(row: Row) -> tuple[list[float], Blocks]:
    """Our block's time over the median by hand, for each round; and all our blocks."""
    setup, gate = Setup(rounds=100 * RATIOS, backward=False), contention.gate()
    subject = Subject(row, setup)
    watch = Timer("model(x)", globals={"model": subject.module, "x": subject.x}, num_threads=setup.threads)
    ratios: list[float] = []
    before, begin = Blocks(), time.perf_counter()
    for progress in profile(Plan((row,), setup)):
        forward = next((row.forward for row in progress.report.measured), Blocks())
        if len(ratios) == RATIOS or time.perf_counter() - begin > PATIENCE:
            break
        if forward.contended > before.contended:
            time.sleep(PAUSE)
        if len(forward.seconds) > len(before.seconds):
            with subject.mode("forward"):
                by_hand, stalled = gate.around(watch.blocked_autorange)
            if stalled <= contention.MOST_STALLED:
                ratios.append(forward.seconds[-1] / by_hand.median)
        before = forward
    return ratios, forward


def _verdict(interval: Interval, count: int) -> str:
    if count < RATIOS:
        return f"only {count} undisturbed pairs ✕"
    met = interval.low <= NEAR[1] and interval.high >= NEAR[0] and interval.high - interval.low <= WIDE
    return f"meets {NEAR[0]} to {NEAR[1]}, at most {WIDE} wide {'✓' if met else '✕'}"


def _count(row: Row) -> str:
    """FLOPs by the closed form over those that FlopCounterMode counts; on the meta device it sees every product."""
    size = row.size
    with torch.device("meta"):
        model, x = TARGETS[row.target].build(size), torch.empty(size.batch, size.seq_len, size.d_model)
    with FlopCounterMode(display=False) as counter, torch.inference_mode():
        model(x)
    ratio = sum(costs.flops(row).values()) / counter.get_total_flops()
    return f"{ratio:.4f}  = 1 {'✓' if ratio == 1 else '✕'}"
