"""When a visitor's page is run: at once, but for a row of presses at a box of numbers, which is one run at its end.

Such a box, Streamlit's own, sends a message at each press of its arrows; all else that a page has sends one for each
act, a drag of our sliders too. Pictures and what is said of them need no page: the browser asks for both by itself, so
the page can catch up once the visitor rests. Each message of a browser holds the values of all its widgets; a later
message therefore stands for those that were held back before it. If they ask for different parts of the page, one run
of the whole page stands for all of them.

With 30 visitors on two cores who pressed every 1 to 2 seconds, pictures took 80 ms (median), and 800 ms where each
press ran the page: pages are run by one process, which had no time left.
"""

from collections.abc import Mapping
from hashlib import blake2b

from tfm_ui.streamlit_private.protocol import BackMsg, ClientState

ROW = 5.0  # seconds within which presses belong to one row

# Boxes of numbers send the first two, Streamlit's slider the third. What is chosen from names may bring controls.
NUMBERS = {"int_value", "double_value", "double_array_value"}
TRIGGERS = {"trigger_value", "string_trigger_value", "chat_input_value", "json_trigger_value"}  # sent once

PICTURES_FOLLOW: dict[str, bool] = {}  # session -> whether all pictures of its page follow its controls by themselves


class PageRuns:
    """The requests of one tab to run its page. The caller tells the time.

    Args:
        rest: seconds without a press after which a visitor rests; 0 runs the page at each press.
    """

    def __init__(self, rest: float) -> None:
        self._rest = rest
        self._values: Mapping[str, bytes] = {}  # widget -> what stands for its value in the newest message
        self._held: BackMsg | None = None
        self._last_press = float("-inf")
        self.due = float("inf")  # when what is held back has to be handed on

    def put(self, message: BackMsg, now: float, *, may_wait: bool) -> list[BackMsg]:
        """Take a message of the browser; return the messages to hand on now, in order.

        Args:
            message: any message.
            now: the time in seconds.
            may_wait: whether the pictures follow the controls without the page.
        """
        if message.WhichOneof("type") != "rerun_script":
            return [message]
        seconds = self._seconds(message.rerun_script, now)
        before = [] if self._joins_held(message.rerun_script) else self.take()
        if seconds <= 0 or not may_wait:
            self.take()
            return [*before, message]
        self._held, self.due = message, now + seconds
        return before

    def take(self) -> list[BackMsg]:
        """What is held back, if anything; it is no longer held."""
        held, self._held, self.due = self._held, None, float("inf")
        return [held] if held else []

    def _seconds(self, asked: ClientState, now: float) -> float:
        """How long this request may wait."""
        moved = self._moved(asked)
        if asked.is_auto_rerun or asked.is_history_navigation or not moved or moved - NUMBERS:
            return 0.0
        in_a_row, self._last_press = now - self._last_press < ROW, now
        return self._rest if in_a_row else 0.0

    def _moved(self, asked: ClientState) -> set[str]:
        """The kinds of widgets that have been moved since the newest message, which this one now is.

        Of the first act nobody can say: a browser tells no values before it.
        """
        widgets = asked.widget_states.widgets
        # Digests, as a value may be long, and each open tab has this.
        values = {widget.id: blake2b(widget.SerializeToString(), digest_size=16).digest() for widget in widgets}
        names = {name for name, value in values.items() if self._values.get(name, value) != value}
        self._values = values
        kinds = {widget.id: str(widget.WhichOneof("value")) for widget in widgets}
        return {kind for name, kind in kinds.items() if kind in TRIGGERS or name in names}

    def _joins_held(self, asked: ClientState) -> bool:
        return self._held is None or _joined(self._held.rerun_script, asked)


def joined(waiting: BackMsg, newer: BackMsg) -> bool:
    """Whether one run is enough for both requests, which is then what `newer` asks for: it may become the whole page.

    A press is sent once: what waits for one is not left out.
    """
    before, now = waiting.rerun_script, newer.rerun_script
    return not _has_trigger(before) and before.is_auto_rerun <= now.is_auto_rerun and _joined(before, now)


def _joined(before: ClientState, now: ClientState) -> bool:
    if before.page_script_hash != now.page_script_hash:
        return False
    if before.fragment_id != now.fragment_id:
        # A part that renews itself again and again would run the whole page each time; and a button such as Undo
        # acts on what the page has shown.
        if now.is_auto_rerun or _has_trigger(now):
            return False
        now.fragment_id = ""
    return True


def _has_trigger(asked: ClientState) -> bool:
    return any(widget.WhichOneof("value") in TRIGGERS for widget in asked.widget_states.widgets)
