"""A query to which the mask leaves no key: what attention gives it, in code that people write and use.

A softmax over nothing but -inf is 0 / 0. `TREATMENTS` lists ways to meet that, each run on one attention of a real
model (`Case`); `instead` puts the weights of one of them into all of its attentions, so that the whole model runs on.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor

from tfm_core.masks.basic import to_additive, to_ignore
from tfm_core.model.attention import MultiHeadAttention, for_each_head
from tfm_core.model.recording import Edit, recording
from tfm_core.model.torch_twin import as_torch
from tfm_core.positional.schemes import Positional

LARGE = -1e9  # stands for -inf in code that fears a NaN


@dataclass(frozen=True)
class Case:
    """One attention, and what it reads; a batch of one.

    Attributes:
        attention: the module.
        queries: (1, query, d_model), what queries are made from.
        keys: (1, key, d_model), what keys and values are made from; in self-attention `queries` itself.
        mask: boolean (query, key), True = may attend.
        positional: a scheme that acts inside the attention.
        query, key, value: (1, head, seq, head_dim), turned where the scheme turns them.
        bias: (head, query, key), what the scheme adds to the scores; None where it adds nothing.
        scores: (1, head, query, key), before the mask.
        output: (1, query, d_model), what our module makes of it all.
        weights: (1, head, query, key), likewise.
    """

    attention: MultiHeadAttention
    queries: Tensor
    keys: Tensor
    mask: Tensor
    positional: Positional | None
    query: Tensor
    key: Tensor
    value: Tensor
    bias: Tensor | None
    scores: Tensor
    output: Tensor
    weights: Tensor

    @classmethod
    def of(
        cls,
        attention: MultiHeadAttention,
        queries: Tensor,
        keys: Tensor,
        mask: Tensor,
        positional: Positional | None = None,
    ) -> "Case":
        """Run our module once, and keep what it went through."""
        with torch.no_grad(), recording() as trace:
            output = attention(queries, keys, mask=mask, positional=positional)
        # The names of sites begin with the path of the attention in its model, if it is in one.
        sites = {site.rpartition(".")[2]: tensor for site, tensor in trace.items()}
        query, key = (sites.get(f"rotated_{name}", sites[name]) for name in ("query", "key"))
        key, value = (for_each_head(x, attention.num_heads) for x in (key, sites["value"]))
        rest = (query, key, value, sites.get("position_bias"), sites["scores"], output, sites["weights"])
        return cls(attention, queries, keys, mask, positional, *rest)

    def gathered(self, heads: Tensor) -> Tensor:
        """What heads, (1, head, query, head_dim), come to after the output projection: (1, query, d_model)."""
        output: Tensor = self.attention.output_projection(heads.transpose(1, 2).flatten(2))
        return output


class Treated(NamedTuple):
    """What a treatment gave: output (1, query, d_model), and weights (1, head, query, key) if it hands them out."""

    output: Tensor
    weights: Tensor | None


def minus_infinity(masked_scores: Tensor) -> Tensor:
    """Softmax over what a mask of -inf has left, as the textbooks have it: weights (..., query, key)."""
    return masked_scores.softmax(dim=-1)


def minus_a_billion(masked_scores: Tensor) -> Tensor:
    """The same with -1e9 in the place of -inf: weights (..., query, key)."""
    return masked_scores.masked_fill(masked_scores == -math.inf, LARGE).softmax(dim=-1)


def minus_a_billion_in_half(masked_scores: Tensor) -> Tensor:
    """The same in float16, which ends at 65,504, so that -1e9 is -inf again: weights (..., query, key)."""
    return masked_scores.masked_fill(masked_scores == -math.inf, LARGE).half().softmax(dim=-1)


def _written(weights_of: Callable[[Tensor], Tensor]) -> Callable[[Case], Treated]:
    """The attention around another softmax."""

    def treat(case: Case) -> Treated:
        weights = weights_of(case.scores.masked_fill(~case.mask, -math.inf))
        return Treated(case.gathered(weights @ case.value), weights)

    return treat


def fused(case: Case) -> Treated:
    """torch's kernel with the boolean mask; a bias leaves it no choice but a float mask with -inf in it."""
    mask = case.mask if case.bias is None else case.bias + to_additive(case.mask, case.bias.dtype)
    return Treated(case.gathered(F.scaled_dot_product_attention(case.query, case.key, case.value, mask)), None)


