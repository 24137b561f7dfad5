"""The view "classify": what it counts, what its questions take for granted, and what it says of other runs."""

import math
from dataclasses import replace

import numpy as np
import pytest
import torch

from tests.tfm_core.training.runs import small, to_the_end
from tests.tfm_ui.lenses.training.asking import MODEL, answer, measured
from tests.tfm_ui.pictures.charts import traces
from tfm_core import recording, run_store
from tfm_core.training.config import of_task
from tfm_core.training.networks import network
from tfm_core.training.run import Point
from tfm_ui.lenses.training import LENS
from tfm_ui.lenses.training.classify.curves import Classify, turn
from tfm_ui.lenses.training.classify.examples import FIRST, WRONG, Confusion, Sentences, answers_with, examples_of
from tfm_ui.lenses.training.panels import NOT_YET
from tfm_ui.lenses.training.runs import config_of
from tfm_ui.lenses.training.state import LABELLED, TrainingState
from tfm_ui.pictures.panel import Note, panels_in
from tfm_ui.state.model_state import ModelState


def run_of(name):
    run = run_store().find(of_task(name))
    assert run
    return run


def result_of(name, **changes) -> Classify:
    """What is shown of a run that comes with the app, and with changes to it."""
    result = Classify(MODEL, TrainingState(labelled=name))
    result.trained = result.run = replace(run_of(name), **changes)
    return result


def of_run(panel, run):
    """A panel of a run that no link describes."""
    shown = panel(MODEL, TrainingState())
    shown.config, shown.answers = run.config, answers_with(run.config, run.weights)
    return shown


@pytest.mark.parametrize("name", LABELLED)
def test_all_laws_hold(name):
    state = TrainingState(view="classify", labelled=name)
    panels = panels_in(LENS.blocks(MODEL, state))
    assert len(panels) == 3
    for panel in panels:
        assert panel.sentence()
        assert len(panel.table())
        assert all(panel.laws().values()), panel.laws()
        if panel.picture_name:
            header, numbers = LENS.pictures[panel.picture_name].content(MODEL, state)
            assert header["about"] == panel.sentence()
            assert np.isfinite(numbers).all()


@pytest.mark.parametrize("name", LABELLED)
def test_what_is_counted_is_what_the_run_says(name):
    run = run_of(name)
    confusion = of_run(Confusion, run)
    answers = confusion.answers
    assert math.isclose(answers.is_right.float().mean().item(), run.last.accuracy, abs_tol=1e-6)
    counts = np.zeros_like(confusion.counts)
    for right, chosen in zip(answers.labels.tolist(), answers.chosen.tolist(), strict=True):
        counts[right, chosen] += 1
    np.testing.assert_array_equal(confusion.counts, counts)


def test_a_word_that_is_no_author_is_something_else():
    """The network says any of its 2,006 tokens before the first step."""
    confusion = of_run(Confusion, to_the_end(small("authors", steps=1, learning_rate=1e-6)))
    assert confusion.columns[-1] == "something else"
    assert confusion.counts[:, -1].sum() > 600
    assert all(confusion.laws().values())


def test_the_table_has_the_first_examples_and_the_surest_mistakes():
    table = of_run(Sentences, run_of("authors"))
    first, mistakes = table.rows[:FIRST], table.rows[FIRST:]
    assert first == list(range(FIRST))
    assert len(mistakes) == WRONG
    sure, is_right = table.answers.probabilities.max(1).values, table.answers.is_right
    others = [i for i in range(len(sure)) if not is_right[i] and i not in table.rows]
    assert min(sure[mistakes]) >= max(sure[others])
    assert not is_right[mistakes].any()


def test_curves_are_those_of_the_run():
    header, _ = LENS.pictures["training_classify"].content(MODEL, TrainingState(view="classify"))
    run, simple = run_of("authors"), Classify(MODEL, TrainingState()).baselines
    drawn = {(trace.name, trace.yaxis): list(trace.y) for trace in traces(header)}
    assert drawn["held out", "y"] == [point.accuracy for point in run.points]
    assert drawn["held out", "y2"] == [point.loss for point in run.points]
    assert drawn["ln 3", "y2"] == [math.log(3)] * 2
    for each in simple:
        assert drawn[each.name, "y"] == [each.accuracy] * 2


def test_random_labels_stand_beside_the_rule_s():
    for name, other in (("textbook", "textbook-random"), ("textbook-random", "textbook")):
        beside = result_of(name).beside
        assert beside
        assert beside.config.task == other
    assert result_of("authors").beside is None


def test_of_authors_chance_may_decide():
    said = answer("Who wrote it?")
    result = result_of("authors")
    assert result.best.accuracy > result.run.last.accuracy > 0.78
    assert "ahead" not in said
    assert "85.4%, lie 3.1 points apart. That is within chance (±3.9 points)" in said
    assert answer("Who wrote it?", ModelState(num_layers=1, seed=3)) == said


