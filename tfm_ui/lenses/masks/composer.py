"""What stands above all views: the masks that are composed, as chips with their numbers, and the row of controls."""

from collections.abc import Callable, Sequence
from functools import partial

import numpy as np
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from tfm_core import MASKS
from tfm_ui.lenses.masks import batch
from tfm_ui.lenses.masks.composition import MOST_TERMS
from tfm_ui.lenses.masks.state import PREFIX, MasksState, setting
from tfm_ui.lenses.masks.terms import Terms, anyway
from tfm_ui.page import controls_line
from tfm_ui.page.drawing import Drawing
from tfm_ui.pictures.canvas import Canvas, Content
from tfm_ui.pictures.registry import Picture
from tfm_ui.state.model_state import WEIGHTS, ModelState

COMPOSER = Canvas(
    "lenses/masks/composer",
    """
<div class="composer" data-picture>
  <div class="chips" role="group"></div>
  <p class="about"><span></span> <button hidden>Let all look ahead</button></p>
  <p class="told" hidden></p>
</div>
""",
)


def masks_composer(model: ModelState, state: MasksState) -> Content:
    """What composer.js draws: the masks that are combined, as they can be changed, which writes the text of the link.

    What hides pairs whatever is composed is "locked", with the parameters that take it away as "lift", if any do.
    """
    now = setting(model, state)
    terms, because = Terms(now), anyway(now)
    lift = {"causal": "false"} if now.model.masks_the_future else None
    most = max(now.composed.shape)  # rows or columns of the mask, the end of sliders
    known = [
        {
            "name": name,
            "about": pattern.about,
            "source": pattern.source,
            "arguments": [
                {
                    "name": argument.name,
                    "low": argument.low + argument.of_tokens,
                    "high": max(most, argument.low + argument.of_tokens + 1),
                    "several": argument.several,
                }
                for argument in pattern.arguments
            ],
        }
        for name, pattern in MASKS.items()
    ]
    header = {
        "parameter": PREFIX + "mask",
        "terms": [{"how": term.how, "name": term.name, "numbers": term.numbers} for term in terms.terms],
        "known": known,
        "room": MOST_TERMS - len(terms.terms),
        "locked": {"text": f"causal, {because}", "lift": lift} if because else None,
        "idle": sorted(terms.idle),
        "notes": terms.notes(),
        "offer": bool(lift and terms.ahead),
        "title": terms.title,
    }
    return header, np.zeros(0, np.float32)


PICTURES = batch.PICTURE | {"masks_composer": Picture(COMPOSER, masks_composer, ignores=WEIGHTS)}  # beside the panels


def mask_and(*names: str, more: Sequence[str] = ()) -> Callable[[ModelState], MasksState]:
    """Draws the sentence, controls of these names and the masks, for `View.controls`.

    Args:
        names: fields whose controls stand in the row.
        more: fields whose controls stand behind "More", beside the batch.
    """
    return partial(_row, names, more)


def _row(names: Sequence[str], more: Sequence[str], model: ModelState) -> MasksState:
    line = controls_line.row("line_masks")
    draw(model, line, "item", *names)
    return batch_and_mask(model, line, *more)


def batch_and_mask(model: ModelState, line: DeltaGenerator, *names: str) -> MasksState:
    """Draw the batch, and controls of these names, behind "More", and the masks below; return the lens's state."""
    state = draw(model, controls_line.more(line), "place", "texts", *names)
    with st.container(key="masks_composer_place"):
        Drawing("masks_composer", ((model, ""), (state, PREFIX))).draw("masks_composer")
    return state


def draw(model: ModelState, where: DeltaGenerator, *names: str) -> MasksState:
    """Draw controls of these names, and return what all of the lens's controls hold."""
    return controls_line.draw(MasksState, PREFIX, model, where, *names)
