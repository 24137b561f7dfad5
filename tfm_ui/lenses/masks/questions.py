"""Questions of the Masks lens, and their answers: computed from what is on screen, and true of any mask and model.

What they take for granted, and the answers, are checked in tests/tfm_ui/lenses/masks/test_questions_masks.py.
"""

from dataclasses import replace

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from tfm_core import Tokens
from tfm_ui.lenses.masks.above import other_mask
from tfm_ui.lenses.masks.conventions.answers import can_it_be_said, cells_lost, slip
from tfm_ui.lenses.masks.leaks.moved import Leaks, LeaksDistance
from tfm_ui.lenses.masks.masked_passes import logits_under_mask
from tfm_ui.lenses.masks.padding.beside import Padding, PaddingWeights
from tfm_ui.lenses.masks.padding.empty_rows import SPREAD_OUT, EmptyRow, NanSpreads
from tfm_ui.lenses.masks.padding.treated import INFINITE
from tfm_ui.lenses.masks.see import NAMED, NOTHING, See
from tfm_ui.lenses.masks.state import EMPTY_IN, MasksState, setting
from tfm_ui.live.known_words import known_texts
from tfm_ui.live.learned import UNKNOWN, in_words, right_answers
from tfm_ui.live.passes import forward
from tfm_ui.page.questions import MODEL, Prediction, Question
from tfm_ui.state import lab_gpt
from tfm_ui.state.model_state import ModelState
from tfm_ui.text import formats
from tfm_ui.text.token_labels import labels, named, pieces_of_ids

BY_ROWS = (
    "In layer 1, a painted cell moves the weights of its own row alone, because the softmax works row by row. The "
    "output of that row is then another vector, so from layer 2 on the weights of rows that look at it can move, too."
)


def hidden_columns(model: ModelState, state: MasksState) -> str:
    """Which columns are hidden from everybody, and where their weight goes."""
    panel = See(model, state)
    count = columns_hidden(model, state)
    if not count:
        return (
            "No column is hidden from every row here. Where a column is, the softmax leaves it out: the other weights "
            "of each row grow until they sum to 1 again."
        )
    names = dict.fromkeys(panel.names[1][at] for at in np.flatnonzero(~panel.obeyed.mask.any(0)))
    several = "columns are" if count > 1 else "column is"
    return (
        f"{count} {several} hidden from every row: {formats.listed([f'“{name}”' for name in names][:4])}. "
        "The mask takes these keys away before the softmax, so the weight that they would have got is shared out among "
        "the keys that are left: each row still sums to 1."
    )


def answers_under_mask(model: ModelState, state: MasksState) -> str:
    """How many answers are right under the mask on screen, beside what the model was trained to see."""
    under, free = (_right(model, state, masked=masked) for masked in (True, False))
    if not under or not free:
        return f"{UNKNOWN} {See(model, state).sentence()}"
    return f"Under this mask {in_words(under)} are right; as the model was trained, {in_words(free)}. " + (
        "An answer whose token it may not look at can only be guessed."
        if under[0] < free[0]
        else "No answer needs what this mask hides."
    )


def right_under_mask(model: ModelState, state: MasksState) -> float:
    """How many answers are right under the mask; 0 if nobody knows what is right."""
    right = _right(model, state, masked=True)
    return right[0] if right else 0


def _right(model: ModelState, state: MasksState, *, masked: bool) -> tuple[int, int] | None:
    under = setting(model, state)
    if not under.model.right_answers:
        return None
    logits = logits_under_mask(under) if masked else _plain(under.model)
    return right_answers(under.model, logits[0])


def _plain(model: ModelState) -> Tensor:
    with torch.no_grad():
        return forward(model)


def columns_hidden(model: ModelState, state: MasksState) -> int:
    """How many keys no query may look at."""
    return int((~See(model, state).obeyed.mask.any(0)).sum())


