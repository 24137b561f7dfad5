"""Presenting to an audience: large type, no sidebar, keys to step through lenses; `present=true` in a link."""

from collections.abc import Sequence
from html import escape

import streamlit as st
from streamlit.navigation.page import Page

from tfm_ui.page import controls, notices
from tfm_ui.page.browser import bind_keys
from tfm_ui.state.fields import Flag
from tfm_ui.state.links import Correction

PARAMETER = "present"
KEYS = {
    "ArrowRight": "_next_lens",
    "PageDown": "_next_lens",
    "ArrowLeft": "_previous_lens",
    "PageUp": "_previous_lens",
    "ArrowDown": "_next_question",
    "ArrowUp": "_previous_question",
    "Escape": "_exit",
}


def presenting() -> bool:
    """Whether the page is shown to an audience."""
    return st.query_params.get(PARAMETER) == "true"


def check_link() -> None:
    """Correct a bad value of the parameter in a link, as `controls.open_link` does for controls."""
    asked = st.query_params.get(PARAMETER)
    if asked not in (None, "true"):
        wanted, reason = Flag("Present").read(asked, False)
        if reason:
            notices.notify(str(Correction(PARAMETER, asked, wanted, reason)))
        if wanted:
            begin()
        else:
            end()


def begin() -> None:
    """Start presenting."""
    st.query_params[PARAMETER] = "true"


def end() -> None:
    """Stop presenting."""
    del st.query_params[PARAMETER]


def bar(pages: Sequence[Page], page: Page) -> None:
    """Draw the slim bar: previous lens, where we are, next lens, exit."""
    at = [other.url_path for other in pages].index(page.url_path)
    with st.container(horizontal=True, vertical_alignment="center", key="present_bar"):
        if at > 0 and st.button(f"← {pages[at - 1].title}", key="_previous_lens", type="tertiary"):
            st.switch_page(pages[at - 1], query_params=controls.open_with())
        st.html(f'<p class="where"><b>{escape(page.title)}</b> {at + 1} of {len(pages)}</p>', width="content")
        if at + 1 < len(pages) and st.button(f"{pages[at + 1].title} →", key="_next_lens", type="tertiary"):
            st.switch_page(pages[at + 1], query_params=controls.open_with())
        st.space("stretch")
        st.button("Exit", on_click=end, icon=":material/close:", type="tertiary", key="_exit", help="Escape")
    bind_keys(KEYS)