def test_the_textbook_s_rule_is_a_sum():
    result = result_of("textbook")
    assert result.run.last.accuracy > 0.7
    assert result.best.name == "logistic regression"
    assert "A bag of words is ahead of the network: 94.1% (logistic regression)" in answer("Textbook")


def test_random_labels_end_near_a_third():
    run = run_of("textbook-random")
    assert abs(run.last.accuracy - 1 / 3) < 3 * math.sqrt(2 / 9 / 1000)
    assert abs(run.last.loss - math.log(3)) < 0.05
    assert "that has not happened so far" in answer("Random labels")
    assert measured("Random labels") == round(100 * run.last.accuracy, 1)
    assert "Neither the network nor a bag of words is clearly better than" in result_of("textbook-random").sentence()


def test_labels_that_are_learned_by_heart_are_called_so():
    by_heart = result_of("textbook-random", losses=run_of("textbook-random").losses * 0.5)
    assert "the network learns labels by heart" in by_heart.why_random()


def test_brackets_are_told_by_their_order():
    assert "the label is in their order" in answer("A bag of brackets")
    assert result_of("brackets").baselines[1].accuracy < 0.6


def test_nothing_trained_is_said():
    assert answer("For longer") == NOT_YET
    state = TrainingState(view="classify", labelled="textbook", seed=7)
    first, *others = LENS.blocks(MODEL, state)
    assert "Nothing is trained yet" in first.sentence()
    assert any("choose it as the task" in note.text for note in others if isinstance(note, Note))


def curve(*losses) -> list[Point]:
    return [Point(25 * number, loss, 0.5, 0.5) for number, loss in enumerate(losses)]


def test_overfitting_is_a_held_out_loss_that_has_grown():
    assert turn(curve(1.1, 0.6, 0.5, 0.7, 0.7, 0.7, 0.6)).step == 50
    assert turn(curve(1.1, 0.6, 0.5, 0.7, 0.7, 0.7, 0.54)) is None  # over more examples it has not grown
    assert turn(curve(1.1, 0.6, 0.5, 0.7, 0.52, 0.7, 0.9)) is None  # one of the last points has not
    assert turn(curve(1.1, 0.6, 0.5, 0.7, 0.7, 0.9)) is None  # too few points
    assert turn([]) is None
    run, grown = run_of("authors"), tuple(curve(1.1, 0.6, 0.5, 0.7, 0.7, 0.7, 0.6))
    assert "It overfits" in result_of("authors", points=grown).sentence()
    assert (
        "It overfits" not in result_of("authors", points=grown, losses=run.losses * 0 + 2).sentence()
    )  # learns nothing


@pytest.mark.parametrize(
    ("accuracy", "expected"),
    [(0.95, "The network is ahead"), (0.3, "A bag of words is ahead"), (0.86, "within chance")],
)
def test_who_is_ahead_is_told_in_both_directions(accuracy, expected):
    *points, last = run_of("authors").points
    assert expected in result_of("authors", points=(*points, replace(last, accuracy=accuracy))).ahead()


def test_pooling_reaches_classifiers_alone():
    assert config_of(TrainingState(task="textbook", pooling="first")).pooling == "first"
    assert config_of(TrainingState(task="reverse", pooling="first")).pooling == "mean"


@pytest.mark.parametrize("pooling", ["mean", "first"])
def test_what_is_looked_at_follows_the_pooling(pooling):
    run = to_the_end(small("textbook", steps=1, num_layers=2, num_heads=2, pooling=pooling))
    model = network(run.config).eval()
    model.load_state_dict(dict(run.weights), strict=False)
    with torch.no_grad(), recording("*.weights") as trace:
        model(examples_of("textbook")[:5].source)
    weights = trace["layers.1.self_attention.weights"]
    expected = sum(weights[:, :, query] for query in range(30)) / 30 if pooling == "mean" else weights[:, :, 0]
    sentences = of_run(Sentences, run)
    torch.testing.assert_close(sentences.answers.looks[:5], expected)
    assert sentences.who == ("all tokens together" if pooling == "mean" else "the first token")


@pytest.mark.parametrize("picture", ["training_classify", "training_confusion", "training_looks"])
@pytest.mark.parametrize("page", [{"seed": 7}, {"heads": 8, "width": 128, "layers": 4, "steps": 6000}, {"heads": 8}])
def test_what_is_not_trained_has_pictures_of_its_first_weights(picture, page):
    header, numbers = LENS.pictures[picture].content(MODEL, TrainingState(view="classify", **page))
    assert header["about"]
    assert np.isfinite(numbers).all()


def test_the_recipe_gives_the_same_numbers():
    run = to_the_end(small("textbook", steps=2))
    result = of_run(Classify, run)
    names: dict = {}
    exec(result.recipe(), names)
    assert names["run"].points == run.points
    assert [each.accuracy for each in names["simple"]] == [each.accuracy for each in result.baselines]
