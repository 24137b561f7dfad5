"""The figures of the server for a Prometheus server: at an address of their own, which the setting METRICS names.

They are counted and timed where it happens (tfm_ui/visitors/metrics.py), or looked at when somebody asks for them.
"""

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from urllib.parse import urlsplit

from prometheus_client import start_http_server
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, InfoMetricFamily, Metric
from prometheus_client.registry import Collector

from tfm_ui.jobs import sessions
from tfm_ui.server import processes
from tfm_ui.server.load import queues, versions
from tfm_ui.server.pool import POOL
from tfm_ui.settings import ENTRIES, SETTINGS
from tfm_ui.store import shared
from tfm_ui.visitors import metrics


class ServerCollector(Collector):
    """What is looked at when somebody asks: queues, processes, the store."""

    def collect(self) -> Iterator[Metric]:
        """The figures as they are now."""
        labels = {name.lower().replace(" ", "_"): version for name, version in versions().items()}
        yield InfoMetricFamily("attention_lab", "Versions of what runs.", value=labels)
        yield from self._queues()
        yield from self._workers()
        yield from self._memory()
        job_worker = sessions.load()
        yield _gauge("job_worker_ready", "Whether the process that measures and trains can be asked.", job_worker.ready)
        yield _gauge("store_up", "Whether what servers share can be reached.", not shared.problem())

    def _queues(self) -> Iterator[Metric]:
        for state in ("running", "waiting"):
            words = f"Computations that are {state}, by queue."
            family = GaugeMetricFamily(f"attention_lab_{state}", words, labels=["queue"])
            for queue, load in queues().items():
                family.add_metric([queue], load[state])
            yield family

    def _workers(self) -> Iterator[Metric]:
        alive = GaugeMetricFamily("attention_lab_worker_up", "Whether the process can be asked.", labels=["worker"])
        busy = GaugeMetricFamily("attention_lab_worker_busy", "Questions that it answers now.", labels=["worker"])
        restarts = CounterMetricFamily(
            "attention_lab_worker_restarts", "Processes that were replaced.", labels=["worker"]
        )
        answered = CounterMetricFamily(
            "attention_lab_worker_answered", "Questions that it is done with.", labels=["worker"]
        )
        for number, worker in enumerate(POOL.status()):
            alive.add_metric([str(number)], worker.alive)
            busy.add_metric([str(number)], worker.busy)
            restarts.add_metric([str(number)], worker.restarts)
            answered.add_metric([str(number)], worker.answered)
        yield from (alive, busy, restarts, answered)

    def _memory(self) -> Iterator[Metric]:
        rss, pss, count = Counter[str](), Counter[str](), Counter[str]()
        for process in processes.of_server(worker.pid for worker in POOL.status() if worker.alive):
            rss[process.command] += process.rss
            pss[process.command] += process.pss
            count[process.command] += 1
        yield _by_program("processes", "Processes of the server, by what they run.", count)
        yield _by_program("rss_bytes", "Their memory; what several share counts in each of them.", rss)
        yield _by_program("pss_bytes", "Their memory; of what several share each counts its part.", pss)
        yield _gauge("memory_limit_bytes", "What all processes together may take.", processes.limit())


def _gauge(name: str, words: str, value: float) -> Metric:
    return GaugeMetricFamily(f"attention_lab_{name}", words, value=value)


def _by_program(name: str, words: str, values: Counter[str]) -> Metric:
    family = GaugeMetricFamily(f"attention_lab_{name}", words, labels=["program"])
    for program, value in values.items():
        family.add_metric([program], value)
    return family


metrics.REGISTRY.register(ServerCollector())


@contextmanager
def served(address: str = SETTINGS.metrics) -> Iterator[int]:
    """Hand the figures out to whoever asks for them at this address, in the block; yield the port, 0 if there is none.

    Args:
        address: such as "127.0.0.1:9464"; "" for nobody.

    Raises:
        ValueError: if this machine has no such address, or the port is taken.
    """
    if not address:
        yield 0
        return
    place = urlsplit(f"//{address}")
    try:
        server, thread = start_http_server(place.port or 0, place.hostname or "", metrics.REGISTRY)
    except OSError as error:
        expected = "an address of this machine with a free port"
        raise ValueError(f"{ENTRIES['metrics'].variable}: expected {expected}, got {address!r} ({error})") from None
    try:
        yield server.server_port
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
