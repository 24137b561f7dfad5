"""A mask that was pasted or uploaded: what it was taken for, and what becomes of it in the lens."""

from functools import cached_property
from html import escape

import numpy as np
import pandas as pd
import streamlit as st
from numpy.typing import NDArray

from tfm_core.clinic.facts import Facts, Mask
from tfm_core.clinic.files import read_file
from tfm_core.clinic.meaning import are_weights, guess, mask_of, odd_values, warning
from tfm_core.clinic.reading import Meaning
from tfm_core.clinic.table import CORNER, Table
from tfm_core.clinic.text import read_text
from tfm_ui.lenses.masks.conventions import uploads
from tfm_ui.lenses.masks.conventions.calls import conventions_needs
from tfm_ui.lenses.masks.masked_passes import MasksPanel
from tfm_ui.lenses.masks.state import ADDED, ATTEND, GUESSED, IGNORE, PREFIX, WEIGHTS, item_of
from tfm_ui.live.tables import matrix
from tfm_ui.live.windows import part_of, pooled
from tfm_ui.page import controls, share
from tfm_ui.pictures import maps
from tfm_ui.pictures.canvas import Content
from tfm_ui.pictures.map_scale import SHARES, holding
from tfm_ui.pictures.maps import MAPS, Axis, Map
from tfm_ui.state import model_state
from tfm_ui.state.links import cuts
from tfm_ui.state.paint import SIDE, whole
from tfm_ui.store.store import StoreAway
from tfm_ui.text import formats
from tfm_ui.text.markdown import escape_markdown

READ_AS = {
    ATTEND: "1 or True = may attend",
    IGNORE: "1 or True = ignored",
    ADDED: "added to the scores: 0 = may attend, −∞ = hidden",
    WEIGHTS: "attention weights: a weight of exactly 0 = hidden",
}
MEANS: dict[str, Meaning] = {ATTEND: "attend", IGNORE: "ignore", ADDED: "added", WEIGHTS: "weights"}
READ: dict[Meaning, str] = {meaning: reading for reading, meaning in MEANS.items()} | {"token ids": ADDED}
LOOK_AT_THEM = (
    "To look at these weights themselves, load their file under Weights, “From a file or folder”, and open Heads."
)
GONE = "The link speaks of an uploaded file, which no link holds and the server has not kept: upload it again."
NOTHING = (
    "Under “Your own mask”, paste a mask or upload one: what torch or NumPy prints, rows of 0 and 1, a drawing with ■, "
    "a list, .npy, .npz, .csv."
)


