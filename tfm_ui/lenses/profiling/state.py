"""The Profiling lens's own controls: which view, what is measured, and what of it is looked at."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import torch

from tfm_core.profiling import DEFAULT_SIZES, TARGETS, Plan, Row, Setup, Size
from tfm_core.profiling.units import in_bytes, in_seconds
from tfm_ui.lenses.profiling.budget import BUDGET, needs
from tfm_ui.state.fields import Choice, Flag, Limits, Text, Whole, control, whole_number
from tfm_ui.state.lists import Names, names
from tfm_ui.state.model_state import ModelState

PREFIX = "profiling_"
VIEWS = ("compare", "length", "parts", "roofline")
DEVICES = ("cpu", "cuda") if torch.cuda.is_available() else ("cpu",)
CORES = os.cpu_count() or 1
LENGTHS = (32, 64, 128, 256, 512, 1024, 2048)
MOST_ROWS = 40
LARGEST = 65536  # of each number in the text box
LARGEST_VOCABULARY = 200_000
SIZES = "\n".join(f"{s.d_model}, {s.num_heads}, {s.num_layers}, {s.seq_len}" for s in DEFAULT_SIZES)


@dataclass(frozen=True, kw_only=True)
class ProfilingState:
    """One for all views: `compare`, `parts` and `roofline` show one measurement, `length` has its own."""

    view: str = control(Choice("View", VIEWS, "buttons"), default="compare")

    # what is measured together
    sizes: str = control(Text("A line each: d_model, heads, layers, length", 600, height=158), default=SIZES)
    targets: str = control(Names("Targets", tuple(TARGETS)), default="with weights", held=True)
    batch: int = control(Whole("Batch", 1, 64, box=True, help="Sequences side by side."), default=16)

    # what is counted of the transformer
    embedding: bool = control(
        Flag("Embedding and output", help="One matrix for both, as in the sidebar’s model. Off: the layers alone."),
        default=False,
    )
    vocabulary: int = control(
        Whole(
            "Vocabulary",
            0,
            LARGEST_VOCABULARY,
            box=True,
            help="Token ids of embedding and output, where they count; 0: as many as the sidebar’s tokenizer has.",
        ),
        default=0,
    )

    # length: the sidebar's model
    target: str = control(Choice("Target", tuple(TARGETS)), default="with weights")
    longest: int = control(Choice("Up to", LENGTHS[3:], help="Tokens of the longest sequence."), default=2048)
    length_batch: int = control(Whole("Batch", 1, 64, box=True, help="Sequences side by side."), default=1)

    # how
    rounds: int = control(Whole("Rounds", 3, 30, box=True, help="How often each has its turn."), default=9)
    backward: bool = control(Flag("Forward + backward too"), default=True)
    dtype: str = control(Choice("dtype", ("float32", "bfloat16", "float64")), default="float32")
    device: str = control(Choice("Device", DEVICES), default="cpu")
    threads: int = control(
        Whole("Threads", 1, CORES, box=True, help="More threads than free cores: one busy neighbour stalls them all."),
        default=1,
    )

    # what of it is looked at
    run: str = control(Text("Measurement", 12), default="", held=True)
    baseline: int = control(
        Whole("Beside row", 1, MOST_ROWS, box=True, help="Ratios are taken over this row."), default=1
    )
    row: int = control(Whole("Row", 1, MOST_ROWS, box=True), default=1)

    @staticmethod
    def limits(model: ModelState) -> Limits:
        """The model leaves everything to choose from."""
        return {}


def kind_of(model: ModelState, state: ProfilingState) -> dict[str, Any]:
    """What the rows have of the sidebar's model, beside its numbers: fields of `Size`."""
    vocab_size = state.vocabulary or model.config.vocab_size
    return {
        "norm": model.norm,
        "activation": model.activation,
        "positional": model.positional,
        "architecture": model.architecture,
        "causal": model.masks_the_future,
        "vocab_size": vocab_size if state.embedding else 0,
    }


def sizes_of(text: str, batch: int, kind: Mapping[str, Any] | None = None) -> tuple[list[Size], list[str]]:
    """The configurations that a text describes, and what is wrong with the lines that describe none.

    A line may hold a fifth number, the hidden units of the feed-forward network.

    Args:
        text: a line for each.
        batch: of all.
        kind: more fields of `Size`, of all.
    """
    found, problems = [], []
    for number, line in enumerate(text.splitlines(), 1):
        if line.strip():
            try:
                found.append(_size(line, batch, kind or {}))
            except ValueError as problem:
                problems.append(f"Line {number}, “{line.strip()[:40]}”: {problem}.")
    return found, problems


def _size(line: str, batch: int, kind: Mapping[str, Any]) -> Size:
    words = line.replace(",", " ").split()
    given = [number for number in map(whole_number, words) if number is not None]
    if not 4 <= len(given) == len(words) <= 5:
        raise ValueError("expected 4 whole numbers, d_model, heads, layers and length; a fifth is d_ff")
    if max(given) > LARGEST:
        raise ValueError(f"expected numbers up to {LARGEST}")
    d_model, heads, layers, length, d_ff = [*given, 0][:5]
    return Size(d_model=d_model, num_heads=heads, num_layers=layers, seq_len=length, batch=batch, d_ff=d_ff, **kind)


def line_of(size: Size) -> str:
    """The line of the text box that describes it, without its batch."""
    numbers = [size.d_model, size.num_heads, size.num_layers, size.seq_len]
    return ", ".join(map(str, numbers + ([size.d_ff] if size.d_ff else [])))


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


def setup_of(state: ProfilingState) -> Setup:
    """How it is measured."""
    return Setup(
        device=state.device,
        dtype=state.dtype,
        threads=state.threads,
        rounds=state.rounds,
        backward=state.backward,
    )


def lengths_of(model: ModelState, state: ProfilingState) -> tuple[list[int], dict[int, str]]:
    """The lengths of the view "length" that are within the budget; and what each of the others would need."""
    taken: list[int] = []
    left_out = {}
    for length in (length for length in LENGTHS if length <= state.longest and not cannot(model, state, length)):
        plan = Plan(tuple(_row(model, state, n) for n in (*taken, length)), setup_of(state))
        of_all = needs(plan)
        if of_all.bytes > BUDGET.bytes:
            left_out[length] = in_bytes(of_all.bytes)
        elif of_all.seconds > BUDGET.seconds:
            left_out[length] = in_seconds(of_all.seconds)
        else:
            taken.append(length)
    return taken, left_out


def cannot(model: ModelState, state: ProfilingState, length: int) -> str:
    """Why the sidebar's model cannot run at a length with the target of the view "length"; "" if it can."""
    try:
        row = _row(model, state, length)
    except ValueError as problem:
        words = str(problem)
        return f"{words[:1].upper()}{words[1:]}."
    return TARGETS[row.target].lacks(row.size)


def _row(model: ModelState, state: ProfilingState, length: int) -> Row:
    """The sidebar's model at a length.

    Raises:
        ValueError: where it cannot be so long.
    """
    size = Size(
        d_model=model.d_model,
        num_heads=model.num_heads,
        num_layers=model.num_layers,
        seq_len=length,
        batch=state.length_batch,
        d_ff=model.d_ff,
        **kind_of(model, state),
    )
    return Row(state.target, size)


def plan_of(model: ModelState, state: ProfilingState) -> Plan | None:
    """What this view's button measures; None if there is nothing."""
    if state.view == "length":
        rows = tuple(_row(model, state, length) for length in lengths_of(model, state)[0])
    else:
        rows = tuple(rows_of(model, state)[0])
    return Plan(rows, setup_of(state)) if rows else None
