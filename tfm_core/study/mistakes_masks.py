"""Mistakes with masks: which pairs they allow, and how they are applied."""

import torch
from torch import Tensor

from tfm_core.masks.basic import causal_mask, padding_mask
from tfm_core.study.exercise import PAD_ID, Exercise
from tfm_core.study.mistake import Mistake
from tfm_core.study.pieces import Pieces

BOOLEAN = "F.scaled_dot_product_attention, attn_mask: True takes part"
MASKED = "Vaswani et al. 2017, section 3.2.3"


def is_causal(exercise: Exercise) -> bool:
    """No query may see a later key."""
    return exercise.is_causal


def has_future(exercise: Exercise) -> bool:
    """A query may not see a key that is there: of the last query alone, no key is later."""
    return exercise.is_causal and exercise.queries > 1


def has_padding(exercise: Exercise) -> bool:
    """A sentence ends in padding."""
    return exercise.has_padding


def has_both(exercise: Exercise) -> bool:
    """No query may see a later key, and a sentence ends in padding."""
    return exercise.is_causal and exercise.has_padding


def has_mask(exercise: Exercise) -> bool:
    """Something is hidden."""
    return has_future(exercise) or exercise.has_padding


def has_cache(exercise: Exercise) -> bool:
    """There are more keys than queries, and no query may see a later key."""
    return exercise.is_causal and exercise.cached > 0


# which pairs


def inverted(mask: Tensor) -> Tensor:
    """True is taken for "hide"."""
    return ~mask


def strictly_before(queries: int, keys: int) -> Tensor:
    """The diagonal is hidden, too."""
    return causal_mask(queries, keys, diagonal=-1)


def next_token_too(queries: int, keys: int) -> Tensor:
    """The diagonal above is visible."""
    return causal_mask(queries, keys, diagonal=1)


def upper_left(queries: int, keys: int) -> Tensor:
    """The first query beside the first key."""
    return torch.ones(queries, keys, dtype=torch.bool).tril()


def all_pairs(queries: int, keys: int) -> Tensor:
    """Nobody is kept from looking ahead."""
    return torch.ones(queries, keys, dtype=torch.bool)


def looking_ahead(queries: int, keys: int) -> Tensor:
    """The triangle above the diagonal is visible, with the diagonal."""
    return causal_mask(queries, keys, diagonal=-1).logical_not()


def on_the_query_axis(ids: Tensor, queries: int) -> Tensor:
    """(batch, 1, query, 1): the rows of padding are hidden, not its columns."""
    return padding_mask(ids, PAD_ID)[..., -queries:].mT


def no_padding(ids: Tensor, queries: int) -> Tensor:
    """Padding is looked at like any token."""
    return torch.ones(len(ids), 1, 1, ids.shape[-1], dtype=torch.bool)


def of_the_first_sentence(ids: Tensor, queries: int) -> Tensor:
    """The first sentence's mask for the whole batch."""
    return padding_mask(ids[:1], PAD_ID).expand(len(ids), 1, 1, -1)


# how they are applied


def added_as_numbers(scores: Tensor, mask: Tensor, hidden: float) -> Tensor:
    """1 is added where a pair may attend, 0 where not."""
    return scores + mask.to(scores)


def multiplied(scores: Tensor, mask: Tensor, hidden: float) -> Tensor:
    """Hidden scores become 0, which a softmax takes for a score like any other."""
    return scores * mask


def too_small() -> float:
    """1e-9 where −1e9 was meant."""
    return 1e-9


def negative_but_small() -> float:
    """−1e-9 where −1e9 was meant."""
    return -1e-9


def not_hidden(scores: Tensor, mask: Tensor, hidden: float) -> Tensor:
    """The scores as they are."""
    return scores


def hidden_after(weights: Tensor, mask: Tensor) -> Tensor:
    """The mask is applied to the weights."""
    return weights * mask


