"""The feed-forward network of a layer, and the activations that it can have.

To add an activation, enter it in `ACTIVATIONS`.
"""

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from tfm_core.model.choices import check_choice
from tfm_core.model.recording import Tapped
from tfm_core.model.unfilled import Linear


class Activation(NamedTuple):
    """A function of the hidden units, and whether it acts on a gate beside them."""

    function: Callable[[Tensor], Tensor]
    gated: bool = False


def gelu_tanh(x: Tensor) -> Tensor:
    """GELU with a tanh in place of the error function, as in GPT-2: it differs by 0.0005 at most.

    0.5 x (1 + tanh(sqrt(2 / pi) (x + 0.044715 x³))). Hendrycks and Gimpel 2016, section 2.
    """
    return F.gelu(x, approximate="tanh")


ACTIVATIONS: dict[str, Activation] = {
    "relu": Activation(F.relu),
    "gelu": Activation(F.gelu),
    "gelu_tanh": Activation(gelu_tanh),
    "silu": Activation(F.silu),
    "swiglu": Activation(F.silu, gated=True),
}
"""Name -> an activation of the feed-forward network, any shape in and the same shape out: `function`, and `gated`.

ReLU: Vaswani et al. 2017, equation 2, F.relu. GELU: Hendrycks and Gimpel 2016, F.gelu, exactly or by the tanh. SiLU:
F.silu; SwiGLU, which is SiLU on a gate beside the hidden units: Shazeer 2020, equation 6.

Examples:
    >>> import torch
    >>> from tfm_core import ACTIVATIONS
    >>> list(ACTIVATIONS)
    ['relu', 'gelu', 'gelu_tanh', 'silu', 'swiglu']
    >>> ACTIVATIONS["relu"].function(torch.tensor([-1.0, 2.0])).tolist()
    [0.0, 2.0]
    >>> ACTIVATIONS["swiglu"].gated
    True
"""

IN_PLACE: dict[Callable[[Tensor], Tensor], Callable[[Tensor], Tensor]] = {
    F.relu: torch.ops.aten.relu_,
    F.gelu: torch.ops.aten.gelu_,
    gelu_tanh: partial(torch.ops.aten.gelu_, approximate="tanh"),
    F.silu: torch.ops.aten.silu_,
}
"""Activations that can also write over their argument; where no gradient needs it, that saves fresh memory."""


class FeedForward(Tapped):
    """Two linear maps with an activation between them, for each position alone.

    Plain: output(act(input(x))), Vaswani et al. 2017, equation 2. Gated (swiglu): output(act(gate(x)) *
    input(x)), Shazeer 2020, equation 6; with biases, unless `bias` is False. Records `hidden` (batch, seq, d_ff), that
    is what the output projection reads, and `output` (batch, seq, d_model).

    Args:
        d_model: width of inputs and outputs.
        d_ff: hidden units.
        activation: a key of `ACTIVATIONS`.
        bias: whether the linear maps have biases.
        dropout: share of the hidden units set to zero while training.

    Raises:
        ValueError: for a width below 1, or an unknown activation.

    Examples:
        >>> import torch
        >>> from tfm_core import FeedForward
        >>> network = FeedForward(8, 32, activation="gelu")
        >>> sum(parameter.numel() for parameter in network.parameters())  # 8 x 32 + 32 and 32 x 8 + 8
        552
    """

    def __init__(
        self, d_model: int, d_ff: int, *, activation: str = "gelu", bias: bool = True, dropout: float = 0.0
    ) -> None:
        super().__init__()
        if d_model < 1 or d_ff < 1:
            raise ValueError(f"expected d_model and d_ff of at least 1, got {d_model} and {d_ff}")
        check_choice("activation", activation, ACTIVATIONS)
        self.activation, gated = ACTIVATIONS[activation]
        self.input_projection = Linear(d_model, d_ff, bias=bias)
        self.gate_projection = Linear(d_model, d_ff, bias=bias) if gated else None
        self.output_projection = Linear(d_ff, d_model, bias=bias)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x: Tensor) -> Tensor:
        """(batch, seq, d_model) in and out."""
        activation = self.activation if torch.is_grad_enabled() else IN_PLACE.get(self.activation, self.activation)
        hidden = self.input_projection(x)  # (batch, seq, d_ff)
        hidden = activation(hidden) if self.gate_projection is None else activation(self.gate_projection(x)) * hidden
        hidden = self.tap("hidden", hidden)
        return self.tap("output", self.output_projection(self.dropout(hidden) if self.training else hidden))
