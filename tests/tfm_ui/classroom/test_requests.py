"""The routes of rooms: what a browser may send, what it is told, and how long it may try."""

import asyncio
import json

import pytest
from starlette.applications import Starlette
from starlette.testclient import TestClient

from tests.tfm_ui.cookies import cookie
from tests.tfm_ui.loops import run
from tfm_ui.classroom import door, hub, requests, room
from tfm_ui.classroom.asked import asked_of, poll_of
from tfm_ui.classroom.requests import LONGEST, SECRET, room_routes
from tfm_ui.classroom.tries import Tries
from tfm_ui.server import asgi
from tfm_ui.store import rooms as store_rooms
from tfm_ui.store.store import StoreAway

CHOICE = asked_of("heads all", "Which head?", ["one", "two"], "", in_words=False)


@pytest.fixture
def client():
    app = Starlette(routes=room_routes(), middleware=asgi.MIDDLEWARE)
    return TestClient(app, base_url="http://lab.test", client=("203.0.113.7", 5000))


@pytest.fixture
def mine():
    return room.begin("203.0.113.7")


def sent(client, path, told=None, *, browser="Ada", secret="", **headers):
    """The status and the sentence of an act."""
    with_secret = {SECRET: secret} if secret else {}
    answer = client.post(f"/rooms/{path}", json=told or {}, headers={"Cookie": cookie(browser)} | with_secret | headers)
    return answer.status_code, answer.json()["problem"] if answer.content else ""


def test_a_member_answers_and_the_owner_leads_shows_and_closes(client, mine):
    code = mine.code
    room.ask(code, mine.secret, CHOICE)
    assert sent(client, f"{code}/answer", {"id": CHOICE.id, "answer": "one"}) == (204, "")
    assert sent(client, f"{code.lower()}/answer", {"id": CHOICE.id, "answer": "two"}) == (204, "")
    place = {"page": "heads", "query": "layer=2", "number": 1}
    assert sent(client, f"{code}/place", place, secret=mine.secret) == (204, "")
    assert sent(client, f"{code}/show", {"id": CHOICE.id}, secret=mine.secret) == (204, "")
    now = room.look(code)
    assert (now.place, now.shown.values) == (place, ("two",))
    assert sent(client, f"{code}/answer", {"id": CHOICE.id, "answer": "one"})[0] == 409
    assert sent(client, f"{code}/withdraw", {"id": CHOICE.id}, secret=mine.secret) == (204, "")
    assert sent(client, f"{code}/close", secret=mine.secret) == (204, "")
    status, words = sent(client, f"{code}/answer", {"id": CHOICE.id, "answer": "one"})
    assert (status, words) == (
        404,
        f"There is no room {code}. A room closes after three hours, or when its owner closes it.",
    )


@pytest.mark.parametrize("act", ["place", "show", "reveal", "withdraw", "close"])
@pytest.mark.parametrize("secret", ["", "forged", "x" * 500])
def test_a_stranger_is_no_owner(client, mine, act, secret):
    room.ask(mine.code, mine.secret, CHOICE)
    told = {"page": "heads", "query": "", "number": 1, "id": CHOICE.id, "member": "x"}
    before = room.look(mine.code).values
    assert sent(client, f"{mine.code}/{act}", told, secret=secret)[0] == 403
    assert room.look(mine.code).values == before


@pytest.mark.parametrize(
    ("path", "body", "headers", "status", "words"),
    [
        ("{code}/open", b"{}", {}, 404, "expected one of answer, place"),
        ("{code}/answer", b"{", {}, 400, "expected JSON"),
        ("{code}/answer", b"[" * 9000, {}, 400, "expected JSON"),
        ("{code}/answer", b"[]", {}, 400, "expected an object"),
        ("{code}/answer", b" " * (LONGEST + 1), {}, 413, "at most 20,000 bytes"),
        ("{code}/answer", b'{"id":"nothing","answer":1}', {}, 409, "not on screen any more"),
        ("{code}/answer", b"{}", {"Origin": "http://evil.test"}, 403, "a page of this server"),
        ("BBBB/answer", b"{}", {}, 404, "There is no room BBBB."),
        ("../../x/answer", b"{}", {}, 404, ""),
    ],
)
def test_what_is_not_as_it_should_be_is_said(client, mine, path, body, headers, status, words):
    answer = client.post(f"/rooms/{path.format(code=mine.code)}", content=body, headers=headers)
    assert answer.status_code == status
    assert words in answer.text
    if words:
        assert answer.headers["cache-control"] == "no-store"


def test_who_has_tried_too_many_codes_is_not_told_whether_the_next_is_right(client, mine):
    codes = (a + b + "BB" for a in room.SIGNS for b in room.SIGNS)
    wrong = [code for code in codes if code != mine.code][: door.WRONG_BY_BROWSER.most + 5]
    statuses = [sent(client, f"{code}/answer", browser="guesses")[0] for code in wrong]
    assert statuses == [404] * door.WRONG_BY_BROWSER.most + [429] * 5
    right = sent(client, f"{mine.code}/answer", browser="guesses")
    assert right == sent(client, f"{wrong[-1]}/answer", browser="guesses")
    assert right[0] == 429
    assert sent(client, f"{mine.code}/answer", {"id": "x"}, browser="another")[0] == 409, "others come in"


