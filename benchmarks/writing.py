"""What a visitor of /heads feels of 30 others who write with Lab GPT: a tick of a slider beside them, over one alone.

All speak Streamlit's websocket and ask for pictures as browsers do (see `load`). Those who write have a text each, and
give the seed of their draws another value 1 to 2 seconds after 100 new tokens have come; the visitor of /heads moves
the seed of the weights. Phases in which the others rest and in which they write take turns, so that
changes of the machine's speed affect both alike.

`python -m benchmarks.writing --help` tells how to measure fewer, or for longer.
"""

import argparse
import asyncio
import logging
import os
import random
import signal
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field

from benchmarks.live.crowd import PAUSE, REST, Measured, Observed, move
from benchmarks.live.load_rows import DRIVER, ERRORS, MOVES, OTHERS, REFUSED, TableRow, percentile
from benchmarks.live.process_tree import ProcessTree
from benchmarks.live.serve import running_server
from benchmarks.live.visitor import PATIENCE, Visitor
from benchmarks.live.visitor_kept import Kept
from benchmarks.load import PRESET, PRESET_VARIABLE, as_hosted, print_rows
from benchmarks.measure import Figure, Figures, ratio

WRITERS, TOKENS = 30, 100
ROUNDS, SECONDS = 2, 15.0
ROUSED = 2.0  # seconds after which all of them write
BAR = 3.0  # times a tick alone
SEEDS = range(1, 10_000)

ALONE_50, ALONE_95 = (
    TableRow("a tick of /heads while nobody writes, p50"),
    TableRow("a tick of /heads while nobody writes, p95"),
)
BESIDE_50, BESIDE_95 = (
    TableRow("a tick of /heads while all write, p50"),
    TableRow("a tick of /heads while all write, p95"),
)
TIMES_50 = TableRow("a tick of /heads while all write over one while nobody does, p50", "times", "{:.2f}")
TIMES_95 = TableRow("a tick of /heads while all write over one while nobody does, p95", "times", "{:.2f}")
TEXT_50, TEXT_95 = TableRow("from a new seed to the new text and its words, p50"), TableRow("the same, p95")
TEXTS = TableRow("texts written each second", "", "{:.1f}")
A_TEXT = TableRow("processor time of a text, with the runs of its page")
ROWS = (
    ALONE_50, ALONE_95, BESIDE_50, BESIDE_95, TIMES_50, TIMES_95, TEXT_50, TEXT_95, TEXTS, A_TEXT, MOVES, REFUSED,
    ERRORS, DRIVER, OTHERS,
)  # fmt: skip
BARS = {TIMES_50: BAR, ERRORS: 0.0}
OF_ROW = {row: Figure(f"{WRITERS} write: {row.what}", "", row.unit, row.form) for row in ROWS[:-2]}
FIGURES = list(OF_ROW.values())


@dataclass
class Round:
    """What was seen of a phase in which nobody writes, and of the next, in which all do.

    Attributes:
        alone, beside: of the visitor of /heads in both, with what the server took.
        writers: of those who write.
        texts: seconds of each text that they had written.
    """

    alone: Observed = field(default_factory=Observed)
    beside: Observed = field(default_factory=Observed)
    writers: Kept = field(default_factory=Kept)
    texts: list[float] = field(default_factory=list)


def main(writers: int = WRITERS, rounds: int = ROUNDS, seconds: float = SECONDS) -> Figures:
    """Measure one server in turns.

    Args:
        writers: how many write.
        rounds: how often they do.
        seconds: how long each phase is.
    """
    as_hosted()
    with running_server() as (address, process):
        opening, done = asyncio.run(taking_turns(address, process, writers, rounds, seconds))
    values = values_of(done, opening)
    title = f"{writers} write {TOKENS} tokens and again, in {rounds} of {2 * rounds} phases of {seconds:g} s"
    print_rows(title, values, BARS, _errors(done, opening))
    return {OF_ROW[row]: value for row, value in values.items() if row in OF_ROW}


def links(writers: int) -> list[str]:
    """A link to Lab GPT's writing for each, whose text nobody else has."""
    return [
        f"/generate?weights=lab-gpt&generate_steps={TOKENS}&text=Captain+{number}+looked+at+the+sea%2C+and"
        for number in range(1, writers + 1)
    ]


