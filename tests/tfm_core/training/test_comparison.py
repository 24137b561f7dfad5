"""Networks compared: about as large, on the same examples; what came out is read whole, and who is ahead."""

import json
import math
from dataclasses import replace
from functools import cache
from itertools import islice
from pathlib import Path

import numpy as np
import pytest
import torch

from tests.tfm_core.training.comparisons import comparison, outcome
from tfm_core import POSITIONAL
from tfm_core.training import comparison as files
from tfm_core.training.compare import compare_all
from tfm_core.training.comparison import Entry, NotAComparison
from tfm_core.training.config import of_task
from tfm_core.training.contestants import (
    HEADS,
    LAYERS,
    SEEDS,
    Unmatched,
    budget,
    contestants,
    difference,
    matched,
    size,
)
from tfm_core.training.examples import batches
from tfm_core.training.folder import SHIPPED, Folder
from tfm_core.training.networks import network
from tfm_core.training.outcomes import MOST_BYTES, Outcomes
from tfm_core.training.scores import look
from tfm_core.training.verdict import ahead, chance_between

known_contestants = cache(contestants)  # of a task, found once for all tests
TASKS = ("reverse", "majority", "induction", "sort", "dates", "brackets", "reverse-decoder")
SHORT = of_task("reverse", steps=3)


@pytest.mark.parametrize("task", TASKS)
def test_all_networks_have_parameters_within_five_percent_and_the_same_budget(task):
    first, *others = known_contestants(task)
    with torch.device("meta"):  # their shapes alone
        counted, *counts = [
            sum(parameter.numel() for parameter in network(config).parameters()) for config in (first, *others)
        ]
    for other, count in zip(others, counts, strict=True):
        assert abs(count / counted - 1) <= 0.05
        assert (other.steps, other.batch_size, other.seed) == (first.steps, first.batch_size, 0)
    assert len({config.name for config in (first, *others)}) == 1 + len(others)


def test_every_scheme_norm_number_of_layers_and_of_heads_and_every_network_is_there():
    configs = known_contestants("majority")
    assert {config.positional for config in configs} == set(POSITIONAL)
    assert {config.norm for config in configs} == {"pre", "post"}
    assert {config.num_layers for config in configs if config.network == "transformer"} == set(LAYERS)
    assert {config.num_heads for config in configs if config.network == "transformer"} == set(HEADS)
    assert {config.network for config in configs} == {"transformer", "lstm", "gru", "rnn"}
    assert {config.network for config in known_contestants("reverse-decoder")} == {"transformer"}


def test_a_transformer_differs_from_the_first_in_one_thing_and_its_width_alone():
    first, *others = known_contestants("induction")
    for other in others:
        if other.network == "transformer":
            same = replace(other, d_model=first.d_model)
            changed = [
                name
                for name in ("positional", "norm", "num_layers", "num_heads")
                if getattr(same, name) != getattr(first, name)
            ]
            assert len(changed) == 1
            assert replace(same, **{changed[0]: getattr(first, changed[0])}) == first


def test_the_width_is_the_nearest_of_all():
    config = budget("brackets")
    lstm = matched(config, network="lstm", num_layers=1)
    near = [replace(lstm, d_model=width) for width in range(lstm.d_model - 8, lstm.d_model + 9, 2)]
    assert min(near, key=lambda other: abs(difference(config, other))) == lstm
    assert difference(config, lstm) == size(lstm) / size(config) - 1


def test_where_no_width_fits_a_sentence_says_how_near_it_comes():
    with pytest.raises(Unmatched, match=r"network=gru: expected \d+ parameters within 5%, got \d+ with d_model = \d+"):
        matched(of_task("reverse", d_model=4), network="gru")


