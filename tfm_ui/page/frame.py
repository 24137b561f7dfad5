"""What all pages share: style, the title with its badge, notices, presets, the foot."""

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
from tfm_ui.page.presets import Preset, lit, neighbour
from tfm_ui.state.fields import State
from tfm_ui.state.model_state import ModelState
from tfm_ui.text import look
from tfm_ui.text.plain import plain
from tfm_ui.text.words import about_tokens
from tfm_ui.visitors.admission import admitted
from tfm_ui.visitors.gate import Busy

P = ParamSpec("P")
ASSETS = Path(__file__).parents[2] / "assets"
LENS_SCRIPT = "pages/lenses/lens.py"  # of all lenses' pages, but Home's
ASKED = "_lens"  # in the session: the address of the page


def set_up(page: Page) -> None:
    """Window title, icon, logo and style; first thing on every page."""
    st.session_state[ASKED] = page.url_path
    st.set_page_config(f"{page.title} · Attention Lab", page_icon=str(ASSETS / "mark.svg"), layout="wide")
    present.check_link()
    st.logo(str(ASSETS / "logo.svg"), size="large")
    sheets = ["page/page.css", *(["page/present.css"] if presenting() else [])]
    st.html(f"<style>{''.join((ASSETS / sheet).read_text(encoding='utf-8') for sheet in sheets)}</style>")


def asked_lens() -> str:
    """The name of the lens whose page was asked for."""
    name: str = st.session_state[ASKED]
    return name


def page_of(lens: str) -> Page:
    """The page of a lens, for links to it."""
    return st.Page(LENS_SCRIPT, url_path=lens)


def model() -> ModelState:
    """What the model panel holds, for the pages."""
    return controls.current(ModelState)


def run(state: ModelState) -> Pass:
    """The model's pass, or why there is none, and then the page ends."""
    if reason := passes.too_large(state):
        st.error(reason, icon=":material/error:")
        st.stop()
    return passes.run(state)


def in_turn(draw: Callable[P, None], *, heavy: bool = False) -> Callable[P, None]:
    """What this draws, it computes in the visitor's turn; where too much waits already, it says so instead.

    Args:
        draw: a page, or a part of it.
        heavy: whether it takes long.
    """

    @wraps(draw)
    def drawn(*args: P.args, **more: P.kwargs) -> None:
        try:
            with admitted(heavy=heavy):
                draw(*args, **more)
        except Busy as busy:
            st.warning(f"{busy} Any change of a control asks again.", icon=":material/hourglass_top:")
            st.stop()

    return drawn


def fragment(key: str, draw: Callable[P, None]) -> Callable[P, None]:
    """A lens's controls and pictures: a change of the lens's controls runs this part of the page alone, by this key."""

    @wraps(draw)
    def drawn(*args: P.args, **more: P.kwargs) -> None:
        in_turn(draw, heavy=model().is_heavy)(*args, **more)

    return st.fragment(key=key)(drawn)


def title(text: str, this_pass: Pass, *, beside: str = "") -> None:
    """The page's title, the badge that says which model this is, and what the reader must know.

    Args:
        text: the title.
        this_pass: the model's pass.
        beside: names the model, where the page shows other things than this pass.
    """
    state = model()
    facts = [
        *(["Random weights"] if beside else []),
        f"seed {state.seed}",
        f"{state.architecture}, {look.plural(state.num_layers, 'layer')} × {look.plural(state.num_heads, 'head')}",
        f"d<sub>model</sub> {state.d_model}",
        f"{look.count(this_pass.parameters)} parameters",
    ]
    if not beside:
        exact = "exact weights" if this_pass.exact else "pooled weights"
        facts += [f"computed in {look.duration(this_pass.milliseconds)}", exact]
    spans = "".join(f"<span>{fact}</span>" for fact in facts)
    badge = f'<div class="badge"><span class="dot"></span><b>{beside or "Random weights"}</b>{spans}</div>'
    with st.container(horizontal=True, vertical_alignment="bottom", key="title"):
        st.html(f'<div class="top"><h1>{text}</h1>{badge}</div>')
        if not presenting():
            st.button(
                "Present", on_click=present.begin, icon=":material/present_to_all:", type="tertiary", key="_present"
            )
    with st.container(key="notes"):  # it is there also when it is empty: else what follows would be mounted anew
        _notices()
        _notes(state)


def _notes(state: ModelState) -> None:
    """How the model's texts were read."""
    texts = [state.source_tokens] + ([state.target_tokens] if state.is_encoder_decoder else [])
    for which, tokens in zip(("", "Target: "), texts, strict=False):
        if notes := about_tokens(tokens):
            st.html(f'<p class="note">{which}{escape(" ".join(notes))}</p>')


def _notices() -> None:
    """What was changed of what the reader asked for: three lines, the others folded, until it is dismissed."""
    if texts := [plain(notice) for notice in notices.notices()]:
        with st.container(key="notices"):
            st.warning("\n\n".join(texts[:3]), icon=":material/warning:")
            if more := texts[3:]:
                st.expander(f"and {len(more)} more").markdown("\n\n".join(more))
            st.button("Dismiss", on_click=notices.dismiss, icon=":material/close:", type="tertiary", key="_dismiss")


def asks_for_text(state: ModelState) -> bool:
    """Say so and return True while there is nothing to show: an empty text has no tokens."""
    empty = ["Text"] if not state.source_tokens.pieces else []
    if state.is_encoder_decoder and not state.target_tokens.pieces:
        empty.append("Target text")
    if empty:
        st.info(f"Type at least one word in the sidebar, under **{' and '.join(empty)}**.", icon=":material/edit:")
    return bool(empty)


def presets(these: Sequence[Preset], state: type[State], prefix: str) -> None:
    """A row of pills, and the question of the one that is on screen.

    It stands in the fragment of the lens's controls: the pill goes out when one of them moves.
    """
    now = lit(these, model(), controls.current(state, prefix))

    def apply(preset: Preset) -> None:
        values = controls.defaults(ModelState, "") | dict(preset.model)
        values |= controls.defaults(state, prefix) | {prefix + name: value for name, value in preset.page.items()}
        controls.set_parameters(values)
        st.rerun()  # all of it, also when the pills stand in a fragment

    # Buttons and no st.pills: pills hold a value, and the browser sends it along with whatever else is moved, also when
    # the page has put the pill out meanwhile; of fast key presses on a slider one then counted as a click on the pill.
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="presets"):
        for number, preset in enumerate(these):
            shade: Literal["primary", "secondary"] = "primary" if preset is now else "secondary"
            st.button(preset.name, on_click=apply, args=(preset,), type=shade, key=f"_preset_{number}")
        if presenting():
            for icon, key, step in (("up", "_previous_preset", -1), ("down", "_next_preset", 1)):
                label = f":material/keyboard_arrow_{icon}:"
                st.button(label, on_click=apply, args=(neighbour(these, now, step),), type="tertiary", key=key)
    with st.container(key="try"):  # it is there also when it is empty: else what follows would be mounted anew
        if now:
            st.html(f'<p class="try"><b>Try this.</b> {escape(now.question)}</p>')


def foot(pages: Sequence[Page], page: Page) -> None:
    """The lenses before and after this one, and the sidebar's tools. Last of all, when the page's state is known."""
    if not presenting():
        at = [other.url_path for other in pages].index(page.url_path)
        with st.container(horizontal=True, horizontal_alignment="distribute", key="lenses"):
            for other, arrow in ((at - 1, "← {}"), (at + 1, "{} →")):
                if 0 <= other < len(pages):
                    st.page_link(pages[other], label=arrow.format(pages[other].title))
    sidebar.tools()
