"""The visitors of the benchmarks at a real server: one who moves a control, and a few who write."""

import asyncio
import json

from benchmarks.live.load_rows import ERRORS
from benchmarks.live.process_tree import ProcessTree
from benchmarks.live.replicas import answer
from benchmarks.live.visitor import Visitor
from benchmarks.live.visitor_kept import Kept
from benchmarks.writing import A_TEXT, ALONE_50, BESIDE_50, TEXT_50, taking_turns, values_of


async def visit(address):
    kept = Kept()
    async with Visitor(address, "/heads?num_heads=8", kept) as visitor:
        await visitor.open()
        names = [shown.name for shown in visitor.page.pictures]
        await visitor.move({"seed": "55"})
        await visitor.rest(30)
        assert [shown.name for shown in visitor.page.pictures] == names
        assert all("seed=55" in shown.query for shown in visitor.page.pictures)
    return names, kept


def page_runs(address) -> int:
    _, told = answer(f"{address}/status", accepts="identity")
    return json.loads(told)["latency"]["page runs"]["count"]


def test_a_visitor_of_a_real_server_gets_pictures_and_page(served):
    address, process = served
    before, runs = ProcessTree(process).processor_seconds(), page_runs(address)
    names, kept = asyncio.run(visit(address))
    assert page_runs(address) >= runs + 2  # it was opened, and something was moved
    assert ProcessTree(process).processor_seconds() > before
    assert ProcessTree(process).memory() > 50
    assert {"heads", "head"} <= set(names)
    assert kept.errors == []
    assert (len(kept.openings), len(kept.pictures), len(kept.pages), kept.moves) == (1, 1, 1, 1)


def test_visitors_of_a_real_server_write_and_are_measured(served):
    opening, rounds = asyncio.run(taking_turns(*served, 2, 1, 2.5))
    values = values_of(rounds, opening)
    assert values[ERRORS] == 0
    assert len(rounds[0].texts) >= 2
    assert min(values[ALONE_50], values[BESIDE_50], values[TEXT_50], values[A_TEXT]) > 0
