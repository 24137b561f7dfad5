"""The view "classify": one label for a whole sequence, beside what a bag of words reaches."""

import math

from tfm_core.training.baselines import trained_on
from tfm_core.training.tasks import textbook
from tfm_core.training.tasks.authors import ORIGINS
from tfm_ui.lenses.training import row_controls
from tfm_ui.lenses.training.classify.curves import RANDOM, RULE, Classify
from tfm_ui.lenses.training.classify.examples import Confusion, Sentences
from tfm_ui.lenses.training.panels import NOT_YET, answered_from, task_alone
from tfm_ui.lenses.training.state import TrainingState
from tfm_ui.page.lens import View
from tfm_ui.page.questions import Prediction, Question
from tfm_ui.pictures.learn.told import measured_on
from tfm_ui.pictures.panel import Block, Columns, Note
from tfm_ui.state.model_state import ModelState
from tfm_ui.text import formats

CLEAR = 0.1  # a difference of shares that is worth a reason


def _instead(model: ModelState, state: TrainingState) -> list[Block]:
    """Why nothing is shown: what cannot be trained, or takes too long."""
    return [refusal] if (refusal := Classify.refusal(model, state)) else []


def _below(model: ModelState, state: TrainingState) -> list[Block]:
    """Notes; of a run that has ended also what the network says of examples that it has never seen."""
    curves = Classify(model, state)
    notes: list[Block] = [*(Note(text, "plain") for text in _origins(curves)), Classify.facts(model, state)]
    if not curves.has_ended:
        return notes
    return [Columns([[Confusion(model, state)], notes], widths=(2, 3)), Sentences(model, state)]


def _origins(curves: Classify) -> list[str]:
    """Where the text is from, and why random labels end where they do."""
    config = curves.config
    if config.task == "authors":
        origins = "; ".join(ORIGINS.values())
        return [
            f"3,600 sentences, 1,200 of each author, all in the public domain: {origins}. There are no names in them, "
            "and each author has equally many sentences of each length, so neither tells the author. Subjects may: "
            "whales here, laws there."
        ]
    if config.task not in (RULE, RANDOM):
        return []
    epochs = config.steps / -(-textbook.TRAIN // config.batch_size)
    return [
        f"{formats.count(textbook.TRAIN)} sequences to train on, {formats.count(textbook.HELD_OUT)} held out; "
        f"{formats.count(config.steps)} steps are {epochs:.3g} epochs. Without weight decay, AdamW is Adam. The "
        f"head reads {'the mean over all tokens' if config.pooling == 'mean' else 'the first token'}.",
        curves.why_random(),
    ]


def _ahead(curves: Classify) -> str:
    """The network or a bag of words, and what a bag of words can know."""
    best, least, run = curves.best, curves.baselines[0], curves.run
    sentences = [curves.ahead()]
    if best.accuracy - least.accuracy > CLEAR:
        sentences.append(
            f"Which tokens there are tells much by itself: always the most frequent label is right in "
            f"{formats.percent(least.accuracy, 3)} of the cases, a bag of words in {formats.percent(best.accuracy, 3)}."
        )
        if curves.who_is_ahead < 1 and best.accuracy < 1:
            count = formats.count(len(trained_on(curves.config)))
            sentences.append(
                f"A transformer sees the order, too; that {count} examples have taught this one to gain by it cannot "
                "be seen."
            )
    elif curves.who_is_ahead == 1 and run.last.accuracy - best.accuracy > CLEAR:
        sentences.append("Which tokens there are tells next to nothing here: the label is in their order.")
    return " ".join(sentences)


who_is_ahead = answered_from(Classify, NOT_YET)(_ahead)


@answered_from(Classify, NOT_YET)
def does_it_overfit(curves: Classify) -> str:
    """Whether held-out loss and training loss part."""
    if sentence := curves.overfits():
        return sentence
    run, last = curves.run, curves.run.last
    low = min(run.points, key=lambda point: point.loss)
    return (
        f"That it overfits cannot be seen: after step {last.step} the held-out loss is {formats.number(last.loss)} (on "
        f"{formats.plural(measured_on(run, last), 'example')}). The lowest was {formats.number(low.loss)} after step "
        f"{low.step} (on {formats.plural(measured_on(run, low), 'example')}), and a few points that are larger may be "
        "so by chance."
    )


@answered_from(Classify, NOT_YET)
def ends_at_chance(curves: Classify) -> str:
    """Where random labels end."""
    if curves.config.task != RANDOM:
        return curves.sentence()
    share = 1 / len(curves.config.about.labels)
    spread = 2 * math.sqrt(share * (1 - share) / curves.measured)  # twice the standard deviation of guessing
    return f"{curves.why_random()} A guess is off by up to {100 * spread:.0f} points in 95 of 100 such tests."


@answered_from(Classify, 0.0)
def share_at_the_end(curves: Classify) -> float:
    """Right held-out labels in percent; 0 where nothing is trained."""
    return formats.points(curves.run.last.accuracy)


@answered_from(Classify, NOT_YET)
def linear_rule(curves: Classify) -> str:
    """Why logistic regression does well where labels depend on counts."""
    if curves.config.task != RULE:
        return _ahead(curves)
    return (
        f"{curves.ahead()} The label is the letter with the most tokens, whatever their order. A sum over the tokens "
        "tells it, and logistic regression computes just such sums, with one number for each token and label. The "
        "network has to find this in its layers."
    )


# What they say is checked by tests/tfm_ui/lenses/training/test_classify.py.
QUESTIONS = (
    Question(
        "Who wrote it?",
        "Three authors: is the transformer ahead of a bag of words, which knows no order?",
        who_is_ahead,
        controls={"view": "classify"},
        given=("labelled",),
        because="naming an author is another kind of task, for which a simple rival exists.",
    ),
    Question(
        "For longer",
        "Twice the steps: press Train. Does the held-out loss fall with the training loss?",
        does_it_overfit,
        controls={"view": "classify", "steps": 400},
        given=("labelled",),
        because="more steps could help it to learn, or only to remember its examples.",
    ),
    Question(
        "Textbook",
        "Which letter is the most frequent? Who is ahead of whom here, and why?",
        linear_rule,
        controls={"view": "classify", "labelled": "textbook"},
        because="counting letters needs no order at all, which may change who has the advantage.",
    ),
    Question(
        "Random labels",
        "The labels are drawn at random. Where do loss and right answers end, and why?",
        ends_at_chance,
        Prediction(
            ask="How many held-out labels are right?",
            measured=share_at_the_end,
            unit="%",
            hides=("training_classify_*", "notes"),
        ),
        controls={"view": "classify", "labelled": "textbook-random"},
        because="where nothing can be learned, one sees what training does by memory alone.",
    ),
    Question(
        "A bag of brackets",
        "All sequences have six of both brackets. What is left for a bag of words to know?",
        who_is_ahead,
        controls={"view": "classify", "labelled": "brackets"},
        because="the opposite case exists, too, where counting tells nothing and order is all.",
    ),
)

VIEW = View(
    title="Classify",
    exercise="cross-entropy",
    shows=[Classify, _below],
    also=[Confusion, Sentences],
    instead=_instead,
    reads_instead=task_alone,
    controls=row_controls.of_run(Classify, "line_training_classify", "labelled", "seed"),
    uses_model=False,
    badge=Classify.badge,
    questions=QUESTIONS,
)
