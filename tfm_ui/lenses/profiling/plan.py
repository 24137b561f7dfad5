"""What the controls ask for, as a plan, or why there is none; what it will take of this server, and what it may."""

import time
from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache
from typing import Any

import torch
from torch.utils.benchmark import Timer

from tfm_core import POSITIONAL
from tfm_core.profiling import TARGETS, Machine, Plan, Row, Setup, Size
from tfm_core.profiling.estimate import Budget, Estimate, estimate, refusal
from tfm_core.profiling.machine import describe
from tfm_core.profiling.size import OF_CONFIG
from tfm_core.profiling.units import in_bytes, in_seconds
from tfm_ui.lenses.profiling.state import LENGTHS, MOST_ROWS, ProfilingState
from tfm_ui.state.fields import whole_number
from tfm_ui.state.lists import names
from tfm_ui.state.model_state import ModelState
from tfm_ui.text import formats

NO_CONFIGURATION = "There is no configuration to show. Open “Configurations” above and write one line: 64, 4, 2, 50."
Shape = tuple[tuple[str, Any], ...]  # fields of `Size`, and their values
LARGEST = 65536  # of each number in the text box
# The default plan takes a minute on a rented core; three let it fit where cores are slow. With two gigabytes, and as
# much again for what an estimate overlooks, a server of eight keeps the rest for its visitors.
BUDGET = Budget(seconds=180, bytes=2e9)
SIDE, TIMES = 256, 20  # of the products that tell how fast this processor multiplies: a third of a millisecond each


def plan_of(model: ModelState, state: ProfilingState) -> Plan | None:
    """What the view's button measures; None if there is nothing."""
    return (plan_of_lengths if state.view == "length" else plan_of_rows)(model, state)


def plan_of_rows(model: ModelState, state: ProfilingState) -> Plan | None:
    """The configurations of the text box; None if there is none."""
    rows = rows_of(model, state)[0]
    return Plan(tuple(rows), setup_of(state)) if rows else None


def plan_of_lengths(model: ModelState, state: ProfilingState) -> Plan | None:
    """The sidebar's model at several lengths; None if it can have none of them."""
    shape = _shape_of(model, state)
    rows = tuple(_row(shape, state.target, length) for length in lengths_of(model, state)[0])
    return Plan(rows, setup_of(state)) if rows else None


def setup_of(state: ProfilingState) -> Setup:
    """How it is measured."""
    return Setup(
        device=state.device,
        dtype=state.dtype,
        threads=state.threads,
        rounds=state.rounds,
        backward=state.backward,
    )


def kind_of(model: ModelState, state: ProfilingState) -> dict[str, Any]:
    """What the rows have of the sidebar's model, beside its numbers: fields of `Size`."""
    vocab_size = state.vocabulary or model.config.vocab_size
    counted = state.count_embedding, state.count_output and model.gives_logits
    return {
        **_of_pretrained(model),
        "norm": model.norm,
        "activation": model.activation,
        "positional": model.positional,
        "architecture": model.architecture,
        "causal": model.masks_the_future,
        "vocab_size": vocab_size if any(counted) else 0,
        "ends": {(True, False): "embedding", (False, True): "output"}.get(counted, "both"),
    }


def _of_pretrained(model: ModelState) -> dict[str, Any]:
    """What a pretrained model does otherwise than those that are made here: fields of `Size`, beside its numbers."""
    if not model.pretrained:
        return {}
    config = model.config
    others = {name: getattr(config, name) for name in ("head", *OF_CONFIG) if not hasattr(ModelState, name)}
    if not POSITIONAL[config.positional].ends_at_max_len():
        del others["max_len"]
    return {name: value for name, value in others.items() if value != Size.__dataclass_fields__[name].default}


