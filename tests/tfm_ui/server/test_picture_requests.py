"""Requests for pictures and their answers, through the server's routes and middleware, and to the endpoint itself."""

import asyncio
import logging
import threading
from collections.abc import Coroutine
from concurrent.futures import ThreadPoolExecutor
from urllib.parse import parse_qs

import pytest
from starlette.applications import Starlette
from starlette.testclient import TestClient

from tests.tfm_ui.loops import run
from tests.tfm_ui.payloads import decode
from tfm_ui.pictures import registry
from tfm_ui.pictures.registry import PICTURES, made
from tfm_ui.server import asgi, packed, picture_requests
from tfm_ui.visitors import turn
from tfm_ui.visitors.compute_limiter import ComputeLimiter, Lane, VisitorGone

client = TestClient(Starlette(routes=asgi.ROUTES, middleware=asgi.MIDDLEWARE), base_url="http://lab.test")


@pytest.fixture(autouse=True)
def nothing_kept():
    """No answer is there that another test has asked for."""
    picture_requests.EQUAL.forget()


def apart(data: bytes, number: int) -> list[bytes]:
    parts = []
    for _ in range(number):
        length = int.from_bytes(data[:4], "little")
        parts.append(data[4 : 4 + length])
        data = data[4 + length :]
    assert data == b""
    return parts


def test_pictures_are_answered_together():
    query = "seed=3&heads_head=2"
    answer = client.post("/pictures/heads+head", content=query)
    assert apart(answer.content, 2) == [made("heads", query), made("head", query)]
    assert answer.headers["content-encoding"] == "gzip"


@pytest.mark.parametrize(
    ("name", "query", "status", "words"),
    [
        ("nonsense", "", 404, f"expected one of {next(iter(PICTURES))}, "),
        ("heads+nonsense", "", 404, f"expected one of {next(iter(PICTURES))}, "),
        ("heads+heads", "", 400, "each picture once"),
        ("+".join(["head"] * 400), "", 400, "each picture once"),
        ("+".join(PICTURES), "", 400, "at most 16"),
        ("heads", "text=", 422, "has no tokens"),
        ("heads", "&".join(f"p{i}=1" for i in range(1000)), 422, "at most 500 parameters"),
        ("heads", "text=" + "x" * 300_000, 413, "at most 250000 bytes"),
    ],
)
def test_what_cannot_be_shown_is_said_and_not_computed(name, query, status, words, monkeypatch):
    computed = []
    monkeypatch.setattr(packed, "made", lambda *asked: computed.append(made(*asked)))
    answer = client.post(f"/pictures/{name}", content=query)
    assert answer.status_code == status
    assert words in answer.text
    assert computed == []


def test_garbage_is_a_picture_too():
    assert client.post("/pictures/heads", content=b"seed=\xff&num_heads=-3&&&=").status_code == 200


def test_a_link_has_a_picture_of_its_own_as_a_png():
    query = "text=the+cat&heads_head=2"
    answer = client.get(f"/previews/heads.png?{query}")
    assert (answer.status_code, answer.headers["content-type"]) == (200, "image/png")
    assert answer.content == made("heads.preview", query)
    assert answer.content.startswith(b"\x89PNG")
    assert "max-age" in answer.headers["cache-control"]


@pytest.mark.parametrize(
    ("address", "status", "words"),
    [
        ("nonsense.png", 404, "the name of a lens"),
        ("heads.png?text=", 422, "has no tokens"),
        (f"heads.png?{'&'.join(f'p{i}=1' for i in range(1000))}", 422, "at most 500 parameters"),
        (f"heads.png?text={'x' * 9_000}", 413, "at most 8000 bytes"),
    ],
)
def test_a_link_that_cannot_be_shown_has_no_picture(address, status, words):
    answer = client.get(f"/previews/{address}")
    assert answer.status_code == status
    assert words in answer.text
    assert client.get("/previews/heads.png?text=%ff&seed=x").status_code == 200


def test_a_preview_waits_in_the_queue_like_every_picture(monkeypatch):
    monkeypatch.setattr(turn, "LIMITER", ComputeLimiter(pictures=0, pages=0, slow=0, in_all=0))
    answer = client.get("/previews/heads.png?seed=11")
    assert (answer.status_code, answer.headers["retry-after"]) == (503, "2")


def test_an_answer_has_a_largest_size(monkeypatch):
    monkeypatch.setattr(packed, "LARGEST", 5000)
    answer = client.post("/pictures/heads+head+steps", content="")
    assert answer.status_code == 413
    assert "Fewer tokens or heads fit" in answer.text


