"""What outputs may depend on: what a mask allows through all layers, and what a model does when a token is changed.

Information moves by attention alone, and the residual connection keeps what is there. With masks as 0/1 matrices,
M (query, key) of the self-attention, and "or" for sums, the outputs of L layers may depend on tokens by

    R = (I or M)^L                             one stack, or a decoder and its target's tokens
    R = (I or M)^(L-1) C (I or E)^L            a decoder and its source's tokens, through cross-attention C (target,
                                               source) and an encoder under E: C is the first to let them in

A model leaks if changing a token moves an output that, by R, does not depend on it.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

import torch
from torch import Tensor

from tfm_core.model.initialization import generator

# As a share of the largest output. In float64, outputs that a token cannot reach moved by up to 3e-15 of it (150 random
# models, 1 to 8 layers): rounding, as batches of another size are summed in another order. Outputs that it can reach
# moved by 2e-7 or more.
ROUNDING = 1e-12


class Hop(NamedTuple):
    """What one attention lets information do, the residual connection included.

    Attributes:
        where: the stack's own "self"-attention, its "cross"-attention, or the "encoder"'s.
        layer: of its stack, from 0.
        sees: boolean (to, from).
    """

    where: Literal["self", "cross", "encoder"]
    layer: int
    sees: Tensor


def hops(mask: Tensor, num_layers: int, *, cross: Tensor | None = None, encoder: Tensor | None = None) -> list[Hop]:
    """The way of information from tokens to outputs, one attention after the other.

    Args:
        mask: boolean (query, key), of the self-attention in each layer.
        num_layers: of the stack, and of the encoder if there is one.
        cross: boolean (target, source), of an encoder-decoder's cross-attention: then the tokens are the source's.
        encoder: boolean (source, source), of the encoder, which sees everything without.

    Raises:
        ValueError: if there is no layer, or masks do not fit together.

    Examples:
        >>> from tfm_core import hops, window_mask
        >>> [(hop.where, hop.layer) for hop in hops(window_mask(4, window=2), num_layers=2)]
        [('self', 0), ('self', 1)]
    """
    if num_layers < 1 or mask.dim() != 2 or len(mask) != mask.shape[1]:
        raise ValueError(f"expected a square mask and a layer or more, got {tuple(mask.shape)} and {num_layers}")
    stays = _staying(mask)
    self_hops = [Hop("self", layer, stays) for layer in range(num_layers)]
    if cross is None:
        return self_hops
    source = cross.shape[1]
    encoder = torch.ones(source, source, dtype=torch.bool) if encoder is None else encoder
    if len(cross) != len(mask) or encoder.shape != (source, source):
        raise ValueError(
            f"expected masks (target, target), (target, source) and (source, source), got {tuple(mask.shape)}, "
            f"{tuple(cross.shape)} and {tuple(encoder.shape)}"
        )
    stays = _staying(encoder)
    before = [Hop("encoder", layer, stays) for layer in range(num_layers)]
    return [*before, Hop("cross", 0, cross), *self_hops[1:]]


def _staying(mask: Tensor) -> Tensor:
    return mask | torch.eye(len(mask), dtype=torch.bool)


def reach_by_layer(way: Sequence[Hop], tokens: Sequence[int] | None = None) -> Tensor:
    """What the outputs after each layer of the stack may depend on, boolean (layer, output, token).

    Args:
        way: see `hops`.
        tokens: which tokens; all of them by default.

    Examples:
        >>> from tfm_core import hops, reach_by_layer, window_mask
        >>> reached = reach_by_layer(hops(window_mask(5, window=2), num_layers=2))
        >>> reached.sum(-1)[:, 0].tolist()  # on how many tokens the first output depends after each layer
        [2, 3]
    """
    size = way[0].sees.shape[1]
    reached = torch.eye(size)[:, range(size) if tokens is None else list(tokens)]  # (place, token)
    after_each = []
    for hop in way:
        reached = (hop.sees.float() @ reached > 0).float()
        if hop.where != "encoder":
            after_each.append(reached > 0)
    return torch.stack(after_each)


def reachability(
    mask: Tensor, num_layers: int, *, cross: Tensor | None = None, encoder: Tensor | None = None
) -> Tensor:
    """Which outputs may depend on which tokens through all layers, boolean (output, token).

    Args:
        mask: boolean (query, key), of the self-attention in each layer.
        num_layers: of the stack, and of the encoder if there is one.
        cross: boolean (target, source), of an encoder-decoder's cross-attention: then the tokens are the source's.
        encoder: boolean (source, source), of the encoder, which sees everything without.

    Raises:
        ValueError: if there is no layer, or masks do not fit together.

    Examples:
        >>> from tfm_core import causal_mask, combine_masks, reachability, window_mask
        >>> mask = combine_masks(causal_mask(4), window_mask(4, window=2))
        >>> reachability(mask, num_layers=2).int().tolist()
        [[1, 0, 0, 0], [1, 1, 0, 0], [1, 1, 1, 0], [0, 1, 1, 1]]
    """
    return reach_by_layer(hops(mask, num_layers, cross=cross, encoder=encoder))[-1]


def route(way: Sequence[Hop], token: int, output: int) -> list[int]:
    """Where what an output learns of a token stands at first and after each hop: the way with the fewest moves.

    Among such ways it is one that moves early. [] if there is none.

    Args:
        way: see `hops`.
        token: where it begins.
        output: where it ends.

    Examples:
        >>> from tfm_core import hops, route, window_mask
        >>> route(hops(window_mask(4, window=2), num_layers=3), token=0, output=2)
        [0, 1, 2, 2]
        >>> route(hops(window_mask(4, window=2), num_layers=1), token=0, output=2)
        []
    """
    moves = torch.full((way[0].sees.shape[1],), torch.inf)  # how many it takes to each place
    moves[token] = 0
    came_from = []
    for hop in way:
        least, best = torch.where(hop.sees, moves + 1, torch.inf).min(1)
        if hop.where != "cross":  # there, the places are another text's
            stays = moves <= least
            least, best = torch.where(stays, moves, least), torch.where(stays, torch.arange(len(best)), best)
        moves = least
        came_from.append(best)
    if moves[output] == torch.inf:
        return []
    places = [output]
    for best in reversed(came_from):
        places.append(int(best[places[-1]]))
    return places[::-1]


@dataclass(frozen=True)
class Influence:
    """What moved when one token was changed.

    Attributes:
        moved: float64 (token, ..., output), the largest change of any number of that output by any replacement.
        largest: the largest number among the unchanged outputs, without its sign.

    Examples:
        >>> import torch
        >>> from tfm_core import Transformer, TransformerConfig, influence
        >>> config = TransformerConfig(vocab_size=50, architecture="decoder", d_model=8, num_heads=2)
        >>> model = Transformer(config).double().eval()
        >>> with torch.no_grad():
        ...     measured = influence(model, torch.tensor([[5, 6, 7]]), vocab_size=50)
        >>> (measured.moved > measured.tolerance).tolist()  # (token, output)
        [[True, True, True], [False, True, True], [False, False, True]]
    """

    moved: Tensor
    largest: float

    @property
    def tolerance(self) -> float:
        """Up to here a change may be rounding."""
        return ROUNDING * self.largest


def influence(
    run: Callable[[Tensor], Tensor],
    tokens: Tensor,
    *,
    vocab_size: int,
    tries: int = 4,
    seed: int = 0,
    pad_id: int = 0,
    places: Sequence[int] | None = None,
    at_once: int = 16,
) -> Influence:
    """Change one token after the other, and measure which outputs move.

    What Karpathy 2019, "A Recipe for Training Neural Networks", asks of gradients, asked of the outputs themselves.

    Args:
        run: token ids (batch, token) -> outputs (batch, ..., output, width), in float64.
        tokens: the sentence, (1, token).
        vocab_size: replacements are ids below it.
        tries: how many replacements each token gets.
        seed: of the replacements.
        pad_id: is no replacement.
        places: the tokens that are changed, from 0; all by default.
        at_once: how many tokens are changed in one batch, each in sentences of its own.

    Raises:
        ValueError: for outputs in lower precision, in which small effects and rounding cannot be told apart; for fewer
            ids than replacements.

    Examples:
        >>> import torch
        >>> from tfm_core import influence
        >>> def shifted(tokens):  # each output is made of the token before it
        ...     return torch.nn.functional.one_hot(tokens.roll(1, -1), 50).double()
        >>> measured = influence(shifted, torch.tensor([[5, 6, 7]]), vocab_size=50)
        >>> measured.moved.int().tolist()  # (token, output)
        [[0, 1, 0], [0, 0, 1], [1, 0, 0]]
    """
    parts = influence_by_part(
        run, tokens, vocab_size=vocab_size, tries=tries, seed=seed, pad_id=pad_id, places=places, at_once=at_once
    )
    return joined(list(parts))


def joined(parts: Sequence[Influence]) -> Influence:
    """What was measured of some tokens after the other, as one."""
    return Influence(torch.cat([part.moved for part in parts]), parts[0].largest)


def influence_by_part(
    run: Callable[[Tensor], Tensor],
    tokens: Tensor,
    *,
    vocab_size: int,
    tries: int = 4,
    seed: int = 0,
    pad_id: int = 0,
    places: Sequence[int] | None = None,
    at_once: int = 16,
) -> Iterator[Influence]:
    """Measure `influence` of a few tokens after the other, so that it can be stopped in between.

    Args:
        run: token ids (batch, token) -> outputs (batch, ..., output, width), in float64.
        tokens: the sentence, (1, token).
        vocab_size: replacements are ids below it, see `replacements`.
        tries: how many replacements each token gets.
        seed: of the replacements.
        pad_id: is no replacement.
        places: the tokens that are changed, from 0; all by default.
        at_once: how many tokens are changed in one batch, each in sentences of its own.

    Raises:
        ValueError: for outputs in lower precision, in which small effects and rounding cannot be told apart.
    """
    places = range(tokens.shape[1]) if places is None else places
    plain = run(tokens)
    if plain.dtype != torch.float64:
        raise ValueError(f"expected outputs in float64, got {plain.dtype}")
    largest = plain.abs().max().item()
    for first in range(0, len(places), at_once):
        changed = places[first : first + at_once]
        variants = tokens.repeat(len(changed), tries, 1)  # (token, try, seq)
        for variant, at in zip(variants, changed, strict=True):
            variant[:, at] = torch.tensor(
                replacements(int(tokens[0, at]), at, vocab_size=vocab_size, tries=tries, seed=seed, pad_id=pad_id)
            )
        distance = run(variants.flatten(0, 1)).sub_(plain).abs_().amax(-1)
        yield Influence(distance.reshape(len(changed), tries, *distance.shape[1:]).amax(1), largest)


def replacements(token: int, at: int, *, vocab_size: int, tries: int, seed: int = 0, pad_id: int = 0) -> list[int]:
    """Ids that stand in for a token: drawn by seed and position, each another one, none of them padding.

    Args:
        token: the id that stands there.
        at: its position.
        vocab_size: ids lie below it.
        tries: how many.
        seed: of the draw.
        pad_id: the token that stands for padding.

    Raises:
        ValueError: for fewer ids than are needed.
    """
    drawn = torch.randperm(vocab_size, generator=generator(seed, f"replacements of token {at}"))[: tries + 2].tolist()
    chosen = [other for other in drawn if other not in (token, pad_id)][:tries]
    if not 0 < tries == len(chosen):
        raise ValueError(f"expected {tries} replacements of id {token} among {vocab_size} ids, got {len(chosen)}")
    return chosen


def leaks(moved: Tensor, allowed: Tensor, tolerance: float) -> Tensor:
    """Where an output moved that is not allowed to depend on the token: boolean (..., token, output).

    Args:
        moved: (..., token, output), as of `influence`: after one layer, or after each.
        allowed: boolean (..., output, token), as of `reachability` or `reach_by_layer`.
        tolerance: what rounding may move.

    Examples:
        >>> import torch
        >>> from tfm_core import causal_mask, leaks, reachability
        >>> moved = torch.tensor([[1.0, 1.0], [0.5, 1.0]])  # (token, output): the second token moves the first output
        >>> leaks(moved, reachability(causal_mask(2), num_layers=2), tolerance=1e-6).tolist()
        [[False, False], [True, False]]
    """
    return (moved > tolerance) & ~allowed.mT
