"""The logit lens: the model's own read-out, final norm and output matrix, applied after every layer.

It shows what the model would say if it ended there. Only in a trained model does that mean something: with random
weights the read-out is as random at the top as it is at the bottom. The idea: nostalgebraist 2020, "interpreting GPT:
the logit lens".
"""

from collections.abc import Iterator

import torch
from torch import Tensor

from tfm_core.model.recording import recording
from tfm_core.model.transformer import Transformer


def logit_lens(model: Transformer, *inputs: Tensor, mask: Tensor | None = None) -> dict[str, Tensor]:
    """Place -> logits (batch, seq, vocab): "embedding", with positions, then "layer 1" and so on to the last layer.

    Args:
        model: best in evaluation mode; of an encoder-decoder, the decoder is read.
        inputs: what the model is called with: its token ids, or source and target.
        mask: what the model is called with.

    The last one is the model's own logits. In post-norm no final norm is applied, as the model has none.

    Raises:
        ValueError: of a model without logits.

    Examples:
        >>> import torch
        >>> from tfm_core import Transformer, TransformerConfig, logit_lens
        >>> model = Transformer(TransformerConfig(vocab_size=50, d_model=8, num_heads=2)).eval()
        >>> places = logit_lens(model, torch.tensor([[5, 6, 7]]))
        >>> list(places), places["layer 2"].shape
        (['embedding', 'layer 1', 'layer 2'], torch.Size([1, 3, 50]))
    """
    return dict(each_read_out(model, *inputs, mask=mask))


def each_read_out(
    model: Transformer, *inputs: Tensor, mask: Tensor | None = None, count: int | None = None
) -> Iterator[tuple[str, Tensor]]:
    """The same, place by place: of a large vocabulary and many layers, all of them would take gigabytes at a time.

    Args:
        model: as in `logit_lens`, like `inputs` and `mask`.
        inputs: what the model is called with.
        mask: what the model is called with.
        count: how many of the first positions are read out; by default all.

    Raises:
        ValueError: of a model without logits.
    """
    if model.config.head == "none":
        raise ValueError("expected a model with logits, got one without: head='none'")
    places = dict(_places(model))
    with torch.no_grad(), recording(places.values()) as trace:
        model(*inputs, mask=mask)
    return ((place, _read_out(model, trace[site][:, :count])) for place, site in places.items())


def _places(model: Transformer) -> Iterator[tuple[str, str]]:
    """The places with their sites in a recording, from the bottom to the top."""
    prefix = "decoder." if model.config.architecture == "encoder-decoder" else ""
    yield "embedding", f"{prefix}layers.0.self_attention.residual_before"
    for number in range(model.config.num_layers):
        yield f"layer {number + 1}", f"{prefix}layers.{number}.feed_forward.residual_after"


@torch.no_grad()
def _read_out(model: Transformer, x: Tensor) -> Tensor:
    stack = model.decoder if model.config.architecture == "encoder-decoder" else model.stack
    return model.logits(x if stack.final_norm is None else stack.final_norm(x))