def heard_of(model: ModelState, state: MasksState) -> str:
    """How many tokens' vectors can have reached the last one after one layer and after all."""
    panel = See(model, state)
    mask, last = square(panel), len(panel.setting.queries.pieces) - 1
    if mask is None:
        return "Queries and keys are two texts here: what a query hears of does not pass on to the keys."
    name, layers = panel.names[0][last], model.num_layers
    once, then = int(mask[last].sum()), int(reach(mask, layers)[last].sum())
    return (
        f"“{name}” sees {formats.plural(once, 'token')} in one layer, itself included. After "
        f"{formats.plural(layers, 'layer')} its vector can hold something of {formats.plural(then, 'token')}, because "
        "those that it sees have looked further back themselves."
    )


def heard_of_after_all_layers(model: ModelState, state: MasksState) -> int:
    """The number of tokens of which the last token's vector can hold something after all layers."""
    panel = See(model, state)
    mask = square(panel)
    return int(reach(mask, model.num_layers)[len(panel.setting.queries.pieces) - 1].sum()) if mask is not None else 0


def layers_needed(model: ModelState, state: MasksState) -> str:
    """How many layers it takes until every token has heard of every other."""
    panel = See(model, state)
    mask = square(panel)
    if mask is None:
        return "Queries and keys are two texts here: one layer is all that there is."
    read = len(panel.setting.queries.pieces)
    reached = next((n for n in range(1, read + 1) if reach(mask, n)[:read, :read].all()), 0)
    if reached:
        return f"{formats.plural(reached, 'layer')}: then each of the {read} tokens has heard of every other one."
    far = int(reach(mask, read)[:read, :read].sum())
    return (
        f"No number of layers is enough: only {formats.count(far)} of {formats.count(read * read)} pairs can ever hear "
        "of each other under this mask."
    )


def square(shown: See) -> NDArray[np.bool_] | None:
    """The mask, if queries and keys are the same tokens."""
    mask: NDArray[np.bool_] = shown.obeyed.mask
    return None if shown.setting.place == "cross" else mask


def reach(mask: NDArray[np.bool_], layers: int) -> NDArray[np.bool_]:
    """Boolean (query, key): whether something of the key can be in the query's vector after `layers` layers.

    The residual stream hands each token on to itself, whatever the mask says.
    """
    step = mask | np.eye(len(mask), dtype=bool)
    reached = np.eye(len(mask), dtype=bool)
    for _ in range(layers):
        reached = reached @ step
    return reached


def one_cell(model: ModelState, state: MasksState) -> str:
    """What a painted cell changes in the weights."""
    panel = See(model, state)
    if not panel.setting.paint or not panel.setting.paintable:
        return f"Nothing is painted yet. {BY_ROWS}"
    painted = (panel.setting.composed.numpy() != panel.obeyed.mask).any(1)
    without = See(model, replace(state, paint="")).obeyed.weights
    moved = (np.abs(panel.obeyed.weights - without) > NOTHING).any(1)
    moved[len(panel.setting.queries.pieces) :] = False  # rows of padding are nobody's
    return (
        f"The paint changes the mask of {_rows(panel, painted)}. In {panel.where}, it moves the weights of "
        f"{_rows(panel, moved)}. {BY_ROWS}"
    )


def _rows(shown: See, which: NDArray[np.bool_]) -> str:
    """How many rows, and their names; of many the first ones."""
    names = [f"“{shown.names[0][at]}”" for at in np.flatnonzero(which)]
    if not names:
        return "no row"
    more = [f"{len(names) - NAMED} more"] if len(names) > NAMED else []
    return f"{formats.plural(len(names), 'row')}: {formats.listed([*names[:NAMED], *more])}"


def how_far_ahead(model: ModelState, state: MasksState) -> str:
    """How far ahead a token sees, and whether that is allowed."""
    return f"{LeaksDistance(model, state).sentence()} {Leaks(model, state).sentence()}"


def leaks(model: ModelState, state: MasksState) -> str:
    """How many pairs leak."""
    return Leaks(model, state).sentence()


def count_of_leaks(model: ModelState, state: MasksState) -> int:
    """How many pairs leak."""
    return int(Leaks(model, state).leaking.sum())


def first_to_last(model: ModelState, state: MasksState) -> str:
    """The layer after which the first token has reached the last."""
    after = layer_of_arrival(model, state)
    if not after:
        return (
            f"It does not arrive within {formats.plural(model.num_layers, 'layer')}: no output of the last token moved."
        )
    return (
        f"After layer {after}: from there on the output of the last token moves when the first one changes. Each layer "
        "carries what it holds one step of the mask further."
    )


