"""Training without the app, into the same store.

`python -m tfm_core.training reverse induction,seed=1` trains runs; `python -m tfm_core.training compare reverse sort`
compares networks; `python -m tfm_core.training lab-gpt` makes the language model that comes with the app. `depth`
trains four wirings at four depths; `data-and-size` Lab GPT's recipe at four sizes, with four amounts of prose.
"""

import argparse
import os
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch

from tfm_core import allocator
from tfm_core.language import lab_bert, lab_gpt
from tfm_core.training.compare import compare
from tfm_core.training.compare.depth import Cell, DepthRecipe, cells, depth_runs
from tfm_core.training.compare.depth_table import NAME as DEPTH
from tfm_core.training.compare.depth_table import Depths, with_runs
from tfm_core.training.compare.finetuning import command as finetuning
from tfm_core.training.comparison import Comparison
from tfm_core.training.config import TrainingConfig, read_name
from tfm_core.training.contestants import Unmatched
from tfm_core.training.folder import FOLDER, SHIPPED, Folder, default_folder
from tfm_core.training.outcomes import Outcomes
from tfm_core.training.prose import data_and_size
from tfm_core.training.prose.make import make
from tfm_core.training.prose.make_masked import make_masked
from tfm_core.training.prose.masked import MaskedRecipe
from tfm_core.training.prose.recipe import Recipe
from tfm_core.training.run import Run
from tfm_core.training.store import RunStore
from tfm_core.training.tasks.table import TASKS
from tfm_core.training.train import train

INTERRUPTED = 130  # as a shell calls it
CORES = os.cpu_count() or 1
BAR = 24  # signs
COMPARE = "compare"  # before names of tasks
MOST_MAPS = 400_000  # bytes of attention that a shipped run has
# What the app comes with: enough for every lens to open on a model that has learned something.
SHIPPED_RUNS = ("reverse", "copy", "majority", "first-again", "induction", "sort", "dates", "brackets",
                "authors", "textbook", "textbook-random", "reverse-decoder", "sort-decoder",
                "translation", "question-answering", "summary")  # fmt: skip


def main(arguments: Sequence[str] | None = None) -> int:
    """Train what is asked for, and keep it; return the exit code."""
    parser = _parser()
    given = parser.parse_args(arguments)
    allocator.configure()
    if not 1 <= given.threads <= CORES:
        parser.error(f"--threads: expected 1 to {CORES}, as many as there are cores; got {given.threads}")
    if given.runs[:1] == [COMPARE]:
        return _compare(parser, given)
    if given.runs == [lab_gpt.NAME]:
        return _lab_gpt(parser, given)
    if given.runs == [lab_bert.NAME]:
        return _lab_bert(parser, given)
    if given.runs[:1] == [finetuning.NAME]:
        return _finetune(parser, given)
    if given.runs == [DEPTH]:
        return _depth(given)
    if given.runs == [data_and_size.NAME]:
        return _data_and_size(parser, given)
    try:
        configs = [read_name(name) for name in given.runs or (SHIPPED_RUNS if given.ship else ())]
        if not configs:
            raise ValueError(f"runs: expected some of {', '.join(TASKS)}, such as reverse,seed=1; got none")
        if any(config.file for config in configs):
            raise ValueError("runs: expected some that are trained from a seed, got weights of a file")
        if given.device == "cuda" and not torch.cuda.is_available():
            raise ValueError("--device: expected cpu, as torch finds no CUDA device here; got cuda")
    except ValueError as problem:
        parser.error(str(problem))
    torch.set_num_threads(given.threads)
    store = RunStore(_place(given))
    for config in configs:
        try:
            run = _train(config, None if given.again or given.ship else store, given.device)
        except KeyboardInterrupt:
            sys.stderr.write("\n")
            return INTERRUPTED
        store.keep(_light(run) if given.ship else run, optimizer=not given.ship)
        sys.stdout.write(f"{_outcome(run)}\n")
        if store.problem:
            sys.stderr.write(f"{store.problem}\n")
            return 1
    sys.stdout.write(f"kept in {store.shelf.place.where}\n")
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m tfm_core.training",
        description="Train small transformers on tasks with known answers. A run is named by its task and by what "
        "differs from the task's defaults: reverse,seed=3,learning_rate=0.02. The app finds what is trained here. "
        "`compare` and tasks: networks of about the same size, each with three seeds. `lab-gpt`: the language model; "
        "`lab-bert`: the encoder of BERT's form. "
        "`depth`: four wirings at four depths, half an hour. `data-and-size`: Lab GPT's recipe at four sizes, hours.",
        epilog="Tasks: " + "; ".join(f"{name}: {task.about}" for name, task in TASKS.items()),
    )
    parser.add_argument("runs", nargs="*", metavar="RUN")
    parser.add_argument("--device", default="cpu", choices=("cpu", "cuda"), help="cpu or cuda (%(default)s)")
    parser.add_argument("--threads", type=int, default=1, help="of torch, on the processor (%(default)s)")
    parser.add_argument("--out", type=Path, metavar="FOLDER", help=f"keep runs there, instead of ${FOLDER}")
    parser.add_argument("--again", action="store_true", help="train anew what is there already")
    parser.add_argument("--ship", action="store_true", help="make the runs that come with the app, without optimizer")
    return parser


