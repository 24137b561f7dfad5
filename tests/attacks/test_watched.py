"""Whoever watches a server is answered while all that it can compute is taken: on a running server with JSON logs."""

import http.client
import json
import subprocess
import sys
import time
import urllib.request
from concurrent.futures import ThreadPoolExecutor

from benchmarks.live.serve import ROOT, running_server
from tests.attacks import forwarded
from tests.attacks.forwarded import a_proxy_is_believed_if_the_setting_names_its_address_and_nobody_else_is
from tests.attacks.strangers import LARGE, Server
from tests.tfm_ui.store.redis_server import free_port

SETTINGS = {"ATTENTION_LAB_WORKERS": "1", "ATTENTION_LAB_LOGS": "json"} | forwarded.SETTINGS
TYPED = "xylophone"  # what a visitor has typed
EACH = 8  # pictures that two visitors ask for at once


def get(server: Server, path: str) -> tuple[int, str]:
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)
    try:
        connection.request("GET", path)
        answer = connection.getresponse()
        return answer.status, answer.read().decode()
    finally:
        connection.close()


def watchers_come_before_pictures(watched: Server) -> None:
    """Watchers are answered before those pictures that take all lanes."""
    with ThreadPoolExecutor(16) as threads:
        slow = [threads.submit(watched.ask, "heads+head", LARGE | {"seed": seed}, visitor="a") for seed in range(EACH)]
        quick = [threads.submit(watched.ask, "heads+head", {"seed": seed}, visitor="b") for seed in range(EACH)]
        while (told := json.loads(get(watched, "/status")[1]))["queues"]["slow computations"]["waiting"] < 3:
            assert not all(answer.done() for answer in slow), "the slow pictures were done before anybody waited"
            time.sleep(0.01)
        assert get(watched, "/live") == (200, "alive")
        assert get(watched, "/ready") == (200, '{"ready":true}')
        assert sum(not answer.done() for answer in slow) > 2
        assert told["queues"]["slow computations"]["running"] == 1
        assert {answer.result()[0] for answer in (*slow, *quick)} == {200}
    told = json.loads(get(watched, "/status")[1])
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
    assert get(server, "/_stcore/metrics")[0] == 404
    assert "attention_lab" not in get(server, "/metrics")[1]


def what_is_typed_is_answered(server: Server) -> None:
    assert server.ask("heads+head", {"text": TYPED})[0] == 200
    assert server.ask(f"nonsense-{TYPED}", {"text": TYPED})[0] == 404
    assert get(server, f"/{TYPED}?text={TYPED}")[0] == 200


def test_a_server_answers_watchers_first_believes_the_proxy_that_it_knows_and_logs_nothing_that_was_typed(capfd):
    place = f"127.0.0.1:{free_port()}"
    with running_server(settings=SETTINGS | {"ATTENTION_LAB_METRICS": place}) as (address, pid):
        server = Server(int(address.rpartition(":")[2]), pid)
        what_is_typed_is_answered(server)
        watchers_come_before_pictures(server)
        figures_are_handed_out_at_their_own_address_alone(server, place)
        a_proxy_is_believed_if_the_setting_names_its_address_and_nobody_else_is(address.removeprefix("http://"))
    lines = capfd.readouterr().err.splitlines()
    logged = [json.loads(line) for line in lines]
    routes = [line["route"] for line in logged if line["logger"] == "tfm_ui.server.requests_log"]
    assert routes.count("/pictures/{names}") == 2 + 2 * EACH
    assert len({line["request"] for line in logged if "request" in line}) >= 3
    assert TYPED not in "".join(lines)


def test_a_server_with_a_setting_that_cannot_be_does_not_start():
    ended = subprocess.run(
        [sys.executable, "-c", "import tfm_ui.settings"],
        cwd=ROOT,
        env={"ATTENTION_LAB_MAX_TOKENS": "many"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == 1
    assert ended.stderr == "ATTENTION_LAB_MAX_TOKENS: expected a whole number from 16 to 1024, got 'many'.\n"
