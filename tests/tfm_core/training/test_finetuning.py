"""Fine-tuning: its data, its runs, what is measured of heads, files, the store and the command."""

import json
from dataclasses import replace

import numpy as np
import pytest
import torch

from tests.tfm_core.training.tuned import SMALL, grid_of, tuned
from tfm_core.model.classifier import SequenceClassifier
from tfm_core.model.transformer import Transformer
from tfm_core.training import __main__ as command
from tfm_core.training.compare.finetuning import grid as grids
from tfm_core.training.compare.finetuning import labelled
from tfm_core.training.compare.finetuning.grid_file import (
    FOLDER,
    NotTuned,
    as_parts,
    keep_grid,
    read_grid,
    read_run,
    shipped_grid,
)
from tfm_core.training.compare.finetuning.kept import find_run, keep_run
from tfm_core.training.compare.finetuning.labelled import SETS, drawn, held_out, not_drawn, sides
from tfm_core.training.compare.finetuning.looks import looks_of, moved, weights_of
from tfm_core.training.compare.finetuning.lora import low_rank_parameters
from tfm_core.training.compare.finetuning.outcome import SIZES, Tuning, shown_sentence
from tfm_core.training.compare.finetuning.tuning import Finetuning, classifier, finetune
from tfm_core.training.compare.finetuning.ways import WAYS
from tfm_core.training.folder import JSON, TENSORS, Folder
from tfm_core.training.store import run_store
from tfm_core.training.tasks.sentence_files import are_held_out, rows


@pytest.fixture
def small(monkeypatch):
    monkeypatch.setitem(labelled.BODIES, "small", SMALL)
    labelled.held_out.cache_clear()
    labelled._training.cache_clear()
    return "small"


@pytest.mark.parametrize("task", SETS)
def test_sides_of_a_set_share_no_sentence_and_the_hash_alone_decides(task):
    training, out = sides(task)
    assert len(training) + len(out) >= 2_000
    assert {label for label, _ in out} == set(SETS[task].labels)
    texts = [{" ".join(words) for _, words in side} for side in (training, out)]
    assert not texts[0] & texts[1]
    assert 0.17 < len(out) / (len(training) + len(out)) < 0.23
    assert are_held_out([words for _, words in out]).all()
    assert not are_held_out([words for _, words in training]).any()


def test_speech_and_narration_are_of_equal_lengths_and_have_no_first_or_second_person():
    known = rows(SETS["speech"].path)
    lengths = {
        label: sorted(len(words) for other, words in known if other == label) for label in ("speech", "narration")
    }
    assert lengths["speech"] == lengths["narration"]
    words = {word for _, sentence in known for word in sentence}
    assert not words & {"i", "me", "my", "you", "your", "we", "us", "thou", '"', "“"}
    assert len({" ".join(sentence) for _, sentence in known}) == len(known) == 3_200
    size = (SETS["speech"].path).stat().st_size
    assert size < 400_000


def test_fewer_examples_are_the_first_of_more_and_none_of_those_that_rates_are_tried_on():
    few, many = (drawn("speech", "lab-bert", count, 3) for count in (50, 200))
    assert torch.equal(few.source, many.source[:50])
    assert not torch.equal(few.source, drawn("speech", "lab-bert", 50, 4).source)
    others = {tuple(row) for row in not_drawn("speech", "lab-bert", 200, 3, 600).source.tolist()}
    assert len(others) == 600
    assert not others & {tuple(row) for row in many.source.tolist()}
    with pytest.raises(ValueError, match=r"examples: expected 1 to \d+ of 'speech', got 9999"):
        drawn("speech", "lab-bert", 9999, 0)


@pytest.mark.parametrize("way", WAYS)
def test_a_run_learns_what_its_way_trains_and_nothing_else(way, small):
    tuning = Tuning(task="speech", way=way, examples=50, body=small)
    before = {name: value.clone() for name, value in classifier(tuning).state_dict().items()}
    run = Finetuning(tuning, drawn("speech", small, 50, 0), tested=held_out("speech", small)[:40])
    *_, last = run.steps()
    result = last.tuned
    changed = {name for name, value in run.model.state_dict().items() if not torch.equal(value, before[name])}
    of_body = sum(parameter.numel() for parameter in run.model.stack.parameters())
    head = 8 * 2 + 2
    assert changed >= {"head.weight", "head.bias"}
    if way == "frozen":
        assert changed == {"head.weight", "head.bias"}
        assert result.trained == head
        assert result.moved == ((0.0, 0.0), (0.0, 0.0))
    elif WAYS[way].rank:
        assert all(name.endswith((".up", ".down", "head.weight", "head.bias")) for name in changed)
        assert result.trained == head + low_rank_parameters(SMALL.config, WAYS[way].rank)
    else:
        assert result.trained == head + of_body
    assert (result.maps["before"] == result.maps["after"]).all().item() == (way == "frozen")
    assert last.share == 1.0
    assert len(run.losses) == tuning.steps
    with torch.no_grad():
        said = run.model(held_out("speech", small)[:40].source).argmax(1)
    assert result.accuracy == pytest.approx(float((said == held_out("speech", small)[:40].labels).double().mean()))


