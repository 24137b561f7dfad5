"""A lesson to take along: its file, and the QR code of its link."""

import streamlit as st

from tfm_ui.lessons.lesson import Lesson
from tfm_ui.lessons.writer import written
from tfm_ui.page import share


def lesson_file(lesson: Lesson, name: str) -> None:
    """Draw the button that saves a lesson as its file."""
    st.download_button(
        "Save the file",
        written(lesson),
        f"{name}.md",
        "text/markdown",
        icon=":material/download:",
        on_click="ignore",
        key=f"_file_{name}",
    )


def qr(link: str) -> None:
    """Draw a link as a QR code, small, which a press opens large."""
    with st.popover("QR code", icon=":material/qr_code_2:", type="tertiary", key="_qr_lecture"):
        st.html(f'<div class="qr">{share.qr_code(link)}</div>')
