"""Several recurrent networks at once, each with weights and an input of its own: a step of ten costs about one step."""

from collections.abc import Callable, Mapping

import torch
from torch import Tensor, nn

# What arrives from the input and what from the hidden state before, both (network, 1, gates × hidden); the hidden state
# and the cell before, which only an LSTM has -> the hidden state and the cell.
Step = Callable[[Tensor, Tensor, Tensor, Tensor], tuple[Tensor, Tensor]]


def recurrences(network: nn.RNNBase, weights: Mapping[str, Tensor], x: Tensor) -> Tensor:
    """Outputs of all tokens: (network, seq, input) in, (network, seq, hidden) out, as each network gives them alone.

    The equations are those of nn.RNN, nn.LSTM and nn.GRU (Hochreiter and Schmidhuber 1997; Cho et al. 2014), with a
    product of matrices for all networks where torch has one for each. The results differ by rounding only.

    Args:
        network: says what they are: nn.RNN, nn.LSTM or nn.GRU in one direction, with biases alone. It is not run.
        weights: parameter -> those of all networks, (network, ...), by their names in `network`.
        x: what each of them reads.

    Raises:
        ValueError: if the network is of a kind that is not computed here, or weights have other shapes.
    """
    if not _is_plain(network):
        raise ValueError(f"expected nn.RNN, nn.LSTM or nn.GRU in one direction, with biases alone, got {network}")
    for name, parameter in network.named_parameters():
        expected, got = (len(x), *parameter.shape), tuple(weights[name].shape)
        if got != expected:
            raise ValueError(f"expected {name} of shape {expected}, got {got}")
    step = STEPS[type(network)]
    for layer in range(network.num_layers):
        of_input, of_hidden, input_bias, hidden_bias = (
            weights[f"{leaf}_l{layer}"] for leaf in ("weight_ih", "weight_hh", "bias_ih", "bias_hh")
        )
        arriving = torch.baddbmm(input_bias[:, None], x, of_input.mT)  # (network, seq, gates × hidden)
        hidden = cell = x.new_zeros(len(x), 1, network.hidden_size)
        outputs = []
        for token in arriving.tensor_split(arriving.shape[1], dim=1):
            recurring = torch.baddbmm(hidden_bias[:, None], hidden, of_hidden.mT)
            hidden, cell = step(token, recurring, hidden, cell)
            outputs.append(hidden)
        x = torch.cat(outputs, dim=1)
    return x


def _is_plain(network: nn.RNNBase) -> bool:
    is_tanh = getattr(network, "nonlinearity", "tanh") == "tanh"
    extras = network.bidirectional or network.proj_size or network.dropout or not network.bias
    return type(network) in STEPS and is_tanh and not extras


def _rnn(arriving: Tensor, recurring: Tensor, hidden: Tensor, cell: Tensor) -> tuple[Tensor, Tensor]:
    return (arriving + recurring).tanh(), cell


def _lstm(arriving: Tensor, recurring: Tensor, hidden: Tensor, cell: Tensor) -> tuple[Tensor, Tensor]:
    enter, forget, new, leave = (arriving + recurring).chunk(4, dim=-1)
    cell = forget.sigmoid() * cell + enter.sigmoid() * new.tanh()
    return leave.sigmoid() * cell.tanh(), cell


def _gru(arriving: Tensor, recurring: Tensor, hidden: Tensor, cell: Tensor) -> tuple[Tensor, Tensor]:
    arriving_gates, arriving_new = arriving.tensor_split([2 * hidden.shape[-1]], dim=-1)
    recurring_gates, recurring_new = recurring.tensor_split([2 * hidden.shape[-1]], dim=-1)
    reset, keep = (arriving_gates + recurring_gates).sigmoid().chunk(2, dim=-1)
    new = (arriving_new + reset * recurring_new).tanh()
    return new + keep * (hidden - new), cell


STEPS: dict[type[nn.RNNBase], Step] = {nn.RNN: _rnn, nn.LSTM: _lstm, nn.GRU: _gru}
