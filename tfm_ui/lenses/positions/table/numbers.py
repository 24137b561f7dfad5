"""The table of schemes: what the library knows of each, and what it counts in the sidebar's model."""

from dataclasses import dataclass
from html import escape

import pandas as pd
import torch

from tfm_core import POSITIONAL
from tfm_core.positional.schemes import About
from tfm_ui.lenses.positions.in_model.entry import enters
from tfm_ui.lenses.positions.in_model.numbers import sides
from tfm_ui.lenses.positions.state import PositionsState
from tfm_ui.state.model_state import ModelState
from tfm_ui.text import look


@dataclass(frozen=True)
class Row:
    """One scheme.

    Attributes:
        name: in `POSITIONAL`.
        parameters: its own, in the sidebar's model.
        about: what is known of it.
    """

    name: str
    parameters: int
    about: About

    def cells(self) -> dict[str, str]:
        """Heading -> what stands below it."""
        return {
            "parameters": look.count(self.parameters),
            "enters": enters(self.name),
            "kind": self.about.kind,
            "beyond the trained length": self.about.beyond,
            "used by": ", ".join(self.about.used_by),
            "source": self.about.source,
        }


def parameters(model: ModelState, name: str) -> int:
    """How many numbers this scheme learns in the sidebar's model, all stacks together."""
    config = model.config
    with torch.device("meta"):  # counted, not drawn
        scheme = POSITIONAL[name](d_model=config.d_model, num_heads=config.num_heads, max_len=config.max_len)
    return sum(parameter.numel() for parameter in scheme.parameters()) * (1 + model.is_encoder_decoder)


def rows(model: ModelState) -> list[Row]:
    """A row per scheme, as the library lists them."""
    return [Row(name, parameters(model, name), scheme.about) for name, scheme in POSITIONAL.items()]


def table(model: ModelState, state: PositionsState) -> pd.DataFrame:
    """The same, with numbers to be sorted by."""
    pinned = sides(state)
    columns = [
        {"scheme": row.name, "pinned as": pinned.get(row.name, "")} | row.cells() | {"parameters": row.parameters}
        for row in rows(model)
    ]
    return pd.DataFrame(columns).set_index("scheme")


def html(model: ModelState, state: PositionsState) -> str:
    """The same, to be read: on a phone each scheme is a block of its own."""
    pinned, lines = sides(state), []
    for row in rows(model):
        marks = f"<b>{pinned[row.name]}</b>" if row.name in pinned else ""
        marks += "<i>the sidebar’s</i>" if row.name == model.positional else ""
        cells = "".join(f'<td data-label="{escape(name)}">{escape(text)}</td>' for name, text in row.cells().items())
        lines.append(f'<tr><th scope="row">{escape(row.name)} {marks}</th>{cells}</tr>')
    head = "".join(f'<th scope="col">{escape(name)}</th>' for name in ("scheme", *rows(model)[0].cells()))
    return f'<table class="schemes"><thead><tr>{head}</tr></thead><tbody>{"".join(lines)}</tbody></table>'


def sentence(model: ModelState) -> str:
    """How many are what."""
    found = rows(model)
    own = [f"{row.name} ({look.count(row.parameters)})" for row in found if row.parameters]
    kinds = {kind: [row.name for row in found if row.about.kind == kind] for kind in ("absolute", "relative")}
    ends = [row.name for row in found if row.about.beyond.startswith("not defined")]
    has = "has" if len(own) == 1 else "have"
    return (
        f"Of {len(found)} schemes, {look.listed(kinds['absolute'])} say where a token stands, "
        f"{look.listed(kinds['relative'])} how far two stand apart. In the sidebar’s model "
        f"{look.listed(own)} {has} parameters of their own. "
        f"Not defined past max_len: {look.listed(ends)}."
    )
