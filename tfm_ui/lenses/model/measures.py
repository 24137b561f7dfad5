"""What lessons measure on the pages of the Model lens."""

from collections.abc import Callable, Mapping
from dataclasses import replace

import torch
import torch.nn.functional as F
from torch import Tensor

from tfm_core import TransformerConfig
from tfm_ui.lenses.model.diagram.drawing import Diagram
from tfm_ui.lenses.model.machine import config_of
from tfm_ui.lenses.model.state import ModelLensState
from tfm_ui.live import passes
from tfm_ui.live.cache import cached
from tfm_ui.state.model_state import ModelState

EMBEDDINGS = "embedding.weight"  # how the names of embeddings end; that of the output ends so, too, where it is tied


def attention_parameters(model: ModelState, state: ModelLensState) -> int:
    """How many parameters the machine on screen has in attention."""
    return Diagram(model, state).parameters_of("self_attention", "cross_attention")


def block_parameters(model: ModelState, state: ModelLensState) -> int:
    """How many parameters the block that is ringed in the machine on screen has."""
    return Diagram(model, state).picked.block.parameters


def decoder_layer_parameters(model: ModelState, state: ModelLensState) -> int:
    """How many parameters layer 1 of the decoder of the machine on screen has; 0 if there is no decoder."""
    return _of_layer(model, state, "decoder")


def encoder_layer_parameters(model: ModelState, state: ModelLensState) -> int:
    """How many parameters layer 1 of the encoder of the machine on screen has; 0 if there is no encoder."""
    return _of_layer(model, state, "encoder")


def _of_layer(model: ModelState, state: ModelLensState, stack: str) -> int:
    blocks = [item.block for item in Diagram(model, state).counts.get(stack, ())]
    return sum(block.parameters for block in blocks if block.layer == 0)


def feed_forward_parameters(model: ModelState, state: ModelLensState) -> int:
    """How many parameters the machine on screen has in feed-forward networks."""
    return Diagram(model, state).parameters_of("feed_forward")


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


def share_of_ends(model: ModelState, state: ModelLensState) -> float:
    """The share of the parameters of the machine on screen that are in the embedding or the output, in percent."""
    diagram = Diagram(model, state)
    return 100 * (1 - diagram.without_ends / diagram.parameters)


def untrained_loss(model: ModelState, state: ModelLensState) -> float:
    """The loss with which these random weights begin, nats, the mean over the text's next tokens; 0 of trained ones."""
    return _first_losses(model, _drawn(model, state))[0] if model.is_random else 0.0


def untrained_loss_if_wide(model: ModelState, state: ModelLensState) -> float:
    """The same loss if the embeddings were drawn with a standard deviation of 1, and not of 1 / √d_model."""
    return _first_losses(model, _drawn(model, state))[1] if model.is_random else 0.0


def _drawn(model: ModelState, state: ModelLensState) -> TransformerConfig:
    return replace(config_of(model, state), tie_embeddings=state.tied)


@cached()
def _first_losses(model: ModelState, config: TransformerConfig) -> tuple[float, float]:
    """The loss on the next tokens of the text, of the model as it is, and with embeddings √d_model times as large."""
    modules, text = passes.transformer(config), model.target_tokens if model.is_encoder_decoder else model.source_tokens
    inputs = (model.source_tokens.batch, *([model.target_tokens.batch] if model.is_encoder_decoder else []))
    mask, read = {"mask": passes.mask_of(model)}, len(text.pieces)
    if read < 2:
        return 0.0, 0.0
    # A name that is handed over replaces all parameters that are tied to it.
    wide = {
        name: parameter * config.d_model**0.5
        for name, parameter in modules.named_parameters()
        if name.endswith(EMBEDDINGS) and not name.startswith("unembedding")
    }

    def loss(replaced: Mapping[str, Tensor]) -> float:
        with torch.no_grad():
            logits = torch.func.functional_call(modules, dict(replaced), inputs, mask)
        return float(F.cross_entropy(logits[0, : read - 1], text.batch[0, 1:read]))

    return loss({}), loss(wide)


MEASURES: Mapping[str, Callable[[ModelState, ModelLensState], float | str]] = {
    measure.__name__: measure
    for measure in (
        attention_parameters,
        block_parameters,
        decoder_layer_parameters,
        encoder_layer_parameters,
        feed_forward_parameters,
        largest_part,
        layer_parameters,
        looks,
        machine_parameters,
        machine_vocabulary,
        machine_width,
        share_of_ends,
        untrained_loss,
        untrained_loss_if_wide,
    )
}
