"""The turns of a tab's page: it keeps its place while newer acts join, and gives it back at its end."""

import asyncio

import pytest

from tests.tfm_ui.loops import run
from tests.tfm_ui.server.test_page_runs import SCOPE
from tests.tfm_ui.visitors.test_rest import rerun, seed_of
from tfm_ui.server import page_turns
from tfm_ui.server.page_runs import PageRunsAtRest
from tfm_ui.server.page_turns import PageTurns
from tfm_ui.streamlit_private.protocol import ForwardMsg
from tfm_ui.visitors import metrics
from tfm_ui.visitors.compute_limiter import ComputeLimiter, Lane
from tfm_ui.visitors.metrics import told_of
from tfm_ui.visitors.turn import PAGES_HERE


@pytest.fixture
def limiter(monkeypatch) -> ComputeLimiter:
    """A limiter with one place for pages."""
    small = ComputeLimiter(pictures=1, pages=1, slow=1)
    monkeypatch.setattr("tfm_ui.server.page_turns.LIMITER", small)
    monkeypatch.setattr("tfm_ui.visitors.turn.LIMITER", small)
    return small


def pages(limiter: ComputeLimiter) -> tuple[int, int]:
    """How many pages run, and how many wait."""
    return limiter.load()[Lane.PAGES]


async def admitted(turns: PageTurns) -> bool:
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    return bool(turns.admitted and turns.admitted.done())


def test_acts_join_the_run_that_waits_which_keeps_its_place(limiter):
    async def crowd():
        taken = limiter.ask("192.0.2.1 nobody", Lane.PAGES)
        first, second = PageTurns("192.0.2.1 a"), PageTurns("192.0.2.1 b")
        first.put(rerun(seed=1))
        second.put(rerun(seed=1))
        for seed in range(2, 99):
            first.put(rerun(seed=seed))
        assert pages(limiter) == (1, 2)
        limiter.leave(taken)
        assert await admitted(first)
        assert not await admitted(second)
        return first.take()

    assert seed_of(run(crowd())) == [98]


def test_a_press_is_not_lost_in_a_newer_act(limiter):
    async def crowd():
        taken = limiter.ask("nobody", Lane.PAGES)
        turns = PageTurns("a")
        turns.put(rerun(seed=1, undo=None))
        turns.put(rerun(seed=2))
        turns.put(rerun(seed=3))
        limiter.leave(taken)
        assert await admitted(turns)
        return turns.take()

    assert seed_of(run(crowd())) == [1, 3]


def finished(how: int) -> bytes:
    message = ForwardMsg()
    message.script_finished = how
    return message.SerializeToString()


@pytest.mark.parametrize(
    ("how", "running"),
    [
        (ForwardMsg.FINISHED_SUCCESSFULLY, 0),
        (ForwardMsg.FINISHED_FRAGMENT_RUN_SUCCESSFULLY, 0),
        (ForwardMsg.FINISHED_WITH_COMPILE_ERROR, 0),
        (ForwardMsg.FINISHED_EARLY_FOR_RERUN, 1),  # the next run has begun in its place
    ],
)
def test_the_place_is_free_when_the_run_has_ended_or_the_tab_is_closed(limiter, how, running):
    noted, runs = [], told_of(metrics.PAGE_RUNS)["count"]

    async def app(scope, receive, send):
        await receive()
        noted.append(pages(limiter))
        await send({"type": "websocket.send", "bytes": finished(how)})
        noted.append(pages(limiter))

    async def receive():
        return {"type": "websocket.receive", "bytes": rerun(seed=1).SerializeToString()}

    async def send(message):
        pass

    run(PageRunsAtRest(app)(SCOPE, receive, send))
    assert noted == [(1, 0), (running, 0)]
    assert pages(limiter) == (0, 0)
    assert told_of(metrics.PAGE_RUNS)["count"] == runs + 1 - running, "a run that has come to its end is counted"


@pytest.mark.parametrize("begins", [True, False], ids=["it has begun", "Streamlit makes no run of it"])
def test_a_run_that_nobody_hears_of_again_does_not_keep_its_place(limiter, monkeypatch, begins):
    monkeypatch.setattr(page_turns, "LONGEST" if begins else "BEGINS", 0.1)
    monkeypatch.setattr(page_turns, "BEGINS" if begins else "LONGEST", 0.02 if begins else 60.0)

    async def silent():
        turns = PageTurns("a")
        turns.put(rerun(seed=1))
        assert await admitted(turns)
        turns.take()
        if begins:
            turns.runs_as("a session")
        await asyncio.sleep(0.05)
        early = pages(limiter)
        await asyncio.sleep(0.15)
        return early, pages(limiter)

    assert run(silent()) == ((1, 0), (0, 0))


def test_a_newer_run_ends_the_one_before_where_nobody_waits(limiter):
    async def acts():
        turns = PageTurns("a")
        turns.put(rerun(seed=1))
        assert await admitted(turns)
        turns.take()
        turns.put(rerun(seed=2))
        assert await admitted(turns)
        assert pages(limiter) == (1, 0)
        assert seed_of(turns.take()) == [2]
        assert pages(limiter) == (1, 0)
        turns.close()

    run(acts())
    assert pages(limiter) == (0, 0)


def test_while_others_wait_a_newer_run_waits_for_its_turn_and_a_closed_tab_waits_no_more(limiter):
    async def acts():
        turns, other = PageTurns("a"), PageTurns("b")
        turns.put(rerun(seed=1))
        assert await admitted(turns)
        turns.take()
        other.put(rerun(seed=1))
        turns.put(rerun(seed=2))
        assert pages(limiter) == (1, 2)
        turns.ended()
        assert await admitted(other)
        assert not await admitted(turns)
        turns.close()
        assert pages(limiter) == (1, 0)
        other.take()
        other.close()

    run(acts())
    assert pages(limiter) == (0, 0)


@pytest.mark.parametrize("known", [True, False], ids=["the session is known", "its first run"])
def test_a_page_that_goes_on_in_the_slow_lane_gives_its_place_back(limiter, known):
    async def slow():
        turns = PageTurns("a")
        if known:
            turns.runs_as("a session")
        turns.put(rerun(seed=1))
        assert await admitted(turns)
        turns.take()
        PAGES_HERE.go_slow("a session")
        if not known:
            turns.runs_as("a session")
        free = pages(limiter)
        turns.end()
        turns.put(rerun(seed=2))
        assert await admitted(turns)
        turns.take()
        turns.runs_as("a session")
        again = pages(limiter)
        turns.close()
        return free, again

    assert run(slow()) == ((0, 0), (1, 0))
