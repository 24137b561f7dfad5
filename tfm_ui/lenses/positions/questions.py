"""Questions of the Positions lens, and their answers: computed from what is on screen, and true of any schemes.

What questions take for granted is checked in tests/tfm_ui/lenses/positions/test_questions_positions.py.
"""

from dataclasses import replace

import torch
from torch import Tensor

from tfm_core.positional.schemes import PAIRINGS, PLAIN
from tfm_ui.lenses.positions.beyond import Beyond, BeyondScores, BeyondTurns
from tfm_ui.lenses.positions.fault import FaultAdded, FaultMaps
from tfm_ui.lenses.positions.model.maps import Maps
from tfm_ui.lenses.positions.model.shuffle import Shuffled
from tfm_ui.lenses.positions.model_runs import difference_in_words
from tfm_ui.lenses.positions.pairing import PairingMaps, PairingNext
from tfm_ui.lenses.positions.schemes import Scheme, schemes, those
from tfm_ui.lenses.positions.see.clocks import Wavelengths
from tfm_ui.lenses.positions.state import WIDEST, PositionsState
from tfm_ui.lenses.positions.table import Table
from tfm_ui.lenses.positions.why.added import Unique
from tfm_ui.lenses.positions.why.pairs import Pairs
from tfm_ui.lenses.positions.why.turned import Turned
from tfm_ui.live import places
from tfm_ui.live.learned import UNKNOWN, where_to_look
from tfm_ui.page.questions import Prediction, Question
from tfm_ui.state.model_state import ModelState
from tfm_ui.text import formats

ENTERS = {
    "encode": "a vector is added to each token’s embedding, once, before the first layer",
    "rotate": "queries and keys are turned inside each attention, and nothing is added",
    "bias_at": "a number for each distance is added to the scores of each attention",
}


def what_they_do(model: ModelState, state: PositionsState) -> str:
    """Where A and B enter."""
    sentences = []
    for scheme in schemes(model, state):
        places = [ENTERS[place] for place in scheme.module.enters()]
        sentences.append(f"{scheme.title}: {' and '.join(places) or 'nothing is added and nothing is turned'}.")
    waves = Wavelengths(model, state)
    return " ".join([*sentences, waves.sentence() if waves.is_shown else ""]).strip()


def longer_than_the_text(model: ModelState, state: PositionsState) -> str:
    """The dimension from which a wave does not complete a turn within the positions that are shown."""
    waves = Wavelengths(model, state)
    if not waves.is_shown:
        return f"Neither A nor B is made of waves: choose {' or '.join(those(of_waves=True))}."
    return " ".join(_first_unfinished(waves, scheme, lengths) for scheme, lengths in waves.sides)


def _first_unfinished(waves: Wavelengths, scheme: Scheme, lengths: Tensor) -> str:
    first, positions = waves.turned(lengths), f"{formats.count(waves.state.length)} positions"
    longest = f"the longest takes {formats.count(round(lengths[-1].item()))}."
    if first == len(lengths):
        return f"{scheme.title}: every wave completes a turn within {positions}; {longest}"
    # Sines and cosines alternate in vectors that are added; what is turned is a pair of dimensions.
    place = f"dimension {2 * first}" if scheme.has("encode") else f"pair {first}"
    return f"{scheme.title}: from {place} on, waves do not complete a turn within {positions}; {longest}"


def far_away(model: ModelState, state: PositionsState) -> str:
    """The distance from which biases no longer tell distances apart."""
    biased = [scheme for scheme in schemes(model, state) if scheme.has("bias_at")]
    if not biased:
        return f"Neither A nor B adds a bias to the scores: choose {' or '.join(those('bias_at'))}."
    return " ".join(_about_far(scheme, state.length, state.bias_head) for scheme in biased)


def _about_far(scheme: Scheme, length: int, head: int) -> str:
    if (first := scheme.shared_from) is not None:  # what is on screen may end long before its last bucket begins
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
    nearest = Unique(model, state)
    if not nearest.is_shown:
        return f"Neither A nor B gives positions vectors of their own: choose {' or '.join(those('encode'))}."
    clocks = "One pair of dimensions is one clock; more pairs of other speeds tell more apart."
    return f"{nearest.sentence()} {clocks}{_wide_enough(model, state)}"


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
    sides = Unique(model, state).sides
    return round(float(sides[0][1].distance), 3) if sides else 0.0


