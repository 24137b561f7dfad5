"""The lens's numbers without the app: scripts that measure a plan anew, and what is worked out from its report."""

from tfm_core.profiling import Plan, Report, Row, Setup, costs, profile, scaling
from tfm_core.profiling import Size as Size  # of the rows in a script's header
from tfm_core.profiling.scaling import Fit
from tfm_core.profiling.statistics import Interval, ratio


def measure(plan: Plan) -> Report:
    """Measure it, and print how far that is."""
    for progress in profile(plan):
        print(f"{100 * progress.share:.0f} % {progress.doing}")
    return progress.report


def median_times(*, rows: tuple[Row, ...], setup: Setup) -> list[float]:
    """Seconds of each row's forward pass."""
    report = measure(Plan(rows, setup))
    medians = [measured.forward.median for measured in report.measured]
    return medians


def every_round(*, rows: tuple[Row, ...], setup: Setup) -> list[list[float]]:
    """Seconds of each row's forward pass in each round."""
    report = measure(Plan(rows, setup))
    seconds = [list(measured.forward.sample.values()) for measured in report.measured]
    return seconds


def ratios_to_row(*, rows: tuple[Row, ...], setup: Setup, baseline: int) -> list[Interval]:
    """Each row over one of them; the baseline is counted from 0."""
    report = measure(Plan(rows, setup))
    base = report.measured[baseline].forward
    ratios = [ratio(measured.forward, base) for measured in report.measured]
    return ratios


def growth(*, rows: tuple[Row, ...], setup: Setup) -> tuple[list[float], Fit, float]:
    """Seconds at each length, the law fitted to them, and the exponent of the FLOPs over the same lengths."""
    report = measure(Plan(rows, setup))
    medians = [measured.forward.median for measured in report.measured]
    lengths = [row.size.seq_len for row in rows]
    fit = scaling.fit(lengths, [measured.forward for measured in report.measured])  # its exponent with a 95 % interval
    flops = [sum(costs.flops(row).values()) for row in rows]
    timed = [bool(measured.forward.sample) for measured in report.measured]
    is_fitted = sum(timed) >= 3  # else the FLOPs are those of all lengths
    counted = [count if there or not is_fitted else 0 for count, there in zip(flops, timed, strict=True)]
    theory = scaling.exponent(lengths, counted)
    return medians, fit, theory


def peak_memory(*, rows: tuple[Row, ...], setup: Setup) -> tuple[list[int], list[int | None], list[int | None]]:
    """Bytes of each row's forward pass: in closed form, as the allocator counted, as the system saw."""
    report = measure(Plan(rows, setup))
    predicted = [costs.peak_memory(row, setup) for row in rows]
    allocated = [measured.memory.allocated for measured in report.measured]
    system = [measured.memory.system for measured in report.measured]
    return predicted, allocated, system


def parts_at_lengths(*, rows: tuple[Row, ...], setup: Setup) -> tuple[list[dict[str, int]], list[dict[str, float]]]:
    """FLOPs and seconds of each row's parts."""
    report = measure(Plan(rows, setup))
    flops = [costs.flops(row) for row in rows]
    parts = [{part.name: part.seconds for part in measured.parts} for measured in report.measured]
    return flops, parts


def overtaking(
    *, rows: tuple[Row, ...], setup: Setup
) -> tuple[list[dict[str, int]], list[dict[str, float]], float | None]:
    """FLOPs and seconds of each row's parts, and the length at which products overtake the feed-forward network."""
    report = measure(Plan(rows, setup))
    flops = [costs.flops(row) for row in rows]
    parts = [{part.name: part.seconds for part in measured.parts} for measured in report.measured]
    lengths = [row.size.seq_len for row in rows]
    products, feed_forward = ([seconds[name] for seconds in parts] for name in ("products", "feed-forward"))
    crossing = scaling.crossing(lengths, products, feed_forward)
    return flops, parts, crossing


def parts_of_row(
    *, rows: tuple[Row, ...], setup: Setup, number: int
) -> tuple[dict[str, int], dict[str, int], dict[str, float]]:
    """Parameters, FLOPs and seconds of a row's parts; the row is counted from 0."""
    report = measure(Plan(rows, setup))
    parameters, flops = costs.parameters(rows[number]), costs.flops(rows[number])
    seconds = {part.name: part.seconds for part in report.measured[number].parts}
    return parameters, flops, seconds


def rate_and_roof(*, rows: tuple[Row, ...], setup: Setup) -> tuple[list[float], list[float], list[float]]:
    """Each row's FLOPs per byte, its FLOPs per second, and how many of these the machine allows there."""
    report = measure(Plan(rows, setup))
    machine = report.machine
    medians = [measured.forward.median for measured in report.measured]
    flops = [sum(costs.flops(row).values()) for row in rows]
    intensity = [count / costs.bytes_moved(row, setup) for row, count in zip(rows, flops, strict=True)]
    rate = [count / median for count, median in zip(flops, medians, strict=True)]
    roof = [min(machine.flops_per_second, machine.bytes_per_second * per_byte) for per_byte in intensity]
    return intensity, rate, roof
