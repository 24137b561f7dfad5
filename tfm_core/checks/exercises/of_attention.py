"""Exercises of attention: from one projection to several heads. Axes as in `tfm_core.study.pieces`."""

import math

import torch
import torch.nn.functional as F
from torch import Generator, Tensor, nn

from tfm_core.checks.exercises.beside import Beside, Call, Function, Slip, of_piece, randn
from tfm_core.checks.exercises.coding import Coding
from tfm_core.checks.exercises.fixed import Fixed
from tfm_core.study import pieces


def project(x: Tensor, weight: Tensor, shift: Tensor) -> Tensor:
    """Queries, keys or values: x (batch, seq, d_model), weight (out, d_model), shift (out) -> (batch, seq, out)."""
    # blank: each row of x times the matrix, which is stored as (out, d_model), as nn.Linear stores it
    projected = x @ weight.mT
    # blank: the bias is added to each row
    return projected + shift


def scores(query: Tensor, key: Tensor) -> Tensor:
    """The scaled scores, (…, query, key), of queries (…, query, d_k) and keys (…, key, d_k)."""
    # blank: the dot product of each query with each key
    products = query @ key.mT
    # blank: divided by the root of the width of a head
    return products / math.sqrt(query.shape[-1])


def softmax(scores: Tensor) -> Tensor:
    """The weights of scores (batch, head, query, key): each row sums to 1. No ready-made softmax is used."""
    # blank: e to the power of each score, after the largest score of its row is subtracted, so that nothing overflows
    powers = (scores - scores.amax(-1, keepdim=True)).exp()
    # blank: divided by the sum of its row
    return powers / powers.sum(-1, keepdim=True)


def softmax_gradient(weights: Tensor) -> Tensor:
    """How much each weight moves with each score, (key, key), of a softmax whose weights are (key)."""
    # blank: a weight with its own score: w(1 − w), on the diagonal of a matrix
    with_itself = torch.diag(weights * (1 - weights))
    # blank: a weight with another score: −w_i w_j, as a matrix whose diagonal is 0
    with_others = torch.diag(weights**2) - torch.outer(weights, weights)
    return with_itself + with_others


def blend(weights: Tensor, value: Tensor) -> Tensor:
    """What each query gathers, (…, query, d_k), by weights (…, query, key) of values (…, key, d_k)."""
    # blank: the sum of the values, each times its weight
    return weights @ value


def attention(query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None = None) -> Tensor:
    """softmax(q · k / √d_k) · v, (batch, head, query, d_k). In the mask, True = may attend."""
    # blank: each query with each key, divided by √d_k
    scores = query @ key.mT / math.sqrt(query.shape[-1])
    if mask is not None:
        # blank: −∞ where a pair may not attend
        scores = scores.masked_fill(~mask, -math.inf)
    # blank: softmax over the keys
    weights = scores.softmax(-1)
    # blank: the values, blended by the weights
    return weights @ value


def split_heads(x: Tensor, num_heads: int) -> Tensor:
    """Heads: (batch, seq, d_model) -> (batch, head, seq, d_k); a head gets neighbouring dimensions."""
    # blank: the last axis as two, (batch, seq, head, d_k)
    apart = x.reshape(*x.shape[:2], num_heads, -1)
    # blank: the heads before the tokens
    return apart.transpose(1, 2)


def merge_heads(heads: Tensor) -> Tensor:
    """The heads side by side: (batch, head, seq, d_k) -> (batch, seq, d_model), the inverse of splitting."""
    # blank: the tokens before the heads, then the last two axes as one
    return heads.transpose(1, 2).flatten(2)


