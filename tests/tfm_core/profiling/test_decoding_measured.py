"""Writing with the cache and without, measured on a small model with a clock of our own."""

import itertools

import pytest
import torch

from tfm_core import Transformer, TransformerConfig, to_gpt2
from tfm_core.model.cache import KeyValueCache
from tfm_core.profiling import clock
from tfm_core.profiling.contention import Gate
from tfm_core.profiling.decoding import expected_seconds, measure_decoding
from tfm_core.profiling.decoding_report import DecodingPlan, as_json, from_json, plan_of

CONFIG = TransformerConfig(vocab_size=20, architecture="decoder", d_model=16, num_heads=2, max_len=40, seed=3)
PLAN = DecodingPlan(config=CONFIG, lengths=(1, 12), rounds=6)


@pytest.fixture
def quick(monkeypatch):
    monkeypatch.setattr(clock, "BLOCK_SECONDS", 0.001)
    return Gate("time", itertools.repeat(0.0).__next__)


def test_it_measures_both_ways_at_each_length_and_says_how_far_it_is(quick):
    steps = list(measure_decoding(PLAN, quick))
    shares = [step.share for step in steps]
    assert shares == sorted(shares)
    assert (shares[0], shares[-1]) == (0, 1)
    assert all(step.doing and step.seconds_left >= 0 for step in steps)
    assert [step.report.complete for step in steps] == [False] * (len(steps) - 1) + [True]
    report = steps[-1].report
    assert [row.length for row in report.measured] == [1, 12]
    for row in report.measured:
        assert len(row.cached.seconds) == len(row.whole.seconds) == PLAN.rounds
        assert row.cached.median > 0
        assert row.stored == KeyValueCache.memory_of(CONFIG, row.length)
    assert report.blocks == (4 * PLAN.rounds, 0)


def test_the_cache_has_as_many_bytes_as_that_of_transformers(quick):
    *_, last = measure_decoding(PLAN, quick)
    gpt2 = to_gpt2(Transformer(CONFIG).eval())
    with torch.no_grad():
        theirs = gpt2(torch.ones(1, 12, dtype=torch.long), use_cache=True).past_key_values
    sizes = [layer.keys.nbytes + layer.values.nbytes for layer in theirs.layers]
    assert last.report.measured[-1].stored == sum(sizes)


def test_with_the_cache_a_step_reads_one_token(quick, monkeypatch):
    passes, forward = [], Transformer.forward

    def counted(self, source, *args, **keywords):
        passes.append((source.shape[1], keywords.get("cache") is not None))
        return forward(self, source, *args, **keywords)

    monkeypatch.setattr(Transformer, "forward", counted)
    list(measure_decoding(PLAN, quick))
    assert set(passes) == {(1, True), (11, True), (1, False), (12, False)}  # 11: what the cache holds before the step
    assert passes.count((11, True)) == 1


def test_closing_stops_it_and_what_was_asked_for_is_found_in_its_json(quick):
    steps = measure_decoding(PLAN, quick)
    next(steps)
    second = next(steps)
    steps.close()
    assert not second.report.complete
    *_, last = measure_decoding(PLAN, quick)
    again = from_json(as_json(last.report))
    assert (again.plan, again.measured, again.id) == (PLAN, last.report.measured, last.report.id)
    with pytest.raises((ValueError, KeyError, TypeError)):
        from_json("{}")


def test_a_plan_has_powers_of_two_and_the_context_and_no_weights_of_anybody():
    plan = plan_of(TransformerConfig(vocab_size=20, architecture="decoder", seed=8), 100)
    assert plan.lengths == (16, 32, 64, 100)
    assert (plan.config.weights, plan.config.seed) == ("random", 0)
    assert plan_of(plan.config, 8).lengths == (8,)
    assert 0 < expected_seconds(plan_of(plan.config, 16)) < expected_seconds(plan)
