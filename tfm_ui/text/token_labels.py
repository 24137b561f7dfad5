"""Labels of tokens and names of heads, for pictures and sentences; and notes on how a text was read. Pure functions."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from unicodedata import bidirectional

from tfm_core import Tokens
from tfm_core.model.tokens import collisions

LONGEST = 10
WHITE_SPACE = {" ": "·", "\t": "⇥", "\n": "↵"}
ALONE = {"\u200d": "ZWJ", "": "∅"}  # what such a token is called, if it is nothing more
INVISIBLE_BUT_NEEDED = "\u200d\ufe0e\ufe0f"  # they join and shape emoji
SUBSCRIPTS = str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉")


def labels(tokens: Tokens) -> list[str]:
    """A short, unique label for each token: long tokens are cut in the middle, repeated ones numbered.

    White space is made visible. The labels of padding, "PAD", follow.
    """
    names: dict[str, None] = {}  # an ordered set
    used: dict[str, int] = {}  # the last number that each name got
    for piece in tokens.pieces:
        name = base = _short(piece)
        while name in names:
            used[base] = used.get(base, 1) + 1
            name = base + str(used[base]).translate(SUBSCRIPTS)
        names[name] = None
    return [*map(_isolated, names), *["PAD"] * tokens.padding]


def numbered_where_alike(names: Sequence[str]) -> list[str]:
    """The names, with their numbers from 1 where two are the same, as with PAD."""
    return list(names) if len(set(names)) == len(names) else [f"{i} {name}" for i, name in enumerate(names, 1)]


def named(piece: str) -> str:
    """A token for use in a sentence: short, with visible white space, and safe if it is written from right to left."""
    return _isolated(_short(piece))


def pieces_of_ids(texts: Sequence[Tokens]) -> dict[int, list[str]]:
    """Token id -> the different tokens of these texts that have it, in the order of the texts."""
    known: dict[int, dict[str, None]] = {}
    for text in texts:
        for i, piece in zip(text.ids, text.pieces, strict=False):
            known.setdefault(i, {})[piece] = None
    return {i: list(pieces) for i, pieces in known.items()}


def _short(piece: str) -> str:
    if piece.isalnum() and len(piece) <= LONGEST:  # the common case
        return piece
    name = ALONE.get(piece) or "".join(map(_sign, piece))
    return name if len(name) <= LONGEST else f"{name[:5]}…{name[-4:]}"


def _sign(sign: str) -> str:
    """A sign of a token, made visible."""
    if sign in WHITE_SPACE:
        return WHITE_SPACE[sign]
    return sign if sign.isprintable() or sign in INVISIBLE_BUT_NEEDED else repr(sign)[1:-1]


def _isolated(name: str) -> str:
    """Put marks around a right-to-left name, which keep it from reversing the sentence around it."""
    turns = not name.isascii() and any(bidirectional(sign) in ("R", "AL", "AN") for sign in name)
    return f"\u2068{name}\u2069" if turns else name


def about_tokens(tokens: Tokens, *, from_end: bool = False) -> list[str]:
    """Notes on how the text was read: whether it was cut or padded, and which tokens share an id. Often none.

    Args:
        tokens: what is read.
        from_end: whether of a longer text the last tokens are read, not the first.
    """
    sentences = []
    if tokens.dropped:
        total, which = len(tokens.pieces) + tokens.dropped, "last" if from_end else "first"
        sentences.append(f"The text has {total:,} tokens; the {which} {len(tokens.pieces):,} are read.")
    if tokens.pieces and tokens.padding:
        hold = "holds" if tokens.padding == 1 else "hold"
        sentences.append(f"{tokens.padding} of {len(tokens.ids)} places {hold} padding (PAD).")
    groups = collisions(tokens)
    few = len(groups) <= 3
    for group in groups if few else groups[:1]:
        names = " and ".join(f"“{named(piece)}”" for piece in group)
        more = "" if few else f"; so do {len(groups) - 1} more groups"
        sentences.append(
            f"{names} have one number in this small vocabulary, so the model takes them for the same token{more}."
        )
    return sentences


@dataclass(frozen=True)
class Names:
    """What sentences call the tokens and heads of a model.

    Attributes:
        tokens: text -> a label for each of its tokens.
        with_kinds: whether the kind of attention must be said of a head, as there are several.
    """

    tokens: Mapping[str, Sequence[str]]
    with_kinds: bool

    def token(self, text: str, number: int) -> str:
        """A token in quotes, counted from 1; by its number if the text has no such token."""
        names = self.tokens[text]
        return f"“{names[number - 1]}”" if 1 <= number <= len(names) else f"token {number}"

    def head(self, kind: str, layer: int, head: int | None) -> str:
        """A head; its whole layer, if it is None."""
        place = f"layer {layer}, head {head}" if head is not None else f"layer {layer}"
        return f"{place} ({kind})" if self.with_kinds else place
