"""Five networks that read a sequence, of as many parameters as the transformer; with tfm_core alone, for scripts too.

All take and return (batch, seq, d_model), in float64: a gradient that has shrunk a hundred times is then still not 0,
and a 0 means that nothing leads there.
"""

from collections.abc import Callable
from dataclasses import replace

import torch
from torch import Tensor, nn

from tfm_core import Transformer, TransformerConfig, causal_mask, gradient_by_distance
from tfm_core.model.initialization import draw
from tfm_core.profiling.closed_forms_others import Convolution, Recurrent
from tfm_core.profiling.size import Size
from tfm_core.profiling.targets_others import convolutions, recurrent

NAMES = ("transformer", "convolution", "LSTM", "GRU", "RNN")
RECURRENT = ("LSTM", "GRU", "RNN")


def size_of(config: TransformerConfig, *, causal: bool) -> Size:
    """The transformer's numbers, without embedding and output: what the other networks are made as large as."""
    return Size(
        d_model=config.d_model,
        num_heads=config.num_heads,
        num_layers=config.num_layers,
        seq_len=1,  # no parameter depends on it
        d_ff=config.d_ff,
        norm=config.norm,
        activation=config.activation,
        positional=config.positional,
        architecture=config.architecture,
        causal=causal,
    )


def transformer_of(config: TransformerConfig) -> Transformer:
    """The transformer without embedding and output: vectors go in and out."""
    model = Transformer(replace(config, vocab_size=1, tie_embeddings=True)).eval()
    del model.unembedding
    for stack in model.children():
        del stack.embedding
    return model


def network_of(name: str, config: TransformerConfig, kernel: int, *, causal: bool) -> nn.Module:
    """The transformer, or nn.RNN, nn.LSTM, nn.GRU or nn.Conv1d in as many layers, its width chosen for the count."""
    if name == "transformer":
        return transformer_of(config).double()
    size = size_of(config, causal=causal)
    if name == "convolution":
        width = Convolution(kernel=kernel, efficiency=1).width
        return convolutions(size, config.seed, kernel=kernel, width=width).double()
    gates = {"RNN": 1, "GRU": 3, "LSTM": 4}[name]
    width = Recurrent(gates=gates, efficiency=1).width
    return recurrent(size, config.seed, network=getattr(nn, name), width=width).double()


@torch.no_grad()
def start_as_torch(network: nn.Module, seed: int) -> None:
    """Weights and biases spread as torch's own start spreads them: uniform between -1 / sqrt(n) and 1 / sqrt(n).

    n is the number of inputs of a linear map or of a convolution, and the number of hidden units of a recurrent
    network. Norms and positions stay as they are.
    """
    for path, module in network.named_modules():
        if isinstance(module, nn.RNNBase):
            inputs = module.hidden_size
        elif isinstance(module, nn.Linear | nn.Conv1d):
            inputs = module.weight[0].numel()
        else:
            continue
        for leaf, parameter in module.named_parameters(recurse=False):
            parameter.copy_(draw(seed, f"{path}.{leaf}", tuple(parameter.shape), std=(3 * inputs) ** -0.5))


def reading(network: nn.Module, *, causal: bool) -> Callable[[Tensor], Tensor]:
    """The network as a function of vectors, (batch, seq, d_model) in and out; both stacks of two read the same."""
    if not isinstance(network, Transformer):
        return network

    def read(x: Tensor) -> Tensor:
        mask = causal_mask(x.shape[1]) if causal else None
        if network.config.architecture == "encoder-decoder":
            output: Tensor = network.decoder.run(x, mask, memory=network.encoder.run(x))
            return output
        output = network.stack.run(x, mask)
        return output

    return read


def gradients(
    config: TransformerConfig, tokens: int, kernel: int, start: str, *, causal: bool
) -> tuple[dict[str, Tensor], dict[str, int]]:
    """Network -> lengths of the gradients of its last output, (distance), and network -> how many parameters it has.

    Weights, inputs and the random vector that the output is multiplied with are drawn from the configuration's seed.
    """
    names = ("transformer", "convolution", "LSTM", "GRU", "RNN")
    both = {name: gradients_of(name, config, tokens, kernel, start, causal=causal) for name in names}
    return {name: length for name, (length, _) in both.items()}, {name: count for name, (_, count) in both.items()}


def gradients_of(
    name: str, config: TransformerConfig, tokens: int, kernel: int, start: str, *, causal: bool
) -> tuple[Tensor, int]:
    """The same of one network, which is gone at the end: two would take twice the memory."""
    x = draw(config.seed, "x", (1, tokens, config.d_model), std=1.0).double()
    network = network_of(name, config, kernel, causal=causal)
    if start == "torch":
        start_as_torch(network, config.seed)
    network.requires_grad_(False)  # only the input's gradient is wanted
    length = gradient_by_distance(reading(network, causal=causal), x, seed=config.seed)[0]
    return length, sum(parameter.numel() for parameter in network.parameters())
