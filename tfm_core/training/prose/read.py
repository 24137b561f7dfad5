"""The corpus as token ids."""

from collections.abc import Sequence

import tokenizers
import torch
from torch import Tensor

from tfm_core.language.bpe import START_ID, train
from tfm_core.language.lab_gpt import UNTRAINED
from tfm_core.training.prose.corpus import Document
from tfm_core.training.prose.recipe import Texts


def make_tokenizer(corpus: Sequence[Document]) -> tokenizers.Tokenizer:
    """The tokenizer of these documents; it has not met those that are held out."""
    return train((document.text for document in corpus if not document.held_out), UNTRAINED.vocab_size)


def read(corpus: Sequence[Document], tokenizer: tokenizers.Tokenizer) -> Texts:
    """All documents in a row, each after the start token."""
    held_out = [document.text for document in corpus if document.held_out]
    training = [document.text for document in corpus if not document.held_out]
    return Texts(
        training=_in_a_row(training, tokenizer),
        held_out=_in_a_row(held_out, tokenizer),
        held_out_bytes=sum(len(text.encode()) for text in held_out),
    )


def _in_a_row(texts: Sequence[str], tokenizer: tokenizers.Tokenizer) -> Tensor:
    ids: list[int] = []
    for encoded in tokenizer.encode_batch(list(texts)):
        ids += [START_ID, *encoded.ids]
    return torch.tensor(ids)
