"""Limits on open tabs, on the time for a body, and on uploads."""

import asyncio
from contextlib import ExitStack
from typing import Any

import pytest
from starlette.applications import Starlette
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Route, WebSocketRoute
from starlette.testclient import TestClient
from starlette.websockets import WebSocketDisconnect

from tests.tfm_ui.cookies import cookie
from tests.tfm_ui.loops import run
from tfm_ui.server.connections import BodyTimeout, TabLimit, UploadLimit
from tfm_ui.server.part import part
from tfm_ui.visitors.metrics import REGISTRY


async def stay(websocket):
    await websocket.accept()
    await websocket.receive()


async def page(request):
    return Response("the app")


def tabs(**most: int) -> TestClient:
    routes = [WebSocketRoute("/", stay), Route("/{path:path}", page)]
    return TestClient(Starlette(routes=routes, middleware=[part(TabLimit, "http", "websocket", **most)]))


def open_tab(client: TestClient, visitor: str) -> Any:
    return client.websocket_connect("/", headers={"Cookie": cookie(visitor)})


def counted(name: str, **labels: str) -> float:
    return REGISTRY.get_sample_value(name, labels) or 0


def look(client: TestClient, visitor: str, path: str = "/heads", dest: str = "document") -> tuple[int, str]:
    answer = client.get(path, headers={"Cookie": cookie(visitor), "Sec-Fetch-Dest": dest})
    return answer.status_code, answer.text


@pytest.mark.parametrize("most", [{"tabs_per_visitor": 2}, {"tabs_per_address": 2}, {"tabs": 2}])
def test_a_tab_too_many_is_refused_and_a_closed_one_makes_room(most):
    client, [limit] = tabs(**most), most
    begun = counted("attention_lab_tabs"), counted("attention_lab_refused_total", limit=limit)
    with ExitStack() as opened:
        for _ in range(2):
            opened.enter_context(open_tab(client, "a"))
        with pytest.raises(WebSocketDisconnect) as refusal, open_tab(client, "a"):
            pass
        assert refusal.value.code == 1013
        assert counted("attention_lab_tabs") == begun[0] + 2
    assert (counted("attention_lab_tabs"), counted("attention_lab_refused_total", limit=limit)) == (
        begun[0],
        begun[1] + 1,
    )
    with open_tab(client, "a"):
        pass


def test_one_visitors_tabs_keep_no_other_visitor_out():
    client = tabs(tabs_per_visitor=1)
    with open_tab(client, "a"), open_tab(client, "b"):
        assert look(client, "a")[0] == 503
        assert look(client, "c") == (200, "the app")


@pytest.mark.parametrize(
    ("limit", "said"),
    [
        ("tabs_per_visitor", "This browser has 1 open tab of this app, the most that are allowed. Close a tab of it:"),
        ("tabs_per_address", "Your network address has 1 open tab"),
        ("tabs", "This server has 1 open tab"),
    ],
)
def test_who_opens_a_tab_too_many_reads_why_and_nothing_else_is_refused(limit, said):
    client = tabs(**{limit: 1})
    assert look(client, "a") == (200, "the app")
    with open_tab(client, "a"):
        status, text = look(client, "a")
        assert status == 503
        assert said in text.replace("\n", " ")
        assert look(client, "a", "/status")[0] == 200
        assert look(client, "a", "/heads", "image")[0] == 200
        assert look(client, "a", "/heads", "empty")[0] == 200
    assert look(client, "a") == (200, "the app")


def read(seconds: float, pauses: list[float]) -> bytes:
    """The body that the app behind the middleware reads, if its bytes arrive one at a time after these pauses."""
    left = list(pauses)

    async def receive():
        await asyncio.sleep(left.pop(0))
        return {"type": "http.request", "body": b"x", "more_body": bool(left)}

    bodies = []

    async def app(scope, receive, send):
        bodies.append(await Request(scope, receive).body())

    run(BodyTimeout(app, seconds)({"type": "http"}, receive, None))
    return bodies[0]


def test_a_body_that_is_there_in_time_is_read():
    assert read(3600, [0, 0.01, 0]) == b"xxx"


def test_a_body_that_drips_counts_as_gone():
    with pytest.raises(ClientDisconnect):
        read(0.05, [0.02] * 100)


def test_uploads_are_bounded_for_a_tab_and_for_all():
    kept = {"a": 20, "b": 30}
    routes = [Route("/lab/_stcore/upload_file/{session}/{file}", lambda _: Response(status_code=204), methods=["PUT"])]
    middleware = [part(UploadLimit, "http", each=50, together=90, kept=lambda: kept)]
    client = TestClient(Starlette(routes=routes, middleware=middleware))

    def put(session: str, size: int) -> int:
        return client.put(f"/lab/_stcore/upload_file/{session}/x", content=b"x" * size).status_code

    assert [put("a", 30), put("a", 31), put("c", 40), put("c", 41)] == [204, 413, 204, 413]
    length_untold = client.put("/lab/_stcore/upload_file/c/x", content=iter([b"x"]))
    assert length_untold.status_code == 413, "it may be as long as it likes"
    assert client.get("/lab/elsewhere").status_code == 404


def test_the_uploads_of_one_address_keep_no_other_visitor_out():
    kept: dict[str, int] = {}

    async def keep(request):
        kept[request.path_params["session"]] = len(await request.body())
        return Response(status_code=204)

    routes = [Route("/_stcore/upload_file/{session}/{file}", keep, methods=["PUT"])]
    middleware = [part(UploadLimit, "http", each=30, together=100, kept=lambda: kept)]
    app = Starlette(routes=routes, middleware=middleware)

    def put(address: str, session: str, size: int, visitor: str = "") -> int:
        client = TestClient(app, client=(address, 1), headers={"Cookie": cookie(visitor)} if visitor else {})
        return client.put(f"/_stcore/upload_file/{session}/x", content=b"x" * size).status_code

    assert [put("203.0.113.7", session, 25, visitor=session) for session in "abc"] == [204, 204, 413]
    assert put("203.0.113.8", "d", 30) == 204
    del kept["a"]  # its tab is closed
    assert put("203.0.113.7", "c", 25) == 204
    # On this machine visitors are told apart by their cookies alone.
    kept.clear()
    assert [put("127.0.0.1", session, 25, visitor="one") for session in "abc"] == [204, 204, 413]
    assert put("127.0.0.1", "d", 25, visitor="two") == 204
