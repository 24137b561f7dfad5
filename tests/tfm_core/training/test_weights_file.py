"""Trained weights as one file to take along: the same weights come back, and anything else is a sentence."""

import json
import pickle
from dataclasses import asdict, replace

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from safetensors.torch import save

from tests.tfm_core.training.runs import WORDS, same_numbers, small, to_the_end, trained
from tfm_core.training.files import NotARun, as_json, as_tensors, read
from tfm_core.training.weights_file import as_file, from_file

RUN = trained()
HUGE = (2**62).to_bytes(8, "little") + b"{}"


def test_weights_and_what_they_can_do_there_and_back():
    run = from_file(as_file(RUN))
    assert run.config == replace(RUN.config, file=run.config.file)
    assert len(run.config.file) == 12
    assert f"file={run.config.file}" in run.config.name
    assert all(torch.equal(run.weights[name], value) for name, value in RUN.weights.items())
    assert run.is_complete
    assert run.done == 0
    assert run.last.accuracy == pytest.approx(RUN.last.accuracy, abs=0.1)  # over fewer examples
    assert torch.equal(run.said[-1], RUN.said[-1])
    for name, maps in run.maps.items():
        assert maps.shape == RUN.maps[name][-1:].shape
        torch.testing.assert_close(maps[0], RUN.maps[name][-1])
    same_numbers(read(as_tensors(run), as_json(run)), run)


def test_the_hash_in_the_name_is_that_of_the_file():
    other = as_file(trained(seed=1))
    names = {from_file(content).config.name for content in (as_file(RUN), as_file(RUN), other)}
    assert len(names) == 2
    again = from_file(as_file(from_file(other)))
    assert again.config.file != from_file(other).config.file  # the header names the first one


@pytest.mark.parametrize("task", ["sort-decoder", "copy", "textbook"])
def test_weights_of_other_networks(task):
    changes = {"network": "gru"} if task == "copy" else {}
    run = to_the_end(small(task, **changes))
    back = from_file(as_file(run))
    assert back.last.loss < 2 * run.last.loss
    assert set(back.maps) == set(run.maps)


def headed(metadata: dict[str, str] | None, tensors=None) -> bytes:
    return save(tensors or {name: value.contiguous() for name, value in RUN.weights.items()}, metadata=metadata)


CONFIG = asdict(RUN.config)
SPOILED = {**RUN.weights, "unembedding.weight": torch.full((11, 8), torch.inf)}


def of_config(config) -> dict[str, str]:
    return {"run": json.dumps({"config": config, "vocabulary": []})}


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "expected a file of weights in the format safetensors"),
        (b"PK\x03\x04 a zip file, as torch.save writes", "in the format safetensors"),
        (pickle.dumps(dict(RUN.weights)), "in the format safetensors"),
        (as_file(RUN)[:-4], "in the format safetensors"),
        (as_file(RUN)[:50], "in the format safetensors"),
        (HUGE, "in the format safetensors"),
        (b"\0" * 8_000_001, "expected a file of at most 8 MB, got 8.0 MB"),
        (as_tensors(RUN), "its header names no configuration"),
        (headed(None), "its header names no configuration"),
        (headed({"run": "{}"}), "its header names no configuration"),
        (headed(of_config(None)), "expected the configuration of a run"),
        (headed({"about": "other"}), "its header names no configuration"),
        (headed({"run": "{"}), "expected the configuration of a run in the file's header"),
        (headed({"run": "[" * 100_000}), "expected the configuration of a run"),
        (headed({"run": "3"}), "expected the configuration of a run"),
        (headed(of_config(CONFIG | {"task": "juggle"})), "header; task: expected one of"),
        (headed(of_config(CONFIG | {"seed": 10**400})), "header; seed: expected a whole number"),
        (headed(of_config(CONFIG | {"os": "rm"})), "expected the configuration of a run"),
        (headed(of_config(CONFIG | {"d_model": 32})), "expected shape"),
        (headed(of_config(CONFIG), {"other": torch.zeros(3)}), "expected shape"),
        (headed(of_config(CONFIG), SPOILED),
         "unembedding.weight: expected finite numbers"),
        (headed(of_config(CONFIG), {name: value.half() for name, value in RUN.weights.items()}),
         "expected numbers of float32, got torch.float16"),
    ],
)  # fmt: skip
def test_another_file_holds_no_weights(content, words):
    with pytest.raises(NotARun, match=words) as refused:
        from_file(content)
    assert len(str(refused.value).split()) >= WORDS


FILE = as_file(RUN)


@given(st.integers(0, len(FILE) - 1), st.binary(min_size=1, max_size=9))
def test_a_spoiled_file_holds_no_weights_or_others_of_the_same_shapes(place, spoiled):
    for content in (FILE[:place] + spoiled + FILE[place + len(spoiled) :], FILE[:place], spoiled + FILE[place:]):
        try:
            run = from_file(content)
        except NotARun:
            continue
        assert run.weights.keys() == RUN.weights.keys()
