"""What a worker is asked: quick questions one after the other, slow ones beside them."""

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from tfm_ui.server.pool_worker import Desk


@pytest.mark.parametrize(("heavy", "at_once"), [(False, 1), (True, 2)])
def test_of_quick_questions_one_is_computed_at_a_time_and_a_slow_one_waits_for_none(heavy, at_once):
    begun, go_on = threading.Semaphore(0), threading.Event()

    def compute(turn, number):
        begun.release()
        assert go_on.wait(30)
        return number

    desk = Desk(compute)
    with ThreadPoolExecutor(2) as threads:
        answers = [
            threads.submit(desk.ask, 0, False, [0]),
            threads.submit(desk.ask, 1, heavy, [1]),
        ]
        assert begun.acquire(timeout=30)
        assert begun.acquire(timeout=30 if heavy else 0.2) == (at_once == 2)
        go_on.set()
        assert [answer.result(30) for answer in answers] == [0, 1]