def torch_module(case: Case, *, need_weights: bool, training: bool = False) -> Treated:
    """nn.MultiheadAttention with our weights; it knows no positions. In training mode nothing is dropped here."""
    twin = as_torch(case.attention).train(training)
    twin.dropout = 0.0
    # In self-attention, queries, keys and values are one tensor: only then may torch take its fast path.
    output, weights = twin(
        case.queries,
        case.keys,
        case.keys,
        attn_mask=to_ignore(case.mask),
        need_weights=need_weights,
        average_attn_weights=False,
    )
    return Treated(output, weights)


def module_with_weights(case: Case) -> Treated:
    """The module asked for its weights: they are computed step by step, by softmax over -inf."""
    return torch_module(case, need_weights=True)


def module_evaluating(case: Case) -> Treated:
    """The module without weights, in eval mode, without gradients: torch's fast path, where its conditions are met."""
    return torch_module(case, need_weights=False)


def module_training(case: Case) -> Treated:
    """The module without weights, in training mode: there it calls F.scaled_dot_product_attention."""
    return torch_module(case, need_weights=False, training=True)


def ours(case: Case) -> Treated:
    """`MultiHeadAttention` of tfm_core: a row that the mask empties gets zeros."""
    return Treated(case.output, case.weights)


@dataclass(frozen=True)
class Treatment:
    """An entry of `TREATMENTS`.

    Attributes:
        function: runs it.
        about: what it is, in a line.
        positions: whether a scheme that acts inside the attention has a place in it.
    """

    function: Callable[[Case], Treated]
    about: str
    positions: bool = True

    def run(self, case: Case) -> tuple[Treated, Case]:
        """What it gives, and the case that it can be compared in: without the scheme, if it has no place for it."""
        if not self.positions and case.positional is not None:
            case = Case.of(case.attention, case.queries, case.keys, case.mask)
        with torch.no_grad():
            return self.function(case), case


def instead(weights_of: Callable[[Tensor], Tensor], attention: str = "*.self_attention") -> dict[str, Edit]:
    """Edits for `recording` that replace our weights by others, such as those of `minus_infinity`.

    Args:
        weights_of: masked scores -> weights, both (batch, head, query, key).
        attention: the recording's name of the attentions that this is done in.
    """
    made: list[Tensor] = []

    def look(masked_scores: Tensor) -> Tensor:
        made.append(weights_of(masked_scores))
        return masked_scores

    return {f"{attention}.masked_scores": look, f"{attention}.weights": lambda weights: made.pop()}


TREATMENTS: dict[str, Treatment] = {
    "−∞ and softmax": Treatment(_written(minus_infinity), "scores.masked_fill(~mask, -inf).softmax(-1)"),
    "−1e9 and softmax": Treatment(_written(minus_a_billion), "scores.masked_fill(~mask, -1e9).softmax(-1)"),
    "F.sdpa": Treatment(fused, "F.scaled_dot_product_attention(query, key, value, mask)"),
    "nn.MHA, weights": Treatment(module_with_weights, "nn.MultiheadAttention, need_weights=True", positions=False),
    "nn.MHA, eval()": Treatment(
        module_evaluating, "nn.MultiheadAttention, need_weights=False, no gradients", positions=False
    ),
    "nn.MHA, train()": Treatment(module_training, "nn.MultiheadAttention, need_weights=False", positions=False),
    "ours": Treatment(ours, "MultiHeadAttention of tfm_core"),
}