MASKINGS: dict[str, Mistake] = {
    "mask inverted": Mistake(
        about="mask",
        wrong={"polarity": inverted},
        right_is="True = may attend",
        wrong_is="True = hidden",
        symptom="A causal model sees only what comes later: the loss falls far below what is possible, generated "
        "text is nonsense, and the last query has no key at all (NaN, or equal weights under −1e9).",
        cure="masked_fill(~mask, −∞) where True means “may attend”, masked_fill(mask, −∞) where True means “hide”. "
        "nn.MultiheadAttention takes the opposite of F.scaled_dot_product_attention.",
        source=BOOLEAN,
        needs=has_mask,
    ),
    "mask added as 0 and 1": Mistake(
        about="mask",
        wrong={"hide": added_as_numbers},
        right_is="score − ∞ where hidden",
        wrong_is="score + mask, with 1 = may attend and 0 = hidden",
        symptom="Nothing is hidden: the loss of a causal model falls far below what is possible; generation is bad.",
        cure="Hand over booleans (mask.bool()), or −∞ in hidden cells and 0 elsewhere.",
        source=BOOLEAN,
        needs=has_mask,
    ),
    "scores multiplied by the mask": Mistake(
        about="mask",
        wrong={"hide": multiplied},
        right_is="hidden scores become −∞",
        wrong_is="hidden scores become 0",
        symptom="Hidden keys get a weight of e⁰ = 1 beside the others: they are seen, less or more than by chance.",
        cure="scores.masked_fill(~mask, float('-inf')).",
        source=MASKED,
        needs=has_mask,
    ),
    "1e-9 for −1e9": Mistake(
        about="mask",
        wrong={"fill": too_small},
        right_is="hidden scores become −∞, or −1e9",
        wrong_is="hidden scores become 1e-9",
        symptom="Hidden keys get a weight of e⁰ = 1 beside the others: nothing is hidden.",
        cure="Write −1e9 with its sign before the number, or float('-inf').",
        source=MASKED,
        needs=has_mask,
    ),
    "−1e-9 for −1e9": Mistake(
        about="mask",
        wrong={"fill": negative_but_small},
        right_is="hidden scores become −∞, or −1e9",
        wrong_is="hidden scores become −1e-9",
        symptom="Hidden keys get a weight of e⁰ = 1 beside the others: nothing is hidden.",
        cure="Write −1e9, or float('-inf').",
        source=MASKED,
        needs=has_mask,
    ),
    "mask after the softmax": Mistake(
        about="mask",
        wrong={"hide": not_hidden, "after_softmax": hidden_after},
        right_is="softmax(masked scores)",
        wrong_is="softmax(scores) × mask",
        symptom="Rows sum to less than 1, and hidden keys still take weight from the others: later scores change "
        "earlier outputs.",
        cure="Mask the scores with −∞ before the softmax.",
        source=MASKED,
        needs=has_mask,
    ),
    "mask forgotten": Mistake(
        about="mask",
        wrong={"hide": not_hidden},
        right_is="hidden scores become −∞",
        wrong_is="all scores stay",
        symptom="The loss falls far below what is possible, as the answer is looked up; generation is bad.",
        cure="Hand the mask on to the attention, and use it before the softmax.",
        source=MASKED,
        needs=has_mask,
    ),
    "causal mask forgotten": Mistake(
        about="mask",
        wrong={"causal": all_pairs},
        right_is="a query sees itself and what comes before",
        wrong_is="a query sees every token",
        symptom="The loss falls far below what is possible, as the next token is looked up; generation is bad.",
        cure="Combine the mask of padding with torch.ones(n, n).tril().bool().",
        source=MASKED,
        needs=has_both,
    ),
    "diagonal hidden": Mistake(
        about="mask",
        wrong={"causal": strictly_before},
        right_is="a query sees itself and what comes before",
        wrong_is="a query sees what comes before it alone",
        symptom="The first query has no key: NaN from the first step, or equal weights under −1e9.",
        cure="torch.triu(ones, diagonal=1) marks what to hide; torch.tril(ones) what to keep.",
        source=MASKED,
        needs=is_causal,
    ),
    "next token visible": Mistake(
        about="mask",
        wrong={"causal": next_token_too},
        right_is="a query sees itself and what comes before",
        wrong_is="a query sees the next token, too",
        symptom="The loss falls to nearly nothing, as the answer is looked up; generated text is nonsense.",
        cure="torch.tril(ones) without diagonal=1; torch.triu(ones, diagonal=1), not 2, marks what to hide.",
        source=MASKED,
        needs=has_future,
    ),
    "looks ahead instead of back": Mistake(
        about="mask",
        wrong={"causal": looking_ahead},
        right_is="the triangle below the diagonal is visible",
        wrong_is="the triangle above the diagonal is visible",
        symptom="The loss falls far below what is possible, as the answer is looked up; generation is bad.",
        cure="tril keeps the past, triu the future.",
        source=MASKED,
        needs=is_causal,
    ),
    "causal mask from the wrong corner": Mistake(
        about="mask",
        wrong={"causal": upper_left},
        right_is="the last query sees the last key",
        wrong_is="the first query sees the first key alone",
        symptom="Training is right; with a cache, new tokens see the beginning of the text and not themselves. "
        "is_causal=True of torch’s function does this where there are more keys than queries.",
        cure="torch.ones(q, k).tril(k − q), or no causal mask for a single new token.",
        source="F.scaled_dot_product_attention, is_causal; torch.nn.attention.bias.causal_lower_right",
        needs=has_cache,
    ),
    "padding mask forgotten": Mistake(
        about="mask",
        wrong={"padding": no_padding},
        right_is="padding is hidden as a key",
        wrong_is="padding is looked at like any token",
        symptom="A sentence’s result depends on how long the others of its batch are.",
        cure="(ids != pad_id)[:, None, None, :], combined by & with the causal mask.",
        source="padding_mask; nn.MultiheadAttention, key_padding_mask",
        needs=has_padding,
    ),
    "padding on the query axis": Mistake(
        about="mask",
        wrong={"padding": on_the_query_axis},
        right_is="(batch, 1, 1, key): columns of padding are hidden",
        wrong_is="(batch, 1, query, 1): rows of padding are hidden",
        symptom="The rows of padding have no key: NaN, which is everywhere from the second layer on, or equal weights "
        "under −1e9. Without a causal mask the padding is still looked at, too.",
        cure="(ids != pad_id)[:, None, None, :]: the new axes stand before the keys.",
        source="padding_mask; nn.MultiheadAttention, key_padding_mask",
        needs=has_padding,
    ),
    "first sentence’s padding for all": Mistake(
        about="mask",
        wrong={"padding": of_the_first_sentence},
        right_is="each sentence has its mask of padding",
        wrong_is="all sentences have the first one’s",
        symptom="Results depend on the order of the batch.",
        cure="Keep the batch axis: (batch, 1, 1, key).",
        source="padding_mask; nn.MultiheadAttention, key_padding_mask",
        needs=has_padding,
    ),
}

# How code fills a row in which nothing may be attended to: plain −∞ gives NaN, −1e9 equal weights.
FILLS: dict[str, Pieces] = {
    "−∞ without care for empty rows": {"empties": lambda weights, masked: weights},
    "−1e9": {"fill": lambda: -1e9, "empties": lambda weights, masked: weights},
}
