"""What one more token costs, with the cache and without it, over the length of the text: by formula, and measured."""

from collections.abc import Sequence
from functools import cached_property

import numpy as np
import pandas as pd

from tfm_core import TransformerConfig
from tfm_core.generation.costs import pass_flops, step_flops
from tfm_core.model.cache import KeyValueCache
from tfm_core.profiling.closed_forms_memory import Held
from tfm_core.profiling.decoding import measure_decoding
from tfm_core.profiling.decoding_report import AtLength, Decoding
from tfm_core.profiling.setup import Setup
from tfm_core.profiling.size import OF_CONFIG, Size
from tfm_ui.lenses.generate.kept import measure_bar, measured
from tfm_ui.lenses.generate.panel import GeneratePanel
from tfm_ui.live.script import config_of, script
from tfm_ui.pictures import lines
from tfm_ui.pictures.canvas import Content
from tfm_ui.pictures.chart import CHART
from tfm_ui.pictures.lines import Chart, Line
from tfm_ui.text import formats, units

NOT_YET = "Nothing of this shape is measured here yet: “Measure” writes with the cache and without it."


def costs(*, config: TransformerConfig, lengths: Sequence[int]) -> tuple[list[int], list[int], list[int]]:
    """Operations for one more token with and without the cache, and the cache's bytes, after texts of these lengths."""
    with_cache = [step_flops(config, length, cached=True) for length in lengths]
    without = [step_flops(config, length, cached=False) for length in lengths]
    nbytes = [KeyValueCache.memory_of(config, length) for length in lengths]
    return with_cache, without, nbytes


class KeptCosts(GeneratePanel):
    """Costs of the model's shape."""

    title = "What one more token costs"
    how_to_read = (
        "Lines are by formula, of this shape. A multiply-add counts as two operations (FLOP); a pass "
        "computes the logits of each token that it reads. The estimate is the Profiling lens’s. Measured is a whole "
        "step, pass and draw; dots are bytes that were counted."
    )
    sources = (step_flops, pass_flops, KeyValueCache.memory_of, measure_decoding)
    canvas = CHART
    slow = True
    ignores = frozenset({"seed"})

    @cached_property
    def report(self) -> Decoding | None:
        """What was measured of the shape, if the link names something."""
        return measured.of_link(self.model, self.state)

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

    def times(self, length: int) -> float:
        """How many times as many it takes without the cache."""
        return self.flops(length, cached=False) / self.flops(length, cached=True)

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
            **{name: getattr(config, name) for name in OF_CONFIG}, vocab_size=config.vocab_size, seq_len=length, batch=1
        )
        setup = Setup()
        return setup.itemsize * Held(size, setup, "ours", masked=False).forward()

    @property
    def rows(self) -> Sequence[AtLength]:
        """What was measured, by length; empty if nothing was."""
        return self.report.measured if self.report else ()

    def sentence(self) -> str:
        """Both ways at the longest text, and what was measured there."""
        longest = self.context
        whole, cached = (self.flops(longest, cached=way) for way in (False, True))
        by_formula = (
            f"After {formats.count(longest)} tokens one more takes {units.three(whole / 1e6)} MFLOP without the cache "
            f"and {units.three(cached / 1e6)} with it, by formula: {units.times(self.times(longest))} as many. The "
            f"cache then holds {units.bytes_of(self.stored(longest))}, a pass without it about "
            f"{units.bytes_of(self.peak(longest))} while it runs."
        )
        return f"{by_formula} {self._by_measurement()}"

    def _by_measurement(self) -> str:
        if not self.rows:
            return NOT_YET
        first, last = self.rows[0], self.rows[-1]
        ends = [
            f"after {formats.count(row.length)} tokens {units.three(1 / row.cached.median)} tokens a second with the "
            f"cache and {units.three(1 / row.whole.median)} without it"
            for row in (first, last)
        ]
        ratio = last.whole.median / last.cached.median
        sentence = f"Measured: {ends[0]}; {ends[1]}, {units.times(ratio)} as fast with it."
        if ratio >= self.times(last.length):
            return sentence
        beside = "A step has costs beside its multiply-adds, such as the calls, so the gain is less than by formula."
        return f"{sentence} {beside}"

    def laws(self) -> dict[str, bool]:
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
        """A row per length; what is measured is measured at some of these lengths."""
        by_length = {row.length: row for row in self.rows}
        at = [by_length.get(length) for length in self.lengths]
        with_cache, without, nbytes = costs(config=self.model.config, lengths=self.lengths)
        columns = {
            "MFLOP with the cache": [count / 1e6 for count in with_cache],
            "MFLOP without": [count / 1e6 for count in without],
            "bytes of the cache, formula": nbytes,
            "bytes of a pass without, estimated": [self.peak(length) for length in self.lengths],
        }
        if self.rows:
            columns |= {
                "tokens a second with the cache": [1 / row.cached.median if row else np.nan for row in at],
                "tokens a second without": [1 / row.whole.median if row else np.nan for row in at],
                "bytes of the cache": [row.stored if row else np.nan for row in at],
                "bytes of a step with it": [_known(row.cached_peak) if row else np.nan for row in at],
                "bytes of a pass without": [_known(row.whole_peak) if row else np.nan for row in at],
            }
        return pd.DataFrame(columns, index=pd.Index(self.lengths, name="tokens"))

    def picture(self) -> Content:
        """Operations, speed and bytes over the length of the text; below them when and how it was measured."""
        if self.why_nothing:
            return lines.content([])
        table, x, at = self.table(), self.lengths, [row.length for row in self.rows]
        mib = table.filter(like="bytes") / 2**20
        flops = [
            Line("with the cache", x, table["MFLOP with the cache"].tolist(), "result"),
            Line("without it", x, table["MFLOP without"].tolist(), "key"),
        ]
        estimated = mib["bytes of a pass without, estimated"].tolist()
        held = [
            Line("cache, by formula", x, mib["bytes of the cache, formula"].tolist(), "result"),
            Line("pass without it, estimated", x, estimated, "key", "dashed"),
        ]
        speed = []
        if self.rows:
            speed = [
                Line("with the cache", at, table["tokens a second with the cache"][at].tolist(), "result"),
                Line("without it", at, table["tokens a second without"][at].tolist(), "key"),
            ]
            held += [
                Line("cache, measured", at, mib["bytes of the cache"][at].tolist(), "result", "dots"),
                Line("pass, measured", at, mib["bytes of a pass without"][at].tolist(), "key", "dots"),
            ]
        drawn = {"MFLOP for one more token": flops, "tokens a second, measured": speed, "MiB in memory": held}
        header, numbers = lines.content(
            [Chart("tokens of the text", y, each, "log2", "log10") for y, each in drawn.items() if each],
            gap="not measured",
        )
        return {**header, "foot": measured.facts(self.report) if self.report else ""}, numbers

    def recipe(self) -> str:
        """A script that leaves `with_cache`, `without` and `nbytes`."""
        return script(costs, config=config_of(self.model), lengths=self.lengths)

    def tools(self) -> None:
        """Draw the button that measures."""
        measure_bar.draw(measured.plan(self.model), self.state.run)


def _known(count: int | None) -> float:
    return np.nan if count is None else float(count)
