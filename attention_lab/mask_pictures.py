"""A mask as it is, what it means, and what is wrong in it."""

from collections.abc import Sequence
from dataclasses import replace
from io import BytesIO
from typing import Any, get_args

import numpy as np
import torch
import traitlets
from numpy.typing import NDArray

from attention_lab.picture import NotThereError, Picture, check_part
from tfm_core.clinic import read
from tfm_core.clinic.facts import Facts
from tfm_core.clinic.findings import findings, verdict
from tfm_core.clinic.reader import reading_as
from tfm_core.clinic.reading import Meaning, Reading
from tfm_core.model.tokens import Tokens
from tfm_ui.live.windows import WHOLE, part_of
from tfm_ui.pictures import read_mask
from tfm_ui.pictures.maps import MAPS


class Masks(Picture):
    """A mask as it came, beside what it means: True = may attend; below it, what is wrong in it.

    Attributes:
        meaning: what its numbers mean, one of `alternatives`: "attend" (True or 1 = may attend), "ignore" (True or 1 =
            hidden), "added" (to the scores), "weights" or "token ids".
        table: the number of the table that is shown, from 0, of a mask of more than two axes.
        part: which part of a large table is shown, "top,left,rows,columns"; "0,0,0,0" is all of it.

    Examples:
        >>> import torch
        >>> import attention_lab
        >>> picture = attention_lab.masks(torch.ones(4, 4).tril().long())
        >>> picture.meaning = "ignore"
        >>> picture.visible.sum().item()
        6
    """

    canvases = (MAPS,)
    choices = ("meaning", "table", "part")

    meaning = traitlets.Enum(get_args(Meaning)).tag(sync=True)
    table = traitlets.Int(0).tag(sync=True)
    part = traitlets.Unicode(WHOLE).tag(sync=True)

    @traitlets.validate("part")
    def _check_part(self, proposal: Any) -> str:
        return check_part(str(proposal["value"]))

    def __init__(self, reading: Reading, **traits: Any) -> None:
        self._reading = reading
        super().__init__(**{"meaning": reading.meaning} | traits)

    @property
    def alternatives(self) -> tuple[Meaning, ...]:
        """The meanings that stay open, the likeliest first; a single one if nothing is open."""
        return self._reading.alternatives

    @property
    def reading(self) -> Reading:
        """What was read, under the chosen meaning."""
        return self._reading if self.meaning == self._reading.meaning else reading_as(self._reading, self.meaning)

    @property
    def visible(self) -> NDArray[np.bool_] | None:
        """The mask that is shown, boolean (query, key), True = may attend; None of weights and token ids."""
        reading = self.reading
        return reading.visible[self.table] if reading.visible else None

    @traitlets.validate("table")
    def _check_table(self, proposal: Any) -> int:
        tables, table = len(self._reading.tables), int(proposal["value"])
        if not 0 <= table < tables:
            raise NotThereError(f"expected a table of 0 to {tables - 1}, got {table}")
        return table

    def draw(self) -> None:
        """The table, the mask that it means, what can be said of it and what is wrong."""
        reading = self.reading
        cells, visible = reading.tables[self.table], self.visible
        told = [f"{finding.title} {finding.consequence}".strip() for finding in findings(reading, self.table)]
        open_meanings = [meaning for meaning in self.alternatives if meaning != self.meaning]
        also = [f"It may also mean: {', '.join(open_meanings)}. Set `meaning` to choose."] if open_meanings else []
        facts = [Facts(visible).sentence()] if visible is not None else []
        self.notes = [*facts, *told, *also]
        self.show(
            0,
            read_mask.content(reading, self.table, part_of(self.part, *cells.shape), zooms="part"),
            title=verdict(reading, self.table),
            sentence=f"{read_mask.sentence(reading, self.table)} {reading.why}".strip(),
            shape=f"(query, key) = {cells.shape}",
            sets={"part": "part"},
        )


def masks(mask: Any, tokens: Sequence[str] | Tokens = (), *, meaning: str = "", mode: str = "auto") -> Masks:
    """A mask, what it means, and what is wrong in it, live in a notebook.

    Args:
        mask: a tensor or an array of 2 to 4 axes, up to (batch, head, query, key): booleans, 0 and 1, or numbers that
            are added to the scores; or text: a printed mask, or a line of code that makes it, which is read, never run.
        tokens: names of the keys, or of the queries, whichever are as many; of both where both are.
        meaning: what its numbers mean, if it is known, see `Masks.meaning`; by default the likeliest.
        mode: "light", "dark", or "auto", which follows the notebook.

    Raises:
        ValueError: if it is no mask; the message says what was expected and what came.

    Examples:
        >>> import torch
        >>> import attention_lab
        >>> picture = attention_lab.masks(torch.ones(4, 4).tril().bool())
        >>> picture.visible.sum().item()
        10
        >>> attention_lab.masks("torch.triu(torch.ones(4, 4), diagonal=1).bool()").meaning
        'ignore'
    """
    reading = read(mask if isinstance(mask, str) else _as_file(mask), name="" if isinstance(mask, str) else "mask.npy")
    if labels := _labels(tokens):
        if len(labels) not in reading.tables[0].shape:
            raise ValueError(f"expected {_sides(reading)} tokens, got {len(labels)}")
        reading = replace(reading, labels=labels)
    if meaning and meaning not in get_args(Meaning):
        raise ValueError(f"expected a meaning of {', '.join(get_args(Meaning))}, got {meaning!r}")
    return Masks(reading, mode=mode, **({"meaning": meaning} if meaning else {}))


def _labels(tokens: Sequence[str] | Tokens) -> tuple[str, ...]:
    if isinstance(tokens, str):
        raise ValueError("expected tokens as a list of texts, got one text")
    return (*tokens.pieces, *("PAD",) * tokens.padding) if isinstance(tokens, Tokens) else tuple(map(str, tokens))


def _sides(reading: Reading) -> str:
    """How many rows and columns a table has, in words."""
    rows, columns = reading.tables[0].shape
    return str(rows) if rows == columns else f"{columns} or {rows}"


def _as_file(mask: Any) -> bytes:
    """The bytes that NumPy would save, which the mask doctor reads."""
    if isinstance(mask, torch.Tensor):
        if mask.is_meta or mask.is_nested or mask.is_quantized or mask.layout is not torch.strided:
            raise ValueError("expected a dense tensor with its numbers, got one on meta, sparse, nested or quantized")
        mask = mask.detach().cpu()
        mask = (mask.float() if mask.is_floating_point() and mask.element_size() < 4 else mask).numpy()
    try:
        array = np.asarray(mask)
    except ValueError:  # rows of different lengths
        array = np.asarray(None)
    if array.dtype == object:
        raise ValueError("expected an array of numbers or booleans, got rows of different lengths or other objects")
    file = BytesIO()
    np.save(file, array, allow_pickle=False)
    return file.getvalue()
