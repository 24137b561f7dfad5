"""The Profiling lens's own controls: which view, what is measured, and what of it is looked at."""

import os
from dataclasses import dataclass

import torch

from tfm_core.profiling import DEFAULT_SIZES, TARGETS, Plan, Row, Setup, Size
from tfm_core.profiling.estimate import in_bytes, in_seconds
from tfm_ui.fields import Choice, Flag, Limits, Text, Whole, control
from tfm_ui.lists import Names, names
from tfm_ui.model_state import ModelState
from tfm_ui.profiling_lens.budget import BUDGET, needs

PREFIX = "profiling_"
VIEWS = ("compare", "length", "parts", "roofline")
DEVICES = ("cpu", "cuda") if torch.cuda.is_available() else ("cpu",)
CORES = os.cpu_count() or 1
LENGTHS = (32, 64, 128, 256, 512, 1024, 2048)
MOST_ROWS = 40
LARGEST = 65536  # of each number in the text box
SIZES = "\n".join(f"{s.d_model}, {s.num_heads}, {s.num_layers}, {s.seq_len}" for s in DEFAULT_SIZES)


@dataclass(frozen=True, kw_only=True)
class ProfilingState:
    """One for all views: `compare`, `parts` and `roofline` show one measurement, `length` has its own."""

    view: str = control(Choice("View", VIEWS, "buttons"), default="compare")

    # what is measured together
    sizes: str = control(Text("A line each: d_model, heads, layers, length", 600, height=158), default=SIZES)
    targets: str = control(Names("Targets", tuple(TARGETS)), default="with weights", held=True)
    batch: int = control(Whole("Batch", 1, 64, box=True, help="Sequences side by side."), default=16)

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


def sizes_of(text: str, batch: int) -> tuple[list[Size], list[str]]:
    """The configurations that a text describes, and what is wrong with the lines that describe none.

    A line may hold a fifth number, the hidden units of the feed-forward network.
    """
    found, problems = [], []
    for number, line in enumerate(text.splitlines(), 1):
        if line.strip():
            try:
                found.append(_size(line, batch))
            except ValueError as problem:
                problems.append(f"Line {number}, “{line.strip()[:40]}”: {problem}.")
    return found, problems


def _size(line: str, batch: int) -> Size:
    words = line.replace(",", " ").split()
    if not 4 <= len(words) <= 5 or not all(word.isascii() and word.isdigit() for word in words):
        raise ValueError("expected 4 whole numbers, d_model, heads, layers and length; a fifth is d_ff")
    if any(len(word) > len(str(LARGEST)) or int(word) > LARGEST for word in words):
        raise ValueError(f"expected numbers up to {LARGEST}")
    d_model, heads, layers, length, d_ff = map(int, [*words, "0"][:5])
    return Size(d_model=d_model, num_heads=heads, num_layers=layers, seq_len=length, batch=batch, d_ff=d_ff)


def line_of(size: Size) -> str:
    """The line of the text box that describes it, without its batch."""
    numbers = [size.d_model, size.num_heads, size.num_layers, size.seq_len]
    return ", ".join(map(str, numbers + ([size.d_ff] if size.d_ff else [])))


def rows_of(state: ProfilingState) -> tuple[list[Row], list[str]]:
    """Each configuration with each target, as many as one measurement may have; and what was left out."""
    sizes, problems = sizes_of(state.sizes, state.batch)
    rows = [Row(target, size) for size in sizes for target in names(state.targets)]
    if not rows:
        problems.append("No line describes a configuration: for example, 64, 4, 2, 50.")
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
    for length in (length for length in LENGTHS if length <= state.longest):
        plan = Plan(tuple(_row(model, state, n) for n in (*taken, length)), setup_of(state))
        of_all = needs(plan)
        if of_all.bytes > BUDGET.bytes:
            left_out[length] = in_bytes(of_all.bytes)
        elif of_all.seconds > BUDGET.seconds:
            left_out[length] = in_seconds(of_all.seconds)
        else:
            taken.append(length)
    return taken, left_out


def _row(model: ModelState, state: ProfilingState, length: int) -> Row:
    """The sidebar's model at a length."""
    size = Size(
        d_model=model.d_model,
        num_heads=model.num_heads,
        num_layers=model.num_layers,
        seq_len=length,
        batch=state.length_batch,
        d_ff=model.d_ff,
    )
    return Row(state.target, size)


def plan_of(model: ModelState, state: ProfilingState) -> Plan | None:
    """What this view's button measures; None if there is nothing."""
    if state.view == "length":
        rows = tuple(_row(model, state, length) for length in lengths_of(model, state)[0])
    else:
        rows = tuple(rows_of(state)[0])
    return Plan(rows, setup_of(state)) if rows else None
