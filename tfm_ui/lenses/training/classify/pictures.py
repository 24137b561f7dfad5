"""The pictures of the view "classify"."""

from tfm_core.training.run import Run
from tfm_ui.lenses.training.classify.examples import Confusion, Sentences
from tfm_ui.lenses.training.classify.numbers import Classified
from tfm_ui.lenses.training.classify.said import classified, of_label, said_by
from tfm_ui.lenses.training.losses import smoothed
from tfm_ui.lenses.training.picture import picture
from tfm_ui.lenses.training.runs import config_of
from tfm_ui.lenses.training.state import TrainingState
from tfm_ui.pictures import chart, lines, maps
from tfm_ui.pictures.canvas import Content
from tfm_ui.pictures.chart import CHART
from tfm_ui.pictures.figures import Figure
from tfm_ui.pictures.line_axes import Scale
from tfm_ui.pictures.lines import Chart, Line
from tfm_ui.pictures.map_scale import SHARES, from_zero
from tfm_ui.pictures.maps import MAPS, Axis, Map
from tfm_ui.state.model_state import ModelState

STEP = "step of training"
BASELINES = ("muted", "head 1", "head 3")  # colours
BESIDE_NAME = {"textbook": "the rule’s labels", "textbook-random": "random labels"}
OF_RUN, OF_BESIDE = "ink", "head 2"
MANY = 100  # answers to choose from
MOST_LOSSES = 60  # points of the line of training losses


def curves(model: ModelState, state: TrainingState) -> Content:
    """Right labels and loss over the steps."""
    result = classified(_shown(state))
    return chart.content(figure(result), about=result.sentence())


def figure(result: Classified) -> Figure:
    """Right labels on the left with the baselines as horizontal lines, loss on the right with that of guessing."""
    runs = [run for run in (result.run, result.beside) if run and run.done]
    last = max([result.config.steps, *(run.done for run in runs)])
    across = [0, last]
    shares, losses = [], []
    for run in runs:
        name, colour = ("", OF_RUN) if run is result.run else (f"{BESIDE_NAME[run.config.task]}: ", OF_BESIDE)
        x = [point.step for point in run.points]
        shares.append(Line(f"{name}held out", x, [point.accuracy for point in run.points], colour))
        losses.append(Line(f"{name}held out", x, [point.loss for point in run.points], colour))
        losses.append(_trained_on(run, f"{name}trained on", colour))
    for each, colour in zip(result.baselines, BASELINES, strict=True):
        shares.append(Line(each.name, across, [each.accuracy] * 2, colour, "dashed"))
    losses.append(Line(f"ln {len(result.config.about.labels)}", across, [result.chance] * 2, "muted", "dashed"))
    # Where labels are tokens of a large vocabulary, the first losses are many times those that matter.
    scale: Scale = "log10" if result.config.about.outcomes > MANY else "linear"
    return lines.figure(
        [
            Chart(STEP, "right labels, held out", shares, reach=(0, 1)),
            Chart(STEP, "loss, nats", losses, y_scale=scale, reach=(0,) if scale == "linear" else ()),
        ]
    )


def _trained_on(run: Run, name: str, colour: str) -> Line:
    ends, means, every = smoothed(run.losses, MOST_LOSSES)
    return Line(f"{name}, mean of {every} steps", ends, means, colour, "thin")


def _shown(state: TrainingState) -> TrainingState:
    """The state with this view's task; without its settings, if there can be no such network."""
    chosen = of_label(state)
    try:
        config_of(chosen)
    except ValueError:
        return TrainingState(task=chosen.task)
    return chosen


def confusion(model: ModelState, state: TrainingState) -> Content:
    """How many of each label get each label."""
    config = config_of(_shown(state))
    said = said_by(config)
    result = Confusion(config, said)
    counts = result.counts.astype("float32")
    return maps.content(
        [
            Map(
                name="held-out examples",
                values=counts,
                scale=from_zero(float(counts.max())),
                unit="examples",
                whole=True,
            )
        ],
        rows=Axis(config.about.labels, "right label", "right label"),
        columns=Axis(result.columns, "what the network says", "said"),
        about=result.sentence(),
    )


def looks(model: ModelState, state: TrainingState) -> Content:
    """What the answer's token looks at in one example."""
    config = config_of(_shown(state))
    said = said_by(config)
    result = Sentences(config, said, state.example - 1)
    heads = [f"head {number + 1}" for number in range(config.num_heads)]
    return maps.content(
        [
            Map(
                name=f"weights of {result.who}",
                values=result.weights,
                scale=SHARES,
                unit="weight",
            )
        ],
        rows=Axis(heads, "head of the last layer", "head"),
        columns=Axis(result.tokens(result.example), "key (column): is looked at", "key", "key"),
        about=result.sentence(),
        square=False,
    )


PICTURES = {
    "training_classify": picture(CHART, curves),
    "training_confusion": picture(MAPS, confusion),
    "training_looks": picture(MAPS, looks),
}