class MultiHeadAttention(nn.Module):
    """Self-attention with several heads: x (batch, seq, d_model) -> the same shape. In the mask, True = may attend."""

    def __init__(self, d_model: int, num_heads: int) -> None:
        super().__init__()
        self.num_heads = num_heads
        self.w_q = nn.Linear(d_model, d_model)
        self.w_k = nn.Linear(d_model, d_model)
        self.w_v = nn.Linear(d_model, d_model)
        self.w_o = nn.Linear(d_model, d_model)

    def forward(self, x: Tensor, mask: Tensor | None = None) -> Tensor:
        # blank: queries, keys and values of all heads, three tensors (batch, seq, d_model)
        projected = self.w_q(x), self.w_k(x), self.w_v(x)
        # blank: each of the three as (batch, head, seq, d_k)
        query, key, value = (each.unflatten(-1, (self.num_heads, -1)).transpose(1, 2) for each in projected)
        # blank: the scores of each head, divided by √d_k
        scores = query @ key.mT / math.sqrt(query.shape[-1])
        if mask is not None:
            scores = scores.masked_fill(~mask, -math.inf)
        # blank: what each head gathers: the weights times the values
        gathered = scores.softmax(-1) @ value
        # blank: the heads side by side again, and then W_O
        mixed: Tensor = self.w_o(gathered.transpose(1, 2).flatten(2))
        return mixed


def silence_head(heads: Tensor, head: int) -> Tensor:
    """The outputs of all heads, (batch, head, seq, d_k), with zeros in place of one head's."""
    silenced = heads.clone()
    # blank: zeros in place of this head's output, for all sentences and tokens
    silenced[:, head] = 0.0
    return silenced


def share_keys(key: Tensor, num_heads: int) -> Tensor:
    """Keys for all heads, (batch, head, seq, d_k), of fewer, (batch, group, seq, d_k): a group of neighbours shares."""
    # blank: how many heads share a key
    sharing = num_heads // key.shape[1]
    # blank: each key once for each head of its group, the heads of a group side by side
    return key.repeat_interleave(sharing, dim=1)


def _pairs(generator: Generator) -> list[Call]:
    return [(randn(generator, 2, 3, 5, 4), randn(generator, 2, 3, 5, 4))]


def _heads(generator: Generator) -> list[Call]:
    query, key, value = (randn(generator, 2, 3, 5, 4) for _ in range(3))
    return [(query, key, value), (query, key, value, torch.ones(5, 5, dtype=torch.bool).tril())]


def _streams(generator: Generator) -> list[Call]:
    x = randn(generator, 2, 5, 12)
    return [(x,), (x, torch.ones(5, 5, dtype=torch.bool).tril())]


def _scores(generator: Generator) -> list[Call]:
    rows = randn(generator, 2, 3, 5, 5)
    hidden = torch.ones(5, 5, dtype=torch.bool).tril()
    return [(rows,), (rows * 100 + 1000,), (rows.masked_fill(~hidden, -math.inf),)]


def _of_weights(generator: Generator) -> list[Call]:
    return [(randn(generator, 6).softmax(-1),), (torch.tensor([0.5, 0.5]),)]


def _jacobian(weights: Tensor) -> Tensor:
    """The gradient by autograd."""
    moved: Tensor = torch.func.jacrev(lambda scores: scores.softmax(-1))(weights.log())
    return moved


def _unscaled(query: Tensor, key: Tensor) -> Tensor:
    return query @ key.mT


def _summed_over(axis: int) -> Function:
    """The powers, less the largest score of their row, divided by their sum over another axis."""

    def wrong(scores: Tensor) -> Tensor:
        powers = (scores - scores.amax(-1, keepdim=True)).exp()
        return powers / powers.sum(axis, keepdim=True)

    return wrong


