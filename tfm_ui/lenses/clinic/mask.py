"""The view "mask": a mask that is pasted or brought, what it means, and what is wrong in it."""

import re
from functools import cached_property, partial
from html import escape

import numpy as np
import pandas as pd
import streamlit as st
from numpy.typing import NDArray

from tfm_core.clinic import read
from tfm_core.clinic.findings import findings, verdict
from tfm_core.clinic.reading import Meaning, Reading
from tfm_ui.lenses.clinic.readings import BOX, at_of, brought, reading_needs, reading_of
from tfm_ui.lenses.clinic.state import AS_READ, PREFIX, ClinicState
from tfm_ui.lenses.clinic.to_masks import draw_links
from tfm_ui.live.tensors.step import Step, held
from tfm_ui.live.windows import part_of
from tfm_ui.page import controls_line
from tfm_ui.page.lens import View
from tfm_ui.pictures import maps, read_mask
from tfm_ui.pictures.canvas import Content
from tfm_ui.pictures.maps import MAPS
from tfm_ui.pictures.panel import Block, Columns, Panel
from tfm_ui.state.model_state import ModelState
from tfm_ui.text import formats
from tfm_ui.text.markdown import escape_markdown

CORNER = "query \\ key"  # how the first cell of the app's own files begins
ICONS = {"error": "✕", "warning": "!", "note": "i"}


class Doctor(Panel):
    """The mask as it came, and what it means."""

    state: ClinicState

    name = "clinic_mask"
    key = "clinic_mask"
    title = "What was brought"
    sources = (read, findings)
    canvas = MAPS
    uses_model = False
    needs = reading_needs

    @cached_property
    def reading(self) -> Reading | str:
        """What was read; where nothing could be, why."""
        return reading_of(self.state)

    @property
    def is_there(self) -> bool:
        """Whether there is a table to show. A bad file hides all."""
        return isinstance(self.reading, Reading) and not BOX.rejected(self.state.pasted)

    @property
    def picture_name(self) -> str:
        return self.name if self.is_there else ""

    @property
    def at(self) -> int:
        """The number of the table that is shown, from 0; the last, if there are fewer."""
        assert isinstance(self.reading, Reading)
        return at_of(self.reading, self.state)

    @property
    def cells(self) -> NDArray[np.float64]:
        """The table as it came."""
        assert isinstance(self.reading, Reading)
        return self.reading.tables[self.at]

    @property
    def mask(self) -> NDArray[np.bool_] | None:
        """What it means as a mask, True = may attend; None of weights and token ids."""
        assert isinstance(self.reading, Reading)
        return self.reading.visible[self.at] if self.reading.visible else None

    @property
    def tensors(self) -> Step | None:
        if not self.is_there:
            return None
        axes = ("query", "key")
        tensors = [held("brought", axes, self.cells, "the table as it came")]
        if self.mask is not None:
            tensors.append(held("mask", axes, self.mask, "what it means: True where the query may look at the key"))
        return Step("A mask", tensors, note="What a table means is not computed again: it is taken as it was read.")

    @property
    def shape(self) -> str:
        if not isinstance(self.reading, Reading):
            return ""
        return " × ".join(formats.count(size) for size in self.cells.shape)

    @property
    def how_to_read(self) -> str:
        if not self.is_there:
            return ""
        return "On the left as it came, on the right what it means: 1 = may attend." if self.mask is not None else ""

    def sentence(self) -> str:
        if not isinstance(self.reading, Reading):
            return "Nothing is drawn."
        return read_mask.sentence(self.reading, self.at)

    def table(self) -> pd.DataFrame:
        if not isinstance(self.reading, Reading):
            return pd.DataFrame()
        rows, columns = read_mask.names(self.reading, self.at)
        values = self.cells if self.mask is None else self.mask
        says = "" if self.mask is None else ": True = may attend"
        return pd.DataFrame(values, index=pd.Index(rows, name=f"{CORNER}{says}"), columns=columns)

    def picture(self) -> Content:
        if not isinstance(self.reading, Reading):
            return maps.nothing(str(self.reading))
        part = part_of(self.state.part, *self.cells.shape)
        return read_mask.content(self.reading, self.at, part, zooms=PREFIX + "part")


