"""The view "table": what the library knows of each scheme, and ways into the other views."""

from functools import cached_property
from html import escape

import pandas as pd
import streamlit as st

from tfm_core import POSITIONAL, Positional
from tfm_core.positional.schemes import About
from tfm_ui.lenses.positions.controls import positions_alone
from tfm_ui.lenses.positions.panel import PositionsPanel
from tfm_ui.lenses.positions.schemes import enters, parameters
from tfm_ui.lenses.positions.state import PREFIX, PositionsState
from tfm_ui.page import controls
from tfm_ui.page.lens import View
from tfm_ui.pictures.panel import Block
from tfm_ui.state.model_state import ModelState
from tfm_ui.text import formats

TRY = {  # what a button says -> the lens's fields
    "Waves beside turns": {"view": "see", "a": "sinusoidal", "b": "rope"},
    "Slopes beside buckets": {"view": "see", "a": "alibi", "b": "t5"},
    "One score per distance": {"view": "why", "a": "rope", "b": "sinusoidal"},
    "Past the end of a learned table": {"view": "beyond", "a": "learned", "b": "sinusoidal"},
    "Words without an order": {"view": "model", "a": "none", "b": "rope"},
}


class Table(PositionsPanel):
    """All schemes of the library: what is known of each, and what it counts in the sidebar's model."""

    title = "The schemes"
    how_to_read = "A row per scheme of the library. Parameters are counted in the sidebar’s model."
    sources = (About, Positional.enters, parameters)

    @cached_property
    def parameters(self) -> dict[str, int]:
        """Scheme -> how many numbers it learns in the sidebar's model, all stacks together."""
        config, stacks = self.model.config, 1 + self.model.is_encoder_decoder
        sizes = {"d_model": config.d_model, "num_heads": config.num_heads, "max_len": config.max_len}
        return {name: stacks * parameters(name, **sizes) for name in POSITIONAL}

    def cells(self, name: str) -> dict[str, str]:
        """Heading -> what stands below it in the row of a scheme."""
        about = POSITIONAL[name].about
        return {
            "parameters": formats.count(self.parameters[name]),
            "enters": enters(name),
            "kind": about.kind,
            "beyond the trained length": POSITIONAL[name].beyond(self.model.architecture),
            "used by": ", ".join(about.used_by),
            "source": about.source,
        }

    def tools(self) -> None:
        st.html(self.html())

    def html(self) -> str:
        """The table as HTML: on a phone each scheme is a block of its own."""
        sides, rows = self.state.sides, []
        for name in POSITIONAL:
            marks = f"<b>{sides[name]}</b>" if name in sides else ""
            marks += "<i>the sidebar’s</i>" if name == self.model.positional else ""
            cells = self.cells(name)
            row = "".join(f'<td data-label="{escape(heading)}">{escape(text)}</td>' for heading, text in cells.items())
            rows.append(f'<tr><th scope="row">{escape(name)} {marks}</th>{row}</tr>')
        head = "".join(f'<th scope="col">{escape(heading)}</th>' for heading in ("scheme", *cells))
        return f'<table class="schemes"><thead><tr>{head}</tr></thead><tbody>{"".join(rows)}</tbody></table>'

    def sentence(self) -> str:
        abouts = {name: scheme.about for name, scheme in POSITIONAL.items()}
        trained = [f"{name} ({formats.count(count)})" for name, count in self.parameters.items() if count]
        where, apart = (
            formats.listed([name for name, about in abouts.items() if kind in about.kind])
            for kind in ("absolute", "relative")
        )
        ends = [name for name, scheme in POSITIONAL.items() if scheme.ends_at_max_len()]
        return (
            f"Of {len(abouts)} schemes, {where} say where a token stands, {apart} how far two stand apart. In the "
            f"sidebar’s model {formats.listed(trained)} {'has' if len(trained) == 1 else 'have'} parameters of their "
            f"own. Not defined past max_len: {formats.listed(ends)}."
        )

    def table(self) -> pd.DataFrame:
        """A row per scheme, with numbers to be sorted by."""
        rows = {
            name: {"pinned as": self.state.sides.get(name, "")} | self.cells(name) | {"parameters": count}
            for name, count in self.parameters.items()
        }
        return pd.DataFrame.from_dict(rows, orient="index").rename_axis("scheme")


def ways_into_views(model: ModelState, state: PositionsState) -> Block:
    """Buttons that open other views."""

    def draw() -> None:
        with st.container(horizontal=True, vertical_alignment="center", gap="small", key="positions_try"):
            st.html('<p class="side">Try</p>', width="content")
            for label, fields in TRY.items():
                key = f"_try_{fields['view']}_{fields['a']}"
                st.button(label, on_click=controls.change, args=(PREFIX,), kwargs=fields | {"question": ""}, key=key)

    return draw


VIEW = View(
    title="All schemes",
    tab="see",
    shows=[Table, ways_into_views],
    controls=("a", "b"),
    line="line_positions",
    reads_instead=positions_alone,
)
