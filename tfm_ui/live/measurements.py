"""The measurements that are in the server's store: found by their name, or by what was measured, and shared by all."""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any, Generic, TypeVar

from tfm_core.profiling import Report
from tfm_core.profiling.decoding_report import Decoding
from tfm_ui.live.cache import cached, never
from tfm_ui.store.kinds import MEASUREMENTS
from tfm_ui.store.shared import store
from tfm_ui.store.store import StoreAway

# The report of a measurement; links have its `id`.
R = TypeVar("R", Report, Decoding)


@dataclass(eq=False)
class Measurements(Generic[R]):
    """The measurements of one kind.

    Attributes:
        begins: their names in the store.
        write: makes a text of a report.
        read: makes the report of a text. It raises ValueError, KeyError or TypeError for another text.
    """

    begins: str
    write: Callable[[R], str]
    read: Callable[[str], R]

    def keep(self, report: R, owner: str = "") -> None:
        """Remember it, and forget the oldest where there are too many, first the owner's.

        Raises:
            StoreAway: if it cannot be kept anywhere.
        """
        store().put(MEASUREMENTS, f"{self._of(report.plan)}-{report.id}", self.write(report).encode(), owner)

    def has(self, name: str) -> bool:
        """Whether the measurement of this name is still remembered, of whatever plan.

        Raises:
            StoreAway: if the store does not answer.
        """
        return any(key.endswith(f"-{name}") for key in store().keys(MEASUREMENTS))

    def find(self, plan: Any, name: str = "") -> R | None:
        """The measurement of this plan that has this name; the latest one of the plan, where the name is another's.

        Nothing while the store does not answer: the row of the button says so (tfm_ui/store/shared.py, `problem`).
        """
        with suppress(StoreAway):
            keys = [key for key in store().keys(MEASUREMENTS) if plan and key.startswith(f"{self._of(plan)}-")]
            named = f"{self._of(plan)}-{name}"
            for key in [named] if named in keys else keys[::-1]:
                entry = store().entry(MEASUREMENTS, key)
                report: R | None = _report(self, key, entry.digest) if entry else None
                if report and report.plan == plan:
                    return report
        return None

    def _of(self, plan: Any) -> str:
        return f"{self.begins}{blake2b(repr(plan).encode(), digest_size=8).hexdigest()}"


@cached(heavy=never)
def _report(of: Measurements[Any], key: str, digest: str) -> Any:
    """The report with this digest, which is read once and not for each picture; None if it cannot be read as one."""
    value = store().get(MEASUREMENTS, key)
    try:
        return of.read(value.decode()) if value else None
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):  # somebody else has written it
        return None
