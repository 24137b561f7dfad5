"""Questions of the view "look"."""

import numpy as np

from tfm_ui.lenses.generate import courses
from tfm_ui.lenses.generate.look.numbers import looked
from tfm_ui.lenses.generate.state import GenerateState
from tfm_ui.page.questions import Question
from tfm_ui.state.model_state import ModelState
from tfm_ui.text import formats
from tfm_ui.text.ties import one_of_ties, places_of_largest

LAB = {"weights": "lab-gpt", "text": "The captain looked at the sea, and"}
REPEATED = {"weights": "lab-gpt", "text": "Quoz Bramble met Dapnel Stiggot. Then Quoz Bramble met Dapnel"}
PLACES = ("the first token of the context", "the token before the last", "the last token itself")


def jobs(model: ModelState, state: GenerateState) -> str:
    """Which head looks most at each of three places."""
    if reason := courses.why_not_write(model):
        return reason
    means = looked(model, state).means()
    if np.isnan(means).any():
        return "Nothing was written after more than two tokens."
    said = []
    for place, name in enumerate(PLACES):
        most = places_of_largest(means[..., place])
        layer, head = divmod(most[0], model.num_heads)
        share = formats.weight(float(means[layer, head, place]))
        said.append(f"{name}: head {head + 1} of layer {layer + 1}{one_of_ties(len(most))}, {share}")
    return f"The largest mean weight on {'; on '.join(said)}."


def first_time(model: ModelState, state: GenerateState) -> str:
    """Which head looks, at the first step, at what stood after the last token's earlier occurrence."""
    if reason := courses.why_not_write(model):
        return reason
    shown = looked(model, state)
    if not shown.rows:
        return "Nothing was written."
    course = courses.course_of(model, shown.settings)
    *before, last = course.prompt
    at = [place + 1 for place, token in enumerate(before) if token == last]
    if not at:
        return "The last token of the prompt stands in it once alone, so there is nothing to look up."
    weights = shown.rows[0][..., at].sum(-1)
    most = places_of_largest(weights)
    layer, head = divmod(most[0], model.num_heads)
    piece = model.tokens_by.pieces[course.prompt[at[-1]]]
    chance = float(course.steps[0].logits.double().softmax(0)[course.prompt[at[-1]]])
    return (
        f"Head {head + 1} of layer {layer + 1}{one_of_ties(len(most))} gives {formats.weight(float(weights.max()))} of "
        f"its weight to what came after the same token last time. That was “{piece}”; its probability as the next "
        f"token is {formats.percent(chance)} at temperature 1. A head that does so is called an induction head: Olsson "
        "et al. 2022."
    )


QUESTIONS = [
    Question(
        "Jobs", "Play it. Which head looks at the token before the last, and which at the first token?", jobs,
        model=LAB, page={"view": "look"},
        moves=("text",),
    ),
    Question(
        "Looked up", "The names come a second time. Which head looks at what followed the last time?", first_time,
        model=REPEATED, page={"view": "look", "method": "greedy", "steps": 12},
        moves=("method", "steps"),
    ),
]  # fmt: skip
