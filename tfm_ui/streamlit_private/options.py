"""Options of Streamlit, where its public st.get_option is not enough, and what Streamlit makes of one of them."""

from typing import Any

from streamlit import config as config
from streamlit.web.server.starlette.starlette_websocket import is_host_allowed


def is_set(name: str) -> bool:
    """Whether somebody has set this option: a default of ours must not replace what was asked for."""
    return config.is_manually_set(name)


def set_option(name: str, value: Any) -> None:
    """Set an option of the server from the script that starts it: st.set_option sets only those of browsers."""
    config.set_option(name, value)


def is_own_host(host: str | None) -> bool:
    """Whether this is a name of this server, by Streamlit's option server.allowedHosts."""
    return bool(is_host_allowed(host))
