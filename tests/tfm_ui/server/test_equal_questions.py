"""Equal questions of several visitors are computed once, and none of them is worse off for it."""

import asyncio
from collections.abc import Callable

import pytest

from tests.tfm_ui.loops import run
from tfm_ui.server import equal_questions
from tfm_ui.server.equal_questions import EqualQuestions
from tfm_ui.visitors.compute_limiter import Busy, ComputeLimiter, VisitorGone

NAMES = ["heads"]


@pytest.fixture
def limiter(monkeypatch) -> ComputeLimiter:
    """A limiter with one place for pictures, and room for one question of a visitor that waits."""
    small = ComputeLimiter(pictures=1, pages=1, slow=1, per_visitor=1)
    monkeypatch.setattr("tfm_ui.visitors.turn.LIMITER", small)
    return small


class Computed:
    """Computes answers in their turns, when it is told to."""

    def __init__(self) -> None:
        self.begun: list[str] = []
        self.may_end = asyncio.Event()

    def of(self, answer: str) -> Callable:
        async def compute(turn, nobody_waits):
            admitted = asyncio.wrap_future(turn.ticket.admitted)
            await asyncio.wait({admitted, nobody_waits}, return_when=asyncio.FIRST_COMPLETED)
            turn.check_wanted()
            self.begun.append(answer)
            await self.may_end.wait()
            return answer.encode()

        return compute


def ask(equal: EqualQuestions, visitor: str, query: str, compute: Callable, gone=None, names=NAMES) -> asyncio.Task:
    gone = gone or asyncio.get_running_loop().create_future()
    return asyncio.create_task(equal.answer(visitor, names, query, gone, compute))


async def soon() -> None:
    for _ in range(10):
        await asyncio.sleep(0)


def test_who_asks_for_what_is_being_computed_or_was_a_moment_ago_gets_the_same_answer(limiter):
    async def lecture():
        equal, computed = EqualQuestions(), Computed()
        tasks = [ask(equal, f"visitor {number}", "seed=3", computed.of("first")) for number in range(30)]
        other = ask(equal, "another", "seed=4", computed.of("other"))
        computed.may_end.set()
        answers = {await task for task in tasks}
        late = await ask(equal, "late", "seed=3", computed.of("again"))
        return answers | {late}, await other, computed.begun

    assert run(lecture()) == ({b"first"}, b"other", ["first", "other"])


def test_what_shows_jobs_is_computed_anew_once_it_has_been_answered(limiter):
    names = [name for name in equal_questions.shows_jobs.__globals__["PICTURES"] if equal_questions.shows_jobs(name)]

    async def twice():
        equal, computed = EqualQuestions(), Computed()
        computed.may_end.set()
        return [await ask(equal, "a", "", computed.of(answer), names=names[:1]) for answer in ("then", "now")]

    assert names
    assert run(twice()) == [b"then", b"now"]


def test_the_others_get_their_answer_if_the_first_has_gone_and_nothing_is_computed_if_all_have(limiter):
    async def leave():
        equal, computed = EqualQuestions(), Computed()
        taken = limiter.ask("nobody")
        gone = [asyncio.get_running_loop().create_future() for _ in range(3)]
        first, second = (
            ask(equal, name, "seed=3", computed.of("3"), left) for name, left in zip("ab", gone, strict=False)
        )
        alone = ask(equal, "c", "seed=5", computed.of("5"), gone[2])
        await soon()
        for left in (gone[0], gone[2]):
            left.set_result(None)
        await soon()
        assert not second.done()
        limiter.leave(taken)
        computed.may_end.set()
        return await asyncio.gather(first, second, alone, return_exceptions=True), computed.begun

    (first, second, alone), begun = run(leave())
    assert (type(first), second, type(alone)) == (VisitorGone, b"3", VisitorGone)
    assert begun == ["3"]
    assert not limiter._waiting


def test_what_several_wait_for_comes_in_the_earliest_of_their_turns(limiter):
    """Who asks with somebody that has had many turns does not wait for that visitor's next one."""

    async def lecture():
        equal, computed = EqualQuestions(), Computed()
        for _ in range(50):
            limiter.leave(limiter.ask("192.0.2.1 busy"))
        taken = limiter.ask("192.0.2.1 busy")
        with_busy = ask(equal, "192.0.2.1 busy", "seed=3", computed.of("of both"))
        other = ask(equal, "192.0.2.1 other", "seed=4", computed.of("of another"))
        await soon()
        with_new = ask(equal, "192.0.2.1 new", "seed=3", computed.of("never"))
        await soon()
        limiter.leave(taken)
        computed.may_end.set()
        await asyncio.gather(with_busy, other, with_new)
        return computed.begun

    assert "of both" in run(lecture())


def test_a_limit_of_who_asked_first_is_not_the_limit_of_the_others(limiter):
    async def flood():
        equal, computed = EqualQuestions(), Computed()
        taken = limiter.ask("nobody")
        waiting = ask(equal, "guest", "seed=1", computed.of("1"))
        await soon()
        refused, student = (
            ask(equal, "guest", "seed=2", computed.of("2")),
            ask(equal, "student", "seed=2", computed.of("2")),
        )
        await soon()
        limiter.leave(taken)
        computed.may_end.set()
        return await asyncio.gather(waiting, refused, student, return_exceptions=True)

    first, refused, second = run(flood())
    assert (first, type(refused), second) == (b"1", Busy, b"2")
