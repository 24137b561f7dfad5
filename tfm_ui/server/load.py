"""What runs, of which version, and what runs and waits in each queue: for /status and for the figures."""

import platform
from functools import cache
from importlib.metadata import version

from tfm_core.version import __version__
from tfm_ui.jobs import sessions
from tfm_ui.visitors.turn import LIMITER


@cache
def versions() -> dict[str, str]:
    """What runs -> its version."""
    packages = {name: version(name) for name in ("torch", "streamlit", "plotly")}
    return {"Attention Lab": __version__, "Python": platform.python_version()} | packages


def queues() -> dict[str, dict[str, int]]:
    """Queue -> how much of it runs and how much waits."""
    jobs = sessions.load()
    all_of_them = LIMITER.load() | {"measurements and trainings": (jobs.running, jobs.waiting)}
    return {name: {"running": running, "waiting": waiting} for name, (running, waiting) in all_of_them.items()}
