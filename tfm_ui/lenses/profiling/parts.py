"""The view "parts": one configuration part by part, its parameters, FLOPs and time beside each other."""

import math
from collections.abc import Callable, Mapping
from functools import cached_property, partial
from typing import TypeVar

import pandas as pd

from tfm_core.profiling import Measured, Plan, Row, Setup, Size, costs, profile
from tfm_core.profiling.closed_forms import norm_parameters
from tfm_ui.lenses.profiling.row_controls import of_rows, random_numbers
from tfm_ui.lenses.profiling.rows import (
    NOTES,
    ORDER,
    SEPARATE_PASSES,
    UNMEASURED,
    ProfilingPanel,
    in_order,
    measure,
    no_rows,
)
from tfm_ui.lenses.profiling.state import ProfilingState
from tfm_ui.page.lens import View
from tfm_ui.pictures import bars
from tfm_ui.pictures.canvas import Content
from tfm_ui.pictures.panel import Columns, Note
from tfm_ui.state.model_state import ModelState
from tfm_ui.text import formats, units

UNTIMED = "positions"  # their time is within that of other parts
MOST = 8  # operators by name; the others are summed

T = TypeVar("T", int, float)
Formulas = Callable[[Size], Mapping[str, tuple[str, int]]]  # part -> (in symbols, its value)


def parts_of_row(
    *, rows: tuple[Row, ...], setup: Setup, number: int
) -> tuple[dict[str, int], dict[str, int], dict[str, float]]:
    """Parameters, FLOPs and seconds of a row's parts; the row is counted from 0."""
    report = measure(Plan(rows, setup))
    parameters, flops = costs.parameters(rows[number]), costs.flops(rows[number])
    seconds = {part.name: part.seconds for part in report.measured[number].parts}
    return parameters, flops, seconds


class PartsPanel(ProfilingPanel):
    """A panel on the parts of one of the rows."""

    @property
    def number(self) -> int:
        """The number of the row that is looked at, from 1; the last row, if there are fewer."""
        return min(self.state.row, len(self.plan.rows))

    @property
    def row(self) -> Row:
        """What is looked at."""
        return self.plan.rows[self.number - 1]

    @property
    def measurement(self) -> Measured:
        """What became of it."""
        return self.rows[self.number - 1]

    @cached_property
    def parameters(self) -> dict[str, int]:
        """Parameters by part."""
        return costs.parameters(self.row)

    @cached_property
    def flops(self) -> dict[str, int]:
        """FLOPs of a forward pass, by part."""
        return costs.flops(self.row)

    @cached_property
    def seconds(self) -> dict[str, float]:
        """Seconds of a forward pass under the profiler, by part or by operator; empty if it was not measured.

        If there are many operators, only the longest stand alone.
        """
        seconds = {part.name: part.seconds for part in self.measurement.parts}
        if len(seconds) <= len(ORDER):
            return seconds
        longest = sorted(seconds, key=lambda name: seconds[name], reverse=True)
        others = longest[MOST:]
        by_name = {name: seconds[name] for name in longest[:MOST]}
        return by_name | {f"{len(others)} others": sum(seconds[name] for name in others)}

    @property
    def by_operator(self) -> bool:
        """Whether only operators could be told apart."""
        return bool(self.seconds) and not set(self.seconds) & {*self.parameters, *self.flops}

    @property
    def names(self) -> list[str]:
        """The parts of all three pictures, in one order."""
        times = () if self.by_operator else self.seconds
        return in_order(name for part in (self.parameters, self.flops, times) for name in part)

    @property
    def timed_parts(self) -> list[str]:
        """The names in the picture of the time."""
        return list(self.seconds) if self.by_operator else [name for name in self.names if name != UNTIMED]

    def shares(self, costs: Mapping[str, T], in_words: Callable[[T], str]) -> Content:
        """A bar for each part: its share, with the cost itself in words."""
        total = sum(costs.values()) or 1
        shares, words = zip(*((cost / total, in_words(cost)) for cost in costs.values()), strict=True)
        return bars.content(list(costs), shares, values=words, rows="part")

    def table(self) -> pd.DataFrame:
        """A row per part."""
        names = in_order([*self.names, *self.timed_parts])
        columns: dict[str, list[float | None]] = {
            "parameters": [self.parameters.get(name, 0) for name in names],
            "FLOPs": [self.flops.get(name, 0) for name in names],
        }
        if self.seconds:
            columns["ms"] = [1e3 * self.seconds[name] if name in self.seconds else None for name in names]
            columns["measured under load"] = [self.measurement.parts_under_load] * len(names)
        return self.stamped(pd.DataFrame(columns, index=pd.Index(names, name="part")))

    def recipe(self) -> str:
        """A script that leaves `parameters`, `flops` and, measured anew, `seconds`, by part."""
        return self.script(parts_of_row, number=self.number - 1)


