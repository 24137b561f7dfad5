"""How many processes compute pictures, beside Streamlit's own process (tfm_ui/server/pool.py)."""

import os
from pathlib import Path

from tfm_ui.settings import SETTINGS

QUOTA = Path("/sys/fs/cgroup/cpu.max")  # what a container may use: microseconds of processor time, and in how many


def processors(quota: Path = QUOTA) -> int:
    """How many processors this process may use at the same time; a container may have a share of them only."""
    allowed = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    try:
        most, period = map(int, quota.read_text(encoding="ascii").split())
    except (OSError, ValueError):  # no such file, or no limit: "max 100000"
        return allowed
    return max(1, min(allowed, round(most / period)))


WORKERS = SETTINGS.workers or processors()
EACH_CACHE = SETTINGS.cache_bytes // (1 + WORKERS)  # bytes: Streamlit's own process has a cache, too