def layer_of_arrival(model: ModelState, state: MasksState) -> int:
    """The first layer after which the last token moves with the first; 0 if none."""
    measured = Leaks(model, state)
    last = len(measured.setting.queries.pieces) - 1
    return next((layer for layer, moved in enumerate(measured.moves[:, 0, last].tolist(), 1) if moved), 0)


def pads_unhidden(model: ModelState, state: MasksState) -> str:
    """What padding does where nobody hides it."""
    moved, taken = (panel(model, state).sentence() for panel in (Padding, PaddingWeights))
    return f"{moved} {taken} A loss that goes down would not show it: only this comparison does."


def nan(model: ModelState, state: MasksState) -> str:
    """How a NaN spreads."""
    return f"0 × NaN is NaN, so a weight of 0 does not keep it away. {NanSpreads(model, state).sentence()}"


def a_large_number(model: ModelState, state: MasksState) -> str:
    """What −1e9 makes of a row without a key, in float32 and in half precision."""
    row = EmptyRow(model, state)
    in_half = "NaN again" if row.in_half.isnan().any() else "no NaN"
    return (
        f"{row.about()} With −1e9 its weight is {row.weights_said(SPREAD_OUT)}, and the mask forbids every one of "
        f"them; its output is {row.output_said(SPREAD_OUT)}. Half precision ends at 65,504: there −1e9 is −∞, and the "
        f"row is {in_half}."
    )


def weight_of_a_large_number(model: ModelState, state: MasksState) -> float:
    """The weight that a row without a key gives to the first key with −1e9 in place of −∞."""
    return float(EmptyRow(model, state).weights[SPREAD_OUT][0])


def layer_of_all_nan(model: ModelState, state: MasksState) -> int:
    """The first layer after which every row is NaN under −∞ and softmax; 0 if there is none."""
    spread = NanSpreads(model, state)
    counts = spread.nans(INFINITE)[1 : 1 + spread.setting.model.num_layers]
    return next((layer for layer, count in enumerate(counts, 1) if count == len(spread.queries)), 0)


def said_under_mask(model: ModelState, state: MasksState) -> str:
    """The likeliest next token without the mask on screen and under it, with its probabilities."""
    if model.no_logits:
        return model.no_logits
    shown = setting(model, state)
    free, masked = _next(model, state)
    text, likeliest, now = _text(shown.model), int(free.argmax()), int(masked.argmax())
    before, after = formats.percents(float(free[likeliest]), float(masked[likeliest]))
    sentence = (
        f"After “{labels(text)[len(text.pieces) - 1]}” the model’s own mask leaves {_name(shown.model, likeliest)} as "
        f"the likeliest token, with {before}; under the mask on screen that token has {after}"
    )
    change = (
        ", and it is still the likeliest."
        if now == likeliest
        else f", and the likeliest is {_name(shown.model, now)}, with {formats.percent(float(masked[now]))}."
    )
    why = shown.model.if_random(
        "The weights are random, so neither says anything about language.", other_mask(model, state)
    )
    return f"{sentence}{change} {why}".strip()


def says_the_same(model: ModelState, state: MasksState) -> str:
    """ "yes" if the likeliest token is the same under the mask on screen and without it; "no" also if there is none."""
    if model.no_logits:
        return "no"
    free, masked = _next(model, state)
    return "yes" if int(free.argmax()) == int(masked.argmax()) else "no"


def _next(model: ModelState, state: MasksState) -> tuple[Tensor, Tensor]:
    """The probabilities at the last token, without the mask on screen and under it, (vocab)."""
    shown = setting(model, state)
    last = len(_text(shown.model).pieces) - 1
    return _plain(shown.model)[0, last].softmax(-1), logits_under_mask(shown)[0, last].softmax(-1)


def _text(model: ModelState) -> Tokens:
    return model.target_tokens if model.is_encoder_decoder else model.source_tokens


def _name(model: ModelState, token_id: int) -> str:
    known = pieces_of_ids(known_texts(model)).get(token_id)
    return f"“{named(known[0])}”" if known else f"id {token_id}"


