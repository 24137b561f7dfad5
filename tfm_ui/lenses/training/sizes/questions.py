"""Questions of the view "sizes", and their answers, computed from the runs."""

from tfm_core.training.prose.scaling import HOFFMANN, KAPLAN
from tfm_ui.lenses.training.panels import NOTHING, answered_from
from tfm_ui.lenses.training.sizes.curves import SizesCurves
from tfm_ui.lenses.training.sizes.losses import SizesLosses
from tfm_ui.lenses.training.sizes.panels import SizesPanel, compact, within
from tfm_ui.lenses.training.state import OVER
from tfm_ui.page.questions import Prediction, Question

HELPS = ("nine times the parameters", "nine times the prose", "neither")
FAR = 9.0


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


def gains(panel: SizesPanel) -> tuple[float, float]:
    """How many nats the law falls by from the middle run with `FAR` times the parameters, and the prose."""
    law = panel.law
    if not law:
        return 0.0, 0.0
    floor = (law["A"], law["alpha"]), (law["B"], law["beta"])
    middles = panel.sizes[len(panel.sizes) // 2], panel.amounts[len(panel.amounts) // 2]
    by_size, by_data = (
        height * middle**-power * (1 - FAR**-power) for (height, power), middle in zip(floor, middles, strict=True)
    )
    return by_size, by_data


@answered_from(SizesLosses, HELPS[2])
def which_helps(losses: SizesLosses) -> str:
    """One of `HELPS`, by the law from a run in the middle."""
    by_size, by_data = gains(losses)
    if by_size == by_data:
        return HELPS[2]
    return HELPS[0] if by_size > by_data else HELPS[1]


@answered_from(SizesLosses, NOTHING)
def size_or_prose(losses: SizesLosses) -> str:
    """What more of either brings by the law, and its powers."""
    if not losses.law:
        return "Too few runs are done yet for a law of both."
    by_size, by_data = gains(losses)
    middles = compact(losses.sizes[len(losses.sizes) // 2]), compact(losses.amounts[len(losses.amounts) // 2])
    alpha, beta = (within(losses.law[name], losses.law.interval(name)) for name in ("alpha", "beta"))
    return (
        f"From {middles[0]} parameters and {middles[1]} tokens on, the law gives {by_size:.2f} nats less for nine "
        f"times the parameters, {by_data:.2f} for nine times the prose. Its powers: α = {alpha}, β = {beta}; Hoffmann "
        f"et al. 2022 found {HOFFMANN['alpha']} and {HOFFMANN['beta']}. With more prose there were also more steps."
    )


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
        "The same runs over the amount of prose. Which helps more: nine times the parameters, or nine times the prose?",
        size_or_prose,
        Prediction(ask="Which helps more?", measured=which_helps, options=HELPS, hides=("training_sizes_losses",)),
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
