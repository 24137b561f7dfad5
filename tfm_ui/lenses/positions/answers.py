"""Answers to the questions of the Positions lens: computed from what is on screen, and true of any schemes."""

from dataclasses import replace

import torch

from tfm_core.positional.schemes import T5
from tfm_ui.lenses.positions.beyond.scores import scores
from tfm_ui.lenses.positions.beyond.unfinished_waves import unfinished_waves
from tfm_ui.lenses.positions.beyond.vectors import beyond
from tfm_ui.lenses.positions.fault.numbers import Added, Consequences, fault
from tfm_ui.lenses.positions.model.numbers import maps
from tfm_ui.lenses.positions.model.shuffle import shuffle
from tfm_ui.lenses.positions.model_runs import PLAIN
from tfm_ui.lenses.positions.schemes import Scheme, schemes
from tfm_ui.lenses.positions.see.waves import Waves, wavelengths
from tfm_ui.lenses.positions.state import WIDEST, PositionsState
from tfm_ui.lenses.positions.table.numbers import schemes_table
from tfm_ui.lenses.positions.why.similarity import similarity
from tfm_ui.lenses.positions.why.turned import turned
from tfm_ui.lenses.positions.why.unique import unique
from tfm_ui.live import places
from tfm_ui.live.learned import UNKNOWN, where_to_look
from tfm_ui.state.model_state import ModelState
from tfm_ui.text import formats

ENTERS = {
    "encode": "a vector is added to each token’s embedding, once, before the first layer",
    "rotate": "queries and keys are turned inside each attention, and nothing is added",
    "bias_at": "a number for each distance is added to the scores of each attention",
}


def what_they_do(model: ModelState, state: PositionsState) -> str:
    """Where A and B enter."""
    said = []
    for scheme in schemes(model, state):
        places = [ENTERS[place] for place in scheme.module.enters()]
        said.append(f"{scheme.title}: {' and '.join(places) or 'nothing is added and nothing is turned'}.")
    waves = wavelengths(model, state)
    return " ".join([*said, waves.sentence() if waves.sides else ""]).strip()


def longer_than_the_text(model: ModelState, state: PositionsState) -> str:
    """The dimension from which a wave does not complete a turn within the positions that are shown."""
    waves = wavelengths(model, state)
    if not waves.sides:
        return "Neither A nor B is made of waves: choose sinusoidal or rope."
    return " ".join(_first_unfinished(side, waves.length) for side in waves.sides)


def _first_unfinished(waves: Waves, length: int) -> str:
    title, first, longest = waves.scheme.title, waves.turned, formats.count(round(waves.lengths[-1].item()))
    shown = f"{formats.count(length)} positions"
    if first == len(waves.lengths):
        return f"{title}: every wave completes a turn within {shown}; the longest takes {longest}."
    # Sines and cosines alternate in vectors that are added; what is turned is a pair of dimensions.
    place = f"dimension {2 * first}" if waves.scheme.has("encode") else f"pair {first}"
    return f"{title}: from {place} on, waves do not complete a turn within {shown}; the longest takes {longest}."


def far_away(model: ModelState, state: PositionsState) -> str:
    """The distance from which biases no longer tell distances apart."""
    biased = [scheme for scheme in schemes(model, state) if scheme.has("bias_at")]
    if not biased:
        return "Neither A nor B adds a bias to the scores: choose alibi or t5."
    return " ".join(_about_far(scheme, state.length, state.bias_head) for scheme in biased)


def _about_far(scheme: Scheme, length: int, head: int) -> str:
    if isinstance(scheme.module, T5):  # what is on screen may end long before its last bucket begins
        first = scheme.module.shared_from
        short = "" if first < length else f" No distance on screen is as long: {length - 1} is the longest."
        return f"{scheme.title}: from a distance of {first} tokens on, all earlier keys get the same number.{short}"
    with torch.no_grad():
        earlier = scheme.module.bias_at(-torch.arange(length))
    assert earlier is not None
    if len(set(earlier[head].tolist())) == length:
        return f"{scheme.title}: every distance up to {length - 1} has a number of its own."
    return f"{scheme.title}: some distances up to {length - 1} have the same number."


def nearest_positions(model: ModelState, state: PositionsState) -> str:
    """How near the two nearest positions are."""
    result = unique(model, state)
    if not result.sides:
        return "Neither A nor B gives positions vectors of their own: choose sinusoidal or learned."
    clocks = "One pair of dimensions is one clock; more pairs of other speeds tell more apart."
    return f"{result.sentence()} {clocks}{_wide_enough(model, state)}"


def _wide_enough(model: ModelState, state: PositionsState) -> str:
    """A larger width at which no two positions are nearer than 1, if a few widths on a short text tell it."""
    if smallest_distance(model, state) >= 1 or state.length > 256:
        return ""
    for width in range(state.width + 2, min(state.width + 64, WIDEST), 2):
        nearest = smallest_distance(model, replace(state, width=width))
        if nearest >= 1:
            return f" At a width of {width} the nearest two are {nearest:.2f} apart."
    return ""


