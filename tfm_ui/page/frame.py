"""What all pages share: style, the title with its badge, notices, questions, the links at the foot."""

from collections.abc import Callable, Sequence
from functools import wraps
from html import escape
from pathlib import Path
from typing import Literal, ParamSpec

import streamlit as st
from streamlit.navigation.page import Page

from tfm_ui.live import passes
from tfm_ui.live.passes import Pass
from tfm_ui.page import controls, notices, present, sidebar
from tfm_ui.page.present import presenting as presenting
from tfm_ui.page.questions import Question, active, neighbour
from tfm_ui.state.fields import State
from tfm_ui.state.model_state import ModelState
from tfm_ui.text import formats
from tfm_ui.text.markdown import escape_markdown
from tfm_ui.text.token_labels import about_tokens
from tfm_ui.visitors.compute_limiter import Busy
from tfm_ui.visitors.turn import turn_to_compute

P = ParamSpec("P")
ASSETS = Path(__file__).parents[2] / "assets"
LENS_SCRIPT = "pages/lenses/lens.py"  # the script of every lens's page, except Home's
ASKED = "_lens"  # key of the session state: the name of the lens whose page is open


def set_up(page: Page) -> None:
    """Set the window's title, the icon, the logo and the style. Every page calls it first."""
    if st.session_state.get(ASKED, page.url_path) != page.url_path:
        controls.take_along()
    st.session_state[ASKED] = page.url_path
    st.set_page_config(f"{page.title} · Attention Lab", page_icon=str(ASSETS / "mark.svg"), layout="wide")
    present.check_link()
    st.logo(str(ASSETS / "logo.svg"), size="large")
    sheets = ["page/page.css", *(["page/present.css"] if presenting() else [])]
    st.html(f"<style>{''.join((ASSETS / sheet).read_text(encoding='utf-8') for sheet in sheets)}</style>")


def asked_lens() -> str:
    """The name of the lens whose page is open."""
    name: str = st.session_state[ASKED]
    return name


def page_of(lens: str) -> Page:
    """The page of the lens with this name, for links to it."""
    return st.Page(LENS_SCRIPT, url_path=lens)


def model() -> ModelState:
    """The model's state, read from the controls in the sidebar."""
    return controls.current(ModelState)


def run(state: ModelState) -> Pass:
    """The model's pass; if the model is too large, say so and end the page."""
    if reason := passes.too_large(state):
        st.error(reason, icon=":material/error:")
        st.stop()
    return passes.run(state)


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


def fragment(key: str, draw: Callable[P, None]) -> Callable[P, None]:
    """Make a function a fragment with this key: a change of the lens's controls runs only this part of the page."""

    @wraps(draw)
    def drawn(*args: P.args, **more: P.kwargs) -> None:
        in_turn(draw, heavy=model().is_heavy)(*args, **more)

    return st.fragment(key=key)(drawn)


def title(text: str, this_pass: Pass, *, beside: str = "") -> None:
    """Draw the page's title, the badge that describes the model, notices, and notes on how the texts were read.

    Args:
        text: the title.
        this_pass: the model's pass.
        beside: the badge's name for the model, if the page does not show this pass.
    """
    state = model()
    layers, heads = formats.plural(state.num_layers, "layer"), formats.plural(state.num_heads, "head")
    facts = [
        *(["Random weights"] if beside else []),
        f"seed {state.seed}",
        f"{state.architecture}, {layers} × {heads}",
        f"d<sub>model</sub> {state.d_model}",
        f"{formats.count(this_pass.parameters)} parameters",
    ]
    if not beside:
        exact = "exact weights" if this_pass.exact else "pooled weights"
        facts += [f"computed in {formats.duration(this_pass.milliseconds)}", exact]
    spans = "".join(f"<span>{fact}</span>" for fact in facts)
    badge = f'<div class="badge"><span class="dot"></span><b>{beside or "Random weights"}</b>{spans}</div>'
    with st.container(horizontal=True, vertical_alignment="bottom", key="title"):
        st.html(f'<div class="top"><h1>{text}</h1>{badge}</div>')
        if not presenting():
            st.button(
                "Present", on_click=present.begin, icon=":material/present_to_all:", type="tertiary", key="_present"
            )
    with st.container(key="notes"):  # always, also empty: otherwise the browser would rebuild everything below it
        _notices()
        _notes(state)


def _notes(state: ModelState) -> None:
    """Say how the model's texts were read."""
    texts = [state.source_tokens] + ([state.target_tokens] if state.is_encoder_decoder else [])
    for which, tokens in zip(("", "Target: "), texts, strict=False):
        if notes := about_tokens(tokens):
            st.html(f'<p class="note">{which}{escape(" ".join(notes))}</p>')


def _notices() -> None:
    """Show the notices until the reader dismisses them: the first three, the others folded."""
    if texts := [escape_markdown(notice) for notice in notices.notices()]:
        with st.container(key="notices"):
            st.warning("\n\n".join(texts[:3]), icon=":material/warning:")
            if more := texts[3:]:
                st.expander(f"and {len(more)} more").markdown("\n\n".join(more))
            st.button("Dismiss", on_click=notices.dismiss, icon=":material/close:", type="tertiary", key="_dismiss")


def asks_for_text(state: ModelState) -> bool:
    """If a text has no tokens, ask the reader to type one, and return True."""
    empty = ["Text"] if not state.source_tokens.pieces else []
    if state.is_encoder_decoder and not state.target_tokens.pieces:
        empty.append("Target text")
    if empty:
        st.info(f"Type at least one word in the sidebar, under **{' and '.join(empty)}**.", icon=":material/edit:")
    return bool(empty)


def questions(these: Sequence[Question], state: type[State], prefix: str) -> None:
    """Draw a row of buttons, one for each question, and the question of the active question.

    It is drawn in the lens's fragment, so that the highlight goes out when a control of the lens changes.
    """
    now = active(these, model(), controls.current(state, prefix))

    def apply(question: Question) -> None:
        values = controls.defaults(ModelState, "") | dict(question.model)
        values |= controls.defaults(state, prefix) | {prefix + name: value for name, value in question.page.items()}
        controls.set_parameters(values)
        st.rerun()  # the whole page: the buttons stand in a fragment

    # Buttons, not st.pills: pills hold a value, which the browser sends with every change of another control, even if
    # the page has cleared it in the meantime. After fast key presses on a slider, that counted as a click on the pill.
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="questions"):
        for number, question in enumerate(these):
            shade: Literal["primary", "secondary"] = "primary" if question is now else "secondary"
            st.button(question.name, on_click=apply, args=(question,), type=shade, key=f"_question_{number}")
        if presenting():
            for icon, key, step in (("up", "_previous_question", -1), ("down", "_next_question", 1)):
                label = f":material/keyboard_arrow_{icon}:"
                st.button(label, on_click=apply, args=(neighbour(these, now, step),), type="tertiary", key=key)
    with st.container(key="try"):  # always, also empty: otherwise the browser would rebuild everything below it
        if now:
            st.html(f'<p class="try"><b>Try this.</b> {escape(now.question)}</p>')


def foot(pages: Sequence[Page], page: Page) -> None:
    """Draw links to the previous and the next lens, and the sidebar's tools. Called last, when all states are known."""
    if not presenting():
        at = [other.url_path for other in pages].index(page.url_path)
        with st.container(horizontal=True, horizontal_alignment="distribute", key="lenses"):
            for other, arrow in ((at - 1, "← {}"), (at + 1, "{} →")):
                if 0 <= other < len(pages):
                    st.page_link(pages[other], label=arrow.format(pages[other].title))
    sidebar.tools()
