"""The view "sizes" on a made-up table whose constants are known."""

from dataclasses import replace

import numpy as np
import pytest

from tfm_core.training.prose.scaling import STEEPEST
from tfm_core.training.prose.size_table import SizeRun
from tfm_ui.lenses.training.sizes import losses as view
from tfm_ui.lenses.training.sizes import panels
from tfm_ui.lenses.training.sizes.curves import SizesCurves
from tfm_ui.lenses.training.sizes.losses import SizesLosses
from tfm_ui.lenses.training.sizes.questions import HELPS, gains, size_or_prose, which_helps
from tfm_ui.lenses.training.state import OVER, PARTS, TrainingState
from tfm_ui.state.model_state import ModelState

SIZES, TOKENS = (100_000, 300_000, 900_000, 2_700_000), (90_000, 270_000, 810_000, 2_430_000)


def made(alpha: float, beta: float, count: int = 16) -> tuple[SizeRun, ...]:
    runs = []
    for size in SIZES:
        for tokens in TOKENS:
            loss = 1.5 + 2 * (size / SIZES[1]) ** -alpha + 2 * (tokens / TOKENS[1]) ** -beta
            curve = ((250, loss, loss + 0.1), (500, loss - 0.2, loss))
            runs.append(SizeRun(32, size, size // 2, tokens, 500, 9000, loss, 500, loss - 0.2, loss / 2, 10.0, curve))
    return tuple(runs[:count])


@pytest.fixture
def use(monkeypatch):
    return lambda runs: monkeypatch.setattr(panels, "find", lambda: runs)


@pytest.mark.parametrize(("alpha", "beta"), [(0.4, 0.2), (0.2, 0.5)])
def test_known_powers_come_out_and_tell_what_helps(use, alpha, beta):
    use(made(alpha, beta))
    panel = SizesLosses(ModelState(), TrainingState())
    assert panel.law["alpha"] == pytest.approx(alpha, rel=1e-2)
    assert panel.law["beta"] == pytest.approx(beta, rel=1e-2)
    assert panel.misses < 0.01
    for gained, power in zip(gains(panel), (alpha, beta), strict=True):
        assert gained == pytest.approx([2 * 3**power * (1 - 27**-power)] * 2)  # the made-up loss is a sum
    assert which_helps(ModelState(), TrainingState()) == HELPS[alpha < beta]
    assert "beside the other" not in size_or_prose(ModelState(), TrainingState())


def test_what_helps_is_read_off_the_four_corners_where_no_law_holds(use):
    flat, falls = {(SIZES[0], TOKENS[0]): 5.0, (SIZES[-1], TOKENS[0]): 5.25}, {(SIZES[0], TOKENS[-1]): 4.5}
    corners = flat | falls | {(SIZES[-1], TOKENS[-1]): 3.0}
    use(tuple(replace(run, loss=corners.get((run.parameters, run.tokens), run.loss)) for run in made(0.3, 0.3)))
    panel = SizesLosses(ModelState(), TrainingState())
    assert gains(panel) == ((-0.25, 1.5), (0.5, 2.25))
    assert which_helps(ModelState(), TrainingState()) == HELPS[1]
    answer = size_or_prose(ModelState(), TrainingState())
    assert "has 0.25 nats more, all of the prose gives 0.50 nats less." in answer
    assert "Each helps more beside the other." in answer
    E, A, B, alpha, beta = (panel.law[name] for name in ("E", "A", "B", "alpha", "beta"))
    off = max(abs(E + A / run.parameters**alpha + B / run.tokens**beta - run.loss) for run in panel.runs)
    assert f"misses a run by up to {off:.2f} nats" in answer


def test_an_interval_that_ends_where_the_search_ends_says_so():
    assert panels.within(0.4, (0.1, STEEPEST), STEEPEST) == "0.4 (0.1 to 5 or more)"
    assert panels.within(0.4, (-0.1, 4), STEEPEST) == "0.4 (−0.1 to 4)"
    assert panels.within(3, (0.1, 6)) == "3 (0.1 to 6)"  # E may be so large


def test_single_powers_are_polyfits_of_the_largest(use):
    use(made(0.3, 0.3))
    panel = SizesLosses(ModelState(), TrainingState())
    largest = [(run.parameters, run.loss) for run in panel.runs if run.tokens == TOKENS[-1]]
    x, y = np.log(np.array(largest)).T
    assert panel.by_size.power == pytest.approx(-np.polyfit(x, y, 1)[0])
    assert panel.by_layers.power == pytest.approx(panel.by_size.power)  # half as many: the same line, moved


def test_too_few_runs_are_shown_without_a_law(use):
    use(made(0.3, 0.3, 5))
    panel = SizesLosses(ModelState(), TrainingState())
    assert panel.law is None
    assert size_or_prose(ModelState(), TrainingState()) == "Too few runs are done yet."
    assert which_helps(ModelState(), TrainingState()) == HELPS[2]
    assert panel.largest == SIZES[0]
    assert "Lab GPT as it ships" in panel.sentence()
    assert panel.picture()
    assert "5 of 16 runs are done" in SizesLosses.conditions(ModelState(), TrainingState()).text


def test_the_marked_point_is_lab_gpts_card(use):
    use(made(0.3, 0.3))
    panel = SizesLosses(ModelState(), TrainingState())
    figures = view.lab_gpt_figures()
    assert panel.shipped == (
        figures["parameters"],
        figures["tokens"]["training"],
        pytest.approx(2 * figures["bits_per_byte"]["Lab GPT"]),
    )


@pytest.mark.parametrize("part", PARTS)
def test_curves_are_of_one_amount(use, part):
    use(made(0.3, 0.3))
    panel = SizesCurves(ModelState(), TrainingState(over=OVER[2], part=part))
    assert {run.tokens for run in panel.shown} == {TOKENS[PARTS.index(part)]}
    assert "still fell by 0.100" in panel.sentence()
