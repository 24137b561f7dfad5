"""How a mask of one's own is brought: the menu that takes it and says at once what it is, and the way to use it."""

from html import escape

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from tfm_ui.lenses.masks.composer import draw
from tfm_ui.lenses.masks.conventions import uploading
from tfm_ui.lenses.masks.conventions.pasted import Pasted, pasted_mask
from tfm_ui.lenses.masks.state import PREFIX, MasksState
from tfm_ui.page import controls, share
from tfm_ui.state.links import cuts
from tfm_ui.state.model_state import ModelState
from tfm_ui.text.markdown import escape_markdown


def menu(model: ModelState, where: DeltaGenerator) -> None:
    """What takes a mask, and above it what it is taken for: the panel that draws it is far below on the page."""
    with where.container(key="masks_verdict"):
        verdict = st.container()
    draw(model, where, "pasted")
    with where:
        uploading.uploader()
    state = draw(model, where, "read_as")
    mask, problem = brought(model, state)
    if mask and (stack := [size for size in mask.stack if size > 1]):
        state = draw(model, where, *("pasted_layer", "pasted_head")[-len(stack) :])
        mask, problem = brought(model, state)
    with verdict:
        if not mask:
            why_there_is_none(state, problem)
            return
        more = mask.about_use() if mask.in_use or mask.refused() else "It is drawn below, in “A mask from elsewhere”."
        st.html(f'<p class="note">{escape(mask.sentence())} {escape(more)}</p>')
        _use_button(mask, "_masks_use_here")


def brought(model: ModelState, state: MasksState) -> tuple[Pasted | None, str]:
    """What was pasted or uploaded, or None and why. A bad file hides all."""
    mask, problem = pasted_mask(model, state)
    return (None, problem) if uploading.rejected(state) else (mask, problem)


def why_there_is_none(state: MasksState, problem: str) -> None:
    """What is wrong with the file or the text, or that there is neither."""
    if rejected := uploading.rejected(state):
        st.error(escape_markdown(rejected), icon=":material/error:")
        back = "take it back, or change the text" if state.pasted.strip() else "try another file"
        st.caption(f"No mask is drawn while that file stands here: {back}.")
    else:
        kind = st.error if state.pasted.strip() else st.info
        kind(escape_markdown(problem))
    what_the_link_holds(state, drawn=False)


def what_the_link_holds(state: MasksState, *, drawn: bool = True) -> None:
    """What of a pasted or uploaded mask a link does not carry."""
    if drawn and not state.pasted.strip():
        st.caption("The link names this upload, and does not hold it until it is used as the mask.")
    elif PREFIX + "pasted" in cuts(share.address(), *controls.states()):
        st.caption("This text is longer than a link carries. Used as the mask, it is in the link as paint.")


def use(mask: Pasted) -> None:
    """The button that makes it the lens's mask, and what that would do."""
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="masks_use"):
        _use_button(mask, "_masks_use")
        st.html(f'<p class="note">{escape(mask.about_use())}</p>')


def _use_button(mask: Pasted, key: str) -> None:
    refused = bool(mask.refused())
    st.button(
        "Use as this lens’s mask",
        on_click=controls.change,
        args=(PREFIX,),
        kwargs={"paint": "" if refused else mask.paint()},
        disabled=refused or mask.in_use,
        key=key,
    )
