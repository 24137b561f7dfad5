"""How pages, pictures and downloads pass the gate."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from tfm_ui.visitors import admission
from tfm_ui.visitors.admission import Turn, admitted, within
from tfm_ui.visitors.gate import Busy, Gate, Gone

ROOT = Path(__file__).parents[3]


@pytest.fixture
def gate(monkeypatch) -> Gate:
    """A gate with one place in each lane."""
    small = Gate(light=1, heavy=1)
    monkeypatch.setattr(admission, "GATE", small)
    return small


def is_free(gate: Gate, *, heavy: bool = False) -> bool:
    ticket = gate.ask("somebody", heavy=heavy)
    gate.leave(ticket)
    return ticket.admitted.done()


def test_a_block_has_a_place_and_gives_it_back_whatever_happens(gate):
    def fail():
        with admitted():
            assert not is_free(gate)
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    assert is_free(gate)


def test_a_block_within_a_block_needs_no_second_place(gate):
    with admitted() as outer, admitted() as inner:
        assert inner is outer


def test_what_turns_out_to_take_long_changes_the_lane(gate):
    with admitted() as turn:
        with admitted(heavy=True):
            assert turn.ticket.heavy
            assert is_free(gate)
            assert not is_free(gate, heavy=True)
        assert turn.ticket.heavy, "it goes on where it is"
    assert is_free(gate, heavy=True)


def test_threads_do_not_share_a_turn(gate, monkeypatch):
    monkeypatch.setattr(admission, "PATIENCE", 0)
    with admitted(), ThreadPoolExecutor(1) as thread, pytest.raises(Busy, match="for its turn"):
        thread.submit(lambda: admitted().__enter__()).result()


def test_who_has_gone_does_not_go_on_and_no_longer_waits(gate):
    here = [True]
    turn = Turn("a", lambda: here[0])
    turn.wait()
    waiting = Turn("b", lambda: here[0])
    here[0] = False
    with pytest.raises(Gone):
        waiting.wait()
    waiting.end()
    with within(turn), pytest.raises(Gone), admitted():
        pass
    turn.end()
    assert is_free(gate)


def test_a_page_that_cannot_begin_says_so_and_runs_when_it_can(gate, monkeypatch):
    monkeypatch.setattr(admission, "PATIENCE", 0)
    taken = gate.ask("another")
    page = AppTest.from_file(str(ROOT / "app.py"), default_timeout=60).run()
    assert not page.exception
    assert "The server is busy" in page.warning[0].value
    gate.leave(taken)
    page.run()
    assert not page.warning
    assert is_free(gate)