def test_the_frozen_body_reads_each_sentence_once_and_the_head_is_the_same_as_if_it_read_it_at_each_step(small):
    tuning = Tuning(task="speech", way="frozen", examples=50, body=small)
    quick, plain = (
        Finetuning(tuning, drawn("speech", small, 50, 0), tested=held_out("speech", small)[:16]) for _ in range(2)
    )
    plain.body_is_fixed = False
    for run in (quick, plain):
        list(run.steps())
    torch.testing.assert_close(quick.model.head.weight, plain.model.head.weight, atol=1e-4, rtol=1e-4)


def test_the_same_run_comes_out_the_same_and_another_seed_another(small):
    tuning = Tuning(task="speech", way="lora-2", examples=50, body=small)

    def curve(asked):
        *_, last = finetune(asked)
        return last.tuned.curve, last.tuned.accuracy

    assert curve(tuning) == curve(tuning)
    assert curve(tuning) != curve(replace(tuning, seed=1))


def test_pretrained_ways_begin_with_lab_berts_weights_and_from_nothing_does_not():
    pretrained, random = (classifier(Tuning(task="speech", way=way, examples=50)) for way in ("whole", "nothing"))
    model = Transformer(labelled.BODIES["lab-bert"].config)
    for name, parameter in pretrained.stack.named_parameters():
        assert torch.equal(parameter, model.stack.get_parameter(name))
    assert not torch.equal(random.stack.embedding.weight, model.stack.embedding.weight)


def test_looks_and_distances_against_a_loop(small):
    model = SequenceClassifier(replace(SMALL.config, seed=5), 2).eval()
    other = SequenceClassifier(replace(SMALL.config, seed=6), 2).eval()
    source = held_out("speech", small)[:5].source
    source = source[:, : int((source != 0).sum(1).max())]
    before, after, read = weights_of(model, source), weights_of(other, source), source != 0
    looks, far = looks_of(before, read), moved(before, after, read)
    for layer in range(2):
        for head in range(2):
            first, last, previous, distance = [], [], [], []
            for sentence in range(5):
                length = int(read[sentence].sum())
                rows, others = before[layer, sentence, head], after[layer, sentence, head]
                for query in range(length):
                    first.append(rows[query, 0])
                    last.append(rows[query, length - 1])
                    distance.append((rows[query] - others[query]).abs().sum() / 2)
                    if query:
                        previous.append(rows[query, query - 1])
            assert looks.first[layer][head] == pytest.approx(np.mean(first), abs=1e-5)
            assert looks.last[layer][head] == pytest.approx(np.mean(last), abs=1e-5)
            assert looks.previous[layer][head] == pytest.approx(np.mean(previous), abs=1e-5)
            assert far[layer][head] == pytest.approx(np.mean(distance), abs=1e-5)


def test_naive_bayes_against_the_formula():
    """log P(label) + sum of log((count + 1) / (all + vocabulary)), with NumPy and dictionaries."""
    examples, tested = drawn("authors", "lab-bert", 200, 1), held_out("authors", "lab-bert")
    special, vocabulary = 5, 4096
    scores = np.zeros((len(tested), 3))
    for label in range(3):
        rows = examples.source[examples.labels == label].numpy()
        pieces = rows[rows >= special]
        count = np.bincount(pieces, minlength=vocabulary)
        told = np.log((count + 1) / (len(pieces) + vocabulary))
        prior = np.log(len(rows) / 200)
        for number, row in enumerate(tested.source.numpy()):
            scores[number, label] = prior + told[row[row >= special]].sum()
    expected = (scores.argmax(1) == tested.labels.numpy()).mean()
    assert grids.bag_accuracy(examples, tested, "authors", "lab-bert") == pytest.approx(expected)


@pytest.mark.parametrize(
    ("field", "value", "expected"),
    [
        ("task", "juggle", "task: expected one of authors, speech; got 'juggle'"),
        ("way", "magic", "way: expected one of nothing, frozen, whole, lora-2, lora-8; got 'magic'"),
        ("examples", 60, "examples: expected one of 50, 200, 1000; got 60"),
        ("seed", -1, "seed: expected a whole number from 0 on, got -1"),
    ],
)
def test_what_cannot_be_asked_for_is_refused(field, value, expected):
    with pytest.raises(ValueError, match=expected):
        Tuning(**{"task": "authors", "way": "whole", "examples": 50, field: value})


def same(first, second):
    assert replace(first, maps={}) == replace(second, maps={})
    assert first.maps.keys() == second.maps.keys()
    assert all(torch.equal(first.maps[when], second.maps[when]) for when in first.maps)


