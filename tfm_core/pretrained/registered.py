"""Checkpoints by a name: so that a configuration alone stands for a model, as `Transformer(config)` finds its weights.

config = register("some/folder")
model = Transformer(config).eval()
tokens = registered_prompt(config.weights, "The capital of France is")
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import tokenizers
from torch import Tensor

from tfm_core.language.lab_bert import LAB_BERT, TOKENIZER
from tfm_core.model.config import TransformerConfig
from tfm_core.model.tokens import Tokenizer, Tokens
from tfm_core.pretrained import tokenizer
from tfm_core.pretrained.reading import Pretrained, read


class Readable(ABC):
    """A model that reads texts by the library tokenizers, with what is made of it once and kept."""

    @property
    @abstractmethod
    def config(self) -> TransformerConfig:
        """The model's configuration."""

    @cached_property
    @abstractmethod
    def merges(self) -> tokenizers.Tokenizer:
        """Its tokenizer, as the library of that name has it."""

    @cached_property
    def tokenizer(self) -> Tokenizer:
        """Its tokenizer, as our models read it."""
        return tokenizer.as_tokenizer(self.merges, self.config.vocab_size)

    @cached_property
    def around(self) -> tuple[list[int], list[int]]:
        """The ids of the special tokens that its tokenizer puts before a text, and after it."""
        before, after = tokenizer.prefix_and_suffix(self.merges)
        ids = [self.tokenizer.id_of(piece) for piece in self.tokenizer.split("")]
        return ids[:before], ids[before : before + after]

    def prompt(self, text: str, seq_len: int | None = None) -> Tokens:
        """A text as the model reads it: a decoder its end, which decides what comes next; an encoder its beginning.

        Special tokens around a text stay. An empty text is read as the model's first token.

        Args:
            text: any text.
            seq_len: how many ids there are to be; by default as many as there are. Texts are padded up to it where the
                model has a token for that.

        Raises:
            ValueError: for a seq_len below 1.
        """
        if seq_len is not None and seq_len < 1:
            raise ValueError(f"seq_len: expected a whole number of at least 1, got {seq_len!r}")
        cuts, pad = self.tokenizer, self.config.pad_id
        before, after = map(len, self.around)
        pieces = cuts.split(text) or [cuts.pieces[0]]
        length = len(pieces) if seq_len is None else seq_len
        inside, room = pieces[before : len(pieces) - after], max(0, length - before - after)
        kept = inside[max(0, len(inside) - room) :] if self.config.architecture == "decoder" else inside[:room]
        read_pieces = tuple([*pieces[:before], *kept, *pieces[len(pieces) - after :]][:length])
        padding = (pad,) * (length - len(read_pieces)) if pad >= 0 else ()
        ids = (*map(cuts.id_of, read_pieces), *padding)
        return Tokens(read_pieces, ids, dropped=len(pieces) - len(read_pieces))


@dataclass(frozen=True)
class Registered(Readable):
    """A checkpoint, with what is made of it once and kept.

    Attributes:
        checkpoint: as `read` gives it, with the name of its weights in its configuration.
    """

    checkpoint: Pretrained

    @property
    def config(self) -> TransformerConfig:
        """The model's configuration."""
        return self.checkpoint.config

    @cached_property
    def parameters(self) -> dict[str, Tensor]:
        """The values of all parameters, by our names."""
        return self.checkpoint.parameters()

    @cached_property
    def merges(self) -> tokenizers.Tokenizer:
        """Its tokenizer, as the library of that name has it."""
        return self.checkpoint.merges()


class LabBert(Readable):
    """Lab BERT, which comes along: tfm_core/language/lab_bert.py."""

    config = LAB_BERT

    @cached_property
    def merges(self) -> tokenizers.Tokenizer:
        """Its tokenizer, as the library of that name has it."""
        return tokenizers.Tokenizer.from_file(str(TOKENIZER))


_registered: dict[str, Registered] = {}


def register(place: str | Path, name: str = "") -> TransformerConfig:
    """Read a checkpoint, and let models find its weights by its name.

    Args:
        place: as for `read`.
        name: of its weights; by default the folder's or file's.

    Returns:
        Its configuration, which names its weights.

    Raises:
        ValueError: as `read`.
    """
    checkpoint = read(place)
    checkpoint = checkpoint.named(name or checkpoint.config.weights)
    _registered[checkpoint.config.weights] = Registered(checkpoint)
    return checkpoint.config


def registered(name: str) -> Registered:
    """What `register` has read under this name.

    Raises:
        ValueError: if it has read nothing of that name.
    """
    if name not in _registered:
        raise ValueError(f"expected the name of a checkpoint that `register` has read, got {name!r}")
    return _registered[name]


def registered_prompt(name: str, text: str, seq_len: int | None = None) -> Tokens:
    """A text as the model of this name reads it: `Registered.prompt`."""
    return registered(name).prompt(text, seq_len)


def source(name: str) -> dict[str, Tensor] | None:
    """Where models find the weights of these checkpoints: tfm_core/model/trained.py."""
    return _registered[name].parameters if name in _registered else None


def knows(name: str) -> bool:
    """Whether `register` has read a checkpoint of this name."""
    return name in _registered