def rows_of(model: ModelState, state: ProfilingState) -> tuple[list[Row], list[str]]:
    """Each configuration with each target, as many as one measurement may have; and what was left out."""
    sizes, problems = sizes_of(state.sizes, state.batch, kind_of(model, state))
    rows = [Row(target, size) for size in sizes for target in names(state.targets) if not TARGETS[target].lacks(size)]
    if not sizes:
        problems.append("No line describes a configuration: for example, 64, 4, 2, 50.")
    else:
        lacking = {target: TARGETS[target].lacks(sizes[0]) for target in names(state.targets)}
        problems += [f"“{target}” is left out: {why}" for target, why in lacking.items() if why]
    if len(rows) > MOST_ROWS:
        problems.append(f"Of {len(rows)} rows the first {MOST_ROWS} are taken.")
    return rows[:MOST_ROWS], problems


def why_no_row(model: ModelState, state: ProfilingState) -> str:
    """Why there is no row: no line describes a configuration, or no target can be of the sidebar's kind."""
    if not sizes_of(state.sizes, state.batch)[0]:
        return NO_CONFIGURATION
    return " ".join(rows_of(model, state)[1])


def lengths_of(model: ModelState, state: ProfilingState) -> tuple[list[int], dict[int, str]]:
    """The lengths of the view "length" that are within the budget; and what each of the others would need."""
    within, left_out = _lengths(_shape_of(model, state), state.target, setup_of(state), state.longest)
    return list(within), dict(left_out)


# Ten places of a page ask for them, and whatever seed and text the sidebar has: worked out anew each time they were the
# half of its words and pictures.
@lru_cache(maxsize=256)
def _lengths(shape: Shape, target: str, setup: Setup, longest: int) -> tuple[tuple[int, ...], Mapping[int, str]]:
    rows: list[Row] = []
    left_out = {}
    for length in (length for length in LENGTHS if length <= longest and not _why_not(shape, target, length)):
        row = _row(shape, target, length)
        of_all = needs(Plan((*rows, row), setup))
        if of_all.bytes > BUDGET.bytes:
            left_out[length] = in_bytes(of_all.bytes)
        elif of_all.seconds > BUDGET.seconds:
            left_out[length] = in_seconds(of_all.seconds)
        else:
            rows.append(row)
    return tuple(row.size.seq_len for row in rows), left_out


def beyond_budget(left_out: Mapping[int, str]) -> str:
    """Which lengths are not asked for, and what they would need; "" if none is left out."""
    if not left_out:
        return ""
    each = [f"{formats.count(length)} tokens would need {need}" for length, need in left_out.items()]
    limit = f"{in_bytes(BUDGET.bytes)}, and {in_seconds(BUDGET.seconds)} with the shorter lengths"
    return f"{formats.listed(each)}. The limit is {limit}."


def why_no_length(model: ModelState, state: ProfilingState) -> str:
    """Why some lengths, or all, cannot be: the first reason; "" where all can."""
    shape = _shape_of(model, state)
    reasons = (_why_not(shape, state.target, length) for length in LENGTHS if length <= state.longest)
    return next(filter(None, reasons), "")


def why_not(model: ModelState, state: ProfilingState, length: int) -> str:
    """Why the sidebar's model cannot run at a length with the target of the view "length"; "" if it can."""
    return _why_not(_shape_of(model, state), state.target, length)


@lru_cache(maxsize=4096)
def _why_not(shape: Shape, target: str, length: int) -> str:
    try:
        row = _row(shape, target, length)
    except ValueError as problem:
        words = str(problem)
        return f"{words[:1].upper()}{words[1:]}."
    return TARGETS[row.target].lacks(row.size)


def _row(shape: Shape, target: str, length: int) -> Row:
    """The sidebar's model at a length.

    Raises:
        ValueError: where it cannot be so long.
    """
    return Row(target, Size(seq_len=length, **dict(shape)))


def _shape_of(model: ModelState, state: ProfilingState) -> Shape:
    """The sidebar's model without a length."""
    kind = kind_of(model, state)
    return tuple((_sizes_of_sidebar(model) | kind | {"batch": state.length_batch}).items())


