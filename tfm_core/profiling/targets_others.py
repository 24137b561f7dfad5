"""What else reads a sequence, as large as the transformer beside it: recurrent networks and convolution."""

import torch.nn.functional as F
from torch import Tensor, nn

from tfm_core.profiling.closed_forms_others import Convolution, Recurrent
from tfm_core.profiling.drawn import drawn
from tfm_core.profiling.plan import Size

LSTM, GRU, CONVOLUTION = Recurrent(4, 1.5), Recurrent(3, 0.7), Convolution(3, 1.4)


class Recurrence(nn.Module):
    """nn.LSTM or nn.GRU and a linear map back to d_model: (batch, seq, d_model) in and out."""

    def __init__(self, recurrence: nn.LSTM | nn.GRU, d_model: int) -> None:
        super().__init__()
        self.recurrence = recurrence
        self.output = nn.Linear(recurrence.hidden_size, d_model)

    def forward(self, x: Tensor) -> Tensor:
        """(batch, seq, d_model) in and out."""
        x = self.recurrence(x)[0]  # (batch, seq, hidden)
        x = self.output(x)
        return x


class Convolutions(nn.Module):
    """nn.Conv1d over the tokens, GELU behind each, and a linear map back: (batch, seq, d_model) in and out."""

    def __init__(self, size: Size, width: int, kernel: int) -> None:
        super().__init__()
        inputs = [size.d_model, *[width] * (size.num_layers - 1)]
        self.convolution = nn.ModuleList(nn.Conv1d(i, width, kernel, padding=kernel // 2) for i in inputs)
        self.output = nn.Linear(width, size.d_model)

    def forward(self, x: Tensor) -> Tensor:
        """(batch, seq, d_model) in and out."""
        x = x.mT
        for convolution in self.convolution:
            x = F.gelu(convolution(x))  # (batch, channel, seq)
        x = self.output(x.mT)
        return x


def lstm(size: Size, seed: int = 0) -> nn.Module:
    """nn.LSTM of as many layers."""
    width = LSTM.width(size)
    return drawn(
        lambda: Recurrence(nn.LSTM(size.d_model, width, size.num_layers, batch_first=True), size.d_model), seed
    )


def gru(size: Size, seed: int = 0) -> nn.Module:
    """nn.GRU of as many layers."""
    width = GRU.width(size)
    return drawn(lambda: Recurrence(nn.GRU(size.d_model, width, size.num_layers, batch_first=True), size.d_model), seed)


def convolutions(size: Size, seed: int = 0) -> nn.Module:
    """nn.Conv1d of as many layers."""
    return drawn(lambda: Convolutions(size, CONVOLUTION.width(size), CONVOLUTION.kernel), seed)