def test_a_failed_picture_says_so_with_a_reference_that_is_in_the_log_and_the_others_are_there(monkeypatch, caplog):
    def broken(name, link):
        if name == "head":
            raise ZeroDivisionError("a fault of ours")
        return made(name, link)

    monkeypatch.setattr(packed, "made", broken)
    with caplog.at_level(logging.ERROR):
        answer = client.post("/pictures/heads+head", content="seed=5")
    good, bad = apart(answer.content, 2)
    assert good == made("heads", "seed=5")
    problem = decode(bad)[0]["problem"]
    assert problem.split()[-1].rstrip(".") in caplog.text
    assert "ZeroDivisionError" in caplog.text
    assert "fault of ours" not in problem
    alone = client.post("/pictures/head", content="seed=5")
    assert (alone.status_code, "under the reference" in alone.text) == (500, True)


def test_a_fault_of_ours_is_no_bad_link(monkeypatch):
    def broken(name, query):
        raise ValueError("of the program's")

    monkeypatch.setattr(packed, "made", broken)
    assert client.post("/pictures/head", content="").status_code == 500


@pytest.fixture
def full(monkeypatch):
    """A limiter whose lane of pictures is full, and where one computation may wait; yields a function that frees it."""
    limiter = ComputeLimiter(pictures=1, pages=1, slow=1, per_visitor=1)
    monkeypatch.setattr("tfm_ui.visitors.turn.LIMITER", limiter)
    taken = limiter.ask("another")
    yield lambda: limiter.leave(taken)
    limiter.leave(taken)


def asked(
    query: bytes,
    *,
    endpoint: picture_requests.Pictures | None = None,
    hang_up: threading.Event | None = None,
    whole: bool = True,
    reads: asyncio.Event | None = None,
) -> Coroutine:
    """Send a request to the endpoint itself; return the answer's status, None if there was no answer."""
    sent: list[dict] = []
    body = [{"type": "http.request", "body": query, "more_body": not whole}]
    scope = {
        "type": "http",
        "method": "POST",
        "path": "/pictures/head",
        "path_params": {"names": "head"},
        "headers": [(b"host", b"lab.test")],
        "client": ("127.0.0.1", 1),
    }

    async def receive():
        if body:
            return body.pop()
        while not (hang_up and hang_up.is_set()):
            await asyncio.sleep(0.005)
        return {"type": "http.disconnect"}

    async def send(message):
        sent.append(message)
        if reads and message["type"] == "http.response.body":
            await reads.wait()

    async def ask():
        await (endpoint or picture_requests.Pictures())(scope, receive, send)
        return next((message["status"] for message in sent if "status" in message), None)

    return ask()


def test_whoever_waits_for_the_slow_lane_holds_no_thread_and_quick_pictures_are_answered(monkeypatch):
    """More slow requests wait than there are threads for pictures."""
    limiter = ComputeLimiter(pictures=1, pages=1, slow=1, per_visitor=200, per_address=200, in_all=200)
    monkeypatch.setattr("tfm_ui.visitors.turn.LIMITER", limiter)
    monkeypatch.setattr(turn, "PATIENCE", 40.0)  # a thread that did wait would not wait longer
    monkeypatch.setattr(picture_requests, "_threads", ThreadPoolExecutor(2))
    taken = limiter.ask("another", Lane.SLOW)
    heavy = b"text=%40alice&seq_len=300&num_heads=16&d_model=256&num_layers=8"

    async def ask():
        slow = [asyncio.create_task(asked(heavy + b"&seed=%d" % number)) for number in range(8)]
        async with asyncio.timeout(30):
            while limiter.load()[Lane.SLOW][1] < len(slow):
                await asyncio.sleep(0.005)
        quick = await asyncio.wait_for(asked(b"seed=3"), 60)
        waiting = sum(not task.done() for task in slow)
        limiter.leave(taken)
        return quick, waiting, await asyncio.gather(*slow)

    assert run(ask()) == (200, 8, [200] * 8)


def test_a_link_is_read_in_its_turn(full, monkeypatch):
    """A long text takes a while to be read: while others wait, it waits like them."""
    monkeypatch.setattr("tfm_ui.server.pool.read", lambda *_: pytest.fail("it is not its turn"))
    gone = threading.Event()

    async def leave():
        waiting = asyncio.create_task(asked(b"text=" + b"x" * 200_000, hang_up=gone))
        await asyncio.sleep(0.1)
        gone.set()
        return await waiting

    assert run(leave()) is None


