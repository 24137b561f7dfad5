"""What is kept of each step is what the draws say; long texts are written in a lane of their own."""

import numpy as np
import pytest

from tests.tfm_ui.lenses.generate.examples import LAB, RANDOM
from tfm_ui.lenses.generate.courses import QUICK
from tfm_ui.lenses.generate.state import GenerateState
from tfm_ui.lenses.generate.steps import ROWS
from tfm_ui.lenses.generate.write.look import LIKELIEST, Look
from tfm_ui.lenses.generate.write.text import Write
from tfm_ui.live import cache
from tfm_ui.server.pool_worker import TurnElsewhere
from tfm_ui.visitors.turn import SlowLaneNeeded, use_turn


@pytest.mark.parametrize("model", [LAB, RANDOM])
@pytest.mark.parametrize(
    "state",
    [
        GenerateState(steps=15, seed=3),
        GenerateState(steps=15, temperature=2.0, top_k=0, top_p=0.9, min_p=0.01),
        GenerateState(steps=8, method="greedy", forced="3.99 5.1"),
    ],
)
def test_numbers_of_a_step_are_those_of_its_draw(model, state):
    panel = Write(model, state)
    for at, (step, draw) in enumerate(zip(panel.course.steps, panel.draws, strict=True)):
        order, row = draw.order.tolist(), panel.steps.numbers[at]
        rank = order.index(step.token)
        assert (row[0], panel.steps.ranks[at]) == (draw.number, rank)
        assert row[4:7].tolist() == [draw.left.top_k, draw.left.top_p, draw.left.min_p]
        assert panel.steps.shares[at] == draw.probabilities[step.token]
        assert panel.steps.finals[at] == draw.final[step.token]
        assert panel.steps.totals[at] == pytest.approx(1, abs=1e-12)
        if draw.final[step.token] > 0:
            assert row[2] - row[1] == pytest.approx(float(draw.final[step.token]), abs=1e-12)
        if not step.forced and state.method == "sample":
            assert row[1] <= draw.number < row[2]
        ids = order[:ROWS] if rank < ROWS else [*order[: ROWS - 1], step.token]
        cuts = {token: next((i for i, mask in enumerate(draw.cut.values(), 1) if mask[token]), 0) for token in ids}
        expected = [[t, draw.logits[t], draw.probabilities[t], draw.final[t], cuts[t]] for t in ids]
        np.testing.assert_array_equal(panel.steps.candidates(at), np.array(expected, np.float64))


def test_the_likeliest_tokens_beside_the_heads_are_the_first_of_the_order():
    state = GenerateState(steps=6, seed=2)
    write, (header, _) = Write(LAB, state), Look(LAB, state).picture()
    pieces = LAB.tokens_by.pieces
    likeliest = zip(header["likeliest"], header["chances"], write.course.steps, write.draws, strict=True)
    for told, chance, step, draw in likeliest:
        assert [piece for piece, _ in told] == [pieces[token] for token in draw.order[:LIKELIEST].tolist()]
        assert chance == draw.final[step.token]


def test_what_is_kept_of_a_long_text_is_small():
    panel = Write(LAB, GenerateState(steps=100))
    assert cache.held_bytes(panel.steps) < 100_000


def test_a_long_text_asks_for_the_slow_lane_and_a_short_text_does_not():
    cache.clear()
    with use_turn(TurnElsewhere(heavy=False)):
        assert len(Write(LAB, GenerateState(steps=QUICK)).course.steps) == QUICK
        cache.clear()  # else a single token is written on
        longer = Write(LAB, GenerateState(steps=QUICK + 1))
        for numbers in (lambda: longer.steps, lambda: longer.course):
            with pytest.raises(SlowLaneNeeded):
                numbers()
    with use_turn(TurnElsewhere(heavy=True)):
        assert len(longer.steps.shares) == QUICK + 1
