"""Two texts as a batch, as a model is handed it: padded to one length, cut to max_length, with mask and token types."""

from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go
import torch
from numpy.typing import NDArray
from torch import Tensor

from tfm_core.language.cutting import Row, Scheme, batch_of
from tfm_ui.lenses.model.tokens.labels import chip
from tfm_ui.lenses.model.tokens.schemes import TokensPanel, scheme_code
from tfm_ui.live.script import script
from tfm_ui.live.tensors.step import Step, held
from tfm_ui.pictures import figures, heatmaps
from tfm_ui.pictures.canvas import Canvas, Content, Header
from tfm_ui.pictures.heatmaps import Heat, Side
from tfm_ui.pictures.map_scale import SHARES, from_zero
from tfm_ui.text import formats

GRIDS = ("input_ids", "attention_mask", "token_type_ids")
CUT_SHOWN = 24  # pieces that had no room, of each text


def figure(header: Header, numbers: NDArray[Any]) -> go.Figure:
    """A map for each of the grids."""
    tables = np.asarray(numbers, np.float32).reshape(len(header["grids"]), 2, header["length"])
    if not header["length"]:
        return go.Figure({}, {"template": figures.TEMPLATE, "title": heatmaps.note(header["about"])})
    rows = Side(labels=["row 1", "row 2"], title="row", noun="row")
    columns = Side(
        labels=heatmaps.numbered([str(i) for i in range(1, tables.shape[2] + 1)]), title="token", noun="token"
    )
    heats = [
        Heat(
            name=name,
            values=table,
            rows=rows,
            columns=columns,
            scale=from_zero(float(table.max())) if name == GRIDS[0] else SHARES,
            unit=name,
            whole=True,
            square=False,
        )
        for name, table in zip(header["grids"], tables, strict=True)
    ]
    return heatmaps.figure(heats, across=1)


BATCH = Canvas(
    "lenses/model/tokens_batch",
    """
<div class="tokens_batch" data-picture>
  <div class="rows"></div>
  <span class="say" aria-live="polite"></span>
</div>
""",
    figure,
)


def handed_over(*, scheme: Scheme, texts: list[tuple[str, ...]], max_length: int) -> tuple[Tensor, Tensor, Tensor]:
    """The ids, the attention mask and the token types of a batch, (batch, seq)."""
    rows = batch_of(scheme, texts, max_length)
    input_ids = torch.tensor([row.ids for row in rows])
    attention_mask = torch.tensor([row.mask for row in rows])
    token_type_ids = torch.tensor([row.types for row in rows])
    return input_ids, attention_mask, token_type_ids


