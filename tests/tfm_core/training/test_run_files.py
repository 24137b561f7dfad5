"""A run as files, its weights as one file: nothing is lost, and whatever is none is a sentence."""

import json
import pickle
from dataclasses import asdict, replace

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from safetensors.torch import load, save

from tests.tfm_core.training.runs import WORDS, same_numbers, small, to_the_end, trained
from tfm_core.training import weights_file
from tfm_core.training.files import MOST_NAME, MOST_TEXT, NotARun, as_json, as_tensors, read
from tfm_core.training.weights_file import as_file, from_file

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


# trained weights as one file to take along


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
        (HUGE, "in the format safetensors; .* 200,000 bytes, and here it would have 4,611,686,018,427,387,904"),
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
    with pytest.raises(NotARun, match="at most 200,000 bytes, and here it would have"):
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
