"""A report in files: nothing is lost, nothing is made up."""

import csv
import io
import json
import math
from dataclasses import replace

import pytest

from tests.tfm_core.profiling.small import SIZE, plan_of
from tfm_core.profiling import Blocks, Machine, Measured, Memory, PartTime, Report, Row, costs, files
from tfm_core.profiling.files_text import NO_FIGURE, SEE_BELOW, as_text

PLAN = plan_of("with weights", "LSTM", "without weights")
MACHINE = Machine(device="Fast", processor="“Fast”, One", cores=2, system="Linux", torch="2.13.0")
REPORT = Report(
    id="abc123",
    plan=PLAN,
    machine=replace(MACHINE, flops_per_second=1e11, bytes_per_second=4e10),
    measured=(
        Measured(
            PLAN.rows[0],
            Blocks((0.001, 0.003, 0.002), (0, 1, 3), contended=2, warm_up=(0.1, 0.002), calls=20),
            Blocks((0.1 + 0.2,), (1,), 5, loaded=(0.1 + 0.2, 0.4, 0.2, 0.6, 0.1), loaded_rounds=(0, 0, 2, 2, 3)),
            Memory(3 * 2**20, None),
            Memory(1, 2),
            (PartTime("softmax", 1e-4), PartTime("rest", 1 / 3)),
            "flash",
        ),
        Measured(PLAN.rows[1], Blocks((0.1,), (0,)), Blocks((0.2, 0.3), (0, 1))),
        Measured(PLAN.rows[2], problem='out of memory: 3 TB, "asked" for'),
    ),
    started="2026-11-21T15:00:00+00:00",
    seconds=12.5,
    complete=True,
)
UNKNOWN = replace(REPORT, machine=MACHINE, measured=REPORT.measured[:1], complete=False, gate="time")
NOTHING = replace(REPORT, measured=())


@pytest.mark.parametrize("report", [REPORT, NOTHING])
def test_json_holds_all_of_it(report):
    assert files.from_json(files.as_json(report)) == report


def test_json_has_no_nan_and_brings_it_back():
    text = files.as_json(UNKNOWN)
    json.loads(text, parse_constant=pytest.fail)
    back = files.from_json(text)
    assert math.isnan(back.machine.flops_per_second)
    assert replace(back, machine=MACHINE) == replace(UNKNOWN, machine=MACHINE)


def test_the_table_is_the_measurements():
    first, contended, failed = files.table(REPORT)
    assert first["forward ms"] == pytest.approx(2)
    assert first["forward lower quartile ms"] == pytest.approx(1.5)
    assert first["forward minimum ms"] == pytest.approx(1)
    assert first["forward first call ms, not gated"] == pytest.approx(100)
    assert first["forward + backward ms"] == pytest.approx(325)  # of 350, 300, 400 and 100, the rounds' medians
    assert first["measured under load"] == "forward + backward"
    flops = sum(costs.flops(PLAN.rows[0]).values())
    assert first["MFLOP"] == flops / 1e6
    assert first["GFLOP/s"] == pytest.approx(flops / 0.002 / 1e9)
    assert first["share of matrix product"] == pytest.approx(flops / 0.002 / 1e11)
    assert (first["allocated MiB"], first["system MiB"]) == (3, None)
    assert first["estimated MiB"] == costs.peak_memory(PLAN.rows[0], PLAN.setup) / 2**20
    assert (first["contended blocks"], first["blocks"]) == (7, 11)
    for line in (contended, failed):
        assert line["forward ms"] is line["GFLOP/s"] is line["share of matrix product"] is None
    assert contended["parameters"] == sum(costs.parameters(PLAN.rows[1]).values())
    assert failed["problem"].startswith("out of memory")
    assert len({tuple(line) for line in files.table(REPORT)}) == 1


def test_csv_says_the_same_and_where_it_comes_from():
    lines = list(csv.DictReader(io.StringIO(files.as_csv(REPORT))))
    for line, row in zip(lines, files.table(REPORT), strict=True):
        for name, value in (row | files.provenance(REPORT)).items():
            assert line[name] == ("" if value is None else str(value))
    assert files.as_csv(NOTHING).count("\n") == 1


def test_a_file_of_before_contended_blocks_were_kept_is_read():
    whole = json.loads(files.as_json(REPORT))
    for measured in whole["report"]["measured"]:
        del measured["parts_under_load"]
        for blocks in (measured["forward"], measured["training"]):
            for field in ("loaded", "loaded_rounds") if blocks else ():
                del blocks[field]
    del whole["report"]["machine"]["under_load"]
    back = files.from_json(json.dumps(whole)).measured[0]
    assert back.forward == REPORT.measured[0].forward
    assert back.training.contended == 5
    assert back.training.sample == {}  # a single clean block is no figure


def test_a_target_that_is_not_known_any_more_has_no_closed_form():
    row = replace(PLAN.rows[0], target="of old")
    (line,) = files.table(replace(REPORT, measured=(replace(REPORT.measured[0], row=row),)))
    assert line["parameters"] is line["MFLOP"] is line["GFLOP/s"] is None
    assert line["forward ms"] == pytest.approx(2)


def test_the_printed_table_prints_no_figure_where_there_is_none():
    text = as_text(REPORT)
    _, _, first, contended, failed, *_ = text.splitlines()
    assert "2.00 (1.50 to 2.50)" in first
    assert "7 of 11" in first
    assert contended.count(NO_FIGURE) == 2
    assert "nan" not in text
    assert failed.count(SEE_BELOW) == 2
    assert "Row 3, without weights: out of memory: 3 TB" in text
    assert NO_FIGURE not in failed
    assert "Fast, “Fast”, One, 1 of 2 cores, float32" in text
    assert "325.00 (250.00 to 362.50) under load" in text
    assert "Contended blocks: 7 of 14" in text
    assert "fewer than 6 clean rounds" in text
    assert "100.0 GFLOP/s, copy 40.0 GB/s" in text
    assert max(map(len, text.splitlines()[:5])) - min(map(len, text.splitlines()[:2])) < 3


def test_what_failed_only_backward_says_so_beside_its_forward_figures():
    half = replace(REPORT.measured[0], training=Blocks(), problem="forward + backward: out of memory")
    text = as_text(replace(REPORT, measured=(half,)))
    assert "2.00 (1.50 to 2.50)" in text
    assert text.count(SEE_BELOW) == 1
    assert "Row 1, with weights: forward + backward: out of memory" in text
    assert NO_FIGURE not in text


def test_a_stopped_run_says_so():
    text = as_text(UNKNOWN)
    assert "Stopped before the end: 1 of 3 rows were reached." in text
    assert "matrix product not measured, copy not measured" in text
    assert "processor time against wall time" in text
    assert "Stopped" in as_text(replace(NOTHING, complete=False))


@pytest.mark.parametrize("blocks", [3, 6])
def test_how_time_grows_with_length_is_said_of_a_sweep(blocks):
    def at(length):
        row = Row("LSTM", replace(SIZE, seq_len=length))
        return Measured(row, Blocks((length**1.5 / 1e6,) * blocks, tuple(range(blocks))))

    text = as_text(replace(REPORT, measured=(*map(at, (8, 16, 64)), *REPORT.measured)))
    sure = " (1.50 to 1.50)" if blocks > 3 else ""
    assert f"LSTM (8, 2, 1), 8 to 64 tokens: forward grows as length^1.50{sure}, its operations as length^1.00." in text
    assert text.count("grows as") == 1
    assert "grows as" not in as_text(replace(REPORT, measured=tuple(map(at, (8, 16)))))
