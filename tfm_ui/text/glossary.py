"""The glossary: what a first-year student may not know, explained where the word stands. Pure functions.

A word is explained where it first occurs in a text on screen: it is underlined with dots, and a tap, the focus or the
pointer shows the explanation. Words are explained in this file alone.
"""

import re
from collections.abc import Sequence
from html import escape

GLOSSARY = {
    "additive mask": "A table of numbers that is added to the scores: 0 where a query may look, −∞ where it may not.",
    "ALiBi": "Attention with linear biases: each score is lowered by a slope times the distance of query and key.",
    "bias": "A number that is added, here to a score.",
    "causal": "Each token sees itself and the tokens before it, never a later one.",
    "closed form": "A formula that gives the number directly, without running anything.",
    "cross-attention": "Attention in which the queries come from one text and the keys and values from another.",
    "d_ff": "How many hidden units the feed-forward network of a layer has.",
    "d_model": "How many numbers the vector of each token has.",
    "decoder-only": "A single stack of layers in which no token sees a later one, as in GPT.",
    "entropy": "How evenly a row of weights is spread, in nats: 0 means one key alone, ln(n) means n keys equally.",
    "exact weights": "Every cell on screen is one weight.",
    "feed-forward": "The part of a layer that works on each token alone: two matrix products and an activation.",
    "FLOPs": "Floating point operations: how many additions and multiplications a computation needs.",
    "fused kernel": "One call that does scores, softmax and weighted sum together and never stores the weights.",
    "gradient": "How fast a result changes when an input changes; training follows it.",
    "logits": "One number for each token of the vocabulary, before the softmax turns them into probabilities.",
    "LSTM": "A recurrent network: it reads the tokens one after the other.",
    "median": "The middle value: half of the measurements lie below it, half above.",
    "nats": "The unit of entropy with natural logarithms: 1 nat is about 1.44 bits.",
    "NaN": "Not a number: what 0 / 0 gives. Whatever is computed with NaN becomes NaN.",
    "PAD": "Padding: a token without meaning that fills short texts of a batch up to one length.",
    "pooled": "There are more weights than cells on screen: each cell shows the largest weight of its block.",
    "quartile": "A quarter of the measurements lie below the first quartile, a quarter above the third.",
    "residual stream": "The vector of each token on its way through the layers: each sub-layer adds its output.",
    "rollout": "The attention of all layers multiplied together, half of each layer passing through unchanged.",
    "RoPE": "Rotary position embedding: queries and keys are turned by an angle that grows with their position.",
    "roofline": "The most that a machine can do, limited by arithmetic or by how fast memory delivers numbers.",
    "sink": "A token on which many queries put much of their weight, whatever they look for.",
    "softmax": "Turns a row of scores into positive weights that sum to 1: each is e to the score, over their sum.",
    "under load": "Other programs used the processor while this was measured, so the time may be too long.",
}

_ANY = re.compile(r"(?<![\w-])(" + "|".join(sorted(map(re.escape, GLOSSARY), key=len, reverse=True)) + r")(?![\w-])")


Marked = str | tuple[str, str]  # a piece of text, or a word with its explanation


def marked(text: str) -> list[Marked]:
    """The text in pieces: the first occurrence of each word of the glossary is a pair with its explanation."""
    pieces: list[Marked] = []
    explained_words: set[str] = set()
    at = 0
    for match in _ANY.finditer(text):
        word = match.group()
        if word not in explained_words:
            explained_words.add(word)
            pieces += [text[at : match.start()], (word, GLOSSARY[word])]
            at = match.end()
    return [piece for piece in [*pieces, text[at:]] if piece]


def explained(text: str) -> str:
    """The text as HTML, escaped; the first occurrence of each word of the glossary carries its explanation.

    assets/page/words.js builds the same elements of `marked`.
    """
    return html_of(marked(text))


def html_of(pieces: Sequence[Marked]) -> str:
    """Pieces of a text, of `marked`, as HTML, escaped."""
    return "".join(map(_html, pieces))


def _html(piece: Marked) -> str:
    if isinstance(piece, str):
        return escape(piece)
    word, about = map(escape, piece)
    return (
        f'<span class="word" tabindex="0" role="button" aria-label="{word}: {about}">{word}'
        f'<span class="about" aria-hidden="true">{about}</span></span>'
    )
