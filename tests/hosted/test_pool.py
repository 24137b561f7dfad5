"""The pool of worker processes: its answers are those of this process, whatever happens to a worker."""

import gzip
import itertools
import logging
import os
import signal
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial

import psutil
import pytest

from tests.hosted import waiting
from tests.hosted.waiting import until
from tests.tfm_ui.payloads import decode
from tfm_ui.jobs import sessions
from tfm_ui.jobs.job import Load
from tfm_ui.pictures.registry import PICTURES, WORDS, Asked, read, shows_jobs
from tfm_ui.server import pool as pool_module
from tfm_ui.server import pool_member
from tfm_ui.server.packed import AllFailed, packed
from tfm_ui.server.pool import Pool, Question
from tfm_ui.server.pool_worker import DeskProxy
from tfm_ui.visitors.compute_limiter import Lane, VisitorGone
from tfm_ui.visitors.turn import PicturesTurn, SlowLaneNeeded, Turn

SLOW = "seq_len=1024&d_model=256&num_layers=8&num_heads=16&text=%40faust"
MEDIUM = "seq_len=300&d_model=256&num_layers=8&num_heads=16&text=%40faust"


@pytest.fixture(scope="module")
def started() -> Iterator[Pool]:
    pool = Pool()
    pool.start(2)
    yield pool
    pool.close()


@pytest.fixture
def pool(started) -> Pool:
    """Two workers that can be asked, whatever a test before has done to them."""
    until(lambda: all(worker.alive for worker in started.status()))
    return started


@contextmanager
def standing_still(pool: Pool, *members: int) -> Iterator[None]:
    """These workers are under way with what they are asked in this block, until its end."""
    with waiting.standing_still([pool.status()[member].pid for member in members]):
        yield


@contextmanager
def question(
    names: str, query: str, *, heavy: bool = False, wanted: Callable[[], bool] = lambda: True
) -> Iterator[Question]:
    """A question in a turn that has begun."""
    turn = PicturesTurn("somebody", wanted, lane=Lane.SLOW if heavy else Lane.PICTURES)
    try:
        turn.wait()
        yield Question(turn, names.split("+"), query)
    finally:
        turn.end()


def answer(pool: Pool, names: str, query: str, *, heavy: bool = False) -> bytes:
    with question(names, query, heavy=heavy) as asked:
        try:
            return pool.ask(asked)
        except SlowLaneNeeded:
            asked.turn.ask_for_slow_lane()
            asked.turn.wait()
            return pool.ask(asked)


def here(names: str, query: str) -> bytes:
    turn = Turn("somebody")
    try:
        turn.wait()
        return packed(turn, names.split("+"), read(names.split("+"), query))
    finally:
        turn.end()


def busy(pool: Pool) -> Sequence[int]:
    return [worker.busy for worker in pool.status()]


def test_every_picture_is_the_same_bytes_as_here(pool):
    for name in PICTURES:
        assert answer(pool, name, "seed=3") == here(name, "seed=3"), name
    there = [name for name in PICTURES if not shows_jobs(name)]
    assert sum(worker.answered for worker in pool.status()) >= len(there) > len(PICTURES) / 2


@pytest.mark.parametrize("name", WORDS)
def test_words_are_the_same_as_here(pool, name):
    said, said_here = (places(ask(name, "seed=3")) for ask in (partial(answer, pool), here))
    assert said == said_here


def places(data: bytes) -> Mapping[str, object]:
    """What words say, without how long the pass took."""
    header, _ = decode(gzip.decompress(data)[4:])
    return {place: says for place, says in header["places"].items() if not place.startswith(("facts", "badge"))}


def test_two_workers_compute_at_the_same_time(pool):
    with ThreadPoolExecutor(2) as threads:
        with standing_still(pool, 0, 1):
            answers = [threads.submit(answer, pool, "heads+contribution", near_to(number)) for number in range(2)]
            until(lambda: busy(pool) == [1, 1])
        assert answers[0].result() != answers[1].result()


