"""The parts of a layer that others wrote: attentions, feed-forward network and norms, with their weights."""

from collections.abc import Sequence
from dataclasses import dataclass

from torch import Tensor, nn

from tfm_core.checks.norms import epsilons_of, gain_and_shift
from tfm_core.checks.weights import Projection, Starts, is_norm, projections, role_of

CROSS = ("cross", "src", "enc", "memory", "multihead", "inter", "context", "attn2", "attention2", "mha2")


@dataclass(frozen=True)
class Anatomy:
    """What a layer is made of.

    Attributes:
        attentions: the projections of each attention, the self-attention first.
        network: the weights of the feed-forward network: W_1, b_1, W_2, b_2.
        norms: (gain, shift) of each norm, in the order in which they were registered.
        epsilons: what the norms' epsilon may be.
    """

    attentions: tuple[tuple[Projection, ...], ...]
    network: Starts
    norms: tuple[tuple[Tensor, Tensor], ...]
    epsilons: tuple[float, ...]


def anatomy(check: str, module: nn.Module, d_model: int, attentions: int) -> Anatomy:
    """The parts of a layer.

    Args:
        check: the name of the check, for messages.
        module: the layer.
        d_model: its width.
        attentions: 1 in an encoder's layer, 2 in a decoder's.

    Raises:
        ValueError: where the layer has other parts than such a layer.
    """
    parts = projections(module)
    network = [part for part in parts if _is_of_network(part, d_model)]
    if not network and len(parts) > 4 * attentions - 1:  # as wide as the model
        network = parts[-2:]
    norms = [part for part in module.modules() if is_norm(part)]
    rest = [part for part in parts if part not in network]
    groups = _groups(rest, attentions)
    if len(network) != 2 or not norms or len(groups) != attentions or not all(groups):
        raise ValueError(
            f"{check}: expected {attentions + 1} norms, projections of {attentions} "
            f"attention{'s' if attentions > 1 else ''} and two linear layers of a feed-forward network; got "
            f"{len(norms)} norms, and {', '.join(part.name for part in parts) or 'no projections'}."
        )
    pairs = [gain_and_shift(norm, d_model) for norm in norms]
    pairs += pairs[-1:] * (attentions + 1 - len(pairs))
    return Anatomy(
        tuple(map(tuple, groups)), _network(network, d_model), tuple(pairs[: attentions + 1]), epsilons_of(norms[0])
    )


def _is_of_network(part: Projection, d_model: int) -> bool:
    shape = tuple(part.weight.shape)
    if len(shape) != 2 or role_of(part.name) in ("QKV", "KV", "Q", "K", "V"):
        return False
    return d_model in shape and shape != (d_model, d_model) and max(shape) > d_model


def _network(parts: Sequence[Projection], d_model: int) -> Starts:
    starts: Starts = {}
    for number, part in enumerate(parts, 1):
        weight = part.weight
        if part.is_free and (weight.shape[1] == d_model) != (number == 1):
            weight = weight.mT
        bias = weight.new_zeros(weight.shape[0]) if part.bias is None else part.bias
        starts |= {f"W_{number}": weight.cpu().float(), f"b_{number}": bias.cpu().float()}
    return starts


def _groups(parts: Sequence[Projection], attentions: int) -> list[list[Projection]]:
    """The projections of each attention: by names that tell cross-attention, else by order."""
    if attentions == 1:
        return [list(parts)]
    cross = [part for part in parts if any(word in part.name.lower() for word in CROSS)]
    if 0 < len(cross) < len(parts):
        return [[part for part in parts if part not in cross], cross]
    half = len(parts) // 2
    return [list(parts[:half]), list(parts[half:])]
