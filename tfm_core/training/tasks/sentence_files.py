"""Files of sentences with labels: their rows, and which of them are held out."""

from functools import cache
from pathlib import Path
from zlib import crc32

import torch
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence

from tfm_core.training.tasks.task import is_held_out

FOLDER = Path(__file__).parent / "sentences"
# The authors of authors.tsv.
ORIGINS = {
    "Austen": "Jane Austen, the six novels, 1811–1817",
    "Melville": "Herman Melville, Moby-Dick, 1851",
    "Roosevelt": "Theodore Roosevelt, State of the Union addresses, 1901–1908",
}
Row = tuple[str, list[str]]  # the label, and the words and marks of the sentence


def rows(path: Path) -> list[Row]:
    """The label and the tokens of each sentence, in the order of the file."""
    lines = path.read_text(encoding="utf-8").splitlines()
    return [(label, sentence.split(" ")) for label, _, sentence in (line.partition("\t") for line in lines)]


def are_held_out(sentences: list[list[str]]) -> Tensor:
    """Which sentences are never trained on: by a hash of their words, whether or not the vocabulary has them."""
    hashes = [torch.tensor([crc32(word.encode()) for word in sentence]) for sentence in sentences]
    return is_held_out(pad_sequence(hashes, batch_first=True, padding_value=0))


@cache
def sides(path: Path) -> tuple[list[Row], list[Row]]:
    """The rows that may be learned from, and those that never are."""
    every = rows(path)
    out = are_held_out([words for _, words in every]).tolist()
    return (
        [row for row, is_out in zip(every, out, strict=True) if not is_out],
        [row for row, is_out in zip(every, out, strict=True) if is_out],
    )
