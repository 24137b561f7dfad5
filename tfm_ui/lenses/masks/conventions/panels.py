"""The same mask elsewhere: as other libraries' calls expect it, and masks that come from there."""

from functools import partial
from html import escape

import streamlit as st

from tfm_ui.lenses.masks.batch import reads_instead
from tfm_ui.lenses.masks.composer import PICTURES as OF_LENS
from tfm_ui.lenses.masks.composer import draw
from tfm_ui.lenses.masks.conventions import bringing, chosen, pasted, table
from tfm_ui.lenses.masks.conventions.calls import Conventions, conventions
from tfm_ui.lenses.masks.conventions.code import code_to_copy
from tfm_ui.lenses.masks.conventions.handed import HandedMask, OurMask
from tfm_ui.lenses.masks.conventions.pasted import NoMask
from tfm_ui.lenses.masks.conventions.pictures import PICTURES
from tfm_ui.lenses.masks.state import PREFIX, MasksState
from tfm_ui.page import controls_line
from tfm_ui.page.drawing import Drawing
from tfm_ui.page.lens import View
from tfm_ui.pictures.panel import Block, Box, Columns, Note, Panel
from tfm_ui.state.model_state import ModelState


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
    return Box(
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
    ours = Box(
        key="masks_ours",
        title="Our mask",
        how_to_read="Of the chosen sentence: rows look at columns, 1 = may attend.",
        shape=f"query × key = {rows} × {columns}",
        picture="masks_ours",
        result=OurMask(batch),
        sources=(batch.convention.back,),
    )
    result = HandedMask(batch)
    handed = Box(
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
    """What was pasted or uploaded. A rejected file hides all."""
    mask, problem = bringing.brought(model, state)
    if not mask:
        return Box(
            key="masks_foreign",
            title="A mask from elsewhere",
            how_to_read="What torch or NumPy prints, rows of 0 and 1, a list, a file.",
            tools=partial(bringing.why_there_is_none, state, problem),
            result=NoMask(),
            sources=pasted.SOURCES,
        )
    return Box(
        key="masks_foreign",
        title="A mask from elsewhere",
        how_to_read="On the left as it came, on the right what it means: 1 = may attend.",
        shape=mask.shape,
        tools=partial(bringing.what_the_link_holds, state),
        picture="masks_pasted",
        result=mask,
        sources=pasted.SOURCES,
        below=partial(bringing.use, mask),
    )


def running(model: ModelState, state: MasksState) -> str:
    """What is said while the calls are made."""
    return "Making each call; the first time, transformers is loaded"


def draw_controls(model: ModelState) -> MasksState:
    """The convention, and behind a button the mask that is pasted or uploaded."""
    line = controls_line.row("line_convention")
    draw(model, line, "convention", "item")
    bringing.menu(model, controls_line.more(line, "Your own mask"))
    state = draw(model, controls_line.more(line), "place", "texts", "layer", "head")
    with st.container(key="masks_composer_place"):
        Drawing("masks_composer", ((model, ""), (state, PREFIX))).draw("masks_composer")
    return state


VIEW = View(
    title="Other libraries",
    blocks=blocks,
    drawn=OF_LENS | PICTURES,
    reads_instead=reads_instead,
    controls=draw_controls,
    running=running,
)
