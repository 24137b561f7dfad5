"""How pages, pictures and downloads get a turn at the limiter."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from tfm_ui.visitors.compute_limiter import Busy, ComputeLimiter, Lane, VisitorGone
from tfm_ui.visitors.turn import Turn, turn_to_compute, use_turn

ROOT = Path(__file__).parents[3]


@pytest.fixture
def limiter(monkeypatch) -> ComputeLimiter:
    """A limiter with one place in each lane."""
    small = ComputeLimiter(pictures=1, pages=1, slow=1)
    monkeypatch.setattr("tfm_ui.visitors.turn.LIMITER", small)
    return small


def is_free(limiter: ComputeLimiter, lane: Lane = Lane.PICTURES) -> bool:
    ticket = limiter.ask("somebody", lane)
    limiter.leave(ticket)
    return ticket.admitted.done()


def test_a_block_has_a_place_and_gives_it_back_whatever_happens(limiter):
    def fail():
        with turn_to_compute():
            assert not is_free(limiter)
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    assert is_free(limiter)


def test_a_block_within_a_block_needs_no_second_place(limiter):
    with turn_to_compute() as outer, turn_to_compute() as inner:
        assert inner is outer


def test_what_turns_out_to_take_long_changes_the_lane(limiter):
    with turn_to_compute() as turn:
        with turn_to_compute(heavy=True):
            assert turn.ticket.lane is Lane.SLOW
            assert is_free(limiter)
            assert not is_free(limiter, Lane.SLOW)
        assert turn.ticket.lane is Lane.SLOW, "it goes on where it is"
    assert is_free(limiter, Lane.SLOW)


def test_threads_do_not_share_a_turn(limiter, monkeypatch):
    monkeypatch.setattr("tfm_ui.visitors.turn.PATIENCE", 0)
    with turn_to_compute(), ThreadPoolExecutor(1) as thread, pytest.raises(Busy, match="for its turn"):
        thread.submit(lambda: turn_to_compute().__enter__()).result()


def test_who_has_gone_does_not_go_on_and_no_longer_waits(limiter):
    here = [True]
    turn = Turn("a", lambda: here[0])
    turn.wait()
    waiting = Turn("b", lambda: here[0])
    here[0] = False
    with pytest.raises(VisitorGone):
        waiting.wait()
    waiting.end()
    with use_turn(turn), pytest.raises(VisitorGone), turn_to_compute():
        pass
    turn.end()
    assert is_free(limiter)


def test_a_slow_page_that_cannot_go_on_says_so_and_runs_when_it_can(limiter, monkeypatch):
    monkeypatch.setattr("tfm_ui.visitors.turn.PATIENCE", 0)
    taken = limiter.ask("another", Lane.SLOW)
    page = AppTest.from_file(str(ROOT / "app.py"), default_timeout=60)
    page.query_params |= {"num_layers": "8", "d_model": "256", "seq_len": "1024", "text": "a " * 1024}
    page.run()
    assert not page.exception
    assert "The server is busy" in page.warning[0].value
    limiter.leave(taken)
    page.run()
    assert "The server is busy" not in [warning.value for warning in page.warning]
    assert is_free(limiter, Lane.SLOW)


def test_what_is_slow_gives_its_memory_back_at_its_end_and_what_is_quick_does_not(limiter, monkeypatch):
    given = []
    monkeypatch.setattr("tfm_ui.visitors.turn.give_back", lambda: given.append("back"))
    with turn_to_compute():
        pass
    assert not given
    with turn_to_compute(heavy=True):
        assert not given
    assert len(given) == 1
