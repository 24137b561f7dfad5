"""The line of the losses on what is trained on, each point a mean of equally many steps: one batch says little."""

from torch import Tensor

AT_LEAST = 10  # steps, where there are that many


def smoothed(losses: Tensor, most: int) -> tuple[list[int], list[float], int]:
    """The step at which each mean ends, the means, and over how many steps each is: the same for all.

    Args:
        losses: (step), each of one batch.
        most: points of the line.
    """
    apart = max(1, -(-len(losses) // most))
    every = min(max(AT_LEAST, apart), len(losses))
    ends = list(range(len(losses), every - 1, -apart))[::-1] if every else []
    return ends, [losses[end - every : end].mean().item() for end in ends], every
