"""What watches over the server's processes: with workers that the test makes up."""

import asyncio

import pytest

from tfm_ui.server import liveness, watch
from tfm_ui.server.watch import GIVES_UP, NOTICED, Watch


class Watched(Watch):
    """Two workers, both alive until the test says otherwise."""

    def __init__(self) -> None:
        self.alive = [True, True]
        self.ended: list[int] = []
        self.forks = 0
        super().__init__(lambda: self.alive, self.fork, self.ended.append)

    def fork(self) -> None:
        self.forks += 1

    def looks(self, count: int) -> None:
        for _ in range(count):
            self.look()


def test_the_process_from_which_workers_are_forked_is_started_unless_it_runs():
    watched = Watched()
    watched.looks(3)
    assert (watched.forks, watched.problem, watched.ended) == (3, "", [])


def test_a_worker_that_lives_is_enough():
    watched = Watched()
    watched.alive = [False, True]
    watched.looks(GIVES_UP)
    assert (watched.problem, watched.ended) == ("", [])


def test_without_workers_the_server_says_so_and_at_last_ends():
    watched = Watched()
    watched.alive = [False, False]
    watched.looks(NOTICED - 1)
    assert watched.problem == ""
    watched.look()
    assert watched.problem == "No worker process could be asked for 10 seconds."
    watched.looks(GIVES_UP - NOTICED - 1)
    assert watched.ended == []
    watched.look()
    assert watched.ended == [1]


def test_a_worker_that_comes_again_is_enough():
    watched = Watched()
    watched.alive = [False, False]
    watched.looks(GIVES_UP - 1)
    watched.alive = [True, False]
    watched.look()
    watched.alive = [False, False]
    watched.looks(GIVES_UP - 1)
    assert watched.ended == []


def test_a_server_that_computes_by_itself_needs_no_workers():
    watched = Watched()
    watched.alive = []
    watched.looks(GIVES_UP)
    assert (watched.forks, watched.ended) == (0, [])


def test_what_goes_wrong_with_a_look_does_not_end_the_watch(monkeypatch, caplog):
    watched = Watched()
    monkeypatch.setattr(watch, "CHECK_SECONDS", 0.001)

    def fails() -> None:
        watched.forks += 1
        if watched.forks == 3:
            watched.close()
        raise OSError("no memory")

    monkeypatch.setattr(watched, "_look_after", fails)
    watched._go_on()
    assert watched.forks == 3
    assert caplog.text.count("could not be looked after") == 3


@pytest.mark.parametrize(("lives", "status"), [(True, 200), (False, 503)])
def test_liveness_tells_of_workers(monkeypatch, lives, status):
    watched = Watched()
    watched.alive = [lives]
    watched.looks(NOTICED)
    monkeypatch.setattr(liveness, "WATCH", watched)
    assert asyncio.run(liveness.live(None)).status_code == status