class Foreign(MasksPanel):
    """What was pasted, or else uploaded, and how it is read."""

    name = "masks_pasted"
    key = "masks_foreign"
    title = "A mask from elsewhere"
    sources = (read_text, read_file, guess, Facts, mask_of)
    canvas = MAPS
    ignores = model_state.WEIGHTS
    needs = conventions_needs

    @cached_property
    def brought(self) -> Table | str:
        """The table; where there is none, why."""
        try:
            if self.state.pasted.strip():
                return read_text(self.state.pasted)
            return uploads.find(self.state.upload) if self.state.upload else NOTHING
        except (ValueError, StoreAway) as problem:
            return str(problem)
        except LookupError:
            return GONE

    @property
    def is_there(self) -> bool:
        """Whether there is a mask to show. A bad file hides all."""
        return isinstance(self.brought, Table) and not uploads.rejected(self.state)

    @cached_property
    def read(self) -> Table:
        """What was read; of several tables the one that was chosen."""
        assert isinstance(self.brought, Table), self.brought
        return self.brought.at(self.state.pasted_layer, self.state.pasted_head)

    @cached_property
    def _guess(self) -> tuple[str, str]:
        if self.state.read_as != GUESSED:
            return self.state.read_as, ""
        meaning, reason = next(iter(guess(self.read).items()))
        return READ[meaning], reason

    @property
    def reading(self) -> str:
        """How it is taken: one of `READINGS`."""
        return self._guess[0]

    @property
    def why(self) -> str:
        """The guess in words; "" if the reader overruled it."""
        return self._guess[1]

    @property
    def item(self) -> int:
        """Which sentence it is looked at with, from 0."""
        return item_of(self.model, self.state) - 1

    @property
    def picture_name(self) -> str:
        return self.name if self.is_there else ""

    @property
    def how_to_read(self) -> str:
        if not self.is_there:
            return "What torch or NumPy prints, rows of 0 and 1, a list, a file."
        return "On the left as it came, on the right what it means: 1 = may attend."

    @property
    def shape(self) -> str:
        return " × ".join(formats.count(size) for size in self.mask.shape) if self.is_there else ""

    @cached_property
    def mask(self) -> Mask:
        """Boolean (row, column), True = may attend."""
        return mask_of(self.read.values, MEANS[self.reading], self.read.precision)

    @cached_property
    def facts(self) -> Facts:
        """What kind of mask it is."""
        return Facts(self.mask)

    @property
    def fits(self) -> bool:
        """Whether it has the sentence's size."""
        return self.mask.shape == tuple(self.setting.mask.shape)

    @property
    def is_0_or_1(self) -> bool:
        """Whether 1 could mean either way; a file of our own and a drawing say which."""
        return bool(np.isin(self.read.values, (0, 1)).all()) and self.read.kind != "signs" and not self.read.says

    @property
    def row_and_column_names(self) -> tuple[list[str], list[str]]:
        """Names of rows and columns: tokens where it fits the sentence, else numbers from 1."""
        if self.fits:
            return self.names
        rows, columns = ([str(i + 1) for i in range(size)] for size in self.mask.shape)
        return rows, columns

    def sentence(self) -> str:
        if not self.is_there:
            return "No mask is drawn."
        way = READ_AS[self.reading]
        why = f" ({self.why})" if self.why else ", as you chose"
        other = (
            "The other way round is possible, too: choose it under “Read as”." if self.why and self.is_0_or_1 else ""
        )
        values, meaning = self.read.values, MEANS[self.reading]
        notes = [*self.read.notes, odd_values(values, self.read.precision, meaning)]
        if self.reading == WEIGHTS and are_weights(values):
            notes.append(LOOK_AT_THEM)
        warned = warning(values, self.read.kind, meaning)
        if warned:
            warned += f" “Read as: {ADDED}” shows what torch makes of it."
        sentences = [f"Read as: {way}{why}.", warned or other, self.facts.sentence(), *notes]
        return " ".join(part for part in sentences if part)

    def table(self) -> pd.DataFrame:
        if not self.is_there:
            return pd.DataFrame()
        rows, columns = self.row_and_column_names
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

    def drawn(self) -> NDArray[np.float32]:
        """The table's values as a map can draw them: NaN where a value hides for good."""
        values = np.clip(self.read.values, -3e38, 3e38)
        low = self.read.values == -np.inf if self.reading != ADDED else ~self.mask
        return np.where(low, np.nan, values).astype(np.float32)

    def picture(self) -> Content:
        if not self.is_there:
            return maps.content(
                [Map(name="no mask", values=np.full((1, 1), maps.ABSENT, np.float32), scale=SHARES)],
                rows=Axis([""], "", "row"),
                columns=Axis([""], "", "column"),
                about=str(self.brought),
            )
        values = self.drawn()
        part = part_of(self.state.part_pasted, *values.shape)
        finite = values[np.isfinite(values)]
        rows, columns = self.row_and_column_names
        plain = np.isin(values, (0, 1)).all()
        scale = holding(float(finite.min(initial=0)), float(finite.max(initial=0)))
        said = ("False", "True") if self.read.kind == "booleans" else ("0", "1")
        return maps.content(
            [
                Map(
                    name="as it came",
                    values=pooled(matrix(values), part),
                    scale=scale,
                    words=said if plain else None,
                ),
                Map(
                    name="as a mask",
                    values=pooled(matrix(self.mask), part),
                    scale=SHARES,
                    unit="= may attend",
                    words=("0", "1"),
                ),
            ],
            rows=Axis(part.row_names(rows), "sentence" if self.facts.per_key else "query (row)", "row", "query"),
            columns=Axis(part.column_names(columns), "key (column)", "column", "key"),
            blank="−∞ or as good",
            part=part,
            zooms=PREFIX + "part_pasted",
        )

    def tools(self) -> None:
        """Draw why there is none, or what of it a link does not carry."""
        if self.is_there:
            self.draw_what_the_link_holds()
        else:
            self.draw_why_there_is_none()

    def below(self) -> None:
        """Draw the button that makes it the lens's mask, and what that would do."""
        if not self.is_there:
            return
        with st.container(horizontal=True, vertical_alignment="center", gap="small", key="masks_use"):
            self.draw_use_button("_masks_use")
            st.html(f'<p class="note">{escape(self.about_use())}</p>')

    def draw_why_there_is_none(self) -> None:
        """What is wrong with the file or the text, or that there is neither."""
        if rejected := uploads.rejected(self.state):
            st.error(escape_markdown(rejected), icon=":material/error:")
            back = "take it back, or change the text" if self.state.pasted.strip() else "try another file"
            st.caption(f"No mask is drawn while that file stands here: {back}.")
        else:
            kind = st.error if self.state.pasted.strip() else st.info
            kind(escape_markdown(str(self.brought)))
        self.draw_what_the_link_holds()

    def draw_what_the_link_holds(self) -> None:
        """What of it a link does not carry."""
        if self.is_there and not self.state.pasted.strip():
            st.caption("The link names this upload, and does not hold it until it is used as the mask.")
        elif PREFIX + "pasted" in cuts(share.address(), *controls.states()):
            st.caption("This text is longer than a link carries. Used as the mask, it is in the link as paint.")

    def draw_use_button(self, key: str) -> None:
        """The button that makes it the lens's mask."""
        refused = bool(self.refused())
        st.button(
            "Use as this lens’s mask",
            on_click=controls.change,
            args=(PREFIX,),
            kwargs={"paint": "" if refused else self.paint()},
            disabled=refused or self.in_use,
            key=key,
        )


def _apart(names: list[str]) -> list[str]:
    """The names, with their numbers where two are the same, as with PAD."""
    return names if len(set(names)) == len(names) else [f"{i + 1} {name}" for i, name in enumerate(names)]
