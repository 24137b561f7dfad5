"""What stands on the page where the sidebar's model writes nothing: why, and a button that chooses one that does."""

import streamlit as st

from tfm_core.language.lab_gpt import NAME
from tfm_ui.page import controls
from tfm_ui.pictures.panel import Block, Note


def unable(reason: str) -> list[Block | None]:
    """The reason in a sentence, and the button."""
    return [Note(reason, "warning", ":material/edit:"), _offer]


def _offer() -> None:
    st.button("Write with Lab GPT", icon=":material/history_edu:", on_click=_choose, key="_generate_lab_gpt")


def _choose() -> None:
    controls.set_parameters({"weights": NAME})
