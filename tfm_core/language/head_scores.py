"""What heads do on random tokens that come twice: the two jobs of which induction is made.

Random tokens, so that no knowledge of language helps, and then the same tokens once more. A head that looks at the
previous token, and in a later layer a head that looks at what followed the last time: together they copy. Elhage et al.
2021, "A Mathematical Framework for Transformer Circuits"; Olsson et al. 2022, "In-context Learning and Induction
Heads", who call the second score prefix matching.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor

from tfm_core.model.initialization import generator
from tfm_core.model.recording import recording
from tfm_core.model.transformer import Transformer

LENGTH = 50  # tokens that are repeated
BATCH = 16


@dataclass(frozen=True)
class HeadScores:
    """Scores of all heads, and what copying does for the loss.

    Attributes:
        previous: float32 (layer, head), the mean weight on the previous token.
        induction: float32 (layer, head), the mean weight of the second half on the token after the same token's first
            occurrence.
        first_loss, second_loss: nats per token in the first half, where nothing can be known, and in the second.
    """

    previous: Tensor
    induction: Tensor
    first_loss: float
    second_loss: float

    def best(self, scores: Tensor) -> tuple[int, int]:
        """Layer and head, from 0, of the largest score."""
        at = int(scores.argmax())
        return at // scores.shape[1], at % scores.shape[1]


def repeated_tokens(vocab_size: int, *, first_id: int, seed: int = 0) -> Tensor:
    """Random tokens and the same once more, int64 (batch, 2 LENGTH)."""
    random = generator(seed, "repeated random tokens")
    once = torch.randint(first_id, vocab_size, (BATCH, LENGTH), generator=random)
    return torch.cat([once, once], 1)


def previous_token_scores(weights: Tensor) -> Tensor:
    """Attention weights (batch, head, query, key) -> the mean weight on the token before the query, (head)."""
    return weights.diagonal(-1, -2, -1).mean((0, -1))


def induction_scores(weights: Tensor, period: int) -> Tensor:
    """The same of tokens that repeat after `period`: the mean weight on the token after the first occurrence, (head).

    The query at `period + i` holds the token of place i: the head looks at place i + 1.
    """
    return weights.diagonal(1 - period, -2, -1)[..., 1:].mean((0, -1))


@torch.no_grad()
def head_scores(model: Transformer, *, first_id: int, seed: int = 0) -> HeadScores:
    """The scores of a decoder's heads.

    Args:
        model: in evaluation mode.
        first_id: the lowest id that is drawn; those below are special.
        seed: of the random tokens.
    """
    tokens = repeated_tokens(model.config.vocab_size, first_id=first_id, seed=seed)
    with recording("*.self_attention.weights") as trace:
        logits = model(tokens)
    weights = [trace[f"layers.{layer}.self_attention.weights"] for layer in range(model.config.num_layers)]
    losses = F.cross_entropy(logits[:, :-1].flatten(0, 1), tokens[:, 1:].flatten(), reduction="none").view(BATCH, -1)
    return HeadScores(
        previous=torch.stack([previous_token_scores(each) for each in weights]),
        induction=torch.stack([induction_scores(each, LENGTH) for each in weights]),
        first_loss=losses[:, : LENGTH - 1].mean().item(),
        second_loss=losses[:, LENGTH:].mean().item(),
    )


def losses_by_name(scores: HeadScores) -> Mapping[str, float]:
    """What a curve keeps of the scores: the best of each, and both losses."""
    return {
        "previous": float(scores.previous.max()),
        "induction": float(scores.induction.max()),
        "first_loss": scores.first_loss,
        "second_loss": scores.second_loss,
    }