CURE = "The keys are the last axis: powers.sum(-1, keepdim=True)."
SCALES = ("no scale", "scale by d_k without the root", "scaled twice", "multiplied by √d_k")
SCALED = {
    name: lambda query, key, wrong=wrong: wrong(query @ key.mT, query.shape[-1], 2 * query.shape[-1])
    for name, wrong in of_piece("scale").items()
    if name in SCALES
}
OF_ATTENTION = {
    "projection": Coding(
        title="Queries from a matrix",
        task="Write the projection that makes queries, keys or values of the rows of x: a matrix, and a bias.",
        solution=project,
        check=Beside(
            name="project",
            right=F.linear,
            calls=lambda g: [(randn(g, 2, 5, 6), randn(g, 6, 6), randn(g, 6))],
            mistakes={
                "weights transposed": lambda x, weight, shift: x @ weight + shift,
                "bias forgotten": lambda x, weight, shift: x @ weight.mT,
            },
        ),
    ),
    "scores": Coding(
        title="Scores, scaled",
        task="Write the scores: the dot product of each query with each key, divided by √d_k.",
        solution=scores,
        check=Beside(
            name="scores",
            right=lambda query, key: pieces.scale(query @ key.mT, query.shape[-1], 0),
            calls=_pairs,
            mistakes={
                **SCALED,
                **of_piece("product", lambda wrong: lambda query, key: wrong(query, key) / math.sqrt(query.shape[-1])),
                "queries and keys exchanged": lambda query, key: key @ query.mT / math.sqrt(query.shape[-1]),
            },
        ),
    ),
    "softmax": Coding(
        title="Softmax, by hand",
        task="Write the softmax over the keys without calling one. Scores of 1,000 must not give NaN.",
        solution=softmax,
        check=Beside(
            name="softmax",
            right=pieces.normalise,
            calls=_scores,
            mistakes=of_piece("normalise"),
            slips=[
                Slip(
                    lambda scores: scores.exp() / scores.exp().sum(-1, keepdim=True),
                    "It is right for small scores: with scores of about 1,000 the powers are ∞, and ∞ / ∞ is NaN.",
                    "Subtract the largest score of each row first: scores.amax(-1, keepdim=True).",
                ),
                Slip(
                    lambda scores: (scores - scores.amax(-1, keepdim=True)).exp() / scores.exp().sum(-1, keepdim=True),
                    "The largest score is subtracted in the powers and not in their sum.",
                    "Sum up the same powers that are divided.",
                ),
                *(
                    Slip(_summed_over(axis), f"The sum runs over {what}: it is not the rows that sum to 1.", CURE)
                    for axis, what in ((-2, "the queries"), (1, "the heads"), (0, "the sentences"))
                ),
            ],
        ),
    ),
    "softmax-gradient": Coding(
        title="The gradient of a softmax",
        task="Write the matrix of gradients: how much weight i moves if score j moves.",
        solution=softmax_gradient,
        check=Beside(
            name="softmax_gradient",
            right=_jacobian,
            calls=_of_weights,
            slips=[
                Slip(
                    lambda weights: torch.diag(weights * (1 - weights)),
                    "Only the diagonal is there: a weight moves with the scores of others, too.",
                    "Beside the diagonal stands −w_i w_j: all weights of a row sum to 1.",
                ),
                Slip(
                    lambda weights: torch.diag(weights * (1 - weights)) - torch.outer(weights, weights),
                    "On the diagonal w² is subtracted twice.",
                    "w(1 − w) has subtracted w² already: there the second matrix is 0.",
                ),
                Slip(
                    lambda weights: torch.diag(weights * (1 - weights) - weights**2) + torch.outer(weights, weights),
                    "Beside the diagonal the sign is wrong: if another score rises, a weight falls.",
                    "Beside the diagonal stands −w_i w_j.",
                ),
            ],
        ),
    ),
    "blend": Coding(
        title="Blend the values",
        task="Write what a head gives to each query: the sum of all values, each times its weight.",
        solution=blend,
        check=Beside(
            name="blend",
            right=lambda weights, value: torch.einsum("...qk,...kd->...qd", weights, value),
            calls=lambda g: [(randn(g, 2, 5, 5).softmax(-1), randn(g, 2, 5, 4))],
            slips=[
                Slip(
                    lambda weights, value: weights.mT @ value,
                    "The weights of a column are used in place of those of a row.",
                    "A row of weights belongs to a query: weights @ value, without a transpose.",
                )
            ],
        ),
    ),
    "attention": Coding(
        title="Attention, whole",
        task="Write softmax(q · k / √d_k) · v with a mask, in which True means: may attend.",
        solution=attention,
        check="check_attention",
        fixed=Fixed(
            asks="The task asks for a function attention(query, key, value, mask) of tensors (batch, head, seq, d_k) "
            "that returns the output alone; the mask is boolean, True = may attend.",
            calls=_heads,
        ),
    ),
    "split-heads": Coding(
        title="One tensor becomes heads",
        task="Cut the width into heads: each gets neighbouring dimensions of every token.",
        solution=split_heads,
        check=Beside(
            name="split_heads",
            right=pieces.split,
            calls=lambda g: [(randn(g, 2, 5, 12), 3), (randn(g, 2, 3, 9), 3)],
            mistakes=of_piece("split"),
            slips=[
                Slip(
                    lambda x, num_heads: x.reshape(*x.shape[:2], num_heads, -1),
                    "The tokens stand before the heads.",
                    "Exchange these axes: .transpose(1, 2).",
                )
            ],
        ),
    ),
    "merge-heads": Coding(
        title="Heads side by side",
        task="Put the outputs of the heads side by side, so that W_O can mix them.",
        solution=merge_heads,
        check=Beside(
            name="merge_heads",
            right=pieces.merge,
            calls=lambda g: [(randn(g, 2, 3, 5, 4),), (randn(g, 2, 3, 3, 4),)],
            mistakes=of_piece("merge"),
        ),
    ),
    "multi-head-attention": Coding(
        title="Several heads",
        task="Write the pass of a self-attention with several heads: projections, heads, scores, weights, W_O.",
        solution=MultiHeadAttention,
        check="check_multi_head_attention",
        fixed=Fixed(
            asks="The task asks for a pass of x (batch, seq, d_model) and a boolean mask, True = may attend, that "
            "returns the output alone, with the modules of __init__ as they are.",
            calls=_streams,
            sizes={"d_model": 12, "num_heads": 3},
        ),
    ),
    "silence-head": Coding(
        title="Silence a head",
        task="Put zeros in place of what one head gathers, before W_O, and leave the others as they are.",
        solution=silence_head,
        check=Beside(
            name="silence_head",
            right=lambda heads, head: heads * (torch.arange(heads.shape[1]) != head)[:, None, None],
            calls=lambda g: [(randn(g, 2, 4, 4, 4), 1), (randn(g, 2, 4, 4, 4), 3)],
            slips=[
                Slip(
                    lambda heads, head: heads * (torch.arange(heads.shape[0]) != head)[:, None, None, None],
                    "A sentence is silenced, not a head: the first axis is the batch.",
                    "The heads are the second axis: silenced[:, head].",
                ),
                Slip(
                    lambda heads, head: heads * (torch.arange(heads.shape[2]) != head)[:, None],
                    "A token is silenced in all heads: the third axis are the tokens.",
                    "The heads are the second axis: silenced[:, head].",
                ),
            ],
        ),
    ),
    "shared-keys": Coding(
        title="Heads that share keys",
        task="Give each head the key of its group: with 2 keys for 6 heads, the first three heads share the first.",
        solution=share_keys,
        check=Beside(
            name="share_keys",
            right=lambda key, num_heads: key[:, torch.arange(num_heads) * key.shape[1] // num_heads],
            calls=lambda g: [(randn(g, 2, 2, 5, 4), 6), (randn(g, 2, 3, 5, 4), 3)],
            slips=[
                Slip(
                    lambda key, num_heads: key.repeat(1, num_heads // key.shape[1], 1, 1),
                    "The keys take turns: head 1 has the first, head 2 the second, and so on.",
                    "repeat puts whole copies in a row; repeat_interleave puts the copies of a key together.",
                )
            ],
        ),
    ),
}
