"""The view "learn": loss, accuracy and heads while a model learns, and at each moment afterwards."""

from tfm_ui.lenses.training import row_controls
from tfm_ui.lenses.training.learn.learned import Learn
from tfm_ui.lenses.training.panels import NOT_YET, answered_from, task_alone
from tfm_ui.lenses.training.state import HOW, NETWORK
from tfm_ui.page.lens import View
from tfm_ui.page.questions import Prediction, Question
from tfm_ui.pictures.learn.learned import CLEAR, Formed
from tfm_ui.text import formats

RIGHT = 0.99  # the share of right answers at which a task counts as learned


def _rise(head: Formed) -> str:
    return (
        f"Head {head.head} of layer {head.layer} rises most between steps {head.before} and {head.after}: its weight "
        f"on “{head.pattern.name}” goes from {formats.weight(head.low)} to {formats.weight(head.high)}"
    )


def _rights(learned: Learn) -> str:
    """The first step with nearly all answers right; where there is none, how many are right at the end."""
    step = next((point.step for point in learned.run.points if point.accuracy >= RIGHT), None)
    if step is None:
        last = learned.run.last
        return f"{formats.percent(last.accuracy)} of the answers are right after step {formats.count(last.step)}."
    return f"Of the measured steps, {formats.count(step)} is the first with at least 99% of the answers right."


def _rises(learned: Learn) -> str:
    """When the best head of each pattern rose, and when the answers became right."""
    return " ".join([*(f"{_rise(head)}." for head in learned.heads), _rights(learned)])


when_it_formed = answered_from(Learn, NOT_YET)(_rises)


@answered_from(Learn, 0.0)
def step_of_the_rise(learned: Learn) -> float:
    """The step after the largest rise of the first pattern's head; 0 where nothing is trained."""
    return float(learned.heads[0].after) if learned.heads else 0.0


@answered_from(Learn, NOT_YET)
def how_evenly(learned: Learn) -> str:
    """How evenly the head of the first pattern spreads its weight."""
    if not learned.heads:
        return NOT_YET
    head = learned.heads[0]
    if not head.pattern.even:
        return f"{_rise(head)}. {_rights(learned)}"
    return (
        "Every letter counts as much as any other, so CLS must look at all alike: "
        f"evenness {formats.weight(head.score)} of 1 after step "
        f"{formats.count(learned.run.last.step)}. {_rights(learned)} "
        "An average over all tokens is what attention does without any learning, "
        "which is why this is learned so fast."
    )


@answered_from(Learn, NOT_YET)
def which_came_first(learned: Learn) -> str:
    """The order in which the heads of two patterns appeared."""
    if len(learned.heads) < 2:
        return _rises(learned)
    first, second = learned.heads[0], learned.heads[1]
    clear = [head for head in (first, second) if head.score >= CLEAR]
    told = " ".join(f"{_rise(head)}." for head in clear)
    if len(clear) < 2:
        missing = next(head for head in (first, second) if head.score < CLEAR)
        least = formats.weight(missing.score)
        return f"{told} No head looks clearly at “{missing.pattern.name}” ({least}). {_rights(learned)}"
    why = ""
    if second.layer < first.layer:
        why = (
            f" “{second.pattern.name}” in layer {second.layer} brings into each place which token stands before it; "
            f"only then can layer {first.layer} look for the place after the same token."
        )
    return f"{told}{why} {_rights(learned)}"


@answered_from(Learn, NOT_YET)
def is_it_readable(learned: Learn) -> str:
    """Whether any head follows a pattern that one can name."""
    if not learned.heads:
        return NOT_YET
    head = learned.heads[0]
    last = learned.run.last
    right = f"After step {formats.count(last.step)} {formats.percent(last.accuracy)}"
    if head.score >= CLEAR:
        return f"{right} of the answers are right, and it can be read: {_rise(head)}."
    return (
        f"{right} of the answers are right, but no head looks clearly where it could: the most on "
        f"“{head.pattern.name}” is {formats.weight(head.score)}. A model can be right without a pattern of attention "
        "that one could read."
    )


@answered_from(Learn, NOT_YET)
def did_it_diverge(learned: Learn) -> str:
    """Whether the run ended early, and why."""
    return learned.run.problem or f"It did not diverge. {_rights(learned)}"


# What they say is checked by tests/tfm_ui/lenses/training/test_learn.py.
QUESTIONS = (
    Question(
        "Reverse",
        "Drag the slider from the left: at which step does the head find the anti-diagonal, and do answers become "
        "right then?",
        when_it_formed,
        Prediction(
            ask="At which step does the head’s weight rise most?",
            measured=step_of_the_rise,
            hides=("training_learn.words",),
        ),
        given=("task",),
    ),
    Question(
        "Majority",
        "Which is more frequent, A or B? Where does CLS have to look to know it, and what does its row look like?",
        how_evenly,
        controls={"task": "majority"},
        because="reversing needs one place for each answer, and here one token has to look at all.",
    ),
    Question(
        "Induction",
        "Two layers learn to go on with a string that repeats. Which head appears first, and why does it have to?",
        which_came_first,
        controls={"task": "induction"},
        because="one layer was enough so far, and this task takes two that work together.",
    ),
    Question(
        "Brackets",
        "Nearly all answers become right. Can you read in the maps how it is done?",
        is_it_readable,
        controls={"task": "brackets"},
        given=(*NETWORK, *HOW, "seed"),
        because="some tasks are solved without maps that tell how, and this may be one.",
    ),
    Question(
        "Too fast",
        "A learning rate of 10: press Train and watch the loss. What went wrong, and what would help?",
        did_it_diverge,
        controls={"rate": 10},
        because="learning can also fail, and the loss shows how.",
    ),
)

VIEW = View(
    title="Learn",
    exercise="next-token-loss",
    shows=[Learn, Learn.refusal, Learn.facts, Learn.patterns],
    reads_instead=task_alone,
    controls=row_controls.of_run(Learn, "line_training", "task", "seed", "probe"),
    uses_model=False,
    badge=Learn.badge,
    questions=QUESTIONS,
)
