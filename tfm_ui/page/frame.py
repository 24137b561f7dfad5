"""What all pages share: style, the model and its pass, the visitor's turn, notices, the links at the foot."""

from collections.abc import Callable, Collection, Mapping, Sequence
from functools import wraps
from itertools import chain
from typing import ParamSpec

import streamlit as st

from tfm_ui.folders import ASSETS
from tfm_ui.live import passes
from tfm_ui.page import controls, in_lesson, notices, present, share, sidebar
from tfm_ui.page.lens import LENS_SCRIPT
from tfm_ui.page.present import presenting as presenting
from tfm_ui.state.model_state import ModelState
from tfm_ui.streamlit_private.script_run import by_history
from tfm_ui.text.markdown import escape_markdown
from tfm_ui.visitors.compute_limiter import Busy
from tfm_ui.visitors.turn import turn_to_compute

P = ParamSpec("P")
Groups = Mapping[str, Sequence[st.Page]]  # name of a group in the bar at the top -> its pages
LEARN = "learn"  # the address of the page of the lessons
LECTURE = "lecture"  # of the page on which a visitor puts a lecture together
SPEAKER = "speaker"  # of the page that a speaker reads while presenting
STYLES = (
    *("streamlit_private/page.css", "page/page.css", "page/tensors.css"),
    *("lessons/lessons.css", "lessons/lecture.css", "lenses/clinic/clinic.css", "classroom/place.css"),
)
ROOM = "room"  # of the page on which a room is entered, and on which its owner has the desk
NO_LENS = (LEARN, LECTURE, SPEAKER, ROOM)  # pages that show no lens
ASKED = "_lens"  # key of the session state: the name of the lens whose page is open, or one of NO_LENS


def set_up(page: st.Page, groups: Groups) -> None:
    """Set the window's title, the icon, the logo and the style. Every page calls it first.

    Args:
        page: the page that is open.
        groups: all pages, in the order of the bar.
    """
    if st.session_state.get(ASKED, page.url_path) != page.url_path and not by_history():
        controls.take_along()
        if page.url_path not in NO_LENS:
            in_lesson.take_along()
    if page.url_path not in NO_LENS:
        in_lesson.note()
    st.session_state[ASKED] = page.url_path
    st.set_page_config(f"{page.title} · Attention Lab", page_icon=str(ASSETS / "mark.svg"), layout="wide")
    present.check_link()
    st.logo(str(ASSETS / "logo.svg"), size="large")
    style = "".join(map(_read, STYLES)) + _of_the_bar(page, groups)
    if presenting():  # a narrow window that opens such a link, as a phone's, shows the page as usual
        hall = _read("streamlit_private/present.css") + _read("page/present.css")
        style += f"@media (min-width: {present.NARROWEST}px) {{{hall}}}"
    if page.url_path == SPEAKER:  # notes and clock have the screen
        style += _read("streamlit_private/present.css")
    st.html(f"<style>{style}</style>")


def _read(style: str) -> str:
    return (ASSETS / style).read_text(encoding="utf-8")


def _of_the_bar(page: st.Page, groups: Groups) -> str:
    """What the bar's style needs to know, as rules: where a group begins and its name; which page is open.

    The first group, which begins where the bar does, is called by the name of a page of it: Learn.
    """
    begin = {pages[0].url_path: name for name, pages in list(groups.items())[1:]}
    named = "".join(
        f'nav a[href$="/{path}"] {{ --group: "{name}"; --apart: 1.25rem; }}' for path, name in begin.items()
    )
    return f':root {{ --here: "{page.title}"; }}{named}'


def asked_lens() -> str:
    """The name of the lens whose page is open; of the page Learn its address."""
    name: str = st.session_state[ASKED]
    return name


def app_address() -> str:
    """The address of the app, below which its pages are; the first page has no name of its own in it."""
    address, page = share.address().rstrip("/"), asked_lens()
    return address.removesuffix(f"/{page}") if page else address


def page_of(lens: str) -> st.Page:
    """The page of the lens with this name, for links to it."""
    return st.Page(LENS_SCRIPT, url_path=lens)


def learn_page() -> st.Page:
    """The page of the lessons, which is no lens."""
    return st.Page("pages/learn/learn.py", title="Learn", url_path=LEARN)


def lecture_page() -> st.Page:
    """The page on which a visitor puts a lecture together; it is not in the bar."""
    return st.Page("pages/learn/lecture.py", title="Your lecture", url_path=LECTURE, visibility="hidden")


def speaker_page() -> st.Page:
    """The page that a speaker reads while presenting; it is not in the bar."""
    return st.Page("pages/learn/speaker.py", title="Speaker’s view", url_path=SPEAKER, visibility="hidden")


