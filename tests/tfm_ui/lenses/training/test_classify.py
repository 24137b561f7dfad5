"""The view "classify": what it counts, what its questions take for granted, and what it says of other runs."""

import math
from dataclasses import replace

import numpy as np
import pytest
import torch

from tests.tfm_core.training.runs import small, to_the_end
from tests.tfm_ui.pictures.charts import traces
from tfm_core import recording
from tfm_core.training.config import of_task
from tfm_core.training.folder import SHIPPED, Folder
from tfm_core.training.networks import network
from tfm_core.training.run import Point
from tfm_core.training.store import STORE, Store
from tfm_ui.lenses.training import LENS
from tfm_ui.lenses.training.classify.answers import NOT_YET
from tfm_ui.lenses.training.classify.examples import FIRST, WRONG, Confusion, Sentences
from tfm_ui.lenses.training.classify.numbers import Classified, turn
from tfm_ui.lenses.training.classify.questions import QUESTIONS
from tfm_ui.lenses.training.classify.said import baselines, classified, examples_of, told
from tfm_ui.lenses.training.classify.words import why_random
from tfm_ui.lenses.training.runs import config_of
from tfm_ui.lenses.training.state import LABELLED, TrainingState
from tfm_ui.pictures.panel import Note, panels_in
from tfm_ui.state.model_state import ModelState

MODEL = ModelState()
ASKED = {question.name: question for question in QUESTIONS}


@pytest.fixture(autouse=True)
def only_shipped(monkeypatch, tmp_path):
    """The runs that come with the app, whatever was trained on this machine."""
    monkeypatch.setattr(STORE.shelf, "place", Folder(tmp_path))
    monkeypatch.setattr(STORE, "_memory", type(STORE._memory)())


def run_of(name):
    run = Store(Folder(SHIPPED)).find(of_task(name))
    assert run
    return run


def result_of(name) -> Classified:
    return classified(TrainingState(task=name))


def answer(name: str, model: ModelState = MODEL) -> str:
    question = ASKED[name]
    return question.answer(model, TrainingState(**question.page))


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
    run, said = run_of(name), told(run_of(name).config, run_of(name).weights)
    assert math.isclose(said.is_right.float().mean().item(), run.last.accuracy, abs_tol=1e-6)
    confusion = torch.zeros_like(said.confusion)
    for right, chosen in zip(said.labels.tolist(), said.chosen.tolist(), strict=True):
        confusion[right, chosen] += 1
    assert confusion.equal(said.confusion)


def test_a_word_that_is_no_author_is_something_else():
    """The network says any of its 2,006 tokens before the first step."""
    run = to_the_end(small("authors", steps=1, learning_rate=1e-6))
    confusion = Confusion(run.config, told(run.config, run.weights))
    assert confusion.columns[-1] == "something else"
    assert confusion.counts[:, -1].sum() > 600
    assert all(confusion.laws().values())


def test_the_table_has_the_first_examples_and_the_surest_mistakes():
    config = of_task("authors")
    said = told(run_of("authors").config, run_of("authors").weights)
    table = Sentences(config, said, 0)
    first, mistakes = table.shown[:FIRST], table.shown[FIRST:]
    assert first == list(range(FIRST))
    assert len(mistakes) == WRONG
    sure = said.probabilities.max(1).values
    others = [i for i in range(len(sure)) if not said.is_right[i] and i not in table.shown]
    assert min(sure[mistakes]) >= max(sure[others])
    assert not said.is_right[mistakes].any()


def test_curves_are_those_of_the_run():
    header, _ = LENS.pictures["training_classify"].content(MODEL, TrainingState(view="classify"))
    run, simple = run_of("authors"), baselines(of_task("authors"))
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
    assert result.run
    assert result.best.accuracy > result.run.last.accuracy > 0.78
    assert "ahead" not in said
    assert "85.4%, lie 3.1 points apart. That is within chance (±3.9 points)" in said
    assert answer("Who wrote it?", ModelState(num_layers=1, seed=3)) == said


def test_the_textbook_s_rule_is_a_sum():
    result = result_of("textbook")
    assert result.run
    assert result.run.last.accuracy > 0.7
    assert result.best.name == "logistic regression"
    assert "A bag of words is ahead of the network: 94.1% (logistic regression)" in answer("Textbook")


def test_random_labels_end_near_a_third():
    run = run_of("textbook-random")
    assert abs(run.last.accuracy - 1 / 3) < 3 * math.sqrt(2 / 9 / 1000)
    assert abs(run.last.loss - math.log(3)) < 0.05
    assert "that has not happened so far" in answer("Random labels")
    question = ASKED["Random labels"]
    assert question.predict
    assert question.predict.measured(MODEL, TrainingState(**question.page)) == round(100 * run.last.accuracy, 1)
    assert "Neither the network nor a bag of words is clearly better than" in result_of("textbook-random").sentence()