class PartsParameters(PartsPanel):
    """How many parameters each part has."""

    title = "Parameters"
    how_to_read = "The numbers that training sets, counted by formula. Shares are rounded."
    sources = (costs.parameters,)

    def sentence(self) -> str:
        """Where most of them are."""
        total = formats.count(sum(self.parameters.values()))
        return f"{total} parameters in all; {largest_share(self.parameters)} of them."

    def laws(self) -> dict[str, bool]:
        return formula_laws(parameter_formulas, self.parameters, self.row.size)

    def chart(self) -> Content:
        return self.shares({name: self.parameters.get(name, 0) for name in self.names}, formats.count)


class PartsFlops(PartsPanel):
    """How many operations each part does in a forward pass."""

    title = "FLOPs"
    how_to_read = "Of a forward pass, by formula. M means millions; shares are rounded."
    sources = (costs.flops,)

    def sentence(self) -> str:
        """Where most of them are; softmax and norms have none by convention."""
        return (
            f"{formats.count(sum(self.flops.values()))} operations in a forward pass, two for each multiplication with "
            f"its addition; {largest_share(self.flops)} of them. Softmax, norms and activations count 0."
        )

    def laws(self) -> dict[str, bool]:
        return formula_laws(flop_formulas, self.flops, self.row.size)

    def chart(self) -> Content:
        counts = {name: self.flops.get(name, 0) for name in self.names}
        return self.shares(counts, lambda count: f"{units.three(count / 1e6)} M" if count else "0")


class PartsTime(PartsPanel):
    """How long each part takes in a forward pass."""

    title = "Time"
    how_to_read = "Of one forward pass, the median of those that torch.profiler watched."
    sources = (profile,)

    def chart(self) -> Content:
        """The time of a forward pass, by part or by operator; a gap at each where nothing was measured."""
        if not self.seconds:
            nothing, gap = [math.nan] * len(self.timed_parts), "no figure" if self.report else "not measured"
            return bars.content(self.timed_parts, nothing, gap=gap, rows="part")
        seconds = {name: self.seconds.get(name, 0.0) for name in self.timed_parts}
        return self.shares(seconds, units.took)

    def sentence(self) -> str:
        """Which takes most, and where time and FLOPs disagree; whose passes they are, where calls have no time."""
        if not self.seconds:
            return self._unmeasured
        reason = self.reason(self.number)
        separate = f"{SEPARATE_PASSES}; no time of a forward call is shown: {reason}." if reason else ""
        load = "Measured under load." if self.measurement.parts_under_load else ""
        return " ".join(part for part in (self._share, separate, load) if part)

    @property
    def _share(self) -> str:
        total, most = sum(self.seconds.values()), largest(self.seconds)
        share = f"{units.took(total)} under the profiler{self._slowed(total)}; {largest_share(self.seconds)} of it."
        if self.by_operator:
            return f"{share} Only operators can be told apart here: they have torch’s names."
        sentences = [share]
        free = [name for name in in_order(self.seconds) if not self.flops.get(name) and name in ("softmax", "norms")]
        if free and (time := sum(self.seconds[name] for name in free)):
            verb, take = ("does", "takes") if len(free) == 1 else ("do", "take")
            words, percent = formats.listed(free).capitalize(), formats.percent(time / total)
            sentences.append(f"{words} {verb} 0% of the FLOPs and {take} {percent} of the time.")
        heaviest = largest(self.flops)
        if heaviest != most and heaviest in self.seconds:
            percent = formats.percent(self.seconds[heaviest] / total)
            sentences.append(f"Most FLOPs are in the {largest_share(self.flops)} of them, in {percent} of the time.")
        return " ".join(sentences) + self._fused

    def _slowed(self, total: float) -> str:
        """The factor by which watching slows a pass, where passes were timed that nothing watched."""
        alone = self.measurement.forward.median
        if math.isnan(alone):
            return ""
        return f", {units.beside(total / alone, 'long', 'longer', 'shorter')} a pass without it ({units.took(alone)})"

    @property
    def _fused(self) -> str:
        """A sentence that follows where one operator does more than one part."""
        if not self.measurement.kernel or "softmax" in self.seconds:
            return ""
        return f" The fused kernel ({self.measurement.kernel}) does the softmax too: it is in the products."

    @property
    def _unmeasured(self) -> str:
        if not self.report:
            return UNMEASURED
        reason = self.reason(self.number) or "its time was measured, but not by part"
        return f"Row {self.number}: {reason}."


