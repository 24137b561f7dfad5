"""The same mask elsewhere: as other libraries' calls expect it, and masks that come from there."""

from functools import partial
from html import escape

import streamlit as st

from tfm_ui.lenses.masks.controls import draw
from tfm_ui.lenses.masks.conventions import chosen, pasted, table, uploading
from tfm_ui.lenses.masks.conventions.calls import Conventions, conventions
from tfm_ui.lenses.masks.conventions.code import code_to_copy
from tfm_ui.lenses.masks.conventions.handed import HandedMask, OurMask
from tfm_ui.lenses.masks.conventions.pasted import NoMask, Pasted, pasted_mask
from tfm_ui.lenses.masks.state import PREFIX, MasksState
from tfm_ui.page import controls, controls_line, share
from tfm_ui.page.drawing import Drawing
from tfm_ui.page.lens import View
from tfm_ui.pictures.panel import Block, Columns, Note, Panel
from tfm_ui.state.links import cuts
from tfm_ui.state.model_state import ModelState
from tfm_ui.text.markdown import escape_markdown
from tfm_ui.visitors.visitor import runs_a_script, visitor_here


def blocks(model: ModelState, state: MasksState) -> list[Block | None]:
    """Our mask and what the call gets; the code, the table of all calls, and masks from outside."""
    batch = conventions(model, state)
    aside = batch.aside()
    return [
        _one_call(batch),
        Note(aside) if aside else None,
        partial(_code, batch),
        _all_calls(batch),
        _foreign(model, state),
    ]


def _all_calls(batch: Conventions) -> Panel:
    result = table.AllCalls(batch)
    return Panel(
        key="conventions",
        title="The same mask elsewhere",
        how_to_read="A row per convention. Each call was made, with the weights and inputs of "
        f"{batch.where}; differences are the largest of any output from ours. The last column is the usual mistake, "
        "made on purpose.",
        tools=partial(_html, result),
        result=result,
        sources=table.SOURCES,
    )


def _html(result: table.AllCalls) -> None:
    st.html(result.html())


def _one_call(batch: Conventions) -> Columns:
    """Our mask, and what the call gets."""
    rows, columns = (len(names) for names in batch.names)
    ours = Panel(
        key="masks_ours",
        title="Our mask",
        how_to_read="Of the chosen sentence: rows look at columns, 1 = may attend.",
        shape=f"query × key = {rows} × {columns}",
        picture="masks_ours",
        result=OurMask(batch),
        sources=(batch.convention.back,),
    )
    result = HandedMask(batch)
    handed = Panel(
        key="masks_handed",
        title=batch.name,
        how_to_read=result.about_slice(),
        shape=batch.shape,
        picture="masks_handed",
        result=result,
        sources=(batch.convention.to, batch.convention.call),
    )
    return Columns([[ours], [handed]])


def _code(batch: Conventions) -> None:
    with st.container(border=True, key="panel_masks_code"):
        st.html(
            '<div class="phead"><h2>Code to copy</h2></div>'
            f'<p class="said">{escape(chosen.about(batch))}</p>'
            f'<p class="said">{escape(chosen.slip(batch))}</p>'
        )
        st.code(code_to_copy(batch.settings, batch.convention), wrap_lines=True)


def _foreign(model: ModelState, state: MasksState) -> Panel:
    """What was pasted or uploaded. Of uploads a visitor gets no others than their own; a rejected file hides all."""
    mask, problem = pasted_mask(model, state, visitor_here() if runs_a_script() else None)
    if not mask or uploading.rejected(state):
        return Panel(
            key="masks_foreign",
            title="A mask from elsewhere",
            how_to_read="What torch or NumPy prints, rows of 0 and 1, a list, a file.",
            tools=partial(_why_there_is_none, state, problem),
            result=NoMask(),
            sources=pasted.SOURCES,
        )
    return Panel(
        key="masks_foreign",
        title="A mask from elsewhere",
        how_to_read="On the left as it came, on the right what it means: 1 = may attend.",
        shape=mask.shape,
        tools=partial(_what_the_link_holds, state),
        picture="masks_pasted",
        result=mask,
        sources=pasted.SOURCES,
        below=partial(_use, mask),
    )


def _why_there_is_none(state: MasksState, problem: str) -> None:
    if rejected := uploading.rejected(state):
        st.error(escape_markdown(rejected), icon=":material/error:")
        back = "take it back, or change the text" if state.pasted.strip() else "try another file"
        st.caption(f"No mask is drawn while that file stands here: {back}.")
    else:
        kind = st.error if state.pasted.strip() else st.info
        kind(escape_markdown(problem))
    _what_the_link_holds(state, drawn=False)


def _what_the_link_holds(state: MasksState, *, drawn: bool = True) -> None:
    """What of a pasted or uploaded mask a link does not carry."""
    if drawn and not state.pasted.strip():
        st.caption("Uploads are not in the link, until they are used as the mask.")
    elif PREFIX + "pasted" in cuts(share.address(), *controls.states()):
        st.caption("This text is longer than a link carries. Used as the mask, it is in the link as paint.")


def _use(mask: Pasted) -> None:
    """The button that makes it the lens's mask."""
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="masks_use"):
        refused = bool(mask.refused())
        st.button(
            "Use as this lens’s mask",
            on_click=controls.change,
            args=(PREFIX,),
            kwargs={"paint": "" if refused else mask.paint()},
            disabled=refused or mask.in_use,
            key="_masks_use",
        )
        st.html(f'<p class="note">{escape(mask.about_use())}</p>')


def running(model: ModelState, state: MasksState) -> str:
    """What is said while the calls are made."""
    return "Making each call; the first time, transformers is loaded"


def draw_controls(model: ModelState) -> MasksState:
    """The convention, and behind a button the mask that is pasted or uploaded."""
    line = controls_line.row("line_convention")
    draw(model, line, "convention", "item")
    menu = controls_line.more(line, "Your own mask")
    draw(model, menu, "pasted")
    with menu:
        uploading.uploader()
    draw(model, menu, "read_as")
    state = draw(model, controls_line.more(line), "place", "texts", "layer", "head")
    with st.container(key="masks_composer_place"):
        Drawing("masks_composer", ((model, ""), (state, PREFIX))).draw("masks_composer")
    return state


VIEW = View(title="Other libraries", blocks=blocks, controls=draw_controls, running=running)
