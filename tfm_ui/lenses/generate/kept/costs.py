"""What one more token costs, with the cache and without it, over the length of the text: by formula, and measured."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd

from tfm_core.generation.costs import step_flops
from tfm_core.model.cache import KeyValueCache
from tfm_core.profiling.closed_forms_memory import Held
from tfm_core.profiling.decoding_report import AtLength, Decoding
from tfm_core.profiling.setup import Setup
from tfm_core.profiling.size import Size
from tfm_ui.lenses.generate.kept import measured, recipe
from tfm_ui.lenses.generate.state import GenerateState
from tfm_ui.live.script import config_of, script
from tfm_ui.pictures.panel import Result
from tfm_ui.state.model_state import ModelState
from tfm_ui.text import formats, units

NOT_YET = "Nothing of this shape is measured here yet: “Measure” writes with the cache and without it."


@dataclass(frozen=True)
class Costs(Result):
    """Costs of the model's shape.

    Attributes:
        model: the sidebar's model.
        report: what was measured of its shape, if the link names something.
    """

    model: ModelState
    report: Decoding | None

    @property
    def context(self) -> int:
        """The longest text, in tokens."""
        return self.model.most_tokens

    @cached_property
    def lengths(self) -> list[int]:
        """Lengths of texts, in tokens: powers of two up to the context, and the context."""
        return sorted({self.context} | {1 << power for power in range(20) if 1 << power <= self.context})

    def flops(self, length: int, *, cached: bool) -> int:
        """FLOPs for one more token."""
        return step_flops(self.model.config, length, cached=cached)

    @property
    def times_of_last_logits(self) -> float:
        """How many times as many the longest text takes without the cache, if the last token alone gets its logits."""
        config, once = self.model.config, self.flops(self.context, cached=True)
        others = 2 * (self.context - 1) * config.d_model * config.vocab_size
        return round((self.flops(self.context, cached=False) - others) / once, 1)

    def stored(self, length: int) -> int:
        """Bytes of the cache by the formula."""
        return KeyValueCache.memory_of(self.model.config, length)

    def peak(self, length: int) -> float:
        """Bytes that a pass over a whole text holds at its fullest moment, by the Profiling lens's closed form."""
        config = self.model.config
        size = Size(
            d_model=config.d_model,
            num_heads=config.num_heads,
            num_layers=config.num_layers,
            seq_len=length,
            batch=1,
            d_ff=config.d_ff,
            norm=config.norm,
            activation=config.activation,
            positional=config.positional,
            architecture=config.architecture,
            vocab_size=config.vocab_size,
        )
        setup = Setup()
        return setup.itemsize * Held(size, setup, "ours", masked=False).forward()

    @property
    def rows(self) -> Sequence[AtLength]:
        """What was measured, by length; empty if nothing was."""
        return self.report.measured if self.report else ()

    def sentence(self) -> str:
        """Both ways at the longest text, and what was measured there."""
        longest = self.lengths[-1]
        whole, cached = (self.flops(longest, cached=way) for way in (False, True))
        said = (
            f"After {formats.count(longest)} tokens one more takes {units.three(whole / 1e6)} MFLOP without the cache "
            f"and {units.three(cached / 1e6)} with it, by formula: {units.times(whole / cached)} as many. The cache "
            f"then holds {units.bytes_of(self.stored(longest))}, a pass without it about "
            f"{units.bytes_of(self.peak(longest))} while it runs."
        )
        return f"{said} {self._measured_said()}"

    def _measured_said(self) -> str:
        if not self.rows:
            return NOT_YET
        first, last = self.rows[0], self.rows[-1]
        ends = [
            f"after {formats.count(row.length)} tokens {units.three(1 / row.cached.median)} tokens a second with the "
            f"cache and {units.three(1 / row.whole.median)} without it"
            for row in (first, last)
        ]
        ratio = last.whole.median / last.cached.median
        said = f"Measured: {ends[0]}; {ends[1]}, {units.times(ratio)} as fast with it."
        by_formula = self.flops(last.length, cached=False) / self.flops(last.length, cached=True)
        if ratio >= by_formula:
            return said
        return (
            f"{said} A step has costs beside its multiply-adds, such as the calls, so the gain is less than by formula."
        )

    def laws(self) -> Mapping[str, bool]:
        """Both ways begin alike, and the cache is as large as the formula says."""
        laws = {
            "after a single token both ways take the same operations": self.flops(1, cached=True)
            == self.flops(1, cached=False)
        }
        if self.rows:
            equal = all(row.stored == self.stored(row.length) for row in self.rows)
            laws["the cache that was measured has as many bytes as the formula says, at each length"] = equal
        return laws

    def table(self) -> pd.DataFrame:
        """A row per length."""
        every = sorted({*self.lengths, *(row.length for row in self.rows)})
        by_length = {row.length: row for row in self.rows}
        at = [by_length.get(length) for length in every]
        columns = {
            "MFLOP with the cache": [self.flops(length, cached=True) / 1e6 for length in every],
            "MFLOP without": [self.flops(length, cached=False) / 1e6 for length in every],
            "bytes of the cache, formula": [self.stored(length) for length in every],
            "bytes of a pass without, estimated": [self.peak(length) for length in every],
        }
        if self.rows:
            columns |= {
                "tokens a second with the cache": [1 / row.cached.median if row else np.nan for row in at],
                "tokens a second without": [1 / row.whole.median if row else np.nan for row in at],
                "bytes of the cache": [row.stored if row else np.nan for row in at],
                "bytes of a step with it": [_known(row.cached_peak) if row else np.nan for row in at],
                "bytes of a pass without": [_known(row.whole_peak) if row else np.nan for row in at],
            }
        return pd.DataFrame(columns, index=pd.Index(every, name="tokens"))

    def recipe(self) -> str:
        """A script that leaves `with_cache`, `without` and `nbytes`."""
        return script(recipe.costs, config=config_of(self.model), lengths=self.lengths)


def _known(count: int | None) -> float:
    return np.nan if count is None else float(count)


def costs(model: ModelState, state: GenerateState) -> Costs:
    """The costs of the model that the link describes."""
    return Costs(model, measured.of_link(model, state))
