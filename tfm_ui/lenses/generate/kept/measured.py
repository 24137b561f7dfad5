"""Measurements of writing that the server keeps, and the one that a link shows."""

from tfm_core.profiling.decoding_report import Decoding, DecodingPlan, as_json, from_json, plan_of
from tfm_ui.lenses.generate.state import GenerateState
from tfm_ui.live.measurements import Measurements
from tfm_ui.state.model_state import ModelState
from tfm_ui.text import provenance

measurements = Measurements("decoding-", as_json, from_json)


def plan(model: ModelState) -> DecodingPlan:
    """What the button measures: the model's shape, up to its context."""
    return plan_of(model.config, model.most_tokens)


def of_link(model: ModelState, state: GenerateState) -> Decoding | None:
    """The measurement that a link shows: only the one that it names."""
    report = measurements.find(plan(model), state.run) if state.run else None
    return report if report and report.id == state.run else None


def facts(report: Decoding) -> str:
    """When, where and how it was measured, and how much of it counts."""
    return provenance.facts(report, threads=1, dtype="float32")
