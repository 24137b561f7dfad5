"""What the modules of the room promise to the app holds with this Streamlit."""

import logging
from collections.abc import Iterator
from types import SimpleNamespace

import pytest
import streamlit as st
from streamlit.runtime.memory_uploaded_file_manager import MemoryUploadedFileManager
from streamlit.runtime.uploaded_file_manager import UploadedFileRec
from streamlit.testing.v1 import AppTest

from tfm_ui.streamlit_private import containers, loggers, options, running, script_run, session_values

OPTIONS = "server.allowedHosts", "browser.serverAddress", "server.baseUrlPath"


def test_a_container_is_of_the_type_that_signatures_name():
    drawn = AppTest.from_function(lambda: __import__("streamlit").container()).run()
    assert not drawn.exception
    assert isinstance(st.sidebar, containers.DeltaGenerator), "containers.py names another type"


def test_a_thread_without_a_script_runs_none():
    assert not script_run.runs_a_script()
    assert script_run.session_here() == ""
    assert not script_run.by_history()


def test_a_script_knows_that_it_runs_and_for_which_session():
    def page() -> None:
        import streamlit as st

        from tfm_ui.streamlit_private import script_run

        st.text(f"{script_run.runs_a_script()} {script_run.by_history()} {script_run.session_here() != ''}")

    told = AppTest.from_function(page).run().text[0].value
    assert told == "True False True", "script_run.py does not see the run: jobs would belong to nobody"


def test_what_streamlit_keeps_of_uploads_is_counted(monkeypatch):
    store = MemoryUploadedFileManager("/upload")
    for number in range(2):
        store.add_file("a session", UploadedFileRec(f"{number}", "mask.csv", "text/csv", b"12345"))
    runtime = SimpleNamespace(uploaded_file_mgr=store)
    monkeypatch.setattr(running, "Runtime", SimpleNamespace(exists=lambda: True, instance=lambda: runtime))
    told = "running.py counts other bytes than Streamlit keeps: uploads would have no limit"
    assert running.uploaded_bytes() == {"a session": 10}, told


def test_without_a_server_nothing_is_open_and_nothing_kept():
    assert not running.is_open("a session")
    assert running.uploaded_bytes() == {}


@pytest.fixture
def options_as_before() -> Iterator[None]:
    """Afterwards Streamlit's options are as they were, and set by whom they were."""
    config = options.config
    before = {name: (st.get_option(name), config.get_where_defined(name)) for name in OPTIONS}
    yield
    for name, (value, where) in before.items():
        config.set_option(name, value, where)


@pytest.mark.parametrize("name", OPTIONS)
def test_an_option_that_is_set_is_known_as_set(name, options_as_before):
    value = ["x.test"] if name == "server.allowedHosts" else "x.test"
    assert not options.is_set(name), f"options.py takes {name} for set"
    options.set_option(name, value)
    assert options.is_set(name), f"options.py does not see that {name} was set"
    assert st.get_option(name) == value


@pytest.mark.parametrize(
    ("name", "value"),
    [("runner.postScriptGC", False), ("server.maxWidgetStateSize", 1), ("global.maxCachedMessageAge", 20)],
)
def test_a_hidden_option_still_works(name, value):
    told = f".streamlit/config.toml sets {name}, which Streamlit no longer knows"
    assert name in options.config.get_config_options(force_reparse=False), told
    assert st.get_option(name) == value, told


def test_a_host_that_is_not_allowed_is_known(options_as_before):
    options.set_option("server.allowedHosts", ["localhost", "*.lab.test", "::1"])
    known = [options.is_own_host(host) for host in ("localhost:8501", "a.lab.test", "[::1]:80", "evil.test", None)]
    told = "options.py: pages of other sites would pass, or the app's own would not"
    assert known == [True, True, True, False, False], told


def test_streamlit_sets_up_later_loggers_as_it_is_told(monkeypatch):
    monkeypatch.setattr(loggers.streamlits, "setup_formatter", loggers.streamlits.setup_formatter)
    set_up = list[str]()
    loggers.set_up_later_ones(by=lambda logger: set_up.append(logger.name))
    loggers.streamlits.get_logger("streamlit.made_for_this_test")
    assert set_up == ["streamlit.made_for_this_test"], "loggers.py: a log in JSON would have lines that are not"


def test_the_warning_that_no_script_runs_has_the_name_that_is_silenced(caplog):
    with caplog.at_level(logging.WARNING):
        st.text("nobody sees this")
    named = {record.name for record in caplog.records if "ScriptRunContext" in record.getMessage()}
    assert named == {loggers.NO_SCRIPT_RUNS}, "app.py: the server's start would warn of a script that is not expected"


def test_values_looked_up_one_by_one_are_those_that_are_gathered():
    def page() -> None:
        import streamlit as st
        from streamlit.components.v2 import component

        component("knob", html="<p>0</p>")(key="knob", default={"step": 3}, on_step_change=lambda: None)
        st.session_state.kept = [1, 2]
        st.number_input("Seed", value=7, key="seed")
        st.selectbox("Scheme", ["rope", "alibi"], index=None, key="scheme")
        st.text_input("Without a key")
        st.button("Press", key="press")

    app = AppTest.from_function(page).run()
    assert not app.exception
    state = app.session_state._state._state  # without what AppTest and a lock put around it
    gathered = state.filtered_state
    assert {"seed", "scheme", "kept", "knob", "press"} <= gathered.keys()
    told = "session_values.py: widgets would see other values than Streamlit gathers for them"
    values = session_values.SessionValues(state)
    assert dict(values) == gathered, told
    assert repr(values) == repr(gathered), told
    assert len(values) == len(gathered), told
    for key in [*state._keys(), "nobody's"]:
        assert (key in values) == (key in gathered), f"{told}: {key}"


def test_while_values_are_looked_up_one_by_one_none_are_gathered():
    def page() -> None:
        import streamlit as st

        st.number_input("Seed", value=None, key="seed")

    with session_values.looked_up_one_by_one():
        app = AppTest.from_function(page)
        app.session_state.seed = 5
        assert app.run().number_input[0].value == 5
        assert app.number_input[0].set_value(None).run().number_input[0].value is None
        state = app.session_state._state._state
        assert isinstance(state.filtered_state, session_values.SessionValues), "each widget still gathers all values"
    assert isinstance(state.filtered_state, dict)
