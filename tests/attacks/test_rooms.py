"""What strangers do to a room: guess, forge, replay, flood, send too much, close, read after it is closed."""

import asyncio
import json
from contextlib import AsyncExitStack

import aiohttp

from benchmarks.live.room_tabs import Owner
from benchmarks.live.visitor_kept import Kept
from tests.attacks.strangers import Server, attacked
from tests.tfm_ui.cookies import cookie
from tests.tfm_ui.loops import run
from tfm_ui.classroom.door import WRONG_BY_NETWORK
from tfm_ui.classroom.requests import MOST_TABS, SECRET
from tfm_ui.classroom.room import SIGNS

MEMBERS = 40
# A proxy of this machine is believed, so that strangers come from addresses of their own.
SETTINGS = {"FORWARDED_ALLOW_IPS": "127.0.0.1", "ATTENTION_LAB_ROOM_MEMBERS": str(MEMBERS)}
MEGABYTE = 10**6


class Stranger:
    """A program that sends what it likes, from one network address."""

    def __init__(self, http: aiohttp.ClientSession, server: Server, address: str) -> None:
        self._http, self._server, self._address = http, server, address

    def headers(self, browser: str, **more: str) -> dict[str, str]:
        return {"Cookie": cookie(browser), "X-Forwarded-For": self._address} | more

    async def send(self, path: str, told: object = None, *, browser: str = "b", secret: str = "") -> tuple[int, str]:
        """The status and the body of an act."""
        headers = self.headers(browser, **({SECRET: secret} if secret else {}))
        async with self._http.post(f"http://{self._server.place}/rooms/{path}", json=told, headers=headers) as answer:
            return answer.status, await answer.text()

    async def listen(self, stack: AsyncExitStack, code: str, browser: str) -> tuple[aiohttp.ClientResponse, dict]:
        """A line to a room, and what is told there first; it stays open as long as the stack."""
        url, patience = f"http://{self._server.place}/rooms/{code}/events", aiohttp.ClientTimeout(total=60)
        line = await stack.enter_async_context(self._http.get(url, headers=self.headers(browser), timeout=patience))
        return line, json.loads(await line.content.readline()) if line.status == 200 else {}


async def codes_cannot_be_tried(guesser: Stranger, code: str) -> None:
    wrong = [f"{a}{b}{c}X" for a in SIGNS for b in SIGNS[:2] for c in SIGNS[:3] if f"{a}{b}{c}X" != code]
    told = [await guesser.send(f"{each}/answer", {}, browser=f"invented {n}") for n, each in enumerate(wrong)]
    many = len([status for status, _ in told if status == 404])
    assert WRONG_BY_NETWORK.most <= many <= WRONG_BY_NETWORK.most + 3  # some come back meanwhile
    right = await guesser.send(f"{code}/answer", {}, browser="invented")
    assert right[0] == told[-1][0] == 429


async def nobody_leads_who_has_not_opened_it(stranger: Stranger, owner: Owner) -> None:
    for secret in ("", "forged", owner._secret[:-1], owner._secret.swapcase()):
        for act in ("place", "show", "withdraw", "reveal", "close"):
            told = {"page": "heads", "query": "seed=666", "number": 10**15, "id": "x", "member": "x"}
            assert (await stranger.send(f"{owner.code}/{act}", told, secret=secret))[0] == 403


async def an_old_place_that_is_sent_again_changes_nothing(stranger: Stranger, owner: Owner) -> None:
    """A request that was recorded has the owner's secret in it."""
    before = {"page": "heads", "query": "seed=1", "number": max(owner.said) + 10}
    assert (await stranger.send(f"{owner.code}/place", before, secret=owner._secret))[0] == 204
    now = before | {"query": "seed=2", "number": before["number"] + 1}
    assert (await stranger.send(f"{owner.code}/place", now, secret=owner._secret))[0] == 204
    assert (await stranger.send(f"{owner.code}/place", before, secret=owner._secret))[0] == 204
    async with AsyncExitStack() as stack:
        line, told = await stranger.listen(stack, owner.code, "looks")
        while told["place"]["number"] < now["number"]:  # it may have heard less when the line was opened
            told |= json.loads((await line.content.readline()).strip() or b"{}")
        assert told["place"] == now


async def a_flood_and_what_is_too_large_are_refused(stranger: Stranger, code: str) -> None:
    status, words = await stranger.send(f"{code}/answer", {"id": "x", "answer": "y" * 10**6}, browser="large")
    assert (status, "at most 20,000 bytes" in words) == (413, True)
    told = {"id": "x", "answer": "y"}
    flood = await asyncio.gather(*(stranger.send(f"{code}/answer", told, browser="flood") for _ in range(200)))
    assert {status for status, _ in flood} == {409, 429}
    assert [status for status, _ in flood].count(409) < 60
    assert (await stranger.send(f"{code}/answer", told, browser="quiet"))[0] == 409


async def more_lines_than_members_are_refused(stranger: Stranger, server: Server, code: str) -> None:
    server.forget_peaks()
    before = server.memory["now"]
    async with AsyncExitStack() as stack:
        invented = [await stranger.listen(stack, code, f"member {number}") for number in range(MEMBERS + 20)]
        assert [line.status for line, _ in invented] == [200] * MEMBERS + [503] * 20
        tabs = [(await stranger.listen(stack, code, "member 0"))[0].status for _ in range(15)]
        assert tabs == [200] * (MOST_TABS - 1) + [503] * (15 - MOST_TABS + 1), "who is there may come back"
        await asyncio.to_thread(server.quiet_visitor)
    assert server.memory["most"] - before < 60 * MEGABYTE


async def after_it_is_closed_nobody_reads_it(stranger: Stranger, owner: Owner) -> None:
    async with AsyncExitStack() as stack:
        assert (await stranger.listen(stack, owner.code, "last"))[0].status == 200
        assert (await stranger.send(f"{owner.code}/close", secret=owner._secret))[0] == 204
        for path in ("answer", "place", "close"):
            assert (await stranger.send(f"{owner.code}/{path}", {}, secret=owner._secret))[0] == 404
        assert (await stranger.listen(stack, owner.code, "later"))[0].status == 404


async def attacks(server: Server) -> None:
    limits = aiohttp.TCPConnector(limit=0)
    async with (
        aiohttp.ClientSession(connector=limits) as http,
        Owner(f"http://{server.place}", "/heads", Kept()) as owner,
    ):
        await owner.open()
        await owner.open_room()
        await owner.rested()
        stranger = Stranger(http, server, "203.0.113.7")
        await codes_cannot_be_tried(Stranger(http, server, "198.51.100.9"), owner.code)
        await nobody_leads_who_has_not_opened_it(stranger, owner)
        await a_flood_and_what_is_too_large_are_refused(Stranger(http, server, "203.0.113.8"), owner.code)
        await more_lines_than_members_are_refused(Stranger(http, server, "203.0.113.9"), server, owner.code)
        owner._leads.cancel()
        await an_old_place_that_is_sent_again_changes_nothing(Stranger(http, server, "203.0.113.10"), owner)
        assert owner.kept.errors == []
        await after_it_is_closed_nobody_reads_it(Stranger(http, server, "203.0.113.11"), owner)


def test_what_strangers_do_to_a_room_concerns_nobody_else():
    with attacked(SETTINGS) as server:
        run(attacks(server))
        assert server.lives
        server.quiet_visitor()
