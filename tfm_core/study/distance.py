"""How far back an output can be moved: the gradient of the last output with respect to each input before it.

In a recurrent network the gradient passes through every step between the two, and shrinks or grows with each; in
attention it takes one step, whatever the distance. Bengio et al. 1994; Vaswani et al. 2017, table 1.
"""

from collections.abc import Callable, Sequence

import torch
from torch import Tensor

from tfm_core.model.initialization import draw


def gradient_by_distance(network: Callable[[Tensor], Tensor], x: Tensor, *, seed: int | Sequence[int] = 0) -> Tensor:
    """Lengths of gradients, (batch, distance): at distance 0 that of the last input, at seq - 1 that of the first.

    What is differentiated is the product of the last output vector with a random one, so that every direction of the
    output counts alike.

    Args:
        network: (batch, seq, width) in, (batch, seq, any width) out.
        x: (batch, seq, width), what goes in.
        seed: of the random vector, (batch, width); or one for each of the batch, whose vector it draws, (1, width).

    Raises:
        ValueError: if the output has other axes, or none of it depends on the input.

    Examples:
        >>> import torch
        >>> from tfm_core import gradient_by_distance
        >>> network = torch.nn.Identity()  # whose last output depends on the last input alone
        >>> lengths = gradient_by_distance(network, torch.ones(1, 4, 8))
        >>> (lengths > 0).tolist()
        [[True, False, False, False]]
    """
    x = x.detach().requires_grad_()
    with torch.enable_grad():
        output = network(x)
        if output.dim() != 3 or output.shape[:2] != x.shape[:2]:
            raise ValueError(
                f"expected an output (batch, seq, width) for an input {tuple(x.shape)}, got {tuple(output.shape)}"
            )
        if not output.requires_grad:
            raise ValueError("expected an output that depends on the input, got one without a gradient")
        last = output[:, -1]
        seeds, rows = ([seed], len(last)) if isinstance(seed, int) else (seed, 1)
        probe = torch.cat([draw(each, "probe", (rows, *last.shape[1:]), std=1.0) for each in seeds])
        product = (last * probe.to(last)).sum()
        (gradient,) = torch.autograd.grad(product, x)
    lengths: Tensor = gradient.norm(dim=-1).flip(-1)
    return lengths