def test_a_run_and_a_grid_come_back_from_their_files():
    grid = grid_of({"whole": [0.5, 0.625, 0.75], "frozen": [0.25, 0.25, 0.5]})
    again = read_grid(as_parts(grid))
    assert replace(again, runs=()) == replace(grid, runs=())
    for first, second in zip(grid.runs, again.runs, strict=True):
        same(first, second)
    same(read_run(as_parts(grid.runs[0])), grid.runs[0])


def changed(parts, **fields):
    known = json.loads(parts[JSON])
    return {**parts, JSON: json.dumps({**known, **fields}).encode()}


def test_files_that_are_none_are_refused():
    run = tuned(Tuning(task="speech", way="whole", examples=50), 0.5)
    parts = as_parts(run)
    other = as_parts(replace(run, maps={"before": torch.zeros(1, dtype=torch.float16)}))[TENSORS]
    for wrong in (
        {**parts, JSON: b"{"},
        {**parts, JSON: b"[]"},
        {**parts, TENSORS: b"no"},
        {**parts, TENSORS: other},
        {**parts, JSON: b" " * 2_000_000},
        {JSON: parts[JSON]},
        changed(parts, format=2),
        changed(parts, accuracy=1.5),
        changed(parts, accuracy=None),
        changed(parts, moved=[[0.5]]),
        changed(parts, tuning={"task": "juggle"}),
    ):
        with pytest.raises(NotTuned):
            read_run(wrong)
    with pytest.raises(NotTuned):
        read_grid(changed(as_parts(grid_of({"whole": [0.5] * 3})), task="speech"))


def test_what_was_computed_here_is_kept_and_a_broken_file_counts_as_none(monkeypatch, tmp_path):
    monkeypatch.setattr(run_store().shelf, "place", Folder(tmp_path))
    tuning = Tuning(task="speech", way="whole", examples=50, seed=4711)
    assert find_run(tuning) is None
    keep_run(tuned(tuning, 0.5))
    assert find_run(tuning).accuracy == 0.5
    (path,) = tmp_path.glob("*.json")
    path.write_text("{")
    assert find_run(tuning) is None
    assert not list(tmp_path.glob("*.json"))


def test_grids_are_kept_in_a_folder(tmp_path):
    assert shipped_grid("authors", tmp_path) is None
    keep_grid(grid_of({"whole": [0.5, 0.6, 0.7]}), tmp_path)
    assert shipped_grid("authors", tmp_path).accuracies("whole", 200) == [0.5, 0.6, 0.7]


def test_the_command_keeps_a_grid_and_tells_it(small, monkeypatch, tmp_path, capsys):
    monkeypatch.setattr(
        "tfm_core.training.compare.finetuning.command.grid", lambda task: iter([(1.0, grid_of(RIGHTS))])
    )
    assert command.main(["finetune", "authors", "--out", str(tmp_path)]) == 0
    told = capsys.readouterr().out
    assert "naive Bayes     60.00%   60.00%   60.00%" in told
    assert "lora-8          50.00%   50.00%   50.00%" in told
    assert shipped_grid("authors", tmp_path) is not None
    with pytest.raises(SystemExit):
        command.main(["finetune", "juggle"])
    assert "finetune: expected rates or some of authors, speech; got juggle" in capsys.readouterr().err


RIGHTS = {way: [0.5, 0.5, 0.5] for way in WAYS}


def test_a_grid_has_every_way_size_and_seed(small, monkeypatch):
    """Runs are made by hand here, as real ones take minutes."""

    class Step:
        def __init__(self, tuning):
            self.tuned = replace(tuned(replace(tuning, body="lab-bert"), 0.5), tuning=tuning)

    monkeypatch.setattr(grids, "finetune", lambda tuning: iter([Step(tuning)]))
    *_, (share, grid) = grids.grid("speech", small)
    assert share == 1.0
    for way in WAYS:
        for size in SIZES:
            assert [run.tuning.seed for run in grid.of(way, size)] == [0, 1, 2]
    assert all(bool(run.maps) == (run.tuning.seed == 0) for run in grid.runs)
    assert grid.tested == len(sides("speech")[1])
    assert all(0.4 < bag.accuracy < 0.95 for bag in grid.bags)


@pytest.mark.parametrize("task", SETS)
def test_the_grids_that_come_with_the_app_are_whole_and_small(task):
    grid = shipped_grid(task)
    assert grid is not None
    for way in WAYS:
        for size in SIZES:
            assert len(grid.accuracies(way, size)) == 3
    for path in FOLDER.iterdir():
        assert path.stat().st_size < 500_000
    assert grid.bags == tuple(
        replace(bag, accuracy=pytest.approx(bag.accuracy, abs=1e-5)) for bag in grids.bags_of(task, grid.body)
    )
    shown = shown_sentence(task, grid.body)
    for run in grid.runs:
        assert run.made_with.startswith("torch ")
        if run.maps:
            assert run.maps["after"].shape[-1] == shown.shape[1]
            torch.testing.assert_close(
                run.maps["after"].float().sum(-1), torch.ones(run.maps["after"].shape[:-1]), atol=5e-3, rtol=0
            )
