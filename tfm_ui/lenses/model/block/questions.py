"""Questions of the view "block", and their answers, computed from what is on screen."""

import numpy as np
import torch

from tfm_ui.lenses.model.block.both import BlockBoth
from tfm_ui.lenses.model.block.chain import dropout_factors, range_of
from tfm_ui.lenses.model.block.steps import Block
from tfm_ui.lenses.model.naming import trained_on
from tfm_ui.lenses.model.state import SUB_LAYERS, ModelLensState
from tfm_ui.page.questions import Prediction, Question
from tfm_ui.state.model_state import ModelState
from tfm_ui.text import formats

DRAWS = 1000


def length_of_normalised(model: ModelState, state: ModelLensState) -> float:
    """The mean length of the vectors after the norm, before gain and shift."""
    block = Block(model, state)
    return round(float(block.lengths_of(block.norm.normalised).mean()), 2)


def what_the_norm_takes(model: ModelState, state: ModelLensState) -> str:
    """All lengths are alike after the norm."""
    block = Block(model, state)
    before, after = (block.lengths_of(vectors) for vectors in (block.into_norm, block.norm.normalised))
    root, width = formats.number(float(np.sqrt(model.d_model))), model.d_model
    reads = "x" if block.pre_norm else "the sum"
    if block.is_rms:
        return (
            f"But for ε, a mean square of 1: {width} such numbers make a vector of length √{width} = {root}. In "
            f"{reads} the lengths are {range_of(before)}; after the norm, before the gain, {range_of(after)}. What "
            "the norm takes away is each token’s length; the direction of its vector stays until the gain."
        )
    return (
        f"Mean 0 and, but for ε, variance 1: {width} such numbers make a vector of length √{width} = {root}. In "
        f"{reads} the lengths are {range_of(before)}; after the norm, before gain and shift, {range_of(after)}. What "
        "the norm takes away is each token’s mean and length; the pattern of its numbers stays."
    )


def how_much_is_added(model: ModelState, state: ModelLensState) -> str:
    """What is added, beside x: its length, and how far the sum still points where x did."""
    block = Block(model, state)
    before, total = (vectors[: block.read] for vectors in (block.x, block.total))
    if not before.any():
        return "Here x is 0 everywhere, so nothing of the sum is old."
    shares = block.shares_of(block.dropped)
    cosine = torch.cosine_similarity(before, total, dim=-1).numpy()
    longer = "longer" if shares.mean() > 1 else "shorter"
    return (
        f"What the {block.called} adds is {longer} than x: {formats.percent(float(shares.mean()))} of its length "
        f"on average. The cosine between x and the sum is {range_of(cosine)}, where 1 means the same direction and 0 a "
        "right angle. "
        + model.if_random(
            "How much is old and how much is new in a trained model, random weights cannot say.",
            f"This is what training on {trained_on(model)} has made of it.",
        )
    )


def why_larger(model: ModelState, state: ModelLensState) -> str:
    """Why numbers are larger with dropout: over many draws, the mean of each number stays as it is."""
    block = Block(model, state)
    if not state.dropout:
        return "Dropout is 0 here, as in evaluation mode: every number stays as it is. Choose another dropout above."
    row = block.output[block.token]
    scale = formats.number(1 / (1 - state.dropout))
    rule = (
        f"A number stays with a probability of {1 - state.dropout:g}; those that stay are multiplied by {scale}, so "
        "that over many draws the mean of each is what it is in evaluation mode."
    )
    if not row.any():
        return f"{rule} Here the {block.called} writes 0 everywhere, so no draw changes anything."
    draws = row * dropout_factors(row.expand(DRAWS, -1), state.dropout, state.dropout_draw)
    on_screen = block.dropped[block.token]
    averaged, single = (float((drawn - row).norm() / row.norm()) for drawn in (draws.mean(0), on_screen))
    return (
        f"{rule} For “{block.names[block.token]}”, the draw on screen is off by {formats.percent(single)} of the "
        f"length of what the {block.called} writes, and the mean of {formats.count(DRAWS)} draws by "
        f"{formats.percent(averaged)}."
    )


def which_grows(model: ModelState, state: ModelLensState) -> str:
    """Lengths before and after the block, under both norms."""
    becomes = []
    for norm, (before, after) in BlockBoth(model, state).lengths.items():
        if range_of(before) == range_of(after):
            becomes.append(f"Under {norm}-norm lengths stay at {range_of(after)}.")
            continue
        share = f", {formats.percent(float(after.mean() / before.mean()))} of the mean before" if before.any() else ""
        becomes.append(f"Under {norm}-norm lengths of {range_of(before)} become {range_of(after)}{share}.")
    return (
        f"{' '.join(becomes)} Post-norm ends in a norm, which sets each length anew; pre-norm adds to x, and no norm "
        "acts on the residual stream itself until the final one."
    )


def is_in_layer(model: ModelState, state: ModelLensState) -> bool:
    """Whether a block is open that has a norm, a sub-layer and a sum."""
    return state.sub_layer in SUB_LAYERS


def shows_norm(model: ModelState, state: ModelLensState) -> bool:
    """Whether its norm is among the steps that are shown."""
    return is_in_layer(model, state) and state.step in ("all", "norm")


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
        controls={"view": "block"},
        only=shows_norm,
        because="the way leads through blocks, and norms are among the steps inside.",
    ),
    Question(
        "Old and new",
        "Compare x with what self-attention adds to it. How much of the sum is old, and how much is new?",
        how_much_is_added,
        controls={"view": "block", "step": "sum"},
        given=("sub_layer",),
        because="a sub-layer does not replace a vector but adds to it, and that can be measured.",
    ),
    Question(
        "Training mode",
        "Dropout of 0.3 makes random numbers 0, here the grey ones. Why does it make all others larger?",
        why_larger,
        controls={"view": "block", "step": "sub-layer", "dropout": 0.3},
        only=is_in_layer,
        because="in training one more step joins in, which drops numbers at random.",
    ),
    Question(
        "Norm before or after",
        "The same weights in layer 2, with the norm before the sub-layer or after the sum. Under which are vectors "
        "longer when they leave?",
        which_grows,
        model={"norm": "post"},
        controls={"view": "block", "layer": 2},
        moves=("norm",),
        only=is_in_layer,
        link="norm-before-or-behind",
        because="where the norm stands is a choice, and it decides how long vectors become.",
    ),
)
