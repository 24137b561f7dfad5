"""`python -m tfm_core.profiling`: the measurements of the Profiling lens without the app, for a GPU host too."""

import argparse
import shutil
import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from tempfile import NamedTemporaryFile

import torch

from tfm_core.allocator import configure
from tfm_core.model.kind import KINDS
from tfm_core.profiling import memory
from tfm_core.profiling.estimate import Budget, refusal
from tfm_core.profiling.files import as_csv, as_json
from tfm_core.profiling.files_text import as_text
from tfm_core.profiling.machine import cores
from tfm_core.profiling.plan import DEFAULT_SIZES, Plan, Row
from tfm_core.profiling.report import FEWEST, Progress, Report
from tfm_core.profiling.run import profile
from tfm_core.profiling.setup import DTYPES, Setup
from tfm_core.profiling.size import ENDS, Size
from tfm_core.profiling.targets import TARGETS
from tfm_core.profiling.units import in_seconds

INTERRUPTED = 130  # as a shell calls it


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, print the table, and write the files; return the exit code."""
    parser = _parser()
    given = parser.parse_args(arguments)
    configure()
    try:
        plan = _plan(given)
    except ValueError as problem:
        parser.error(str(problem))
    if refused := refusal(plan, Budget(given.seconds, given.bytes or memory.installed(given.device))):
        parser.error(refused)
    if given.out and (reason := _cannot_write(given.out)):
        parser.error(f"--out: expected a folder to write to, got {given.out}: {reason}")
    report, code = None, 0
    doing = ""
    try:
        for progress in profile(plan):
            report = progress.report
            doing = _tell(progress, doing)
    except KeyboardInterrupt:
        code = INTERRUPTED
        sys.stderr.write("\n")
    if report is None:
        return code
    sys.stdout.write(as_text(report))
    if given.out:
        _write(report, given.out)
    return code


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m tfm_core.profiling",
        description="What transformers cost: parameters, operations, time and memory, each row measured in rounds "
        "that are interleaved. Blocks in which the processor was contended do not count where enough are clean.",
        epilog="Targets: " + "; ".join(f"{name}: {target.about}" for name, target in TARGETS.items()),
    )
    sizes = [f"{s.d_model},{s.num_heads},{s.num_layers},{s.seq_len}" for s in DEFAULT_SIZES]
    parser.add_argument("--rows", nargs="+", default=sizes, metavar="d_model,heads,layers,length")
    parser.add_argument("--targets", nargs="+", default=["with weights"], metavar="NAME", help="or: all")
    parser.add_argument("--lengths", nargs="+", type=int, metavar="LENGTH", help="measure each row at each of these")
    parser.add_argument("--batch", type=int, default=16, help="sequences side by side (%(default)s)")
    for choice in ("architecture", "norm", "activation", "positional"):
        default = getattr(Size, choice)
        words = f"{', '.join(KINDS[choice])} (%(default)s)"
        parser.add_argument(f"--{choice}", default=default, choices=tuple(KINDS[choice]), metavar="NAME", help=words)
    parser.add_argument("--causal", action="store_true", help="encoders do not look ahead; decoders never do")
    parser.add_argument(
        "--vocabulary",
        type=int,
        default=0,
        metavar="IDS",
        help="with embedding and output of so many token ids, which share one matrix (0: without them)",
    )
    words = "which of embedding and output to count where there are token ids: both, embedding or output (%(default)s)"
    parser.add_argument("--ends", default=Size.ends, choices=tuple(ENDS), metavar="NAME", help=words)
    parser.add_argument("--device", default="cpu", help="cpu or cuda (%(default)s)")
    parser.add_argument("--dtype", default="float32", help=f"{', '.join(DTYPES)} (%(default)s)")
    parser.add_argument("--threads", type=int, default=1, help="of torch, on the processor (%(default)s)")
    parser.add_argument(
        "--rounds",
        type=int,
        default=15,
        help=f"how often each row has its turn (%(default)s); a time needs {FEWEST} rounds",
    )
    parser.add_argument("--seed", type=int, default=0, help="of weights and inputs (%(default)s)")
    parser.add_argument("--no-backward", action="store_true", help="the forward pass alone")
    parser.add_argument(
        "--seconds", type=_limit, default=21600, help="refuse what is estimated to take longer (6 hours)"
    )
    parser.add_argument(
        "--bytes", type=_limit, help="refuse what is estimated to need more memory (all of the device's)"
    )
    parser.add_argument("--out", type=Path, metavar="FOLDER", help="write profile-<measurement>.json and .csv there")
    return parser


def _limit(text: str) -> float:
    """A number above 0, or inf."""
    with suppress(ValueError):
        if (number := float(text)) > 0:
            return number
    raise argparse.ArgumentTypeError(f"expected a number above 0, got {text!r}")


def _plan(given: argparse.Namespace) -> Plan:
    """What was asked for.

    Raises:
        ValueError: a sentence that says what was expected and what came.
    """
    targets = list(TARGETS) if given.targets == ["all"] else given.targets
    if unknown := [name for name in targets if name not in TARGETS]:
        raise ValueError(f"--targets: expected some of {', '.join(TARGETS)}; got {', '.join(unknown)}")
    if given.device == "cuda" and not torch.cuda.is_available():
        raise ValueError("--device: expected cpu, as torch finds no CUDA device here; got cuda")
    if given.threads > cores():
        raise ValueError(f"--threads: expected at most {cores()}, as many as there are cores; got {given.threads}")
    sizes = [size for text in given.rows for size in _sizes(text, given)]
    setup = Setup(
        device=given.device,
        dtype=given.dtype,
        threads=given.threads,
        rounds=given.rounds,
        backward=not given.no_backward,
        seed=given.seed,
    )
    return Plan(tuple(Row(target, size) for size in sizes for target in targets), setup)


def _sizes(text: str, given: argparse.Namespace) -> list[Size]:
    try:
        d_model, heads, layers, length = (int(word) for word in text.replace(",", " ").split())
    except ValueError:
        raise ValueError(f"--rows: expected four whole numbers as in 64,4,2,50; got {text!r}") from None
    return [
        Size(
            d_model=d_model,
            num_heads=heads,
            num_layers=layers,
            seq_len=seq_len,
            batch=given.batch,
            norm=given.norm,
            activation=given.activation,
            positional=given.positional,
            architecture=given.architecture,
            causal=given.causal,
            vocab_size=given.vocabulary,
            ends=given.ends,
        )
        for seq_len in given.lengths or [length]
    ]


def _tell(progress: Progress, before: str) -> str:
    """Print one line, overwritten, on a terminal; elsewhere a line for each thing done. Return what is done now."""
    line = f"{progress.share:4.0%}  {in_seconds(progress.seconds_left)} left  {progress.doing}"
    if sys.stderr.isatty():
        width = shutil.get_terminal_size().columns - 1
        sys.stderr.write(f"\r{line[:width]:{width}}" + "\n" * (progress.share == 1))
    elif progress.doing != before:
        sys.stderr.write(f"{line}\n")
    sys.stderr.flush()
    return progress.doing


def _cannot_write(folder: Path) -> str:
    """Why not, told before anything is measured; "" if one can."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with NamedTemporaryFile(dir=folder):
            return ""
    except OSError as error:
        return error.strerror or str(error)


def _write(report: Report, folder: Path) -> None:
    for ending, text in (("json", as_json(report)), ("csv", as_csv(report))):
        path = folder / f"profile-{report.id}.{ending}"
        path.write_text(text, encoding="utf-8")
        sys.stdout.write(f"{path}\n")


if __name__ == "__main__":
    sys.exit(main())
