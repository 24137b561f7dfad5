"""What is kept in the store, and how much of it."""

from dataclasses import replace

from tfm_ui.settings import SETTINGS
from tfm_ui.store.store import Kind

DAY = 86_400.0  # seconds

UPLOADS = Kind(
    "uploads",
    together=SETTINGS.upload_bytes,
    each=SETTINGS.upload_bytes_per_visitor,
    network=max(SETTINGS.upload_bytes // 2, SETTINGS.upload_bytes_per_visitor),
    lifetime=7 * DAY,  # since it was looked at last: Redis would keep what a visitor has brought for ever
    reading_renews=True,
)
MEASUREMENTS = Kind("measurements", together=16_000_000, each=8_000_000, most=4_000_000)
RUNS = Kind("runs", together=SETTINGS.runs_bytes, each=SETTINGS.runs_bytes // 2)
LOADED = replace(RUNS, name="loaded", together=RUNS.together // 5, each=RUNS.each // 5)  # pushes out nothing trained
COMPARISONS = Kind("comparisons", together=4_000_000, most=1_000_000)
TALKS = Kind("talks", together=2_000_000, each=20_000, most=1_000, lifetime=DAY)  # where speakers are in their lectures
EXACT = Kind("exact", together=64_000_000, each=32_000_000, most=18_000_000, lifetime=7 * DAY, reading_renews=True)
KINDS = (UPLOADS, MEASUREMENTS, RUNS, LOADED, COMPARISONS, TALKS, EXACT)
