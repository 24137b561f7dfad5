"""The textbook's set-up: its sizes, its rule, and labels that are drawn without a look at the sequence."""

import math
from collections import Counter

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from tfm_core.model.classifier import SequenceClassifier
from tfm_core.training.config import of_task
from tfm_core.training.examples import side
from tfm_core.training.networks import network, parameters
from tfm_core.training.schedule import rate
from tfm_core.training.tasks.table import TASKS
from tfm_core.training.tasks.textbook import RANDOM_LABELS, TEXTBOOK, VOCABULARY, counts

BOTH = ("textbook", "textbook-random")


@pytest.mark.parametrize("name", BOTH)
def test_the_sizes_are_the_textbook_s(name):
    config, task = of_task(name), TASKS[name]
    assert (task.vocab_size, task.length, task.classes) == (500, 30, 3)
    assert (len(side(config, held_out=False)), len(side(config, held_out=True))) == (4000, 1000)
    assert (config.d_model, config.num_heads, config.num_layers, config.transformer.feed_forward_dim) == (64, 4, 3, 256)
    assert (config.learning_rate, config.weight_decay, config.batch_size, config.pooling) == (1e-3, 0, 64, "mean")
    assert config.steps == 5 * math.ceil(4000 / 64)
    assert (config.activation, config.schedule, config.warmup, config.clip) == ("relu", "constant", 0, 0)
    assert {rate(config, step) for step in range(1, config.steps + 1)} == {1e-3}
    model = network(config)
    assert isinstance(model, SequenceClassifier)
    assert parameters(model) == 182_147  # as published for vocabulary 500, 3 layers of 64/4/256, 3 classes


def test_labels_are_those_of_the_rule():
    examples = TEXTBOOK.examples()
    for ids, label in zip(examples.source.tolist(), examples.answers.tolist(), strict=True):
        letters = Counter(VOCABULARY[number - 1][0] for number in ids)
        (first, most), *others = letters.most_common()
        assert "abc"[label] == first
        assert not others or most > others[0][1]


@given(st.lists(st.lists(st.integers(1, 499), min_size=30, max_size=30), min_size=1, max_size=8))
def test_counts_are_those_of_a_loop(rows):
    expected = [[sum(VOCABULARY[number - 1][0] == letter for number in row) for letter in "abc"] for row in rows]
    assert counts(torch.tensor(rows)).tolist() == expected


def test_random_labels_say_nothing():
    """Each class is a third of all, and of each label of the rule, within four standard deviations."""
    ruled, drawn = TEXTBOOK.examples(), RANDOM_LABELS.examples()
    assert ruled.source.equal(drawn.source)
    for chosen in (drawn.answers, *(drawn.answers[ruled.answers == label] for label in range(3))):
        shares = torch.bincount(chosen, minlength=3) / len(chosen)
        assert (shares - 1 / 3).abs().max() < 4 * math.sqrt(2 / 9 / len(chosen))
    agreement = (ruled.answers == drawn.answers).float().mean().item()
    assert abs(agreement - 1 / 3) < 4 * math.sqrt(2 / 9 / 5000)