def largest(values: Mapping[str, float]) -> str:
    """The part with most."""
    return max(values, key=lambda name: values[name])


def largest_share(values: Mapping[str, float], mark: str = ":") -> str:
    """The part with most, and its share: feed-forward: 66%."""
    return f"{largest(values)}{mark} {formats.percent(values[largest(values)] / sum(values.values()))}"


def which_row(model: ModelState, state: ProfilingState) -> Note:
    """Which row was chosen: with weights, d_model 64, 4 heads, 2 layers, 50 tokens, batch 16."""
    panel = PartsTime(model, state)
    size = panel.row.size
    heads, layers = formats.plural(size.num_heads, "head"), formats.plural(size.num_layers, "layer")
    tokens = formats.plural(size.seq_len, "token")
    words = f"{panel.row.target}, d_model {size.d_model}, {heads}, {layers}, {tokens}, batch {size.batch}"
    return Note(f"Row {panel.number} of {len(panel.plan.rows)} under “Configurations”: {words}.", "plain")


# the formulas behind the counts of a transformer's parts, in symbols and with the numbers put in


def parameter_formulas(size: Size) -> dict[str, tuple[str, int]]:
    """Parameters of each part that a transformer of this size has: their formula, and their number."""
    d, d_ff, many, each = size.d_model, size.feed_forward_dim, size.num_attentions, size.num_feed_forwards
    attentions, networks, _ = _counts(size)
    more = size.num_stacks * ((size.norm == "pre") + size.embedding_norm)  # norms beside those of the layers
    norms, last = many + each + more, f" + {more}" if more else ""
    of_norm = "{d}" if size.normalization == "rms" else "2 × {d}"
    of_stacks = "2 × " * (size.num_stacks == 2)
    terms = {
        "embedding" if size.embeds else "logits": ("{vocabulary} × {d}", size.vocab_size * d),
        "projections": (f"{attentions} × 4({{d}}² + {{d}})", many * 4 * (d**2 + d)),
        "feed-forward": (f"{networks} × (2 × {{d}} × {{d_ff}} + {{d_ff}} + {{d}})", each * (2 * d * d_ff + d_ff + d)),
        "norms": (
            f"({(many + each) // size.num_layers} × {{layers}}{last}) × {of_norm}",
            norms * norm_parameters(size),
        ),
    }
    if size.key_width != d:  # heads share keys, and there are no biases in models that do
        terms["projections"] = f"{attentions} × 2({{d}}² + {{d}} × {{d_kv}})", many * 2 * (d**2 + d * size.key_width)
    elif not (size.qkv_bias or size.output_bias):
        terms["projections"] = f"{attentions} × 4 × {{d}}²", many * 4 * d**2
    if size.is_gated:
        gated = f"{networks} × (3 × {{d}} × {{d_ff}} + 2 × {{d_ff}} + {{d}})"
        terms["feed-forward"] = gated, each * (3 * d * d_ff + 2 * d_ff + d)
    if not size.feed_forward_bias:
        maps = 3 if size.is_gated else 2
        terms["feed-forward"] = f"{networks} × {maps} × {{d}} × {{d_ff}}", each * maps * d * d_ff
    rows = size.max_len + size.position_offset
    symbols = {"d_model": "{d}", "num_heads": "{heads}", "max_len": str(rows)}
    tables = [
        " × ".join(symbols.get(str(axis), str(axis)) for axis in table.shape) for table in size.scheme.tables.values()
    ]
    if tables:
        positions = size.scheme.count_learned(d_model=d, num_heads=size.num_heads, max_len=rows)
        of_each = tables[0] if len(tables) == 1 else f"({' + '.join(tables)})"
        terms["positions"] = f"{of_stacks}{of_each}", size.num_stacks * sum(positions.values())
    return terms


