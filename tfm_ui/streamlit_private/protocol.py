"""What a browser and Streamlit's server say to each other over the websocket of a tab.

tfm_ui/visitors/rest.py reads it to hold runs of a page back, tfm_ui/server/page_runs.py to refuse what no page sends.
"""

from streamlit.proto.BackMsg_pb2 import BackMsg as BackMsg  # a browser asks for something
from streamlit.proto.ClientState_pb2 import ClientState as ClientState  # in it, if it asks for a run of the page
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg as ForwardMsg  # the server answers

# How the names of widgets in messages begin. Streamlit has these constants, but a page's messages are what counts.
GENERATED_ELEMENT_ID_PREFIX = "$$ID"  # then "-", digits, "-", and the key that the page has given
STREAMLIT_INTERNAL_KEY_PREFIX = "$$STREAMLIT_INTERNAL_KEY"  # then the name of a component, for its events


def events_of(component: str) -> str:
    """The name under which a browser sends the events of the component with this name."""
    return f"{STREAMLIT_INTERNAL_KEY_PREFIX}_{component}__events"
