"""The first run that a websocket asks for is a whole one; all other messages pass as they came."""

import asyncio

import pytest
from streamlit.proto.BackMsg_pb2 import BackMsg

from tfm_ui.server.first_run import WholeFirstRun


def run(fragment: str, query: str = "seed=3") -> dict:
    asked = BackMsg()
    asked.rerun_script.fragment_id, asked.rerun_script.query_string = fragment, query
    return {"type": "websocket.receive", "bytes": asked.SerializeToString()}


def handed_on(messages: list[dict], kind: str = "websocket") -> list[dict]:
    """What the app behind the middleware receives."""
    coming, received = iter(messages), []

    async def receive() -> dict:
        return next(coming)

    async def app(scope, receive, send) -> None:
        received.extend([await receive() for _ in messages])

    asyncio.run(WholeFirstRun(app)({"type": kind}, receive, None))
    return received


def test_the_first_run_is_whole_and_the_next_is_what_was_asked_for():
    assert handed_on([run("a"), run("b")]) == [run(""), run("b")]
    assert handed_on([run("")]) == [run("")]


@pytest.mark.parametrize(
    "other",
    [
        {"type": "websocket.connect"},
        {"type": "websocket.receive", "text": "hello"},
        {"type": "websocket.receive", "bytes": b"\xff no protobuf"},
        {"type": "websocket.receive", "bytes": BackMsg(stop_script=True).SerializeToString()},
    ],
)
def test_other_messages_pass_and_do_not_count(other):
    assert handed_on([other, run("a"), other, run("b")]) == [other, run(""), other, run("b")]


def test_requests_without_a_websocket_pass():
    body = {"type": "http.request", "body": b""}
    assert handed_on([body, run("a")], kind="http") == [body, run("a")]
