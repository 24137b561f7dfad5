"""What imports of `tfm_core` cost beside `import torch`: processor time of new processes that take turns."""

import os
import statistics
import subprocess
import sys
from pathlib import Path

from benchmarks.measure import Figure, Figures, ratio, show

ROOT = Path(__file__).parents[1]
TORCH = "import torch"
IMPORTS = (
    "import tfm_core",
    "from tfm_core import Transformer, TransformerConfig, causal_mask, encode, recording",
    "from tfm_core import TASKS, TrainingConfig, run_store, train",
)
FIGURES = [Figure(f"Processor time of `{statement}`", f"`{TORCH}`") for statement in IMPORTS]


def main(rounds: int = 7) -> Figures:
    """Measure each import, after a round in which what is imported is compiled."""
    programs = (TORCH, *IMPORTS)
    seconds: dict[str, list[float]] = {program: [] for program in programs}
    for number in range(rounds + 1):
        for program in programs[:: 1 if number % 2 else -1]:
            took = _seconds(program)
            if number:
                seconds[program].append(took)
    ratios = {program: ratio(seconds[program], seconds[TORCH]) for program in IMPORTS}
    rows = [[program, f"{statistics.median(seconds[program]):.2f}", each] for program, each in ratios.items()]
    show("New processes, beside one that imports torch", ["imports", "seconds", "ratio (quartiles)"], rows)
    return dict(zip(FIGURES, [each.median for each in ratios.values()], strict=True))


def _seconds(program: str) -> float:
    """The processor time of a new process, which neighbours hardly change."""
    before = os.times()
    subprocess.run([sys.executable, "-c", program], cwd=ROOT, check=True)
    after = os.times()
    return after.children_user + after.children_system - before.children_user - before.children_system
