"""The pictures of the view "decode": cross-attention up to the step on screen, and the next token's distribution."""

import numpy as np

from tfm_ui.lenses.training.decode.numbers import Next, Written, written
from tfm_ui.lenses.training.picture import picture
from tfm_ui.lenses.training.state import PREFIX, TrainingState
from tfm_ui.pictures import bars, knobs, maps
from tfm_ui.pictures.canvas import Content
from tfm_ui.pictures.chart import CHART
from tfm_ui.pictures.knobs import KNOBS, Knob
from tfm_ui.pictures.map_scale import SHARES
from tfm_ui.pictures.maps import ABSENT, MAPS, Axis, Map
from tfm_ui.state.model_state import ModelState


def cross(model: ModelState, state: TrainingState) -> Content:
    """Each head's weights on the source, a row for each token that is written."""
    shown = written(state)
    steps = len(shown.source)
    later = np.arange(steps)[:, None] > shown.row
    tokens = [token if row <= shown.row else "·" for row, token in enumerate(shown.names(shown.decoded.written))]
    return maps.content(
        [
            Map(
                name=name,
                values=np.where(later, ABSENT, weights).astype(np.float32),
                scale=SHARES,
                unit="weight",
            )
            for name, weights in shown.heads.items()
        ],
        rows=Axis(
            [token if row <= shown.row else "·" for row, token in enumerate(tokens)],
            "token that is written",
            "step",
            "query",
        ),
        columns=Axis(shown.names(shown.source), "source token that is looked at", "source token", "key"),
        about=shown.sentence(),
        absent="not written yet",
    )


def following(model: ModelState, state: TrainingState) -> Content:
    """The likeliest tokens of the step on screen."""
    shown = of_next(written(state))
    names, probabilities = shown.likeliest
    return bars.content(names, probabilities, about=shown.sentence(), rows="token")


def of_next(shown: Written) -> Next:
    """The same, as the distribution of the next token."""
    return Next(shown.config, shown.run, shown.source, shown.step)


def knob(model: ModelState, state: TrainingState) -> Content:
    """The slider of how many tokens are written."""
    shown = written(state)
    steps = len(shown.source)
    return knobs.content([Knob("Tokens written", f"{PREFIX}written", shown.step, 0, steps, stops=range(steps + 1))])


PICTURES = {
    "training_decode": picture(MAPS, cross),
    "training_decode_next": picture(CHART, following),
    "training_decode_knobs": picture(KNOBS, knob),
}
