"""Opens pages without a browser; the lenses, and queries that no link has, for all tests of pages."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from unittest.mock import MagicMock

import pytest
from streamlit.runtime import Runtime
from streamlit.runtime.scriptrunner.script_cache import ScriptCache
from streamlit.testing.v1 import AppTest, app_test, local_script_runner
from streamlit.util import calc_hash

from tfm_ui import lenses

ROOT = Path(__file__).parents[1]
PAGES = tuple(lenses.NAMES)
BAD_QUERIES = (
    "?", "?=", "?&&&=&", "?text", "?text=&target=&architecture=encoder-decoder", "?seq_len=%00", "?text=%ff%fe",
    "?num_heads=8&num_heads=&num_heads=🦊", "?heads_layer=-1e9&heads_head=9e999", "?text=@", "?text=@nobody",
    "?heads_kind=cross&heads_scale=", "?seed=%F0%9F%A6%8A&d_ff=0x10", "?present=", "?text=" + "%F0%9F%A6%8A" * 900,
)  # fmt: skip


def new_app(**query: str | list[str]) -> AppTest:
    """The app with this link's parameters, not run yet."""
    app = AppTest.from_file(str(ROOT / "app.py"), default_timeout=60)
    for name, value in query.items():
        app.query_params[name] = value
    return app


def go_to(app: AppTest, page: str) -> AppTest:
    """The app, to be run at the page of this lens. AppTest's `switch_page` cannot do it: all lenses share one file."""
    app._page_hash = calc_hash(page)
    return app


@contextmanager
def pages_without_preparation() -> Iterator[None]:
    """Spare each run of a page what a server does once: compiling the scripts, and a stand-in for the server.

    A third of a run is that. AppTest also looks a thousand times a second whether the script has ended, and each look
    halts the script; its end is enough.
    """
    scripts, server, look = ScriptCache(), MagicMock(spec=Runtime), local_script_runner.require_widgets_deltas
    server.get_client.return_value = None  # a visitor without cookies, on this machine

    def same_server(**_: object) -> MagicMock:
        server.reset_mock()
        return server

    def wait(runner: local_script_runner.LocalScriptRunner, timeout: float = 3) -> None:
        runner._script_thread.join(timeout)
        look(runner, timeout=1)  # ends at once, or says what the time was over for

    with pytest.MonkeyPatch.context() as patch:
        for module in (app_test, local_script_runner):
            patch.setattr(module, "ScriptCache", lambda: scripts)
        patch.setattr(app_test, "MagicMock", same_server)
        patch.setattr(local_script_runner, "require_widgets_deltas", wait)
        yield
