"""The table of schemes: what the library knows of each, and what it counts in the sidebar's model."""

from dataclasses import dataclass
from html import escape

import pandas as pd
import torch

from tfm_core import POSITIONAL
from tfm_core.positional.maths import t5_shared_from
from tfm_core.positional.schemes import T5, About
from tfm_ui.lenses.positions.sites import enters
from tfm_ui.lenses.positions.state import PositionsState
from tfm_ui.pictures.panel import Result
from tfm_ui.state.model_state import ModelState
from tfm_ui.text import formats


@dataclass(frozen=True)
class Row:
    """One scheme.

    Attributes:
        name: in `POSITIONAL`.
        parameters: its own, in the sidebar's model.
        about: what is known of it.
        beyond: what becomes of it beyond the trained length, in the sidebar's model.
    """

    name: str
    parameters: int
    about: About
    beyond: str

    def cells(self) -> dict[str, str]:
        """Heading -> what stands below it."""
        return {
            "parameters": formats.count(self.parameters),
            "enters": enters(self.name),
            "kind": self.about.kind,
            "beyond the trained length": self.beyond,
            "used by": ", ".join(self.about.used_by),
            "source": self.about.source,
        }


def parameters(model: ModelState, name: str) -> int:
    """How many numbers this scheme learns in the sidebar's model, all stacks together."""
    config = model.config
    with torch.device("meta"):  # counted, not drawn
        scheme = POSITIONAL[name](d_model=config.d_model, num_heads=config.num_heads, max_len=config.max_len)
    return sum(parameter.numel() for parameter in scheme.parameters()) * (1 + model.is_encoder_decoder)


def beyond(model: ModelState, name: str) -> str:
    """What becomes of this scheme beyond the trained length, with the numbers of the sidebar's model."""
    if not issubclass(POSITIONAL[name], T5):
        return POSITIONAL[name].about.beyond
    both, back = (t5_shared_from(bidirectional=side, num_buckets=T5.num_buckets) for side in (True, False))
    here = {
        "encoder": f"from {both} on here, where half of the buckets are for each side",
        "decoder": f"from {back} on here, where all buckets are for earlier keys",
        "encoder-decoder": f"from {both} on in the encoder, from {back} on in the decoder",
    }[model.architecture]
    return f"defined: far distances share the last bucket, {here}"


@dataclass(frozen=True)
class SchemesTable(Result):
    """All schemes of the library.

    Attributes:
        model: the sidebar's.
        state: the lens's controls.
        rows: one per scheme, as the library lists them.
    """

    model: ModelState
    state: PositionsState
    rows: list[Row]

    def sentence(self) -> str:
        """How many are what."""
        trained = [f"{row.name} ({formats.count(row.parameters)})" for row in self.rows if row.parameters]
        kinds = {kind: [row.name for row in self.rows if row.about.kind == kind] for kind in ("absolute", "relative")}
        ends = [row.name for row in self.rows if row.about.beyond.startswith("not defined")]
        has = "has" if len(trained) == 1 else "have"
        return (
            f"Of {len(self.rows)} schemes, {formats.listed(kinds['absolute'])} say where a token stands, "
            f"{formats.listed(kinds['relative'])} how far two stand apart. In the sidebar’s model "
            f"{formats.listed(trained)} {has} parameters of their own. "
            f"Not defined past max_len: {formats.listed(ends)}."
        )

    def table(self) -> pd.DataFrame:
        """A row per scheme, with numbers to be sorted by."""
        columns = [
            {"scheme": row.name, "pinned as": self.state.sides.get(row.name, "")}
            | row.cells()
            | {"parameters": row.parameters}
            for row in self.rows
        ]
        return pd.DataFrame(columns).set_index("scheme")

    def html(self) -> str:
        """The same, to be read: on a phone each scheme is a block of its own."""
        lines = []
        for row in self.rows:
            marks = f"<b>{self.state.sides[row.name]}</b>" if row.name in self.state.sides else ""
            marks += "<i>the sidebar’s</i>" if row.name == self.model.positional else ""
            cells = "".join(
                f'<td data-label="{escape(name)}">{escape(text)}</td>' for name, text in row.cells().items()
            )
            lines.append(f'<tr><th scope="row">{escape(row.name)} {marks}</th>{cells}</tr>')
        head = "".join(f'<th scope="col">{escape(name)}</th>' for name in ("scheme", *self.rows[0].cells()))
        return f'<table class="schemes"><thead><tr>{head}</tr></thead><tbody>{"".join(lines)}</tbody></table>'


def schemes_table(model: ModelState, state: PositionsState) -> SchemesTable:
    """What is known of each scheme, and what it counts in the sidebar's model."""
    rows = [
        Row(name, parameters(model, name), scheme.about, beyond(model, name)) for name, scheme in POSITIONAL.items()
    ]
    return SchemesTable(model, state, rows)
