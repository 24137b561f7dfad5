"""Measurements of writing that the server keeps: found by their name, or by what was measured, and shared by all."""

from contextlib import suppress
from datetime import datetime
from hashlib import blake2b

from tfm_core.profiling.decoding_report import Decoding, DecodingPlan, as_json, from_json, plan_of
from tfm_ui.lenses.generate.state import GenerateState
from tfm_ui.live.cache import cached, never
from tfm_ui.state.model_state import ModelState
from tfm_ui.store.kinds import MEASUREMENTS
from tfm_ui.store.shared import store
from tfm_ui.store.store import StoreAway
from tfm_ui.text import formats

KIND = "decoding"  # begins their names in the store


def plan(model: ModelState) -> DecodingPlan:
    """What the button measures: the model's shape, up to its context."""
    return plan_of(model.config, model.most_tokens)


def keep(report: Decoding, owner: str = "") -> None:
    """Remember it, and forget the oldest where there are too many, first the owner's.

    Raises:
        StoreAway: if it cannot be kept anywhere.
    """
    store().put(MEASUREMENTS, f"{_of(report.plan)}-{report.id}", as_json(report).encode(), owner)


def find(plan: DecodingPlan, name: str = "") -> Decoding | None:
    """The measurement of this plan that has this name; the latest one of the plan, where the name is another's.

    Nothing while the store does not answer.
    """
    with suppress(StoreAway):
        keys = [key for key in store().keys(MEASUREMENTS) if key.startswith(f"{_of(plan)}-")]
        named = f"{_of(plan)}-{name}"
        for key in [named] if named in keys else keys[::-1]:
            entry = store().entry(MEASUREMENTS, key)
            report = _report(key, entry.digest) if entry else None
            if report and report.plan == plan:
                return report
    return None


def of_link(model: ModelState, state: GenerateState) -> Decoding | None:
    """The measurement that a link shows: only the one that it names."""
    report = find(plan(model), state.run) if state.run else None
    return report if report and report.id == state.run else None


def facts(report: Decoding) -> str:
    """When, where and how it was measured, and whether it was disturbed."""
    began = datetime.fromisoformat(report.started)
    machine, (timings, disturbed) = report.machine, report.blocks
    on = " · ".join([machine.device, "1 thread", "float32", f"torch {machine.torch}"])
    said = f"Measured {began.day} {began:%b %Y, %H:%M} UTC in {formats.duration(1000 * report.seconds)}: {on}."
    if disturbed:
        said += f" Other programs ran during {formats.count(disturbed)} of {formats.count(timings)} timings."
    return said


@cached(heavy=never)
def _report(key: str, digest: str) -> Decoding | None:
    """The report with this digest, which is read once and not for each picture; None if it cannot be read as one."""
    value = store().get(MEASUREMENTS, key)
    try:
        return from_json(value.decode()) if value else None
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):  # somebody else has written it
        return None


def _of(plan: DecodingPlan) -> str:
    return f"{KIND}-{blake2b(repr(plan).encode(), digest_size=8).hexdigest()}"
