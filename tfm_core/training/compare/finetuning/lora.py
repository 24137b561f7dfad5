"""LoRA: instead of a matrix W, a product of two thin ones is trained, and added to it. Hu et al. 2021.

    W x + b  becomes  W x + b + (alpha / r) B A x

W (out, in) and b stay as they are; A (r, in) begins at random and B (out, r) at zero, so that training begins with
exactly the model that there was. As in the paper's experiments, only the projections of queries and values are adapted.
"""

import math
from collections.abc import Iterator

import torch
from torch import Tensor, nn

from tfm_core.model.attention import MultiHeadAttention
from tfm_core.model.config import TransformerConfig
from tfm_core.model.initialization import draw

ALPHA = 16.0  # the same for each rank, as in Hu et al. 2021: then one learning rate suits several ranks
ADAPTED = ("query_projection", "value_projection")


class LowRank(nn.Module):
    """A linear map that stays as it is, with a trained map of low rank beside it. (..., in) -> (..., out).

    Args:
        base: the linear map; its parameters are frozen.
        rank: r, at most the smaller side of the matrix.
        seed: of A.
        name: of the map, so that no two have the same A.
        alpha: the product is multiplied by alpha / rank.

    Raises:
        ValueError: for a rank that is none of such a matrix.
    """

    def __init__(self, base: nn.Linear, rank: int, *, seed: int = 0, name: str = "", alpha: float = ALPHA) -> None:
        super().__init__()
        smaller = min(base.in_features, base.out_features)
        if type(rank) is not int or not 1 <= rank <= smaller:
            raise ValueError(f"rank: expected 1 to {smaller}, the smaller side of the matrix; got {rank!r}")
        self.base = base.requires_grad_(False)
        spread = 1 / math.sqrt(base.in_features)
        self.down = nn.Parameter(draw(seed, f"{name}.down", (rank, base.in_features), spread))  # A
        self.up = nn.Parameter(torch.zeros(base.out_features, rank))  # B
        self.scale = alpha / rank

    def forward(self, x: Tensor) -> Tensor:
        """W x + b + (alpha / r) B A x: by way of r numbers, so the product B A is never written."""
        y: Tensor = self.base(x)
        return y + self.scale * (x @ self.down.T) @ self.up.T

    @property
    def bias(self) -> Tensor | None:
        """The bias of the linear map."""
        return self.base.bias

    @torch.no_grad()
    def merged(self) -> nn.Linear:
        """One linear map that does the same: its matrix is W + (alpha / r) B A, and nothing is slower than before."""
        whole = nn.Linear(self.base.in_features, self.base.out_features, bias=self.base.bias is not None)
        whole.weight.copy_(self.base.weight + self.scale * self.up @ self.down)
        if self.base.bias is not None:
            whole.bias.copy_(self.base.bias)
        return whole


def add_low_rank(model: nn.Module, rank: int, *, seed: int = 0) -> None:
    """Freeze all parameters of a model, and put a `LowRank` in the place of its query and value projections.

    Raises:
        ValueError: for a rank that is none of these matrices.
    """
    model.requires_grad_(False)
    for path, attention in attentions(model):
        for which in ADAPTED:
            adapted = LowRank(getattr(attention, which), rank, seed=seed, name=f"{path}.{which}")
            setattr(attention, which, adapted)


def merge(model: nn.Module) -> None:
    """Put one linear map in the place of each `LowRank`: the model is of its old form, and does the same."""
    for _, attention in attentions(model):
        for which in ADAPTED:
            if isinstance(adapted := getattr(attention, which), LowRank):
                setattr(attention, which, adapted.merged())


def attentions(model: nn.Module) -> Iterator[tuple[str, MultiHeadAttention]]:
    """Each attention of a model, with its path."""
    for path, module in [*model.named_modules()]:
        if isinstance(module, MultiHeadAttention):
            yield path, module


def low_rank_parameters(config: TransformerConfig, rank: int) -> int:
    """How many numbers A and B have, in all layers of a single stack: r (in + out) for each matrix.

    A query projection is (d_model, d_model), a value projection (kv_heads head_dim, d_model).
    """
    width, of_values = config.d_model, config.kv_heads * config.head_dim
    return config.num_layers * rank * ((width + width) + (width + of_values))
