"""What lessons measure on the pages of the Model lens."""

from collections.abc import Callable, Mapping

from tfm_ui.lenses.model.block.both import BlockBoth
from tfm_ui.lenses.model.depth.wirings import Wirings
from tfm_ui.lenses.model.diagram.block import OUT, Flow
from tfm_ui.lenses.model.diagram.drawing import Diagram
from tfm_ui.lenses.model.distance.paths import DistancePaths
from tfm_ui.lenses.model.distance.reach import Distance
from tfm_ui.lenses.model.efficient.compared import EfficientGrowth
from tfm_ui.lenses.model.efficient.tiling import EfficientTiles
from tfm_ui.lenses.model.feed_forward.activations import FfnSizes
from tfm_ui.lenses.model.state import OUTSIDE_LAYERS, ModelLensState
from tfm_ui.state.model_state import ModelState

MOST = 1e300  # what is larger, such as infinity, is this


def attention_parameters(model: ModelState, state: ModelLensState) -> int:
    """How many parameters the machine on screen has in attention."""
    return Diagram(model, state).parameters_of("self_attention", "cross_attention")


def convolution_path(model: ModelState, state: ModelLensState) -> int:
    """How many layers of convolution lie between the first token and the last output."""
    return DistancePaths(model, state).measured[0]["convolution"]


def dilated_path(model: ModelState, state: ModelLensState) -> int:
    """How many layers of dilated convolution lie between the first token and the last output."""
    return DistancePaths(model, state).measured[0]["dilated convolution"]


def feed_forward_parameters(model: ModelState, state: ModelLensState) -> int:
    """How many parameters the machine on screen has in feed-forward networks."""
    return Diagram(model, state).parameters_of("feed_forward")


def full_multiply_adds(model: ModelState, state: ModelLensState) -> int:
    """The multiply-adds that full attention needs for the text, in one layer and without projections."""
    return EfficientGrowth(model, state).on_screen["full"].needed


def full_pairs(model: ModelState, state: ModelLensState) -> int:
    """How many pairs of query and key full attention sees in the text."""
    return EfficientGrowth(model, state).on_screen["full"].pairs


def layer_parameters(model: ModelState, state: ModelLensState) -> int:
    """How many parameters of the machine on screen are neither in the embedding nor in the output."""
    return Diagram(model, state).without_ends


def linear_multiply_adds(model: ModelState, state: ModelLensState) -> int:
    """The multiply-adds that linear attention needs for the text, in one layer and without projections."""
    return EfficientGrowth(model, state).on_screen["linear"].needed


def longer_under(model: ModelState, state: ModelLensState) -> str:
    """Under which norm, pre-norm or post-norm, vectors are longer on average when they leave the block."""
    ends = {norm: float(after.mean()) for norm, (_, after) in BlockBoth(model, state).lengths.items()}
    return f"{max(ends, key=ends.__getitem__)}-norm"


def plain_parameters(model: ModelState, state: ModelLensState) -> int:
    """How many parameters a feed-forward network without a gate has, in the size that is counted."""
    sizes = FfnSizes(model, state)
    return sizes.count("relu", sizes.size[1])[0]


def post_over_pre(model: ModelState, state: ModelLensState) -> float:
    """The gradient of the last layer's output matrix under post-norm, over that under pre-norm."""
    lengths = Wirings(model, state).of_parameters
    pre, post = (float(lengths[norm][-1]) for norm in ("pre-norm", "post-norm"))
    return min(post / pre, MOST) if pre else 0.0


def recurrent_path(model: ModelState, state: ModelLensState) -> int:
    """How many steps of an RNN, one after the other, lie between the first token and the last output."""
    return DistancePaths(model, state).measured[0]["RNN"]


def repeats_apart(model: ModelState, state: ModelLensState) -> float:
    """The largest difference between what flows out of the chosen block at two places with the same token.

    0 if no token stands in the text twice, and of a block that belongs to a layer.
    """
    flow = Flow(model, state)
    if flow.picked.name_in_link != OUTSIDE_LAYERS.get(state.sub_layer) or OUT not in flow.ends:
        return 0.0
    vectors, first = flow.ends[OUT], dict[int, int]()
    pairs = [(first.setdefault(token, place), place) for place, token in enumerate(flow.tokens.ids[: len(vectors)])]
    return max(float((vectors[before] - vectors[place]).abs().max()) for before, place in pairs)


def rnn_shrinks(model: ModelState, state: ModelLensState) -> float:
    """How many times as large the RNN's median gradient is at distance 1 as at the largest distance."""
    return min(Distance(model, state).fall("RNN"), MOST)


def strided_saves(model: ModelState, state: ModelLensState) -> float:
    """How many times as many pairs full attention sees as strided attention, in the longest text of the chart."""
    costs = EfficientGrowth(model, state).by_length
    return costs["full"][-1].pairs / costs["strided"][-1].pairs


def swiglu_parameters(model: ModelState, state: ModelLensState) -> int:
    """How many parameters a feed-forward network with SwiGLU has, in the size that is counted."""
    sizes = FfnSizes(model, state)
    return sizes.count("swiglu", sizes.size[1])[0]


def tile_steps(model: ModelState, state: ModelLensState) -> int:
    """How many tiles the fused kernel computes, one after the other."""
    return len(EfficientTiles(model, state).steps)


def transformer_path(model: ModelState, state: ModelLensState) -> int:
    """How many layers of the transformer lie between the first token and the last output."""
    return DistancePaths(model, state).measured[0]["transformer"]


def words(model: ModelState, state: ModelLensState) -> int:
    """How many words the text has: what stands between spaces."""
    return len(model.read_text.split())


MEASURES: Mapping[str, Callable[[ModelState, ModelLensState], float | str]] = {
    measure.__name__: measure
    for measure in (
        attention_parameters,
        convolution_path,
        dilated_path,
        feed_forward_parameters,
        full_multiply_adds,
        full_pairs,
        layer_parameters,
        linear_multiply_adds,
        longer_under,
        plain_parameters,
        post_over_pre,
        recurrent_path,
        repeats_apart,
        rnn_shrinks,
        strided_saves,
        swiglu_parameters,
        tile_steps,
        transformer_path,
        words,
    )
}
