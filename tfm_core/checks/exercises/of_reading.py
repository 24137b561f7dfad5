"""Exercises of reading attention, and of computing it with less: contributions, rollout, logits, sums, tiles."""

import math
from collections.abc import Sequence

import torch
import torch.nn.functional as F
from torch import Generator, Tensor

from tfm_core.checks.exercises.beside import Beside, Call, Slip, randn
from tfm_core.checks.exercises.coding import Coding
from tfm_core.model import linear_attention as linear
from tfm_core.study.aggregates import attention_rollout
from tfm_core.study.contribution import contribution_norms


def contributions(weights: Tensor, value: Tensor, w_o: Tensor) -> Tensor:
    """How long each key's share of the output is, (query, key), by weights (query, key) and value (key, d_k).

    w_o (d_k, d_model) are the rows of W_O that this head is multiplied with.
    """
    # blank: what each key would write if it got all the weight, (key, d_model)
    written = value @ w_o
    # blank: the length of each of these vectors, (key)
    lengths: Tensor = torch.linalg.vector_norm(written, dim=-1)
    # blank: times the weight
    return weights * lengths


def rollout(layers: Sequence[Tensor]) -> Tensor:
    """How much of each input token reaches each place, (query, key), by weights (head, query, key) of each layer."""
    total = torch.eye(layers[0].shape[-1])
    for weights in layers:
        # blank: the mean over the heads, (query, key)
        mean = weights.mean(0)
        # blank: half of it, and half of the residual connection, in which each token keeps itself: an identity matrix
        mixed = (mean + torch.eye(len(mean))) / 2
        # blank: what this layer mixes, of what the layers before it have mixed
        total = mixed @ total
    return total


def score_parts(parts: Tensor, w_q: Tensor, w_k: Tensor) -> Tensor:
    """A score as a table, (part, part), of parts (part, d_model): the query's in rows, the key's in columns.

    A query is the sum of its parts, and so is a key: all numbers of the table together are the score. w_q and w_k are
    (d_k, d_model).
    """
    # blank: the query of each part, (part, d_k)
    query = parts @ w_q.mT
    # blank: the key of each part
    key = parts @ w_k.mT
    # blank: each part of the query with each part of the key, divided by √d_k
    return query @ key.mT / math.sqrt(len(w_q))


def logit_of_head(output: Tensor, unembedding: Tensor, token: int) -> Tensor:
    """How much a head's output (d_model) raises the logit of a token above the mean; unembedding (vocab, d_model)."""
    # blank: what it adds to the logit of every token, (vocab)
    added = unembedding @ output
    # blank: that of the token, less the mean of all: a softmax sees differences alone
    return added[token] - added.mean()


def linear_attention(query: Tensor, key: Tensor, value: Tensor) -> Tensor:
    """Attention without a matrix of pairs, (…, query, d_k): features φ(x) = elu(x) + 1 in place of the softmax."""
    query, key = F.elu(query) + 1, F.elu(key) + 1
    # blank: the sum over all keys of φ(key) times value, (…, d_k, d_k): no query is needed for it
    sums = key.mT @ value
    # blank: the sum over all keys of φ(key), (…, d_k, 1)
    total = key.sum(-2, keepdim=True).mT
    # blank: φ(query) times the sums, divided by φ(query) times the total
    return (query @ sums) / (query @ total)


def tiled_attention(query: Tensor, key: Tensor, value: Tensor, tile: int) -> Tensor:
    """What one query (d_k) gathers of keys and values (key, d_k), of which only a tile is read at a time."""
    largest, total = torch.tensor(-math.inf), torch.tensor(0.0)
    output = torch.zeros(value.shape[-1])
    for start in range(0, len(key), tile):
        scores = key[start : start + tile] @ query / math.sqrt(len(query))
        larger = torch.maximum(largest, scores.max())
        # blank: e to the power of each score, less the largest one so far
        powers = (scores - larger).exp()
        # blank: what was summed up so far was less an older maximum: by how much is it too large?
        correction = (largest - larger).exp()
        # blank: the sum of all powers so far
        total = total * correction + powers.sum()
        # blank: the sum of all powers times their values so far
        output = output * correction + powers @ value[start : start + tile]
        largest = larger
    return output / total


def _head(generator: Generator) -> list[Call]:
    return [(randn(generator, 5, 5).softmax(-1), randn(generator, 5, 4), randn(generator, 4, 6))]


def _layers(generator: Generator) -> list[Call]:
    return [([randn(generator, 2, 5, 5).softmax(-1) for _ in range(3)],)]


def _parts(generator: Generator) -> list[Call]:
    return [(randn(generator, 3, 6), randn(generator, 4, 6), randn(generator, 4, 6))]


def _table(parts: Tensor, w_q: Tensor, w_k: Tensor) -> Tensor:
    products: Tensor = torch.einsum("id,hd,he,je->ij", parts, w_q, w_k, parts)
    return products / math.sqrt(len(w_q))


