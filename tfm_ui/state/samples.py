"""Sample texts: `@alice` in a text box, or `text=@alice` in a link, stands for a file of assets/texts.

The texts are in the public domain everywhere. Other texts that begin with @, such as "@bob hi", are read as they are.
"""

import re
from dataclasses import dataclass
from functools import cache

from tfm_ui.folders import FOLDER

TEXTS = "assets/texts"


@dataclass(frozen=True)
class Sample:
    """The origin of a sample text."""

    title: str
    author: str
    year: str

    @property
    def origin(self) -> str:
        """The origin in one line."""
        return f"{self.author}, {self.title}, {self.year}, public domain"


def sample_name(text: str) -> str | None:
    """The sample's name if the content of a text box is "@" and the name of a sample; otherwise None."""
    name = text.strip().removeprefix("@")
    return name if text.strip().startswith("@") and name in SAMPLES else None


def read_text(text: str) -> str:
    """The text that the model reads: the sample's text, or the content of the text box itself."""
    name = sample_name(text)
    return _file(name) if name else text


def about(text: str) -> str:
    """A note on a text box's content: a sample's origin, or that no sample has this name; "" for other texts."""
    if name := sample_name(text):
        return SAMPLES[name].origin
    if re.fullmatch(r"@\w+", text.strip()):
        return f"No sample has this name, so it is read as it stands. There are {', '.join('@' + n for n in SAMPLES)}."
    return ""


def path(name: str) -> str:
    """The path of a sample's file, relative to the folder of the app's files: in a checkout the root."""
    return f"{TEXTS}/{name}.txt"


@cache
def _file(name: str) -> str:
    return (FOLDER / path(name)).read_text(encoding="utf-8").rstrip("\n")


SAMPLES = {
    "alice": Sample("Alice’s Adventures in Wonderland", "Lewis Carroll", "1865"),
    "gettysburg": Sample("Gettysburg Address", "Abraham Lincoln", "1863"),
    "jack": Sample("The House That Jack Built", "Nursery rhyme", "18th century"),
    "faust": Sample("Faust, part one", "Johann Wolfgang von Goethe", "1808"),
}
