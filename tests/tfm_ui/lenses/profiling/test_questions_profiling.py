"""What the questions of the Profiling lens's questions take for granted."""

from dataclasses import replace

from tfm_core.profiling import Setup, costs
from tfm_ui.lenses.profiling.plan import plan_of, rows_of
from tfm_ui.lenses.profiling.questions import QUESTIONS
from tfm_ui.lenses.profiling.state import ProfilingState
from tfm_ui.state.model_state import ModelState


def rows(name: str):
    (question,) = [question for question in QUESTIONS if question.name == name]
    state = ProfilingState(**question.page)
    model = ModelState(**question.model)
    assert rows_of(model, state)[1] == []
    plan = plan_of(model, state)
    assert plan
    return plan.rows


def parameters(row) -> int:
    return sum(costs.parameters(row).values())


def test_rows_2_4_and_5_differ_in_length_alone():
    shown = rows("First look")
    assert len({parameters(shown[n]) for n in (1, 3, 4)}) == 1
    lengths = [shown[n].size.seq_len for n in (1, 3, 4)]
    assert lengths == sorted(set(lengths))


def test_with_and_without_weights_is_one_model_and_memory_tells():
    shown = rows("With or without weights")
    assert len({parameters(row) for row in shown}) == len({row.size for row in shown}) == 1
    assert [row.target for row in shown] == ["with weights", "without weights", "fused"]


def test_not_only_transformers_have_as_many_parameters():
    shown = rows("Not only transformers")
    for of_length in (shown[:4], shown[4:]):
        counts = [parameters(row) for row in of_length]
        assert max(counts) < 1.02 * min(counts)
    assert [row.size.seq_len for row in shown] == [50] * 4 + [200] * 4


def test_a_textbooks_sizes_have_the_textbooks_counts():
    shown = rows("A textbook’s sizes")
    (question,) = [question.ask for question in QUESTIONS if question.name == "A textbook’s sizes"]
    counts = [parameters(row) for row in shown]
    assert counts == [163_968, 921_088, 4_994_560]
    assert all(f"{count:,}" in question for count in counts)
    operations = [sum(costs.flops(row).values()) for row in shown]
    assert round(operations[-1] / operations[0], 1) == 43.9  # the textbook's encoder ends in no logits
    assert {row.size.in_words() for row in shown} == {
        "encoder, post-norm, relu, sinusoidal positions; with embedding, without output, a matrix for 1,000 token ids"
    }


def test_the_same_twice_is_the_same_twice():
    first, second = rows("The same twice")
    assert first == second


# length, parts, roofline


def test_four_times_the_length_is_sixteen_times_the_products_and_four_times_all_else():
    of = {row.size.seq_len: costs.flops(row) for row in rows("Four times the length")}
    assert {name: of[1024][name] / count for name, count in of[256].items() if count} == {
        "projections": 4,
        "products": 16,
        "feed-forward": 4,
    }


def test_never_written_down_memory_is_predicted_to_grow_as_the_length_in_the_end():
    *_, half, whole = (costs.peak_memory(row, Setup()) for row in rows("Never written down"))
    assert whole < 2.2 * half


def test_overtaken_products_have_as_many_flops_as_the_feed_forward_at_256():
    of = {row.size.seq_len: costs.flops(row) for row in rows("Overtaken")}
    assert of[128]["products"] < of[128]["feed-forward"]
    assert of[256]["products"] == of[256]["feed-forward"]
    assert of[512]["products"] > of[512]["feed-forward"]
    last = rows("Overtaken")[-1]
    more = costs.flops(replace(last, size=replace(last.size, seq_len=257)))
    assert more["products"] > more["feed-forward"]


def test_free_in_flops_are_softmax_and_norms_at_200_tokens():
    row = rows("Free in FLOPs")[4]
    assert row.size.seq_len == 200
    assert not costs.flops(row).get("softmax")
    assert not costs.flops(row).get("norms")


def test_under_one_roof_row_5_does_the_fewest_operations_per_byte_and_row_3_the_most():
    shown = rows("Under one roof")
    intensity = [sum(costs.flops(row).values()) / costs.bytes_moved(row, Setup()) for row in shown]
    assert (intensity.index(min(intensity)), intensity.index(max(intensity))) == (4, 2)
