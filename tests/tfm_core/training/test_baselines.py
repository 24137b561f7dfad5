"""Baselines against loops, and against torch's own optimizer."""

import math
from collections import Counter
from functools import cache

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from tfm_core.training.baselines import (
    baselines,
    label_ids,
    labels_of,
    logistic_regression,
    naive_bayes,
    regression_loss,
    trained_on,
)
from tfm_core.training.config import of_task
from tfm_core.training.examples import held_out, side
from tfm_core.training.tasks.table import TASKS

LABELLED = [name for name, task in TASKS.items() if task.labels]


@cache
def of(name):
    """The baselines of a task at its defaults, for all tests."""
    return baselines(of_task(name))


@st.composite
def counted(draw):
    """Counts of up to six tokens, and labels, of which each is there."""
    vocab, classes = draw(st.integers(2, 6)), draw(st.integers(2, 3))
    row = st.lists(st.integers(0, 4), min_size=vocab, max_size=vocab)
    rows = draw(st.lists(row, min_size=classes, max_size=12))
    labels = [number % classes for number in range(len(rows))]
    return torch.tensor(rows, dtype=torch.float64), torch.tensor(labels), classes


@given(counted())
def test_naive_bayes_is_that_of_each_label_by_itself(examples):
    counts, labels, classes = examples
    weights, biases = naive_bayes(counts, labels, classes)
    for label in range(classes):
        of_label = counts[labels == label]
        tokens = of_label.sum(0) + 1
        torch.testing.assert_close(weights[label], (tokens / tokens.sum()).log())
        assert math.isclose(biases[label], math.log(len(of_label) / len(labels)), abs_tol=1e-12)


@given(counted())
def test_logistic_regression_is_that_of_torch_s_optimizer(examples):
    counts, labels, classes = examples
    ours = regression_loss(counts, labels, *logistic_regression(counts, labels, classes))
    weights = torch.zeros(classes, counts.shape[1], dtype=torch.float64, requires_grad=True)
    biases = torch.zeros(classes, dtype=torch.float64, requires_grad=True)
    solver = torch.optim.LBFGS([weights, biases], max_iter=500, tolerance_grad=1e-9, line_search_fn="strong_wolfe")

    def slope():
        solver.zero_grad()
        loss = regression_loss(counts, labels, weights, biases)
        loss.backward()
        return loss

    solver.step(slope)
    theirs = regression_loss(counts, labels, weights, biases).item()
    assert ours.item() <= theirs + 1e-4


@pytest.mark.parametrize("name", LABELLED)
def test_baselines_learn_from_one_side_and_are_measured_on_the_other(name):
    config = of_task(name)
    task, train, test = config.about, trained_on(config), held_out(config, 2048)
    assert not task.split(train.source).any()
    assert task.split(test.source).all()
    most = Counter(labels_of(task, train).tolist()).most_common(1)[0][0]
    expected = labels_of(task, test)
    majority, *bags = of(name)
    assert math.isclose(majority.accuracy, (expected == most).double().mean().item())
    for each in (majority, *bags):
        torch.testing.assert_close(each.log_probabilities.exp().sum(1), torch.ones(len(test), dtype=torch.float64))
        picked = each.log_probabilities[torch.arange(len(test)), expected]
        assert math.isclose(each.loss, -picked.mean().item())
        assert math.isclose(each.accuracy, (each.log_probabilities.argmax(1) == expected).double().mean().item())


@pytest.mark.parametrize("name", LABELLED)
def test_labels_stand_for_answers(name):
    task = TASKS[name]
    examples = held_out(of_task(name), 50)
    answers = examples.answers if task.classes else examples.answers[:, 0]
    assert label_ids(task)[labels_of(task, examples)].equal(answers)


def test_what_bags_of_words_reach():
    """What the page says of authors, of random labels and of brackets, of which every sequence has the same bag."""
    reached = {name: [each.accuracy for each in of(name)] for name in LABELLED}
    assert 0.83 < reached["authors"][1] < 0.87
    assert 0.83 < reached["authors"][2] < 0.87
    assert reached["textbook"][2] > 0.9
    assert all(abs(share - 1 / 3) < 0.06 for share in reached["textbook-random"])
    assert len(set(reached["brackets"])) == 1
    assert reached["majority"][1] == reached["majority"][2] == 1


def test_a_fixed_set_is_learned_from_once():
    assert trained_on(of_task("authors", seed=5)).source.equal(side(of_task("authors"), held_out=False).source)
