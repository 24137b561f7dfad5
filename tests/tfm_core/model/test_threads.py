"""One model, many threads: each sees its own pass and nobody else's."""

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import torch

from tests.tfm_core.toys import VOCAB, build
from tfm_core import recording

THREADS, PASSES, EDITED = 8, 80, 40  # a listener that the threads share is found within 25


def own_ids(thread):
    """A text for each thread, the lengths differing too."""
    return torch.arange(3 + thread).add(thread).remainder(VOCAB - 1).add(1)[None]


def together(work):
    """Let all threads start at once; each one's result."""
    barrier = Barrier(THREADS)

    def start(thread):
        barrier.wait(timeout=30)
        with torch.no_grad():
            return work(thread)

    with ThreadPoolExecutor(THREADS) as pool:
        return list(pool.map(start, range(THREADS)))


def test_no_recording_ever_sees_another_thread_s_pass():
    model = build(num_layers=1)
    expected = []
    with torch.no_grad():
        for thread in range(THREADS):
            with recording() as trace:
                model(own_ids(thread))
            expected.append(dict(trace))

    def foreign_passes(thread):
        wrong = 0
        for _ in range(PASSES):
            with recording() as trace:
                model(own_ids(thread))
            wrong += any(not torch.equal(trace[site], tensor) for site, tensor in expected[thread].items())
        return wrong

    assert together(foreign_passes) == [0] * THREADS


def test_an_edit_stays_on_its_thread_and_a_thread_without_recording_is_not_recorded():
    model = build(num_layers=1)
    ids = own_ids(0)
    with torch.no_grad():
        plain = model(ids)

    def wrong_logits(thread):
        wrong = 0
        for _ in range(EDITED):
            if thread % 2:
                with recording("logits", {"logits": lambda x: x * 0 + thread}) as trace:
                    model(ids)
                wrong += not bool((trace["logits"] == thread).all())
            else:
                wrong += not torch.equal(model(ids), plain)
        return wrong

    with recording() as outside:
        assert together(wrong_logits) == [0] * THREADS
    assert len(outside) == 0
