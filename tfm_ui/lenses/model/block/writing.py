"""Sentences on a block, computed from its numbers. Pure functions."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from tfm_ui.lenses.model.block.chain import Chain
from tfm_ui.text import formats
from tfm_ui.text.ties import one_of_ties, places_of_largest

EVEN = 0.999  # a variance of at least this much is called 1


def counted(names: Sequence[str]) -> list[str]:
    """Labels of tokens after their places in the text, from 1."""
    return [f"{i} {name}" for i, name in enumerate(names, 1)]


def lengths(vectors: Tensor, read: int) -> NDArray[np.float32]:
    """(token), how long the vectors (token, dimension) of the first tokens are."""
    each: NDArray[np.float32] = vectors[:read].norm(dim=-1).numpy()
    return each


def shares_of(added: Tensor, x: Tensor, read: int) -> NDArray[np.float32]:
    """(token), the lengths of vectors (token, dimension) as shares of those of x; 0 where x has no length."""
    before, after = lengths(x, read), lengths(added, read)
    return np.divide(after, before, out=np.zeros_like(after), where=before > 0)


def about_norm(chain: Chain, names: Sequence[str]) -> str:
    """What the norm finds, what it leaves, and whether gain and shift do anything."""
    read = len(names)
    before = chain.norm.variance[:read, 0].numpy()
    after = before / (before + chain.eps)
    reads = "x" if chain.pre_norm else "the sum"
    low, high = float(after.min()), float(after.max())
    variance = "variance 1" if low >= EVEN else f"a variance from {formats.number(low)} to {formats.number(high)}"
    if read == 1:
        found_in = f"in {reads} the numbers of “{names[0]}” have mean {formats.number(chain.norm.mean[0].item())} and "
        return (
            f"Before the norm, {found_in}variance {formats.number(float(before[0]))}; the norm makes that mean 0 and "
            f"{variance if low >= EVEN else f'variance {formats.number(low)}'}. {_about_gain(chain)}"
        )
    most, least = places_of_largest(before), places_of_largest(-before)
    spread = (
        f"in {reads}, the variances run from {formats.number(float(before[least[0]]))} "
        f"(“{names[least[0]]}”{one_of_ties(len(least))}) to {formats.number(float(before[most[0]]))} "
        f"(“{names[most[0]]}”{one_of_ties(len(most))})"
    )
    return f"The norm gives each token’s numbers mean 0 and {variance}; before it, {spread}. {_about_gain(chain)}"


def _about_gain(chain: Chain) -> str:
    if bool((chain.gain == 1).all()) and not bool(chain.shift.any()):
        return "Gain is 1 and shift 0 in every dimension, as before any training, so × gain + shift changes nothing."
    ends = (formats.number(float(end)) for ends in (chain.gain.aminmax(), chain.shift.aminmax()) for end in ends)
    gain_low, gain_high, shift_low, shift_high = ends
    return f"The gain runs from {gain_low} to {gain_high}, the shift from {shift_low} to {shift_high}."


def about_sub_layer(chain: Chain, names: Sequence[str], name: str, dropout: float) -> str:
    """How long the vectors are that the sub-layer writes, beside x; and what dropout does to them."""
    shares = shares_of(chain.output, chain.x, len(names))
    most = places_of_largest(shares)
    mean = formats.percent(float(shares.mean()))
    if len(names) == 1:
        said = f"The vector that the {name} writes for “{names[0]}” has {mean} of the length of x."
    else:
        said = (
            f"The vectors that the {name} writes have {mean} of the length of x on average, and most at "
            f"“{names[most[0]]}”{one_of_ties(len(most))}: {formats.percent(float(shares[most[0]]))}."
        )
    return f"{said} {_about_dropout(chain, dropout)}"


def _about_dropout(chain: Chain, dropout: float) -> str:
    if not dropout:
        return "In evaluation mode dropout does nothing."
    gone, every = int((chain.factors == 0).sum()), chain.factors.numel()
    return (
        f"Dropout of {dropout:g}, as in training mode, makes {formats.count(gone)} of these {formats.count(every)} "
        f"numbers 0 in this draw ({formats.percent(gone / every)}) and multiplies all others by 1 / (1 − {dropout:g}) "
        f"= {formats.number(1 / (1 - dropout))}; what flows in was computed without dropout."
    )


def about_sum(chain: Chain, names: Sequence[str]) -> str:
    """How the sum changes the lengths of the vectors."""
    before, after = lengths(chain.x, len(names)), lengths(chain.total, len(names))
    if len(names) == 1:
        return f"The sum takes the length of “{names[0]}” from {_ends(before[0], after[0])}."
    size = float(max(before.max(), after.max()))
    most = places_of_largest(np.abs(after - before), size=size)
    at = most[0]
    return (
        f"The sum makes {int((after > before).sum())} of {len(names)} vectors longer; the length of “{names[at]}”"
        f"{one_of_ties(len(most))} changes most, from {_ends(before[at], after[at])}."
    )


def _ends(before: float, after: float) -> str:
    return f"{formats.number(float(before))} to {formats.number(float(after))}"
