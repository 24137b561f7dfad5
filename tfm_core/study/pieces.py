"""The right pieces of a transformer's layer: small functions, the library's where it has them.

`steps.py` makes the steps of them; `mistakes.py` exchanges them. Axes: x (batch, token, dimension), heads
(batch, head, token, head dimension), scores and weights (batch, head, query, key).
"""

import math
from collections.abc import Callable, Mapping
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from tfm_core.masks.basic import causal_mask, padding_mask
from tfm_core.positional.maths import alibi_slopes, apply_rotary, sinusoidal_encoding
from tfm_core.study.exercise import NORM_EPS, PAD_ID

Piece = Callable[..., Any]
Pieces = Mapping[str, Piece]


def embed(table: Tensor, ids: Tensor) -> Tensor:
    """A row of the table for each id, times √d_model: Vaswani et al. 2017, section 3.4."""
    return table[ids] * math.sqrt(table.shape[-1])


def join(embedded: Tensor, encoding: Tensor) -> Tensor:
    """Position p's encoding is added to token p of each sentence."""
    return embedded + encoding


def norm(x: Tensor, gain: Tensor, shift: Tensor, eps: float = NORM_EPS) -> Tensor:
    """Mean 0 and variance 1 of each vector, then gain and shift: Ba et al. 2016."""
    return F.layer_norm(x, x.shape[-1:], gain, shift, eps)


def split(x: Tensor, heads: int) -> Tensor:
    """(batch, seq, d_model) -> (batch, head, seq, head_dim): each head gets neighbouring dimensions."""
    return x.reshape(*x.shape[:2], heads, -1).transpose(1, 2)


def merge(heads: Tensor) -> Tensor:
    """(batch, head, seq, head_dim) -> (batch, seq, d_model): the inverse of `split`."""
    return heads.transpose(1, 2).flatten(2)


def rotate(query: Tensor, key: Tensor, value: Tensor, start: int) -> tuple[Tensor, Tensor, Tensor]:
    """RoPE turns queries and keys of each head by their positions; values stay."""
    places = torch.arange(start, start + query.shape[-2])
    return apply_rotary(query, places), apply_rotary(key), value


def product(query: Tensor, key: Tensor) -> Tensor:
    """q · k of each pair."""
    return query @ key.mT


def scale(products: Tensor, head_dim: int, d_model: int) -> Tensor:
    """Divide by √d_k, the width of a head: Vaswani et al. 2017, equation 1."""
    return products / math.sqrt(head_dim)


def distance(queries: int, keys: int) -> Tensor:
    """How far each key is from each query, (query, key); the last query stands at the last key."""
    return (torch.arange(keys - queries, keys)[:, None] - torch.arange(keys)).abs()


def bias(scores: Tensor, slopes: Tensor) -> Tensor:
    """ALiBi: −slope × distance is added to each score."""
    return scores - slopes[:, None, None] * distance(*scores.shape[-2:])


def padding(ids: Tensor, queries: int) -> Tensor:
    """(batch, 1, 1, key): hide the keys that are padding."""
    return padding_mask(ids, PAD_ID)


def polarity(mask: Tensor) -> Tensor:
    """True = may attend."""
    return mask


def fill() -> float:
    """What stands for a hidden score."""
    return -math.inf


def hide(scores: Tensor, mask: Tensor, hidden: float) -> Tensor:
    """−∞ where a pair may not attend."""
    return scores.masked_fill(~mask, hidden)


def normalise(masked: Tensor) -> Tensor:
    """Softmax over the keys."""
    return masked.softmax(-1)


def empties(weights: Tensor, masked: Tensor) -> Tensor:
    """Zeros for a query that may see nothing, where a softmax gives NaN."""
    return weights.masked_fill((masked == -math.inf).all(-1, keepdim=True), 0.0)


def after_softmax(weights: Tensor, mask: Tensor) -> Tensor:
    """The weights are used as they are."""
    return weights


def gather(weights: Tensor, value: Tensor) -> Tensor:
    """The weighted sum of the values."""
    return weights @ value


def project(merged: Tensor, weight: Tensor, shift: Tensor) -> Tensor:
    """W_O mixes what the heads gathered."""
    return merged @ weight.mT + shift


def before(x: Tensor, normed: Callable[[Tensor], Tensor]) -> Tensor:
    """What a sub-layer of a pre-norm layer reads: Xiong et al. 2020."""
    return normed(x)


def after(x: Tensor, change: Tensor, normed: Callable[[Tensor], Tensor]) -> Tensor:
    """The residual connection of a pre-norm layer."""
    return x + change


def residual(x: Tensor, read: Tensor) -> Tensor:
    """The residual stream itself is added to, not what the sub-layer read."""
    return x


def before_post(x: Tensor, normed: Callable[[Tensor], Tensor]) -> Tensor:
    """What a sub-layer of a post-norm layer reads."""
    return x


def after_post(x: Tensor, change: Tensor, normed: Callable[[Tensor], Tensor]) -> Tensor:
    """The residual connection of a post-norm layer: LayerNorm(x + Sublayer(x)), Vaswani et al. 2017, section 3.1."""
    return normed(x + change)


def gelu(x: Tensor) -> Tensor:
    """x Φ(x): Hendrycks and Gimpel 2016, section 2."""
    return F.gelu(x)


def relu(x: Tensor) -> Tensor:
    """max(0, x): Vaswani et al. 2017, equation 2."""
    return F.relu(x)


def last(x: Tensor, normed: Callable[[Tensor], Tensor]) -> Tensor:
    """A stack of pre-norm layers ends in a norm."""
    return normed(x)


def last_post(x: Tensor, normed: Callable[[Tensor], Tensor]) -> Tensor:
    """A post-norm layer has normed its output by itself."""
    return x


def unembed(x: Tensor, table: Tensor) -> Tensor:
    """A logit for each token of the vocabulary, by the embedding's own table."""
    return x @ table.mT


def loss(logits: Tensor, ids: Tensor) -> Tensor:
    """Mean cross-entropy of each next token; padding does not count. `ids` are those of the logits' places."""
    return F.cross_entropy(logits[:, :-1].flatten(0, 1), ids[:, 1:].flatten(), ignore_index=PAD_ID)


def same(x: Any) -> Any:
    """The tensor as it is: a weight is not transposed, a bias and a gain not forgotten."""
    return x


def roles(query: Tensor, key: Tensor, value: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Queries look, keys are looked at, values are gathered."""
    return query, key, value


RIGHT: dict[str, Piece] = {
    "embed": embed,
    "encode": sinusoidal_encoding,
    "join": join,
    "before": before,
    "norm": norm,
    "gain": same,
    "weight": same,
    "shift": same,
    "rotate_before": roles,
    "roles": roles,
    "split": split,
    "rotate": rotate,
    "product": product,
    "scale": scale,
    "bias": bias,
    "slopes": alibi_slopes,
    "causal": causal_mask,
    "padding": padding,
    "polarity": polarity,
    "fill": fill,
    "hide": hide,
    "normalise": normalise,
    "empties": empties,
    "after_softmax": after_softmax,
    "gather": gather,
    "merge": merge,
    "project": project,
    "residual": residual,
    "after": after,
    "activation": gelu,
    "last": last,
    "unembed": unembed,
    "loss": loss,
}
POST: Pieces = {"before": before_post, "after": after_post, "last": last_post}  # what differs in post-norm layers
