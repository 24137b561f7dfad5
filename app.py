"""Attention Lab: `streamlit run app.py`. The router; each page is a lens on the one model of the sidebar.

This file runs once in the server, before its first visitor, and then as the script of each visit.
"""

import logging

import streamlit as st

from tfm_ui.lenses import lenses
from tfm_ui.page import frame, present, sidebar
from tfm_ui.server import start
from tfm_ui.server.asgi import MIDDLEWARE, ROUTES, lifespan


def route() -> tuple[st.Page, list[st.Page]]:
    """The page that the address asks for, and the table of all, in teaching order."""
    pages = [lens.page(default=number == 0) for number, lens in enumerate(lenses())]
    return st.navigation(pages, position="top"), pages


def visit() -> None:
    """What surrounds all pages, and the one that is asked for."""
    page, pages = route()
    frame.set_up(page)
    sidebar.model_panel()
    if present.presenting():
        present.bar(pages, page)
    frame.in_turn(page.run, heavy=frame.model().is_heavy)()
    frame.foot(pages, page)
    start.warm_up()


if __name__ == "__main__":
    frame.in_turn(visit)()
else:  # the server
    # From this Streamlit learns, before the first request, that pages/ is not its own; else a link to /heads as the
    # very first request is answered with "Page not found". It warns that nobody is visiting: that is so.
    logging.getLogger("streamlit.runtime.scriptrunner_utils.script_run_context").setLevel(logging.ERROR)
    route()
    start.preload()
    app = st.App(__file__, routes=ROUTES, middleware=MIDDLEWARE, lifespan=lifespan)
