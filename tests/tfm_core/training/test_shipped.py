"""The runs that come with the app: they are there, they load, and they can do what they claim."""

from dataclasses import replace

import pytest
import torch

from tests.tfm_core.training.runs import trained
from tfm_core.model.transformer import Transformer
from tfm_core.training.__main__ import SHIPPED_RUNS
from tfm_core.training.config import of_task, read_name
from tfm_core.training.examples import FINAL, held_out, probes
from tfm_core.training.folder import SHIPPED, Folder
from tfm_core.training.networks import network
from tfm_core.training.run import Run
from tfm_core.training.scores import look
from tfm_core.training.store import RunStore, run_store
from tfm_core.training.tasks.table import TASKS
from tfm_core.training.train import train
from tfm_core.training.weights_file import as_file, from_file

LARGEST = 1_000_000  # bytes of a file


@pytest.fixture(scope="module")
def shipped(tmp_path_factory) -> dict[str, Run]:
    store = RunStore(Folder(tmp_path_factory.mktemp("none")))
    return {name: store.find(read_name(name)) for name in SHIPPED_RUNS}


def model_with(run: Run):
    model = network(run.config).eval()
    assert not model.load_state_dict(dict(run.weights)).missing_keys
    return model


@pytest.mark.parametrize("name", SHIPPED_RUNS)
def test_a_shipped_run_can_do_what_it_claims(shipped, name):
    run = shipped[name]
    assert run.is_complete
    assert run.problem == ""
    assert run.optimizer == {}
    assert run.config == read_name(name)
    assert run.last.accuracy >= (0.99 if name in ("reverse", "copy", "majority", "induction") else 0)
    if name in ("reverse", "copy", "induction"):  # a head looks where it should
        assert max(max(layer) for layer in run.last.scores[0]) >= 0.9
    looked = look(model_with(run), held_out(run.config, FINAL))
    assert looked.accuracy == pytest.approx(run.last.accuracy, abs=1e-6)
    assert looked.exact == pytest.approx(run.last.exact, abs=1e-6)
    assert looked.loss == pytest.approx(run.last.loss, abs=1e-5)
    shown = look(model_with(run), probes(run.config))
    assert torch.equal(shown.said, run.said[-1])
    assert run.maps.keys() == (set() if run.config.about.classes else shown.weights.keys())  # see the command
    for site, maps in run.maps.items():
        torch.testing.assert_close(maps[-1], shown.weights[site])


def test_there_are_no_others_and_they_are_small():
    stems = {path.stem for path in SHIPPED.glob("*.safetensors")}
    assert len(stems) == len(SHIPPED_RUNS)
    assert {stem.rsplit("-", 2)[0] for stem in stems} == {read_name(name).task for name in SHIPPED_RUNS}
    assert {f"{stem}.json" for stem in stems} <= {path.name for path in SHIPPED.glob("*.json")}
    assert max(path.stat().st_size for path in SHIPPED.iterdir()) < LARGEST


@pytest.mark.parametrize("name", [name for name in SHIPPED_RUNS if not TASKS[read_name(name).task].classes])
def test_the_transformer_of_the_name_is_the_trained_one(shipped, name):
    run = shipped[name]
    examples = held_out(run.config, 8)
    model = Transformer(replace(run.config.transformer, weights=name)).eval()
    expected = model_with(run)
    with torch.no_grad():
        # A reader of spans has two vectors in place of an output matrix: its states are those of a model without one.
        right = expected.stack(*examples.inputs) if run.config.about.spans else expected(*examples.inputs)
        assert torch.equal(model(*examples.inputs), right)
    assert not torch.equal(right, Transformer(run.config.transformer).eval()(*examples.inputs))


def test_unknown_weights_name_the_command():
    name = "reverse,seed=4711"
    with pytest.raises(ValueError, match="expected 'random' or the name of a run") as refused:
        Transformer(replace(of_task("reverse").transformer, weights=name))
    assert f"python -m tfm_core.training {name}" in str(refused.value)


@pytest.mark.parametrize("name", ["juggle", "reverse,", f"reverse,seed={10**400}", "random ", "../reverse", "=" * 999])
def test_other_names_are_refused_too(name):
    with pytest.raises(ValueError, match="weights: expected 'random' or the name of a run"):
        Transformer(replace(of_task("reverse").transformer, weights=name))


def test_a_run_that_is_under_way_is_no_weights(tmp_path, monkeypatch):
    monkeypatch.setattr(run_store().shelf, "place", Folder(tmp_path))
    config = of_task("reverse", seed=4712, steps=50)
    run_store().keep(next(train(config)).run)
    with pytest.raises(ValueError, match="has been trained here"):
        Transformer(replace(config.transformer, weights=config.name))


def test_weights_of_a_file_are_weights_like_others(tmp_path, monkeypatch):
    monkeypatch.setattr(run_store().shelf, "place", Folder(tmp_path))
    run = from_file(as_file(trained()))
    run_store().keep(run)
    model = Transformer(replace(run.config.transformer, weights=run.config.name)).eval()
    examples = held_out(run.config, 4)
    with torch.no_grad():
        assert torch.equal(model(examples.source), model_with(trained())(examples.source))


def test_a_store_never_removes_what_is_shipped(tmp_path):
    store = RunStore(Folder(tmp_path, limit=1))
    before = sorted(path.name for path in SHIPPED.iterdir())
    for seed in range(2):
        store.keep(trained(seed=seed))
    assert sorted(path.name for path in SHIPPED.iterdir()) == before
    assert store.find(of_task("reverse"))
