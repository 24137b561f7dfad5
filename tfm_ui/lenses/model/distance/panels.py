"""The view "distance": gradients by distance in five networks of as many parameters, and their paths."""

from functools import partial

from torch import nn

from tfm_core import gradient_by_distance
from tfm_core.profiling.closed_forms_others import OfEqualCount
from tfm_core.profiling.targets_others import Convolutions, Recurrence
from tfm_ui.jobs import networks
from tfm_ui.lenses.model.distance import numbers, steps
from tfm_ui.lenses.model.distance.numbers import Reach, all_of, draws_of, reach
from tfm_ui.lenses.model.distance.paths import Paths, measured, paths
from tfm_ui.lenses.model.distance.pictures import PICTURES
from tfm_ui.lenses.model.state import PREFIX, ModelLensState
from tfm_ui.live.exact import Exact
from tfm_ui.page import controls_line, exact_bar
from tfm_ui.page.lens import View
from tfm_ui.pictures.panel import Block, Box, OpenTable, Panel
from tfm_ui.state.model_state import ModelState
from tfm_ui.text import formats

LONG = 600  # tokens, those of all draws together: about a second in small networks


def blocks(model: ModelState, state: ModelLensState) -> list[Block | None]:
    """The gradients by distance, and the paths that they take."""
    return [_reach_panel(reach(model, state), all_of(model, state)), _paths_panel(paths(model, state))]


def _reach_panel(shown: Reach, exact: Exact | None) -> Panel:
    return Box(
        key="model_distance",
        title="What still reaches the last output",
        how_to_read="Each line: how much the last output changes with the input at this distance, the median of all "
        "draws of random weights; thin: lowest and highest draw. A line ends where the gradient is exactly 0.",
        shape=f"network × draw × distance = {len(networks.NAMES)} × {shown.seeds} × {shown.tokens}",
        picture="model_distance",
        result=shown,
        tools=partial(exact_bar.draw, exact, shown.state.whole, PREFIX) if exact else None,
        sources=[
            gradient_by_distance,
            networks.gradients_of,
            networks.network_of,
            networks.start_as_torch,
            OfEqualCount.width,
            Recurrence.forward,
            Convolutions.forward,
            nn.RNN.forward,
        ],
    )


def _paths_panel(shown: Paths) -> Panel:
    return Box(
        key="model_distance_paths",
        title="How long the path is",
        how_to_read="Paper: Vaswani et al. 2017, table 1, for n tokens and kernels of k. Path: layers, or in recurrent "
        "networks steps, from the first token to the last output. In a row: calls of a layer that wait for each other.",
        result=shown,
        open_table=OpenTable({}, not_on_phones=("path (paper)", "in a row (paper)", "parameters")),
        sources=[
            measured,
            steps.layers_to_first,
            steps.reach_of_attention,
            steps.reach_of_convolutions,
            steps.convolved,
            steps.calls_of_each_layer,
            steps.steps_of_recurrence,
        ],
    )


def _running(model: ModelState, state: ModelLensState) -> str:
    """What is said while the networks run."""
    if (exact := numbers.all_of(model, state)) and exact.is_shown(state.whole):
        return ""
    draws = draws_of(model, state)
    slow = numbers.takes_long(state.config(model), causal=model.masks_the_future) or draws * state.reach_length > LONG
    drawn = formats.plural(draws, "draw")
    return f"Running five networks forward and back, {drawn} of weights" if slow else ""


def _controls(model: ModelState) -> ModelLensState:
    """What the networks read and how they start; behind a button how often they are drawn, and the attention."""
    line = controls_line.row("line_model_distance")
    controls_line.draw(ModelLensState, PREFIX, model, line, "reach_length", "reach_kernel", "reach_start")
    return controls_line.draw_more(ModelLensState, PREFIX, model, line, "reach_seeds", "attention")


def _reads_instead(model: ModelState, state: ModelLensState) -> str:
    return "No text is read here: all networks read the same vectors, drawn at random."


VIEW = View(
    title="Distance",
    reads_instead=_reads_instead,
    blocks=blocks,
    drawn=PICTURES,
    controls=_controls,
    running=_running,
)
