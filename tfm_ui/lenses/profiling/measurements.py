"""The measurements that are in the server's store: found by their name, or by what was measured, and shared by all."""

from contextlib import suppress
from hashlib import blake2b

from tfm_core.profiling import Plan, Report
from tfm_core.profiling.files import as_json, from_json
from tfm_ui.live.cache import cached, never
from tfm_ui.store.kinds import MEASUREMENTS
from tfm_ui.store.shared import store
from tfm_ui.store.store import StoreAway


def keep(report: Report, owner: str = "") -> None:
    """Remember it, and forget the oldest where there are too many, first the owner's.

    Raises:
        StoreAway: if it cannot be kept anywhere.
    """
    store().put(MEASUREMENTS, f"{_of(report.plan)}-{report.id}", as_json(report).encode(), owner)


def is_here(name: str) -> bool:
    """Whether the measurement of this name is still remembered, of whatever plan.

    Raises:
        StoreAway: if the store does not answer.
    """
    return any(key.endswith(f"-{name}") for key in store().keys(MEASUREMENTS))


def find(plan: Plan | None, name: str = "") -> Report | None:
    """The measurement of this plan that has this name; the latest one of the plan, where the name is another's.

    Nothing while the store does not answer: the row above the picture says so (tfm_ui/store/shared.py, `problem`).
    """
    with suppress(StoreAway):
        keys = [key for key in store().keys(MEASUREMENTS) if plan and key.startswith(f"{_of(plan)}-")]
        named = f"{_of(plan)}-{name}"
        for key in [named] if named in keys else keys[::-1]:
            entry = store().entry(MEASUREMENTS, key)
            report = _report(key, entry.digest) if entry else None
            if report and report.plan == plan:
                return report
    return None


@cached(heavy=never)
def _report(key: str, digest: str) -> Report | None:
    """The report with this digest, which is read once and not for each picture; None if it cannot be read as one."""
    value = store().get(MEASUREMENTS, key)
    try:
        return from_json(value.decode()) if value else None
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):  # somebody else has written it
        return None


def _of(plan: Plan | None) -> str:
    return blake2b(repr(plan).encode(), digest_size=8).hexdigest()
