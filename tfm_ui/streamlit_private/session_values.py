"""What a tab's widgets are set to, looked up one by one.

For each text, number and choice that a page draws, Streamlit gathers the values of all of them, and looks at one. To
gather the value of a component it makes a class, so that this was a seventh of a page's run.
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from streamlit.runtime.state import SessionState

from tfm_ui.streamlit_private.protocol import GENERATED_ELEMENT_ID_PREFIX, STREAMLIT_INTERNAL_KEY_PREFIX

HIDDEN = GENERATED_ELEMENT_ID_PREFIX, STREAMLIT_INTERNAL_KEY_PREFIX  # begin names that only Streamlit knows
GATHERED = "filtered_state"  # the property of Streamlit's that gathers them
_gathered: Callable[[SessionState], dict[str, Any]] = vars(SessionState)[GATHERED].fget


class SessionValues(Mapping[str, Any]):
    """Key -> value, as Streamlit gathers them."""

    def __init__(self, state: SessionState) -> None:
        self._state = state

    def __getitem__(self, key: str) -> Any:
        """The value of this key, which is looked up now."""
        if key.startswith(HIDDEN):
            raise KeyError(key)
        return self._state[key]

    def __iter__(self) -> Iterator[str]:
        """All keys, as gathered."""
        return iter(_gathered(self._state))

    def __len__(self) -> int:
        """How many keys there are."""
        return len(_gathered(self._state))

    def __repr__(self) -> str:
        return repr(_gathered(self._state))


def look_up_one_by_one() -> None:
    """Let Streamlit look values up one by one, in this process from now on."""
    setattr(SessionState, GATHERED, property(SessionValues))


@contextmanager
def looked_up_one_by_one() -> Iterator[None]:
    """Let Streamlit look values up one by one in the block."""
    before = vars(SessionState)[GATHERED]
    look_up_one_by_one()
    try:
        yield
    finally:
        setattr(SessionState, GATHERED, before)
