"""The websocket's middleware: what is held back comes in time, everything else passes unchanged."""

import asyncio
from collections.abc import Callable, Sequence

import pytest

from tests.tfm_ui.visitors.test_rest import rerun
from tfm_ui.server import page_runs
from tfm_ui.server.page_runs import PageRunsAtRest
from tfm_ui.streamlit_private.protocol import BackMsg, ForwardMsg, events_of
from tfm_ui.visitors.rest import PICTURES_FOLLOW

SESSION, END = "a session", "websocket.disconnect"
SCOPE = {"type": "websocket", "headers": [], "client": ("192.0.2.1", 1)}


def answer() -> bytes:
    forward = ForwardMsg()
    forward.new_session.initialize.session_id = SESSION
    return forward.SerializeToString()


async def talk(
    messages: list[object], count: int, *, sends: Sequence[bytes] = (), rest: float = 0.2
) -> tuple[list[dict[str, object]], list[dict[str, object]]]:
    """What an app receives, until there are `count` messages or it is disconnected, and what else its browser is sent.

    Args:
        messages: what the browser sends: of Streamlit's, or as they come from the network.
        count: how many messages the app receives at most.
        sends: what the app itself sends first, after its session.
        rest: as of `PageRuns`.
    """
    received: list[dict[str, object]] = []
    sent: list[dict[str, object]] = []
    coming = iter(messages)

    async def receive() -> dict[str, object]:
        for message in coming:
            is_streamlits = isinstance(message, BackMsg)
            return {"type": "websocket.receive", "bytes": message.SerializeToString()} if is_streamlits else message
        return await asyncio.Future()

    async def send(message: dict[str, object]) -> None:
        sent.append(message)

    async def app(scope, receive, send) -> None:
        for data in (answer(), *sends):
            await send({"type": "websocket.send", "bytes": data})
        while len(received) < count and END not in [message["type"] for message in received]:
            received.append(await receive())

    PICTURES_FOLLOW[SESSION] = True
    await asyncio.wait_for(PageRunsAtRest(app, rest=rest)(SCOPE, receive, send), 10)
    assert SESSION not in PICTURES_FOLLOW  # the middleware forgets a websocket that is closed
    assert [message["bytes"] for message in sent[: len(sends) + 1]] == [answer(), *sends]
    return received, sent[len(sends) + 1 :]


def received(messages: list[object], count: int) -> list[dict[str, object]]:
    """What an app receives whose browser is sent nothing but what the app sends."""
    there, sent = asyncio.run(talk(messages, count))
    assert not sent
    return there


def closed_with(*messages: object) -> int:
    """The code with which a websocket is closed, on both sides, whose browser sends these."""
    there, sent = asyncio.run(talk([{"type": "websocket.connect"}, *messages], 9))
    code = there[-1]["code"]
    assert there[-1] == {"type": END, "code": code}
    assert sent == [{"type": "websocket.close", "code": code}]
    return code


def seeds(received: list[dict[str, object]]) -> list[int]:
    messages = [BackMsg.FromString(message["bytes"]) for message in received]
    return [message.rerun_script.widget_states.widgets[0].int_value for message in messages]


def test_a_row_is_handed_on_once_at_its_end():
    row = [rerun(seed=number) for number in range(2, 9)]
    assert seeds(received([rerun(seed=1), *row], 3)) == [1, 2, 8]


def test_what_is_no_request_passes_unchanged():
    sent = [
        {"type": "websocket.connect"},
        {"type": "websocket.receive", "bytes": b"\xff\xff no message"},
        {"type": END, "code": 1000},
    ]
    assert received(sent, 3) == sent


def test_a_disconnection_does_not_wait_for_what_is_held_back():
    end = {"type": END, "code": 1000}
    assert received([rerun(seed=1), rerun(seed=2), rerun(seed=3), end], 3)[-1] == end


def drawn(page: str, *fragments: str) -> list[bytes]:
    """What is sent when a page is run that has these fragments."""
    begin = ForwardMsg()
    begin.new_session.page_script_hash = page
    deltas = [ForwardMsg() for _ in fragments]
    for delta, fragment in zip(deltas, fragments, strict=True):
        delta.delta.fragment_id = fragment
    return [message.SerializeToString() for message in (begin, *deltas)]


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
    for is_auto, asked_for in ((False, fragment), (True, "foot of one")):  # a part that renews itself need not, if gone
        request = rerun("foot of one", auto=is_auto, seed=1)
        there, _ = asyncio.run(talk([request], 1, sends=sent))
        assert BackMsg.FromString(there[0]["bytes"]).rerun_script.fragment_id == asked_for


@pytest.mark.parametrize("first", [[], [BackMsg(app_heartbeat=True)]])
def test_a_websocket_that_asks_for_no_page_is_closed(monkeypatch, first):
    monkeypatch.setattr(page_runs, "FIRST", 0.05)
    assert closed_with(*first) == 1013


def test_a_websocket_that_has_asked_for_a_page_stays(monkeypatch):
    monkeypatch.setattr(page_runs, "FIRST", 0.05)
    messages = [rerun(seed=1), rerun(seed=2), rerun(seed=3)]  # the last is held back for longer than that
    assert seeds(received(messages, 3)) == [1, 2, 3]


def message(fill: Callable[[BackMsg], object]) -> BackMsg:
    made = BackMsg()
    fill(made)
    return made


@pytest.mark.parametrize(
    "fill",
    [
        lambda asked: setattr(asked.rerun_script, "query_string", "x" * 300_000),
        lambda asked: setattr(asked.rerun_script, "query_string", "&".join(f"{n}=" for n in range(600))),
        lambda asked: [asked.rerun_script.widget_states.widgets.add(id=f"$$ID-0-{n}") for n in range(3_000)],
        lambda asked: asked.rerun_script.cached_message_hashes.extend(["a"] * 130_000),
        lambda asked: asked.file_urls_request.file_names.extend(["a"] * 300_000),
        lambda asked: setattr(asked.backend_operation_request, "request_id", "x" * 900_000),
    ],
    ids=["query", "parameters", "widgets", "hashes", "files", "order"],
)
def test_a_message_with_more_than_any_page_sends_closes_the_websocket(fill):
    """Streamlit makes an address for each name of a file, on the event loop; and it logs what it does not know."""
    assert closed_with(message(fill)) == 1009


@pytest.mark.parametrize("name", ["nobody", "x" * 900_000, "$$ID-0-" + "x" * 2_000])
def test_a_widget_that_no_page_can_have_or_text_closes_the_websocket_without_a_word_in_the_log(name, caplog):
    """Streamlit would end each run by an error that names the widget, and write that into the log."""
    widget = message(lambda asked: asked.rerun_script.widget_states.widgets.add(id=name, int_value=3))
    for sent in (widget, {"type": "websocket.receive", "text": name}):
        assert closed_with(sent) == 1003
    assert not caplog.records


@pytest.mark.parametrize("name", ["$$ID-0-seed", "$$ID-0-_fixed_the tokens of “Reverse”", events_of("$$ID-0-canvas")])
def test_widgets_of_pages_may_have_the_names_that_streamlit_gives_them(name):
    widget = message(lambda asked: asked.rerun_script.widget_states.widgets.add(id=name, int_value=3))
    assert len(received([widget], 1)) == 1


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
    there = received([*unsent, *sent], len(sent))
    assert [BackMsg.FromString(message["bytes"]) for message in there] == sent
