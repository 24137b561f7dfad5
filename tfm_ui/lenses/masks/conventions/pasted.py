"""A mask that was pasted or uploaded: what it was taken for, and what becomes of it in the lens."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from tfm_ui.lenses.masks.conventions import uploads
from tfm_ui.lenses.masks.conventions.mask_text import Table, read_text
from tfm_ui.lenses.masks.conventions.pasted_file import read_file
from tfm_ui.lenses.masks.conventions.pasted_guess import (
    ADDED,
    ATTEND,
    IGNORE,
    WEIGHTS,
    Facts,
    Mask,
    facts,
    guess,
    mask_of,
    odd_values,
    warning,
)
from tfm_ui.lenses.masks.conventions.table_names import CORNER
from tfm_ui.lenses.masks.paint import SIDE, whole
from tfm_ui.lenses.masks.state import GUESSED, MasksState, Setting, item_of, setting
from tfm_ui.pictures.panel import Result
from tfm_ui.state.model_state import ModelState
from tfm_ui.store.store import StoreAway
from tfm_ui.text import formats
from tfm_ui.text.token_labels import labels

SOURCES = (read_text, read_file, guess, facts, mask_of)
READ_AS = {
    ATTEND: "1 or True = may attend",
    IGNORE: "1 or True = ignored",
    ADDED: "added to the scores: 0 = may attend, −∞ = hidden",
    WEIGHTS: "attention weights: a weight of exactly 0 = hidden",
}
GONE = "The link speaks of an uploaded file, which no link holds and the server has not kept: upload it again."
NOTHING = (
    "Under “Your own mask”, paste a mask or upload one: what torch or NumPy prints, rows of 0 and 1, a drawing with ■, "
    "a list, .npy, .npz, .csv."
)


class NoMask(Result):
    """Nothing was pasted or uploaded that can be read as a mask."""

    def sentence(self) -> str:
        """A sentence that there is no mask."""
        return "No mask is drawn."

    def table(self) -> pd.DataFrame:
        """An empty table."""
        return pd.DataFrame()


@dataclass(frozen=True)
class Pasted(Result):
    """What was pasted, or else uploaded, and how it is read.

    Attributes:
        setting: the chosen sentence, and the mask in force.
        item: which sentence it is, from 0.
        read: what was read; of several tables the one that was chosen.
        stack: of several tables, how many layers and heads there are.
        reading: how it is taken: one of pasted_guess.READINGS.
        why: the guess in words; "" if the reader overruled it.
    """

    setting: Setting
    item: int
    read: Table
    reading: str
    why: str
    stack: tuple[int, ...] = ()

    @cached_property
    def mask(self) -> Mask:
        """Boolean (row, column), True = may attend."""
        return mask_of(self.read, self.reading)

    @cached_property
    def facts(self) -> Facts:
        """What kind of mask it is."""
        return facts(self.mask)

    @property
    def shape(self) -> str:
        """The mask's shape in numbers."""
        return " × ".join(formats.count(size) for size in self.mask.shape)

    @property
    def fits(self) -> bool:
        """Whether it has the sentence's size."""
        return self.mask.shape == tuple(self.setting.mask.shape)

    @property
    def is_0_or_1(self) -> bool:
        """Whether 1 could mean either way; a file of our own and a drawing say which."""
        return bool(np.isin(self.read.values, (0, 1)).all()) and self.read.kind != "signs" and not self.read.says

    def names(self) -> tuple[list[str], list[str]]:
        """Names of rows and columns: tokens where it fits the sentence, else numbers from 1."""
        if self.fits:
            return labels(self.setting.queries), labels(self.setting.keys)
        rows, columns = ([str(i + 1) for i in range(size)] for size in self.mask.shape)
        return rows, columns

    def sentence(self) -> str:
        """What was pasted or uploaded, in a sentence."""
        way = READ_AS[self.reading]
        why = f" ({self.why})" if self.why else ", as you chose"
        other = (
            "The other way round is possible, too: choose it under “Read as”." if self.why and self.is_0_or_1 else ""
        )
        notes = [*self.read.notes, odd_values(self.read, self.reading)]
        said = [f"Read as: {way}{why}.", warning(self.read, self.reading) or other, self.facts.sentence(), *notes]
        return " ".join(part for part in said if part)

    def table(self) -> pd.DataFrame:
        """The mask, True = may attend."""
        rows, columns = self.names()
        index = pd.Index(_apart(rows), name=f"{CORNER}: True = may attend")
        return pd.DataFrame(self.mask, index=index, columns=_apart(columns))

    def refused(self) -> str:
        """Why it cannot become the lens's mask, "" if it can."""
        most, rows, columns = SIDE, *self.mask.shape
        if columns > most or (rows > most and not self.facts.per_key):
            return f"It is larger than {most} × {most}, which is what a link holds: it is drawn, but cannot be used."
        if not self.setting.paintable:
            longest = max(self.setting.mask.shape)
            return f"The sentence has {longest} tokens: masks from outside are used up to {most}. Choose fewer tokens."
        return ""

    def used(self) -> Mask:
        """The pasted mask as one of the sentence's queries: a mask of padding holds for all of them."""
        if not self.facts.per_key:
            return self.mask
        row = self.mask[min(self.item, len(self.mask) - 1)]
        return np.repeat(row[None], self.setting.mask.shape[0], 0)

    @property
    def in_use(self) -> bool:
        """Whether it is the lens's mask by now."""
        return not self.refused() and self.setting.paint == self.paint()

    def about_use(self) -> str:
        """What of it would be used for the sentence, or that it is."""
        if refused := self.refused():
            return refused
        if self.in_use:
            return (
                "It is this lens’s mask now: it lies over what is composed, as paint, and is in the link. Above, “Our "
                "mask” shows it, and so does the view see, where Clear takes it off."
            )
        used, said = self.used(), []
        shape = " × ".join(map(str, used.shape))
        if self.facts.per_key:
            row = min(self.item, len(self.mask) - 1) + 1
            which = f"Row {row}" if len(self.mask) > 1 else "Its row"
            said.append(f"{which} would hold for all queries of the sentence.")
        pairs = list(zip(used.shape, self.setting.mask.shape, strict=True))
        queries, keys = self.setting.mask.shape
        if any(size > needed for size, needed in pairs):
            said.append(f"It is {shape}, the sentence {queries} × {keys}: what lies beyond the sentence is left out.")
        if any(size < needed for size, needed in pairs):
            said.append(f"It is {shape}, the sentence {queries} × {keys}: the other cells stay as they are composed.")
        if not said:
            said.append("It has the sentence’s size.")
        return " ".join([*said, "“Use” lays it over the composed mask, as paint, and writes it into the link."])

    def paint(self) -> str:
        """What the link would hold of it."""
        return whole(self.used())