def test_questions_about_the_same_go_to_the_same_worker_if_it_is_free(pool):
    for near in (0, 1):
        before = [worker.answered for worker in pool.status()]
        for layer in range(3):
            answer(pool, "heads", f"{near_to(near)}&heads_layer={layer}")
        assert [now.answered - then for now, then in zip(pool.status(), before, strict=True)][near] == 3


def test_questions_that_show_no_model_go_to_the_same_worker_whatever_the_model(pool):
    before = pool.status()
    for near in (0, 1):
        answer(pool, "training_classify", near_to(near))
    assert sorted(now.answered - then.answered for now, then in zip(pool.status(), before, strict=True)) == [0, 2]


def near_to(worker: int) -> str:
    """A link to a model whose questions go to this one of two workers, if both are free."""
    links = (f"seed={seed}" for seed in itertools.count(3))
    return next(link for link in links if hash(Asked(link).model) % 2 == worker)


def test_slow_questions_leave_a_worker_to_the_quick_ones(pool):
    with ThreadPoolExecutor(1) as threads:
        with standing_still(pool, 0):
            slow = threads.submit(answer, pool, "heads", f"{SLOW}&seed=5", heavy=True)
            until(lambda: busy(pool) == [1, 0])
            before = pool.status()[1].answered
            for seed in range(6):
                answer(pool, "heads+head", f"seed={700 + seed}")
            assert pool.status()[1].answered == before + 6
            assert not slow.done()
        assert slow.result()


@pytest.mark.parametrize(
    ("names", "query"),
    [
        ("heads", f"{MEDIUM}&seed=8"),
        ("generate_write", "weights=lab-gpt&generate_steps=60"),  # only the worker can know this one
    ],
)
def test_what_turns_out_to_be_slow_is_told_and_is_computed_in_the_slow_lane(pool, names, query):
    with question(names, query) as asked:
        with pytest.raises(SlowLaneNeeded):
            pool.ask(asked)
        asked.turn.ask_for_slow_lane()
        asked.turn.wait()
        assert pool.ask(asked)
        assert asked.turn.ticket.lane is Lane.SLOW


def test_a_question_whose_worker_is_killed_is_asked_again(pool, caplog):
    before = pool.status()
    with caplog.at_level(logging.WARNING), ThreadPoolExecutor(1) as thread:
        with standing_still(pool, 0):
            asked = thread.submit(answer, pool, "heads", f"{MEDIUM}&seed=9", heavy=True)
            until(lambda: busy(pool)[0])
            os.kill(pool.status()[0].pid, signal.SIGKILL)
        assert asked.result() == here("heads", f"{MEDIUM}&seed=9")
        until(lambda: pool.status()[0].restarts > before[0].restarts)
    assert pool.status()[0].restarts == before[0].restarts + 1
    assert pool.status()[0].pid != before[0].pid
    assert "is replaced" in caplog.text


def test_a_worker_that_hangs_can_be_given_up(pool):
    with standing_still(pool, 0), ThreadPoolExecutor(1) as thread, question("heads", near_to(0)) as asked:
        answered = thread.submit(pool.ask, asked)
        until(lambda: asked in pool._asked)
        pool.give_up(asked)
        assert answered.result() == here("heads", near_to(0))
    until(lambda: all(worker.alive for worker in pool.status()))


@pytest.mark.parametrize("at_a_time", [1, 2])
def test_workers_that_are_killed_while_idle_cost_nobody_an_answer(pool, at_a_time):
    """Their keepers hear of it a moment later."""
    before = pool.status()
    for begin in range(0, 2, at_a_time):
        for worker in before[begin : begin + at_a_time]:
            os.kill(worker.pid, signal.SIGKILL)
        assert answer(pool, "heads", "seed=3") == here("heads", "seed=3")
    until(lambda: all(now.restarts > then.restarts for now, then in zip(pool.status(), before, strict=True)))


