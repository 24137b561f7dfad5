"""The ways to fine-tune that are compared. A new one is an entry in `WAYS` at the foot of the file.

Learning rates are the best of four, 0.0003 to 0.01, by the mean of both tasks on sentences of the training side that
the run did not learn from: `python -m tfm_core.training finetune rates` prints that table.
"""

from collections.abc import Callable
from dataclasses import dataclass

from torch import nn

from tfm_core.training.compare.finetuning.lora import add_low_rank


@dataclass(frozen=True, kw_only=True)
class Way:
    """A way to fine-tune.

    Attributes:
        title: its name on screen.
        about: what is trained, as a clause without a subject.
        learning_rate: the highest one of AdamW.
        colour: of its lines.
        prepare: (`SequenceClassifier`, seed): leaves `requires_grad` on what is trained of the body; the head is
            trained anyway.
        pretrained: whether the body begins with what it has learned; otherwise at random.
        rank: of LoRA's matrices; 0 where there are none.
    """

    title: str
    about: str
    learning_rate: float
    colour: str
    prepare: Callable[[nn.Module, int], None]
    pretrained: bool = True
    rank: int = 0


def _whole(model: nn.Module, seed: int) -> None:
    """All of the body is trained."""


def _frozen(model: nn.Module, seed: int) -> None:
    model.get_submodule("stack").requires_grad_(False)


def _low_rank(rank: int) -> Callable[[nn.Module, int], None]:
    def prepare(model: nn.Module, seed: int) -> None:
        add_low_rank(model, rank, seed=seed)

    return prepare


WAYS: dict[str, Way] = {
    "nothing": Way(
        title="from nothing",
        about="the same network with random weights, all of which are trained",
        learning_rate=3e-4,
        colour="head 2",
        prepare=_whole,
        pretrained=False,
    ),
    "frozen": Way(
        title="frozen body",
        about="the head alone, on what the frozen body makes of each sentence",
        learning_rate=1e-2,
        colour="head 3",
        prepare=_frozen,
    ),
    "whole": Way(
        title="whole model",
        about="the head and all of the body",
        learning_rate=3e-4,
        colour="head 1",
        prepare=_whole,
    ),
    "lora-2": Way(
        title="LoRA, rank 2",
        about="the head, and matrices of rank 2 beside each query and value projection",
        learning_rate=1e-3,
        colour="head 4",
        prepare=_low_rank(2),
        rank=2,
    ),
    "lora-8": Way(
        title="LoRA, rank 8",
        about="the head, and matrices of rank 8 beside each query and value projection",
        learning_rate=1e-3,
        colour="head 5",
        prepare=_low_rank(8),
        rank=8,
    ),
}
