"""Fitted power laws beside numpy.polyfit and beside tables made of known constants."""

import json
from dataclasses import asdict

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from tfm_core.training.__main__ import main
from tfm_core.training.folder import SHIPPED
from tfm_core.training.prose import data_and_size, scaling
from tfm_core.training.prose.scaling import LEVEL, Law, law, of_constants, power_law
from tfm_core.training.prose.size_table import MOST_BYTES, NAME, NotATable, SizeRun, find, read

SIZES = torch.tensor(np.repeat([116e3, 331e3, 644e3, 1.6e6], 4))
TOKENS = torch.tensor(np.tile([86e3, 258e3, 776e3, 2.3e6], 4))
TRUE = torch.tensor([1.7, 406.4, 410.7, 0.34, 0.28], dtype=torch.float64)


def of(*values):
    return torch.tensor(values, dtype=torch.float64)


def noise(spread, seed):
    return torch.tensor(np.exp(spread * np.random.default_rng(seed).normal(size=len(SIZES))))


@given(
    st.lists(st.floats(1e3, 1e9), min_size=3, max_size=9, unique=True).filter(lambda x: max(x) > 1.5 * min(x)),
    st.floats(-1, 1),
    st.integers(0, 99),
)
def test_a_line_on_log_axes_is_polyfits(x, power, seed):
    errors = np.random.default_rng(seed).normal(size=len(x)) / 10
    x = np.array(x)
    y = 3 * x**-power * np.exp(errors)
    line = power_law(torch.tensor(x), torch.tensor(y))
    slope, height = np.polyfit(np.log(x) - np.log(x).mean(), np.log(y), 1)
    assert line.power == pytest.approx(-slope, abs=1e-6)
    assert line.height == pytest.approx(height, abs=1e-6)
    np.testing.assert_allclose(
        line.at(torch.tensor(x)), np.exp(height + slope * (np.log(x) - np.log(x).mean())), rtol=1e-5
    )


def test_a_weighted_line_is_polyfits_with_weights():
    x, y = np.array([1.0, 2, 5, 9]), np.array([4.0, 3, 2.5, 1])
    weights, line = scaling._weights(4, 0), power_law(torch.tensor(x), torch.tensor(y))
    for drawn, (power, _) in list(zip(weights.numpy(), line.draws.tolist(), strict=True))[:20]:
        slope, _ = np.polyfit(np.log(x), np.log(y), 1, w=np.sqrt(drawn))
        assert power == pytest.approx(-slope, abs=1e-8)


@settings(max_examples=8, deadline=None)
@given(st.floats(0.5, 3), st.floats(0.15, 0.6), st.floats(0.15, 0.6), st.floats(0.3, 2.5), st.floats(0.3, 2.5))
def test_known_constants_are_found(floor, alpha, beta, of_size, of_data):
    known = of(floor, of_size * 5e5**alpha, of_data * 5e5**beta, alpha, beta)
    fitted = law(SIZES, TOKENS, of_constants(known, SIZES, TOKENS))
    np.testing.assert_allclose(fitted.constants, known, rtol=2e-3)
    np.testing.assert_allclose(fitted.at(SIZES, TOKENS), of_constants(known, SIZES, TOKENS), rtol=1e-6)
    for name in Law.names:
        low, high = fitted.interval(name)
        assert low <= high


def test_an_interval_holds_the_truth_about_as_often_as_it_says():
    known = TRUE
    held = 0
    for seed in range(10):
        losses = of_constants(known, SIZES, TOKENS) * noise(0.003, seed)
        low, high = law(SIZES, TOKENS, losses, seed=seed).interval("beta")
        held += low <= known[-1] <= high
    assert held >= 6, f"{LEVEL:.0%} intervals held the truth {held} times of 10"


def test_one_run_that_went_wrong_moves_the_law_little():
    known = TRUE
    losses = of_constants(known, SIZES, TOKENS)
    losses[5] *= 1.2
    np.testing.assert_allclose(law(SIZES, TOKENS, losses).constants[3:], known[3:], rtol=0.05)


def test_a_band_lies_around_the_line_and_follows_it():
    fitted = law(SIZES, TOKENS, of_constants(TRUE, SIZES, TOKENS) * noise(0.01, 1))
    low, high = fitted.band(SIZES, TOKENS)
    middle = fitted.at(SIZES, TOKENS)
    assert (low < high).all()
    assert ((low < middle * 1.01) & (middle < high * 1.01)).all()


def test_too_few_runs_have_no_law():
    assert power_law(of(1, 2, 2), of(3, 2, 2)) is None
    assert law(SIZES[:4], TOKENS[:4], SIZES[:4]) is None
    assert law(SIZES[:8], TOKENS[:8], SIZES[:8]) is None


def row(**changes):
    values = dict.fromkeys(
        ["d_model", "parameters", "layer_parameters", "tokens", "steps", "read", "best_step", "loss"], 5
    )
    return values | {"training_loss": 4.0, "bits_per_byte": 2.0, "seconds": 1.0, "curve": [[250, 4.5, 5.5]]} | changes


def test_a_table_is_read_and_its_runs_are_in_order():
    runs = read(json.dumps([row(parameters=9), row(parameters=3)]))
    assert [run.parameters for run in runs] == [3, 9]
    assert asdict(runs[0])["curve"] == ((250, 4.5, 5.5),)
    assert runs[0].nats_per_bit == 2.5


def test_how_far_a_loss_still_fell():
    run = SizeRun(**row() | {"curve": ((1, 1.0, 5.0), (2, 1.0, 4.75))})
    assert run.still_falling == 0.25


@pytest.mark.parametrize("text", ["", "[]", "{}", "[3]", json.dumps([row(loss=-1)]), json.dumps([row(loss="x")])])
def test_another_file_is_refused(text):
    with pytest.raises(NotATable):
        read(text)


def test_a_whole_table_that_was_computed_here_is_shown_and_a_part_is_not(tmp_path):
    shipped, kept = tmp_path / "a", tmp_path / "b"
    for folder, count in ((shipped, 3), (kept, 2)):
        folder.mkdir()
        (folder / f"{NAME}.json").write_text(json.dumps([row(parameters=n + 1) for n in range(count)]))
    assert len(find(shipped, kept)) == 3
    assert len(find(tmp_path / "none", kept)) == 2
    (kept / f"{NAME}.json").write_text(json.dumps([row(parameters=n + 1) for n in range(16)]))
    assert len(find(shipped, kept)) == 16
    (shipped / f"{NAME}.json").write_text("no table")
    assert find(shipped, tmp_path / "none") == ()


def test_the_shipped_table_is_that_of_the_cells():
    path = SHIPPED / f"{NAME}.json"
    runs = read(path.read_text("utf-8"))
    assert path.stat().st_size < MOST_BYTES
    cells = {(cell.width, cell.recipe.steps) for cell in data_and_size.cells()}
    assert {(run.d_model, run.steps) for run in runs} <= cells
    assert len({(run.d_model, run.steps) for run in runs}) == len(runs)
    assert all(run.loss == pytest.approx(min(loss for *_, loss in run.curve)) for run in runs)


def test_the_command_refuses_what_it_cannot_do(capsys):
    with pytest.raises(SystemExit):
        main([NAME, "--device", "cuda"])
    assert "expected --device cpu" in capsys.readouterr().err
