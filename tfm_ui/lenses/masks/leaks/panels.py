"""The view "leaks": change one token, and see which outputs move."""

from functools import partial

from tfm_core import hops, reach_by_layer
from tfm_core.study.leak_test import streams
from tfm_core.study.leaks import influence_by_part
from tfm_ui.lenses.masks.batch import THE_BATCH, reads_instead
from tfm_ui.lenses.masks.composer import PICTURES as OF_LENS
from tfm_ui.lenses.masks.composer import mask_and
from tfm_ui.lenses.masks.leaks import moved_outputs
from tfm_ui.lenses.masks.leaks.layers import LayerByLayer
from tfm_ui.lenses.masks.leaks.measured import all_of, measure, plan_of
from tfm_ui.lenses.masks.leaks.moved_outputs import MovedOutputs
from tfm_ui.lenses.masks.leaks.pictures import PICTURES
from tfm_ui.lenses.masks.leaks.travel import Travel
from tfm_ui.lenses.masks.masked_passes import other_mask
from tfm_ui.lenses.masks.state import PREFIX, MasksState
from tfm_ui.page import exact_bar
from tfm_ui.page.lens import View
from tfm_ui.pictures.panel import Block, Box, Note
from tfm_ui.state.model_state import ModelState

SOURCES = (influence_by_part, streams, hops, reach_by_layer)  # of what stands below the first panel


def blocks(model: ModelState, state: MasksState) -> list[Block | None]:
    """What is not run, if anything; what moved after the last layer, after each, and how far away."""
    measured, exact = measure(model, state), all_of(model, state)
    plan = measured.plan
    return [
        Box(
            key="masks_leaks",
            title="Change one token: which outputs move?",
            how_to_read="Each row: the token that is changed into others. Columns: by how much each output, the "
            "residual stream after the last layer, changes at most, in powers of ten. So a key is a row here, and a "
            "query a column. Beside it, from which layer on the mask under “Allowed by” lets an output move.",
            shape=f"token × output = {len(measured.rows)} × {len(measured.columns)}, each token changed into "
            f"{plan.tries}",
            picture="masks_leaks",
            result=MovedOutputs(measured),
            sources=moved_outputs.SOURCES,
            locked=measured.locked is not None,
            tools=partial(exact_bar.draw, exact, state.whole, PREFIX) if exact else None,
            slow=plan.slow,
        ),
        Note(plan.aside) if plan.aside else None,
        *[make(model, state) for make in THE_BATCH],
        Box(
            key="masks_leaks_layers",
            title="Layer by layer",
            how_to_read="The same after each layer: information goes one step of the mask further in each.",
            shape=f"{len(measured.moved)} × token × output",
            picture="masks_leaks_layers",
            result=LayerByLayer(measured),
            sources=SOURCES,
            slow=plan.slow,
        ),
        Box(
            key="masks_leaks_distance",
            title="How far information travels",
            how_to_read="First, by layer, the farthest tokens that an output moved with, back and ahead of it; then by "
            "how much outputs moved, by distance. Padding is left out.",
            picture="masks_leaks_distance",
            result=Travel(measured),
            sources=SOURCES,
            slow=plan.slow,
        ),
    ]


def running(model: ModelState, state: MasksState) -> str:
    """What is said while it is measured, where that takes a while."""
    if (exact := all_of(model, state)) and exact.is_shown(state.whole):
        return ""
    return "Changing one token after the other" if plan_of(model, state).slow else ""


VIEW = View(
    title="Leak test",
    blocks=blocks,
    drawn=OF_LENS | PICTURES,
    reads_instead=reads_instead,
    controls=mask_and("promise", more=("tries",)),
    running=running,
    never_trained=other_mask,
)
