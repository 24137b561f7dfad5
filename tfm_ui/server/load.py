"""What runs, of which version, and what runs and waits in each queue: for /status and for the figures."""

import platform
import tomllib
from functools import cache
from importlib.metadata import version
from pathlib import Path

from tfm_ui.jobs import sessions
from tfm_ui.visitors.turn import LIMITER

PROJECT = Path(__file__).parents[2] / "pyproject.toml"


@cache
def versions() -> dict[str, str]:
    """What runs -> its version."""
    app = tomllib.loads(PROJECT.read_text(encoding="utf-8"))["project"]["version"] if PROJECT.is_file() else "unknown"
    packages = {name: version(name) for name in ("torch", "streamlit", "plotly")}
    return {"Attention Lab": app, "Python": platform.python_version()} | packages


def queues() -> dict[str, dict[str, int]]:
    """Queue -> how much of it runs and how much waits."""
    jobs = sessions.load()
    all_of_them = LIMITER.load() | {"measurements and trainings": (jobs.running, jobs.waiting)}
    return {name: {"running": running, "waiting": waiting} for name, (running, waiting) in all_of_them.items()}
