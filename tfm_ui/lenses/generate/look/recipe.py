"""The view's script: where a head looked at each step."""

from collections.abc import Mapping, Sequence

import torch
from torch import Tensor

from tfm_core import Sampling, Transformer, TransformerConfig, generate, recording


def weights_by_step(
    *,
    config: TransformerConfig,
    prompt: Sequence[int],
    sampling: Sampling,
    steps: int,
    forced: Mapping[int, int],
    context: int,
    when_full: str,
    layer: int,
    head: int,
) -> list[Tensor]:
    """The weights (key) of the position that wrote each step."""
    model = Transformer(config).eval()
    course = generate(model, prompt, sampling, steps=steps, forced=forced, context=context, when_full=when_full)
    text, rows = list(prompt), []
    for step in course:
        with torch.no_grad(), recording("*.self_attention.weights") as trace:
            model(torch.tensor([text[step.begin :]]))
        rows.append(trace[f"layers.{layer}.self_attention.weights"][0, head, -1])  # of the last position
        text.append(step.token)
    return rows
