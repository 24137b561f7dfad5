"""A run as files: nothing is lost, and whatever is none is a sentence."""

import json
import pickle
from dataclasses import replace

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from safetensors.torch import load, save

from tests.tfm_core.training.runs import WORDS, same_numbers, small, to_the_end, trained
from tfm_core.training.files import NotARun, as_json, as_tensors, read

RUN = trained()
TENSORS, TEXT = as_tensors(RUN), as_json(RUN)
HUGE = (2**62).to_bytes(8, "little") + b"{}"


@pytest.mark.parametrize(
    ("task", "changes"),
    [
        ("reverse", {}),
        ("sort-decoder", {"num_layers": 2, "num_heads": 2, "learning_rate": 1 / 3}),
        ("copy", {"network": "lstm"}),
        ("textbook", {"pooling": "first"}),
        ("authors", {"dropout": 0.5}),
    ],
)
def test_there_and_back(task, changes):
    run = to_the_end(small(task, **changes))
    back = read(as_tensors(run), as_json(run))
    same_numbers(back, run)
    assert (back.seconds, back.stepping, back.made_with) == (run.seconds, run.stepping, run.made_with)


def test_without_the_optimizer():
    back = read(as_tensors(RUN, optimizer=False), TEXT)
    assert back.optimizer == {}
    same_numbers(replace(back, optimizer=RUN.optimizer), RUN)


def test_a_run_that_diverged_is_read_again_with_its_reason():
    """Its weights may be no numbers any more."""
    run = to_the_end(small(steps=60, learning_rate=10.0, weight_decay=10.0, warmup=0))
    assert not all(value.isfinite().all() for value in run.weights.values())
    back = read(as_tensors(run), as_json(run))
    assert back.problem == run.problem
    assert back.losses.isnan().tolist() == run.losses.isnan().tolist()
    assert not back.is_complete


def changed(known: dict | None = None, **changes) -> str:
    return json.dumps({**json.loads(TEXT), **(known or {}), **changes})


def with_config(**changes) -> str:
    return changed(config=json.loads(TEXT)["config"] | changes)


def with_tensors(**changes) -> bytes:
    """Tensors in place of others; None takes one out."""
    tensors = load(TENSORS) | {name.replace("__", "."): value for name, value in changes.items()}
    return save({name: value for name, value in tensors.items() if value is not None})


def a_nan(name: str) -> dict[str, torch.Tensor]:
    value = load(TENSORS)[name].clone()
    value.flatten()[0] = torch.nan
    return {name: value}


HEAD, MAPS = "weights.unembedding.weight", "maps.layers.0.self_attention.weights"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "expected the files of a run; Expecting value"),
        (TEXT[:-20], "expected the files of a run"),
        ("[]", r"format: expected 1, got '\[\]'"),
        ("{}", "format: expected 1, got 'None'"),
        (changed(format=2), "format: expected 1, got '2'"),
        ("3" * 10_000, "expected the files of a run"),
        ("[" * 100_000, "expected the files of a run"),
        ('{"format": 1}', "expected 'config' in the files of a run"),
        ('{"format": 1, "config": 3}', "expected the files of a run"),
        ('{"format": 1, "config": {}}', "expected the files of a run"),
        (with_config(task="juggle"), "task: expected one of"),
        (with_config(extra=1), "extra"),
        (with_config(seed=10**400), "seed: expected a whole number"),
        (with_config(d_model=16), r"expected shape \(\w+(, \w+)*,?\), got"),
        (with_config(num_layers=2), r"layers.1.*: expected shape .*, got None"),
        (with_config(task="sort"), "expected shape"),
        (changed(points=[]), "expected a curve of float32 losses with points"),
        (changed(points=3), "expected the files of a run"),
        (changed(points=[{}]), "expected 'scores' in the files of a run"),
        (changed(points=["scores"]), "expected the files of a run"),
        (changed(points=[{"scores": [], "step": float("inf"), "loss": 1, "accuracy": 1, "exact": 1}]), "infinity"),
        (changed(points=[{"scores": [3], "step": 1, "loss": 1, "accuracy": 1, "exact": 1}]), "files of a run"),
        (changed(snapshots=[0]), "said: expected int64 for 1 snapshots"),
        (changed(snapshots=None), "expected the files of a run"),
        (changed(seconds="much"), "expected the files of a run"),
        (changed(seconds=None), "expected the files of a run"),
        *((json.dumps({k: v for k, v in json.loads(TEXT).items() if k != name}), f"expected '{name}' in the files")
          for name in ("points", "snapshots", "seconds", "stepping", "problem", "made_with")),
    ],
)  # fmt: skip
def test_another_text_is_no_run(text, words):
    with pytest.raises(NotARun, match=words) as refused:
        read(TENSORS, text)
    assert len(str(refused.value).split()) >= WORDS


