"""The cookie that identifies a browser, as Streamlit writes it, with a mask of zeros."""

from tfm_ui.visitors.visitor import COOKIE


def cookie(browser: str) -> str:
    """The value of a Cookie header."""
    return f"{COOKIE}=2|00|{browser.encode().hex()}|1"
