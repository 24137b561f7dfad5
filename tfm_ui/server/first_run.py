"""The first run that a websocket asks for is a run of the whole page.

When a tab has lost its server, it connects to the next, and does not ask that one to run anything: the page on screen
is still whole. So the visitor's next click may ask for the run of a fragment alone. The new session does not know this
fragment yet, and Streamlit would run nothing, without a word. A run of the whole page does what was asked for, too.
"""

from google.protobuf.message import DecodeError
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from streamlit.proto.BackMsg_pb2 import BackMsg


class WholeFirstRun:
    """Middleware for websockets; HTTP requests pass unchanged."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Read what the browser sends until it has asked for a run; from then on, all passes unread."""
        if scope["type"] != "websocket":
            return await self.app(scope, receive, send)
        asked_before = False

        async def whole_at_first() -> Message:
            nonlocal asked_before
            message = await receive()
            if asked_before or not (run := _run(message)):
                return message
            asked_before = True
            run.rerun_script.fragment_id = ""
            return {**message, "bytes": run.SerializeToString()}

        await self.app(scope, whole_at_first, send)


def _run(message: Message) -> BackMsg | None:
    """The request to run the page or a fragment that this message is; None if it is something else."""
    try:
        asked = BackMsg.FromString(message.get("bytes") or b"")
    except DecodeError:
        return None  # Streamlit says what is wrong with it
    return asked if asked.WhichOneof("type") == "rerun_script" else None