def smallest_distance(model: ModelState, state: PositionsState) -> float:
    """The smallest distance between two positions of the first scheme that has vectors; 0 if none has."""
    sides = unique(model, state).sides
    return round(float(sides[0][1].distance), 3) if sides else 0.0


def alike(model: ModelState, state: PositionsState) -> str:
    """Whether the likeness of two positions depends on their distance alone."""
    result = similarity(model, state)
    if not result.sides:
        return f"{result.sentence()} Choose another A or B to compare positions."
    alone = [scheme.title for scheme, pairs in result.sides if pairs.by_distance_alone]
    others = [scheme.title for scheme, pairs in result.sides if not pairs.by_distance_alone]
    said = [f"Colours are equal along each diagonal in {formats.listed(alone)}." if alone else ""]
    said.append(f"In {formats.listed(others)} they are not: pairs with the same n − m differ." if others else "")
    return " ".join([*filter(None, said), result.sentence()])


def one_score(model: ModelState, state: PositionsState) -> str:
    """What turning does to scores that adding does not."""
    result = turned(model, state)
    if result is None:
        return "Neither A nor B turns queries and keys: choose rope."
    return (
        f"{result.sentence()} A head that looks “three words back” needs one score for that distance wherever it "
        "stands, and turning gives it."
    )


def order_matters(model: ModelState, state: PositionsState) -> str:
    """What a model without positions makes of shuffled words."""
    return (
        f"{shuffle(model, state).sentence()} A model that moves each output along with its word cannot tell “dog bites "
        "man” from “man bites dog”."
    )


def two_schemes(model: ModelState, state: PositionsState) -> str:
    """How far the weights differ between A and B."""
    return f"{maps(model, state).sentence()} All other weights of the model are the same."


def where_it_should(model: ModelState, state: PositionsState) -> str:
    """How much of its weight the head gives to the places where it should look, under its own positions and others."""
    patterns, shown = where_to_look(model, places.kind_of(model, "encoder")), maps(model, state)
    if not patterns:
        return f"{UNKNOWN} {shown.sentence()}"
    first = patterns[0]
    shares = {name: formats.share(first.score(head.weights)) for name, head in shown.heads.items()}
    trained = shares.get(model.positional, "")
    others = formats.listed([f"{share} with {name}" for name, share in shares.items() if name != model.positional])
    under = f"With {model.positional} positions, as it was trained, {trained} of the weight of {shown.where} lies there"
    return f"{first.pattern.why} {under}; {others}. The other weights are the same: what they know, they know by place."


def on_the_right_place(model: ModelState, state: PositionsState) -> float:
    """The share of weight, in percent, that lies where it should without positions; 0 if nobody knows where."""
    patterns, heads = where_to_look(model, places.kind_of(model, "encoder")), maps(model, state).heads
    return round(100 * patterns[0].score(heads[PLAIN].weights), 1) if patterns and PLAIN in heads else 0.0


def past_the_end(model: ModelState, state: PositionsState) -> str:
    """What becomes of vectors past max_len."""
    result = beyond(model, state)
    if not result.sides:
        return "Neither A nor B makes or turns vectors, so none of them can run out."
    length = result.state.max_len
    met = model.if_random(
        f"no training on texts of {length} tokens would have met", f"the training on {length} tokens has not met"
    )
    said = [result.sentence()]
    if any(side.alike is not None for side in result.sides):
        said.append(f"The shaded positions are those that {met}.")
    turning = [side.scheme.title for side in result.sides if side.alike is None]
    if turning:
        said.append(
            f"{formats.listed(turning)}: a score depends on the distance of query and key alone, so a position past "
            f"max_len is not new; a distance of {length} or more is, and {met} it."
        )
    return " ".join(said)


def unseen(model: ModelState, state: PositionsState) -> str:
    """Which waves have not completed a turn, or how scores go on."""
    waves, by_distance = unfinished_waves(model, state), scores(model, state)
    if waves.sides:
        return f"{waves.sentence()} Angles that a training has never met are where long texts begin to fail."
    if by_distance.sides:
        return by_distance.sentence()
    return "Neither A nor B has waves or scores of its own."


def wrong_axis(model: ModelState, state: PositionsState) -> str:
    """What is added along the wrong axis."""
    return (
        f"{Added(fault(model, state)).sentence()} A test that shuffles the words, or one that asks whether two rows "
        "differ, would have found it."
    )


def consequences(model: ModelState, state: PositionsState) -> str:
    """What becomes of the attention."""
    return Consequences(fault(model, state)).sentence()


def kinds(model: ModelState, state: PositionsState) -> str:
    """How many schemes say what."""
    return schemes_table(model, state).sentence()


def own_parameters(model: ModelState, state: PositionsState) -> str:
    """Which schemes have parameters, in this model."""
    rows = [row for row in schemes_table(model, state).rows if row.parameters]
    counts = [f"{row.name} {formats.count(row.parameters)}" for row in rows]
    return (
        f"In the sidebar’s model {formats.listed(counts)}. The others are formulas. A table of parameters ends where "
        "it ends: it must be trained for every position that it will meet."
    )


def learned_parameters(model: ModelState, state: PositionsState) -> float:
    """How many parameters the learned table has."""
    return next(row.parameters for row in schemes_table(model, state).rows if row.name == "learned")
