"""The view "depth": signals and gradients through many layers, the residual stream, and dropout."""

from tfm_core import Transformer, TransformerLayer, parameter_gradients, signals_by_depth
from tfm_core.study.depth import mean_cosine
from tfm_ui.lenses.model.depth import recipe
from tfm_ui.lenses.model.depth.dropped import READ as DROPOUT_READ
from tfm_ui.lenses.model.depth.dropped import Dropped, dropped
from tfm_ui.lenses.model.depth.pictures import PICTURES
from tfm_ui.lenses.model.depth.stream import Stream, stream
from tfm_ui.lenses.model.depth.wired import Alike, Wired, wired
from tfm_ui.lenses.model.other_attention import other_attention
from tfm_ui.lenses.model.state import PREFIX, ModelLensState
from tfm_ui.page import controls_line
from tfm_ui.page.lens import View
from tfm_ui.pictures.panel import Block, Box, Note, Panel
from tfm_ui.state.model_state import ModelState
from tfm_ui.text import formats


def blocks(model: ModelState, state: ModelLensState) -> list[Block | None]:
    """Four wirings, how alike tokens become, the live model's residual stream, and dropout."""
    shown = wired(model, state)
    return [
        _wired_panel(shown),
        Note(about) if (about := _about(model, shown)) else None,
        _alike_panel(Alike(shown)) if len(shown.ids) > 1 else Note(Alike(shown).sentence()),
        _stream_panel(stream(model, state)),
        _dropout_panel(dropped(model, state)),
    ]


def _about(model: ModelState, shown: Wired) -> str:
    """What the four wirings read, where that is not all that the sidebar’s model reads."""
    cut = (
        f"Only the first {len(shown.ids)} tokens are read here, so that 48 layers stay quick."
        if len(model.source_tokens.pieces) > len(shown.ids)
        else ""
    )
    alone = (
        "These layers are a single stack, which reads the first text and has an embedding of its own: where a decoder "
        "looks across is left out."
        if model.is_encoder_decoder
        else ""
    )
    return " ".join(filter(None, (cut, alone)))


def _wired_panel(shown: Wired) -> Panel:
    return Box(
        key="model_wirings",
        title="Four wirings, the same weights",
        how_to_read="Pre-norm x + f(norm(x)); post-norm norm(x + f(x)); no residuals f(norm(x)); no norm x + f(x). "
        "Log scale. Length and gradient of the vectors: mean over tokens; the gradient of their product with random "
        "vectors at the end. Gradient of the parameters: of the output matrix of each layer’s feed-forward part, with "
        "a final norm after pre-norm. Xiong et al. 2020 speak of this one: near the output it shrinks with more "
        "layers in pre-norm, and not in post-norm.",
        shape=f"{formats.plural(shown.config.num_layers, 'layer')} × {formats.plural(len(shown.ids), 'token')}",
        picture="model_wirings",
        result=shown,
        sources=[signals_by_depth, parameter_gradients, recipe.wired],
    )


def _alike_panel(shown: Alike) -> Panel:
    return Box(
        key="model_alike",
        title="Do tokens become alike?",
        how_to_read="The mean cosine between the vectors of two different tokens after each layer: 0 is a right angle, "
        "1 the same direction.",
        picture="model_alike",
        result=shown,
        sources=[mean_cosine, signals_by_depth],
    )


def _stream_panel(shown: Stream) -> Panel:
    return Box(
        key="model_stream_lengths",
        title="The residual stream of the live model",
        how_to_read="Mean length: of the vectors before and after each sub-layer, and of what it adds. Mean "
        "cosine: how alike tokens are. Without padding.",
        shape=f"{formats.plural(len(shown.places), 'sub-layer')}",
        picture="model_stream_lengths",
        result=shown,
        sources=[TransformerLayer._add, mean_cosine],
    )


def _dropout_panel(shown: Dropped) -> Panel:
    layer = int(shown.site.split("layers.")[1].split(".")[0]) + 1
    cut = f", and only the first {DROPOUT_READ} tokens are read" if len(shown.tokens.ids) > DROPOUT_READ else ""
    return Box(
        key="model_training_mode",
        title=f"Dropout: the weights of “{shown.names[shown.token]}”, layer {layer}, head {shown.head + 1}",
        how_to_read=f"Dots: {len(shown.trained)} passes in training mode, each from its own seed, beside evaluation "
        f"mode. Hidden keys are left out{cut}. Weights are recorded before their own dropout: what moves them is the "
        "dropout in all that they are computed from.",
        picture="model_training_mode",
        result=shown,
        sources=[recipe.dropped, TransformerLayer._drop, Transformer.forward],
    )


def _controls(model: ModelState) -> ModelLensState:
    """How deep, and which row of weights under which dropout."""
    line = controls_line.row("line_model_depth")
    controls_line.draw(ModelLensState, PREFIX, model, line, "depth", "stack", "layer", "head", "token")
    return controls_line.draw_more(ModelLensState, PREFIX, model, line, "depth_dropout", "attention")


def _running(model: ModelState, state: ModelLensState) -> str:
    """What is said while models run that take seconds."""
    heavy = model.is_heavy or model.d_model * state.depth > 2000
    return f"Sending the text through {formats.plural(state.depth, 'layer')}, wired in four ways" if heavy else ""


VIEW = View(
    title="Depth", blocks=blocks, drawn=PICTURES, controls=_controls, running=_running, never_trained=other_attention
)