def alike(model: ModelState, state: PositionsState) -> str:
    """Whether the likeness of two positions depends on their distance alone."""
    pairs = Pairs(model, state)
    if not pairs.is_shown:
        return pairs.instead().text
    alone = [scheme.title for scheme, table in pairs.sides if table.by_distance_alone]
    others = [scheme.title for scheme, table in pairs.sides if not table.by_distance_alone]
    sentences = [f"Colours are equal along each diagonal in {formats.listed(alone)}." if alone else ""]
    sentences.append(f"In {formats.listed(others)} they are not: pairs with the same n − m differ." if others else "")
    return " ".join([*filter(None, sentences), pairs.sentence()])


def one_score(model: ModelState, state: PositionsState) -> str:
    """What turning does to scores that adding does not."""
    turned = Turned(model, state)
    if not turned.is_shown:
        return f"Neither A nor B turns queries and keys: choose {' or '.join(those('rotate'))}."
    return (
        f"{turned.sentence()} A head that looks “three words back” needs one score for that distance wherever it "
        "stands, and turning gives it."
    )


def order_matters(model: ModelState, state: PositionsState) -> str:
    """What a model without positions makes of shuffled words."""
    return (
        f"{Shuffled(model, state).sentence()} A model that moves each output along with its word cannot tell “dog "
        "bites man” from “man bites dog”."
    )


def two_schemes(model: ModelState, state: PositionsState) -> str:
    """How far the weights differ between A and B."""
    return f"{Maps(model, state).sentence()} All other weights of the model are the same."


def where_it_should(model: ModelState, state: PositionsState) -> str:
    """How much of its weight the head gives to the places where it should look, under its own positions and others."""
    patterns, maps = where_to_look(model, places.kind_of(model, "encoder")), Maps(model, state)
    if not patterns:
        return f"{UNKNOWN} {maps.sentence()}"
    first = patterns[0]
    shares = {name: formats.share(first.score(head.weights)) for name, head in maps.heads.items()}
    trained = shares.get(model.positional, "")
    others = formats.listed([f"{share} with {name}" for name, share in shares.items() if name != model.positional])
    under = f"With {model.positional} positions, as it was trained, {trained} of the weight of {maps.where} lies there"
    return f"{first.pattern.why} {under}; {others}. The other weights are the same: what they know, they know by place."


def on_the_right_place(model: ModelState, state: PositionsState) -> float:
    """The share of weight, in percent, that lies where it should without positions; 0 if nobody knows where."""
    patterns, heads = where_to_look(model, places.kind_of(model, "encoder")), Maps(model, state).heads
    return round(100 * patterns[0].score(heads[PLAIN].weights), 1) if patterns and PLAIN in heads else 0.0


def past_the_end(model: ModelState, state: PositionsState) -> str:
    """What becomes of vectors past max_len."""
    beyond = Beyond(model, state)
    if not beyond.is_shown:
        return "Neither A nor B makes or turns vectors, so none of them can run out."
    length = beyond.state.max_len
    met = model.if_random(
        f"no training on texts of {length} tokens would have met",
        f"the training on {length} tokens has not met",
        prose=None if model.is_lab_gpt else f"a text of {length} tokens does not have",
    )
    sentences = [beyond.sentence()]
    if any(side.alike is not None for side in beyond.sides):
        sentences.append(f"The shaded positions are those that {met}.")
    turning = [side.scheme.title for side in beyond.sides if side.alike is None]
    if turning:
        sentences.append(
            f"{formats.listed(turning)}: a score depends on the distance of query and key alone, so a position past "
            f"max_len is not new; a distance of {length} or more is, and {met} it."
        )
    return " ".join(sentences)


