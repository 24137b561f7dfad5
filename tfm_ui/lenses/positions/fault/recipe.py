"""What the view "fault" shows, without the app."""

from collections.abc import Sequence
from functools import partial

import torch
from torch import Tensor

from tfm_core import Transformer, TransformerConfig, recording
from tfm_core.model.recording import Edit
from tfm_core.study.order import along_batch, along_sequence


def right_and_wrong(
    *,
    config: TransformerConfig,
    inputs: Sequence[Tensor],
    mask: Tensor | None,
    batch: int,
    sentence: int,
    site: str,
    head: int,
    end: str,
) -> tuple[list[Tensor], list[Tensor], list[Tensor]]:
    """What is added to one sentence (seq, d_model), its weights (query, key), and all outputs: [right, wrong] each."""
    model = Transformer(config).eval()
    start = "encoder." if config.architecture == "encoder-decoder" else ""
    stack = model.encoder if start else model.stack
    pe = stack.positional.encode(config.max_len)  # (max_len, d_model)
    assert pe is not None
    pe = pe.detach()
    empty = torch.zeros(batch, inputs[0].shape[1], config.d_model)
    added, weights, outputs = [], [], []
    for add in (along_sequence, along_batch):
        edits: dict[str, Edit] = {f"{start}embedding": partial(add, pe=pe), f"{start}position": torch.zeros_like}
        with torch.no_grad(), recording([site, end], edits) as trace:
            model(*(ids.expand(batch, -1) for ids in inputs), mask=mask)
        added.append(add(empty, pe)[sentence])
        weights.append(trace[site][sentence, head])
        outputs.append(trace[end])  # (batch, seq, d_model)
    return added, weights, outputs
