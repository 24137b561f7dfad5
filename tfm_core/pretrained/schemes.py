"""The ways to cut a text that this project has, by name: without files, of its cuts models, of installed ones."""

from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path

import tokenizers

from tfm_core.language import lab_bert, lab_gpt
from tfm_core.language.cutting import BY_BYTES, BY_CHARACTERS, BY_WORDS, Scheme, of_library
from tfm_core.model.tokens import Tokenizer
from tfm_core.pretrained.offered import registered_model
from tfm_core.pretrained.registered import Registered

ALWAYS = ("words", "characters", "bytes", "Lab GPT", "WordPiece")
INSTALLED: Mapping[str, str] = {"MiniLM": "minilm", "SmolLM2": "smollm2"}  # name -> that of the model's weights


@cache
def scheme_of(name: str) -> Scheme:
    """A way to cut texts.

    Args:
        name: one of `ALWAYS`, or of `INSTALLED` if that model is installed.

    Raises:
        ValueError: for another name, or a model that is not installed.

    Examples:
        >>> from tfm_core.pretrained.schemes import scheme_of
        >>> scheme_of("WordPiece").cut("Whales!").pieces
        ('whales', '!')
    """
    if name in INSTALLED:
        return of_model(registered_model(INSTALLED[name]), name)
    if name not in _MAKERS:
        raise ValueError(f"scheme: expected one of {', '.join([*_MAKERS, *INSTALLED])}; got {name!r}")
    return _MAKERS[name]()


def of_model(model: Registered, name: str) -> Scheme:
    """How a checkpoint's cuts tokenizer cuts.

    Args:
        model: the checkpoint.
        name: what the scheme is called.
    """
    cuts = model.tokenizer
    return of_library(model.merges, name=name, pieces=cuts.pieces, join=cuts.join, pad_id=model.config.pad_id)


def _of_file(name: str, file: Path, cuts: Tokenizer) -> Scheme:
    merges = tokenizers.Tokenizer.from_file(str(file))
    return of_library(merges, name=name, pieces=cuts.pieces, join=cuts.join, pad_id=0)


_MAKERS: Mapping[str, Callable[[], Scheme]] = {
    "words": lambda: BY_WORDS,
    "characters": lambda: BY_CHARACTERS,
    "bytes": lambda: BY_BYTES,
    "Lab GPT": lambda: _of_file("Lab GPT", lab_gpt.TOKENIZER, lab_gpt.lab_tokenizer()),
    "WordPiece": lambda: _of_file("WordPiece", lab_bert.TOKENIZER, lab_bert.lab_bert_tokenizer()),
}