def room_page() -> st.Page:
    """The page on which a room is entered, and on which its owner has the desk; it is not in the bar."""
    return st.Page("pages/learn/room.py", title="Room", url_path=ROOM, visibility="hidden")


def room_address() -> str:
    """The address at which the code of a room is typed."""
    return f"{app_address()}/{ROOM}"


def room_link(code: str) -> str:
    """The link that leads straight into a room."""
    return f"{room_address()}?code={code}"


def start_here() -> None:
    """Draw the way in for who knows nothing yet: a link to the first lesson, which looks like a button."""
    label, icon = "Start here, ten minutes", ":material/arrow_forward:"
    st.page_link(learn_page(), label=label, icon=icon, icon_position="right", query_params={"lesson": "start-here"})


def model() -> ModelState:
    """The model's state, read from the controls in the sidebar."""
    return controls.current(ModelState)


def why_not_run(state: ModelState, typed_above: Collection[str] = ()) -> str:
    """Why this model cannot be run, in a sentence for the reader; "" if it can.

    Args:
        state: the model's state.
        typed_above: the labels of texts that are typed on the page itself.
    """
    if empty := state.empty_texts:
        below = [label for label in empty if label not in typed_above]
        places = ["above"] * (len(below) < len(empty))
        places += [f"in the sidebar, under “{'” and “'.join(below)}”"] * bool(below)
        return f"Type at least one word {', and '.join(places)}."
    return passes.missing_weights(state)


def in_turn(draw: Callable[P, None], *, heavy: bool = False) -> Callable[P, None]:
    """Let a function compute in the visitor's turn; if the server is busy, show a warning instead.

    Args:
        draw: draws a page, or a part of it.
        heavy: whether that takes long.
    """

    @wraps(draw)
    def drawn(*args: P.args, **more: P.kwargs) -> None:
        try:
            with turn_to_compute(heavy=heavy):
                draw(*args, **more)
        except Busy as busy:
            st.warning(f"{busy} Any change of a control asks again.", icon=":material/hourglass_top:")
            st.stop()

    return drawn


def fragment(key: str, draw: Callable[[ModelState], None]) -> Callable[[], None]:
    """Make a function a fragment with this key: a change of the lens's controls runs only this part of the page.

    It is handed the model as it is at each run: of some fields of the model a change runs nothing else, either.
    """

    def drawn() -> None:
        now = model()
        in_turn(draw, heavy=now.is_heavy)(now)

    return st.fragment(key=key)(drawn)


def notice_box() -> None:
    """Show the notices until the reader dismisses them: the first three, the others folded. They lie over the page."""
    if texts := [escape_markdown(notice) for notice in notices.notices()]:
        with st.container(key="notices"):
            st.warning("\n\n".join(texts[:3]), icon=":material/warning:")
            if more := texts[3:]:
                st.expander(f"and {len(more)} more").markdown("\n\n".join(more))
            st.button("Dismiss", on_click=notices.dismiss, icon=":material/close:", type="tertiary", key="_dismiss")


def lens_links(groups: Groups) -> None:
    """Draw a link to each page, for phones: there Streamlit's own links are behind a button without a name.

    The row is wider than a phone: assets/page/window.js says on which sides it goes on.
    """
    with st.container(horizontal=True, vertical_alignment="center", wrap=False, gap=None, key="lens_links"):
        for number, (name, pages) in enumerate(groups.items()):
            if number:  # the first group is called by the name of a page of it
                st.html(f'<span class="group">{name}</span>', width="content")
            for page in pages:
                st.page_link(page, label=page.title)


def foot(
    groups: Groups, page: st.Page, also: Callable[[], None] = lambda: None, room: Callable[[], None] = lambda: None
) -> None:
    """Draw links to the page before and the page after, and the sidebar's tools.

    Called last, when all states are known.

    Args:
        groups: all pages, in the order of the bar.
        page: the page that is open.
        also: draws what else can be done with the page, beside its link.
        room: draws the button of the room, beside “Present”.
    """
    pages = [*chain.from_iterable(groups.values())]
    if not presenting() and page.url_path not in (LECTURE, SPEAKER, ROOM):
        pages = [other for other in pages if other is page or other.url_path != LEARN]  # from lens to lens
        at = [other.url_path for other in pages].index(page.url_path)
        with st.container(horizontal=True, horizontal_alignment="distribute", key="lenses"):
            for other, arrow in ((at - 1, "← {}"), (at + 1, "{} →")):
                if 0 <= other < len(pages):
                    st.page_link(pages[other], label=arrow.format(pages[other].title))
    if page.url_path != SPEAKER:
        sidebar.tools(also, room, presents=page.url_path not in NO_LENS)
    controls.all_is_drawn()
