"""A layer as a chain of sub-layers, each computed by the steps of an exercise, and the mistakes that give its output.

A mistake may be made in each sub-layer, as in a class that all of them use, or in a single one.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from tfm_core.checks.judging import Trial, first_changed, near
from tfm_core.study.diagnosis import compare
from tfm_core.study.exercise import Exercise
from tfm_core.study.mistakes import MISTAKES, mistakes_of
from tfm_core.study.mistakes_masks import FILLS
from tfm_core.study.pieces import Pieces
from tfm_core.study.steps import Steps

ABOUT = {"projections", "heads", "scores", "softmax", "mask", "LayerNorm", "layer", "feed-forward network"}
# Both kinds of norms and of activations are right.
NO_MISTAKES = {"post-norm for pre-norm", "pre-norm for post-norm", "ReLU for GELU", "GELU for ReLU", "GELU by tanh"}
MIXED = "A sub-layer has its norm before it, and another after its residual connection."


@dataclass(frozen=True)
class SubLayer:
    """A part of a layer with its residual connection.

    Attributes:
        name: what it is.
        exercise: whose steps it is computed by.
        starts: its weights, and its mask.
        reads: the step that it starts from: "x" or "after attention".
        gives: the step that it ends in.
        memory: what keys and values are made of, in cross-attention; else None.
    """

    name: str
    exercise: Exercise
    starts: Mapping[str, Tensor]
    reads: str
    gives: str
    memory: Tensor | None = None

    def started(self, x: Tensor, exchanged: Pieces) -> Mapping[str, Tensor]:
        """What the steps start from, under some exchanged pieces."""
        starts = {**self.starts, self.reads: x}
        if self.memory is not None:
            steps = Steps(self.exercise, {**self.starts, "attention input": self.memory}, self.memory.dtype)
            starts |= {step: steps.value(step, exchanged) for step in ("key", "value")}
        return starts

    def output(self, x: Tensor, exchanged: Pieces) -> Tensor:
        """The residual stream after it."""
        steps = Steps(self.exercise, self.started(x, exchanged), torch.float64)
        result: Tensor = steps.value(self.gives, exchanged)
        return result


@dataclass(frozen=True)
class Chain:
    """A reading of a layer: its sub-layers in order, and notes on what was read into it."""

    parts: tuple[SubLayer, ...]
    notes: tuple[str, ...] = ()

    def output(self, x: Tensor, exchanged: Mapping[int, Pieces] | None = None) -> Tensor:
        """The layer's output; pieces are exchanged in the sub-layers of these numbers."""
        stream = x.double()
        for at, part in enumerate(self.parts):
            stream = part.output(stream, (exchanged or {}).get(at, {}))
        return stream


@dataclass(frozen=True)
class Blamed:
    """A mistake that gives a layer's output.

    Attributes:
        name: of the catalogue, or "" for norms that are mixed.
        step: the first that differs.
        where: the name of the only sub-layer that has it; "" if all have it.
    """

    name: str
    step: str
    where: str = ""


def difference(right: Tensor, result: Tensor) -> float:
    """The largest difference from what is right; NaN where the shapes differ."""
    return compare("layer output", right, result.double(), near(right)).difference


def is_near(right: Tensor, result: Tensor) -> bool:
    """Whether a layer's output is right; some steps follow each other, so that more is rounded."""
    return compare("layer output", right, result.double(), 3 * near(right)).ok


def blamed(chain: Chain, x: Tensor, result: Tensor) -> list[Blamed]:
    """The mistakes that give a layer's output, in the order of the catalogue; those in all sub-layers come first."""
    with torch.no_grad():
        return list(_blamed(chain, x, result))


def _blamed(chain: Chain, x: Tensor, result: Tensor) -> Iterator[Blamed]:
    numbers = range(len(chain.parts))
    scopes: Sequence[Sequence[int]] = [tuple(numbers), *((at,) for at in numbers)]
    right = chain.output(x)
    for scope in scopes:
        for name in _concerned(chain):
            wrong = MISTAKES[name].wrong
            for fill in _fills(chain, name):
                exchanged = {at: {**fill, **wrong} for at in scope}
                try:
                    output = chain.output(x, exchanged)
                except RuntimeError:
                    continue
                if is_near(output, result) and not is_near(right, output):
                    yield _placed(chain, x, name, scope, exchanged)
                    break
    for at in numbers:  # norms that are mixed
        turned = {**MISTAKES["post-norm for pre-norm"].wrong}
        if chain.parts[at].exercise.norm == "post":
            turned = {**MISTAKES["pre-norm for post-norm"].wrong}
        if is_near(chain.output(x, {at: turned}), result):
            yield Blamed("", chain.parts[at].gives)


def _concerned(chain: Chain) -> list[str]:
    possible = [name for part in chain.parts for name in mistakes_of(part.exercise)]
    return [
        name
        for name, mistake in MISTAKES.items()
        if name in possible and mistake.about in ABOUT and name not in NO_MISTAKES and not mistake.recognise
    ]


def _fills(chain: Chain, name: str) -> list[Pieces]:
    """How rows without a key may be filled, where a mistake with masks may leave some."""
    has_mask = any(part.exercise.mask != "none" for part in chain.parts)
    return [{}, *FILLS.values()] if has_mask and MISTAKES[name].about in ("mask", "softmax") else [{}]


def _placed(chain: Chain, x: Tensor, name: str, scope: Sequence[int], exchanged: Mapping[int, Pieces]) -> Blamed:
    """The mistake with the step where it enters."""
    stream = x.double()
    for at, part in enumerate(chain.parts):
        if at in scope:
            starts = part.started(stream, {})
            step = first_changed(Trial(part.exercise, starts, {part.gives: stream}), exchanged[at])
            if step:
                where = part.name if len(scope) == 1 and len(chain.parts) > 1 else ""
                return Blamed(name, step, where)
        stream = part.output(stream, {})
    return Blamed(name, chain.parts[-1].gives)


def worst(chains: Sequence[Chain], x: Tensor, result: Tensor) -> float:
    """The smallest of the differences from each reading."""
    every = [difference(chain.output(x), result) for chain in chains]
    return min((each for each in every if not math.isnan(each)), default=math.nan)
