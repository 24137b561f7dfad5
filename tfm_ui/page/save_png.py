"""A button that saves a panel's picture as PNG. The browser makes the file, as only the browser draws pictures."""

import streamlit as st

from tfm_ui.pictures.canvas import ASSETS

_component = st.components.v2.component(
    "save_png",
    html="<button>PNG: the picture, as you see it</button>",
    css=(ASSETS / "page/save_png.css").read_text(encoding="utf-8"),
    js=(ASSETS / "page/save_png.js").read_text(encoding="utf-8"),
)


def save_png(panel: str, file_name: str) -> None:
    """Draw the button for the panel with this key."""
    _component(key=f"png_{panel}", data={"panel": panel, "file": file_name})
