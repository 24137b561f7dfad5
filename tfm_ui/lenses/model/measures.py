"""What lessons measure on the pages of the Model lens."""

import math
from collections.abc import Callable, Mapping
from dataclasses import replace

import torch

from tfm_ui.lenses.model.block.both import BlockBoth
from tfm_ui.lenses.model.block.steps import Block
from tfm_ui.lenses.model.depth.wirings import Wirings
from tfm_ui.lenses.model.diagram.block import OUT, Flow
from tfm_ui.lenses.model.diagram.drawing import Diagram
from tfm_ui.lenses.model.diagram.passed import Passed, runs
from tfm_ui.lenses.model.diagram.passed import written as shape_written
from tfm_ui.lenses.model.distance.paths import DistancePaths
from tfm_ui.lenses.model.distance.reach import Distance
from tfm_ui.lenses.model.efficient.compared import EfficientGrowth
from tfm_ui.lenses.model.efficient.tiling import EfficientTiles
from tfm_ui.lenses.model.feed_forward.activations import FfnSizes
from tfm_ui.lenses.model.machine import inputs_of
from tfm_ui.lenses.model.output.start import OutputStart
from tfm_ui.lenses.model.sentence_measures import OF_SENTENCES
from tfm_ui.lenses.model.state import OUTSIDE_LAYERS, ModelLensState
from tfm_ui.lenses.model.tokens.measures import OF_TOKENS
from tfm_ui.live.cache import cached
from tfm_ui.live.passes import transformer
from tfm_ui.state.model_state import ModelState

MOST = 1e300  # what is larger, such as infinity, is this
SAME = 1e-6  # numbers that differ by less are the same but for rounding


def _first_loss(model: ModelState, state: ModelLensState, spread: float = 0) -> float:
    """The loss before training, tied or not as on screen; 0 of trained weights. Without a spread, as they are drawn."""
    start = OutputStart(model, state)
    return start.at(spread or start.usual, "tied" if state.tied else "untied") if model.is_random else 0.0


@cached()
def _first_and_pooled(model: ModelState) -> tuple[torch.Tensor, torch.Tensor]:
    """The last hidden state of the first token, and the pooled output, (d_model) both."""
    inputs, mask = inputs_of(model)
    with torch.no_grad():
        states = transformer(model.config).states(*inputs, mask=mask)
        return states[0, 0], transformer(model.config).pooled(states)[0]


def _of_layer(model: ModelState, state: ModelLensState, stack: str) -> int:
    blocks = [item.block for item in Diagram(model, state).counts.get(stack, ())]
    return sum(block.parameters for block in blocks if block.layer == 0)


def attention_parameters(model: ModelState, state: ModelLensState) -> int:
    """How many parameters the machine on screen has in attention."""
    return Diagram(model, state).parameters_of("self_attention", "cross_attention")


def block_parameters(model: ModelState, state: ModelLensState) -> int:
    """How many parameters the block that is ringed in the machine on screen has."""
    return Diagram(model, state).picked.block.parameters


def convolution_path(model: ModelState, state: ModelLensState) -> int:
    """How many layers of convolution lie between the first token and the last output."""
    return DistancePaths(model, state).measured[0]["convolution"]


def decoder_layer_parameters(model: ModelState, state: ModelLensState) -> int:
    """How many parameters layer 1 of the decoder of the machine on screen has; 0 if there is no decoder."""
    return _of_layer(model, state, "decoder")


def dilated_path(model: ModelState, state: ModelLensState) -> int:
    """How many layers of dilated convolution lie between the first token and the last output."""
    return DistancePaths(model, state).measured[0]["dilated convolution"]


def encoder_layer_parameters(model: ModelState, state: ModelLensState) -> int:
    """How many parameters layer 1 of the encoder of the machine on screen has; 0 if there is no encoder."""
    return _of_layer(model, state, "encoder")


def feed_forward_parameters(model: ModelState, state: ModelLensState) -> int:
    """How many parameters the machine on screen has in feed-forward networks."""
    return Diagram(model, state).parameters_of("feed_forward")


def full_multiply_adds(model: ModelState, state: ModelLensState) -> int:
    """The multiply-adds that full attention needs for the text, in one layer and without projections."""
    return EfficientGrowth(model, state).on_screen["full"].needed


def full_pairs(model: ModelState, state: ModelLensState) -> int:
    """How many pairs of query and key full attention sees in the text."""
    return EfficientGrowth(model, state).on_screen["full"].pairs


def largest_part(model: ModelState, state: ModelLensState) -> str:
    """Where the machine on screen has most parameters: "attention", "feed-forward" or "embedding and output"."""
    diagram = Diagram(model, state)
    parts = {
        "attention": attention_parameters(model, state),
        "feed-forward": feed_forward_parameters(model, state),
        "embedding and output": diagram.parameters - diagram.without_ends,
    }
    return max(parts, key=parts.__getitem__)


def layer_parameters(model: ModelState, state: ModelLensState) -> int:
    """How many parameters of the machine on screen are neither in the embedding nor in the output."""
    return Diagram(model, state).without_ends


def linear_multiply_adds(model: ModelState, state: ModelLensState) -> int:
    """The multiply-adds that linear attention needs for the text, in one layer and without projections."""
    return EfficientGrowth(model, state).on_screen["linear"].needed


