"""What else reads a sequence, as large as the transformer beside it: recurrent networks and convolution."""

import math
from collections.abc import Callable

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from tfm_core.profiling.drawn import drawn
from tfm_core.profiling.size import Size


class Recurrence(nn.Module):
    """nn.LSTM, nn.GRU or nn.RNN and a linear map back to d_model: (batch, seq, d_model) in and out."""

    def __init__(self, recurrence: nn.LSTM | nn.GRU | nn.RNN, d_model: int) -> None:
        super().__init__()
        self.recurrence = recurrence
        self.output = nn.Linear(recurrence.hidden_size, d_model)

    def forward(self, x: Tensor) -> Tensor:
        """(batch, seq, d_model) in and out."""
        x = self.recurrence(x)[0]  # (batch, seq, hidden)
        x = self.output(x)
        return x


class Convolutions(nn.Module):
    """nn.Conv1d over the tokens, GELU after each, and a linear map back: (batch, seq, d_model) in and out."""

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


class BetweenEnds(nn.Module):
    """A network between an embedding and an output that share one matrix, or with one of them alone.

    Args:
        inner: (batch, seq, d_model) in and out.
        embedding: of d_model.
        size: says which ends there are.
    """

    def __init__(self, inner: nn.Module, embedding: nn.Embedding, size: Size) -> None:
        super().__init__()
        self.inner, self.embedding = inner, embedding if size.embeds else None
        with torch.device("meta"):  # nothing is drawn
            self.unembedding = nn.Linear(size.d_model, size.vocab_size, bias=False) if size.gives_logits else None
        if self.unembedding is not None:
            self.unembedding.weight = embedding.weight

    def forward(self, x: Tensor) -> Tensor:
        """Input: token ids (batch, seq), or (batch, seq, d_model). Out: logits (batch, seq, vocab), or the latter."""
        if self.embedding is not None:
            x = self.embedding(x) * math.sqrt(self.embedding.embedding_dim)
        x = self.inner(x)
        return x if self.unembedding is None else self.unembedding(x)


def recurrent(
    size: Size,
    seed: int = 0,
    *,
    network: type[nn.LSTM] | type[nn.GRU] | type[nn.RNN],
    width: Callable[[Size], int],
) -> nn.Module:
    """nn.LSTM, nn.GRU or nn.RNN of as many layers, and of the hidden units that `width` says."""

    def build() -> nn.Module:
        recurrence = network(size.d_model, width(size), size.num_layers, batch_first=True)
        return Recurrence(recurrence, size.d_model)

    return _of_size(size, seed, build)


def convolutions(size: Size, seed: int = 0, *, kernel: int, width: Callable[[Size], int]) -> nn.Module:
    """nn.Conv1d of as many layers, and of the channels that `width` says."""
    return _of_size(size, seed, lambda: Convolutions(size, width(size), kernel))


def recurrence_differs(size: Size) -> str:
    """How it differs from the transformer of this kind, as the words that follow its name."""
    unlike = "" if size.looks_back_only else ", while the transformer sees all of them"
    return (
        f"is compared without norms, positions and heads{_one_stack(size)}; it reads one token after the other{unlike}"
    )


def convolution_differs(size: Size) -> str:
    """How it differs from the transformer of this kind, as the words that follow its name."""
    activation = "" if size.activation == "gelu" else ", with GELU"
    unlike = ", so that it looks ahead, while the transformer does not" if size.looks_back_only else ""
    return (
        f"is compared without norms, positions and heads{activation}{_one_stack(size)}; each layer sees a token’s two "
        f"neighbours{unlike}"
    )


def _one_stack(size: Size) -> str:
    return ", as one stack" if size.num_stacks == 2 else ""


def _of_size(size: Size, seed: int, build: Callable[[], nn.Module]) -> nn.Module:
    """The module drawn from the seed, with an embedding and an output where the size has them."""
    inner = drawn(build, seed)
    if not size.vocab_size:
        return inner
    return BetweenEnds(inner, drawn(lambda: nn.Embedding(size.vocab_size, size.d_model), seed), size)