def unseen(model: ModelState, state: PositionsState) -> str:
    """Which waves have not completed a turn, or how scores go on."""
    waves, scores = BeyondTurns(model, state), BeyondScores(model, state)
    if waves.is_shown:
        return f"{waves.sentence()} Angles that a training has never met are where long texts begin to fail."
    return scores.sentence() or "Neither A nor B has waves or scores of its own."


def wrong_axis(model: ModelState, state: PositionsState) -> str:
    """What is added along the wrong axis."""
    return (
        f"{FaultAdded(model, state).sentence()} A test that shuffles the words, or one that asks whether two rows "
        "differ, would have found it."
    )


def consequences(model: ModelState, state: PositionsState) -> str:
    """What becomes of the attention."""
    return FaultMaps(model, state).sentence()


def read_the_other_way(model: ModelState, state: PositionsState) -> str:
    """What becomes of the attention, and of the next token, where the pairing is another."""
    says, maps = PairingNext(model, state), PairingMaps(model, state)
    return says.sentence() if says.is_shown else maps.sentence()


def which_pairs(model: ModelState, state: PositionsState) -> str:
    """Who stores weights for which pairing, and what leads from one to the other."""
    maps = PairingMaps(model, state)
    stored = "; ".join(f"{name}, {what}" for name, what in PAIRINGS.items())
    return (
        f"Two conventions are in use: {stored}. With each head’s rows of the query and key projections in the other’s "
        "order, both give the same scores (largest difference of drawn ones "
        f"{difference_in_words(maps.reordered)}), which is what a conversion does. Who forgets it gets no error, and "
        f"here outputs that differ by up to {formats.percent(maps.moved)} of their length."
    )


def kinds(model: ModelState, state: PositionsState) -> str:
    """How many schemes say what."""
    return Table(model, state).sentence()


def own_parameters(model: ModelState, state: PositionsState) -> str:
    """Which schemes have parameters, in this model."""
    counts = [f"{name} {formats.count(count)}" for name, count in Table(model, state).parameters.items() if count]
    return (
        f"In the sidebar’s model {formats.listed(counts)}. The others are formulas. A table of parameters ends where "
        "it ends: it must be trained for every position that it will meet."
    )


def learned_parameters(model: ModelState, state: PositionsState) -> float:
    """How many parameters the learned table has."""
    return Table(model, state).parameters["learned"]


