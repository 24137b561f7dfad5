"""What was measured of writing, as plain values: they cross processes, and are kept as JSON."""

import json
from dataclasses import asdict, dataclass, replace
from typing import Any

from tfm_core.model.config import TransformerConfig
from tfm_core.model.trained import RANDOM
from tfm_core.profiling.report import Blocks, Machine

ROUNDS = 9
SHORTEST = 16  # tokens of the shortest text that is measured


@dataclass(frozen=True, kw_only=True)
class DecodingPlan:
    """What is measured.

    Attributes:
        config: of a decoder with random weights; the seed means nothing.
        lengths: of the texts after which one more token is written, in tokens.
        rounds: how often each has its turn.
    """

    config: TransformerConfig
    lengths: tuple[int, ...]
    rounds: int = ROUNDS


@dataclass(frozen=True, kw_only=True)
class AtLength:
    """One more token after a text of a given length.

    Attributes:
        length: of the text, in tokens.
        cached, whole: times of a step with the cache, and without.
        stored: bytes of the cache after the step, when it holds the whole text.
        cached_peak, whole_peak: bytes that the pass of a step allocates at its fullest moment, beyond weights and what
            was stored before; None where the profiler does not tell.
    """

    length: int
    cached: Blocks
    whole: Blocks
    stored: int
    cached_peak: int | None
    whole_peak: int | None


@dataclass(frozen=True, kw_only=True)
class Decoding:
    """All of one measurement.

    Attributes:
        id: names it, in links too.
        plan: what was asked for.
        machine: where.
        measured: by length, as far as they have been reached.
        started: ISO 8601, UTC.
        seconds: that it took.
        complete: whether it came to its end.
    """

    id: str
    plan: DecodingPlan
    machine: Machine
    measured: tuple[AtLength, ...] = ()
    started: str = ""
    seconds: float = 0.0
    complete: bool = False

    @property
    def blocks(self) -> tuple[int, int]:
        """How many timings there are, and how many of them other programs disturbed."""
        disturbed = sum(blocks.contended for blocks in self._blocks)
        return disturbed + sum(len(blocks.seconds) for blocks in self._blocks), disturbed

    @property
    def under_load(self) -> bool:
        """Whether any figure is of disturbed timings, too."""
        return any(blocks.under_load for blocks in self._blocks)

    @property
    def _blocks(self) -> list[Blocks]:
        return [blocks for row in self.measured for blocks in (row.cached, row.whole)]


def plan_of(config: TransformerConfig, context: int) -> DecodingPlan:
    """What is measured of a model of this shape: powers of two from `SHORTEST` on, and the context."""
    lengths = {context} | {1 << power for power in range(20) if SHORTEST <= 1 << power <= context}
    return DecodingPlan(config=replace(config, weights=RANDOM, seed=0), lengths=tuple(sorted(lengths)))


def as_json(report: Decoding) -> str:
    """All of it, to be read again by `from_json`."""
    parts = asdict(report)
    for limit in ("flops_per_second", "bytes_per_second"):  # not measured; JSON has no NaN
        del parts["machine"][limit]
    return json.dumps(parts, ensure_ascii=False, allow_nan=False)


def from_json(text: str) -> Decoding:
    """The report that `as_json` wrote.

    Raises:
        ValueError, KeyError, TypeError: for another text.
    """
    parts = json.loads(text)
    plan = parts.pop("plan")
    config = TransformerConfig(**plan["config"])
    return Decoding(
        **parts
        | {
            "plan": DecodingPlan(config=config, lengths=tuple(plan["lengths"]), rounds=plan["rounds"]),
            "machine": Machine(**parts["machine"]),
            "measured": tuple(map(_row, parts["measured"])),
        }
    )


def _row(stored: dict[str, Any]) -> AtLength:
    return AtLength(**stored | {way: _blocks(stored[way]) for way in ("cached", "whole")})


def _blocks(stored: dict[str, Any]) -> Blocks:
    lists = {name: tuple(value) for name, value in stored.items() if isinstance(value, list)}
    return Blocks(**stored | lists)
