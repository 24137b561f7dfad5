"""What a view shows a part of, as something that can be computed in full: what it costs, and what is kept of it."""

import secrets
from collections.abc import Hashable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property

from torch import Tensor

from tfm_core.profiling.units import in_bytes, in_seconds
from tfm_ui.live.cache import cached, never
from tfm_ui.settings import SETTINGS
from tfm_ui.state.pass_cost import NUMBER
from tfm_ui.store import exact
from tfm_ui.store.kinds import EXACT
from tfm_ui.store.store import StoreAway
from tfm_ui.text import formats

LONGEST = 600.0  # estimated seconds: others wait meanwhile
MOST = EXACT.largest // (2 * NUMBER) - 1000  # numbers in float64 that are kept of one result, beside its header
SHORT = 8  # characters of a name in a link that say of what settings it is
MISSING = (
    "This link is to a result of all that was asked for. This server does not have it, so a part is shown; “Compute "
    "all of it” makes the same result again."
)


@dataclass(frozen=True)
class Exact:
    """All of what a view shows a part of.

    Attributes:
        job: its name in the table of jobs.
        argument: the job's.
        seconds: what it takes, roughly.
        numbers: how many float64 numbers come out.
        needs: bytes that it takes while it is computed.
        by_hand: how the script under "Source" computes all of it, as the end of a sentence.
    """

    job: str
    argument: Hashable
    seconds: float
    numbers: int
    needs: int
    by_hand: str

    @cached_property
    def key(self) -> str:
        """Where it is kept."""
        return exact.key_of(self.job, self.argument)

    @property
    def why_not(self) -> str:
        """Why this server does not compute it, and how to do without the server, in sentences; "" if it does."""
        longest = min(LONGEST, SETTINGS.job_seconds)
        if self.seconds > longest:
            by = SETTINGS.lowered_by("job_seconds") if longest < LONGEST else ""
            why = f"would take {_than(in_seconds(self.seconds), in_seconds(longest))}{by}"
        elif self.numbers > MOST:
            why = f"would be {formats.count(self.numbers)} numbers, and {formats.count(MOST)} are the most here"
        elif self.needs > SETTINGS.job_bytes:
            memory = _than(in_bytes(self.needs), in_bytes(SETTINGS.job_bytes), of=" of memory")
            why = f"would take {memory}{SETTINGS.lowered_by('job_bytes')}"
        else:
            return ""
        return f"All of it {why}. Without the app: the script under “Source”, {self.by_hand}."

    def new_name(self) -> str:
        """A name for links: of what settings it is, and something new, so that pictures are asked for anew."""
        return f"{self._of_settings}{secrets.token_hex(2)}"

    def is_named(self, name: str) -> bool:
        """Whether this name in a link is about these settings."""
        return bool(name) and name[:SHORT] == self._of_settings

    @property
    def _of_settings(self) -> str:
        return self.key.rpartition("-")[2][:SHORT]

    @property
    def is_kept(self) -> bool:
        """Whether the server has it."""
        with suppress(StoreAway):
            return bool(exact.digest_of(self.key))
        return False

    def is_shown(self, name: str) -> bool:
        """Whether a link with this name shows it: then nothing is computed, and it is quickly read."""
        return self.is_named(name) and self.is_kept

    def shown(self, name: str) -> Mapping[str, Tensor] | None:
        """The result that a link with this name shows; None if it asks for a part, or the server does not have it."""
        if self.is_named(name):
            with suppress(StoreAway, LookupError):
                if digest := exact.digest_of(self.key):
                    return _read(self.key, digest)
        return None


def _than(much: str, most: str, of: str = "") -> str:
    """What is more than there may be, in words that do not call two numbers the same."""
    return (
        f"a little more than {most}{of}, the most here"
        if much == most
        else f"about {much}{of}, and {most} are the most here"
    )


@cached(heavy=never)
def _read(key: str, digest: str) -> Mapping[str, Tensor]:
    """The result with this digest, which is read once and not for each picture.

    Raises:
        LookupError: if it has just been dropped. That is not kept: computed again, it has the same digest.
    """
    numbers = exact.read(key)
    if numbers is None:
        raise LookupError(f"expected the result {key}, got none")
    return numbers