QUESTIONS = (
    Question(
        "Two ways",
        "Both sides are made of the same 32 wavelengths. What is added on one side, and what is turned on the other?",
        what_they_do,
        given=("a", "b", "width"),
    ),
    Question(
        "Slopes and buckets",
        "ALiBi’s slopes are fixed, T5’s numbers are noise until they are trained. From which distance on are all keys "
        "the same to T5, and to ALiBi?",
        far_away,
        controls={"a": "alibi", "b": "t5", "length": 160},
        moves=("length",),
        because="ALiBi and T5 neither add to vectors nor turn them, but change scores by distance.",
    ),
    Question(
        "The largest",
        "4,096 positions of 512 dimensions, each cell the value furthest from 0 of its block. From which dimension on "
        "is a wave longer than the text?",
        longer_than_the_text,
        controls={"width": 512, "length": 4096, "b": "nothing", "dims": "200 256 320 384 448 510"},
        moves=("dims",),
        given=("a",),
        because="vectors of a real model are wider and its texts longer, so one asks which waves fit.",
    ),
    Question(
        "Which kind?",
        "Some schemes say where a token stands, others how far two tokens are apart. Which are which?",
        kinds,
        controls={"view": "table"},
        because="pictures show two schemes at a time, and this table compares all of them.",
    ),
    Question(
        "A table or a formula",
        "Two of the schemes have parameters of their own. How many numbers would a training have to find for the "
        "learned table?",
        own_parameters,
        Prediction(
            ask="How many parameters has the learned table?",
            measured=learned_parameters,
            hides=("positions_table",),
        ),
        controls={"view": "table", "a": "learned", "b": "t5"},
        moves=("a", "b"),
        because="besides what a scheme says, it matters whether it has to be learned.",
    ),
    Question(
        "Diagonals",
        "Each cell compares two positions. Where do you see equal colours along a diagonal, and what does that say?",
        alike,
        controls={"view": "why"},
        given=("claim",),
        because="a table only claims that a scheme knows distances, and here one can see it.",
    ),
    Question(
        "One clock",
        "Two dimensions are one wave, so some positions nearly coincide. How wide must vectors be until any two of 64 "
        "positions lie 1 or more apart?",
        nearest_positions,
        Prediction(
            ask="How far apart are the two nearest positions?",
            measured=smallest_distance,
            hides=("positions_unique",),
        ),
        controls={"view": "why", "claim": "told apart", "width": 2, "b": "nothing"},
        moves=("width",),
        given=("a", "base", "length"),
        because="equal colours along a diagonal do not say whether two positions stay distinct.",
    ),
    Question(
        "Distance alone",
        "Turned, a query and a key have one score per distance; with positions added, many. With which is “three "
        "words back” easier to learn?",
        one_score,
        controls={"view": "why", "claim": "turned scores"},
        given=("a", "b"),
        because="positions that differ are half of it, and a head must also find “three words back”.",
    ),
    Question(
        "Same head, other positions",
        "One head of your model under A and under B, all other weights the same. Which tokens does it look at "
        "differently?",
        two_schemes,
        controls={"view": "model"},
        because="these were encodings by themselves, and a head may use them or not.",
    ),
    Question(
        "Without an order",
        "Random weights, no positions, no mask: the words are shuffled, and each output moves along with its word. "
        "What could it never tell apart?",
        order_matters,
        model={"positional": "none", "causal": False},
        controls={"view": "model", "a": "none", "b": "sinusoidal"},
        moves=("b",),
        given=("weights",),
        because="to know what positions give a model, one looks at a model that has none.",
    ),
    Question(
        "Learned by place",
        "Trained to reverse ten digits: each looks at its mirror place. The same weights without positions: how much "
        "of the weight still lies there?",
        where_it_should,
        Prediction(ask="How many percent, without positions?", measured=on_the_right_place, unit="%"),
        model={"weights": "reverse"},
        controls={"view": "model", "a": "learned", "b": "none"},
        because="a trained head can depend on its positions, which one sees by taking them away.",
    ),
    Question(
        "Unseen angles",
        "Trained on 48 positions and asked for 64. Which waves have not completed a turn by then, and what do they do "
        "past the end?",
        unseen,
        controls={"view": "beyond"},
        given=("max_len", "length"),
        because="what is learned is learned at some length, and a text may be longer.",
    ),
    Question(
        "Past the end",
        "Made for 64 positions, asked for 128. One of the two has no 65th row. What has the other, and would a "
        "training on 64 have met it?",
        past_the_end,
        controls={"view": "beyond", "a": "learned", "b": "rope", "length": 128, "max_len": 64},
        because="not every scheme can go on at all, as a table of rows has an end.",
    ),
    Question(
        "The wrong axis",
        "No error, no warning, and all words of a sentence stand at the same place. Which test would have found it?",
        wrong_axis,
        controls={"view": "fault"},
        because="even a right scheme fails, without an error, when it follows the wrong axis.",
    ),
    Question(
        "What becomes of it",
        "The model runs either way. In the first sentence of the batch every word gets position 0: where does the "
        "attention differ?",
        consequences,
        controls={"view": "fault", "item": 1},
        because="the fault was seen in the positions, and this shows what it does to attention.",
    ),
    Question(
        "Wrong pairs",
        "The same weights, and which dimensions turn together is the only difference. Where does the head look "
        "differently, and would anything have failed?",
        read_the_other_way,
        model={"positional": "rope"},
        controls={"view": "pairing"},
        moves=("positional",),
        because="RoPE has a silent mistake of its own, about which dimensions turn together.",
    ),
    Question(
        "Who stores which",
        "Libraries store the same model’s queries and keys in two orders. Who stores which, and what must a conversion "
        "change?",
        which_pairs,
        model={"positional": "rope"},
        controls={"view": "pairing", "layer": 2},
        moves=("positional", "layer"),
        because="both ways to pair dimensions are in use, so a conversion can mix them up.",
    ),
)
