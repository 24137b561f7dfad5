"""The figures for a Prometheus server: at an address of their own, of everything, and of no visitor."""

import asyncio
import socket
import urllib.error
import urllib.request
from dataclasses import fields
from functools import partial

import pytest
from prometheus_client.parser import text_string_to_metric_families
from starlette.applications import Starlette
from starlette.testclient import TestClient

from tfm_ui.server import asgi, figures
from tfm_ui.server.figures import served
from tfm_ui.server.pool import Pool, Status
from tfm_ui.settings import Settings
from tfm_ui.store import shared
from tfm_ui.visitors.turn import too_long

OURS = "attention_lab_"
# Label -> what it may say, if that is a short list; the others are patterns of routes and names of programs.
LIMITS = {field.name for field in fields(Settings)} | {"seconds_waited", "jobs", "room_codes", "room_acts"}
EXPECTED = {
    "page_run_seconds",
    "page_errors",
    "pictures_seconds",
    "answers",
    "refused",
    "tabs",
    "running",
    "waiting",
    "worker_up",
    "worker_busy",
    "worker_restarts",
    "worker_answered",
    "processes",
    "rss_bytes",
    "pss_bytes",
    "memory_limit_bytes",
    "job_worker_ready",
    "store_up",
}


def told(port: int) -> dict[str, dict[tuple[tuple[str, str], ...], float]]:
    """Sample -> its labels -> its value, as a Prometheus server reads them."""
    text = urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=20).read().decode()
    samples: dict[str, dict[tuple[tuple[str, str], ...], float]] = {}
    for family in text_string_to_metric_families(text):
        for sample in family.samples:
            samples.setdefault(sample.name, {})[tuple(sorted(sample.labels.items()))] = sample.value
    return samples


def test_they_tell_of_queues_processes_tabs_refusals_and_times(monkeypatch):
    workers = [Status(1, True, 2, 30, 4), Status(5, False, 6, 7, 0)]
    monkeypatch.setattr(Pool, "status", lambda _: workers)
    monkeypatch.setattr(shared, "problem", lambda: "It is away.")
    assert TestClient(Starlette(routes=asgi.ROUTES, middleware=asgi.MIDDLEWARE)).get("/live").status_code == 200
    assert "has waited" in str(too_long())  # what was never counted is not told
    with served("127.0.0.1:0") as port:
        samples = told(port)
    names = {name.removeprefix(OURS).removesuffix("_total").removesuffix("_bucket") for name in samples}
    assert names >= EXPECTED
    assert samples[f"{OURS}worker_up"] == {(("worker", "0"),): 1, (("worker", "1"),): 0}
    assert samples[f"{OURS}worker_restarts_total"] == {(("worker", "0"),): 2, (("worker", "1"),): 6}
    assert samples[f"{OURS}worker_answered_total"][("worker", "0"),] == 30
    assert samples[f"{OURS}store_up"] == {(): 0}
    queues = {dict(labels)["queue"] for labels in samples[f"{OURS}waiting"]}
    assert queues == {"pictures", "pages", "slow computations", "measurements and trainings"}
    memory = samples[f"{OURS}rss_bytes"]
    assert 50e6 < sum(memory.values()) < samples[f"{OURS}memory_limit_bytes"][()]
    assert memory.keys() == samples[f"{OURS}processes"].keys()


def test_nothing_of_a_visitor_is_in_a_label():
    with served("127.0.0.1:0") as port:
        samples = told(port)
    labels = {(key, value) for by_labels in samples.values() for each in by_labels for key, value in each}
    values = {key: {value for other, value in labels if other == key} for key, _ in labels}
    versions = {"torch", "streamlit", "plotly", "python", "attention_lab"}
    assert values.keys() <= {"limit", "status", "route", "queue", "worker", "program", "le"} | versions
    assert values.get("limit", set()) <= LIMITS
    assert all(status.isdigit() for status in values.get("status", ()))


def test_without_an_address_nobody_is_told_and_the_apps_own_address_never_tells():
    with served("") as port:
        assert port == 0
    client = TestClient(Starlette(routes=asgi.ROUTES))
    assert client.get("/metrics").status_code == 404


def test_an_address_that_cannot_be_had_ends_the_start_with_the_settings_name():
    with socket.create_server(("127.0.0.1", 0)) as taken:
        address = f"127.0.0.1:{taken.getsockname()[1]}"
        with (
            pytest.raises(ValueError, match="ATTENTION_LAB_METRICS: expected an address of this machine"),
            served(address),
        ):
            pass
    with served(address) as port:  # given back, and free again afterwards
        assert told(port)
    with pytest.raises(urllib.error.URLError):
        told(port)


def test_a_server_without_its_figures_ends_with_one_sentence(monkeypatch, caplog):
    async def begin_and_end() -> None:
        async with asgi.lifespan(None):
            pass

    def leave(code):
        raise InterruptedError(code)

    monkeypatch.setattr(asgi, "leave", leave)
    with socket.create_server(("127.0.0.1", 0)) as taken:
        monkeypatch.setattr(asgi, "served", partial(served, f"127.0.0.1:{taken.getsockname()[1]}"))
        with pytest.raises(InterruptedError, match=r"^1$"):
            asyncio.run(begin_and_end())
    (told,) = [record for record in caplog.records if record.name == asgi.__name__]
    assert told.getMessage().startswith("ATTENTION_LAB_METRICS: expected an address of this machine")
    assert told.exc_info is None


@pytest.mark.parametrize("raw", ["", "127.0.0.1:9464", "[::1]:9464", "metrics.lab:80", "0.0.0.0:65535"])
def test_an_address_is_nothing_or_a_host_and_a_port(raw):
    assert figures.ENTRIES["metrics"].read(raw) == raw


@pytest.mark.parametrize("raw", ["9464", "x", "127.0.0.1:0", "a:99999", "http://a:1", "a:1/metrics", "a:1\n", "u@a:1"])
def test_what_is_no_address_is_refused_by_name(raw):
    with pytest.raises(ValueError, match="ATTENTION_LAB_METRICS: expected nothing, or an address and a port"):
        figures.ENTRIES["metrics"].read(raw)
