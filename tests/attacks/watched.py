"""Whoever watches a server is answered while all that it can compute is taken, and reads nothing that was typed."""

import time
import urllib.request
from concurrent.futures import ThreadPoolExecutor

from tests.attacks.strangers import LARGE, Server

TYPED = "xylophone"  # what a visitor has typed
EACH = 5  # pictures that two visitors ask for at once: one is computed, and three wait


def what_is_typed_is_answered(server: Server) -> None:
    assert server.ask("heads+head", {"text": TYPED})[0] == 200
    assert server.ask(f"nonsense-{TYPED}", {"text": TYPED})[0] == 404
    assert server.get(f"/{TYPED}?text={TYPED}")[0] == 200


def watchers_come_before_pictures(server: Server) -> None:
    """Watchers are answered before those pictures that take all lanes. None but the typed was asked for before."""
    with ThreadPoolExecutor(2 * EACH) as threads:
        slow = [threads.submit(server.ask, "heads+head", LARGE | {"seed": seed}, visitor="a") for seed in range(EACH)]
        quick = [threads.submit(server.ask, "heads+head", {"seed": seed}, visitor="b") for seed in range(EACH)]
        while (told := server.status)["queues"]["slow computations"]["waiting"] < 3:
            assert not all(answer.done() for answer in slow), "the slow pictures were done before anybody waited"
            time.sleep(0.01)
        assert server.get("/live") == (200, "alive")
        assert server.get("/ready") == (200, '{"ready":true}')
        assert sum(not answer.done() for answer in slow) > 2
        assert told["queues"]["slow computations"]["running"] == 1
        assert {answer.result()[0] for answer in (*slow, *quick)} == {200}
    told = server.status
    assert told["queues"]["slow computations"] == {"running": 0, "waiting": 0}
    assert told["latency"]["pictures"]["count"] == 1 + 2 * EACH
    assert told["latency"]["pictures"]["p50_within_ms"] < told["latency"]["pictures"]["p95_within_ms"]


def figures_are_handed_out_at_their_own_address_alone(server: Server, place: str) -> None:
    """The figures hold nothing of what was typed, and the address that visitors know has none of them."""
    with urllib.request.urlopen(f"http://{place}/metrics", timeout=20) as answer:
        told = answer.read().decode()
    assert f"attention_lab_pictures_seconds_count {1 + 2 * EACH}.0\n" in told
    assert 'attention_lab_answers_total{route="/pictures/{names}",status="404"} 1.0\n' in told
    assert 'attention_lab_worker_up{worker="0"} 1.0\n' in told
    assert TYPED not in told
    assert server.get("/_stcore/metrics")[0] == 404
    assert "attention_lab" not in server.get("/metrics")[1]
