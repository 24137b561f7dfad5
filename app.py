"""Attention Lab: `streamlit run app.py`. Routes visitors to pages; each page is a lens on the model in the sidebar.

This file runs once when the server starts, and then as the script of each visit.
"""

import logging
from functools import partial
from itertools import chain

import streamlit as st

from tfm_ui.classroom import bar, following, opening
from tfm_ui.classroom.requests import room_routes
from tfm_ui.lenses import NAMES, lens, lenses
from tfm_ui.lenses.previews import tags
from tfm_ui.lessons import adding, going, sheet_pieces, shelf
from tfm_ui.page import frame, present, present_bar, reconnect, sidebar, spoken
from tfm_ui.search import box, index, way
from tfm_ui.search.route import index_route
from tfm_ui.server import logs, page_words, pool_member, start
from tfm_ui.server.asgi import MIDDLEWARE, ROUTES, lifespan
from tfm_ui.server.http_protocol import bound_heads
from tfm_ui.server.link_preview import LinkPreview
from tfm_ui.server.part import part
from tfm_ui.server.same_origin import allow_local_names
from tfm_ui.server.sheet_requests import sheet_routes
from tfm_ui.store import shared
from tfm_ui.streamlit_private.loggers import NO_SCRIPT_RUNS
from tfm_ui.streamlit_private.session_values import look_up_one_by_one
from tfm_ui.visitors import metrics


def route() -> tuple[st.Page, frame.Groups]:
    """The page that the address asks for, and all pages by the groups of the bar, in teaching order."""
    groups: dict[str, list[st.Page]] = {}
    for number, each in enumerate(lenses()):
        groups.setdefault(each.group, []).append(each.page(default=number == 0))
    groups["learn"].append(frame.learn_page())
    hidden = [frame.lecture_page(), frame.speaker_page(), frame.room_page()]
    return st.navigation([*chain.from_iterable(groups.values()), *hidden], position="top"), groups


def everything() -> list[index.Entry]:
    """All that the search finds."""
    return index.entries(lenses(), {name: shelf.shipped(name) for name in (*shelf.names(), *shelf.teaching())})


def open_step(link: str) -> None:
    """Open a step of a lesson."""
    going.go(shelf.place(link), lens)


def visit() -> None:
    """Draw the page that the address asks for, and everything around it."""
    page, groups = route()
    name = page.url_path or NAMES[0]
    asked = lens(name) if name in NAMES else None
    if not asked:
        present.end()  # the pages of lessons have no picture to show to an audience
    frame.set_up(page, groups)
    if name != frame.SPEAKER:  # nothing but notes and clock
        box.draw(index.kept(everything))
    bar.draw(name, asked, following.told)
    following.here(name, lens, NAMES)
    sidebar.model_panel(asked.opens_with if asked else {}, acts=bool(asked and asked.uses_model))
    box.follow(partial(way.go, lenses=lenses(), open_step=open_step))
    following.elsewhere(lens, NAMES)
    if asked and present.presenting():
        present_bar.draw(lenses(), asked)
    else:
        frame.lens_links(groups)
    frame.notice_box()
    frame.in_turn(page.run, heavy=frame.model().is_heavy)()
    frame.foot(groups, page, partial(adding.menu, asked) if asked else lambda: None, opening.button)
    reconnect.run_after_lost_connection()
    start.warm_up()
    start.collect_garbage()


if __name__ == "__main__":
    # Streamlit ends a run that is out of date by an exception, which is no error.
    with metrics.PAGE_ERRORS.count_exceptions():
        frame.in_turn(visit)()
elif __name__ != "__mp_main__":  # the start of the server; worker processes import this file under the other name
    bound_heads()
    look_up_one_by_one()
    allow_local_names()
    shared.begin()
    pool_member.prepare()
    spoken.computed_by(page_words.ask)
    logs.set_up()
    # `route` tells Streamlit the pages before the first request; otherwise a link to /heads as the very first request
    # would be answered with "Page not found". Streamlit's warning that no script is running is expected here.
    logging.getLogger(NO_SCRIPT_RUNS).setLevel(logging.ERROR)
    route()
    start.preload()
    middleware = [*MIDDLEWARE, part(LinkPreview, "http", pages=[*NAMES, frame.LEARN], tags=tags)]
    routes = [
        *ROUTES,
        *sheet_routes(partial(sheet_pieces.pieces, lens)),
        *room_routes(),
        index_route(partial(index.kept, everything)),
    ]
    app = st.App(__file__, routes=routes, middleware=middleware, lifespan=lifespan)
