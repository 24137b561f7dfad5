"""The cookie by which a browser is told from others, as Streamlit writes it, with a mask of zeros."""

from tfm_ui.visitors.visitor import COOKIE


def cookie(browser: str) -> str:
    """A header's value."""
    return f"{COOKIE}=2|00|{browser.encode().hex()}|1"
