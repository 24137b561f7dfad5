"""Questions of the view "block", and their answers, computed from what is on screen."""

import numpy as np
import torch

from tfm_core import NORMS
from tfm_ui.lenses.model.block.both import both
from tfm_ui.lenses.model.block.chain import dropout_factors
from tfm_ui.lenses.model.block.chosen import chosen
from tfm_ui.lenses.model.block.writing import lengths, shares_of
from tfm_ui.lenses.model.naming import trained_on
from tfm_ui.lenses.model.state import ModelLensState
from tfm_ui.page.questions import Prediction, Question
from tfm_ui.state.model_state import ModelState
from tfm_ui.text import formats

DRAWS = 1000


def _range(values: np.ndarray) -> str:
    low, high = (formats.number(float(end)) for end in (values.min(), values.max()))
    return low if low == high else f"{low} to {high}"


def length_of_normalised(model: ModelState, state: ModelLensState) -> float:
    """The mean length of the vectors after the norm, before gain and shift."""
    shown = chosen(model, state)
    return round(float(lengths(shown.chain.norm.normalised, shown.read).mean()), 2)


def what_the_norm_takes(model: ModelState, state: ModelLensState) -> str:
    """All lengths are alike after the norm."""
    shown = chosen(model, state)
    before = lengths(shown.chain.into_norm, shown.read)
    after = lengths(shown.chain.norm.normalised, shown.read)
    root, width = formats.number(float(np.sqrt(model.d_model))), model.d_model
    reads = "x" if shown.chain.pre_norm else "the sum"
    return (
        f"Mean 0 and, but for ε, variance 1: {width} such numbers make a vector of length √{width} = {root}. In "
        f"{reads} the lengths are {_range(before)}; after the norm, before gain and shift, {_range(after)}. What the "
        "norm takes away is each token’s mean and length; the pattern of its numbers stays."
    )


def how_much_is_added(model: ModelState, state: ModelLensState) -> str:
    """What is added, beside x: its length, and how far the sum still points where x did."""
    shown = chosen(model, state)
    read, numbers = shown.read, shown.chain
    if not numbers.x[:read].any():
        return "Here x is 0 everywhere, so nothing of the sum is old."
    shares = shares_of(numbers.dropped, numbers.x, read)
    cosine = torch.cosine_similarity(numbers.x[:read], numbers.total[:read], dim=-1).numpy()
    longer = "longer" if shares.mean() > 1 else "shorter"
    return (
        f"What the {shown.sub_layer} adds is {longer} than x: {formats.percent(float(shares.mean()))} of its length "
        f"on average. The cosine between x and the sum is {_range(cosine)}, where 1 means the same direction and 0 a "
        "right angle. "
        + model.if_random(
            "How much is old and how much is new in a trained model, random weights cannot say.",
            f"This is what training on {trained_on(model)} has made of it.",
        )
    )


def why_larger(model: ModelState, state: ModelLensState) -> str:
    """Why numbers are larger with dropout: over many draws, the mean of each number stays as it is."""
    shown = chosen(model, state)
    if not state.dropout:
        return "Dropout is 0 here, as in evaluation mode: every number stays as it is. Choose another dropout above."
    row = shown.chain.output[shown.token]
    scale = formats.number(1 / (1 - state.dropout))
    said = (
        f"A number stays with a probability of {1 - state.dropout:g}; those that stay are multiplied by {scale}, so "
        "that over many draws the mean of each is what it is in evaluation mode."
    )
    if not row.any():
        return f"{said} Here the {shown.sub_layer} writes 0 everywhere, so no draw changes anything."
    draws = row * dropout_factors(row.expand(DRAWS, -1), state.dropout, state.dropout_draw)
    here = shown.chain.dropped[shown.token]
    averaged, single = (float((drawn - row).norm() / row.norm()) for drawn in (draws.mean(0), here))
    return (
        f"{said} For “{shown.names[shown.token]}”, the draw on screen is off by {formats.percent(single)} of the "
        f"length of what the {shown.sub_layer} writes, and the mean of {formats.count(DRAWS)} draws by "
        f"{formats.percent(averaged)}."
    )


def which_grows(model: ModelState, state: ModelLensState) -> str:
    """Lengths before and after the block, under both norms."""
    shown = chosen(model, state)
    under = both(shown)
    said = []
    for norm in NORMS:
        before, after = under.lengths[norm]
        if _range(before) == _range(after):
            said.append(f"Under {norm}-norm lengths stay at {_range(after)}.")
            continue
        share = f", {formats.percent(float(after.mean() / before.mean()))} of the mean before" if before.any() else ""
        said.append(f"Under {norm}-norm lengths of {_range(before)} become {_range(after)}{share}.")
    return (
        f"{' '.join(said)} Post-norm ends in a norm, which sets each length anew; pre-norm adds to x, and no norm "
        "acts on the residual stream itself until the final one."
    )


QUESTIONS: tuple[Question, ...] = (
    Question(
        "What norms take",
        "The norm treats each token alone. What do all rows have in common after it, and what has it taken away?",
        what_the_norm_takes,
        Prediction(
            ask="How long is a vector after the norm, on average?",
            measured=length_of_normalised,
            hides=("model_block_lengths", "model_block_moments"),
        ),
        page={"view": "block"},
        given=("step",),
    ),
    Question(
        "Old and new",
        "Compare x with what self-attention adds to it. How much of the sum is old, and how much is new?",
        how_much_is_added,
        page={"view": "block", "step": "sum"},
    ),
    Question(
        "Training mode",
        "Dropout of 0.3 makes random numbers 0, here the grey ones. Why does it make all others larger?",
        why_larger,
        page={"view": "block", "step": "sub-layer", "dropout": 0.3},
    ),
    Question(
        "Norm before or after",
        "The same weights in layer 2, with the norm before the sub-layer or after the sum. Under which are vectors "
        "longer when they leave?",
        which_grows,
        model={"norm": "post"},
        page={"view": "block", "layer": 2},
        moves=("norm",),
        link="norm-before-or-behind",
    ),
)