QUESTIONS = (
    Question(
        "Hidden columns",
        "Some of these columns are grey from top to bottom. Which mask hides them, and where does the weight go that "
        "they would have got?",
        hidden_columns,
        Prediction(ask="How many columns does no row see?", measured=columns_hidden),
        given=MODEL | {"texts", "item", "mask", "paint"},
    ),
    Question(
        "Sliding window",
        "Each word sees itself and the two before it. The tenth sees three words in layer 1: of how many can its "
        "vector hold something after two layers?",
        heard_of,
        Prediction(ask="Of how many words?", measured=heard_of_after_all_layers),
        controls={"mask": "window 3", "item": 1},
        given=("text", "seq_len", "num_layers", "causal", "tokenizer", "paint"),
        because="hiding padding is one use, and a window instead limits how far each word sees.",
    ),
    Question(
        "Longformer",
        "Every word sees two neighbours on each side; the first sees all, and all see it. How many layers until every "
        "word has heard of every other?",
        layers_needed,
        model={"causal": False},
        controls={"mask": "window 3 or global 1", "item": 1},
        given=("text", "tokenizer", "paint"),
        because="through a window news travels slowly, and one word that sees all is a short cut.",
    ),
    Question(
        "Packed documents",
        "Three documents share one row, and none sees another. Paint one cell that lets a document look into the one "
        "before it: which weights move?",
        one_cell,
        controls={"mask": "documents 4 3", "item": 1},
        given=("text", "seq_len", "tokenizer", "causal"),
        because="masks also keep texts apart that share one row to save padding.",
    ),
    Question(
        "Trained to see all",
        "Trained to reverse ten digits, each looking wherever it wants. Now nobody may look ahead: which answers are "
        "lost?",
        answers_under_mask,
        Prediction(ask="How many of the ten are still right?", measured=right_under_mask),
        model={"weights": "reverse"},
        controls={"mask": "causal and padding", "item": 1},
        given=("paint",),
        because="so far the weights were random, and here a mask can cost answers that were right.",
    ),
    Question(
        "A window on prose",
        "Lab GPT was trained to see all that came before. Here each token sees itself and one before it: does it still "
        "say the same next?",
        said_under_mask,
        Prediction(ask="Is the likeliest token the same?", measured=says_the_same, options=("yes", "no")),
        model=lab_gpt.ON_PROSE,
        controls={"mask": "window 2", "item": 1},
        moves=("text",),
        given=("paint",),
        because="Lab GPT has read prose, where the nearest words may be all that it needs.",
    ),
    Question(
        "A window on names",
        "Two invented names, each twice, the last broken off. Here no token sees further back than three: does Lab GPT "
        "say the same next?",
        said_under_mask,
        Prediction(ask="Is the likeliest token the same?", measured=says_the_same, options=("yes", "no")),
        model=lab_gpt.ON_NAMES,
        controls={"mask": "window 4", "item": 1},
        given=("paint",),
        because="going on with a name may need words that stand further back.",
    ),
    Question(
        "No leak",
        "Each row changes one token and measures which outputs move. Is there a cell that moved though the masks "
        "forbid it?",
        leaks,
        Prediction(
            ask="How many pairs leak?",
            measured=count_of_leaks,
            hides=("masks_leaks", "masks_leaks_distance", "masks_leaks_layers"),
        ),
        controls={"view": "leaks", "item": 1},
        moves=("item",),
        because="a mask is an intention, and only a measurement shows that nothing gets past it.",
    ),
    Question(
        "Leaky by one",
        "The causal mask was shifted by one: a single diagonal too many. Through two layers, how far ahead can a token "
        "see?",
        how_far_ahead,
        model={"causal": False},
        controls={"view": "leaks", "mask": "causal 1 and padding", "promise": "causal and padding", "item": 1},
        given=("num_layers", "paint"),
        because="a test is worth something once it has caught a mistake, such as this shift.",
    ),
    Question(
        "Through the window",
        "A window of 2 lets each token see itself and one neighbour on each side. After which layer has the first of "
        "eight words reached the last?",
        first_to_last,
        Prediction(
            ask="After which layer?",
            measured=layer_of_arrival,
            hides=("masks_leaks_distance", "masks_leaks_layers"),
        ),
        model={"causal": False, "seq_len": 8, "num_layers": 8},
        controls={"view": "leaks", "mask": "window 2", "item": 1},
        given=("paint",),
        because="what makes a leak grow from layer to layer also lets a window reach far.",
    ),
    Question(
        "One cell too many",
        "A causal mask, and one cell painted by hand: token 2 may look at token 9. Through two layers, how many pairs "
        "leak?",
        leaks,
        Prediction(
            ask="How many pairs leak?",
            measured=count_of_leaks,
            hides=("masks_leaks", "masks_leaks_distance", "masks_leaks_layers"),
        ),
        controls={"view": "leaks", "mask": "", "paint": "2x9.TAAAACQ", "item": 1},
        given=("causal", "num_layers"),
        because="after whole diagonals, one can see how much a single wrong cell lets through.",
    ),
    Question(
        "Padding on the right",
        "The sentence runs alone, and in a batch beside five PADs, hidden and not hidden. Why do its outputs stay the "
        "same in all three runs?",
        pads_unhidden,
        controls={"view": "padding"},
        given=("text", "seq_len", "texts", "causal", "mask", "pad_side", "paint"),
        because="the future is not all that a mask hides, and padding needs care of its own.",
    ),
    Question(
        "Without the mask",
        "Nothing hides five PADs, and they take a quarter of a token’s weight. Which of the outputs move? Would you "
        "notice it if the loss still went down?",
        pads_unhidden,
        model={"causal": False},
        controls={"view": "padding"},
        given=MODEL | {"texts", "mask", "pad_side", "paint"},
        because="a causal mask alone hides padding on the right, and here it is gone.",
    ),
    Question(
        "One NaN",
        "Five rows of padding have no key, and no token may look at them. A layer later every token is NaN. What is "
        "0 × NaN?",
        nan,
        controls={"view": "padding", "mask": "cross"},
        given=("text", "seq_len", "texts", "pad_side"),
        because="hiding too much is a mistake, too, when a row has nothing left to look at.",
    ),
    Question(
        "A large number",
        "To avoid the NaN, code writes −1e9 in place of −∞. A row of padding may look nowhere: where does its weight "
        "go now?",
        a_large_number,
        Prediction(
            ask="Which weight does it give to a key that the mask forbids?",
            measured=weight_of_a_large_number,
            hides=("masks_empty_row",),
        ),
        controls={"view": "without_key", "mask": "cross"},
        given=("text", "seq_len", "texts", "pad_side", "row", "paint"),
        because="the usual cure for this NaN has a side effect of its own.",
    ),
    Question(
        "One PAD",
        "A decoder reads ten words and one PAD. The PAD has no key, and no word may look at it. What becomes of the "
        "words?",
        nan,
        Prediction(
            ask="After which layer is every row NaN?",
            measured=layer_of_all_nan,
            hides=("masks_nan_spreads",),
        ),
        model={"architecture": "decoder", "seq_len": 11},
        controls={"view": "without_key", "empty_in": EMPTY_IN[1], "mask": "cross", "item": 1},
        given=("text", "tokenizer", "pad_side", "row", "paint"),
        because="this is the smallest case, one row without a key, which no word can see.",
    ),
    Question(
        "One row per sentence",
        "This call takes one row for each sentence. Which cells of our mask can it not say?",
        can_it_be_said,
        Prediction(
            ask="How many cells of the whole batch can it not say?",
            measured=cells_lost,
            hides=("conventions", "masks_handed", "masks_code", "masks_ours.words"),
        ),
        controls={"view": "conventions"},
        given=("convention",),
        because="a mask has to be handed to a library, and not every call can say it.",
    ),
    Question(
        "Which way round?",
        "The same booleans can mean the opposite elsewhere, and no call complains. Which calls give NaN, and for "
        "how many queries?",
        slip,
        controls={"view": "conventions", "convention": "MHA, attn_mask per head"},
        because="calls differ not only in shape, but in whether True means look or hide.",
    ),
)
