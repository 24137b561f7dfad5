"""The measurements that this server has made: found by their name, or by what was measured. Pure, and shared by all."""

import threading
from collections import OrderedDict

from tfm_core.profiling import Plan, Report

KEPT = 64

_kept: OrderedDict[str, Report] = OrderedDict()
_lock = threading.Lock()


def keep(report: Report) -> None:
    """Remember it, and forget the oldest where there are too many."""
    with _lock:
        _kept[report.id] = report
        while len(_kept) > KEPT:
            _kept.popitem(last=False)


def is_here(name: str) -> bool:
    """Whether the measurement of this name is still remembered, of whatever plan."""
    with _lock:
        return name in _kept


def find(plan: Plan | None, name: str = "") -> Report | None:
    """The measurement of this plan that has this name; the latest one of the plan, where the name is another's."""
    with _lock:
        of_plan = [report for report in _kept.values() if report.plan == plan]
    return next((report for report in of_plan if report.id == name), of_plan[-1] if of_plan else None)