def flop_formulas(size: Size) -> dict[str, tuple[str, int]]:
    """FLOPs of each part that a transformer of this size has: their formula, and their number."""
    attentions, networks, maps = _counts(size)
    n, d, many = size.seq_len, size.d_model, size.batch * size.num_attentions
    projections = f"{{batch}} × {attentions} × 8 × {{n}} × {{d}}²"
    if size.key_width != d:
        projections = f"{{batch}} × {attentions} × 4 × {{n}} × {{d}} × ({{d}} + {{d_kv}})"
    return {
        "projections": (projections, many * 4 * n * d * (d + size.key_width)),
        "products": (f"{{batch}} × {attentions} × 4 × {{n}}² × {{d}}", many * 4 * n**2 * d),
        "feed-forward": (
            f"{{batch}} × {networks} × {2 * maps} × {{n}} × {{d}} × {{d_ff}}",
            size.batch * size.num_feed_forwards * 2 * maps * n * d * size.feed_forward_dim,
        ),
        "logits": ("{batch} × 2 × {n} × {d} × {vocabulary}", size.batch * 2 * n * d * size.vocab_size),
    }


def _counts(size: Size) -> tuple[str, str, int]:
    """How many attentions and feed-forward networks there are, in symbols, and matrices in each of these networks."""
    two = size.num_stacks == 2
    return "3 × {layers}" if two else "{layers}", "2 × {layers}" if two else "{layers}", 3 if size.is_gated else 2


def formula_laws(formulas: Formulas, counts: Mapping[str, int], size: Size) -> dict[str, bool]:
    """What to show of these counts: each formula that gives the count, as a law that holds.

    For a target that is no such transformer, none need hold.
    """
    numbers = {
        "batch": size.batch,
        "layers": size.num_layers,
        "n": size.seq_len,
        "d": size.d_model,
        "d_kv": size.key_width,
        "d_ff": size.feed_forward_dim,
        "vocabulary": size.vocab_size,
        "heads": size.num_heads,
    }
    hold = {}
    for part, (formula, value) in formulas(size).items():
        if counts.get(part) == value:
            symbols, put_in = formula.format_map({name: name for name in numbers}), formula.format_map(numbers)
            hold[f"{part}: {symbols} = {put_in} = {formats.count(value)}"] = True
    return hold


VIEW = View(
    title="By part",
    tab="compare",
    exercise="count-parameters",
    shows=[Columns([[PartsParameters], [PartsFlops], [PartsTime]]), which_row, *NOTES],
    instead=no_rows,
    reads_instead=random_numbers,
    controls=partial(of_rows, first=("row",)),
)
