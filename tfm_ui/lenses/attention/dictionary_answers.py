"""The answers to the questions of the view "dictionary"."""

import math

from tfm_ui.lenses.attention.dictionary import Dictionary, number
from tfm_ui.lenses.attention.state import AttentionState
from tfm_ui.state.model_state import ModelState
from tfm_ui.text import formats


def blend(model: ModelState, state: AttentionState) -> str:
    """Which key gives how much of the answer."""
    asked = Dictionary(model, state)
    parts = " + ".join(number(float(part)) for part in asked.weights * asked.values)
    most = int(asked.weights.argmax())
    return (
        f"Weight × value, summed over the keys and rounded: {parts} = {number(asked.answer)}. Key {asked.named(most)} "
        f"has the largest weight, {formats.percent(float(asked.weights[most]))}; every other key still gives its value "
        "a part, however small."
    )


def longer_keys(model: ModelState, state: AttentionState) -> str:
    """Whether the nearest key wins, and if not, why."""
    asked = Dictionary(model, state)
    far = [math.dist(key, asked.query) for key in asked.keys.tolist()]
    nearest, best = min(range(len(far)), key=far.__getitem__), int(asked.products.argmax())
    if nearest in asked.best:
        return (
            f"Here key {asked.named(nearest)} lies nearest and also has the largest dot product, "
            f"{asked.products[best]:.2f}. "
            "Drag another key further out in the same direction: it overtakes, though it lies further away."
        )
    return (
        f"Key {asked.named(nearest)} lies nearest, {number(far[nearest])} away, but its dot product is only "
        f"{asked.products[nearest]:.2f}; key {asked.named(best)}, {number(far[best])} away, has "
        f"{asked.products[best]:.2f}. "
        "A dot product grows with the length of the key and with its direction along the query, not with nearness."
    )


def near_a_look_up(model: ModelState, state: AttentionState) -> str:
    """How far the answer is from that of a hard look-up."""
    asked = Dictionary(model, state)
    return (
        f"A hard look-up would answer {number(asked.hard)}, by {asked.hard_text}. At temperature "
        f"{state.temperature:g} the answer is {number(asked.answer)}, {number(abs(asked.answer - asked.hard))} away. "
        "The lower the temperature, the further apart are the scores, and the more weight the best key gets."
    )
