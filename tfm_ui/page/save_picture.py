"""Buttons that save a panel's picture. The browser makes these files, as only the browser draws pictures."""

import streamlit as st

from tfm_ui.pictures.canvas import ASSETS

_component = st.components.v2.component(
    "save_picture",
    html="<button></button>",
    css=(ASSETS / "page/save_picture.css").read_text(encoding="utf-8"),
    js=(ASSETS / "page/save_picture.js").read_text(encoding="utf-8"),
)


def save_picture(panel: str, kind: str, file_name: str, title: str = "", caption: str = "") -> None:
    """Draw the button that saves the picture of the panel with this key.

    The browser adds the page's address to the words in the file.

    Args:
        panel: the panel's key.
        kind: the kind of file, such as "PNG".
        file_name: its name, which ends in the kind.
        title: stands above the picture in the file.
        caption: stands below the picture in the file.
    """
    data = {
        "panel": panel,
        "file": file_name,
        "label": f"{kind}: the picture, for slides",
        "words": {"title": title, "caption": caption},
    }
    _component(key=f"{kind.lower()}_{panel}", data=data)
