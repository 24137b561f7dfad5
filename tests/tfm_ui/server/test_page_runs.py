"""The websocket's middleware: what is held back comes in time, everything else passes unchanged."""

import asyncio
from collections.abc import Iterator

import pytest

from tests.tfm_ui.visitors.test_rest import rerun
from tfm_ui.server import page_runs
from tfm_ui.server.page_runs import PageRunsAtRest
from tfm_ui.streamlit_private.protocol import BackMsg, ForwardMsg, events_of
from tfm_ui.visitors import rest
from tfm_ui.visitors.rest import PICTURES_FOLLOW

SESSION = "a session"


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(rest, "SOON", 0.05)
    PICTURES_FOLLOW[SESSION] = True
    yield
    assert SESSION not in PICTURES_FOLLOW  # the middleware forgets a websocket that is closed


def answer() -> bytes:
    forward = ForwardMsg()
    forward.new_session.initialize.session_id = SESSION
    return forward.SerializeToString()


async def talk(messages: list[object], count: int) -> list[dict[str, object]]:
    """What an app receives, `count` messages, whose browser sends these, numbers being pauses in seconds."""
    received: list[dict[str, object]] = []
    coming = iter(messages)

    async def receive() -> dict[str, object]:
        for message in coming:
            if isinstance(message, float):
                await asyncio.sleep(message)
            elif isinstance(message, BackMsg):
                return {"type": "websocket.receive", "bytes": message.SerializeToString()}
            else:
                return message
        return await asyncio.Future()

    async def app(scope, receive, send) -> None:
        await send({"type": "websocket.send", "bytes": answer()})
        while len(received) < count:
            received.append(await receive())

    async def send(message: dict[str, object]) -> None:
        assert message["bytes"] == answer()

    await asyncio.wait_for(PageRunsAtRest(app, rest=0.2)({"type": "websocket"}, receive, send), 10)
    return received


def seeds(received: list[dict[str, object]]) -> list[int]:
    messages = [BackMsg.FromString(message["bytes"]) for message in received]
    return [message.rerun_script.widget_states.widgets[0].int_value for message in messages]


def test_a_row_is_handed_on_once_at_its_end():
    row = [rerun(seed=number) for number in range(2, 9)]
    received = asyncio.run(talk([rerun(seed=1), *row], 2))
    assert seeds(received) == [1, 8]


def test_a_pause_ends_a_row():
    received = asyncio.run(talk([rerun(seed=1), rerun(seed=2), 0.4, rerun(seed=3)], 3))
    assert seeds(received) == [1, 2, 3]


def test_what_is_no_request_passes_unchanged():
    sent = [
        {"type": "websocket.connect"},
        {"type": "websocket.receive", "bytes": b"\xff\xff no message"},
        {"type": "websocket.disconnect", "code": 1000},
    ]
    assert asyncio.run(talk(sent, 3)) == sent


def test_a_disconnection_does_not_wait_for_what_is_held_back():
    end = {"type": "websocket.disconnect", "code": 1000}
    received = asyncio.run(talk([rerun(seed=1), rerun(seed=2), end], 2))
    assert received[-1] == end


def drawn(page: str, *fragments: str) -> list[bytes]:
    """What is sent when a page is run that has these fragments."""
    begin = ForwardMsg()
    begin.new_session.page_script_hash = page
    deltas = [ForwardMsg() for _ in fragments]
    for delta, fragment in zip(deltas, fragments, strict=True):
        delta.delta.fragment_id = fragment
    return [message.SerializeToString() for message in (begin, *deltas)]


async def asked_for(sent: list[bytes], request: BackMsg) -> str:
    """The fragment that an app is asked for when this has been sent, and a browser makes this request."""

    async def receive() -> dict[str, object]:
        return {"type": "websocket.receive", "bytes": request.SerializeToString()}

    async def app(scope, receive, send) -> None:
        for data in [answer(), *sent]:
            await send({"type": "websocket.send", "bytes": data})
        received.append(await receive())

    async def send(message: dict[str, object]) -> None:
        pass

    received: list[dict[str, object]] = []
    await PageRunsAtRest(app, rest=0)({"type": "websocket"}, receive, send)
    return BackMsg.FromString(received[0]["bytes"]).rerun_script.fragment_id


@pytest.mark.parametrize(
    ("sent", "fragment"),
    [
        (drawn("one", "foot of one"), "foot of one"),
        (drawn("one", "foot of one") + drawn("one"), "foot of one"),  # it is being run anew
        (drawn("one", "foot of one") + drawn("two"), ""),
        (drawn("one", "foot of one") + drawn("two", "foot of two"), ""),
    ],
)
def test_a_press_on_the_page_before_runs_the_whole_page(sent, fragment):
    """Streamlit would not hear of it, as the fragment is gone."""
    request = rerun(seed=1)
    request.rerun_script.fragment_id = "foot of one"
    assert asyncio.run(asked_for(sent, request)) == fragment
    request.rerun_script.is_auto_rerun = True  # nobody's press: a part that is gone need not renew itself
    assert asyncio.run(asked_for(sent, request)) == "foot of one"


