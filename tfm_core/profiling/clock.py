"""Timing one thing: calls to warm up, then blocks of calls; blocks that other programs disturbed are kept apart.

It uses torch.utils.benchmark, which waits for the GPU and keeps Python's garbage collection out of a block.
"""

import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from functools import partial

from torch.utils.benchmark import Timer, timer

from tfm_core.profiling.contention import MOST_STALLED, Gate
from tfm_core.profiling.report import Blocks

BLOCK_SECONDS = 0.04  # long enough for the gate to notice a neighbour
TRIES = 4  # a turn, at most: the first, and three more where it was contended
PAUSE = 0.05  # seconds before trying again, in which the neighbour may come to an end
AGAIN = 0.5  # seconds for trying again, of each second of first tries
WARM_UP = (3, 12)  # calls, at least and at most
WARM_UP_SECONDS = 1.0
SETTLED = 0.1  # how much two calls that follow each other may differ, as a share

Call = Callable[[], object]
Mode = AbstractContextManager[object]


def warm_up(call: Call) -> Blocks:
    """Call until it is as fast as it gets, at first with cold caches; from these calls, how many make a block."""
    seconds: list[float] = []
    fewest, most = WARM_UP
    while len(seconds) < most:
        begin = timer()
        call()
        seconds.append(timer() - begin)
        settled = len(seconds) > 1 and abs(seconds[-1] / seconds[-2] - 1) <= SETTLED
        if len(seconds) >= fewest and (settled or sum(seconds) > WARM_UP_SECONDS):
            break
    return Blocks(warm_up=tuple(seconds), calls=_calls(min(seconds)))


def block(call: Call, calls: int, threads: int) -> float:
    """Seconds per call, after one or two calls that find the caches and the heap as others left them."""
    watch = Timer("call()", globals={"call": call}, num_threads=threads)
    # For one call, timeit would make two before it, which is long; autorange to 0 seconds makes one.
    return float((watch.timeit(calls) if calls > 1 else watch.blocked_autorange(min_run_time=0)).median)


def _calls(seconds: float) -> int:
    """How many of this length make a block."""
    return max(1, round(BLOCK_SECONDS / seconds))


def expected(blocks: Blocks) -> float:
    """Wall-clock seconds of a block and the calls before it, estimated from the blocks so far."""
    return min(blocks.seconds or blocks.warm_up, default=0.0) * (blocks.calls + (2 if blocks.calls > 1 else 1))


@dataclass
class Patience:
    """What a whole run may spend on what was contended, so that a busy machine costs about half as much again at most.

    Attributes:
        left: seconds; a short run has a few from the start, else it would give up before it has earned any.
    """

    left: float = 3.0


def turn(
    blocks: Blocks,
    call: Call,
    number: int,
    threads: int,
    gate: Gate,
    patience: Patience,
    mode: Callable[[], Mode] = nullcontext,
) -> Iterator[Blocks]:
    """Measure round `number`: the blocks after each try, up to the first that nobody disturbed.

    It is tried again up to `TRIES` times in all, if there is patience left for it.

    Args:
        blocks: what there was before.
        call: what is timed.
        number: the round's.
        threads: torch's.
        gate: says whether anybody disturbed.
        patience: of the run; what first tries take adds to it, what others take is spent.
        mode: what the calls run in; whoever reads the generator is outside of it.
    """
    for attempt in range(TRIES):
        begin = timer()
        if attempt:
            time.sleep(PAUSE)
        with mode():
            seconds, stalled = gate.around(partial(block, call, blocks.calls, threads))
        took = timer() - begin
        patience.left += -took if attempt else AGAIN * took
        if stalled <= MOST_STALLED:
            every = (*blocks.seconds, seconds)
            # Warming up may have been contended: how long a call really takes, clean blocks know better.
            yield replace(blocks, seconds=every, rounds=(*blocks.rounds, number), calls=_calls(min(every)))
            return
        blocks = replace(
            blocks,
            contended=blocks.contended + 1,
            loaded=(*blocks.loaded, seconds),
            loaded_rounds=(*blocks.loaded_rounds, number),
        )
        yield blocks
        if patience.left < took:
            return
