"""What the server counts and times, for /status and for a Prometheus server (tfm_ui/server/figures.py hands it out).

Labels are names of this project alone: nothing of a visitor is in them.
"""

import math

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, ProcessCollector

# Seconds, up to those after which a proxy gives up.
BOUNDS = (0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 60, 180)

REGISTRY = CollectorRegistry()
ProcessCollector(registry=REGISTRY)

PAGE_RUNS = Histogram(
    "attention_lab_page_run_seconds",
    "How long runs of a page, or of a part of it, took once they had their turn.",
    buckets=BOUNDS,
    registry=REGISTRY,
)
PAGE_ERRORS = Counter(
    "attention_lab_page_errors", "Runs of a page's script that an error has ended.", registry=REGISTRY
)
PICTURES = Histogram(
    "attention_lab_pictures_seconds",
    "How long answers with pictures took, from the request until the last byte was sent.",
    buckets=BOUNDS,
    registry=REGISTRY,
)
ANSWERS = Counter(
    "attention_lab_answers",
    "Answers by the pattern of their route, empty if none has answered, and by their HTTP status.",
    ["route", "status"],
    registry=REGISTRY,
)
REFUSED = Counter(
    "attention_lab_refused",
    "What was refused, by the limit that was reached: the name of a setting, or what was too long or too many.",
    ["limit"],
    registry=REGISTRY,
)
EQUAL = Counter(
    "attention_lab_equal_questions",
    "Questions for pictures that were being computed for another visitor, or had been computed a moment ago.",
    registry=REGISTRY,
)
TABS = Gauge("attention_lab_tabs", "Tabs that are open.", registry=REGISTRY)


def told_of(histogram: Histogram) -> dict[str, float | str]:
    """How often something was timed, its mean, and within which of the bounds the median and 95th percentile are.

    Times are in milliseconds; without any there is the count alone.
    """
    [family] = histogram.collect()
    of = {name: [sample for sample in family.samples if sample.name.endswith(name)] for name in ("_bucket", "_sum")}
    within = [(float(sample.labels["le"]), sample.value) for sample in of["_bucket"]]  # cumulated; the last is of all
    count = within[-1][1]
    if not count:
        return {"count": 0}
    told: dict[str, float | str] = {"count": int(count), "mean_ms": round(of["_sum"][0].value / count * 1000, 1)}
    for percent in (50, 95):
        bound = next(bound for bound, many in within if many >= count * percent / 100)
        told[f"p{percent}_within_ms"] = bound * 1000 if bound < math.inf else f"over {BOUNDS[-1] * 1000}"
    return told
