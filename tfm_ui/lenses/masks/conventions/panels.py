"""The same mask elsewhere: as other libraries' calls want it, and masks that come from there."""

from html import escape

import pandas as pd
import streamlit as st

from tfm_ui.lenses.masks.boxes import boxes, mask, states
from tfm_ui.lenses.masks.conventions import chosen as conventions_chosen
from tfm_ui.lenses.masks.conventions import code as conventions_code
from tfm_ui.lenses.masks.conventions import numbers as conventions
from tfm_ui.lenses.masks.conventions import pasted, uploads
from tfm_ui.lenses.masks.conventions import table as conventions_table
from tfm_ui.lenses.masks.conventions.mask_text import BYTES
from tfm_ui.lenses.masks.conventions.numbers import Conventions
from tfm_ui.lenses.masks.conventions.pasted_file import read_file
from tfm_ui.lenses.masks.state import PREFIX, MasksState
from tfm_ui.page import controls, controls_line, frame, sidebar
from tfm_ui.page.panels import panel
from tfm_ui.pictures.registry import Drawing
from tfm_ui.state.links import cuts
from tfm_ui.state.model_state import ModelState
from tfm_ui.text.plain import plain
from tfm_ui.visitors.visitor import visitor_here

UPLOAD, PROBLEM = "_masks_upload", "_masks_upload_problem"


def draw(model: ModelState) -> None:
    """The table, one convention of it, and masks from outside."""
    mask(model, "layer")
    asides, calling, top = (st.container(key=f"masks_{name}") for name in ("asides", "calling", "table"))
    seen = conventions.view(model, boxes(model, controls_line.row("convention"), "convention", "head"))
    with asides:
        if aside := seen.aside():
            st.info(aside)
    with calling, st.spinner("Making each call; the first time, transformers is loaded", show_time=True):
        said = conventions_table.sentence(seen)
    with top:
        _table(seen, said)
    _chosen(model, seen)
    _foreign(model)


def _table(seen: Conventions, said: str) -> None:
    with panel("conventions") as show:
        st.html(conventions_table.html(seen))
        show(
            title="The same mask elsewhere",
            how_to_read="A row per convention. Each call was made, with the weights and inputs of "
            f"{seen.where}; differences are the largest of any output from ours. The last column is the usual mistake, "
            "made on purpose.",
            sentence=said,
            laws=conventions_table.laws(seen),
            table=lambda: conventions_table.table(seen),
            sources=conventions_table.SOURCES,
            recipe=conventions_code.recipe(seen),
            mode=frame.mode(),
        )


def _chosen(model: ModelState, seen: Conventions) -> None:
    state, code = seen.state, conventions_code.code(seen)
    pictures, script = st.columns(2, gap="medium")
    with pictures, panel("masks_ours") as show:
        rows, columns = (len(names) for names in seen.names)
        show(
            title="Our mask",
            how_to_read="Of the chosen sentence: rows look at columns, 1 = may attend.",
            shape=f"query × key = {rows} × {columns}",
            picture=Drawing("masks_ours", states(model, state)),
            sentence=seen.about_ours(),
            table=seen.ours_table,
            sources=[seen.convention.back],
            recipe=code,
            mode=frame.mode(),
        )
    with pictures, panel("masks_handed") as show:
        show(
            title=seen.name,
            how_to_read=seen.about_slice(),
            shape=seen.shape,
            picture=Drawing("masks_handed", states(model, state)),
            sentence=seen.about_handed(),
            table=seen.handed_table,
            sources=[seen.convention.to, seen.convention.call],
            recipe=code,
            mode=frame.mode(),
        )
    with script.container(border=True, key="panel_masks_code"):
        st.html(
            '<div class="phead"><h3>Code to copy</h3></div>'
            f'<p class="said">{escape(conventions_chosen.about(seen))}</p>'
            f'<p class="said">{escape(conventions_chosen.slip(seen))}</p>'
        )
        st.code(code, wrap_lines=True)


def _foreign(model: ModelState) -> None:
    """What was pasted or uploaded."""
    with panel("masks_foreign") as show:
        text, file = st.columns(2, gap="medium")
        boxes(model, text.container(), "pasted")
        with file:
            st.file_uploader(
                "Or upload one: .npy, .csv, .txt",
                max_upload_size=BYTES // 2**20,
                key=UPLOAD,
                on_change=_took,
            )
            state = boxes(model, st.container(), "read_as")
        seen, problem = pasted.view(model, state, visitor_here())
        with st.container(key="masks_pasted_problem"):
            rejected, beside = st.session_state.get(PROBLEM, ("", None))
            if beside == state.pasted:  # nothing else was tried since
                st.error(plain(rejected), icon=":material/error:")
                back = "take it back, or change the text" if state.pasted.strip() else "try another file"
                seen, problem = None, f"No mask is drawn while that file stands here: {back}."
                st.caption(problem)
            elif problem:
                kind = st.error if state.pasted.strip() else st.info
                kind(plain(problem))
            if seen and not state.pasted.strip():
                st.caption("Uploads are not in the link, until they are used as the mask.")
            elif PREFIX + "pasted" in cuts(sidebar.address(), *controls.states()):
                st.caption("This text is longer than a link carries. Used as the mask, it is in the link as paint.")
        if not seen:
            show(
                title="A mask from elsewhere",
                how_to_read="What torch or NumPy prints, rows of 0 and 1, a list, a file.",
                sentence="No mask is drawn.",
                table=pd.DataFrame,
                sources=pasted.SOURCES,
                mode=frame.mode(),
            )
            return
        show(
            title="A mask from elsewhere",
            how_to_read="On the left as it came, on the right what it means: 1 = may attend.",
            shape=pasted.shape_of(seen),
            picture=Drawing("masks_pasted", states(model, state)),
            sentence=seen.sentence(),
            table=seen.table_of,
            sources=pasted.SOURCES,
            mode=frame.mode(),
        )
        with st.container(horizontal=True, vertical_alignment="center", gap="small", key="masks_use"):
            refused = bool(seen.refused())
            st.button(
                "Use as this lens’s mask",
                on_click=controls.change,
                args=(PREFIX,),
                kwargs={"paint": "" if refused else seen.paint()},
                disabled=refused or seen.in_use,
                key="_masks_use",
            )
            st.html(f'<p class="note">{escape(seen.about_use())}</p>')


def _took() -> None:
    """A file was chosen, or taken back: its text or array is read now, and kept if it is a mask."""
    file = st.session_state[UPLOAD]
    st.session_state.pop(PROBLEM, None)
    if file is None:
        controls.change(PREFIX, upload="")
        return
    data = file.getvalue()
    try:
        found = read_file(data)
    except ValueError as problem:
        state = controls.current(MasksState, PREFIX)
        st.session_state[PROBLEM] = f"{file.name[:60]}: {problem}", state.pasted
        controls.change(PREFIX, upload="")  # the uploader does not hold that one any more
        return
    visitor = visitor_here()
    name = uploads.name_of(data, visitor)
    uploads.UPLOADS.keep(name, visitor, found)
    controls.change(PREFIX, upload=name, pasted="")
