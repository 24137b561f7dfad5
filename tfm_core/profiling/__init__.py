"""What a transformer costs: parameters, operations, memory and time, measured beside theory.

    python -m tfm_core.profiling

`plan` says what is to be measured, `targets` what can be, `run.profile` measures it, `report` is what comes out.
"""

from tfm_core.profiling.plan import DEFAULT_SIZES, Plan, Row, Setup, Size
from tfm_core.profiling.report import Blocks, Machine, Measured, Memory, PartTime, Progress, Report
from tfm_core.profiling.run import profile
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
