"""Answers of the view "learn": pure functions of the link and of what is kept of its run."""

from tfm_ui.lenses.training.learn.numbers import CLEAR, Formed, Learned
from tfm_ui.lenses.training.runs import config_of, run_of, why_not
from tfm_ui.lenses.training.state import TrainingState
from tfm_ui.state.model_state import ModelState
from tfm_ui.text import formats

NOT_YET = "Nothing of it is trained yet: press Train, and ask again."
RIGHT = 0.99  # the share of right answers at which a task counts as learned


def _learned(state: TrainingState) -> Learned | None:
    if why_not(state):
        return None
    config = config_of(state)
    run = run_of(config)
    return Learned(config, run) if run and (run.done or config.file) else None


def learned_at(learned: Learned) -> int | None:
    """The first step with nearly all answers right."""
    return next((point.step for point in learned.run.points if point.accuracy >= RIGHT), None)


def _rise(head: Formed) -> str:
    return (
        f"Head {head.head} of layer {head.layer} rises most between steps {head.before} and {head.after}: its weight "
        f"on “{head.pattern}” goes from {formats.weight(head.low)} to {formats.weight(head.high)}"
    )


def _rights(learned: Learned) -> str:
    step = learned_at(learned)
    if step is None:
        last = learned.run.last
        return f"{formats.percent(last.accuracy)} of the answers are right after step {formats.count(last.step)}."
    return f"Of the measured steps, {formats.count(step)} is the first with at least 99% of the answers right."


def when_it_formed(model: ModelState, state: TrainingState) -> str:
    """When the best head of each pattern rose, and when the answers became right."""
    learned = _learned(state)
    if learned is None:
        return NOT_YET
    return " ".join([*(f"{_rise(head)}." for head in learned.heads), _rights(learned)])


def step_of_the_rise(model: ModelState, state: TrainingState) -> float:
    """The step after the largest rise of the first pattern's head; 0 where nothing is trained."""
    learned = _learned(state)
    return float(learned.heads[0].after) if learned and learned.heads else 0.0


def how_evenly(model: ModelState, state: TrainingState) -> str:
    """How evenly the head of the first pattern spreads its weight."""
    learned = _learned(state)
    if learned is None or not learned.heads:
        return NOT_YET
    head = learned.heads[0]
    even = learned.config.about.patterns[0].even
    if not even:
        return f"{_rise(head)}. {_rights(learned)}"
    return (
        "Every letter counts as much as any other, so CLS must look at all alike: "
        f"evenness {formats.weight(head.score)} of 1 after step "
        f"{formats.count(learned.run.last.step)}. {_rights(learned)} "
        "An average over all tokens is what attention does without any learning, "
        "which is why this is learned so fast."
    )


def which_came_first(model: ModelState, state: TrainingState) -> str:
    """The order in which the heads of two patterns appeared."""
    learned = _learned(state)
    if learned is None or len(learned.heads) < 2:
        return NOT_YET if learned is None else when_it_formed(model, state)
    first, second = learned.heads[0], learned.heads[1]
    clear = [head for head in (first, second) if head.score >= CLEAR]
    told = " ".join(f"{_rise(head)}." for head in clear)
    if len(clear) < 2:
        missing = next(head for head in (first, second) if head.score < CLEAR)
        least = formats.weight(missing.score)
        return f"{told} No head looks clearly at “{missing.pattern}” ({least}). {_rights(learned)}"
    why = ""
    if second.layer < first.layer:
        why = (
            f" “{second.pattern}” in layer {second.layer} brings into each place which token stands before it; only "
            f"then can layer {first.layer} look for the place after the same token."
        )
    return f"{told}{why} {_rights(learned)}"


def is_it_readable(model: ModelState, state: TrainingState) -> str:
    """Whether any head follows a pattern that one can name."""
    learned = _learned(state)
    if learned is None or not learned.heads:
        return NOT_YET
    head = learned.heads[0]
    last = learned.run.last
    right = f"After step {formats.count(last.step)} {formats.percent(last.accuracy)}"
    if head.score >= CLEAR:
        return f"{right} of the answers are right, and it can be read: {_rise(head)}."
    return (
        f"{right} of the answers are right, but no head looks clearly where it could: the most on “{head.pattern}” "
        f"is {formats.weight(head.score)}. A model can be right without a pattern of attention that one could read."
    )


def did_it_diverge(model: ModelState, state: TrainingState) -> str:
    """Whether the run ended early, and why."""
    learned = _learned(state)
    if learned is None:
        return NOT_YET
    return learned.run.problem or f"It did not diverge. {_rights(learned)}"