def longer_under(model: ModelState, state: ModelLensState) -> str:
    """The norm, pre-norm or post-norm, under which vectors are longer on average when they leave the block."""
    ends = {norm: float(after.mean()) for norm, (_, after) in BlockBoth(model, state).lengths.items()}
    return f"{max(ends, key=ends.__getitem__)}-norm"


def looks(model: ModelState, state: ModelLensState) -> str:
    """What a stack of the machine on screen is called: "decoder-only" where no token sees later ones, "encoder" where
    all see all, or "encoder-decoder"."""
    diagram = Diagram(model, state)
    stack, *others = diagram.counts
    return "encoder-decoder" if others else diagram.called(stack)


def machine_parameters(model: ModelState, state: ModelLensState) -> int:
    """How many parameters the machine on screen has in all, whatever its shape."""
    return Diagram(model, state).parameters


def machine_vocabulary(model: ModelState, state: ModelLensState) -> int:
    """How many token ids the machine on screen has, whatever its shape."""
    return Diagram(model, state).config.vocab_size


def machine_width(model: ModelState, state: ModelLensState) -> int:
    """The d_model of the machine on screen, whatever its shape."""
    return Diagram(model, state).config.d_model


def plain_parameters(model: ModelState, state: ModelLensState) -> int:
    """How many parameters a feed-forward network without a gate has, in the size that is counted."""
    sizes = FfnSizes(model, state)
    return sizes.count("relu", sizes.size[1])[0]


def pooled_cosine(model: ModelState, state: ModelLensState) -> float:
    """The cosine between the pooled output and the last hidden state of the first token; 0 without a pooler."""
    if not model.config.pooler:
        return 0.0
    first, pooled = (vector.double() for vector in _first_and_pooled(model))
    return float(torch.cosine_similarity(first, pooled, dim=0))


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


def run_output_shape(model: ModelState, state: ModelLensState) -> str:
    """The shape of what the last layer gives of the batch that is run once; "" if none is."""
    return shape_written(Passed(model, state).output) if runs(model, state) else ""


def run_torch_shape(model: ModelState, state: ModelLensState) -> str:
    """The shape of what nn.MultiheadAttention returns as weights by default; "" where it has no place."""
    return shape_written(Passed(model, state).run.by_default) if runs(model, state) else ""


def run_weights(model: ModelState, state: ModelLensState) -> int:
    """How many attention weights a layer makes of the batch that is run once; 0 if none is."""
    return math.prod(Passed(model, state).run.weights) if runs(model, state) else 0


def run_weights_shape(model: ModelState, state: ModelLensState) -> str:
    """The shape of these weights; "" if no batch is run."""
    return shape_written(Passed(model, state).run.weights) if runs(model, state) else ""


def same_twice(model: ModelState, state: ModelLensState) -> str:
    """Whether two passes add the same numbers here, each with a draw of the dropout of its own: "yes" or "no"."""
    drawn, again = (Block(model, replace(state, dropout_draw=state.dropout_draw + more)).dropped for more in (0, 1))
    return "yes" if torch.equal(drawn, again) else "no"


def share_of_ends(model: ModelState, state: ModelLensState) -> float:
    """The share of the parameters of the machine on screen that are in the embedding or the output, in percent."""
    diagram = Diagram(model, state)
    return 100 * (1 - diagram.without_ends / diagram.parameters)


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


def untrained_loss(model: ModelState, state: ModelLensState) -> float:
    """The loss with which these random weights begin, nats, the mean over the text's next tokens; 0 of trained ones."""
    return _first_loss(model, state)


def untrained_loss_if_wide(model: ModelState, state: ModelLensState) -> float:
    """The same loss if embeddings were drawn with a standard deviation of 1, and not of 1 / √d_model."""
    return _first_loss(model, state, 1.0)


def untrained_loss_of_guessing(model: ModelState, state: ModelLensState) -> float:
    """ln V: what guessing evenly costs, in the size of which the first loss is."""
    return OutputStart(model, state).evenly


def untrained_loss_with_spread(model: ModelState, state: ModelLensState) -> float:
    """The same loss if the embeddings were drawn with the standard deviation that is chosen."""
    return _first_loss(model, state, state.spread)


def words(model: ModelState, state: ModelLensState) -> int:
    """How many words the text has: what stands between spaces."""
    return len(model.read_text.split())


_OWN: Mapping[str, Callable[[ModelState, ModelLensState], float | str]] = {
    measure.__name__: measure
    for measure in (
        attention_parameters,
        block_parameters,
        convolution_path,
        decoder_layer_parameters,
        dilated_path,
        encoder_layer_parameters,
        feed_forward_parameters,
        full_multiply_adds,
        full_pairs,
        largest_part,
        layer_parameters,
        linear_multiply_adds,
        longer_under,
        looks,
        machine_parameters,
        machine_vocabulary,
        machine_width,
        plain_parameters,
        pooled_cosine,
        post_over_pre,
        recurrent_path,
        repeats_apart,
        rnn_shrinks,
        run_output_shape,
        run_torch_shape,
        run_weights,
        run_weights_shape,
        same_twice,
        share_of_ends,
        strided_saves,
        swiglu_parameters,
        tile_steps,
        transformer_path,
        untrained_loss,
        untrained_loss_if_wide,
        untrained_loss_of_guessing,
        untrained_loss_with_spread,
        words,
    )
}
MEASURES: Mapping[str, Callable[[ModelState, ModelLensState], float | str]] = dict(
    sorted({**_OWN, **OF_TOKENS, **OF_SENTENCES}.items())
)
