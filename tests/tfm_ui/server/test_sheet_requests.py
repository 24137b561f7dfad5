"""Requests for sheets and their pictures, through the routes."""

import asyncio
import threading
from functools import partial

import pytest
from starlette.applications import Starlette
from starlette.testclient import TestClient

from tests.tfm_ui.lessons.lesson_text import LESSON
from tests.tfm_ui.loops import run
from tfm_ui.lenses import lens
from tfm_ui.lessons import sheet_pieces, shelf
from tfm_ui.pictures.registry import made
from tfm_ui.server import asgi, sheet_requests
from tfm_ui.server.sheet_requests import sheet_routes
from tfm_ui.visitors.compute_limiter import Busy


def client_of(make) -> TestClient:
    return TestClient(Starlette(routes=sheet_routes(make), middleware=asgi.MIDDLEWARE), base_url="http://lab.test")


client = client_of(partial(sheet_pieces.pieces, lens))


def test_a_sheet_is_a_page_whose_pictures_have_addresses_of_their_own():
    answer = client.get("/sheets/start-here.html?kind=questions&paper=letter")
    assert (answer.status_code, answer.headers["content-type"]) == (200, "text/html; charset=utf-8")
    assert "size: letter" in answer.text
    assert "default-src 'self'" in answer.headers["content-security-policy"]
    assert answer.text.count('<section class="step">') == len(shelf.shipped("start-here").steps)
    assert answer.text.count('src="pictures/wide/') == len(shelf.shipped("start-here").steps)
    assert answer.text.rstrip().endswith("</html>")


def test_what_a_visitor_has_brought_can_be_printed_too():
    name = shelf.keep(LESSON, "somebody")
    answer = client.get(f"/sheets/{name}.html?kind=answers")
    assert "Each head has 8 of the 32 numbers." in answer.text


@pytest.mark.parametrize(
    ("path", "status", "words"),
    [
        ("nothing.html", 404, "Expected the name of a lesson that is kept here, got nothing."),
        ("brought-aaaaaaaaaaaaaaaa.html", 404, "Expected the name of a lesson that is kept here"),
        ("start-here.html?kind=essay", 400, "expected one of questions, answers, speaker, got essay"),
        ("start-here.html?paper=a3", 400, "expected one of a4, letter, got a3"),
        ("pictures/huge/heads.svg", 404, "below wide or small"),
        ("pictures/wide/nothing.svg", 404, "the name of a lens"),
        ("pictures/wide/heads.svg?text=" + "x" * 9000, 413, "at most 8000 bytes"),
        ("pictures/wide/heads.svg?without=<b>", 400, "expected keys of panels"),
    ],
)
def test_what_is_not_there_is_said(path, status, words):
    answer = client.get(f"/sheets/{path}")
    assert (answer.status_code, answer.headers["content-type"]) == (status, "text/plain; charset=utf-8")
    assert words in answer.text


def test_a_picture_leaves_out_what_would_give_the_answer_away():
    query = "attention_view=change"
    whole, part = (client.get(f"/sheets/pictures/wide/attention.svg?{more}{query}") for more in ("", "without=c*,a*&"))
    assert whole.headers["content-type"] == "image/svg+xml"
    assert whole.content == made("attention.on_paper_wide", query)
    assert part.status_code == 200
    assert b"would give the answer away" in part.content
    assert part.headers["cache-control"] == "no-store"
    small = client.get(f"/sheets/pictures/small/attention.svg?{query}")
    assert small.content == made("attention.on_paper_small", query) != whole.content


def test_what_cannot_be_drawn_is_a_picture_that_says_why():
    answer = client.get("/sheets/pictures/wide/heads.svg?text=")
    assert answer.status_code == 200
    assert b"has no tokens" in answer.content


def test_a_step_that_fails_is_a_sentence_and_the_others_are_there(caplog):
    def fails() -> str:
        raise RuntimeError("<secret>")

    def is_busy() -> str:
        raise Busy("The server is busy.")

    pieces = [lambda: "<p>first</p>", fails, is_busy, lambda: "<p>last</p>"]
    answer = client_of(lambda *asked: pieces).get("/sheets/any.html")
    assert answer.text.startswith("<p>first</p>")
    assert answer.text.endswith("<p>last</p>")
    assert "under the reference" in answer.text
    assert "The server is busy. Load the page again" in answer.text
    assert "<secret>" not in answer.text
    assert "RuntimeError" in caplog.text


def test_a_visitor_has_one_sheet_made_at_a_time_and_few_waiting():
    now, most, lock = [0], [0], threading.Lock()
    may_end = threading.Event()

    def piece() -> str:
        with lock:
            now[0] += 1
            most[0] = max(most[0], now[0])
        may_end.wait(10)
        with lock:
            now[0] -= 1
        return "<p>step</p>"

    sheets = sheet_requests.Sheets(lambda *asked: [piece, piece])

    async def all_of_them() -> list[int]:
        async def ask() -> int:
            scope = {
                "type": "http",
                "method": "GET",
                "path": "/sheets/any.html",
                "query_string": b"",
                "headers": [(b"host", b"lab.test")],
                "scheme": "http",
                "path_params": {"lesson": "any"},
                "client": ("10.0.0.1", 1),
                "asgi": {"spec_version": "2.4"},
            }
            statuses: list[int] = []

            async def send(message) -> None:
                if message["type"] == "http.response.start":
                    statuses.append(message["status"])

            async def receive():
                await asyncio.sleep(60)

            response = await sheets.serve(sheet_requests.Request(scope, receive))
            await response(scope, receive, send)
            return statuses[0]

        asked = [asyncio.ensure_future(ask()) for _ in range(sheet_requests.MOST_WAITING)]
        await asyncio.sleep(0.3)
        refused = await ask()
        may_end.set()
        return [*await asyncio.gather(*asked), refused]

    assert run(all_of_them()) == [200] * sheet_requests.MOST_WAITING + [503]
    assert most == [1]
    assert not sheets._asked
    assert not sheets._making
