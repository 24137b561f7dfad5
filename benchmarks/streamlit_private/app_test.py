"""What AppTest, which runs pages without a browser, does not offer: other pages, other events, and less work."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any
from unittest.mock import MagicMock, patch

from google.protobuf.message import Message
from streamlit.components.v2 import manifest_scanner
from streamlit.delta_generator import DeltaGenerator
from streamlit.testing.v1 import AppTest, app_test, local_script_runner
from streamlit.util import calc_hash

from tfm_ui.streamlit_private.protocol import events_of
from tfm_ui.streamlit_private.session_values import looked_up_one_by_one

# What AppTest is made of: its modules, which name no types for it.
APP: Any = app_test
RUNNER: Any = local_script_runner
# Where the time of a run goes: the script, and its elements made into messages.
SCRIPT, ELEMENTS = (RUNNER.LocalScriptRunner, "_run_script"), (DeltaGenerator, "_enqueue")


def go_to(app: AppTest, page: str) -> AppTest:
    """The app, to be run at the page of this lens. AppTest's `switch_page` cannot do it: all lenses share one file."""
    app._page_hash = calc_hash(page)
    return app


def run_with_event(app: AppTest, component: str, event: str, value: Any) -> AppTest:
    """Run the app as if the component with this name had told this event, which AppTest knows no way to."""
    states = app._tree.get_widget_states()
    told = json.dumps([{"event": event, "value": value}])
    states.widgets.add(id=events_of(component), json_trigger_value=told)
    return app._run(states)


def messages(app: AppTest) -> Iterator[Message]:
    """What the page and all that stands in it have sent to the browser."""
    return _messages(app._tree)


def _messages(node: Any) -> Iterator[Message]:
    if isinstance(message := getattr(node, "proto", None), Message):
        yield message
    for child in getattr(node, "children", {}).values():
        yield from _messages(child)


@contextmanager
def messages_kept() -> Iterator[list[Message]]:
    """The messages of all runs in the block, as they are sent over a websocket."""
    messages, enqueued = list[Message](), RUNNER.ForwardMsgQueue.enqueue

    def enqueue(queue: Any, message: Any, *more: Any) -> None:
        messages.append(message)
        enqueued(queue, message, *more)

    with patch.object(RUNNER.ForwardMsgQueue, "enqueue", enqueue):
        yield messages


@contextmanager
def interrupted(at: int, by: Any) -> Iterator[None]:
    """The next run of a page ends the `at`-th time that it could, by what this function does in its thread."""
    runner_type = RUNNER.LocalScriptRunner
    usual, left = runner_type._maybe_handle_execution_control_request, at

    def halt(runner: Any) -> None:
        nonlocal left
        if runner._execing and runner._is_in_script_thread():
            left -= 1
            if not left:
                by()
        usual(runner)

    with patch.object(runner_type, "_maybe_handle_execution_control_request", halt):
        yield
    assert left <= 0


@contextmanager
def pages_without_preparation() -> Iterator[None]:
    """Spare each run of a page what a server does once: compiling the scripts, and a stand-in for the server.

    A third of a run is that. AppTest also looks a thousand times a second whether the script has ended, and each look
    halts the script; its end is enough. As in a server, values of widgets are looked up one by one.
    """
    scripts, server = APP.ScriptCache(), MagicMock(spec=APP.Runtime)
    look = RUNNER.require_widgets_deltas
    server.get_client.return_value = None  # a visitor without cookies, on this machine

    def same_server(**_: object) -> MagicMock:
        server.reset_mock()
        return server

    def wait(runner: Any, timeout: float = 3) -> None:
        runner._script_thread.join(timeout)
        look(runner, timeout=1)  # ends at once, or says what the time was over for

    with (
        looked_up_one_by_one(),
        patch.object(app_test, "ScriptCache", lambda: scripts),
        patch.object(local_script_runner, "ScriptCache", lambda: scripts),
        patch.object(app_test, "MagicMock", same_server),
        patch.object(local_script_runner, "require_widgets_deltas", wait),
    ):
        yield


@contextmanager
def packages_searched_once() -> Iterator[None]:
    """AppTest searches all installed packages for Streamlit's components, once a page: most of a page's time."""
    search = cache(manifest_scanner.scan_component_manifests)
    with patch.object(manifest_scanner, "scan_component_manifests", search):
        yield
