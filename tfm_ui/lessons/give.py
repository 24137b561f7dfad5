"""What a teacher does with a lesson: present it, print it, hand it out."""

import streamlit as st

from tfm_ui.lessons import adding, going, speaker, talk
from tfm_ui.lessons.lesson import Lesson
from tfm_ui.lessons.shelf import Place
from tfm_ui.lessons.shown import LensOf
from tfm_ui.lessons.writer import written
from tfm_ui.page import present, share

PRESENTS = "_presents"  # key of the session state: the name of the lesson that is to be presented


def buttons(place: Place, lens_of: LensOf) -> None:
    """Draw all that can be done with a lesson which this server knows."""
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key=f"give_{place.name}"):
        st.button(
            "Present",
            icon=":material/present_to_all:",
            help="Shows the steps to an audience: large, with keys.",
            on_click=lambda: st.session_state.update({PRESENTS: place.name}),
            key=f"_present_{place.name}",
        )
        speaker.button(key=f"_speaker_{place.name}")
    if st.session_state.pop(PRESENTS, "") == place.name:
        talk.begin_anew()
        present.begin()
        going.go(place, lens_of)


def menu(place: Place, lens_of: LensOf) -> None:
    """Draw the menu of a lesson's card: what a teacher does with it."""
    with st.popover(
        "Teach it", icon=":material/school:", type="tertiary", key=f"teach_{place.name}", on_change="rerun"
    ) as opened:
        if opened.open:
            buttons(place, lens_of)
            with st.container(horizontal=True, gap="small", key=f"own_{place.name}"):
                lesson_file(place.lesson, place.name)
                st.button(
                    "Add its steps to your lecture",
                    icon=adding.ICON,
                    on_click=adding.all_steps,
                    args=(place.lesson,),
                    key=f"_add_{place.name}",
                )


def lesson_file(lesson: Lesson, name: str) -> None:
    """Draw the button that saves a lesson as its file."""
    st.download_button(
        "Save the file",
        written(lesson),
        f"{name}.md",
        "text/markdown",
        icon=":material/download:",
        on_click="ignore",
        key=f"_file_{name}",
    )


def qr(link: str) -> None:
    """Draw a link as a QR code, small, which a press opens large."""
    with st.popover("QR code", icon=":material/qr_code_2:", type="tertiary", key="_qr_lecture"):
        st.html(f'<div class="qr">{share.qr_code(link)}</div>')
