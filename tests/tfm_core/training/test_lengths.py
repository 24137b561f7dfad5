"""Other lengths than the trained one: the generators are right there, and the shares are those of a naive count."""

from dataclasses import replace
from itertools import pairwise

import pytest
import torch

from tests.tfm_core.training.drawn import right_answers
from tfm_core import POSITIONAL
from tfm_core.training.config import of_task
from tfm_core.training.lengths import by_length, examples_of, guessing, is_defined, lengths_of
from tfm_core.training.networks import network
from tfm_core.training.tasks.table import TASKS
from tfm_core.training.tasks.task import IGNORED
from tfm_core.training.train import train

STRETCHED = [name for name, task in TASKS.items() if task.stretches]


@pytest.mark.parametrize("task", STRETCHED)
def test_at_every_length_the_answers_are_right(task):
    config = of_task(task)
    words = ("PAD", *config.about.vocabulary)
    for length in lengths_of(config):
        examples = examples_of(config, length)
        assert examples.source.shape == (512, length)
        for source, answers in zip(examples.source[:40].tolist(), examples.answers[:40].tolist(), strict=True):
            asked = {place: words[answer] for place, answer in enumerate(answers) if answer != IGNORED}
            assert asked == right_answers(task, [words[number] for number in source])


@pytest.mark.parametrize("task", STRETCHED)
def test_lengths_go_from_the_trained_one_to_four_times_it(task):
    config = of_task(task)
    lengths = lengths_of(config)
    assert lengths[0] == config.about.length
    assert all(later > earlier for earlier, later in pairwise(lengths))
    assert 4 * lengths[0] <= lengths[-1] <= 4 * lengths[0] + 1


def test_a_task_without_other_lengths_has_one():
    assert lengths_of(of_task("dates")) == (TASKS["dates"].length,)


@pytest.mark.parametrize("changes", [{"positional": "rope"}, {"network": "gru"}, {"positional": "learned"}])
def test_shares_are_those_of_a_naive_count(changes):
    config = of_task("reverse", steps=30, **changes)
    *_, progress = train(config)
    model = network(config)
    model.load_state_dict(dict(progress.run.weights), strict=False)
    for length, share in zip(lengths_of(config), by_length(progress.run), strict=True):
        if not is_defined(config, length):
            assert share is None  # rather than zero
            continue
        examples = examples_of(config, length)
        with torch.no_grad():
            right = model(examples.source).argmax(-1) == examples.answers
        assert share == pytest.approx(right.float().mean().item(), abs=2e-3)


@pytest.mark.parametrize("scheme", POSITIONAL)
def test_it_is_defined_exactly_where_the_network_answers(scheme):
    config = of_task("reverse", positional=scheme, d_model=16)
    model = network(config)
    for length in lengths_of(config):
        tokens = torch.ones((1, length), dtype=torch.int64)
        if is_defined(config, length):
            assert model(tokens).shape == (1, length, 11)
        else:
            with pytest.raises(ValueError, match="expected at most max_len=10 tokens"):
                model(tokens)
    assert is_defined(config, 11) == (scheme != "learned")
    assert is_defined(replace(config, network="lstm"), 40)


def test_guessing_is_the_most_frequent_answer():
    config = of_task("first-again")
    for length, share in zip(lengths_of(config), guessing(config), strict=True):
        said = examples_of(config, length).answers[:, 0].tolist()
        assert share == pytest.approx(max(said.count(answer) for answer in set(said)) / len(said))
    assert guessing(config)[-1] > guessing(config)[0]  # the longer the text, the surer the letter comes again
