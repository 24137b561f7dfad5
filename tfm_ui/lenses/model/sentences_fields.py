"""The controls of the views "sentences" and "masked" of the Model lens."""

from dataclasses import dataclass

from tfm_ui.state.fields import Text, Whole, control

MOST_SENTENCES, SIGNS = 5, 400  # sentences that are compared; characters of all of them
FIVE = (
    "The ship sailed over the sea.\n"
    "A whale swam in the ocean.\n"
    "The lady wrote him a letter.\n"
    "She answered his note at once.\n"
    "Congress has passed the law."
)


@dataclass(frozen=True, kw_only=True)
class SentencesFields:
    """The fields of these two views; the lens's state has them, too."""

    gap: int = control(Whole("Hidden token", 1, 1024, box=True, help="Its place in the text, from 1."), default=2)
    lines: str = control(Text("Sentences, one a line", SIGNS, height=160), default=FIVE)


def sentences_in(text: str) -> list[str]:
    """The sentences that are compared: the first five lines that are not empty."""
    return [line.strip() for line in text.splitlines() if line.strip()][:MOST_SENTENCES]


def about_lines(text: str) -> str:
    """What is done with lines that are not compared, in a sentence; "" if there are none."""
    lines = text.splitlines()
    filled = sum(bool(line.strip()) for line in lines)
    told = []
    if filled > MOST_SENTENCES:
        told.append(f"Only the first {MOST_SENTENCES} of {filled} lines are compared.")
    if filled < len(lines):
        told.append("Empty lines are left out.")
    if filled < 2:
        told.append("It takes two sentences at least to compare any: write one a line.")
    return " ".join(told)