async def taking_turns(
    address: str, process: int, writers: int, rounds: int, seconds: float
) -> tuple[Kept, list[Round]]:
    """What was seen while links were opened, and in each round."""
    chance, opening, done = random.Random(writers), Kept(), [Round() for _ in range(rounds)]
    async with AsyncExitStack() as stack:
        reader, *tabs = [await _opened(stack, address, link, opening) for link in ("/heads", *links(writers))]
        seeds, hands = new_seeds("seed"), [new_seeds("generate_seed", number) for number in range(writers)]
        for each in done:
            reader.kept = each.alone.kept
            with Measured(ProcessTree(process), each.alone):
                await move(reader, seeds, chance, until=time.perf_counter() + seconds)
                await reader.rest(REST)
            reader.kept, end = each.beside.kept, asyncio.Event()
            with Measured(ProcessTree(process), each.beside):
                async with asyncio.TaskGroup() as group:
                    for tab, hand in zip(tabs, hands, strict=True):
                        tab.kept = each.writers
                        group.create_task(_write(tab, hand, chance, end, each.texts))
                    await asyncio.sleep(ROUSED)
                    await move(reader, seeds, chance, until=time.perf_counter() + seconds)
                    end.set()
                    await reader.rest(REST)
    return opening, done


async def _opened(stack: AsyncExitStack, address: str, link: str, opening: Kept) -> Visitor:
    """A tab whose page is there: a server closes a connection on which nothing is asked for long."""
    tab = await stack.enter_async_context(Visitor(address, link, opening))
    await tab.open()
    return tab


def new_seeds(parameter: str, number: int = 0) -> Iterator[tuple[Mapping[str, str], bool]]:
    """Moves of the control to seeds that were never there, in an order that depends on the number."""
    return (({parameter: str(seed)}, False) for seed in random.Random(number).sample(SEEDS, len(SEEDS)))


async def _write(
    tab: Visitor,
    moves: Iterator[tuple[Mapping[str, str], bool]],
    chance: random.Random,
    end: asyncio.Event,
    texts: list[float],
) -> None:
    """A text comes at rest, with the page: whoever writes waits for it before asking for the next."""
    while True:
        await asyncio.sleep(chance.uniform(*PAUSE))
        if end.is_set():
            return
        begin = time.perf_counter()
        await tab.move(next(moves)[0])
        await tab.rest(PATIENCE)
        texts.append(time.perf_counter() - begin)


def _errors(rounds: Sequence[Round], opening: Kept) -> list[str]:
    kept = [opening, *(kept for each in rounds for kept in (each.alone.kept, each.beside.kept, each.writers))]
    return [error for each in kept for error in each.errors]


def values_of(rounds: Sequence[Round], opening: Kept) -> dict[TableRow, float]:
    """The numbers of all rounds; ratios are taken within each, and their median counts."""
    alone, beside, written = Observed(), Observed(), []
    for each in rounds:
        alone.add(each.alone)
        beside.add(each.beside)
        written += each.texts
    values: dict[TableRow, float] = {}
    for percent, row_alone, row_beside, row_times in (
        (50, ALONE_50, BESIDE_50, TIMES_50),
        (95, ALONE_95, BESIDE_95, TIMES_95),
    ):
        pairs = [
            (percentile(r.beside.kept.pictures, percent), percentile(r.alone.kept.pictures, percent)) for r in rounds
        ]
        values[row_alone] = 1000 * percentile(alone.kept.pictures, percent)
        values[row_beside] = 1000 * percentile(beside.kept.pictures, percent)
        values[row_times] = ratio(*zip(*pairs, strict=True)).median
    reader = alone.processor / alone.wall * beside.wall  # the visitor of /heads takes as much in both phases
    values |= {
        TEXT_50: 1000 * percentile(written, 50),
        TEXT_95: 1000 * percentile(written, 95),
        TEXTS: len(written) / beside.wall,
        A_TEXT: 1000 * (beside.processor - reader) / len(written),
        MOVES: sum(each.writers.moves for each in rounds),
        REFUSED: sum(k.refused for r in rounds for k in (r.alone.kept, r.beside.kept, r.writers)),
        ERRORS: len(_errors(rounds, opening)),
        DRIVER: 100 * beside.driver / beside.wall,
        OTHERS: 100 * beside.others / beside.wall,
    }
    return {row: values[row] for row in ROWS}


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.writing", description=(__doc__ or "").partition("\n")[0]
    )
    parser.add_argument("--writers", type=int, default=WRITERS)
    parser.add_argument("--rounds", type=int, default=ROUNDS, help="of a phase alone and one beside those who write")
    parser.add_argument("--seconds", type=float, default=SECONDS, help="of a phase")
    parser.add_argument("--preset", default=PRESET, help="the server's settings: local or hosted")
    asked = parser.parse_args()
    os.environ[PRESET_VARIABLE] = asked.preset
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # an exception, so that the server is ended
    logging.getLogger("streamlit").setLevel(logging.ERROR)  # it warns that there is no browser
    main(asked.writers, asked.rounds, asked.seconds)