def _one_query(generator: Generator) -> list[Call]:
    key, value = randn(generator, 10, 4) * 3, randn(generator, 10, 4)
    return [(randn(generator, 4), key, value, tile) for tile in (3, 10, 1)]


def _whole(query: Tensor, key: Tensor, value: Tensor, tile: int) -> Tensor:
    gathered: Tensor = F.scaled_dot_product_attention(query[None], key, value)[0]
    return gathered


def _not_corrected(query: Tensor, key: Tensor, value: Tensor, tile: int) -> Tensor:
    largest, total, output = torch.tensor(-math.inf), torch.tensor(0.0), torch.zeros(value.shape[-1])
    for start in range(0, len(key), tile):
        scores = key[start : start + tile] @ query / math.sqrt(len(query))
        largest = torch.maximum(largest, scores.max())
        powers = (scores - largest).exp()
        total = total + powers.sum()
        output = output + powers @ value[start : start + tile]
    return output / total


OF_READING = {
    "contributions": Coding(
        title="A weight is not a contribution",
        task="Write how long the vector is that each key adds to the output: weight times the length of v W_O.",
        solution=contributions,
        check=Beside(
            name="contributions",
            right=contribution_norms,
            calls=_head,
            slips=[
                Slip(
                    lambda weights, value, w_o: weights * value.norm(dim=-1),
                    "These are lengths of values: W_O can make them longer or shorter.",
                    "Multiply the values by W_O first.",
                ),
                Slip(
                    lambda weights, value, w_o: weights * (value @ w_o).norm(dim=-1)[:, None],
                    "The lengths stand at the queries: a row has them, not a column.",
                    "A key is a column: weights * lengths, without another axis.",
                ),
            ],
        ),
    ),
    "rollout": Coding(
        title="Rollout",
        task="Write attention rollout: mean over the heads, half for the residual connection, product over the layers.",
        solution=rollout,
        check=Beside(
            name="rollout",
            right=attention_rollout,
            calls=_layers,
            slips=[
                Slip(
                    lambda layers: torch.linalg.multi_dot([each.mean(0) for each in reversed(layers)]),
                    "The residual connection is missing: nothing of a token stays where it is.",
                    "Add an identity matrix to the mean, and take half.",
                ),
                Slip(
                    lambda layers: attention_rollout([*reversed(layers)]),
                    "The layers stand in the wrong order.",
                    "The later layer stands on the left: mixed @ total.",
                ),
            ],
        ),
    ),
    "score-parts": Coding(
        title="A score is a sum",
        task="Take a score apart: a number for each part of the query with each part of the key.",
        solution=score_parts,
        check=Beside(
            name="score_parts",
            right=_table,
            calls=_parts,
            mistakes={"no scale": lambda parts, w_q, w_k: _table(parts, w_q, w_k) * len(w_q) ** 0.5},
            slips=[
                Slip(
                    lambda parts, w_q, w_k: _table(parts, w_q, w_k).mT,
                    "Rows and columns are exchanged: the key’s parts stand in rows.",
                    "query @ key.mT has the query’s parts in rows.",
                )
            ],
        ),
    ),
    "head-logit": Coding(
        title="Which logit a head raises",
        task="Write how much a head’s output raises the logit of one token above the mean of all tokens.",
        solution=logit_of_head,
        check=Beside(
            name="logit_of_head",
            right=lambda output, table, token: (table[token] - table.mean(0)) @ output,
            calls=lambda g: [(randn(g, 6), randn(g, 9, 6), 4)],
            slips=[
                Slip(
                    lambda output, table, token: table[token] @ output,
                    "The mean of all tokens is not subtracted: what raises all logits alike changes no probability.",
                    "Subtract the mean over the vocabulary.",
                )
            ],
        ),
    ),
    "linear-attention": Coding(
        title="Sums in place of a matrix",
        task="Write linear attention without a causal mask: sum up keys and values first, then ask with each query.",
        solution=linear_attention,
        check=Beside(
            name="linear_attention",
            right=linear.linear_attention,
            calls=lambda g: [tuple(randn(g, 2, 3, 5, 4) for _ in range(3))],
            slips=[
                Slip(
                    lambda query, key, value: linear.features(query) @ (linear.features(key).mT @ value),
                    "Nothing is divided: the weights of a query do not sum to 1.",
                    "Divide by φ(query) times the sum of φ(key).",
                )
            ],
        ),
    ),
    "tiled-attention": Coding(
        title="Tile by tile",
        task="Write the step of a fused kernel: a tile’s scores come in, and sums of earlier tiles are corrected.",
        solution=tiled_attention,
        check=Beside(
            name="tiled_attention",
            right=_whole,
            calls=_one_query,
            slips=[
                Slip(
                    _not_corrected,
                    "The sums of earlier tiles are not corrected when a larger score comes.",
                    "Multiply them by e to the power of (old maximum − new maximum).",
                )
            ],
        ),
    ),
}
