"""How a token is written on a chip: white space visible, marks on a circle, long ones cut in the middle. Pure."""

import unicodedata

from tfm_ui.text.token_labels import ALONE, INVISIBLE_BUT_NEEDED, WHITE_SPACE

LONGEST = 22
CIRCLE = "\u25cc"  # what marks without a letter stand on


def chip(piece: str) -> str:
    """A token as its chip has it.

    Direction is up to the picture, which isolates each chip.
    """
    name = ALONE.get(piece) or "".join(map(_sign, piece))
    if name and unicodedata.category(name[0]).startswith("M"):
        name = CIRCLE + name
    return name if len(name) <= LONGEST else f"{name[:12]}…{name[-8:]}"


def isolated(text: str) -> str:
    """A text between the marks that keep it from turning the sentence around it."""
    return f"\u2068{text}\u2069"


def _sign(sign: str) -> str:
    if sign in WHITE_SPACE:
        return WHITE_SPACE[sign]
    if sign == "\u00a0":
        return "⍽"
    if sign.isprintable() or sign in INVISIBLE_BUT_NEEDED:
        return sign
    return f"<U+{ord(sign):04X}>"
