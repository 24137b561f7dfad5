"""Trained depths beside plain torch, and the table that is kept of them."""

import math
from dataclasses import replace

import pytest
import torch
import torch.nn.functional as F
from hypothesis import given
from hypothesis import strategies as st

from tfm_core import WIRINGS, Transformer
from tfm_core.training.__main__ import INTERRUPTED, main
from tfm_core.training.compare import depth_table
from tfm_core.training.compare.depth import Cell, DepthRecipe, DepthRun, Wired, cells, depth_run, depth_runs, length
from tfm_core.training.compare.depth_table import MOST_BYTES, NAME, Depths, DepthTable, NotATable, as_json, read
from tfm_core.training.examples import batches
from tfm_core.training.folder import SHIPPED, Folder
from tfm_core.training.networks import OUTPUT

SHORT = DepthRecipe(steps=6, batch_size=4, d_model=8, looked_at=(1, 4))


def naive(model: Wired, tokens: torch.Tensor, name: str) -> torch.Tensor:
    """The logits by the formulas of the wirings, written out."""
    stack = model.model.stack
    x = stack.embedding(tokens) * math.sqrt(stack.config.d_model) + stack.positional.encode(tokens.shape[1], 0)
    for layer in model.layers:
        for function, norm in (
            (layer.self_attention, layer.self_attention_norm),
            (layer.feed_forward, layer.feed_forward_norm),
        ):
            if name == "pre-norm":
                x = x + function(norm(x))
            elif name == "post-norm":
                x = norm(x + function(x))
            elif name == "no residuals":
                x = function(norm(x))
            else:
                x = x + function(x)
    if name in ("pre-norm", "no residuals"):
        x = F.layer_norm(x, [x.shape[-1]])  # a final norm that has learned nothing yet
    return model.model.unembedding(x)


@pytest.mark.parametrize("name", WIRINGS)
@torch.no_grad()
def test_each_wiring_is_its_formula(name):
    config = replace(SHORT.training(3).transformer, num_layers=3)
    model, tokens = Wired(config, name), torch.randint(1, 11, (2, 10))
    torch.testing.assert_close(model(tokens), naive(model, tokens, name))
    if name in ("pre-norm", "post-norm"):
        ours = Transformer(replace(config, norm=name.removesuffix("-norm"))).eval()
        torch.testing.assert_close(model(tokens), ours(tokens) * OUTPUT)


def test_norms_that_are_not_there_are_not_counted():
    config = SHORT.training(0).transformer
    count = {name: sum(each.numel() for each in Wired(config, name).trained) for name in WIRINGS}
    norm = 2 * config.d_model  # the weight and bias of a norm
    assert count["pre-norm"] == count["no residuals"] == count["post-norm"] + norm == count["no norm"] + 3 * norm


@pytest.mark.parametrize("name", WIRINGS)
def test_each_parameter_that_is_trained_has_a_gradient(name):
    model = Wired(SHORT.training(0).transformer, name)
    model(torch.ones(1, 10, dtype=torch.long)).square().sum().backward()
    with_gradient = {id(each) for each in model.parameters() if each.grad is not None}
    assert with_gradient == {id(each) for each in model.trained}


def test_the_first_gradients_are_those_of_the_first_loss():
    cell = Cell("post-norm", 3, 2, 1)
    run = depth_run(cell, SHORT)
    config = SHORT.training(1)
    model, batch = Wired(replace(config.transformer, num_layers=3), cell.wiring), next(batches(config))
    logits = model(batch.source)
    F.cross_entropy(logits.flatten(0, 1), batch.answers.flatten()).backward()
    for layer, mine, matrix in zip(model.layers, run.gradients[1], run.matrices[1], strict=True):
        every = torch.cat([each.grad.flatten() for each in layer.parameters()])
        assert mine == pytest.approx(float(every.norm()), rel=1e-4)
        assert matrix == pytest.approx(float(layer.feed_forward.output_projection.weight.grad.norm()), rel=1e-4)
    assert list(run.gradients) == [1, 4]
    assert run.points[0][0] == 0
    assert not run.ended


