"""What the view "distance" shows, without the app."""

from collections.abc import Mapping
from dataclasses import replace

import torch
from torch import Tensor

from tfm_core import TransformerConfig
from tfm_ui.jobs.networks import gradients
from tfm_ui.lenses.model.distance.steps import (
    calls_of_each_layer,
    layers_to_first,
    reach_after,
    small_of,
    steps_of_recurrence,
)


def reach(
    *, config: TransformerConfig, tokens: int, seeds: int, kernel: int, start: str, causal: bool
) -> tuple[Mapping[str, Tensor], Mapping[str, Tensor], Mapping[str, Tensor], Mapping[str, int]]:
    """Network -> median, lowest and highest length of the gradient over the seeds, (distance); and its parameters."""
    draws = [
        gradients(replace(config, seed=config.seed + k), tokens, kernel, start, causal=causal) for k in range(seeds)
    ]
    parameters = draws[0][1]
    lengths = {name: torch.stack([of_seed[name] for of_seed, _ in draws]) for name in parameters}
    medians = {name: values.quantile(0.5, dim=0) for name, values in lengths.items()}
    lowest = {name: values.amin(0) for name, values in lengths.items()}
    highest = {name: values.amax(0) for name, values in lengths.items()}
    return medians, lowest, highest, parameters


def paths(
    *, config: TransformerConfig, tokens: int, kernel: int, causal: bool
) -> tuple[Mapping[str, int], Mapping[str, int], Mapping[str, int], float]:
    """Layers or steps to the first token; how far the layers see; calls of a layer; the recurrences' largest error."""
    path, sight = {}, {}
    for name in ("transformer", "convolution", "dilated convolution"):
        path[name] = layers_to_first(name, config, tokens, kernel, causal=causal)
        sight[name] = reach_after(name, config, tokens, kernel, config.num_layers, causal=causal)
    calls = calls_of_each_layer(small_of(config), tokens, kernel, causal=causal)
    steps = {name: steps_of_recurrence(name, small_of(config), tokens) for name in ("LSTM", "GRU", "RNN")}
    path |= {name: count for name, (count, _, _) in steps.items()}
    calls |= {name: count for name, (count, _, _) in steps.items()}
    sight |= {name: far for name, (_, _, far) in steps.items()}
    error = max(error for _, error, _ in steps.values())
    return path, sight, calls, error
