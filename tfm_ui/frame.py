"""What all pages share: style, the model panel in the sidebar, the title with its badge, notices, the link."""

from html import escape
from pathlib import Path

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from tfm_ui import controls
from tfm_ui.compute import Pass
from tfm_ui.fields import share_link
from tfm_ui.figures import look
from tfm_ui.figures.look import Mode
from tfm_ui.model_state import ModelState
from tfm_ui.words import about_tokens

ASSETS = Path(__file__).parents[1] / "assets"


def set_up(title: str) -> None:
    """Window title, icon, logo and style; first thing on every page."""
    st.set_page_config(f"{title} · Attention Lab", page_icon=str(ASSETS / "mark.svg"), layout="wide")
    st.logo(str(ASSETS / f"logo_{mode()}.svg"), size="large")
    st.html(f"<style>{(ASSETS / 'page.css').read_text(encoding='utf-8')}</style>")


def mode() -> Mode:
    """The reader's colour scheme."""
    return "dark" if st.context.theme.type == "dark" else "light"


def on_phone() -> bool:
    """Whether the browser says that it runs on a phone."""
    return "Mobi" in (st.context.headers.get("User-Agent") or "")


def model_panel() -> ModelState:
    """Draw the model's controls in the sidebar, and return what they hold."""
    controls.open_link(ModelState)
    side = st.sidebar
    side.markdown("**Model** &nbsp;:gray[shared by all lenses]")
    texts, sizes, mask, more = side.container(), side.container(), side.container(), side.expander("More of the model")

    def draw(where: DeltaGenerator, *names: str) -> None:
        for name in names:
            controls.draw(ModelState, name, where)

    draw(more, "architecture")  # first, though it stands below: what else is shown depends on it
    architecture = controls.current(ModelState).architecture
    draw(texts, "text", *(["target"] if architecture == "encoder-decoder" else []))
    draw(sizes, "seq_len")
    for pair in (("num_layers", "num_heads"), ("d_model", "seed")):
        for column, name in zip(sizes.columns(2, gap="small"), pair, strict=True):
            draw(column, name)
    draw(mask, "positional")
    if architecture == "encoder":
        draw(mask, "causal")
    else:
        mask.toggle("Causal: no looking ahead", value=True, disabled=True, key="_causal", help="Decoders always are.")
    draw(more, "tokenizer", "norm", "activation", "d_ff", "weights")
    return controls.current(ModelState)


def model() -> ModelState:
    """What the model panel holds, for the pages."""
    return controls.current(ModelState)


def share_panel() -> None:
    """Copy link and Reset, below the model's controls; last thing of all, when the page's state is known."""
    copy, back = st.sidebar.columns(2, gap="small")
    link = copy.popover("Link", icon=":material/link:", width="stretch", on_change="rerun", key="_link")
    if link.open:
        link.caption("Brings back this very picture.")
        link.code(share_link(_address(), *controls.states()), language=None, wrap_lines=True)
    back.button("Reset", icon=":material/restart_alt:", width="stretch", on_click=controls.reset_all, key="_reset")


def _address() -> str:
    return (st.context.url or "").split("?")[0]


def title(text: str, shown: Pass) -> None:
    """The page's title, the badge that says which model this is, and what the reader must know."""
    state = model()
    facts = [
        f"seed {state.seed}",
        f"{state.architecture}, {look.plural(state.num_layers, 'layer')} × {look.plural(state.num_heads, 'head')}",
        f"d<sub>model</sub> {state.d_model}",
        f"{look.count(shown.parameters)} parameters",
        f"computed in {look.duration(shown.milliseconds)}",
        "exact",
    ]
    spans = "".join(f"<span>{fact}</span>" for fact in facts)
    badge = f'<div class="badge"><span class="dot"></span><b>Random weights</b>{spans}</div>'
    st.html(f'<div class="top"><h1>{text}</h1>{badge}</div>')
    if notices := controls.notices():
        st.warning("\n\n".join(map(_plain, notices)), icon=":material/warning:")
        st.button(
            "Dismiss", on_click=controls.dismiss_notices, icon=":material/close:", type="tertiary", key="_dismiss"
        )
    texts = [state.source_tokens] + ([state.target_tokens] if state.is_encoder_decoder else [])
    for which, tokens in zip(("", "Target: "), texts, strict=False):
        for note in about_tokens(tokens):
            st.html(f'<p class="note">{which}{escape(note)}</p>')


def _plain(text: str) -> str:
    """User text inside Markdown: every sign stands for itself."""
    return "".join(
        f"\\{sign}" if sign in "\\`*_{}[]<>()#+-.!|~$:^=&\"'" else " " if sign in "\r\n" else sign for sign in text
    )


def asks_for_text(state: ModelState) -> bool:
    """Say so and return True while there is nothing to show: an empty text has no tokens."""
    empty = ["Text"] if not state.source_tokens.pieces else []
    if state.is_encoder_decoder and not state.target_tokens.pieces:
        empty.append("Target text")
    if empty:
        st.info(f"Type at least one word in the sidebar, under **{' and '.join(empty)}**.", icon=":material/edit:")
    return bool(empty)
