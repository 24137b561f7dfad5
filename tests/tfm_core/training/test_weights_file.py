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
from tfm_core.training import weights_file
from tfm_core.training.files import MOST_NAME, MOST_TEXT, NotARun, as_json, as_tensors, read
from tfm_core.training.weights_file import as_file, from_file

RUN = trained()
HUGE = (2**62).to_bytes(8, "little") + b"{}"


def test_weights_and_what_they_can_do_there_and_back():
    run = from_file(as_file(RUN))
    assert run.config == replace(RUN.config, file=run.config.file)
    assert len(run.config.file) == 32  # 128 bits: nobody can guess it, or make another file of the same name
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
        (HUGE, "in the format safetensors, with at most 200,000 bytes of header, got 4,611,686,018,427,387,904"),
        (b"\2\0\0\0\0\0\0\0[]", "its header does not say what it holds"),
        (b"\2\0\0\0\0\0\0\0{]", "its header cannot be read"),
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


def times(strength: float, task: str = "reverse", **changes) -> bytes:
    run = to_the_end(small(task, **changes))
    return as_file(replace(run, weights={name: weight * strength for name, weight in run.weights.items()}))


@pytest.mark.parametrize("strength", [1e10, 1e6, 1e4])
@pytest.mark.parametrize(("task", "changes"), [("reverse", {}), ("sort-decoder", {}), ("textbook", {})])
def test_weights_with_which_nothing_can_be_computed_are_refused_and_told_where(strength, task, changes):
    with pytest.raises(
        NotARun, match=r"is at most 1e\+12, got (\d\.\de\+\d\d|nan|inf) at .*layers\.0\.self_attention\."
    ):
        from_file(times(strength, task, **changes))


def test_logits_of_a_recurrent_network_have_to_be_numbers_too():
    with pytest.raises(NotARun, match=r"got \d\.\de\+\d\d at logits"):
        from_file(times(1e14, "copy", network="gru"))


def test_no_tensor_is_made_of_a_file_whose_header_names_others(monkeypatch):
    """100,000 small ones took 5.7 s, before anything was compared."""

    def never(_):
        raise AssertionError("expected no tensor to be made")

    monkeypatch.setattr(weights_file, "load", never)
    many = {f"t{number}": torch.zeros(1) for number in range(1000)}
    for tensors, words in ((many, "expected shape"), (many | {"m": torch.zeros(2000)}, "expected shape")):
        with pytest.raises(NotARun, match=words):
            from_file(headed(of_config(CONFIG), tensors))
    with pytest.raises(NotARun, match="at most 200,000 bytes of header, got"):
        from_file(headed(of_config(CONFIG), {f"t{number}": torch.zeros(1) for number in range(10_000)}))


@pytest.mark.parametrize("name", ["x" * 5000, "a\nb\u202e\0", "**bold** <b>"])
def test_a_tensors_name_in_a_sentence_is_short_and_has_no_invisible_characters(name):
    with pytest.raises(NotARun) as refused:
        from_file(headed(of_config(CONFIG), {**RUN.weights, name: torch.zeros(1)}))
    told = str(refused.value).partition(": expected shape")[0]
    assert len(told) <= MOST_NAME
    assert told.isprintable()


def test_a_text_that_is_too_large_for_a_run_is_not_read():
    with pytest.raises(NotARun, match="a run's JSON of at most 4,000,000 characters, got 4,000,001"):
        read(as_tensors(RUN), " " * (MOST_TEXT + 1))
    spoiled = json.loads(as_json(RUN))
    spoiled["points"][-1]["loss"] = float("nan")
    with pytest.raises(NotARun, match="expected finite losses"):
        read(as_tensors(RUN), json.dumps(spoiled))


@pytest.mark.parametrize("key", ["x" * 5000, "a\nb"])
def test_what_a_header_asks_for_is_told_in_short(key):
    with pytest.raises(NotARun, match="unexpected keyword argument") as refused:
        from_file(headed(of_config(CONFIG | {key: 1})))
    assert len(str(refused.value)) < 300
    assert str(refused.value).isprintable()