def _sizes_of_sidebar(model: ModelState) -> dict[str, Any]:
    """The numbers of the sidebar's model, beside its length: fields of `Size`."""
    return {name: getattr(model, name) for name in ("d_model", "num_heads", "num_layers", "d_ff")}


def size_of_sidebar(model: ModelState) -> Size:
    """The sidebar's model at the length of its text."""
    return Size(seq_len=model.length, **_sizes_of_sidebar(model))


def sizes_of(text: str, batch: int, kind: Mapping[str, Any] | None = None) -> tuple[list[Size], list[str]]:
    """The configurations that a text describes, and what is wrong with the lines that describe none.

    A line may hold a fifth number, the hidden units of the feed-forward network.

    Args:
        text: a line for each.
        batch: of all.
        kind: more fields of `Size`, of all.
    """
    sizes, problems = list[Size](), []
    for number, line in enumerate(text.splitlines(), 1):
        if line.strip():
            try:
                sizes.append(_size(line, batch, kind or {}))
            except ValueError as problem:
                problems.append(f"Line {number}, “{line.strip()[:40]}”: {problem}.")
    return sizes, problems


def _size(line: str, batch: int, kind: Mapping[str, Any]) -> Size:
    words = line.replace(",", " ").split()
    numbers = [number for number in map(whole_number, words) if number is not None]
    if not 4 <= len(numbers) == len(words) <= 5:
        raise ValueError("expected 4 whole numbers, d_model, heads, layers and length; a fifth is d_ff")
    if max(numbers) > LARGEST:
        raise ValueError(f"expected numbers up to {LARGEST}")
    d_model, heads, layers, length, d_ff = [*numbers, 0][:5]
    if heads % (kind.get("num_kv_heads") or 1):
        kind = {**kind, "num_kv_heads": 0}  # so many heads cannot share so many keys: each has its own
    return Size(d_model=d_model, num_heads=heads, num_layers=layers, seq_len=length, batch=batch, d_ff=d_ff, **kind)


def line_of(size: Size) -> str:
    """The line of the text box that describes a size, without its batch: `sizes_of` reads it."""
    numbers = [size.d_model, size.num_heads, size.num_layers, size.seq_len]
    return ", ".join(map(str, numbers + ([size.d_ff] if size.d_ff else [])))


def needs(plan: Plan) -> Estimate:
    """What it will take, roughly."""
    return estimate(plan, _machine(plan.setup))


def refused(plan: Plan) -> str:
    """Why it is not measured here, with the estimate and what would fit; "" if it is."""
    return refusal(plan, BUDGET, _machine(plan.setup))


def limit(plan: Plan) -> float:
    """Seconds after which it is stopped: blocks that were contended are measured again, and estimates are rough."""
    return max(60.0, 3 * needs(plan).seconds)


def _machine(setup: Setup) -> Machine:
    """This machine at a first glance, for as long as the server runs.

    Not as it was measured since: the lengths that fit are part of what a link means, and must stay.
    """
    machine = _glance(setup.device, setup.dtype)
    return replace(machine, flops_per_second=setup.threads * machine.flops_per_second)


@lru_cache(maxsize=32)
def _glance(device: str, dtype: str) -> Machine:
    """A look at the machine with one thread, as for all that the server computes: last digits depend on it."""
    machine = describe(Setup(device=device, dtype=dtype))
    if device != "cpu":  # a product that small tells nothing of a GPU: cautious rates
        return machine
    a = torch.ones(SIDE, SIDE, dtype=getattr(torch, dtype))
    # By the processor's clock: torch's own waits for a GPU, which a forked process cannot, and nothing runs there.
    watch = Timer("torch.mm(a, a)", timer=time.perf_counter, globals={"torch": torch, "a": a})
    fastest = min(watch.timeit(1).median for _ in range(TIMES))  # nothing disturbs some of them
    return replace(machine, flops_per_second=2 * SIDE**3 / fastest)