class TokensBatch(TokensPanel):
    """The batch."""

    canvas = BATCH
    sources = (batch_of,)
    how_to_read = (
        "Row by row, what is handed over: the pieces, below them their ids, the attention mask (1 is read, 0 is "
        "padding), and the token types (0 the first text, 1 the second). Hatched is padding, "
        "tinted a special token, struck out what had no room."
    )

    @property
    def title(self) -> str:
        return f"A batch of two, as {self.chosen} hands it over"

    @property
    def paired(self) -> bool:
        """Whether there are two texts in a row."""
        return bool(self.state.paired and self.scheme(self.chosen).pair)

    @property
    def texts(self) -> list[tuple[str, ...]]:
        """The texts of each row."""
        text, second = self.text, self.state.second
        return [(text, second), (second, second)] if self.paired else [(text,), (second,)]

    @cached_property
    def rows(self) -> tuple[Row, ...]:
        """The batch."""
        return batch_of(self.scheme(self.chosen), self.texts, self.state.row_length)

    @property
    def length(self) -> int:
        """How many places each row has."""
        return len(self.rows[0].ids)

    @property
    def grids(self) -> tuple[str, ...]:
        """What is handed over: token types only where the tokenizer has them."""
        return GRIDS if self.scheme(self.chosen).has_types else GRIDS[:2]

    @cached_property
    def tables(self) -> tuple[Tensor, ...]:
        """Each of these, int64 (2, seq)."""
        made = handed_over(scheme=self.scheme(self.chosen), texts=self.texts, max_length=self.state.row_length)
        return made[: len(self.grids)]

    @property
    def shape(self) -> str:
        return f"batch × seq = 2 × {self.length}"

    @property
    def cut_off(self) -> int:
        """How many tokens had no room."""
        return sum(len(pieces) for row in self.rows for pieces in row.cut)

    def sentence(self) -> str:
        """What was padded and what was cut, in both rows."""
        scheme = self.scheme(self.chosen)
        if not self.length:
            return "Both texts are empty, so there is nothing to hand over."
        read = [sum(row.mask) for row in self.rows]
        short = 0 if read[0] < read[1] else 1
        pads = self.length - read[short]
        said = [f"Both rows have {formats.plural(self.length, 'place')}: the shape of each grid is (2, {self.length})."]
        if pads:
            said.append(
                f"Row {short + 1} has {formats.plural(read[short], 'token')}, so {formats.plural(pads, 'place')} "
                f"{'holds' if pads == 1 else 'hold'} {scheme.pad}, id {scheme.pad_id}, and its mask sums to "
                f"{read[short]}."
            )
        else:
            said.append("Both rows are equally long, so nothing is padded.")
        if self.cut_off:
            said.append(
                f"{formats.plural(self.cut_off, 'token')} had no room within max_length {self.state.row_length}."
            )
        if scheme.has_types:
            kinds = {kind for row in self.rows for kind in row.types}
            said.append("Token types are 0 and 1." if len(kinds) > 1 else "All token types are 0: a row has one text.")
        elif self.state.paired:
            said.append(f"{self.chosen} has no place for a second text in a row, so each row has one.")
        else:
            said.append(f"{self.chosen} has no token types: a model with this tokenizer gets ids and mask.")
        return " ".join(filter(None, [*said, self._about_pad()]))

    def _about_pad(self) -> str:
        """What is to be said where a model has no padding of its own."""
        model = self.model.pretrained
        missing = self.chosen == "SmolLM2" or (self.chosen == "your model" and model and not model.pads)
        return "It has no token for padding: another one fills the places, which the mask hides." if missing else ""

    def laws(self) -> dict[str, bool]:
        """What must hold of every batch."""
        scheme = self.scheme(self.chosen)
        return {
            "every row has one length, at most max_length": {len(row.ids) for row in self.rows} == {self.length}
            and self.length <= self.state.row_length,
            "the mask is 1 up to the padding and 0 from there on": all(
                list(row.mask) == sorted(row.mask, reverse=True) for row in self.rows
            ),
            "where the mask is 0 stands padding": all(
                each == scheme.pad_id for row in self.rows for each, m in zip(row.ids, row.mask, strict=True) if not m
            ),
        }

    def table(self) -> pd.DataFrame:
        """A row for each place of each row."""
        records = [
            {"row": number, "place": at + 1, "piece": row.pieces[at], "input_ids": row.ids[at]}
            | {"attention_mask": row.mask[at]}
            | ({"token_type_ids": row.types[at]} if GRIDS[2] in self.grids else {})
            for number, row in enumerate(self.rows, 1)
            for at in range(self.length)
        ]
        return pd.DataFrame(records, columns=["row", "place", "piece", *self.grids]).set_index(["row", "place"])

    @property
    def tensors(self) -> Step | None:
        about = {
            GRIDS[0]: "an id for each place",
            GRIDS[1]: "1 where a token is, 0 where padding is",
            GRIDS[2]: "0 for the first text of a row, 1 for the second",
        }
        return Step(
            self.title,
            [
                held(name, ("batch", "seq"), table, about[name])
                for name, table in zip(self.grids, self.tables, strict=True)
            ],
            note="They are looked up and counted, and computed from no other tensor.",
        )

    def recipe(self) -> str:
        """A script that leaves `input_ids`, `attention_mask` and `token_type_ids`."""
        code = scheme_code(self.chosen, self.model.weights)
        return script(handed_over, scheme=code, texts=self.texts, max_length=self.state.row_length)

    def picture(self) -> Content:
        """Both rows; behind the header the numbers of all grids, (grid, row, place)."""
        header = {
            "grids": list(self.grids),
            "length": self.length,
            "rows": [
                {
                    "pieces": [chip(piece) for piece in row.pieces],
                    "special": list(row.special),
                    "cut": [[chip(piece) for piece in cut[:CUT_SHOWN]] for cut in row.cut],
                    "more": [max(0, len(cut) - CUT_SHOWN) for cut in row.cut],
                }
                for row in self.rows
            ],
        }
        return header, torch.stack(self.tables).numpy().astype(np.float32)