def test_a_gradient_whose_square_is_too_large_for_float32_has_a_length():
    parameter = torch.nn.Parameter(torch.zeros(2))
    parameter.grad = torch.tensor([3e25, 4e25])
    assert length([parameter, torch.nn.Parameter(torch.zeros(1))]) == pytest.approx(5e25)


def test_a_loss_that_is_no_number_ends_the_run_and_counts_as_failed():
    run = depth_run(Cell("no norm", 24, 0, 0), replace(SHORT, learning_rate=1e12, steps=5))
    assert run.ended > 1
    assert math.isnan(run.loss)
    assert not math.isfinite(run.losses[-1])
    assert run.failed(SHORT.guessing)
    assert not run.learned


@pytest.mark.parametrize(
    ("loss", "error", "failed"),
    [(2.0, 0.01, False), (2.30, 0.001, True), (2.25, 0.02, True), (9e9, 1.0, True), (math.inf, math.nan, True)],
)
def test_a_run_has_failed_if_four_standard_errors_reach_guessing(loss, error, failed):
    run = DepthRun(Cell("pre-norm", 2, 0, 0), 1, (), (), {}, {}, loss, error, 0.1, 0, 1.0)
    assert run.failed(math.log(10)) is failed


numbers = st.one_of(st.floats(1e-30, 1e30).map(lambda value: float(f"{value:.4g}")), st.just(math.inf))


@given(st.lists(numbers, max_size=4), numbers, st.sampled_from(list(WIRINGS)))
def test_what_is_kept_is_read_again(values, loss, wiring):
    cell = Cell(wiring, 6, 100, 2)
    run = DepthRun(cell, 10, tuple(values), ((0, loss, 0.5),), {1: tuple(values)}, {}, loss, 0.5, 0.25, 7, 1.5)
    table = DepthTable(DepthRecipe(), (run,), "torch 0")
    assert read(as_json(table)) == table
    nan = replace(run, loss=math.nan)
    assert math.isnan(read(as_json(replace(table, runs=(nan,)))).runs[0].loss)


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"format": 2}', '{"format": 1, "recipe": {}, "runs": [{}]}'])
def test_another_file_is_refused(text):
    with pytest.raises(NotATable):
        read(text)


def test_the_command_goes_on_where_it_was_stopped(tmp_path, monkeypatch, capsys):
    few = cells([1, 2], [0], [0])
    monkeypatch.setattr("tfm_core.training.__main__.DepthRecipe", lambda: SHORT)
    monkeypatch.setattr("tfm_core.training.__main__.cells", lambda: few)

    def stopped(*given):
        yield next(depth_runs(*given))
        raise KeyboardInterrupt

    monkeypatch.setattr("tfm_core.training.__main__.depth_runs", stopped)
    assert main([NAME, "--out", str(tmp_path)]) == INTERRUPTED
    depths = Depths(Folder(tmp_path))
    assert [run.cell for run in depths.kept().runs] == few[:1]
    began = depths.kept().runs[0]
    monkeypatch.setattr("tfm_core.training.__main__.depth_runs", depth_runs)
    assert main([NAME, "--out", str(tmp_path)]) == 0
    assert [run.cell for run in depths.kept().runs] == few
    assert depths.kept().runs[0] == began
    assert "no residuals   2 layers" in capsys.readouterr().out


def test_a_table_that_is_not_whole_does_not_hide_the_shipped_one(tmp_path):
    whole = Depths().find()
    depths = Depths(Folder(tmp_path), shipped=SHIPPED)
    depths.keep(replace(whole, runs=whole.runs[:3]))
    assert depths.find() == whole
    assert len(Depths(Folder(tmp_path), shipped=tmp_path / "none").find().runs) == 3


def test_the_shipped_table_is_whole_and_small():
    path = SHIPPED / f"{NAME}.json"
    table = read(path.read_text("utf-8"))
    assert path.stat().st_size < MOST_BYTES
    assert table.is_complete
    assert table.recipe == DepthRecipe()
    assert {run.cell for run in table.runs} == set(cells())
    assert depth_table.as_json(table) == path.read_text("utf-8")
    for run in table.runs:
        assert {len(each) for each in run.gradients.values()} == {run.cell.layers}