async def ended(first: dict[str, object] | None) -> tuple[dict[str, object], list[dict[str, object]]]:
    """What an app receives last of a websocket that sends this and no more, and what its browser is sent."""
    sent: list[dict[str, object]] = []
    coming = [{"type": "websocket.connect"}, *([first] if first else [])]

    async def receive() -> dict[str, object]:
        return coming.pop(0) if coming else await asyncio.Future()

    async def send(message: dict[str, object]) -> None:
        sent.append(message)

    received: list[dict[str, object]] = []

    async def app(scope, receive, send) -> None:
        PICTURES_FOLLOW.pop(SESSION)
        while not received or received[-1]["type"] != "websocket.disconnect":
            received.append(await receive())

    await asyncio.wait_for(PageRunsAtRest(app, rest=0.2)({"type": "websocket"}, receive, send), 10)
    return received[-1], sent


def test_a_websocket_that_asks_for_no_page_is_closed(monkeypatch):
    monkeypatch.setattr(page_runs, "FIRST", 0.05)
    pings = BackMsg(app_heartbeat=True).SerializeToString()
    for first in (None, {"type": "websocket.receive", "bytes": pings}):
        last, sent = asyncio.run(ended(first))
        PICTURES_FOLLOW[SESSION] = True
        assert last == {"type": "websocket.disconnect", "code": 1013}
        assert sent == [{"type": "websocket.close", "code": 1013}]
    PICTURES_FOLLOW.pop(SESSION)


def test_a_websocket_that_has_asked_for_a_page_stays(monkeypatch):
    monkeypatch.setattr(page_runs, "FIRST", 0.05)
    assert seeds(asyncio.run(talk([rerun(seed=1), 0.2, rerun(seed=2)], 2))) == [1, 2]


def test_text_closes_a_websocket_without_a_word_in_the_log(caplog):
    last, sent = asyncio.run(ended({"type": "websocket.receive", "text": "hello"}))
    assert (last["code"], sent) == (1003, [{"type": "websocket.close", "code": 1003}])
    assert not caplog.records


@pytest.mark.parametrize(
    ("query", "widgets"), [("x" * 300_000, 0), ("&".join(f"{n}=" for n in range(600)), 0), ("", 3_000)]
)
def test_a_message_with_more_than_any_page_has_closes_the_websocket(query, widgets):
    message = BackMsg()
    message.rerun_script.query_string = query
    for number in range(widgets):
        message.rerun_script.widget_states.widgets.add().id = f"$$ID-0-{number}"
    last, sent = asyncio.run(ended({"type": "websocket.receive", "bytes": message.SerializeToString()}))
    assert (last["code"], sent) == (1009, [{"type": "websocket.close", "code": 1009}])


@pytest.mark.parametrize("name", ["nobody", "x" * 900_000, "$$ID-0-" + "x" * 2_000])
def test_a_widget_that_no_page_can_have_closes_the_websocket(name, caplog):
    """Streamlit would end each run by an error that names it, and write that into the log."""
    message = BackMsg()
    message.rerun_script.widget_states.widgets.add(id=name, int_value=3)
    last, sent = asyncio.run(ended({"type": "websocket.receive", "bytes": message.SerializeToString()}))
    assert (last["code"], sent) == (1003, [{"type": "websocket.close", "code": 1003}])
    assert not caplog.records


@pytest.mark.parametrize("name", ["$$ID-0-seed", "$$ID-0-_fixed_the tokens of “Reverse”", events_of("$$ID-0-canvas")])
def test_widgets_of_pages_may_have_the_names_that_streamlit_gives_them(name):
    message = BackMsg()
    message.rerun_script.widget_states.widgets.add(id=name, int_value=3)
    assert len(asyncio.run(talk([message], 1))) == 1


def test_what_no_page_sends_does_not_reach_streamlit():
    """One message would clear all visitors' caches, others are for developers; Streamlit writes some into the log."""
    unsent = [
        BackMsg(clear_cache=True),
        BackMsg(set_run_on_save=True),
        BackMsg(load_git_info=True),
        BackMsg(debug_shutdown_runtime=True),
        BackMsg(debug_disconnect_websocket=True),
        BackMsg(),
    ]
    unsent.append(BackMsg())
    unsent[-1].backend_operation_request.install_skills.SetInParent()
    files, download = BackMsg(), BackMsg()
    files.file_urls_request.file_names.append("mask.csv")
    download.backend_operation_request.deferred_file.file_id = "0" * 56
    sent = [files, download, BackMsg(stop_script=True), BackMsg(app_heartbeat=True)]
    received = asyncio.run(talk([*unsent, *sent], len(sent)))
    assert [BackMsg.FromString(message["bytes"]) for message in received] == sent


@pytest.mark.parametrize("what", ["files", "order", "hashes"])
def test_orders_and_addresses_of_files_are_few(what):
    """Streamlit makes an address for each name of a file, on the event loop; and it logs what it does not know."""
    message = BackMsg()
    if what == "files":
        message.file_urls_request.file_names.extend(["a"] * 300_000)
    elif what == "hashes":
        message.rerun_script.cached_message_hashes.extend(["a"] * 130_000)
    else:
        message.backend_operation_request.request_id = "x" * 900_000
    last, sent = asyncio.run(ended({"type": "websocket.receive", "bytes": message.SerializeToString()}))
    assert (last["code"], sent) == (1009, [{"type": "websocket.close", "code": 1009}])
