"""What a stranger's program can do to a server: it uses plain sockets, and Streamlit's websocket without a browser."""

import asyncio
import http.client
import json
import secrets
import socket
import threading
from collections.abc import Coroutine, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any, TypeVar
from urllib.parse import urlencode

import psutil
from websockets.asyncio.client import ClientConnection, connect

from benchmarks.live.process_tree import ProcessTree
from benchmarks.live.serve import running_server
from benchmarks.streamlit_private.protocol import STREAM, SUCCEEDED, asking, end_of_a_run
from tests.tfm_ui.cookies import cookie

T = TypeVar("T")

LARGEST = {"text": "@alice", "seq_len": 1024, "num_heads": 16, "num_layers": 8, "d_model": 256, "positional": "alibi"}
LARGE = LARGEST | {"seq_len": 256}


@dataclass(frozen=True)
class Server:
    """The app as a user starts it."""

    port: int
    pid: int

    @property
    def place(self) -> str:
        """Its host and its port."""
        return f"127.0.0.1:{self.port}"

    @property
    def memory(self) -> dict[str, int]:
        """The memory of all its processes together in bytes, now and at most since `forget_peaks`.

        What several of them share counts once. Each process's peak counts, as if all peaks had been at the same time.
        """
        now = most = 0
        for process in self.processes:
            with suppress(psutil.NoSuchProcess, FileNotFoundError):
                told = process.memory_full_info()
                status = Path(f"/proc/{process.pid}/status").read_text()
                peak = int(status.partition("VmHWM:")[2].split()[0]) * 1024
                now, most = now + told.pss, most + told.pss + max(peak - told.rss, 0)
        return {"now": now, "most": most}

    def forget_peaks(self) -> None:
        """The most memory that a process has had is what it has now, as Linux lets its user say."""
        for process in self.processes:
            with suppress(FileNotFoundError):
                Path(f"/proc/{process.pid}/clear_refs").write_text("5")

    @property
    def processes(self) -> list[psutil.Process]:
        """Its process, and all that this has started."""
        server = psutil.Process(self.pid)
        return [server, *server.children(recursive=True)]

    def ask(
        self, names: str, model: dict[str, object], *, visitor: str = "", within: float = 60, **headers: str
    ) -> tuple[int, bytes]:
        """Request pictures; return the answer's status and body, which begin within so many seconds."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=within)
        try:
            cookies = {"Cookie": cookie(visitor)} if visitor else {}
            connection.request("POST", f"/pictures/{names}", urlencode(model), cookies | headers)
            answer = connection.getresponse()
            return answer.status, answer.read()
        finally:
            connection.close()

    def get(self, path: str) -> tuple[int, str]:
        """The answer to a plain request: its status and its text."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        try:
            connection.request("GET", path)
            answer = connection.getresponse()
            return answer.status, answer.read().decode()
        finally:
            connection.close()

    @property
    def status(self) -> dict[str, Any]:
        """What it tells of itself."""
        return json.loads(self.get("/status")[1])

    @property
    def workers(self) -> list[dict[str, int]]:
        """The processes that compute its pictures."""
        return self.status["workers"]

    @property
    def lives(self) -> bool:
        """Whether its process is running."""
        return Path(f"/proc/{self.pid}").exists()

    def quiet_visitor(self, within: float = 60) -> None:
        """Check that another visitor gets pictures of the default model that are not cached, within so many seconds."""
        status, body = self.ask("heads+head", {"seed": secrets.randbelow(9999)}, visitor="quiet", within=within)
        assert (status, bool(body)) == (200, True)

    @property
    def cpu(self) -> float:
        """The processor time of all its processes, in seconds, which does not depend on how busy the machine is."""
        return ProcessTree(self.pid).processor_seconds()

    def question(self, names: str, model: dict[str, object], visitor: str = "", more: int = 0) -> bytes:
        """The bytes of a request. Its header announces `more` bytes that are missing."""
        body = urlencode(model)
        return (
            f"POST /pictures/{names} HTTP/1.1\r\nHost: 127.0.0.1:{self.port}\r\nCookie: {cookie(visitor)}\r\n"
            f"Content-Length: {len(body) + more}\r\n\r\n{body}"
        ).encode()

    def connect(self) -> socket.socket:
        """Open a plain connection."""
        return socket.create_connection(("127.0.0.1", self.port), timeout=30)

    @contextmanager
    def tabs(self, page: str, models: list[dict[str, object]], *, visitors: int = 1) -> Iterator["Tabs"]:
        """Open a tab for each model; all stay open until the block ends."""
        tabs = Tabs(self, page, models, visitors)
        try:
            yield tabs
        finally:
            tabs.close()


@contextmanager
def attacked(settings: Mapping[str, str] = MappingProxyType({}), log: Path | None = None) -> Iterator[Server]:
    """A server that nobody has visited yet; it logs into the file `log`."""
    with running_server(settings=settings, log=log) as (address, pid):
        yield Server(int(address.rpartition(":")[2]), pid)


class Tabs:
    """Open tabs: websockets that have asked for a page."""

    def __init__(self, server: Server, page: str, models: list[dict[str, object]], visitors: int) -> None:
        # A loop in a new thread, because the browser tests leave a loop in the main thread.
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()
        self._server, self._page = server, page
        self._sockets: list[ClientConnection] = self._do(self._open(models, visitors))

    def _do(self, what: Coroutine[Any, Any, T]) -> T:
        return asyncio.run_coroutine_threadsafe(what, self._loop).result()

    async def _open(self, models: list[dict[str, object]], visitors: int) -> list[ClientConnection]:
        return list(await asyncio.gather(*(self._tab(m, f"visitor-{i % visitors}") for i, m in enumerate(models))))

    async def _tab(self, model: dict[str, object], visitor: str) -> ClientConnection:
        url = f"ws://127.0.0.1:{self._server.port}{STREAM}"
        tab = await connect(url, additional_headers={"Cookie": cookie(visitor)}, max_size=None)
        await tab.send(asking(self._page, urlencode(model)))
        return tab

    def wait(self) -> int:
        """Wait until all pages have run; return how many ended without an error."""
        return sum(self._do(self._all_run()))

    async def _all_run(self) -> list[bool]:
        return list(await asyncio.gather(*map(self._run, self._sockets)))

    @staticmethod
    async def _run(tab: ClientConnection) -> bool:
        async with asyncio.timeout(90):
            while True:
                if (how := end_of_a_run(await tab.recv())) is not None:
                    return how == SUCCEEDED

    def close(self) -> None:
        """Close all tabs."""
        self._do(self._leave())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    async def _leave(self) -> None:
        await asyncio.gather(*(tab.close() for tab in self._sockets))
