"""Mistakes inside attention: projections, heads, scores, softmax."""

import math

import torch
from torch import Tensor

from tfm_core.study.exercise import Exercise
from tfm_core.study.mistake import Mistake

EQUATION = "Vaswani et al. 2017, equation 1"
MULTI_HEAD = "Vaswani et al. 2017, section 3.2.2"
DROPPED = 0.1


def has_heads(exercise: Exercise) -> bool:
    """More heads than a single one."""
    return exercise.num_heads > 1


def is_wide(exercise: Exercise) -> bool:
    """A head has more dimensions than a single one, whose root is itself, and which is its own transpose."""
    return exercise.head_dim > 1


def no_cache(exercise: Exercise) -> bool:
    """There is a query for every key."""
    return exercise.cached == 0


# projections


def transposed(weight: Tensor) -> Tensor:
    """x @ W, of a weight that nn.Linear has stored as (out, in)."""
    return weight.mT


def forgotten(shift: Tensor) -> Tensor:
    """No bias is added."""
    return torch.zeros_like(shift)


def not_projected(merged: Tensor, weight: Tensor, shift: Tensor) -> Tensor:
    """The heads side by side are the output."""
    return merged


def queries_and_keys_exchanged(query: Tensor, key: Tensor, value: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Keys look, queries are looked at."""
    return key, query, value


def value_from_query(query: Tensor, key: Tensor, value: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Queries are gathered."""
    return query, key, query


def value_from_key(query: Tensor, key: Tensor, value: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Keys are gathered."""
    return query, key, key


def key_from_query(query: Tensor, key: Tensor, value: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Queries match queries."""
    return query, query, value


# heads


def split_without_transpose(x: Tensor, heads: int) -> Tensor:
    """view(batch, head, seq, head_dim) of (batch, seq, d_model)."""
    batch, seq, width = x.shape
    return x.reshape(batch, heads, seq, width // heads)


def split_interleaved(x: Tensor, heads: int) -> Tensor:
    """view(batch, seq, head_dim, head): a head gets every num_heads-th dimension."""
    return x.reshape(*x.shape[:2], -1, heads).permute(0, 3, 1, 2)


def merged_without_transpose(heads: Tensor) -> Tensor:
    """view(batch, seq, d_model) of (batch, head, seq, head_dim)."""
    batch, number, seq, width = heads.shape
    return heads.reshape(batch, seq, number * width)


def merged_interleaved(heads: Tensor) -> Tensor:
    """(batch, seq, head_dim, head) made flat."""
    return heads.permute(0, 2, 3, 1).flatten(2)


def heads_added(heads: Tensor) -> Tensor:
    """The heads' mean, repeated, in place of the heads side by side."""
    return heads.mean(1).repeat(1, 1, heads.shape[1])


# scores


def viewed_not_transposed(query: Tensor, key: Tensor) -> Tensor:
    """k.view(head_dim, seq) where k.transpose was meant."""
    return query @ key.reshape(*key.shape[:-2], key.shape[-1], key.shape[-2])


def not_divided(products: Tensor, head_dim: int, d_model: int) -> Tensor:
    """The dot products as they are."""
    return products


def by_sqrt_d_model(products: Tensor, head_dim: int, d_model: int) -> Tensor:
    """The root of the whole width."""
    return products / math.sqrt(d_model)


def by_head_dim(products: Tensor, head_dim: int, d_model: int) -> Tensor:
    """The root is missing."""
    return products / head_dim


def by_d_model(products: Tensor, head_dim: int, d_model: int) -> Tensor:
    """The whole width, without a root."""
    return products / d_model


def divided_twice(products: Tensor, head_dim: int, d_model: int) -> Tensor:
    """Queries are scaled, and so are the scores."""
    return products / math.sqrt(head_dim) / math.sqrt(head_dim)


def times_sqrt(products: Tensor, head_dim: int, d_model: int) -> Tensor:
    """Multiplied where divided was meant."""
    return products * math.sqrt(head_dim)


# softmax


def over_queries(masked: Tensor) -> Tensor:
    """Columns sum to 1."""
    return masked.softmax(-2)


def over_heads(masked: Tensor) -> Tensor:
    """The heads of a pair sum to 1."""
    return masked.softmax(1)


def over_batch(masked: Tensor) -> Tensor:
    """The sentences of a pair sum to 1."""
    return masked.softmax(0)


def no_softmax(masked: Tensor) -> Tensor:
    """The scores are taken for weights, hidden ones for 0."""
    return masked.masked_fill(masked <= -1e8, 0.0)


def exponent_alone(masked: Tensor) -> Tensor:
    """Not divided by the row's sum."""
    return masked.exp()


def averaged(weights: Tensor, mask: Tensor) -> Tensor:
    """The heads' mean, as nn.MultiheadAttention returns weights unless told not to."""
    return weights.mean(1, keepdim=True)


def dropped(weights: Tensor, mask: Tensor) -> Tensor:
    """Dropout, as in training."""
    generator = torch.Generator().manual_seed(int(weights.numel()))
    kept = torch.rand(weights.shape, generator=generator) >= DROPPED
    return weights * kept / (1 - DROPPED)


def tells_dropout(right: Tensor, result: Tensor) -> str:
    """Weights that are 0 where they should not be, and all others too large by the same factor."""
    if right.shape != result.shape or not bool(result.isfinite().all()):
        return ""
    large = right.abs() > 1e-3  # others are rounded away
    lost = large & (result == 0)
    kept = large & ~lost
    if not bool(lost.any() and kept.any()):
        return ""
    factors = (result / right)[kept]
    factor = float(factors.median())
    if factor <= 1.001 or not bool(((factors - factor).abs() < 1e-3 * factor).all()):
        return ""
    return f"{int(lost.sum())} weights are 0, all others are multiplied by {factor:.3g}: p = {1 - 1 / factor:.2g}"


ATTENTION: dict[str, Mistake] = {
    "weights transposed": Mistake(
        about="projections",
        wrong={"weight": transposed},
        right_is="x @ W.T + b, of an nn.Linear’s weight (out, in)",
        wrong_is="x @ W + b",
        symptom="No error where W is square. Trained from scratch nothing is wrong; loaded weights give nonsense.",
        cure="F.linear(x, W, b), or x @ W.T; GPT-2’s Conv1D stores (in, out), nn.Linear (out, in).",
        source="torch.nn.Linear",
    ),
    "bias forgotten": Mistake(
        about="projections",
        wrong={"shift": forgotten},
        right_is="x @ W.T + b",
        wrong_is="x @ W.T",
        symptom="Loaded weights give outputs that are off by a constant in each dimension.",
        cure="nn.Linear(d_model, d_model) with its bias, which is loaded, too.",
        source="torch.nn.Linear",
    ),
    "W_O missing": Mistake(
        about="projections",
        wrong={"project": not_projected},
        right_is="concat(heads) @ W_O.T + b_O",
        wrong_is="concat(heads)",
        symptom="Heads cannot mix: each writes to its own slice of the residual stream alone. It trains, but worse.",
        cure="Apply the output projection after the heads are merged.",
        source=MULTI_HEAD,
    ),
    "queries and keys exchanged": Mistake(
        about="projections",
        wrong={"roles": queries_and_keys_exchanged},
        right_is="q · k: the row’s query with the column’s key",
        wrong_is="k · q: the row’s key with the column’s query",
        symptom="Trained from scratch self-attention nothing is wrong; loaded weights look from the wrong side.",
        cure="Check the order of arguments: attention(query, key, value).",
        source=EQUATION,
    ),
    "values from the queries": Mistake(
        about="projections",
        wrong={"roles": value_from_query},
        right_is="values = x @ W_V.T + b_V",
        wrong_is="values = the queries",
        symptom="Weights are right and outputs are not. It trains, but W_V never gets a gradient.",
        cure="value = self.value(x): look for a name that was copied.",
        source=EQUATION,
    ),
    "values from the keys": Mistake(
        about="projections",
        wrong={"roles": value_from_key},
        right_is="values = x @ W_V.T + b_V",
        wrong_is="values = the keys",
        symptom="Weights are right and outputs are not. It trains, but W_V never gets a gradient.",
        cure="value = self.value(x): look for a name that was copied.",
        source=EQUATION,
    ),
    "keys from the queries": Mistake(
        about="projections",
        wrong={"roles": key_from_query},
        right_is="keys = x @ W_K.T + b_K",
        wrong_is="keys = the queries",
        symptom="Scores are symmetric, and largest on the diagonal: tokens look at themselves. W_K gets no gradient.",
        cure="key = self.key(x): look for a name that was copied.",
        source=EQUATION,
    ),
    "heads split without transpose": Mistake(
        about="heads",
        wrong={"split": split_without_transpose},
        right_is="view(batch, seq, head, d_k).transpose(1, 2)",
        wrong_is="view(batch, head, seq, d_k)",
        symptom="Shapes fit, and a head’s tokens are pieces of other tokens: a causal mask leaks. It trains, badly.",
        cure="x.view(batch, seq, heads, d_k).transpose(1, 2).",
        source=MULTI_HEAD,
        needs=has_heads,
    ),
    "heads interleaved": Mistake(
        about="heads",
        wrong={"split": split_interleaved},
        right_is="head h has dimensions h·d_k to (h + 1)·d_k − 1",
        wrong_is="head h has dimensions h, h + heads, h + 2·heads, …",
        symptom="Trained from scratch nothing is wrong; loaded weights give nonsense.",
        cure="view(batch, seq, heads, d_k): heads before d_k.",
        source=MULTI_HEAD,
        needs=lambda exercise: 1 < exercise.num_heads < exercise.d_model,
    ),
    "heads merged without transpose": Mistake(
        about="heads",
        wrong={"merge": merged_without_transpose},
        right_is="transpose(1, 2), then reshape(batch, seq, d_model)",
        wrong_is="reshape(batch, seq, d_model) of (batch, head, seq, d_k)",
        symptom="Weights and heads are right, outputs are mixed across tokens: a causal mask leaks.",
        cure="heads.transpose(1, 2).reshape(batch, seq, d_model).",
        source=MULTI_HEAD,
        needs=lambda exercise: has_heads(exercise) and exercise.queries > 1,
    ),
    "heads merged interleaved": Mistake(
        about="heads",
        wrong={"merge": merged_interleaved},
        right_is="head 1’s d_k numbers, then head 2’s, …",
        wrong_is="each head’s first number, then each head’s second, …",
        symptom="Trained from scratch nothing is wrong; loaded weights give nonsense.",
        cure="heads.transpose(1, 2).reshape(batch, seq, d_model): the head’s axis stands before d_k.",
        source=MULTI_HEAD,
        needs=lambda exercise: 1 < exercise.num_heads < exercise.d_model,
    ),
    "heads averaged": Mistake(
        about="heads",
        wrong={"merge": heads_added},
        right_is="concat(heads)",
        wrong_is="the mean of the heads, repeated",
        symptom="Heads cannot say different things: several heads are no better than a single head.",
        cure="Put the heads side by side: torch.cat(heads, dim=-1).",
        source=MULTI_HEAD,
        needs=has_heads,
    ),
    "keys viewed, not transposed": Mistake(
        about="scores",
        wrong={"product": viewed_not_transposed},
        right_is="q @ k.transpose(−2, −1)",
        wrong_is="q @ k.view(…, d_k, seq)",
        symptom="Shapes fit, and scores mix dimensions of different keys. It trains, badly.",
        cure="k.transpose(-2, -1), or k.mT: view changes how numbers are counted, not where axes stand.",
        source=EQUATION,
        needs=is_wide,
    ),
    "no scale": Mistake(
        about="scores",
        wrong={"scale": not_divided},
        right_is="q · k / √d_k",
        wrong_is="q · k",
        symptom="Weights are nearly 0 and 1, gradients vanish: wide heads hardly learn.",
        cure="scores = q @ k.mT / math.sqrt(q.size(-1)).",
        source=EQUATION,
        needs=is_wide,
    ),
    "scale by √d_model": Mistake(
        about="scores",
        wrong={"scale": by_sqrt_d_model},
        right_is="q · k / √d_k",
        wrong_is="q · k / √d_model",
        symptom="Weights are flatter than meant, by √num_heads in the scores; loaded weights look too widely.",
        cure="Divide by the width of a head, d_k = d_model / num_heads.",
        source=EQUATION,
        needs=has_heads,
    ),
    "scale by d_k without the root": Mistake(
        about="scores",
        wrong={"scale": by_head_dim},
        right_is="q · k / √d_k",
        wrong_is="q · k / d_k",
        symptom="Weights are nearly equal: every token is a mean of all, and training is slow.",
        cure="scores = q @ k.mT / math.sqrt(d_k).",
        source=EQUATION,
        needs=is_wide,
    ),
    "scale by d_model without the root": Mistake(
        about="scores",
        wrong={"scale": by_d_model},
        right_is="q · k / √d_k",
        wrong_is="q · k / d_model",
        symptom="Weights are nearly equal: every token is a mean of all, and training is slow.",
        cure="scores = q @ k.mT / math.sqrt(d_k).",
        source=EQUATION,
    ),
    "scaled twice": Mistake(
        about="scores",
        wrong={"scale": divided_twice},
        right_is="q · k / √d_k",
        wrong_is="(q / √d_k) · k / √d_k",
        symptom="Weights are nearly equal: every token is a mean of all, and training is slow.",
        cure="F.scaled_dot_product_attention divides by itself: hand over unscaled queries.",
        source=EQUATION,
        needs=is_wide,
    ),
    "multiplied by √d_k": Mistake(
        about="scores",
        wrong={"scale": times_sqrt},
        right_is="q · k / √d_k",
        wrong_is="q · k × √d_k",
        symptom="Weights are 0 and 1 from the start, gradients vanish.",
        cure="Divide: scores = q @ k.mT / math.sqrt(d_k), or multiply by d_k ** -0.5.",
        source=EQUATION,
        needs=is_wide,
    ),
    "softmax over the queries": Mistake(
        about="softmax",
        wrong={"normalise": over_queries},
        right_is="softmax(scores, dim=−1): rows sum to 1",
        wrong_is="softmax(scores, dim=−2): columns sum to 1",
        symptom="A causal model leaks: a query’s weights depend on later queries. The first key gets its sum from all.",
        cure="softmax(dim=-1), along the keys.",
        source=EQUATION,
    ),
    "softmax over the heads": Mistake(
        about="softmax",
        wrong={"normalise": over_heads},
        right_is="softmax(scores, dim=−1): rows sum to 1",
        wrong_is="softmax(scores, dim=1): the heads of a pair sum to 1",
        symptom="Rows sum to anything; with a single head all weights are 1. Masked pairs become NaN under −∞.",
        cure="softmax(dim=-1), along the keys; dim=1 was right for scores without a head axis.",
        source=EQUATION,
    ),
    "softmax over the batch": Mistake(
        about="softmax",
        wrong={"normalise": over_batch},
        right_is="softmax(scores, dim=−1): rows sum to 1",
        wrong_is="softmax(scores, dim=0): the sentences of a pair sum to 1",
        symptom="A sentence’s weights depend on the others of its batch; alone in a batch, all weights are 1.",
        cure="softmax(dim=-1), along the keys.",
        source=EQUATION,
    ),
    "no softmax": Mistake(
        about="softmax",
        wrong={"normalise": no_softmax},
        right_is="softmax(scores)",
        wrong_is="the scores themselves, 0 where hidden",
        symptom="Weights are negative and unbounded: outputs grow with the length of the text.",
        cure="weights = scores.softmax(dim=-1).",
        source=EQUATION,
    ),
    "softmax without its sum": Mistake(
        about="softmax",
        wrong={"normalise": exponent_alone},
        right_is="e^score / the row’s sum",
        wrong_is="e^score",
        symptom="Outputs grow with the length of the text, and overflow for scores above 88 in float32.",
        cure="weights = scores.softmax(dim=-1), which also subtracts the maximum.",
        source=EQUATION,
    ),
    "weights averaged over heads": Mistake(
        about="softmax",
        wrong={"after_softmax": averaged},
        right_is="(batch, head, query, key)",
        wrong_is="(batch, query, key), the heads’ mean",
        symptom="Pictures of heads all look alike: nn.MultiheadAttention returns the mean.",
        cure="attention(x, x, x, need_weights=True, average_attn_weights=False).",
        source="torch.nn.MultiheadAttention, average_attn_weights",
        needs=has_heads,
    ),
    "dropout active": Mistake(
        about="softmax",
        wrong={"after_softmax": dropped},
        right_is="the weights as they are, outside of training",
        wrong_is="some weights are 0, the others larger",
        symptom="Two passes of the same text differ; rows of weights do not sum to 1.",
        cure="model.eval(), and dropout_p=0.0 in F.scaled_dot_product_attention, which has no eval mode.",
        source="torch.nn.Dropout",
        recognise=tells_dropout,
    ),
}
