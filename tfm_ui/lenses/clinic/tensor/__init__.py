"""The view "tensor": an exercise to compute with one's code, and which mistake is in what came out."""

from functools import partial
from html import escape

import streamlit as st

from tfm_core.clinic.results import Results, read_results
from tfm_ui.lenses.clinic import uploads
from tfm_ui.lenses.clinic.beside import about_setting
from tfm_ui.lenses.clinic.state import PREFIX, ClinicState
from tfm_ui.lenses.clinic.tensor.diagnosed import Cure, Diagnosed
from tfm_ui.lenses.clinic.tensor.given import draw_files, what_is_given
from tfm_ui.lenses.clinic.tensor.handed import diagnosed
from tfm_ui.lenses.clinic.tensor.verdict import verdict
from tfm_ui.page import controls, controls_line
from tfm_ui.page.lens import View
from tfm_ui.state.model_state import ModelState
from tfm_ui.text.markdown import escape_markdown


def read_file(file: uploads.File) -> Results:
    """The tensors of an upload, for its box."""
    return read_results(file.data)


BOX = uploads.Box(
    field="result_file",
    text="result",
    label="Hand in what your code gave: .npz, .safetensors, .npy or .txt",
    what="the uploaded result",
    read=read_file,
)


HOW = "1. Take the exercise along. 2. Compute any step of it with your code. 3. Hand in what came out."


def _editor(model: ModelState) -> None:
    """The exercise, the box that takes a result, and the verdict as the first thing below it."""
    with st.container(key="clinic_box"):
        line = controls_line.row("line_clinic")
        draw = partial(controls_line.draw, ClinicState, PREFIX, model)
        draw(line, "d_model", "num_heads", "tokens", "hides", "seed")
        draw(controls_line.more(line), "positional", "norm", "activation", "cached")
        with st.container(horizontal=True, gap="small", vertical_alignment="center", key="clinic_files"):
            st.html(f'<p class="note">{HOW}</p>', width="content")
            draw_files(controls.current(ClinicState, PREFIX).exercise)
        left, right = st.columns(2, gap="medium")
        with left:
            BOX.draw()
        with right:
            draw(right, "result")
            state = draw(controls_line.row("line_clinic_step"), "step")
    _verdict(state)


def _verdict(state: ClinicState) -> None:
    """The verdict, the first thing below the box."""
    if rejected := BOX.rejected(state.result):
        st.error(escape_markdown(rejected), icon=":material/error:")
        return
    given_in, diagnosis = diagnosed(state)
    kind = "wrong" if not diagnosis or not diagnosis.ok else "right"
    with st.container(key="words_clinic_verdict"):
        st.html(f'<p class="verdict {kind}" role="status">{escape(verdict(given_in, diagnosis))}</p>')


def reads_instead(model: ModelState, state: ClinicState) -> str:
    """What is read in place of the text in the sidebar."""
    given_in, _ = diagnosed(state)
    about = about_setting(state) if given_in.is_example else state.about_exercise
    return f"An exercise of seed {state.seed}: no text is read. {about}".strip()


VIEW = View(
    title="Which mistake is in my tensor?",
    shows=[Diagnosed, Cure, what_is_given],
    editor=_editor,
    uses_model=False,
    reads_instead=reads_instead,
)
