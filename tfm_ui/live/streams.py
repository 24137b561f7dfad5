"""The residual stream in a recording of a model, and the model's parts that read it, by its configuration alone."""

from torch import nn

from tfm_core.model.config import TransformerConfig
from tfm_core.model.transformer import Transformer
from tfm_core.positional.schemes import POSITIONAL, Positional
from tfm_ui.live.places import PLACES

TWO_STACKS = "encoder-decoder"


def kinds(config: TransformerConfig) -> dict[str, str]:
    """Kind of attention -> its sites in a recording, with `{layer}` and `{what}` as placeholders."""
    return PLACES[config.architecture == TWO_STACKS]


def stack_of(config: TransformerConfig, kind: str) -> str:
    """The beginning of all site names in the stack to which this kind of attention belongs."""
    return kinds(config)[kind].partition("layers.")[0]


def memory_site(config: TransformerConfig) -> str:
    """The site of the encoder's output, from which cross-attention takes keys and values."""
    last = f"layers.{config.num_layers - 1}.feed_forward.residual_after"
    return f"encoder.{'final_norm' if config.norm == 'pre' else last}"


def stream_sites(config: TransformerConfig) -> list[str]:
    """The sites of the residual stream before each attention, of what the first is made of, and of the memory."""
    sites = []
    for kind, at in kinds(config).items():
        sites.append(at.format(layer="*", what="residual_before"))
        if kind != "cross":
            added = ["position"] * ("encode" in POSITIONAL[config.positional].enters())
            added += ["token_types"] * (config.num_token_types > 0) + ["embedding_norm"] * config.embedding_norm
            sites += [f"{stack_of(config, kind)}{name}" for name in ("embedding", *added)]
    return sites + [memory_site(config)] * (config.architecture == TWO_STACKS)


def modules(model: Transformer) -> nn.Module:
    """The module below which submodules have the names that recordings use."""
    return model if model.config.architecture == TWO_STACKS else model.stack


def scheme(model: Transformer, kind: str) -> Positional | None:
    """The positional scheme of this kind of attention; None in cross-attention."""
    stack = {"self": "stack", "encoder": "encoder"}.get(kind, "decoder")
    positional: Positional | None = None if kind == "cross" else getattr(model, stack).positional
    return positional
