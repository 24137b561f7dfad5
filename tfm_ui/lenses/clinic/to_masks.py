"""The way from a mask to the Masks lens, with this mask set over a text that has as many tokens."""

from dataclasses import asdict
from itertools import cycle, islice

import numpy as np
import streamlit as st
from numpy.typing import NDArray

from tfm_core.clinic.facts import Facts
from tfm_core.clinic.reading import Reading
from tfm_ui.page import controls, frame, mine
from tfm_ui.state.model_state import ModelState
from tfm_ui.state.paint import SIDE, whole
from tfm_ui.text import formats

WORDS = "the cat sat on the mat because it was warm and the old dog slept beside the door".split()
VIEWS = {
    "leaks": "Leak test with this mask",
    "padding": "Padding with this mask",
    "without_key": "Rows without a key, with this mask",
    "see": "This mask, and the weights under it",
}
LOOK_AT_WEIGHTS = (
    "To look at these weights, load the file under Weights in the sidebar, “From a file or folder”, and open Heads."
)
LOOK_AT_IDS = (
    "A mask of padding is made of these ids by (ids != 0)[:, None, None, :], if 0 stands for padding; paste that line "
    "above to see what it makes."
)


def draw_links(reading: Reading, at: int) -> None:
    """Draw the buttons, or say where such a table is looked at, or why there is no way for it."""
    if reading.meaning == "weights":
        st.caption(LOOK_AT_WEIGHTS)
    elif reading.meaning == "token ids":
        st.caption(LOOK_AT_IDS)
    elif reason := why_not(reading.visible[at]):
        st.caption(reason)
    else:
        _buttons(square(reading.visible[at]), reading.labels)


def why_not(mask: NDArray[np.bool_]) -> str:
    """Why a mask cannot be set in Masks, in a sentence; "" if it can."""
    rows, columns = mask.shape
    if not Facts(mask).per_key and rows != columns:
        return f"Masks shows as many queries as keys; this mask has {formats.plural(rows, 'query', 'queries')} and " + (
            f"{formats.plural(columns, 'key')}."
        )
    if columns > SIDE:
        return f"Masks takes masks of at most {SIDE} × {SIDE} from elsewhere, as a link holds no more."
    return ""


def square(mask: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """The mask as one of queries and keys: of a mask of padding the last row, which then holds for all queries."""
    return np.repeat(mask[-1:], mask.shape[1], 0) if Facts(mask).per_key else mask


def model_for(mask: NDArray[np.bool_], labels: tuple[str, ...]) -> ModelState:
    """An encoder with random weights that reads as many places as the mask has, and by itself hides no token.

    Under a mask of padding at the end the text is as long as what is visible, and padding follows.
    """
    count = len(mask)
    visible = int(mask[0].sum()) if is_padding(mask) else count
    fit = len(labels) == count and all(label.isalnum() for label in labels)
    words = list(islice(labels if fit else cycle(WORDS), visible))
    return ModelState(text=" ".join(words), seq_len=0 if visible == count else count, causal=False)


def is_padding(mask: NDArray[np.bool_]) -> bool:
    """Whether all queries see the same keys, from the first on."""
    row = mask[0]
    return bool((mask == row).all() and row[0] and not row.all() and (row[:-1] >= row[1:]).all())


def views_for(mask: NDArray[np.bool_]) -> list[str]:
    """The views of Masks in which such a mask has something to show."""
    empty = bool((~mask.any(-1)).any())
    return ["leaks", *(["padding"] if is_padding(mask) else []), *(["without_key"] if empty else []), "see"]


def _buttons(mask: NDArray[np.bool_], labels: tuple[str, ...]) -> None:
    with st.container(horizontal=True, gap="small", key="clinic_to_masks"):
        for view in views_for(mask):
            if st.button(VIEWS[view], icon=":material/arrow_forward:", key=f"_clinic_to_{view}"):
                of_model = asdict(model_for(mask, labels))
                mine.keep(of_model)
                controls.set_parameters(of_model)
                query = controls.open_with("masks_", view=view, paint=whole(mask), item=1, texts="")
                st.switch_page(frame.page_of("masks"), query_params=query)
