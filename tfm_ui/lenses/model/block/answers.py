"""Answers to the questions of the view "block", computed from what is on screen."""

import numpy as np
import torch

from tfm_core import NORMS
from tfm_ui.lenses.model.block.both import both
from tfm_ui.lenses.model.block.chain import dropout_factors
from tfm_ui.lenses.model.block.numbers import Steps, steps
from tfm_ui.lenses.model.block.writing import lengths, shares_of
from tfm_ui.lenses.model.state import ModelLensState
from tfm_ui.state.model_state import ModelState
from tfm_ui.text import formats

DRAWS = 1000


def _range(values: np.ndarray) -> str:
    low, high = (formats.number(float(end)) for end in (values.min(), values.max()))
    return low if low == high else f"{low} to {high}"


def length_of_normalised(model: ModelState, state: ModelLensState) -> float:
    """The mean length of the vectors after the norm, before gain and shift."""
    shown = steps(model, state)
    return round(float(lengths(shown.chain.norm.normalised, shown.read).mean()), 2)


def what_the_norm_takes(model: ModelState, state: ModelLensState) -> str:
    """All lengths are alike after the norm."""
    shown = steps(model, state)
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
    shown = steps(model, state)
    read, numbers = shown.read, shown.chain
    shares = shares_of(numbers.dropped, numbers.x, read)
    cosine = torch.cosine_similarity(numbers.x[:read], numbers.total[:read], dim=-1).numpy()
    longer = "longer" if shares.mean() > 1 else "shorter"
    return (
        f"What the {shown.sub_layer} adds is {longer} than x: {formats.percent(float(shares.mean()))} of its length "
        f"on average. The cosine between x and the sum is {_range(cosine)}, where 1 means the same direction and 0 a "
        "right angle. How much is old and how much is new in a trained model, random weights cannot say."
    )


def why_larger(model: ModelState, state: ModelLensState) -> str:
    """Over many draws, dropout leaves the mean of each number as it is."""
    shown = steps(model, state)
    if not state.dropout:
        return "Dropout is 0 here, as in evaluation mode: every number stays as it is. Choose another dropout above."
    row = shown.chain.output[shown.token]
    draws = row * dropout_factors(row.expand(DRAWS, -1), state.dropout, state.dropout_draw)
    here = shown.chain.dropped[shown.token]
    averaged, single = (float((drawn - row).norm() / row.norm()) for drawn in (draws.mean(0), here))
    scale = formats.number(1 / (1 - state.dropout))
    return (
        f"A number stays with a probability of {1 - state.dropout:g}; those that stay are multiplied by {scale}, so "
        "that over many draws each has the mean that it has without dropout, as in evaluation mode. For "
        f"“{shown.names[shown.token]}”, the draw on screen is off by {formats.percent(single)} of the length of what "
        f"the {shown.sub_layer} writes, and the mean of {formats.count(DRAWS)} draws by {formats.percent(averaged)}."
    )


def which_grows(model: ModelState, state: ModelLensState) -> str:
    """Lengths before and behind the block, under both norms."""
    shown: Steps = steps(model, state)
    under = both(shown)
    said = []
    for norm in NORMS:
        before, after = under.lengths[norm]
        how = formats.percent(float(after.mean() / before.mean()))
        said.append(f"Under {norm}-norm lengths of {_range(before)} become {_range(after)}, {how} of the mean before.")
    return (
        f"{' '.join(said)} Post-norm ends in a norm, which sets each length anew; pre-norm adds to x, and no norm "
        "acts on the residual stream itself until the final one."
    )