def _place(given: argparse.Namespace) -> Folder | None:
    """Where is kept what comes out; None is the usual folder."""
    folder = SHIPPED if given.ship else given.out
    return Folder(folder) if folder else None


def _compare(parser: argparse.ArgumentParser, given: argparse.Namespace) -> int:
    """Compare the networks of some tasks, and keep what has come out; return the exit code."""
    tasks = given.runs[1:]
    if not tasks or any(task not in TASKS for task in tasks):
        parser.error(f"{COMPARE}: expected some of {', '.join(TASKS)}, got {', '.join(tasks) or 'none'}")
    torch.set_num_threads(given.threads)
    outcomes = Outcomes(_place(given))
    for task in tasks:
        try:
            for step in compare(task):
                _tell(f"{task}: {step.doing}, {step.seconds_left:.0f} s left", step.share)
        except Unmatched as problem:
            parser.error(str(problem))
        except KeyboardInterrupt:
            sys.stderr.write("\n")
            return INTERRUPTED
        outcomes.keep(step.comparison)
        sys.stdout.write(_ranking(step.comparison))
        if outcomes.problem:
            sys.stderr.write(f"{outcomes.problem}\n")
            return 1
    sys.stdout.write(f"kept in {outcomes.shelf.place.where}\n")
    return 0


def _lab_gpt(parser: argparse.ArgumentParser, given: argparse.Namespace) -> int:
    """Make the language model anew; return the exit code."""
    figures = _made(parser, given, lab_gpt.NAME, lambda work: make(work, given.out or lab_gpt.FOLDER, Recipe(), _tell))
    if figures is None:
        return INTERRUPTED
    sys.stdout.write("".join(f"{bits:6.3f} bits per byte  {name}\n" for name, bits in figures["bits_per_byte"].items()))
    return 0


def _lab_bert(parser: argparse.ArgumentParser, given: argparse.Namespace) -> int:
    """Make the encoder of BERT's form anew; return the exit code."""
    out, recipe = given.out or lab_bert.FOLDER, MaskedRecipe()
    figures = _made(parser, given, lab_bert.NAME, lambda work: make_masked(work, out, recipe, _tell))
    if figures is None:
        return INTERRUPTED
    right = figures["masked"]["right"].items()
    sys.stdout.write("".join(f"{share:7.2%} of held-out masked words  {name}\n" for name, share in right))
    return 0


def _made(
    parser: argparse.ArgumentParser, given: argparse.Namespace, name: str, make_in: Callable[[Path], dict[str, Any]]
) -> dict[str, Any] | None:
    """What a model's making has measured; None if somebody has interrupted it: what was done is kept."""
    if given.device != "cpu" or given.ship or given.again:
        parser.error(f"{name}: expected no --device cuda, --ship or --again: it is trained on the processor")
    work = default_folder().parent / name
    torch.set_num_threads(given.threads)
    try:
        return make_in(work)
    except ModuleNotFoundError as problem:
        parser.error(f"{problem}; pip install -r requirements-lab-gpt.txt")
    except ValueError as problem:
        parser.error(str(problem))
    except KeyboardInterrupt:
        sys.stderr.write(f"\nto go on: the same command again; {work} has what was done\n")
        return None


def _depth(given: argparse.Namespace) -> int:
    """Train each wiring at each depth, and keep the table after each run; return the exit code.

    If somebody interrupts it, the same command goes on.
    """
    torch.set_num_threads(given.threads)
    depths, recipe, every = Depths(_place(given)), DepthRecipe(), cells()
    table = with_runs(None if given.again else depths.kept(), recipe, [])
    try:
        for run in depth_runs(recipe, every, table.runs):
            table = with_runs(table, recipe, [run])
            depths.keep(table)
            _tell(_cell(run.cell), len(table.runs) / len(every))
    except KeyboardInterrupt:
        sys.stderr.write(f"\nto go on: the same command again; {depths.shelf.place.where} has what was done\n")
        return INTERRUPTED
    for (wiring, layers, warmup), group in table.groups.items():
        outcome = f"{group.accuracy:7.2%} right, {group.failed} of {len(group.runs)} no better than guessing"
        sys.stdout.write(f"{wiring:12} {layers:3d} layers, warm-up {warmup:3d}: {outcome}\n")
    if depths.shelf.problem:
        sys.stderr.write(f"{depths.shelf.problem}\n")
        return 1
    sys.stdout.write(f"{table.seconds:.0f} s, kept in {depths.shelf.place.where}\n")
    return 0


