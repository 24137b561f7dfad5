"""What a teacher does with a lesson: present it, print it, hand it out as a notebook."""

from functools import partial
from importlib import import_module

import streamlit as st

from tfm_ui.lessons import adding, going, notebook_kinds, sheet, speaker, talk
from tfm_ui.lessons.lesson import Lesson
from tfm_ui.lessons.lesson_file import lesson_file
from tfm_ui.lessons.shelf import Place
from tfm_ui.lessons.shown import LensOf
from tfm_ui.page import frame, present
from tfm_ui.streamlit_private.containers import DeltaGenerator

PRESENTS = "_presents"  # key of the session state: the name of the lesson that is to be presented
SHEETS: dict[sheet.Kind, str] = {"questions": "Sheet", "answers": "Answers", "speaker": "Speaker’s script"}
NOTEBOOKS: dict[notebook_kinds.Kind, tuple[str, str]] = {
    "students": ("For students", "Blanks and checks, without solutions."),
    "study": ("For self-study", "Blanks; solutions and answers are folded."),
    "solutions": ("Solutions", "Everything filled in."),
}
MADE = "It is made when you press it, which takes up to half a minute."


def buttons(place: Place, lens_of: LensOf) -> None:
    """Draw all that can be done with a lesson which this server knows."""
    with st.container(key=f"give_{place.name}", gap="small"):
        with _row("In the hall"):
            st.button(
                "Present",
                icon=":material/present_to_all:",
                help="Shows the steps to an audience: large, with keys.",
                on_click=lambda: st.session_state.update({PRESENTS: place.name}),
                key=f"_present_{place.name}",
            )
            speaker.button(key=f"_speaker_{place.name}")
        with _row("On paper"):
            for kind, label in SHEETS.items():
                icon, link = ":material/print:" if kind == "questions" else None, sheet.link(place.name, kind)
                st.link_button(label, f"{frame.app_address()}/{link}", icon=icon, type="tertiary")
        with _row("As a notebook"):
            for made, (label, about) in NOTEBOOKS.items():
                st.download_button(
                    label,
                    partial(_notebook, place.lesson, lens_of, kind=made, address=frame.app_address()),
                    notebook_kinds.file_name(place.lesson, made),
                    "application/x-ipynb+json",
                    icon=":material/download:",
                    help=f"{about} {MADE}",
                    on_click="ignore",
                    type="tertiary",
                    key=f"_notebook_{made}_{place.name}",
                )
    if st.session_state.pop(PRESENTS, "") == place.name:
        talk.begin_anew()
        present.begin()
        going.go(place, lens_of)


def _notebook(lesson: Lesson, lens_of: LensOf, *, kind: notebook_kinds.Kind, address: str) -> bytes:
    """The notebook of a lesson; what makes it is loaded with the first that is wanted."""
    notebooks = import_module("tfm_ui.lessons.notebook_file")
    made: bytes = notebooks.notebook_bytes(lesson, lens_of, kind=kind, address=address)
    return made


def _row(name: str) -> DeltaGenerator:
    """A row of buttons, with its name before them."""
    row = st.container(horizontal=True, vertical_alignment="center", gap="small")
    row.html(f'<p class="note">{name}</p>', width="content")
    return row


def menu(place: Place, lens_of: LensOf) -> None:
    """Draw the menu of a lesson's card: what a teacher does with it."""
    with st.popover(
        "Teach it", icon=":material/school:", type="tertiary", key=f"teach_{place.name}", on_change="rerun"
    ) as opened:
        if opened.open:
            buttons(place, lens_of)
            with _row("Your own"):
                lesson_file(place.lesson, place.name)
                st.button(
                    "Add its steps to your lecture",
                    icon=adding.ICON,
                    on_click=adding.all_steps,
                    args=(place.lesson,),
                    key=f"_add_{place.name}",
                )