def test_a_link_is_read_once_for_all_its_pictures_and_words(monkeypatch):
    read = []
    monkeypatch.setattr(registry, "_parameters", lambda query: read.append(query) or parse_qs(query))
    assert client.post("/pictures/heads+head+heads.words", content="seed=3").status_code == 200
    assert read == ["seed=3"]


def test_whoever_finds_the_queue_full_is_told_when_to_ask_again(full, monkeypatch):
    monkeypatch.setattr(picture_requests, "visitor_of", lambda request: "the same")

    async def two():
        first = asyncio.create_task(asked(b"seed=11"))
        await asyncio.sleep(0.1)
        answer = await asyncio.to_thread(client.post, "/pictures/head", content="seed=12")
        full()
        return answer, await first

    answer, status = run(two())
    assert answer.status_code == 503
    assert int(answer.headers["retry-after"]) > 0
    assert "1 pictures of yours are waiting" in answer.text
    assert status == 200


def test_what_waits_is_dropped_when_the_asker_has_gone(full, monkeypatch):
    monkeypatch.setattr(packed, "made", lambda *_: pytest.fail("nobody wants it"))
    gone = threading.Event()

    async def leave():
        waiting = asyncio.create_task(asked(b"seed=13", hang_up=gone))
        await asyncio.sleep(0.05)
        gone.set()
        return await waiting

    assert run(leave()) is None
    assert not turn.LIMITER._waiting


def test_of_several_pictures_the_rest_is_not_computed_when_the_asker_has_gone(monkeypatch):
    computed, gone = [], threading.Event()

    def slowly(name, query):
        computed.append(name)
        gone.set()
        threading.Event().wait(0.1)
        return b""

    monkeypatch.setattr(packed, "made", slowly)

    monkeypatch.setattr(picture_requests, "_names", lambda path: ["heads", "head", "steps"])
    assert run(asked(b"", hang_up=gone)) is None
    assert computed == ["heads"]


class Hangs:
    """A pool whose only worker hangs: whatever it is asked returns when it is ended."""

    def __init__(self) -> None:
        self.given_up = threading.Event()

    def ask(self, question):
        self.given_up.wait()
        raise VisitorGone

    def drop(self, question):
        self.given_up.wait()

    def give_up(self, question):
        self.given_up.set()


def test_a_worker_that_hangs_is_given_up_also_if_the_asker_has_gone(monkeypatch):
    """It does not hear either that nobody wants its answer: the lane would never be free again."""
    limiter = ComputeLimiter(pictures=1, pages=1, slow=1)
    monkeypatch.setattr("tfm_ui.visitors.turn.LIMITER", limiter)
    monkeypatch.setattr(picture_requests, "POOL", hangs := Hangs())
    monkeypatch.setattr(picture_requests, "LONGEST_ANSWER", 0.1)
    gone = threading.Event()

    async def leave():
        asking = asyncio.create_task(asked(b"seed=13", hang_up=gone))
        await asyncio.sleep(0.05)
        gone.set()
        await asking
        async with asyncio.timeout(5):
            while limiter.load()[Lane.PICTURES][0]:
                await asyncio.sleep(0.01)
        return hangs.given_up.is_set()

    assert run(leave())


def test_a_question_must_arrive_in_time():
    endpoint = picture_requests.Pictures()
    endpoint.questions.seconds = 0.05
    assert run(asked(b"seed=3", whole=False, endpoint=endpoint)) == 408


def test_of_many_who_send_slowly_the_oldest_give_way_and_whoever_sends_at_once_is_answered():
    endpoint = picture_requests.Pictures()
    endpoint.questions.most = 2

    async def ask():
        slow = [asyncio.create_task(asked(b"seed=3", whole=False, endpoint=endpoint)) for _ in range(4)]
        await asyncio.sleep(0.05)
        quick = await asked(b"seed=3", endpoint=endpoint)
        done = [task.result() if task.done() else None for task in slow]
        for task in slow:
            task.cancel()
        return quick, done

    assert run(ask()) == (200, [408, 408, 408, None])


def test_of_many_who_read_slowly_the_oldest_give_way(monkeypatch):
    endpoint = picture_requests.Pictures()
    picture = made("head", "")
    answer = packed.gzip.compress(len(picture).to_bytes(4, "little") + picture, compresslevel=1)
    endpoint.answers.most = 2 * len(answer)  # all four answers are this one
    never = asyncio.Event

    async def ask():
        slow = [asyncio.create_task(asked(b"", endpoint=endpoint, reads=never())) for _ in range(4)]
        await asyncio.sleep(0.5)
        done = [task.done() for task in slow]
        for task in slow:
            task.cancel()
        return done

    assert run(ask()).count(True) == 2
