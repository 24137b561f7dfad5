"""Texts that go on from one another: whatever was asked before, a link has the same text, and little is written."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from tests.examples import shared_by
from tests.tfm_ui.lenses.generate.examples import LAB, RANDOM
from tfm_core import Sampling, Transformer, beam_search, draw, generate
from tfm_core.generation.lean import LeanDecoder
from tfm_ui.lenses.generate.courses import QUICK, beams_of, course_of, prompt_of, settings_of
from tfm_ui.lenses.generate.kept.same import KeptSame
from tfm_ui.lenses.generate.kept.stored import Kept
from tfm_ui.lenses.generate.state import GenerateState
from tfm_ui.lenses.generate.steps import numbers_of, steps_of
from tfm_ui.lenses.generate.write.beams import Beams
from tfm_ui.lenses.generate.write.text import Write
from tfm_ui.live import cache
from tfm_ui.server.pool_worker import TurnElsewhere
from tfm_ui.state.model_state import ModelState
from tfm_ui.visitors.turn import SlowLaneNeeded, use_turn

NEAR_FULL = ModelState(architecture="decoder", tokenizer="byte", text="ab " * 80, seq_len=240)
MOVES = {
    "steps": st.integers(1, 40),
    "temperature": st.sampled_from([0.0, 0.5, 0.55, 2.0]),
    "seed": st.integers(0, 2),
    "method": st.sampled_from(["sample", "greedy"]),
    "top_k": st.sampled_from([0, 5, 50]),
    "top_p": st.sampled_from([0.9, 1.0]),
    "min_p": st.sampled_from([0.0, 0.1]),
    "full": st.sampled_from(["window", "stop"]),
    "forced": st.sampled_from(["", "3.99", "3.99 30.7"]),
}
move = st.sampled_from(sorted(MOVES)).flatmap(lambda name: st.tuples(st.just(name), MOVES[name]))


def afresh(model, state):
    """The course of a link that nobody has asked for anything before."""
    settings = settings_of(model, state)
    generation = generate(
        Transformer(model.config).eval(),
        prompt_of(model),
        settings.sampling,
        steps=settings.steps,
        forced=dict(settings.forced),
        context=model.most_tokens,
        when_full=settings.full,
    )
    list(generation)
    return generation.course()


@pytest.mark.parametrize("model", [RANDOM, NEAR_FULL])
@shared_by(2)
@given(moves=st.lists(move, min_size=2, max_size=6))
def test_after_any_moves_a_link_has_the_text_that_it_has_afresh(model, moves):
    controls = {}
    for name, value in moves:
        controls[name] = value
        state = GenerateState(**controls)
        settings, expected = settings_of(model, state), afresh(model, state)
        course = course_of(model, settings)
        assert [(s.token, s.begin, s.forced) for s in course.steps] == [
            (s.token, s.begin, s.forced) for s in expected.steps
        ]
        numbers = numbers_of(expected.steps, settings.sampling)
        known = steps_of(model, settings)
        assert_allclose(known.numbers, numbers.numbers, atol=1e-4)
        assert len(known.totals) == len(expected.steps)


@pytest.fixture
def written(monkeypatch):
    """The token ids that passes over a single token have read since the fixture was asked for; the cache is empty."""
    read, call = [], LeanDecoder.__call__

    def noted(decoder, token, kept):
        read.append(token)
        return call(decoder, token, kept)

    monkeypatch.setattr(LeanDecoder, "__call__", noted)
    cache.clear()
    return read


def test_a_slider_that_is_drawn_back_and_forth_writes_each_token_once(written):
    for steps in (30, 10, 25, 30, 1, 40):
        panel = KeptSame(LAB, GenerateState(steps=steps))
        assert len(panel.course.steps) == len(panel.tokens) == steps
    assert len(written) == 39  # the first is written by the pass over the prompt


def test_two_ways_of_choosing_that_take_turns_are_both_kept(written):
    for steps in range(1, 20):
        for seed in (1, 2):
            course_of(LAB, settings_of(LAB, GenerateState(steps=steps, seed=seed)))
    assert len(written) <= 2 * 18


def test_a_text_that_grows_by_a_few_tokens_stays_in_the_quick_lane(written):
    with use_turn(TurnElsewhere(heavy=True)):
        course_of(LAB, settings_of(LAB, GenerateState(steps=100)))
    with use_turn(TurnElsewhere(heavy=False)):
        for steps in (60, 100 + QUICK):
            assert len(steps_of(LAB, settings_of(LAB, GenerateState(steps=steps))).totals) == steps
        with pytest.raises(SlowLaneNeeded):
            course_of(LAB, settings_of(LAB, GenerateState(steps=101 + 2 * QUICK)))


def test_what_is_written_while_a_slider_is_dragged_has_a_bound():
    opened, put = GenerateState(), GenerateState(forced="3.99")
    assert not Write(LAB, opened).slow
    assert Write(LAB, GenerateState(steps=70)).slow
    assert Write(LAB, put).slow  # two texts, one beside the other
    assert not Write(LAB, GenerateState(steps=30, forced="3.99")).slow
    assert not Kept(RANDOM, GenerateState(steps=120)).slow
    assert Kept(RANDOM, GenerateState(steps=200)).slow
    assert not Kept(LAB, GenerateState(steps=200)).slow  # its slider writes on, and no slider draws other weights
    large = ModelState(architecture="decoder", tokenizer="byte", d_model=256, num_layers=8)
    assert Write(large, opened).slow
    assert not Beams(LAB, GenerateState(method="beam", steps=20)).slow
    assert Beams(LAB, GenerateState(method="beam", steps=60)).slow


@pytest.mark.parametrize("width", [1, 4])
def test_a_shorter_search_is_the_beginning_of_a_longer_one(width):
    searches = {steps: beams_of(RANDOM, width, steps) for steps in (12, 5, 1)}
    for steps, search in searches.items():
        model = Transformer(RANDOM.config).eval()
        assert search == beam_search(model, prompt_of(RANDOM), width=width, steps=steps)


@pytest.mark.parametrize(
    "sampling",
    [
        Sampling(greedy=True),
        Sampling(top_k=0, seed=1),
        Sampling(top_k=5, temperature=0.7, seed=2),
        Sampling(top_k=50, top_p=0.8, min_p=0.05, seed=3),
        Sampling(top_k=100_000, top_p=0.5, seed=4),
    ],
)
@pytest.mark.parametrize("rounded", [False, True])  # many logits are alike
def test_numbers_of_many_steps_are_those_of_each_draw(sampling, rounded):
    course = afresh(RANDOM, GenerateState(steps=12, forced="3.99 5.1"))
    steps = course.steps
    if rounded:
        steps = [type(step)(step.number, step.begin, step.token, step.forced, step.logits.round()) for step in steps]
    got = numbers_of(steps, sampling)
    for at, step in enumerate(steps):
        drawn = draw(step.logits, sampling, step.number)
        order = drawn.order.tolist()
        assert got.ranks[at] == order.index(step.token)
        assert got.numbers[at, 4:7].tolist() == [drawn.left.top_k, drawn.left.top_p, drawn.left.min_p]
        assert got.numbers[at, 0] == drawn.number
        assert (got.shares[at], got.finals[at]) == (drawn.probabilities[step.token], drawn.final[step.token])
        assert got.candidates(at)[:-1, 0].tolist() == order[: len(got.candidates(at)) - 1]
        np.testing.assert_array_equal(got.candidates(at)[:, 3], drawn.final[got.candidates(at)[:, 0].astype(int)])
