"""What a transformer costs: parameters, operations, memory and time, measured beside theory.

    python -m tfm_core.profiling

- `plan` says what is to be measured: rows of a target and a `size`, in a `setup`; `targets` lists what can be.
- `run.profile` measures it, and `report` is what comes out; `files` and `files_text` write it down.
- `costs` and the closed forms say beforehand what it must cost, and `estimate` whether that fits.
"""

from tfm_core.profiling.plan import DEFAULT_SIZES, Plan, Row
from tfm_core.profiling.report import Blocks, Machine, Measured, Memory, PartTime, Progress, Report
from tfm_core.profiling.run import profile
from tfm_core.profiling.setup import Setup
from tfm_core.profiling.size import Size
from tfm_core.profiling.targets import TARGETS

__all__ = [
    "DEFAULT_SIZES",
    "TARGETS",
    "Blocks",
    "Machine",
    "Measured",
    "Memory",
    "PartTime",
    "Plan",
    "Progress",
    "Report",
    "Row",
    "Setup",
    "Size",
    "profile",
]
