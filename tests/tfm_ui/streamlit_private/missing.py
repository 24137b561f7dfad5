"""What a Streamlit lacks of what this project uses unpromised: `python -m tests.tfm_ui.streamlit_private.missing`.

It imports nothing of the app, so it tells all at once where the app itself would end at its first import.
"""

import ast
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

from tests.imports import Source, parsed

ROOT = Path(__file__).parents[3]
ROOMS = "tfm_ui/streamlit_private", "benchmarks/streamlit_private"
BACK, CLIENT, FORWARD = (f"streamlit.proto.{name}_pb2:{name}." for name in ("BackMsg", "ClientState", "ForwardMsg"))
RUNNER = "streamlit.testing.v1.local_script_runner:LocalScriptRunner."
# What is used of what is imported: a module, ":", and a name in it or in what that name stands for -> what for.
USED = {
    "streamlit.runtime:Runtime.exists": "running.py: whether a server runs",
    "streamlit.runtime:Runtime.instance": "running.py: the server that runs",
    "streamlit.runtime:Runtime.is_active_session": "running.py: jobs end with the last tab that waits for them",
    "streamlit.runtime:Runtime.uploaded_file_mgr": "running.py: how much memory uploads take",
    "streamlit.runtime.scriptrunner:ScriptRunContext.session_id": "script_run.py: which tab asks for a job",
    "streamlit.runtime.scriptrunner:ScriptRunContext.page_script_hash": "script_run.py: an act of a page that is gone",
    "streamlit.runtime.scriptrunner:ScriptRunContext.is_history_navigation": "script_run.py: what Back brings back",
    "streamlit.runtime.state:SessionState.filtered_state": "session_values.py: values are looked up one by one",
    "streamlit.config:is_manually_set": "options.py: no default of ours goes before what was asked for",
    "streamlit.config:set_option": "options.py: a local server has local names alone",
    "streamlit.config:get_option": "server/asgi.py: where the app's addresses begin",
    "streamlit.logger:setup_formatter": "loggers.py: a log in JSON is JSON throughout",
    f"{BACK}rerun_script": "page_runs.py: runs of the page wait until a visitor rests",
    f"{BACK}stop_script": "page_runs.py: what pages send",
    f"{BACK}app_heartbeat": "page_runs.py: what pages send",
    f"{BACK}file_urls_request": "page_runs.py: uploads, with a limit",
    f"{BACK}backend_operation_request": "page_runs.py: downloads and tables, with a limit",
    f"{CLIENT}query_string": "rest.py: what the first act has moved",
    f"{CLIENT}widget_states": "rest.py: what an act has moved",
    f"{CLIENT}page_script_hash": "rest.py: runs of one page join",
    f"{CLIENT}page_name": "benchmarks: visitors without a browser open a page",
    f"{CLIENT}fragment_id": "rest.py, page_runs.py: a press on a part of a page that is gone",
    f"{CLIENT}is_auto_rerun": "rest.py, page_runs.py: parts that renew themselves",
    f"{CLIENT}is_history_navigation": "rest.py: Back does not wait",
    f"{CLIENT}cached_message_hashes": "page_runs.py: a limit",
    f"{FORWARD}new_session": "page_runs.py: which session a tab is, which page it shows",
    f"{FORWARD}delta": "page_runs.py: which parts a page has",
    f"{FORWARD}script_finished": "benchmarks: when a run of a page has ended",
    f"{FORWARD}ref_hash": "benchmarks: messages that a browser has kept",
    f"{FORWARD}navigation": "benchmarks: which page was opened",
    f"{FORWARD}page_info_changed": "benchmarks: what the address is",
    "streamlit.delta_generator:DeltaGenerator._enqueue": "benchmarks/tick.py: the time that elements take",
    f"{RUNNER}_run_script": "benchmarks/tick.py: the time that a script takes",
    f"{RUNNER}_maybe_handle_execution_control_request": "test_interrupted.py: a run ends where it happens to be",
    f"{RUNNER}_is_in_script_thread": "test_interrupted.py: a run ends where it happens to be",
    "streamlit.testing.v1.local_script_runner:require_widgets_deltas": "tests/pages: runs without waiting",
    "streamlit.testing.v1.local_script_runner:ScriptCache": "tests/pages: scripts are compiled once",
    "streamlit.testing.v1.local_script_runner:ForwardMsgQueue.enqueue": "benchmarks/tick.py: the bytes of a run",
    "streamlit.testing.v1.app_test:ScriptCache": "tests/pages: scripts are compiled once",
    "streamlit.testing.v1.app_test:MagicMock": "tests/pages: one stand-in for the server",
    "streamlit.testing.v1.app_test:Runtime": "tests/pages: one stand-in for the server",
    "streamlit.testing.v1:AppTest._run": "tests/pages: events of components",
    "streamlit.components.v2.manifest_scanner:scan_component_manifests": "tests: packages are searched once",
}


def missing() -> list[str]:
    """A line for each import of the rooms and each name in USED that the installed Streamlit does not have."""
    return [*_missing_imports(), *(f"{name}: {what}" for name, what in USED.items() if not _has(name))]


def _missing_imports() -> list[str]:
    gone = []
    for path in Source(ROOT, ROOMS).files.values():
        for statement in parsed(path).imports:
            if isinstance(statement, ast.ImportFrom) and (statement.module or "").startswith("streamlit"):
                names = [f"{statement.module}:{name.name}" for name in statement.names]
                gone += [f"{name}: {path.relative_to(ROOT)} imports it" for name in names if not _has(name)]
    return gone


def _has(name: str) -> bool:
    module, _, inside = name.partition(":")
    try:
        at: Any = import_module(module)
    except ImportError:
        return False
    for part in inside.split("."):
        if not (hasattr(at, part) or part in _fields(at) or _is_module(f"{module}.{part}")):
            return False
        at = getattr(at, part, None)
    return True


def _fields(at: Any) -> set[str]:
    """The fields of a message, or of a dataclass whose fields have no defaults."""
    message = getattr(at, "DESCRIPTOR", None)
    return {*getattr(message, "fields_by_name", ()), *getattr(at, "__dataclass_fields__", ())}


def _is_module(name: str) -> bool:
    try:
        return bool(import_module(name))
    except ImportError:
        return False


if __name__ == "__main__":
    sys.stdout.write("\n".join([*missing()] or ["Nothing is missing."]) + "\n")
