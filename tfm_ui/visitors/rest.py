"""When a visitor's page is run: at once if controls may come or go, otherwise once the visitor rests.

Pictures and what is said of them need no page: the browser asks for both by itself. So a page that only has to catch
up with a moved number can wait, and a drag, or a row of key presses, is one run at its end. Each message of a browser
holds the values of all its widgets; a later message therefore stands for those that were held back before it. If they
ask for different parts of the page, one run of the whole page stands for all of them.
"""

from collections.abc import Mapping
from hashlib import blake2b
from urllib.parse import parse_qsl

from tfm_ui.streamlit_private.protocol import BackMsg, ClientState

SOON = 0.4  # seconds: longer than key presses of a row lie apart, and soon enough for what stands alone
ROW = 5.0  # seconds within which acts belong to one row

# Sliders and boxes of numbers send these. What is chosen from names (a switch, a list, a text) may bring controls.
NUMBERS = {"int_value", "double_value", "int_array_value", "double_array_value", "string_array_value"}
PICTURES = {"json_trigger_value"}  # what is picked, or let go, in a picture
TRIGGERS = {"trigger_value", "string_trigger_value", "chat_input_value"} | PICTURES  # sent once, never repeated

PICTURES_FOLLOW: dict[str, bool] = {}  # session -> whether all pictures of its page follow its controls by themselves


class PageRuns:
    """The requests of one tab to run its page. The caller tells the time.

    Args:
        rest: seconds without an act after which a visitor rests; 0 runs the page at each act.
    """

    def __init__(self, rest: float) -> None:
        self._rest = rest
        self._values: Mapping[str, bytes] = {}  # widget -> what stands for its value in the newest message
        self._address = set[tuple[str, str]]()  # the parameters of the address in the newest message
        self._held: BackMsg | None = None
        self._last_act = float("-inf")
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
        is_first = not self._values
        moved = self._moved(asked)
        if is_first and self._values and not moved:  # nobody can say what it was
            self._last_act = now
        if asked.is_auto_rerun or asked.is_history_navigation or not moved or moved - NUMBERS - PICTURES:
            return 0.0
        in_a_row, self._last_act = now - self._last_act < ROW, now
        return self._rest if in_a_row and moved <= NUMBERS else min(SOON, self._rest)

    def _moved(self, asked: ClientState) -> set[str]:
        """The kinds of widgets that have been moved since the newest message, which this one now is."""
        widgets = asked.widget_states.widgets
        # Digests, as a value may be long, and each open tab has this.
        values = {widget.id: blake2b(widget.SerializeToString(), digest_size=16).digest() for widget in widgets}
        address = set(parse_qsl(asked.query_string, keep_blank_values=True))
        if known := self._values:
            names = {name for name, value in values.items() if known.get(name, value) != value}
        else:  # the first act: a browser tells no values before it, but its address had them
            parameters = {parameter for parameter, _ in address ^ self._address}
            names = {name for name in values if _key(name) in parameters}
        self._values, self._address = values, address
        kinds = {widget.id: str(widget.WhichOneof("value")) for widget in widgets}
        return {kind for name, kind in kinds.items() if kind in TRIGGERS or name in names}

    def _joins_held(self, asked: ClientState) -> bool:
        """Whether one run is enough, which is then what `asked` asks for: of the same page, and no trigger is lost."""
        if self._held is None:
            return True
        held = self._held.rerun_script
        if held.page_script_hash != asked.page_script_hash or not _triggers(held) <= _triggers(asked):
            return False
        if held.fragment_id != asked.fragment_id:
            # A part that renews itself again and again would run the whole page each time; and a button such as Undo
            # acts on what the page has shown.
            if asked.is_auto_rerun or _triggers(asked):
                return False
            asked.fragment_id = ""
        return True


def _key(widget: str) -> str:
    """The key of a widget, which is its parameter in the address, of its id: "$$ID-<hash>-<key>"."""
    return widget.split("-", 2)[-1]


def _triggers(asked: ClientState) -> set[str]:
    return {widget.id for widget in asked.widget_states.widgets if widget.WhichOneof("value") in TRIGGERS}
