"""How well a network does, and how far its heads look where they should. Pure functions, of torch alone."""

from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from tfm_core.model.recording import recording
from tfm_core.training.tasks.task import IGNORED, Examples, Pattern

KINDS = {"self": "self_attention", "cross": "cross_attention"}


@dataclass(frozen=True)
class Looked:
    """What one pass over held-out examples shows.

    Attributes:
        loss: cross-entropy, nats.
        accuracy: share of right answers.
        exact: share of examples all of whose answers are right.
        said: int64, the answers with the largest logits, of the shape of the examples' answers.
        weights: site -> (batch, head, query, key), of a transformer.
    """

    loss: float
    accuracy: float
    exact: float
    said: Tensor
    weights: dict[str, Tensor]


def loss_of(logits: Tensor, answers: Tensor) -> Tensor:
    """Cross-entropy over the places where something is asked: (batch, seq, vocab) or (batch, classes) in."""
    return F.cross_entropy(logits.flatten(0, -2), answers.flatten(), ignore_index=IGNORED)


def right(said: Tensor, answers: Tensor) -> Tensor:
    """Which answers are right, boolean of the shape of `answers`; True where nothing is asked."""
    return (said == answers) | (answers == IGNORED)


@torch.no_grad()
def look(model: nn.Module, examples: Examples, *, attention: bool = True) -> Looked:
    """Run a network on examples as it stands, without dropout.

    Args:
        model: a network of `networks`.
        examples: what it reads.
        attention: whether its weights are wanted; a recurrent network has none.
    """
    was_training = model.training
    model.eval()
    with recording("*.weights" if attention else ()) as trace:
        logits = model(*examples.inputs)
    model.train(was_training)
    said = logits.argmax(-1)
    is_right, is_asked = right(said, examples.answers), examples.answers != IGNORED
    return Looked(
        loss=float(loss_of(logits[is_asked], examples.answers[is_asked])),  # few tokens answer where one label is asked
        accuracy=float((is_right & is_asked).sum() / is_asked.sum()),
        exact=float(is_right.reshape(len(is_right), -1).all(1).float().mean()),
        said=said,
        weights=dict(trace),
    )


def pattern_score(weights: Tensor, cells: Tensor, *, even: bool = False) -> Tensor:
    """How far each head looks where it should: mean over the rows that have such cells, (head).

    Args:
        weights: (batch, head, query, key), rows that sum to 1.
        cells: boolean (batch, query, key).
        even: not the weight on the cells, but how evenly it lies on them: the entropy of the row, as a share of the
            logarithm of their number. 1 is perfectly even.
    """
    rows = cells.any(-1)  # (batch, query)
    kept = torch.where(cells[:, None], weights, 0)
    if even:
        entropy = -torch.xlogy(kept, kept).sum(-1)
        score = entropy / cells.sum(-1).clamp(min=2).log()[:, None]
    else:
        score = kept.sum(-1)  # (batch, head, query)
    return torch.where(rows[:, None], score, 0).sum((0, 2)) / rows.sum().clamp(min=1)


def chance(pattern: Pattern, examples: Examples, *, causal: bool) -> float:
    """The score of a head that looks at all keys that it sees alike.

    Args:
        pattern: where it should look.
        examples: over which it is averaged.
        causal: whether a query sees no later keys.
    """
    cells = pattern.cells(examples)
    visible = torch.ones(cells.shape[1:])
    visible = visible.tril() if causal and pattern.kind == "self" else visible
    uniform = (visible / visible.sum(-1, keepdim=True)).expand(len(cells), 1, -1, -1)
    return float(pattern_score(uniform, cells, even=pattern.even))


def site(pattern_kind: str, layer: int, architecture: str) -> str:
    """The recording's name for the weights of a layer."""
    stack = "decoder." if architecture == "encoder-decoder" else ""
    return f"{stack}layers.{layer}.{KINDS[pattern_kind]}.weights"
