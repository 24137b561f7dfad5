"""Texts for Lab GPT, and notes on how it reads them. What it is stands in pretrained.py."""

from tfm_core import Tokens
from tfm_core.language.bpe import CUT, START
from tfm_core.language.lab_gpt import NAME as NAME

PROSE = "The ship was bound for a port of the United"  # what follows stands in every president's address
ADDRESS = (
    "Fellow-citizens of the Senate and House of Representatives: the Government of the United States is at peace with "
    "all the world."
)
# Invented names, each twice, and the last one broken off: how it goes on can only be known from the text itself.
NAMES = "Mr. Wexorby wrote to Mrs. Tandril; Mrs. Tandril answered Mr. Wex"
# Fields of the model's state.
ON_PROSE, ON_ADDRESS, ON_NAMES = ({"weights": NAME, "text": text} for text in (PROSE, ADDRESS, NAMES))


def about(tokens: Tokens) -> list[str]:
    """Notes on tokens that are no piece of text: the start token, and bytes of characters that are no token whole."""
    if tokens.pieces == (START,):
        return [f"The text is empty, so {START} is read, which stood before each text of the training."]
    return about_cut(tokens)


def about_cut(tokens: Tokens) -> list[str]:
    """A note on bytes of characters that are no token whole."""
    cut = next((piece for piece in tokens.pieces if CUT.fullmatch(piece)), "")
    return [f"{cut} is a part of a character, in bytes: not every character is a token."] * bool(cut)
