"""Answers of the view "classify": pure functions of the link and of what is kept of its run."""

from tfm_core.training.baselines import trained_on
from tfm_ui.lenses.training.classify.numbers import Classified
from tfm_ui.lenses.training.classify.said import classified, of_label
from tfm_ui.lenses.training.classify.words import RANDOM, by_chance, why_random
from tfm_ui.lenses.training.dated import measured_on
from tfm_ui.lenses.training.learn.answers import NOT_YET
from tfm_ui.lenses.training.runs import why_not
from tfm_ui.lenses.training.state import TrainingState
from tfm_ui.state.model_state import ModelState
from tfm_ui.text import formats

CLEAR = 0.1  # a difference of shares that is worth a reason


def _result(state: TrainingState) -> Classified | None:
    chosen = of_label(state)
    if why_not(chosen):
        return None
    result = classified(chosen)
    return result if result.run and result.run.done else None


def who_is_ahead(model: ModelState, state: TrainingState) -> str:
    """The network or a bag of words, and what a bag of words can know."""
    result = _result(state)
    if result is None:
        return NOT_YET
    best, least, run = result.best, result.baselines[0], result.run
    assert run
    told = [result.ahead()]
    if best.accuracy - least.accuracy > CLEAR:
        told.append(
            f"Which tokens there are tells much by itself: always the most frequent label is right in "
            f"{formats.percent(least.accuracy, 3)} of the cases, a bag of words in {formats.percent(best.accuracy, 3)}."
        )
        if result.who_is_ahead < 1 and best.accuracy < 1:
            count = formats.count(len(trained_on(result.config)))
            told.append(
                f"A transformer sees the order, too; that {count} examples have taught this one to gain by it cannot "
                "be seen."
            )
    elif result.who_is_ahead == 1 and run.last.accuracy - best.accuracy > CLEAR:
        told.append("Which tokens there are tells next to nothing here: the label is in their order.")
    return " ".join(told)


def does_it_overfit(model: ModelState, state: TrainingState) -> str:
    """Whether held-out loss and training loss part."""
    result = _result(state)
    if result is None or result.run is None:
        return NOT_YET
    if said := result.overfits():
        return said
    run, last = result.run, result.run.last
    low = min(run.points, key=lambda point: point.loss)
    return (
        f"That it overfits cannot be seen: after step {last.step} the held-out loss is {formats.number(last.loss)} (on "
        f"{formats.plural(measured_on(run, last), 'example')}). The lowest was {formats.number(low.loss)} after step "
        f"{low.step} (on {formats.plural(measured_on(run, low), 'example')}), and a few points that are larger may be "
        "so by chance."
    )


def ends_at_chance(model: ModelState, state: TrainingState) -> str:
    """Where random labels end."""
    result = _result(state)
    if result is None:
        return NOT_YET
    if result.config.task != RANDOM:
        return result.sentence()
    spread = 2 * by_chance(result.measured, len(result.config.about.labels))
    return f"{why_random(result)} A guess is off by up to {100 * spread:.0f} points in 95 of 100 such tests."


def share_at_the_end(model: ModelState, state: TrainingState) -> float:
    """Right held-out labels in percent; 0 where nothing is trained."""
    result = _result(state)
    return formats.points(result.run.last.accuracy) if result and result.run else 0.0


def linear_rule(model: ModelState, state: TrainingState) -> str:
    """Why logistic regression does well where labels depend on counts."""
    result = _result(state)
    if result is None:
        return NOT_YET
    if result.config.task != "textbook":
        return who_is_ahead(model, state)
    return (
        f"{result.ahead()} The label is the letter with the most tokens, whatever their order. A sum over the tokens "
        "tells it, and logistic regression computes just such sums, with one number for each token and label. The "
        "network has to find this in its layers."
    )