def test_labels_that_are_learned_by_heart_are_called_so():
    result = result_of("textbook-random")
    assert result.run
    by_heart = replace(result.run, losses=result.run.losses * 0.5)
    assert "the network learns labels by heart" in why_random(replace(result, run=by_heart))


def test_brackets_are_told_by_their_order():
    assert "the label is in their order" in answer("A bag of brackets")
    assert baselines(of_task("brackets"))[1].accuracy < 0.6


def test_nothing_trained_is_said():
    assert answer("For longer") == NOT_YET
    state = TrainingState(view="classify", labelled="textbook", seed=7)
    first, *others = LENS.blocks(MODEL, state)
    assert "Nothing is trained yet" in first.result.sentence()
    assert any("choose it as the task" in note.text for note in others if isinstance(note, Note))


def curve(*losses) -> list[Point]:
    return [Point(25 * number, loss, 0.5, 0.5) for number, loss in enumerate(losses)]


def test_overfitting_is_a_held_out_loss_that_has_grown():
    assert turn(curve(1.1, 0.6, 0.5, 0.7, 0.7, 0.7, 0.6)).step == 50
    assert turn(curve(1.1, 0.6, 0.5, 0.7, 0.7, 0.7, 0.54)) is None  # over more examples it has not grown
    assert turn(curve(1.1, 0.6, 0.5, 0.7, 0.52, 0.7, 0.9)) is None  # one of the last points has not
    assert turn(curve(1.1, 0.6, 0.5, 0.7, 0.7, 0.9)) is None  # too few points
    assert turn([]) is None
    result = result_of("authors")
    assert result.run
    grown = replace(result.run, points=tuple(curve(1.1, 0.6, 0.5, 0.7, 0.7, 0.7, 0.6)))
    assert "It overfits" in replace(result, run=grown).sentence()
    learned_nothing = replace(grown, losses=result.run.losses * 0 + 2)
    assert "It overfits" not in replace(result, run=learned_nothing).sentence()


def test_who_is_ahead_is_told_in_both_directions():
    result = result_of("authors")
    assert result.run
    for accuracy, expected in (
        (0.95, "The network is ahead"),
        (0.3, "A bag of words is ahead"),
        (0.86, "within chance"),
    ):
        last = replace(result.run.last, accuracy=accuracy)
        assert expected in replace(result, run=replace(result.run, points=(*result.run.points[:-1], last))).ahead()


def test_pooling_reaches_classifiers_alone():
    assert config_of(TrainingState(task="textbook", pooling="first")).pooling == "first"
    assert config_of(TrainingState(task="reverse", pooling="first")).pooling == "mean"


@pytest.mark.parametrize("pooling", ["mean", "first"])
def test_what_is_looked_at_follows_the_pooling(pooling):
    run = to_the_end(small("textbook", steps=1, num_layers=2, num_heads=2, pooling=pooling))
    model = network(run.config).eval()
    model.load_state_dict(dict(run.weights), strict=False)
    examples = examples_of(run.config)[:5]
    with torch.no_grad(), recording("*.weights") as trace:
        model(examples.source)
    weights = trace["layers.1.self_attention.weights"]
    expected = sum(weights[:, :, query] for query in range(30)) / 30 if pooling == "mean" else weights[:, :, 0]
    torch.testing.assert_close(told(run.config, run.weights).looks[:5], expected)
    who = Sentences(run.config, told(run.config, run.weights), 0).who
    assert who == ("all tokens together" if pooling == "mean" else "the first token")


@pytest.mark.parametrize("picture", ["training_classify", "training_confusion", "training_looks"])
@pytest.mark.parametrize("page", [{"seed": 7}, {"heads": 8, "width": 128, "layers": 4, "steps": 6000}, {"heads": 8}])
def test_what_is_not_trained_has_pictures_of_its_first_weights(picture, page):
    header, numbers = LENS.pictures[picture].content(MODEL, TrainingState(view="classify", **page))
    assert header["about"]
    assert np.isfinite(numbers).all()


def test_the_recipe_gives_the_same_numbers():
    run = to_the_end(small("textbook", steps=2))
    result = Classified(run.config, run, baselines(run.config), 1000)
    names: dict = {}
    exec(result.recipe(), names)
    assert names["run"].points == run.points
    assert [each.accuracy for each in names["simple"]] == [each.accuracy for each in result.baselines]
