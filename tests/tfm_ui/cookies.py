"""The cookie that identifies a browser, as Streamlit writes it: tests/tfm_ui/streamlit_private compare the two."""

from tfm_ui.visitors.visitor import COOKIE


def masked(token: bytes, mask: bytes = b"\0") -> str:
    """The cookie's value for this token below this mask, which Streamlit chooses anew for each answer."""
    hidden = bytes(byte ^ mask[place % len(mask)] for place, byte in enumerate(token))
    return f"2|{mask.hex()}|{hidden.hex()}|1"


def cookie(browser: str) -> str:
    """The value of a Cookie header."""
    return f"{COOKIE}={masked(browser.encode())}"
