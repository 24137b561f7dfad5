"""Five networks that read a sequence, of as many parameters as the transformer; with tfm_core alone, for scripts too.

All take and return (batch, seq, d_model), in float64: a gradient that has shrunk a hundred times is then still not 0,
and a 0 means that nothing leads there.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace

import torch
from torch import Tensor, nn

from tfm_core import Transformer, TransformerConfig, causal_mask, gradient_by_distance
from tfm_core.model.initialization import draw, fill_parameters
from tfm_core.profiling.closed_forms import transformer_parameters
from tfm_core.profiling.closed_forms_others import Convolution, Recurrent
from tfm_core.profiling.size import Size
from tfm_core.profiling.targets_others import Recurrence, convolutions, recurrent
from tfm_core.study.recurrences import recurrences

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
        num_kv_heads=config.num_kv_heads,
        normalization=config.normalization,
        qkv_bias=config.qkv_bias,
        output_bias=config.output_bias,
        feed_forward_bias=config.feed_forward_bias,
        embedding_norm=config.embedding_norm,
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


def start_anew(network: nn.Module, seed: int, start: str) -> None:
    """Draw all weights from this seed: "ours", as the library draws them, or spread as torch's own start."""
    fill_parameters(network, seed)
    if start == "torch":
        start_as_torch(network, seed)


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


def read_at_once(network: Recurrence, weights: Mapping[str, Tensor], x: Tensor) -> Tensor:
    """Outputs of several draws of a recurrent network, each for vectors of its own: (draw, seq, d_model) in and out.

    Args:
        network: says which network and how many layers.
        weights: parameter -> those of all draws, (draw, ...).
        x: (draw, seq, d_model).
    """
    x = recurrences(network.recurrence, {name.removeprefix("recurrence."): each for name, each in weights.items()}, x)
    return torch.baddbmm(weights["output.bias"][:, None], x, weights["output.weight"].mT)


def parameters_of(config: TransformerConfig, *, causal: bool) -> int:
    """How many parameters the transformer has here, and about as many each of the other four."""
    return sum(transformer_parameters(size_of(config, causal=causal)).values())


def remembered(config: TransformerConfig, tokens: int) -> int:
    """How many numbers a network remembers for the gradient of its input, about."""
    return config.num_layers * tokens * (12 * config.d_model + 4 * config.feed_forward_dim)


def in_parts(
    config: TransformerConfig, tokens: int, draws: int, *, causal: bool
) -> list[tuple[TransformerConfig, int]]:
    """The draws in parts that are run at once: the configuration of the first of a part, and how many they are.

    Of large networks there is one in each part, as each takes memory.
    """
    vectors = config.num_layers * tokens * (12 * config.d_model + 4 * config.feed_forward_dim)
    numbers = 2_000_000  # of weights and vectors of the draws that are run at once: 16 MB
    most = max(1, numbers // (parameters_of(config, causal=causal) + vectors))
    return [(replace(config, seed=config.seed + first), min(most, draws - first)) for first in range(0, draws, most)]


def gradients(
    config: TransformerConfig, tokens: int, kernel: int, start: str, *, causal: bool, draws: int
) -> tuple[dict[str, Tensor], dict[str, int]]:
    """Network -> lengths of the gradients of its last output, (draw, distance), and network -> how many parameters.

    Weights, inputs and the random vector that the output is multiplied with are drawn from the configuration's seed,
    and for each further draw from the next seed.
    """
    names = ("transformer", "convolution", "LSTM", "GRU", "RNN")
    both = {name: gradients_of(name, config, tokens, kernel, start, causal=causal, draws=draws) for name in names}
    return {name: length for name, (length, _) in both.items()}, {name: count for name, (_, count) in both.items()}


def gradients_of(
    name: str, config: TransformerConfig, tokens: int, kernel: int, start: str, *, causal: bool, draws: int = 1
) -> tuple[Tensor, int]:
    """The same of one network, which is gone at the end: two would take twice the memory.

    Draws of a recurrent network are run at once, as each of its steps is small; those of the others one by one.
    """
    network = network_of(name, config, kernel, causal=causal).requires_grad_(False)  # only x needs a gradient
    seeds = [config.seed + number for number in range(draws)]
    at_once = network if isinstance(network, Recurrence) and draws > 1 else None
    x = torch.cat([draw(seed, "x", (1, tokens, config.d_model), std=1.0) for seed in seeds]).double()
    lengths, weights = [], []
    for number, seed in enumerate(seeds):
        start_anew(network, seed, start)
        if at_once:
            weights.append({name: parameter.clone() for name, parameter in network.named_parameters()})
        else:
            read = reading(network, causal=causal)
            lengths.append(gradient_by_distance(read, x[number : number + 1], seed=seed))
    if at_once:
        stacked = {name: torch.stack([of_draw[name] for of_draw in weights]) for name in weights[0]}
        lengths.append(gradient_by_distance(lambda x: read_at_once(at_once, stacked, x), x, seed=seeds))
    return torch.cat(lengths), sum(parameter.numel() for parameter in network.parameters())