def _apart(names: list[str]) -> list[str]:
    """The names, with their numbers where two are the same, as with PAD."""
    return names if len(set(names)) == len(names) else [f"{i + 1} {name}" for i, name in enumerate(names)]


def pasted_mask(model: ModelState, state: MasksState) -> tuple[Pasted | None, str]:
    """What was pasted or else uploaded, or None and why there is nothing."""
    try:
        whole_table = _read(state)
    except (ValueError, StoreAway) as problem:
        return None, str(problem)
    except LookupError:
        return None, GONE
    if not whole_table:
        return None, NOTHING
    table = whole_table.at(state.pasted_layer, state.pasted_head)
    reading, why = guess(table)
    if state.read_as != GUESSED:
        reading, why = state.read_as, ""
    return Pasted(
        setting(model, state), item_of(model, state) - 1, table, reading, why, whole_table.values.shape[:-2]
    ), ""


def _read(state: MasksState) -> Table | None:
    if state.pasted.strip():
        return read_text(state.pasted)
    return uploads.find(state.upload) if state.upload else None


def drawn(pasted: Pasted) -> NDArray[np.float32]:
    """The table's values as a map can draw them: NaN where a value hides for good."""
    values = np.clip(pasted.read.values, -3e38, 3e38)
    low = pasted.read.values == -np.inf if pasted.reading != ADDED else ~pasted.mask
    return np.where(low, np.nan, values).astype(np.float32)
