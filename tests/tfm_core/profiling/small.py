"""A plan that takes no time, and gates that do not depend on what else runs on the machine."""

import time

from tfm_core.profiling import Plan, Row, Setup, Size
from tfm_core.profiling.contention import Gate

SIZE = Size(d_model=8, num_heads=2, num_layers=1, seq_len=4, batch=2)
OPEN = Gate("pressure", lambda: 0.0)
SHUT = Gate("pressure", time.perf_counter)  # all of the time is lost


def plan_of(*targets: str, size: Size = SIZE, rounds: int = 3, **setup) -> Plan:
    """One row for each target."""
    return Plan(tuple(Row(target, size) for target in targets), Setup(rounds=rounds, **setup))
