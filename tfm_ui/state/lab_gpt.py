"""Lab GPT as the model's state sees it: the weights that have read prose, and so read any text."""

from tfm_core import LAB_GPT, Tokens, lab_prompt, lab_tokenizer
from tfm_core.language.bpe import CUT, SPECIAL, START
from tfm_core.language.lab_gpt import NAME as NAME

CALLED = "Lab GPT: trained on prose"
BADGE = "Lab GPT, trained on prose"
ABOUT = (
    "Lab GPT: pretrained by a script of this project on Austen’s novels, “Moby Dick” and presidents’ addresses, "
    "1790 to 1864"
)
PROSE = "The ship was bound for a port of the United"  # what follows stands in every president's address
ADDRESS = (
    "Fellow-citizens of the Senate and House of Representatives: the Government of the United States is at peace with "
    "all the world."
)
# Invented names, each twice, and the last one broken off: how it goes on can only be known from the text itself.
NAMES = "Mr. Wexorby wrote to Mrs. Tandril; Mrs. Tandril answered Mr. Wex"
# Fields of the model's state.
ON_PROSE, ON_ADDRESS, ON_NAMES = ({"weights": NAME, "text": text} for text in (PROSE, ADDRESS, NAMES))
FIRST_ID = len(SPECIAL)  # ids below it are special
CONTEXT = LAB_GPT.max_len  # tokens: as many as each of its training texts had
TOKENIZER = f"byte pairs: {LAB_GPT.vocab_size:,} tokens"


def tokens_of(text: str, seq_len: int) -> Tokens:
    """What it reads of a text: its end, if it is longer than that; the start token, if it is empty."""
    return lab_prompt(text, seq_len)


def every_token() -> Tokens:
    """All tokens that there are, as a text."""
    pieces = lab_tokenizer().pieces
    return Tokens(pieces, tuple(range(len(pieces))), dropped=0)


def about(tokens: Tokens) -> list[str]:
    """Notes on tokens that are no piece of text: the start token, and bytes of characters that are no token whole."""
    if tokens.pieces == (START,):
        return [f"The text is empty, so {START} is read, which stood before each text of the training."]
    cut = next((piece for piece in tokens.pieces if CUT.fullmatch(piece)), "")
    return [f"{cut} is a part of a character, in bytes: not every character is a token."] * bool(cut)
