"""The view "sizes" on a made-up table whose constants are known."""

import numpy as np
import pytest

from tfm_core.training.prose.size_table import SizeRun
from tfm_ui.lenses.training.sizes import losses as view
from tfm_ui.lenses.training.sizes import panels
from tfm_ui.lenses.training.sizes.curves import SizesCurves
from tfm_ui.lenses.training.sizes.losses import SizesLosses
from tfm_ui.lenses.training.sizes.questions import HELPS, gains, which_helps
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
    by_size, by_data = gains(panel)
    assert by_size == pytest.approx(2 * 3**-alpha * (1 - 9**-alpha), rel=2e-2)
    assert by_data == pytest.approx(2 * 3**-beta * (1 - 9**-beta), rel=2e-2)
    assert which_helps(ModelState(), TrainingState()) == HELPS[alpha < beta]


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
