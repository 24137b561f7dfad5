"""Answers on the experiment on scaling and on the soft dictionary: computed from what is on screen."""

import math

from tfm_ui.lenses.attention.dictionary.numbers import NAMES, look_up, number
from tfm_ui.lenses.attention.scale.numbers import effect_of_scaling
from tfm_ui.lenses.attention.state import AttentionState
from tfm_ui.state.model_state import ModelState
from tfm_ui.text import formats

LARGEST_GRADIENT = 0.25  # of a softmax: w (1 - w) is never larger


def vanishing_gradient(model: ModelState, state: AttentionState) -> str:
    """The width from which half of the draws leave less than a tenth of the largest gradient there can be."""
    median, measured = first_width(model, state), effect_of_scaling(model, state).measured
    scaled = min(measured.median_gradient["scaled"].tolist())
    if not median:
        return (
            f"At none of these widths: half of the draws always leave a gradient of {LARGEST_GRADIENT / 10:g} or more, "
            "divided or not."
        )
    return (
        f"From dₖ = {median:g} on: undivided, half of the draws leave a largest gradient below "
        f"{LARGEST_GRADIENT / 10:g}, a tenth of the most that a softmax can have. Divided by √dₖ, the middle one of "
        f"the draws never falls below {formats.weight(scaled)}, because the variance of q·k / √dₖ stays near 1."
    )


def first_width(model: ModelState, state: AttentionState) -> float:
    """The first dₖ at which the median gradient of the undivided softmax is below a tenth of the largest; 0 if none."""
    measured = effect_of_scaling(model, state).measured
    medians = measured.median_gradient["unscaled"].tolist()
    below = [width for width, median in zip(measured.widths, medians, strict=True) if median < LARGEST_GRADIENT / 10]
    return below[0] if below else 0


def own_scores(model: ModelState, state: AttentionState) -> str:
    """How the scores of the model's own heads spread, beside the law of random vectors."""
    effect = effect_of_scaling(model, state)
    if not effect.heads:
        return effect.about_model
    ratios = [variance / effect.head_dim for variance in effect.heads]
    low, high = formats.weight(min(ratios)), formats.weight(max(ratios))
    span = f"{low} times" if low == high else f"{low} to {high} times"
    return (
        f"Random vectors would have a variance of dₖ = {effect.head_dim}. In layer {effect.layer} the heads have "
        f"{span} that. The law needs independent numbers of variance "
        "1; a model’s queries and keys are both computed from the same tokens, and their size depends on the weights."
    )


def blend(model: ModelState, state: AttentionState) -> str:
    """Which key gives how much of the answer."""
    shown = look_up(state)
    parts = " + ".join(number(float(part)) for part in shown.weights * shown.values)
    most = int(shown.weights.argmax())
    return (
        f"Weight × value, summed over the keys and rounded: {parts} = {number(shown.answer)}. Key {NAMES[most]} has "
        f"the largest weight, {formats.percent(float(shown.weights[most]))}; every other key still gives its value a "
        "part, however small."
    )


def longer_keys(model: ModelState, state: AttentionState) -> str:
    """Whether the nearest key wins, and if not, why."""
    shown = look_up(state)
    far = [math.dist(key, shown.query) for key in shown.keys.tolist()]
    nearest, best = min(range(len(far)), key=far.__getitem__), int(shown.products.argmax())
    if nearest in shown.best:
        return (
            f"Here key {NAMES[nearest]} lies nearest and also has the largest dot product, {shown.products[best]:.2f}. "
            "Drag another key further out in the same direction: it overtakes, though it lies further away."
        )
    return (
        f"Key {NAMES[nearest]} lies nearest, {number(far[nearest])} away, but its dot product is only "
        f"{shown.products[nearest]:.2f}; key {NAMES[best]}, {number(far[best])} away, has {shown.products[best]:.2f}. "
        "A dot product grows with the length of the key and with its direction along the query, not with nearness."
    )


def near_a_look_up(model: ModelState, state: AttentionState) -> str:
    """How far the answer is from that of a hard look-up."""
    shown = look_up(state)
    return (
        f"A hard look-up would answer {number(shown.hard)}, by {shown.hard_text}. At temperature "
        f"{shown.temperature:g} the answer is {number(shown.answer)}, {number(abs(shown.answer - shown.hard))} away. "
        "The lower the temperature, the further apart are the scores, and the more weight the best key gets."
    )