def test_workers_whose_end_is_heard_of_late_cost_nobody_an_answer(pool, monkeypatch):
    """A killed process closes its sockets first, and is listed as running until its memory has been given back."""
    runs, heard = pool_member._runs, {}

    def still_runs(process: psutil.Process) -> bool:
        return runs(process) or time.monotonic() < heard.setdefault(process.pid, time.monotonic() + 0.5)

    monkeypatch.setattr(pool_member, "_runs", still_runs)
    processes = [psutil.Process(worker.pid) for worker in pool.status()]
    for process in processes:
        process.kill()
    until(lambda: not any(map(runs, processes)))
    assert answer(pool, "heads", "seed=3") == here("heads", "seed=3")


def test_workers_outlive_the_process_from_which_they_were_forked_and_are_renewed_in_time(pool, monkeypatch):
    before = pool.status()
    (forks,) = pool_member._forks
    forks.kill()
    until(lambda: not pool_member._runs(forks))
    for link in map(near_to, range(2)):
        assert answer(pool, "heads", link) == here("heads", link)
    assert pool.status()[0].pid == before[0].pid
    os.kill(before[0].pid, signal.SIGKILL)
    until(lambda: pool.status()[0].restarts > before[0].restarts)
    assert [worker.alive for worker in pool.status()] == [True, True]
    assert pool.status()[1].pid == before[1].pid
    monkeypatch.setattr(pool_module, "IMPORTED", 3600.0)  # however long this machine took to get here
    pool.renew()
    assert pool.status()[1].pid == before[1].pid, "the new process may still import"
    monkeypatch.setattr(pool_module, "IMPORTED", 0.0)
    for _ in range(2):
        pool.renew()
        until(lambda: [worker.alive for worker in pool.status()] == [True, True])
    assert pool.status()[1].pid != before[1].pid, "it shared no memory with the others"
    assert [worker.restarts for worker in pool.status()] == [before[0].restarts + 1, before[1].restarts + 1]
    for link in map(near_to, range(2)):
        assert answer(pool, "heads", link) == here("heads", link)


def test_a_worker_that_is_killed_while_it_starts_is_started_again(pool, monkeypatch):
    tells = DeskProxy.pid
    lost: list[int] = []

    def tells_last_words_once(desk: DeskProxy) -> int:
        pid = tells(desk)
        if not lost:
            lost.append(pid)
            os.kill(pid, signal.SIGKILL)
            until(lambda: not psutil.pid_exists(pid))
        return pid

    before = pool.status()
    monkeypatch.setattr(DeskProxy, "pid", tells_last_words_once)
    os.kill(before[0].pid, signal.SIGKILL)
    until(lambda: pool.status()[0].restarts > before[0].restarts)
    assert lost
    assert pool.status()[0].pid not in (before[0].pid, *lost)
    assert answer(pool, "heads", "seed=5") == here("heads", "seed=5")


def test_who_leaves_is_not_computed_for(pool):
    with (
        ThreadPoolExecutor(1) as thread,
        question("heads+contribution+steps", f"{MEDIUM}&seed=10", heavy=True) as asked,
    ):
        computed = thread.submit(pool.ask, asked)
        until(lambda: pool.drop(asked) or computed.done())  # again, as what the worker has not begun is not dropped
        with pytest.raises(VisitorGone):
            computed.result()
    assert busy(pool) == [0, 0]


@pytest.mark.parametrize("jobs", [Load(), Load(running=1), Load(waiting=1)])
def test_while_jobs_are_under_way_their_pictures_are_computed_in_the_process_that_knows_of_them(
    pool, monkeypatch, jobs
):
    monkeypatch.setattr(sessions, "load", lambda: jobs)
    before = sum(worker.answered for worker in pool.status())
    assert shows_jobs("training_learn")
    assert shows_jobs("training.words")
    assert not shows_jobs("heads")
    assert answer(pool, "training_learn", "") == here("training_learn", "")
    assert sum(worker.answered for worker in pool.status()) == before + (jobs == Load())


