"""What can be measured: one entry each in `TARGETS`, at the foot of the file."""

from collections.abc import Callable
from dataclasses import dataclass

from torch import Tensor, nn

from tfm_core.blocks import TransformerLayer
from tfm_core.initialization import fill_parameters
from tfm_core.profiling.plan import Setup, Size
from tfm_core.recording import name_sites, recording


class Stack(nn.Module):
    """Our layers and the final norm, without embedding and logits: (batch, seq, d_model) in and out."""

    def __init__(self, size: Size, *, keeps_weights: bool = False) -> None:
        super().__init__()
        self.keeps_weights = keeps_weights
        self.layers = nn.ModuleList(
            TransformerLayer(size.d_model, size.num_heads, size.feed_forward_dim) for _ in range(size.num_layers)
        )
        self.final_norm = nn.LayerNorm(size.d_model)
        name_sites(self)

    def forward(self, x: Tensor) -> Tensor:
        """(batch, seq, d_model) in and out."""
        if not self.keeps_weights:
            return self._layers(x)
        with recording("*.weights"):
            return self._layers(x)

    def _layers(self, x: Tensor) -> Tensor:
        for layer in self.layers:
            x = layer(x)
        x = self.final_norm(x)
        return x


def never(setup: Setup) -> str:
    """Every setting will do."""
    return ""


@dataclass(frozen=True)
class Target:
    """One entry.

    Attributes:
        build: makes the module, (batch, seq, d_model) in and out, its weights drawn.
        flops: floating point operations of one forward pass by part, in closed form.
        about: what it is, in a line.
        source: where it comes from.
        refuses: why it cannot run in this setting; "" if it can.
    """

    build: Callable[[Size], nn.Module]
    flops: Callable[[Size], dict[str, int]]
    about: str
    source: str
    refuses: Callable[[Setup], str] = never


def layer_flops(size: Size) -> dict[str, int]:
    """Of the whole stack, 2 per multiplication and addition; norms, softmax and activations count 0.

    Projections 8 n d^2, products with scores 4 n^2 d, feed-forward 4 n d d_ff, for each layer and sequence.
    """
    times = size.batch * size.num_layers
    n, d = size.seq_len, size.d_model
    return {
        "projections": times * 8 * n * d * d,
        "products": times * 4 * n * n * d,
        "feed-forward": times * 4 * n * d * size.feed_forward_dim,
    }


def _ours(size: Size, *, keeps_weights: bool = False) -> nn.Module:
    stack = Stack(size, keeps_weights=keeps_weights)
    fill_parameters(stack, 0)
    return stack


TARGETS: dict[str, Target] = {
    "with weights": Target(
        lambda size: _ours(size, keeps_weights=True),
        layer_flops,
        "This library, every attention weight recorded.",
        "Vaswani et al. 2017",
    ),
    "without weights": Target(
        _ours, layer_flops, "This library, as it runs when nobody looks at the weights.", "Vaswani et al. 2017"
    ),
}