def test_invented_browsers_of_a_network_share_a_limit_and_members_go_on(client, mine):
    assert sent(client, f"{mine.code}/answer", {"id": "x"}, browser="member")[0] == 409
    for number in range(door.WRONG_BY_NETWORK.most + 3):
        code = f"{room.SIGNS[number // 16]}{room.SIGNS[number % 16]}XX"
        last = sent(client, f"{code}/answer", browser=f"invented {number}")
    assert last[0] == 429
    assert sent(client, f"{mine.code}/answer", {"id": "x"}, browser="newcomer")[0] == 429
    assert sent(client, f"{mine.code}/answer", {"id": "x"}, browser="member")[0] == 409


def test_a_class_that_comes_back_to_a_room_that_is_over_locks_nobody_out(client, mine):
    room.end(mine.code, mine.secret)
    for number in range(100):
        assert sent(client, f"{mine.code}/answer", browser=f"member {number}")[0] == 404
    other = room.begin("203.0.113.7")
    assert sent(client, f"{other.code}/answer", {"id": "x"}, browser="member 0")[0] == 409, "the lecturer's new room"


def test_nobody_in_the_network_keeps_the_owner_out(client, mine, monkeypatch):
    monkeypatch.setattr(requests, "SENT_BY_NETWORK", Tries(3, 1))
    statuses = [sent(client, f"{mine.code}/answer", {"id": "x"}, browser=f"invented {n}")[0] for n in range(6)]
    assert statuses == [409] * 3 + [429] * 3
    place = {"page": "heads", "query": "", "number": 1}
    assert sent(client, f"{mine.code}/place", place, secret=mine.secret) == (204, "")


def test_who_has_a_wrong_secret_is_not_taken_for_an_owner(client, mine):
    answer = client.get(f"/rooms/{mine.code}/events", headers={SECRET: "x" * 32, "Cookie": cookie("b")})
    assert (answer.status_code, answer.json()) == (403, {"problem": "This is not the secret of the room’s owner."})


def test_a_flood_of_answers_is_refused_and_others_are_heard(client, mine):
    poll = poll_of("Ready?", ["yes", "no"])
    room.ask(mine.code, mine.secret, poll)
    told = {"id": poll.id, "answer": "yes"}
    statuses = [sent(client, f"{mine.code}/answer", told, browser="flood")[0] for _ in range(60)]
    assert statuses[0] == 204
    assert statuses[-1] == 429
    assert 25 <= statuses.count(204) <= 40
    assert sent(client, f"{mine.code}/answer", told, browser="quiet") == (204, "")
    assert len(room.look(mine.code).answers) == 2


def test_a_store_that_is_away_is_said(client, mine, monkeypatch):
    def away():
        raise StoreAway("What servers share is kept by Redis, and it does not answer.")

    monkeypatch.setattr(room, "rooms", away)
    assert sent(client, f"{mine.code}/answer") == (503, "What servers share is kept by Redis, and it does not answer.")


class Listener:
    """A tab that listens to a room, without a network."""

    def __init__(self, halls, opened, browser, secret=""):
        now = room.look(opened.code)
        self.lines = halls.events(now, now.member(f"net {browser}"), is_owner=now.is_owner(secret))
        self.view = {}

    async def until(self, holds):
        async with asyncio.timeout(20):
            while not holds(self.view):
                line = await anext(self.lines)
                self.view |= json.loads(line or "{}") if line.strip() else {}
        return self.view


async def is_empty(halls):
    """Wait until the server keeps nothing of any room."""
    async with asyncio.timeout(20):
        while halls._halls:
            await asyncio.sleep(0.01)


def test_a_change_is_told_to_all_and_an_answer_to_the_one_who_gave_it(mine):
    async def listen():
        halls = hub.Hub()
        owner, ada, bob = (
            Listener(halls, mine, who, secret) for who, secret in (("o", mine.secret), ("a", ""), ("b", ""))
        )
        for each in (owner, ada, bob):
            await each.until(lambda view: "place" in view)
        await owner.until(lambda view: view.get("here") == {"members": 2, "owner": True})
        room.ask(mine.code, mine.secret, CHOICE)
        room.answer(mine.code, room.look(mine.code).member("net a"), CHOICE.id, "one")
        await ada.until(lambda view: view["mine"] == "one")
        await bob.until(lambda view: view["asked"] and view["asked"]["answered"] == 1)
        assert bob.view["mine"] is None
        assert "texts" not in bob.view
        assert owner.view["texts"] == []
        room.end(mine.code, mine.secret)
        for each in (owner, ada, bob):
            await each.until(lambda view: view["open"] is False)
            with pytest.raises(StopAsyncIteration):
                await anext(each.lines)
        await is_empty(halls)

    run(listen())


