"""Questions of the Profiling lens: what they take for granted, and answers by formula or from what was measured."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from tests.tfm_ui.lenses.profiling.reports import COPY, PEAK, part_seconds, plausible
from tests.tfm_ui.store.empty import empty_store
from tfm_core.profiling import Plan, Report, Row, Setup, costs
from tfm_ui.lenses.profiling.measurements import measurements
from tfm_ui.lenses.profiling.plan import plan_of, rows_of
from tfm_ui.lenses.profiling.questions import QUESTIONS, overtaken
from tfm_ui.lenses.profiling.state import VIEWS, ProfilingState
from tfm_ui.live import measurements as in_store
from tfm_ui.state.model_state import ModelState

BY_NAME = {question.name: question for question in QUESTIONS}
OTHER = {"d_model": 64, "num_heads": 2, "positional": "rope", "norm": "post"}


class Asked:
    """A question, asked of its own set-up or of another, with a measurement or without."""

    def __init__(self, name: str, model: dict[str, Any] | None = None, **page: Any) -> None:
        self.question = BY_NAME[name]
        self.model = ModelState(**{**self.question.model, **(model or {})})
        self.state = ProfilingState(**{**self.question.controls, **page})

    @property
    def rows(self) -> tuple[Row, ...]:
        plan = plan_of(self.model, self.state)
        assert plan
        return plan.rows

    @property
    def answer(self) -> str:
        return self.question.answer(self.model, self.state)

    @property
    def predicted(self) -> float | str:
        assert self.question.predict
        return self.question.predict.measured(self.model, self.state)

    def measure(self) -> Report:
        report = plausible(Plan(self.rows, plan_of(self.model, self.state).setup))
        measurements.keep(report)
        return report


@pytest.fixture(autouse=True)
def nothing_measured():
    with empty_store(in_store):
        yield


def parameters(row: Row) -> int:
    return sum(costs.parameters(row).values())


def flops(row: Row) -> int:
    return sum(costs.flops(row).values())


def times(factor: float) -> str:
    return f"{factor:.3g}×"


@pytest.mark.parametrize("view", VIEWS)
def test_every_view_has_a_question_to_predict_and_is_opened_in_the_set_up_of_its_first(view):
    of_view = [question for question in QUESTIONS if question.view(ProfilingState) == view]
    assert any(question.predict for question in of_view)
    assert set(of_view[0].controls) <= {"view"}


@pytest.mark.parametrize("name", BY_NAME)
def test_a_question_measures_all_that_it_asks_for(name):
    assert rows_of(Asked(name).model, Asked(name).state)[1] == []


@pytest.mark.parametrize("name", BY_NAME)
@pytest.mark.parametrize("how", [None, {}, {"done": 1}, {"without": range(40)}, {"busy": range(40)}, {"problems": [0]}])
def test_every_question_has_an_answer_whatever_was_measured(name, how, monkeypatch):
    monkeypatch.setattr(
        measurements, "find", lambda plan, name="": plausible(plan, **how) if plan and how is not None else None
    )
    for model, page in (
        ({}, {}),
        (OTHER, {"sizes": "8, 2, 1, 4", "longest": 256}),
        ({"positional": "learned"}, {"targets": "LSTM,nn.MultiheadAttention", "target": "LSTM"}),
        ({}, {"sizes": "nothing"}),
    ):
        asked = Asked(name, model, **page)
        assert len(asked.answer) > 30
        assert "nan" not in asked.answer.lower().replace("nanosecond", "")
        if asked.question.predict:
            assert asked.predicted == asked.predicted
            assert not asked.question.predict.options or asked.predicted in asked.question.predict.options


@pytest.mark.parametrize("model", [{}, OTHER])
def test_first_look_compares_rows_with_equally_many_parameters(model):
    asked = Asked("First look", model)
    two, four, five = (asked.rows[at] for at in (1, 3, 4))
    assert parameters(two) == parameters(four) == parameters(five)
    assert two.size.seq_len < four.size.seq_len < five.size.seq_len
    grown = flops(five) / flops(two)
    assert f"Rows 2, 4 and 5 have the same {parameters(two):,} parameters" in asked.answer
    assert asked.answer.startswith("Nothing is measured yet")
    assert f"row 5 needs {times(grown)} as many operations as row 2" in asked.answer
    assert asked.predicted == round(grown, 2)
    report = asked.measure()
    medians = [np.median(report.measured[row].forward.seconds) for row in (1, 4)]
    assert asked.answer.startswith("Measured: ")
    assert asked.predicted == pytest.approx(medians[1] / medians[0], rel=0.01)
    assert "nearer to the operations than to the parameters" in asked.answer
    assert "No two of these rows" in Asked("First look", sizes="64, 4, 2, 50\n128, 8, 4, 50").answer


def test_with_or_without_weights_tells_the_peaks_and_that_times_alike_are_not_told_apart():
    asked = Asked("With or without weights")
    assert len({parameters(row) for row in asked.rows}) == len({row.size for row in asked.rows}) == 1
    assert [row.target for row in asked.rows] == ["with weights", "without weights", "fused"]
    peaks = [costs.peak_memory(row, Setup()) / 2**20 for row in asked.rows]
    assert all(f"{row.target} {peak:.3g} MiB" in asked.answer for row, peak in zip(asked.rows, peaks, strict=True))
    assert "only a measurement can tell" in asked.answer
    asked.measure()
    assert "no detectable difference" in asked.answer
    assert "only one target" in Asked("With or without weights", targets="fused").answer


@pytest.mark.parametrize("sizes", ["128, 8, 4, 50\n128, 8, 4, 200", "64, 4, 2, 30\n64, 4, 2, 300"])
def test_not_only_transformers_tells_who_grows_more_than_the_length(sizes):
    asked = Asked("Not only transformers", sizes=sizes)
    short, long = asked.rows[:4], asked.rows[4:]
    for of_length in (short, long):
        counts = [parameters(row) for row in of_length]
        assert max(counts) < 1.02 * min(counts)
    assert [row.size.seq_len for row in Asked("Not only transformers").rows] == [50] * 4 + [200] * 4
    for before, after in zip(short, long, strict=True):
        assert f"{before.target} {times(flops(after) / flops(before))}" in asked.answer
    assert asked.answer.endswith("Only with weights grows faster than the length.")
    asked.measure()
    assert asked.answer.startswith("Measured: with ")
    assert "one length only" in Asked("Not only transformers", sizes="128, 8, 4, 50").answer


def test_a_textbooks_sizes_tell_how_parameters_and_cost_grow():
    asked = Asked("A textbook’s sizes")
    first, last = asked.rows[0], asked.rows[-1]
    counts = [parameters(row) for row in asked.rows]
    assert counts == [163_968, 921_088, 4_994_560]
    assert all(f"{count:,}" in asked.question.ask for count in counts)
    assert round(flops(last) / flops(first), 1) == 43.9  # the textbook's encoder ends in no logits
    assert {row.size.in_words() for row in asked.rows} == {
        "encoder, post-norm, relu, sinusoidal positions; with embedding, without output, a matrix for 1,000 token ids"
    }
    assert f"the parameters grow {times(parameters(last) / parameters(first))}" in asked.answer
    assert f"the operations {times(flops(last) / flops(first))}" in asked.answer
    asked.measure()
    assert "the time" in asked.answer
    assert "equally many" in Asked("A textbook’s sizes", sizes="64, 4, 2, 50").answer


def test_the_same_twice_has_an_interval():
    asked = Asked("The same twice")
    assert asked.rows[0] == asked.rows[1]
    assert "press Measure" in asked.answer
    report = asked.measure()
    first, second = (np.array(row.forward.seconds) for row in report.measured)
    assert f"{100 * abs(np.median(second / first) - 1):.2g}% away from 1" in asked.answer
    assert "No difference can be told, and there is none." in asked.answer
    assert "not the same configuration" in Asked("The same twice", sizes="128, 8, 4, 50\n128, 8, 4, 60").answer


@pytest.mark.parametrize(("model", "longest"), [({}, 2048), (OTHER, 256)])
def test_four_times_the_length_is_told_of_the_last_lengths(model, longest):
    asked = Asked("Four times the length", model, longest=longest)
    last = asked.rows[-1]
    first = next(row for row in asked.rows if row.size.seq_len == last.size.seq_len // 4)
    of_parts = {name: costs.flops(last)[name] / count for name, count in costs.flops(first).items() if count}
    assert of_parts == {"projections": 4, "products": 16, "feed-forward": 4}
    grown = flops(last) / flops(first)
    assert f"take {times(grown)} the operations" in asked.answer
    assert asked.predicted == round(grown, 2)
    asked.measure()
    seconds = sum(part_seconds(last).values()) / sum(part_seconds(first).values())
    assert asked.predicted == pytest.approx(seconds, rel=0.1)
    assert "Measured: 4× the length" in asked.answer
    near, far = (4, 16) if seconds < 10 else (16, 4)
    assert asked.answer.endswith(f" That is nearer to {near}× than to {far}×.")


@pytest.mark.parametrize("target", ["fused", "with weights"])
def test_never_written_down_tells_memory_and_all_weights(target):
    asked = Asked("Never written down", target=target)
    half, whole = (costs.peak_memory(row, Setup()) for row in asked.rows[-2:])
    assert whole < 2.2 * half or target != "fused"
    assert f"the memory grows {whole / half:.3g}×, by formula" in asked.answer
    size = asked.rows[-1].size
    weights = 4 * size.num_layers * size.num_heads * size.seq_len**2 / 2**20
    assert f"would take {weights:.0f} MiB" in asked.answer
    asked.measure()
    assert "as measured" in asked.answer


@pytest.mark.parametrize("d_ff", [256, 100])
def test_overtaken_names_the_length_by_formula_and_by_the_clock(d_ff):
    asked = Asked("Overtaken", {"d_ff": d_ff})
    last = asked.rows[-1]
    for length, sign in ((d_ff - 1, -1), (d_ff, 0), (d_ff + 1, 1)):
        of_parts = costs.flops(replace(last, size=replace(last.size, seq_len=length)))
        assert np.sign(of_parts["products"] - of_parts["feed-forward"]) == sign
    assert f"the operations are equal at {d_ff} tokens" in asked.answer
    asked.measure()
    at = d_ff * 2 / 5  # in these measurements products run at a fifth of the peak, all else at half of it
    answer = overtaken(asked.model, asked.state)
    assert f"the times cross at about {at:.0f} tokens" in answer or at < 60
    assert "no products of queries" in Asked("Overtaken", target="LSTM").answer


@pytest.mark.parametrize(("target", "part"), [("with weights", "feed-forward"), ("LSTM", "another part")])
def test_where_most_is_names_the_largest_parts(target, part):
    asked = Asked("Where most of it is", targets=target)
    of = costs.parameters(asked.rows[0])
    largest = max(of, key=of.__getitem__)
    assert asked.predicted == part
    assert f"Most parameters are in: {largest}, " in asked.answer
    assert ("Operations without a single parameter: products" in asked.answer) == (target == "with weights")


def test_free_in_flops_shares_are_of_the_measured_time():
    asked = Asked("Free in FLOPs")
    assert asked.rows[4].size.seq_len == 200
    assert not {"softmax", "norms"} & {name for name, count in costs.flops(asked.rows[4]).items() if count}
    assert "not measured yet" in asked.answer
    asked.measure()
    seconds = part_seconds(asked.rows[4])
    share = 100 * seconds["softmax"] / sum(seconds.values())
    assert f"row 5: softmax {share:.2g}%" in asked.answer


@pytest.mark.parametrize("model", [{}, OTHER])
def test_under_one_roof_rows_reach_their_share(model):
    asked = Asked("Under one roof", model)
    intensity = [flops(row) / costs.bytes_moved(row, Setup()) for row in asked.rows]
    few, many = int(np.argmin(intensity)), int(np.argmax(intensity))
    assert model or (few, many) == (4, 2)
    assert asked.predicted == round(min(intensity), 1)
    assert f"row {few + 1} does {min(intensity):.3g} operations for each byte" in asked.answer
    report = asked.measure()
    rate = flops(asked.rows[few]) / np.median(report.measured[few].forward.seconds)
    share = 100 * rate / min(PEAK, COPY * intensity[few])
    assert f"row {few + 1} reaches {share:.2g}% and row {many + 1} reaches" in asked.answer
    memory = COPY * min(intensity) < PEAK
    roof = "slope, which memory sets" if memory else "flat part, which arithmetic sets"
    assert asked.answer.endswith(f"Row {few + 1} is below the {roof}.")


def test_one_sequence_compares_with_a_batch_of_sixteen():
    asked = Asked("One sequence")

    def intensity(row: Row, batch: int) -> float:
        of = replace(row, size=replace(row.size, batch=batch))
        return flops(of) / costs.bytes_moved(of, Setup())

    each = [(intensity(row, 1), intensity(row, 16)) for row in asked.rows]
    most = max(range(5), key=lambda i: each[i][1] / each[i][0])
    assert f"row {most + 1}: {each[most][0]:.3g} operations for each byte at batch 1" in asked.answer
    assert "as many operations for each byte as the batch of 16" in Asked("One sequence", batch=16).answer