def what_is_wrong(model: ModelState, state: ClinicState) -> Block:
    """The findings, the worst first, each with its fixes."""
    return partial(_draw_findings, state)


def _draw_findings(state: ClinicState) -> None:
    reading = reading_of(state)
    with st.container(border=True, key="words_clinic_findings"):
        st.html('<div class="phead"><h2>Findings</h2></div>')
        if isinstance(reading, str):
            st.html('<p class="said">Nothing was read.</p>')
            return
        made = findings(reading, at_of(reading, state))
        if not made:
            st.html('<p class="said">Nothing was noticed.</p>')
        for finding in made:
            where = f" <small>{escape(finding.where)}</small>" if finding.where else ""
            st.html(
                f'<div class="finding {finding.severity}"><b aria-label="{finding.severity}">'
                f"{ICONS[finding.severity]}</b><div><p><strong>{_with_code(finding.title)}</strong>{where}</p>"
                f"<p>{_with_code(finding.consequence)}</p></div></div>"
            )
            if finding.fixes:
                for place, code in zip(st.tabs(list(finding.fixes)), finding.fixes.values(), strict=True):
                    place.code(code, wrap_lines=True)
        draw_links(reading, at_of(reading, state))


def _editor(model: ModelState) -> None:
    """The box, and the verdict as the first thing below it."""
    draw = partial(controls_line.draw, ClinicState, PREFIX, model)
    with st.container(key="clinic_box"):
        left, right = st.columns([3, 2], gap="medium")
        state = draw(left, "pasted")
        with right:
            BOX.draw()
        reading = brought(state.pasted, state.upload)
        if isinstance(reading, Reading) and not BOX.rejected(state.pasted):
            line = left.container(horizontal=True, gap="small", vertical_alignment="center", key="clinic_meaning_line")
            state = draw(line, "meaning", *(["table"] if len(reading.tables) > 1 else []))
    _draw_verdict(state)


def _draw_verdict(state: ClinicState) -> None:
    """What it is, why, and how bad it is: the first thing below the box."""
    if rejected := BOX.rejected(state.pasted):
        st.error(escape_markdown(rejected), icon=":material/error:")
        return
    reading = reading_of(state)
    if isinstance(reading, str):
        kind = st.error if state.pasted.strip() or state.upload else st.info
        kind(escape_markdown(reading))
        return
    at = at_of(reading, state)
    worst = next((finding.severity for finding in findings(reading, at)), "right")
    with st.container(key="words_clinic_verdict"):
        st.html(
            f'<p class="verdict {worst}" role="status"><strong>{_with_code(verdict(reading, at))}</strong> '
            f"<span>{_with_code(_why(reading, state))}</span></p>"
        )


def _with_code(sentence: str) -> str:
    """A sentence as HTML, in which what stands between backticks is code."""
    return re.sub(r"`([^`]*)`", r"<code>\1</code>", escape(sentence))


def _why(reading: Reading, state: ClinicState) -> str:
    """The evidence for the meaning, and the others that stay open."""
    chosen = state.meaning != AS_READ
    why = "As you chose." if chosen else f"Read as “{read_mask.MEANS[reading.meaning]}”: {reading.why}"
    others = [meaning for meaning in reading.alternatives if meaning != reading.meaning]
    return " ".join([why, *(_other(reading, meaning) for meaning in others)])


def _other(reading: Reading, meaning: Meaning) -> str:
    reason = reading.reasons.get(meaning, "")
    return f"It may also be “{read_mask.MEANS[meaning]}”" + (f": {reason}" if reason else ".")


def reads_instead(model: ModelState, state: ClinicState) -> str:
    """What is read in place of the text in the sidebar."""
    return "What you bring is read here, not the text in the sidebar."


VIEW = View(
    title="Mask doctor",
    shows=[Columns([[Doctor], [what_is_wrong]], (11, 9))],
    editor=_editor,
    uses_model=False,
    reads_instead=reads_instead,
)