def test_without_workers_this_process_computes():
    assert answer(Pool(), "heads", "seed=3") == here("heads", "seed=3")


def a_single_worker_answers_quick_questions_while_it_computes_a_slow_answer(single: Pool) -> None:
    """A quick question may take as long as a slow one on a busy machine, but not each time that both are asked."""
    assert any(a_quick_question_is_answered_first(single, seed) for seed in range(6, 12))


def a_quick_question_is_answered_first(single: Pool, seed: int) -> bool:
    """Whether a quick question is answered before the slow one that was asked earlier; both are new to the worker."""
    with ThreadPoolExecutor(1) as thread:
        slow = thread.submit(answer, single, "heads", f"{SLOW}&seed={seed}", heavy=True)
        until(lambda: busy(single) == [1])
        answer(single, "heads+head", f"seed={720 + seed}")
        is_first = not slow.done()
        assert slow.result()
    return is_first


def a_question_that_ends_two_workers_is_a_problem_and_other_questions_are_answered(
    lonely: Pool, caplog: pytest.LogCaptureFixture
) -> None:
    """The pool's worker was never replaced."""

    def is_asked(restarts: int) -> bool:
        return lonely.status()[0].restarts == restarts and poison in lonely._asked

    with (
        ThreadPoolExecutor(3) as threads,
        question("heads", f"{SLOW}&seed=77", heavy=True) as poison,
    ):
        failed = threads.submit(lonely.ask, poison)
        others = [threads.submit(answer, lonely, "heads+head", f"seed={800 + n}") for n in range(40)]
        for restarts in range(2):
            until(partial(is_asked, restarts))
            os.kill(lonely.status()[0].pid, signal.SIGKILL)
        with pytest.raises(AllFailed, match="under the reference"):
            failed.result()
        assert [other.result() for other in others] == [here("heads+head", f"seed={800 + n}") for n in range(40)]
    assert "two workers have ended" in caplog.text


def a_pool_that_is_closed_leaves_no_process(pool: Pool) -> None:
    until(lambda: all(worker.alive for worker in pool.status()))
    (worker,) = pool.status()
    os.kill(worker.pid, 0)
    pool.close()
    assert pool.status() == []
    until(lambda: not psutil.pid_exists(worker.pid))  # it has ended; who forked it reaps it a moment later


def test_a_pool_of_one_worker_is_quick_outlives_what_ends_it_and_leaves_nothing(caplog):
    """One pool for all three: to start one takes long, as torch is imported."""
    single = Pool()
    single.start(1)
    a_single_worker_answers_quick_questions_while_it_computes_a_slow_answer(single)
    a_question_that_ends_two_workers_is_a_problem_and_other_questions_are_answered(single, caplog)
    a_pool_that_is_closed_leaves_no_process(single)


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere workers are not forked")
def test_what_forks_workers_is_known_although_it_has_no_command_line_at_first(pool, monkeypatch):
    told = pool_member._forks_workers
    lines = itertools.count()
    monkeypatch.setattr(pool_member, "_forks_workers", lambda process: next(lines) > 9 and told(process))
    monkeypatch.setattr(pool_member, "_forks", [])
    pool_member.prepare()
    assert pool_member.forker() in {each.pid for each in psutil.Process().children() if told(each)}


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere workers are not forked")
def test_what_forks_workers_leaves_a_gpu_to_them(pool):
    """CUDA that has once been asked in a process cannot be used in those that are forked from it."""
    asked = [psutil.Process(worker.pid).environ() for worker in pool.status()]
    assert [each["PYTORCH_NVML_BASED_CUDA_CHECK"] for each in asked] == ["1", "1"]


def test_the_environment_is_as_before(monkeypatch):
    monkeypatch.setenv("OMP_NUM_THREADS", "3")
    monkeypatch.delenv("OPENBLAS_NUM_THREADS", raising=False)
    pool_member.prepare()
    assert os.environ["OMP_NUM_THREADS"] == "3"
    assert "OPENBLAS_NUM_THREADS" not in os.environ
