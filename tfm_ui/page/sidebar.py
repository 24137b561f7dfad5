"""The sidebar: the controls of the model that all lenses share, Undo and Reset; and the buttons that share a page."""

from collections.abc import Callable, Mapping
from html import escape

import streamlit as st

from tfm_ui.page import (
    controls,
    d_ff_control,
    in_lesson,
    locked,
    opening,
    present,
    share,
    sliders,
    undo,
    weights_control,
)
from tfm_ui.page.browser import mind_the_window, tidy_history
from tfm_ui.page.present import presenting
from tfm_ui.page.reading import how_it_is_read
from tfm_ui.state.links import LINK_CHARS, Cut, cuts, share_link
from tfm_ui.state.model_state import ModelState
from tfm_ui.state.samples import SAMPLES
from tfm_ui.state.trained import examples_of
from tfm_ui.streamlit_private.containers import DeltaGenerator
from tfm_ui.text import formats
from tfm_ui.text.markdown import escape_markdown

SHARED, ELSEWHERE = "shared by all lenses", "of the other lenses: it does not act on this page"
SLIDERS = ("num_layers", "num_heads", "d_model")


def model_panel(opens_with: Mapping[str, str], *, acts: bool = True) -> ModelState:
    """Draw the model's controls in the sidebar; return the model's state.

    Args:
        opens_with: fields of the model with which the page's lens opens, see `Lens`.
        acts: whether the page shows anything of this model.
    """
    opening.begin(opens_with)
    controls.open_link(ModelState)
    side, drawn = st.sidebar, set[str]()
    side.markdown(f"**Model** &nbsp;:gray[{SHARED if acts else ELSEWHERE}]")
    weights_control.draw(side)
    texts, sizes, mask, more = side.container(), side.container(), side.container(), side.container()
    now = controls.current(ModelState)

    def draw(where: DeltaGenerator, *names: str) -> None:
        for name in names:
            if name in SLIDERS:
                sliders.draw(name, where)
            else:
                drawn.add(name)
                controls.draw(ModelState, name, where)

    if not now.fixed:
        more = more.expander("More of the model")
        draw(more, "architecture")  # drawn first, though it stands below: it decides which other controls are shown
    architecture, read = controls.current(ModelState).architecture, dict[str, DeltaGenerator]()
    for name in ("text", "target") if architecture == "encoder-decoder" else ("text",):
        if name not in now.fixed:
            with texts.container(key=f"with_samples_{name}"):
                draw(st.container(), name)
                _samples(name, now)
        read[name] = texts.container(key=f"read_{name}")  # filled last: it depends on controls that stand below
    tokens = sizes.container()
    if now.fixed:
        locked.draw(now, sizes)
        weights_control.keep(drawn)
    else:
        for pair in (("num_layers", "num_heads"), ("d_model", "seed")):
            for column, name in zip(sizes.columns(2, gap="small"), pair, strict=True):
                draw(column, name)
        draw(mask, "positional")
        if architecture == "encoder":
            draw(mask, "causal")
        else:
            label = "Causal: no looking ahead"
            mask.toggle(label, value=True, disabled=True, key="_causal", help=locked.ALWAYS)
        draw(more, "tokenizer", "norm", "activation")
        d_ff_control.draw(more)
    if not now.array:
        sliders.draw_length(tokens)  # drawn last, though it stands above: it needs to know the texts and the tokenizer
    with side:
        mind_the_window()
    opening.name_fields()
    model = controls.current(ModelState)
    for name, place in read.items():
        _how_it_is_read(model, name, place)
    return model


def _how_it_is_read(model: ModelState, name: str, place: DeltaGenerator) -> None:
    """The origin of a sample, and how a text became tokens; in a place of fixed height, so that no slider moves."""
    notes = escape(how_it_is_read(model, name))
    place.html(f'<p class="note read" data-words="read_{name}" title="{notes}">{notes}</p>')


def _samples(name: str, model: ModelState) -> None:
    """Draw the menu of sample texts for a text box; for trained weights it offers examples of their task."""
    if model.trained:
        texts = [example.target if name == "target" else example.text for example in examples_of(model.trained.task)]
        label, titles = "Examples", {f"@{number}": text for number, text in enumerate(texts, 1)}
    else:
        label, titles = "Samples", {f"@{sample}": about.title for sample, about in SAMPLES.items()}
    key = f"_samples_{name}_{label}"
    st.menu_button(
        label,
        list(titles),
        format_func=lambda sample: f"{sample}  {titles[sample]}",
        on_click=lambda: controls.set_parameters({name: st.session_state[key]}),
        type="tertiary",
        key=key,
    )


@st.fragment(key=controls.FOOT)
def tools(
    also: Callable[[], None] = lambda: None, room: Callable[[], None] = lambda: None, *, presents: bool = True
) -> None:
    """Draw Undo and Reset below the model's controls; Copy link, QR code and Present at the top of the window.

    It is a fragment because it must also run after every change of a lens's controls: see `controls._run_again`.

    Args:
        also: draws what else can be done with the page, beside its link.
        room: draws the button of the room.
        presents: whether the page has a picture that can be shown to an audience.
    """
    row = st.sidebar.container(horizontal=True, gap="xsmall", wrap=False, key="tools")
    changes = undo.changes()
    row.button(
        "Undo",
        icon=":material/undo:",
        width="stretch",
        disabled=not changes,
        help=f"Undoes: {escape_markdown(undo.in_words(changes))}" if changes else "Nothing to undo",
        on_click=controls.undo_last,
        key="_undo",
    )
    row.button("Reset", icon=":material/restart_alt:", width="stretch", on_click=controls.reset_all, key="_reset")
    states = controls.states()
    cut = cuts(share.address(), *states).values()
    with st.sidebar.container(key="carried"):
        for text in cut:
            _about_link(text)
    with st.container(horizontal=True, vertical_alignment="center", gap="xsmall", wrap=False, key="share"):
        left_out = " and ".join(f"“{text.label}”" for text in cut)
        without = f"The link brings back all but the end of {left_out}." if cut else ""
        link = share_link(share.address(), *states, always=opening.named_in(states), beside=in_lesson.in_links())
        share.buttons(link, without)  # who opens it wants the controls: it does not present
        if not presenting():
            also()
        if presents and not presenting():
            about = "Show the picture to an audience: large, with keys."
            st.button(
                "Present",
                on_click=_present,
                icon=":material/present_to_all:",
                help=about,
                type="tertiary",
                key="_present",
            )
        if not presenting():
            room()
    shown = link.removeprefix(share.address()) + ("&present=true" if presenting() else "")
    whole = {text.part: text.whole for text in cut}
    tidy_history(LINK_CHARS, quiet=[sliders.KEY], address=shown if cut else "", whole=whole)


def _present() -> None:
    present.begin()
    st.rerun()  # the whole page: the button stands in a fragment


def _about_link(cut: Cut) -> None:
    """Say how much of a text a link carries. It is drawn here because any control of any lens may change that."""
    part, whole = formats.count(len(cut.part)), formats.count(len(cut.whole))
    note = f"Links, and the address bar, carry the first {part} of the {whole} characters of “{cut.label}”."
    st.html(f'<p class="note">{escape(note)}</p>')