def test_who_goes_is_no_longer_here_and_a_hall_without_anybody_is_forgotten(mine):
    async def listen():
        halls = hub.Hub()
        ada, again, bob = (Listener(halls, mine, who) for who in ("a", "a", "b"))
        for each in (ada, again, bob):
            await each.until(lambda view: "place" in view)
        for each in (ada, again, bob):
            await each.until(lambda view: view["here"]["members"] == 2)
        assert halls.tabs(mine.code, room.look(mine.code).member("net a")) == 2
        await bob.lines.aclose()
        await ada.until(lambda view: view["here"]["members"] == 1)
        for each in (ada, again):
            await each.lines.aclose()
        await is_empty(halls)
        assert room.look(mine.code).here() == (0, False)

    run(listen())


def test_who_is_here_stays_here_however_much_the_owner_moves(mine, monkeypatch):
    monkeypatch.setattr(hub, "RENEWS", 0.1)
    monkeypatch.setattr(room, "HERE_LASTS", 0.5)

    async def listen():
        ada = Listener(hub.Hub(), mine, "a")
        await ada.until(lambda view: view.get("here", {}).get("members") == 1)
        end, number = asyncio.get_running_loop().time() + 1.2, 0
        while asyncio.get_running_loop().time() < end:
            number += 1
            room.move(mine.code, mine.secret, {"page": "heads", "query": "", "number": number})
            await ada.until(lambda view, at=number: view["place"] and view["place"]["number"] == at)
            assert ada.view["here"]["members"] == 1
            await asyncio.sleep(0.02)
        await ada.lines.aclose()

    run(listen())


def test_a_tab_without_a_sign_of_life_is_no_longer_here(mine, monkeypatch):
    monkeypatch.setattr(hub, "BEAT", 0.05)
    monkeypatch.setattr(hub, "SILENCE", 0.6)

    async def listen():
        halls = hub.Hub()
        ada, asleep = Listener(halls, mine, "a"), Listener(halls, mine, "b")
        for each in (ada, asleep):
            await each.until(lambda view: "line" in view)
        assert ada.view["line"] != asleep.view["line"]
        assert not halls.is_alive(mine.code, "invented")
        ended = asyncio.create_task(asleep.until(lambda view: False))
        while not ended.done():
            assert halls.is_alive(mine.code, ada.view["line"])
            await asyncio.sleep(0.05)
        assert isinstance(ended.exception(), StopAsyncIteration | RuntimeError)
        await ada.until(lambda view: view["here"]["members"] == 1)
        assert not halls.is_alive(mine.code, asleep.view["line"])
        await ada.lines.aclose()

    run(listen())


def test_a_sign_of_life_is_taken_of_a_line_that_is_there(client, mine):
    assert sent(client, f"{mine.code}/alive", {"line": "x"}) == (409, "This line has ended. Open another one.")
    assert sent(client, f"{mine.code}/alive", {}, Origin="http://evil.test")[0] == 403


def test_a_room_that_cannot_be_reached_goes_on_when_it_can(mine, monkeypatch):
    monkeypatch.setattr(hub, "RENEWS", 0.05)

    async def listen():
        halls, look = hub.Hub(), room.look
        ada = Listener(halls, mine, "a")
        await ada.until(lambda view: "place" in view)

        def away(code):
            raise StoreAway("away")

        monkeypatch.setattr(room, "look", away)
        await ada.until(lambda view: view.get("problem"))
        assert ada.view["open"] is True
        monkeypatch.setattr(room, "look", look)
        await ada.until(lambda view: view["problem"] == "")
        await ada.lines.aclose()

    run(listen())


def test_a_room_is_closed_for_all_when_its_time_is_over(mine, monkeypatch, kept):
    monkeypatch.setattr(hub, "RENEWS", 0.05)

    async def listen():
        ada = Listener(hub.Hub(), mine, "a")
        await ada.until(lambda view: "place" in view)
        monkeypatch.setattr("tfm_ui.store.rooms_local.LIFETIME", 0)
        await ada.until(lambda view: view["open"] is False)

    run(listen())
    assert kept.codes() == []


def test_a_room_lasts_three_hours():
    assert store_rooms.LIFETIME == 3 * 3600


def test_tries_come_back_with_time():
    now = [0.0]
    tries = Tries(3, 6, lambda: now[0])
    for _ in range(3):
        assert tries.wait("a") == 0
        tries.take("a")
    assert tries.wait("a") == 10
    assert tries.wait("b") == 0
    now[0] = 9.5
    assert tries.wait("a") == 1
    now[0] = 10.0
    assert tries.wait("a") == 0
    now[0] = 1e6
    for _ in range(3):
        tries.take("a")
    assert tries.wait("a") > 0, "no more come back than a full bucket has"