@pytest.mark.parametrize("task", ["reverse", "copy", "first-again"])
def test_all_networks_are_trained_on_the_same_examples(task):
    first, *others = known_contestants(task)
    for other in others[:: len(others) // 4]:
        for mine, theirs in zip(islice(batches(first, 63), 3), islice(batches(other, 63), 3), strict=True):
            torch.testing.assert_close(mine.source, theirs.source, rtol=0, atol=0)
            torch.testing.assert_close(mine.answers, theirs.answers, rtol=0, atol=0)


def test_each_network_is_trained_with_each_seed_and_the_outcome_grows():
    configs = SHORT, replace(SHORT, network="gru", d_model=26)
    steps = list(compare_all(configs, (0, 1)))
    last = steps[-1].comparison
    assert steps[-1].share == 1.0
    assert last.is_complete
    assert [[run.seed for run in entry.outcomes] for entry in last.entries] == [[0, 1], [0, 1]]
    assert [bool(entry.outcomes[0].patterns) for entry in last.entries] == [True, False]
    assert [entry.parameters for entry in last.entries] == [size(config) for config in configs]
    assert not steps[0].comparison.is_complete
    assert sorted(step.share for step in steps) == [step.share for step in steps]
    assert last.entries[0].outcomes[0].accuracy != last.entries[0].outcomes[1].accuracy


def test_what_is_kept_of_a_run_is_its_last_point():
    from tfm_core.training.examples import FINAL, held_out
    from tfm_core.training.train import train

    *_, step = compare_all((SHORT,), (2,))
    *_, progress = train(replace(SHORT, seed=2))
    kept = step.comparison.entries[0].outcomes[0]
    model = network(SHORT)
    model.load_state_dict(dict(progress.run.weights), strict=False)
    looked = look(model, held_out(SHORT, FINAL), attention=False)
    assert (kept.accuracy, kept.exact) == (looked.accuracy, looked.exact)
    assert kept.loss == pytest.approx(looked.loss, rel=1e-6)


def test_of_a_recurrent_network_the_better_rate_counts():
    result = comparison({"learned": [0.9] * 3, "lstm": [0.7, 0.2, 0.2], "slow lstm": [0.3] * 3})
    assert [entry.config.learning_rate for entry in result.contestants] == [0.01, 0.003]
    assert [entry.config.learning_rate for entry in result.contestants if entry.config.network == "lstm"] == [0.003]


def test_the_steps_of_a_median_run_are_infinite_if_most_never_get_there():
    result = comparison({"learned": [1.0, 0.5, 0.5]})
    assert result.entries[0].median("solved") == math.inf
    assert comparison({"learned": [1.0, 1.0, 0.5]}).entries[0].median("solved") == 100


def test_json_brings_all_of_it_back():
    result = comparison({"learned": [0.9, 0.8, 1.0], "rope": [0.4, 0.5, 0.6], "lstm": [0.1, 0.2, 0.3]})
    assert files.read(files.as_json(result)) == result
    config = of_task("reverse")
    broken = replace(
        result, entries=(Entry(config, 1, (outcome(config, 0, 0.1, loss=math.nan, problem="It diverged."),)),)
    )
    json.loads(files.as_json(broken), parse_constant=pytest.fail)
    assert files.read(files.as_json(broken)).entries[0].outcomes[0].loss == math.inf


@pytest.mark.parametrize(
    "change",
    [
        {"format": 2},
        {"entries": []},
        {"entries": 3},
        {"lengths": [10]},
        {"guessing": None},
        {"task": "copy"},
        {"seeds": ["a"]},
    ],
)
def test_anything_else_is_no_comparison(change):
    known = json.loads(files.as_json(comparison({"learned": [0.9] * 3})))
    with pytest.raises(NotAComparison):
        files.read(json.dumps(known | change))
    for text in ("", "[]", "{}", "[" * 100_000, "null"):
        with pytest.raises(NotAComparison):
            files.read(text)


def test_the_store_keeps_the_latest_of_all_processes_and_finds_what_is_shipped(tmp_path):
    shipped = Outcomes(Folder(tmp_path / "shipped"))
    here, elsewhere = (Outcomes(Folder(tmp_path / "here"), shipped=tmp_path / "shipped") for _ in range(2))
    old, new, newest = (comparison({"learned": [share] * 3}) for share in (0.5, 0.6, 0.75))
    assert here.find("reverse") is here.find("../reverse") is None
    shipped.keep(old)
    assert here.find("reverse") == old
    here.keep(new)
    assert here.find("reverse") == elsewhere.find("reverse") == new
    elsewhere.keep(newest)
    assert here.find("reverse") == newest
    (tmp_path / "here" / "compare-reverse.json").unlink()  # there was no room for it any more
    assert here.find("reverse") == newest
    assert shipped.find("reverse") == old
    assert here.problem == ""


@pytest.mark.parametrize("content", ["", "{}", "x" * (MOST_BYTES + 1), "\ud800"])
def test_a_corrupt_file_is_removed_and_the_shipped_one_shown(tmp_path, content):
    shipped = comparison({"learned": [0.5] * 3})
    Outcomes(Folder(tmp_path / "shipped")).keep(shipped)
    path = tmp_path / "here" / "compare-reverse.json"
    path.parent.mkdir()
    path.write_bytes(content.encode("utf-8", "surrogatepass"))
    assert Outcomes(Folder(tmp_path / "here"), shipped=tmp_path / "shipped").find("reverse") == shipped
    assert not path.exists()


def test_without_a_writable_folder_it_lives_in_memory_and_says_so(tmp_path):
    (tmp_path / "file").write_text("")
    outcomes = Outcomes(Folder(tmp_path / "file" / "below"), shipped=tmp_path)
    outcomes.keep(comparison({"learned": [0.5] * 3}))
    assert outcomes.find("reverse") == comparison({"learned": [0.5] * 3})
    assert outcomes.problem.startswith("Comparisons are kept in memory until the server ends: ")


@pytest.mark.parametrize("path", sorted(SHIPPED.glob("compare-*.json")), ids=lambda path: path.stem)
def test_what_comes_with_the_app_is_what_would_be_compared_today(path: Path):
    shipped = files.read(path.read_text(encoding="utf-8"))
    assert shipped.is_complete
    assert shipped.seeds == SEEDS
    assert path.stem == f"compare-{shipped.task}"
    assert tuple(entry.config for entry in shipped.entries) == known_contestants(shipped.task)
    assert [entry.parameters for entry in shipped.entries] == [size(entry.config) for entry in shipped.entries]
    assert path.stat().st_size < 100_000


@pytest.mark.parametrize(
    ("first", "second", "chance", "expected"),
    [
        ([0.9, 0.8], [0.7, 0.6], 0.0, 1),
        ([0.9, 0.8], [0.7, 0.6], 0.2, 0),
        ([0.9, 0.8], [0.85, 0.1], 0.0, 0),
        ([1.0, 1.0], [1.0, 1.0], 0.0, 0),
        ([-100.0], [float("-inf")], 0.0, 1),
        ([float("-inf")] * 2, [float("-inf")] * 2, 0.0, 0),
        ([], [1.0], 0.0, 0),
    ],
)
def test_only_who_is_better_with_each_seed_is_ahead(first, second, chance, expected):
    assert ahead(first, second, chance) == expected
    assert ahead(second, first, chance) == -expected


@pytest.mark.parametrize(("share", "examples"), [(0.85, 712), (0.5, 128), (0.95, 2048)])
def test_of_two_equals_chance_puts_19_of_20_no_further_apart(share, examples):
    draws = np.random.default_rng(1).binomial(examples, share, (2, 20_000)) / examples
    apart = np.abs(draws[0] - draws[1])
    assert (apart <= chance_between(share, examples, share, examples)).mean() == pytest.approx(0.955, abs=0.01)
    told = [ahead([a], [b], chance_between(a, examples, b, examples)) != 0 for a, b in draws.T[:2000]]
    assert np.mean(told) < 0.07
