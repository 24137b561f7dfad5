"""The view "code": the checks of `tfm_core.checks`, which run where the reader's code is, shown on listings."""

import inspect
from collections.abc import Sequence
from functools import partial
from html import escape

import pandas as pd
import streamlit as st

from tfm_core import checks
from tfm_core.checks import Report
from tfm_core.study.mistakes import MISTAKES
from tfm_ui.lenses.clinic.listings import LISTINGS
from tfm_ui.lenses.clinic.state import ClinicState
from tfm_ui.live.cache import cached, never
from tfm_ui.live.memory import little
from tfm_ui.page.lens import View
from tfm_ui.pictures.panel import Block, OpenTable, Panel, Source
from tfm_ui.state.model_state import ModelState
from tfm_ui.text import formats

# Checks of what takes a whole model, which no short listing shows.
OTHERS = {
    "check_decoder_layer": "a layer that also looks at an encoder’s output",
    "check_transformer": "a whole model, by what holds for every model: causality, padding, order, gradients",
    "check_generate": "a function that writes on, greedily",
}
TAKES = {
    "check_attention": "f(query, key, value, mask=None), which returns the output, or (output, weights)",
    "check_multi_head_attention": "a module or its class (d_model, num_heads), called as (q, k, v, mask) or (x, mask)",
    "check_positional": "f(seq_len, d_model), or a module that adds its sines and cosines",
    "check_layer_norm": "f(x), f(x, gain, shift, eps), or a module of d_model",
    "check_encoder_layer": "a layer or its class (d_model, num_heads, d_ff): forward(x, mask), pre-norm or post-norm",
    "check_causal_mask": "f(n), or f(queries, keys)",
    "check_padding_mask": "f(ids), or f(ids, pad_id)",
}
EXAMPLE = """# tfm_core is a folder of this app’s repository: put it beside your notebook; it needs torch alone
from tfm_core.checks import {name}

{name}({given})             # prints the first step that differs, and the mistake
{name}({given}, hint=True)  # says more
assert {name}({given})      # in a test"""


@cached(heavy=never, always_kept=16)
def report_of(name: str, *, hint: bool = False) -> Report:
    """What a check says of its listing, run now."""
    report: Report = getattr(checks, name)(LISTINGS[name], hint=hint)
    return report


class Reports(Panel):
    """What the checks say of listings with a mistake."""

    state: ClinicState

    name = "clinic_reports"
    key = "clinic_reports"
    title = "What the checks say of listings with a mistake"
    how_to_read = "Each check was run just now on a listing of this page: the first step that differs, and the mistake."
    uses_model = False
    needs = little

    @property
    def sources(self) -> Sequence[Source]:
        return (getattr(checks, self.state.check), LISTINGS[self.state.check])

    def sentence(self) -> str:
        named = [report_of(name) for name in LISTINGS]
        explained = sum(bool(report.mistake) for report in named)
        others = formats.listed([f"{name} ({about})" for name, about in OTHERS.items()])
        return f"Of {len(named)} listings {explained} have a mistake that is named. There are also {others}."

    def table(self) -> pd.DataFrame:
        """A row per check."""
        reports = {name: report_of(name) for name in LISTINGS}
        columns = {
            "mistake": [report.mistake for report in reports.values()],
            "first step that differs": [report.step for report in reports.values()],
            "largest difference": [report.largest_difference for report in reports.values()],
        }
        return pd.DataFrame(columns, index=pd.Index(list(reports), name="check"))

    @property
    def open_table(self) -> OpenTable:
        return OpenTable({"largest difference": st.column_config.NumberColumn(format="%.1g")})

    def laws(self) -> dict[str, bool]:
        return {"each listing is told to be wrong": not any(report_of(name).ok for name in LISTINGS)}


def listing_and_report(model: ModelState, state: ClinicState) -> Block:
    """The chosen check: what to copy, its listing, and what it prints."""
    return partial(_draw, state)


def _draw(state: ClinicState) -> None:
    name = state.check
    listing = LISTINGS[name]
    with st.container(border=True, key="words_clinic_check"):
        st.html(f'<div class="phead"><h2>{escape(name)}</h2></div>')
        left, right = st.columns(2, gap="medium")
        with left:
            st.html(f'<p class="note">What it takes: {escape(TAKES[name])}. True in a mask = may attend.</p>')
            st.code(EXAMPLE.format(name=name, given=f"your_{listing.__name__}"), wrap_lines=True)
            st.html('<p class="note">The listing</p>')
            st.code(inspect.getsource(listing).strip(), wrap_lines=True)
        with right:
            for about, hint in (("What is printed", False), ("With hint=True", True)):
                st.html(f'<p class="note">{about}</p>')
                st.code(str(report_of(name, hint=hint)), language=None, wrap_lines=True)


def said_of(model: ModelState, state: ClinicState) -> str:
    """What the chosen check says of its listing, in a sentence."""
    report = report_of(state.check)
    return (
        f"{state.check} takes the weights of the module, if there are any, into its own computation, and compares step "
        f"by step: “{report.step}” is the first that differs, and “{report.mistake}” gives exactly these numbers. The "
        f"cure it keeps to itself until hint=True: {MISTAKES[report.mistake].cure}"
    )


def first_step_of_check(model: ModelState, state: ClinicState) -> str:
    """The first step that differs in the listing of the chosen check."""
    return report_of(state.check).step


def reads_instead(model: ModelState, state: ClinicState) -> str:
    """What is read in place of the text in the sidebar."""
    return "Listings are checked here, and no text is read. Your own code runs in your notebook, never on this server."


VIEW = View(
    title="Check your code",
    shows=[Reports, listing_and_report],
    controls=["check"],
    uses_model=False,
    reads_instead=reads_instead,
    line="line_clinic",
)
