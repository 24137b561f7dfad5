"""What a browser says to Streamlit's server, and what it makes of the answers, for visitors that have no browser."""

from collections.abc import Mapping

from streamlit.proto.Element_pb2 import Element as Element
from streamlit.proto.WidgetStates_pb2 import WidgetState as WidgetState

from tfm_ui.streamlit_private.addresses import HEALTH as HEALTH
from tfm_ui.streamlit_private.addresses import STREAM as STREAM
from tfm_ui.streamlit_private.addresses import UPLOADS as UPLOADS
from tfm_ui.streamlit_private.protocol import BackMsg as BackMsg
from tfm_ui.streamlit_private.protocol import ClientState as ClientState
from tfm_ui.streamlit_private.protocol import ForwardMsg as ForwardMsg
from tfm_ui.streamlit_private.protocol import events_of as events_of

SUCCEEDED, PART_SUCCEEDED = ForwardMsg.FINISHED_SUCCESSFULLY, ForwardMsg.FINISHED_FRAGMENT_RUN_SUCCESSFULLY
STOPPED = ForwardMsg.FINISHED_EARLY_FOR_RERUN  # a later request has taken its place


def asking(page: str, query: str = "", texts: Mapping[str, str] | None = None) -> bytes:
    """The message with which a browser asks for a run of a page.

    Args:
        page: the page's name in the address.
        query: of the address.
        texts: name of a widget -> what was typed into it.
    """
    message = BackMsg()
    message.rerun_script.page_name, message.rerun_script.query_string = page, query
    for name, text in (texts or {}).items():
        message.rerun_script.widget_states.widgets.add(id=name, string_value=text)
    return message.SerializeToString()


def asks_for_a_run(message: str | bytes) -> bool:
    """Whether a browser asks for a run of its page by this message."""
    return isinstance(message, bytes) and BackMsg.FromString(message).WhichOneof("type") == "rerun_script"


def begins_a_run(message: str | bytes) -> bool:
    """Whether the server says by this message that a run of the page has begun."""
    return isinstance(message, bytes) and ForwardMsg.FromString(message).WhichOneof("type") == "new_session"


def end_of_a_run(message: str | bytes) -> int | None:
    """How a run of the page has ended, as SUCCEEDED; None if the message says something else."""
    forward = ForwardMsg.FromString(message) if isinstance(message, bytes) else ForwardMsg()
    return forward.script_finished if forward.WhichOneof("type") == "script_finished" else None
