"""Buttons that save a panel's picture. The browser makes these files, as only the browser draws pictures."""

import streamlit as st

from tfm_ui.folders import ASSETS

_component = st.components.v2.component(
    "save_picture",
    html="<button></button>",
    css=(ASSETS / "page/save_picture.css").read_text(encoding="utf-8"),
    js=(ASSETS / "page/save_picture.js").read_text(encoding="utf-8"),
)


def save_picture(panel: str, kind: str, file_name: str) -> None:
    """Draw the button that saves the picture of the panel with this key.

    The browser adds what the page says by then: the panel's title and sentence, which weights, and the address.

    Args:
        panel: the panel's key.
        kind: the kind of file, such as "PNG".
        file_name: its name, which ends in the kind.
    """
    data = {"panel": panel, "file": file_name, "label": f"{kind}: the picture, for slides"}
    _component(key=f"{kind.lower()}_{panel}", data=data)
