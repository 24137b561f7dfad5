"""`python -m benchmarks [name ...]`: run the named benchmarks, by default all but the soak, which takes an hour.

With `--runs 1` each is run in a new process, and the tables of docs/how-fast.md are printed; with `--into` and this
file they also take the place of its tables. With names beside it, only their sections are measured anew.
"""

import argparse
import signal
import sys
from importlib import import_module
from pathlib import Path

from benchmarks import runs
from benchmarks.measure import AboveBarError
from tfm_core.allocator import configure

HELPERS = ("__init__", "__main__", "contenders", "measure", "runs")
NAMES = sorted(path.stem for path in Path(__file__).parent.glob("*.py") if path.stem not in HELPERS)

LONG = ("soak",)  # run only where they are named

if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description="How fast Attention Lab is.")
    parser.add_argument(
        "names",
        nargs="*",
        metavar="name",
        help=f"some of {', '.join(NAMES)}; by default all but {', '.join(LONG)}",
    )
    parser.add_argument("--runs", type=int, help="repeat in new processes, then print the tables of docs/how-fast.md")
    parser.add_argument("--into", type=Path, help="with --runs: a document whose tables are replaced")
    parser.add_argument("--figures", type=Path, help=argparse.SUPPRESS)  # for --runs: where to write numbers
    asked = parser.parse_args()
    names = asked.names or [name for name in NAMES if name not in LONG]
    if unknown := set(names) - set(NAMES):
        sys.exit(f"expected some of {', '.join(NAMES)}; got {', '.join(sorted(unknown))}")
    if asked.runs is not None and asked.runs < 1:
        sys.exit(f"--runs: expected at least 1, got {asked.runs}")
    if asked.into and not (asked.runs and asked.into.is_file()):
        sys.exit(f"--into: expected a document, and --runs beside it, got {asked.into}")
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # an exception, so that servers and browsers are ended
    if asked.runs:
        if failed := runs.repeat(names, asked.runs, asked.into):
            sys.exit(f"failed: {', '.join(failed)}")
    else:
        configure()  # as the app does
        above_bars = []
        for name in names:
            try:
                told = import_module(f"benchmarks.{name}").main()
            except AboveBarError as above:
                told = above.figures
                above_bars.append(f"{name}:\n{above}")
            if asked.figures:
                runs.write(name, told, asked.figures)
        if above_bars and not asked.figures:  # a table of figures has all of them
            sys.exit("\n".join(above_bars))
