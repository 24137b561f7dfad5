"""Sharing the page: one button copies its link, another shows it as a QR code, as large as the window."""

from html import escape

import segno
import streamlit as st

from tfm_ui.folders import ASSETS
from tfm_ui.page.components import LOADER
from tfm_ui.pictures.canvas import version
from tfm_ui.text.markdown import escape_markdown

_copy = st.components.v2.component(
    "copy_link",
    html='<button type="button"><span aria-live="polite"></span></button>',
    css=(ASSETS / "page/copy_link.css").read_text(encoding="utf-8"),
    js=LOADER % (version(), "page/copy_link"),
)


def buttons(link: str, cut: str) -> None:
    """Draw both buttons.

    Args:
        link: the link that brings back the page.
        cut: what the link does not bring back, in a sentence; "" if it brings back all.
    """
    _copy(key="copy_link", data={"link": link})
    st.button(
        "QR code",
        icon=":material/qr_code_2:",
        help="Shows the link of this page as a code that phones can read.",
        on_click=lambda: st.session_state.update({"_qr_is_open": True}),
        type="tertiary",
        key="_qr",
    )
    if st.session_state.pop("_qr_is_open", False):
        _dialog(link, cut)


@st.dialog("Scan to open this page", width="large")
def _dialog(link: str, cut: str) -> None:
    st.html(f'<div class="qr">{qr_code(link)}</div>')
    st.caption(escape_markdown(cut) if cut else "The link brings back what is on screen.")
    st.code(link, language=None, wrap_lines=True)


def qr_code(link: str) -> str:
    """The link as a QR code, black on white in any mode: an image that takes the width of its place.

    The least error correction makes the largest squares, which is what the last row of a hall needs.
    """
    code = segno.make_qr(link, error="L", boost_error=False)
    svg = code.svg_data_uri(border=4, dark="#000000", light="#ffffff", omitsize=True)
    return f'<img src="{escape(svg)}" alt="QR code of the link to this page">'


def address() -> str:
    """The address of this page, without parameters."""
    return (st.context.url or "").split("?")[0]
