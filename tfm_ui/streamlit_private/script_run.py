"""The run of a page's script in this thread, if it runs one: Streamlit keeps what is known of it.

Pictures, the server's start and tests compute without one.
"""

from streamlit.runtime.scriptrunner import get_script_run_ctx


def runs_a_script() -> bool:
    """Whether this thread runs a page's script."""
    return get_script_run_ctx(suppress_warning=True) is not None


def session_here() -> str:
    """The session of the tab whose page is run; "" without one."""
    context = get_script_run_ctx(suppress_warning=True)
    return context.session_id if context else ""


def page_here() -> str:
    """The page that this run draws, by Streamlit's name for it; "" without a run."""
    context = get_script_run_ctx(suppress_warning=True)
    return context.page_script_hash if context else ""


def by_history() -> bool:
    """Whether Back or Forward has caused this run: then the address says all that the page is to show."""
    context = get_script_run_ctx(suppress_warning=True)
    return context is not None and context.is_history_navigation
