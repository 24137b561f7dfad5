"""What strangers' programs do to a server, for the soak: each attack takes a few seconds, and ends by itself.

The attackers say that they come from another network address than the visitors, as a proxy on this machine would.
"""

import asyncio
import secrets
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from urllib.parse import urlencode

import aiohttp

from benchmarks.streamlit_private.protocol import STREAM, UPLOADS, asking
from tfm_ui.visitors.visitor import COOKIE

PATIENCE = 90.0  # seconds that an attacker waits for an answer
FROM = {"X-Forwarded-For": "203.0.113.9"}  # of documentation (RFC 5737): nobody's
LARGEST = {"text": "@alice", "seq_len": 256, "num_heads": 8, "num_layers": 6, "d_model": 256}  # of a hosted server
DEEPEST = LARGEST | {"model_view": "depth", "model_depth": 48, "d_ff": 1024, "activation": "swiglu"}

Attack = Callable[["Stranger"], Awaitable[None]]


class Stranger:
    """A program that attacks.

    Args:
        host: of the server.
        port: of the server.

    Attributes:
        statuses: status of HTTP -> how many answers had it.
    """

    def __init__(self, host: str, port: int) -> None:
        self.host, self.port = host, port
        self.statuses: Counter[int] = Counter()

    async def ask(self, http: aiohttp.ClientSession, path: str, link: Mapping[str, object], **more: str) -> None:
        """Ask for pictures as a visitor who is new each time."""
        cookie = {"Cookie": f"{COOKIE}=2|00|{secrets.token_hex(8)}|1"}
        with suppress(aiohttp.ClientError, TimeoutError):
            question = http.post(f"{self.address}{path}", data=urlencode(link), headers=FROM | cookie | more)
            async with question as answer:
                await answer.read()
                self.statuses[answer.status] += 1

    @property
    def address(self) -> str:
        """The server's address."""
        return f"http://{self.host}:{self.port}"

    def session(self) -> aiohttp.ClientSession:
        """Connections of their own."""
        return aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=PATIENCE), cookie_jar=aiohttp.DummyCookieJar())

    async def send(self, data: bytes, *, reads: bool = True) -> None:
        """Send bytes over a plain connection; the server may close it."""
        with suppress(OSError, TimeoutError):
            reader, writer = await asyncio.open_connection(self.host, self.port)
            with suppress(OSError):
                writer.write(data)
                await asyncio.wait_for(writer.drain(), PATIENCE)
                if reads:
                    await asyncio.wait_for(reader.read(100), PATIENCE)
            writer.close()

    async def tab(self, http: aiohttp.ClientSession, first: bytes | str | None, seconds: float) -> None:
        """Open a websocket, send a first message, and stay so long, unless the server closes it."""
        headers = FROM | {"Cookie": f"{COOKIE}=2|00|{secrets.token_hex(8)}|1"}
        with suppress(aiohttp.ClientError, TimeoutError, ConnectionError):
            async with http.ws_connect(f"{self.address}{STREAM}", headers=headers, max_msg_size=0) as tab:
                if isinstance(first, str):
                    await tab.send_str(first)
                elif first:
                    await tab.send_bytes(first)
                async with asyncio.timeout(seconds):
                    async for _ in tab:
                        pass


async def huge_heads(stranger: Stranger) -> None:
    """Heads of requests of 20 MB."""
    await asyncio.gather(*(stranger.send(b"GET / HTTP/1.1\r\nX: " + b"x" * 20_000_000) for _ in range(3)))


async def silence(stranger: Stranger) -> None:
    """Connections on which nothing comes, or half a head."""
    await asyncio.gather(*(stranger.send(b"GET /live HTTP/1.1\r\nHost: "[: number % 30]) for number in range(100)))


async def idle_tabs(stranger: Stranger) -> None:
    """Websockets that ask for no page."""
    async with stranger.session() as http:
        await asyncio.gather(*(stranger.tab(http, None, 25) for _ in range(60)))


async def large_messages(stranger: Stranger) -> None:
    """Messages that are larger than any browser's, and values of widgets that do not exist."""
    async with stranger.session() as http:
        sizes = [900_000] * 8 + [5_000_000] * 4
        texts = [{f"$$ID-{secrets.token_hex(8)}-text": "x" * size} for size in sizes]
        await asyncio.gather(*(stranger.tab(http, asking("heads", texts=each), 15) for each in texts))


async def nonsense(stranger: Stranger) -> None:
    """Messages that are none, text, and questions that cannot be."""
    async with stranger.session() as http:
        tabs = (stranger.tab(http, first, 5) for first in (b"\xff" * 1000, "hello", b"", asking("../etc")))
        paths = ("/pictures/nonsense", "/pictures/head+head", "/pictures/%2e%2e", "/pictures/heads")
        links: list[Mapping[str, object]] = [{"text": "\x00" * 9}, {f"p{n}": 1 for n in range(900)}, {"seed": "\udc80"}]
        asked = (
            stranger.ask(http, path, {name: str(value).encode(errors="replace") for name, value in link.items()})
            for path in paths
            for link in links
        )
        await asyncio.gather(*tabs, *asked)


async def large_models(stranger: Stranger) -> None:
    """Many different models of the largest size at once."""
    async with stranger.session() as http:
        links = [LARGEST | {"seed": secrets.randbelow(9999)} for _ in range(12)]
        await asyncio.gather(*(stranger.ask(http, "/pictures/heads+head", link) for link in links))


async def deep_models(stranger: Stranger) -> None:
    """The links that take most."""
    async with stranger.session() as http:
        links = [DEEPEST | {"seed": secrets.randbelow(9999)} for _ in range(2)]
        await asyncio.gather(*(stranger.ask(http, "/pictures/model_wirings", link) for link in links))


async def leaving(stranger: Stranger) -> None:
    """Questions whose askers leave at once."""
    body = urlencode(LARGEST | {"seed": secrets.randbelow(9999)})
    head = f"POST /pictures/heads HTTP/1.1\r\nHost: lab\r\nContent-Length: {len(body)}\r\n\r\n"
    await asyncio.gather(*(stranger.send(f"{head}{body}".encode(), reads=False) for _ in range(60)))


async def slow_writers(stranger: Stranger) -> None:
    """Questions whose bodies do not come."""
    head = b"POST /pictures/heads HTTP/1.1\r\nHost: lab\r\nContent-Length: 5000\r\n\r\nseed="
    await asyncio.gather(*(stranger.send(head) for _ in range(100)))


async def uploads(stranger: Stranger) -> None:
    """Files for tabs that do not exist."""
    async with stranger.session() as http:
        for _ in range(5):
            with suppress(aiohttp.ClientError, TimeoutError):
                address = f"{stranger.address}{UPLOADS}{secrets.token_hex(8)}/{secrets.token_hex(8)}"
                async with http.put(address, data=b"x" * 5_000_000, headers=FROM) as answer:
                    stranger.statuses[answer.status] += 1


async def previews(stranger: Stranger) -> None:
    """Pictures of links that nobody has seen."""
    async with stranger.session() as http:
        for lens in ("heads", "masks", "model", "positions"):
            with suppress(aiohttp.ClientError, TimeoutError):
                address = f"{stranger.address}/previews/{lens}.png?seed={secrets.randbelow(9999)}"
                async with http.get(address, headers=FROM) as answer:
                    await answer.read()
                    stranger.statuses[answer.status] += 1


ATTACKS: tuple[Attack, ...] = (
    huge_heads,
    silence,
    idle_tabs,
    large_messages,
    nonsense,
    large_models,
    deep_models,
    leaving,
    slow_writers,
    uploads,
    previews,
)