@pytest.mark.parametrize(
    ("tensors", "words"),
    [
        (b"", "expected a safetensors file"),
        (TENSORS[:100], "expected a safetensors file"),
        (TENSORS[:-1], "expected a safetensors file"),
        (TENSORS + b"\0", "expected a safetensors file"),
        (b"\0" * 1000, "expected a safetensors file"),
        (HUGE, "expected a safetensors file"),
        (pickle.dumps({"losses": [1.0]}), "expected a safetensors file"),
        (save({}), "expected 'losses' in the files of a run"),
        (with_tensors(said=None), "expected 'said' in the files of a run"),
        (with_tensors(losses=torch.zeros(9, 1)), "expected a curve of float32 losses"),
        (with_tensors(losses=torch.zeros(9, dtype=torch.float64)), "expected a curve of float32 losses"),
        (with_tensors(said=RUN.said.float()), "said: expected int64"),
        (with_tensors(said=RUN.said[:-1]), "said: expected int64 for 6 snapshots"),
        (with_tensors(**{HEAD: None}), "unembedding.weight: expected shape .*, got None"),
        (with_tensors(weights__more=torch.zeros(2)), r"more: expected shape None, got \(2,\)"),
        (with_tensors(**{HEAD: torch.zeros(3, 8)}), r"unembedding.weight: expected shape \(11, 8\), got \(3, 8\)"),
        (with_tensors(**{HEAD: torch.zeros(11, 8).double()}), "expected numbers of float32, got torch.float64"),
        (with_tensors(**{HEAD: torch.zeros(11, 8).int()}), "expected numbers of float32, got torch.int32"),
        (with_tensors(**a_nan(HEAD)), "unembedding.weight: expected finite numbers, got NaN or infinity"),
        (with_tensors(**{MAPS: RUN.maps["layers.0.self_attention.weights"][1:]}), "expected .snapshot, probe, head"),
        (with_tensors(**{MAPS: torch.zeros(8, 2)}), r"expected \(snapshot, probe, head, query, key\), got \(8, 2\)"),
        (with_tensors(**{"optimizer.unembedding.weight.exp_avg": None}), "optimizer: expected exp_avg, exp_avg_sq of"),
        (with_tensors(optimizer__more=torch.zeros(2)), "optimizer: expected exp_avg, exp_avg_sq of each parameter"),
    ],
)
def test_other_tensors_are_no_run(tensors, words):
    with pytest.raises(NotARun, match=words) as refused:
        read(tensors, TEXT)
    assert len(str(refused.value).split()) >= WORDS


@given(st.integers(0, len(TENSORS) - 1), st.integers(0, 255), st.integers(0, len(TEXT) - 1), st.characters())
def test_a_spoiled_byte_is_no_run_or_a_run_of_the_same_shapes(place, byte, sign, letter):
    tensors = TENSORS[:place] + bytes([byte]) + TENSORS[place + 1 :]
    text = TEXT[:sign] + letter + TEXT[sign + 1 :]
    for content in ((tensors, TEXT), (TENSORS, text), (TENSORS[:place], TEXT), (TENSORS, TEXT[:sign])):
        try:
            run = read(*content)
        except NotARun:
            continue
        assert {name: value.shape for name, value in run.weights.items()} == {
            name: value.shape for name, value in RUN.weights.items()
        }