def _cell(cell: Cell) -> str:
    return f"{cell.wiring}, {cell.layers} layers, warm-up {cell.warmup}, seed {cell.seed}"


def _data_and_size(parser: argparse.ArgumentParser, given: argparse.Namespace) -> int:
    """Train Lab GPT's recipe at each size with each amount of prose; return the exit code."""
    if given.device != "cpu":
        parser.error(f"{data_and_size.NAME}: expected --device cpu: it is trained on the processor; got cuda")
    work = default_folder().parent / data_and_size.NAME
    texts = default_folder().parent / lab_gpt.NAME / "texts"
    out = (SHIPPED if given.ship else given.out or default_folder()) / f"{data_and_size.NAME}.json"
    torch.set_num_threads(given.threads)
    try:
        for row in data_and_size.make(texts, work, out, _tell, again=given.again):
            sys.stdout.write(
                f"{row['parameters']:9,d} parameters, {row['tokens']:9,d} tokens: {row['loss']:.3f} nats\n"
            )
    except ModuleNotFoundError as problem:
        parser.error(f"{problem}; pip install -r requirements-lab-gpt.txt")
    except ValueError as problem:
        parser.error(str(problem))
    except KeyboardInterrupt:
        sys.stderr.write(f"\nto go on: the same command again; {work} and {out} have what was done\n")
        return INTERRUPTED
    sys.stdout.write(f"kept in {out}\n")
    return 0


def _finetune(parser: argparse.ArgumentParser, given: argparse.Namespace) -> int:
    """Fine-tune Lab BERT in all ways; return the exit code."""
    torch.set_num_threads(given.threads)
    try:
        return finetuning.run(given.runs[1:], given.out, _tell)
    except ValueError as problem:
        parser.error(str(problem))
    except KeyboardInterrupt:
        sys.stderr.write("\n")
        return INTERRUPTED


def _ranking(comparison: Comparison) -> str:
    """A line for each network, the best first: the median over the seeds."""
    best = sorted(comparison.contestants, key=lambda entry: -entry.median("accuracy"))
    lines = (f"  {entry.median('accuracy'):7.2%}  {entry.parameters:6d}  {entry.config.name}\n" for entry in best)
    return f"{comparison.task}, {comparison.seconds:.0f} s\n{''.join(lines)}"


def _train(config: TrainingConfig, store: RunStore | None, device: str) -> Run:
    """The run, from the store as far as it is there; what is done when somebody interrupts it goes into the store."""
    run = store.find(config) if store else None
    if run and (run.is_complete or run.problem):
        return run
    try:
        for progress in train(config, store.beginning(config) if store else None, device=device):
            run = progress.run
            _tell(f"{config.name}: {progress.doing}, held-out accuracy {run.last.accuracy:.1%}", progress.share)
    except KeyboardInterrupt:
        if run and store:
            store.keep(run)
        raise
    assert run
    return run


def _light(run: Run) -> Run:
    """The run without the maps of a classifier of whole sequences, whose many heads no other lens shows.

    Of longer texts there are maps at fewer steps, so that all together have at most `MOST_MAPS` bytes.
    """
    if run.config.about.classes:
        return replace(run, maps={})
    apart = -(-sum(maps.nbytes for maps in run.maps.values()) // MOST_MAPS)
    kept = [*range(len(run.snapshots) - 1, -1, -max(1, apart))][::-1]  # the last one among them
    return replace(
        run,
        snapshots=tuple(run.snapshots[number] for number in kept),
        said=run.said[kept],
        maps={name: maps[kept] for name, maps in run.maps.items()},
    )


def _tell(line: str, share: float) -> None:
    """Draw a bar on a terminal, written over and over; elsewhere write nothing until the end."""
    if sys.stderr.isatty():
        full = round(share * BAR)
        sys.stderr.write(f"\r[{'#' * full}{'.' * (BAR - full)}] {line}\033[K" + "\n" * (share == 1))
        sys.stderr.flush()


def _outcome(run: Run) -> str:
    end = run.problem or f"{run.last.accuracy:.2%} of held-out answers right"
    return f"{run.config.name}: {run.done} steps in {run.seconds:.1f} s, {end}"


if __name__ == "__main__":
    sys.exit(main())
