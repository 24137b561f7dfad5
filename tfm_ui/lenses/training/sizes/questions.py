"""Questions of the view "sizes", and their answers, computed from the runs."""

from tfm_core.training.prose.scaling import KAPLAN
from tfm_ui.lenses.training.panels import NOTHING, answered_from
from tfm_ui.lenses.training.sizes.curves import SizesCurves
from tfm_ui.lenses.training.sizes.losses import SizesLosses
from tfm_ui.lenses.training.sizes.panels import SizesPanel, compact
from tfm_ui.lenses.training.state import OVER
from tfm_ui.page.questions import Prediction, Question

HELPS = ("the largest model", "all of the prose", "neither")


@answered_from(SizesLosses, NOTHING)
def what_size_does(losses: SizesLosses) -> str:
    """The power of size, beside Kaplan et al.'s."""
    if not losses.by_layers:
        return "Too few sizes are trained yet."
    low, high = losses.by_layers.interval()
    inside = "within" if low <= KAPLAN["alpha"] <= high else "outside"
    return (
        f"{losses.of_size()} Their power lies {inside} that interval, which knows nothing of other seeds. Their models "
        "were up to a thousand times as large, and trained until more steps hardly helped; here losses still fell."
    )


def gains(panel: SizesPanel) -> tuple[tuple[float, float], tuple[float, float]] | None:
    """How many nats the largest model brings, and all of the prose: alone, and beside the other; None before all ran.

    Measured at the four corners of the table, without any law.
    """
    ends = [(size, tokens) for size in (panel.sizes[0], panel.sizes[-1]) for tokens in panel.ends_of_prose]
    loss = {(run.parameters, run.tokens): run.loss for run in panel.runs}
    if not loss.keys() >= set(ends):
        return None
    neither, prose, size, both = (loss[end] for end in ends)
    return (neither - size, prose - both), (neither - prose, size - both)


@answered_from(SizesLosses, HELPS[2])
def which_helps(losses: SizesLosses) -> str:
    """One of `HELPS`: what brings more alone."""
    both = gains(losses)
    if not both or both[0][0] == both[1][0]:
        return HELPS[2]
    return HELPS[both[0][0] < both[1][0]]


@answered_from(SizesLosses, NOTHING)
def size_or_prose(losses: SizesLosses) -> str:
    """What either brings alone and beside the other, and how far the law is off, which adds both."""
    both = gains(losses)
    if not both:
        return "Too few runs are done yet."
    (size, size_beside), (prose, prose_beside) = both
    few, many = (compact(tokens) for tokens in losses.ends_of_prose)
    small, large = compact(losses.sizes[0]), compact(losses.sizes[-1])
    needs = min(round(size_beside - size, 2), round(prose_beside - prose, 2)) > 0
    off = f" The law adds what both bring; it misses a run by up to {losses.misses:.2f} nats." if losses.law else ""
    return (
        f"From {small} parameters and {few} tokens on, the largest model has {_less(size)}, all of the prose gives "
        f"{_less(prose)}. On {many} tokens {large} parameters have {_less(size_beside)} than {small}; and {large} "
        f"parameters have {_less(prose_beside)} on {many} tokens than on {few}."
        f"{' Each helps more beside the other.' if needs else ''}{off} With more prose there were also more steps."
    )


def _less(nats: float) -> str:
    return f"{abs(nats):.2f} nats {'less' if nats >= 0 else 'more'}"


@answered_from(SizesCurves, NOTHING)
def by_heart(curves: SizesCurves) -> str:
    """How far training is below held-out."""
    gaps = {run.parameters: run.loss - run.training_loss for run in curves.shown}
    widest = max(gaps, key=lambda size: gaps[size])
    return (
        f"{curves.sentence()} The training loss lies furthest below with {compact(widest)} parameters: by "
        f"{gaps[widest]:.2f} nats."
        if gaps[widest] > 0
        else curves.sentence()
    )


QUESTIONS = (
    Question(
        "How much does size help?",
        "Lab GPT’s recipe at four sizes, on log axes. Is the loss a straight line, and how steep is it?",
        what_size_does,
        controls={"view": "sizes"},
        given=("over",),
        because="after the depth it is the size itself that is asked for, on real prose.",
    ),
    Question(
        "Size or prose?",
        "From the smallest model and the least prose on, what helps more: the largest model, or all of the prose?",
        size_or_prose,
        Prediction(ask="What helps more?", measured=which_helps, options=HELPS, hides=("training_sizes_losses",)),
        controls={"view": "sizes", "over": OVER[1]},
        because="a larger model can only use what there is to read.",
    ),
    Question(
        "Learned by heart",
        "A twenty-seventh of the prose, read again and again. How far does the training loss fall below the held-out "
        "loss?",
        by_heart,
        controls={"view": "sizes", "over": OVER[2], "part": "1/27"},
        because="little prose can be known word for word, and the lowest loss hides that.",
    ),
)
