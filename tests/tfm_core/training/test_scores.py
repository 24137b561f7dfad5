"""What a network does and where its heads look, against loops over every cell."""

import math

import pytest
import torch
import torch.nn.functional as F
from hypothesis import given
from hypothesis import strategies as st

from tests.tfm_core.training.runs import small, trained
from tfm_core.training.examples import held_out
from tfm_core.training.networks import network
from tfm_core.training.scores import chance, look, loss_of, pattern_score, right, site
from tfm_core.training.tasks.table import TASKS

SIZES = st.tuples(st.integers(1, 3), st.integers(1, 3), st.integers(1, 6), st.integers(1, 6))


def score_by_loops(weights, cells, *, even):
    """The mean over all rows that have cells, for each head."""
    scores = []
    for head in range(weights.shape[1]):
        rows = []
        for example, queries in enumerate(cells.tolist()):
            for query, row in enumerate(queries):
                on_cells = [weights[example, head, query, key].item() for key, is_cell in enumerate(row) if is_cell]
                if not on_cells:
                    continue
                if even:
                    entropy = -sum(weight * math.log(weight) for weight in on_cells if weight)
                    rows.append(entropy / math.log(max(2, len(on_cells))))
                else:
                    rows.append(sum(on_cells))
        scores.append(sum(rows) / len(rows) if rows else 0)
    return scores


@given(SIZES, st.integers(0, 2**32), st.booleans(), st.sampled_from([0.0, 0.2, 0.7, 1.0]))
def test_a_score_is_the_mean_over_rows_with_cells(sizes, seed, even, share):
    batch, heads, queries, keys = sizes
    numbers = torch.Generator().manual_seed(seed)
    weights = (torch.randn(batch, heads, queries, keys, generator=numbers) * 3).softmax(-1)
    weights[weights < 0.01] = 0
    cells = torch.rand(batch, queries, keys, generator=numbers) < share
    got = pattern_score(weights, cells, even=even)
    assert got.shape == (heads,)
    assert got.tolist() == pytest.approx(score_by_loops(weights, cells, even=even), abs=1e-5)


@pytest.mark.parametrize("name", [name for name, task in TASKS.items() if task.patterns])
def test_chance_is_the_score_of_a_head_that_looks_everywhere_alike(name):
    task, examples = TASKS[name], held_out(small(name), 8)
    for pattern in task.patterns:
        for causal in (False, True):
            cells = pattern.cells(examples)
            uniform = torch.zeros(len(cells), 1, *cells.shape[1:])
            for query in range(cells.shape[1]):
                visible = query + 1 if causal and pattern.kind == "self" else cells.shape[2]
                uniform[:, :, query, :visible] = 1 / visible
            (expected,) = score_by_loops(uniform, cells, even=pattern.even)
            assert chance(pattern, examples, causal=causal) == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize("task", ["reverse", "induction", "majority", "sort-decoder", "textbook", "authors"])
def test_a_look_tells_what_a_pass_tells(task):
    config = small(task)
    model, examples = network(config).eval(), held_out(config, 16)
    looked = look(model, examples)
    with torch.no_grad():
        logits = model(*examples.inputs)
    answers, by_place = examples.answers.reshape(16, -1), logits.reshape(16, -1, logits.shape[-1])
    asked, are_right = answers != -100, by_place.argmax(-1) == answers
    assert looked.loss == pytest.approx(F.cross_entropy(by_place[asked], answers[asked]).item(), abs=1e-5)
    assert looked.accuracy == pytest.approx(are_right[asked].double().mean().item(), abs=1e-6)
    assert looked.exact == pytest.approx((are_right | ~asked).all(1).double().mean().item(), abs=1e-6)
    assert looked.said.equal(logits.argmax(-1))
    assert looked.said.shape == examples.answers.shape
    assert loss_of(logits, examples.answers).item() == pytest.approx(looked.loss)
    assert right(logits.argmax(-1), examples.answers)[examples.answers == -100].all()


@pytest.mark.parametrize("task", list(TASKS))
def test_the_sites_of_all_patterns_are_recorded(task):
    config = small(task, num_layers=2)
    weights = look(network(config), held_out(config, 2)).weights
    for pattern in config.about.patterns:
        for layer in range(2):
            assert (
                weights[site(pattern.kind, layer, config.about.architecture)].shape[2:]
                == (pattern.cells(held_out(config, 2)).shape[1:])
            )


@pytest.mark.parametrize("is_training", [True, False])
@pytest.mark.parametrize("changes", [{"dropout": 0.5}, {"network": "lstm"}])
def test_a_look_leaves_the_network_as_it_was(is_training, changes):
    config = small(**changes)
    model, examples = network(config).train(is_training), held_out(config, 4)
    before = {name: value.clone() for name, value in model.state_dict().items()}
    first, again = (look(model, examples, attention=config.network != "lstm") for _ in range(2))
    assert model.training is is_training
    assert all(module.training is is_training for module in model.modules())
    assert first.loss == again.loss  # no dropout
    assert all(torch.equal(value, before[name]) for name, value in model.state_dict().items())
    assert all(parameter.grad is None for parameter in model.parameters())
    assert bool(first.weights) is (config.network == "transformer")


def test_the_curve_has_the_scores_of_a_look():
    run = trained("induction", num_layers=2, num_heads=2)
    config = run.config
    model = network(config)
    model.load_state_dict(dict(run.weights))
    examples = held_out(config, 128)
    weights = look(model, examples).weights
    for pattern, scores in zip(config.about.patterns, run.last.scores, strict=True):
        for layer, heads in enumerate(scores):
            exact = pattern_score(weights[f"layers.{layer}.self_attention.weights"], pattern.cells(examples))
            assert list(heads) == pytest.approx(exact.tolist(), abs=1e-6)
