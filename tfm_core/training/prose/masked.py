"""How Lab BERT is trained: by masked words and by next sentences, Devlin et al. 2018, section 3.1.

15% of the tokens are to be told from the others. Of these, 80% are [MASK] in what the model reads, 10% another token,
drawn from all, and 10% stay as they are: so that no token is sure to be right. Which, is drawn anew at each step, as in
Liu et al. 2019. Three of four steps read pairs: a stretch that ends with a sentence, and what follows it, or, half of
the time, sentences from elsewhere; of which kind it is, is told from the pooled output. Each fourth step reads single
stretches, as people type them.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import tokenizers
import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.nn.attention import SDPBackend, sdpa_kernel

from tfm_core.language.lab_bert import NEXT_SENTENCE, UNTRAINED
from tfm_core.language.wordpiece import CLS_ID, MASK_ID, PAD_ID, SEP_ID, SPECIAL
from tfm_core.model.config import TransformerConfig
from tfm_core.model.initialization import draw, generator
from tfm_core.model.transformer import Transformer
from tfm_core.positional.maths import sinusoidal_encoding
from tfm_core.training.prose.corpus import Document
from tfm_core.training.prose.course import Course, Rates, half_precision
from tfm_core.training.prose.guesses import word_vectors

MASKED = 0.15  # of all tokens but the special ones, when it is measured and at the end of training
HIDDEN, SWAPPED = 0.8, 0.1  # of the masked tokens: read as [MASK], and as any token; the others stay
SINGLE = 4  # one in this many steps reads stretches without a second part
LEAST = 6  # tokens of each part of a pair
ENDS = (".", "!", "?")
CLOSING = ('"', "”", "’", "'", ")")  # what may follow the end of a sentence and belongs to it
HELD_OUT_BATCHES = 6  # read for a point of the curve


@dataclass(frozen=True, kw_only=True)
class MaskedRecipe(Rates):
    """The numbers of a run, which its card names.

    Attributes:
        masked: the share of the tokens that is asked for until the rates fall; from then on it is `MASKED`. Who reads
            little prose learns more of it so: Wettig et al. 2022.
        tokens: of a step, in texts of one of the lengths.
        lengths: of the texts of a step, in tokens, one drawn at each step.
    """

    steps: int = 16_000
    dropout: float = 0.0
    masked: float = 0.4
    tokens: int = 2_048
    lengths: tuple[int, ...] = (32, 64, 128)


@dataclass(frozen=True)
class Sentences:
    """Documents in a row, with the places where a sentence begins.

    Attributes:
        ids: int64 (token), without special tokens.
        begins: int64, the place of each sentence that has at least `room` tokens of its document on either side.
        documents: int64, the number of the document of each of these sentences.
        room: max_len of the model.
    """

    ids: Tensor
    begins: Tensor
    documents: Tensor
    room: int


class Batch(NamedTuple):
    """What is read in a step.

    Attributes:
        tokens: int64 (batch, seq), with [CLS], [SEP] and [PAD].
        types: int64 (batch, seq): 1 in the second part of a pair.
        follows: bool (batch,), whether the second part follows the first; None of single stretches.
    """

    tokens: Tensor
    types: Tensor
    follows: Tensor | None


def in_a_row(documents: Sequence[Document], words: tokenizers.Tokenizer, room: int) -> Sentences:
    """Documents as token ids, with the places of their sentences.

    Raises:
        ValueError: if there are no two sentences with so much room around them.
    """
    names = [name for name, _ in sorted(words.get_vocab().items(), key=lambda entry: entry[1])]
    is_end = torch.tensor([name in ENDS for name in names])
    is_closing = torch.tensor([name in CLOSING for name in names])
    rows, begins, length = list[Tensor](), list[Tensor](), 0
    for encoded in words.encode_batch([document.text for document in documents], add_special_tokens=False):
        row = torch.tensor(encoded.ids)
        ended = is_end[row]
        ended[1:] |= ended[:-1] & is_closing[row[1:]]
        places = torch.where(ended[:-1] & ~is_closing[row[1:]] & ~is_end[row[1:]])[0] + 1
        begins.append(places[(places >= room) & (places <= len(row) - room)] + length)
        rows.append(row)
        length += len(row)
    all_begins = torch.cat(begins)
    if len(all_begins) < 2:
        raise ValueError(f"documents: expected sentences with {room} tokens on either side, got {len(all_begins)}")
    of_document = torch.arange(len(begins)).repeat_interleave(torch.tensor([len(each) for each in begins]))
    return Sentences(torch.cat(rows), all_begins, of_document, room)


def pairs(texts: Sentences, rows: int, length: int, random: torch.Generator, *, near: bool = False) -> Batch:
    """[CLS] first part [SEP] second part [SEP], each of `length` tokens.

    The first part ends with a sentence, and begins with one where one fits. The second begins with a sentence; where it
    does not follow the first, it is from anywhere, or, if `near`, from the same document.
    """
    chosen = torch.randint(len(texts.begins), (rows,), generator=random)
    ends_at = texts.begins[chosen]
    most = torch.randint(LEAST, length - 3 - LEAST + 1, (rows,), generator=random)
    first = texts.begins[torch.searchsorted(texts.begins, ends_at - most)]
    first = torch.where(ends_at - first >= LEAST, first, ends_at - most)
    follows = torch.rand(rows, generator=random) < 0.5
    elsewhere = _any_of(texts.begins, rows, random)
    if near:
        low = torch.searchsorted(texts.documents, texts.documents[chosen])
        high = torch.searchsorted(texts.documents, texts.documents[chosen], right=True)
        elsewhere = texts.begins[(low + torch.rand(rows, generator=random) * (high - low)).long()]
    second = torch.where(follows, ends_at, elsewhere)
    count, places = (ends_at - first)[:, None], torch.arange(length)
    is_second = places > count + 1
    at = torch.where(is_second, second[:, None] + places - count - 2, first[:, None] + places - 1)
    tokens = texts.ids[at.clamp(0, len(texts.ids) - 1)]
    tokens[:, 0] = CLS_ID
    tokens[(places == count + 1) | (places == length - 1)] = SEP_ID
    return Batch(tokens, is_second.long(), follows)


def singles(texts: Sentences, rows: int, length: int, random: torch.Generator) -> Batch:
    """[CLS] whole sentences [SEP] and padding, up to `length` tokens; a sentence that is longer is cut."""
    first = _any_of(texts.begins, rows, random)
    after = texts.begins[torch.searchsorted(texts.begins, first + length - 2, right=True) - 1]
    count = torch.where(after - first >= LEAST, after - first, length - 2)[:, None]
    places = torch.arange(length)
    tokens = texts.ids[first[:, None] + (places - 1).clamp(min=0)]
    tokens = torch.where(places > count + 1, PAD_ID, tokens)
    tokens[:, 0] = CLS_ID
    tokens[places == count + 1] = SEP_ID
    return Batch(tokens, torch.zeros_like(tokens), None)


def mask_words(
    tokens: Tensor, vocab_size: int, random: torch.Generator, share: float = MASKED
) -> tuple[Tensor, Tensor]:
    """What the model reads in place of these tokens, and where it is asked: int64 and bool (batch, seq)."""
    asked = (tokens >= len(SPECIAL)) & (torch.rand(tokens.shape, generator=random) < share)
    lot = torch.rand(tokens.shape, generator=random)
    other = torch.randint(len(SPECIAL), vocab_size, tokens.shape, generator=random)
    read = torch.where(asked & (lot < HIDDEN), MASK_ID, tokens)
    return torch.where(asked & (lot >= HIDDEN) & (lot < HIDDEN + SWAPPED), other, read), asked


class MaskedTraining(Course):
    """A run from its beginning, or from where a checkpoint has left it.

    Args:
        recipe: the numbers.
        training: what is learned from.
        held_out: what is never learned from.
        checkpoint: as `Course` has it.
        config: of the model.
    """

    def __init__(
        self,
        recipe: MaskedRecipe,
        training: Sentences,
        held_out: Sentences,
        checkpoint: Path | None = None,
        *,
        config: TransformerConfig = UNTRAINED,
    ) -> None:
        self.recipe, self.training, self.held_out = recipe, training, held_out
        head = nn.Linear(config.d_model, 2)
        with torch.no_grad():
            head.weight.copy_(draw(recipe.seed, NEXT_SENTENCE, (2, config.d_model), config.d_model**-0.5))
            head.bias.zero_()
        super().__init__(recipe, first_model(config, training.ids), heads={NEXT_SENTENCE: head}, checkpoint=checkpoint)

    def loss(self) -> Tensor:
        """The cross-entropy of the masked words, and of the next sentences."""
        random = generator(self.recipe.seed, f"texts {self.step}")
        length = self.recipe.lengths[int(torch.randint(len(self.recipe.lengths), (), generator=random))]
        make = singles if self.step % SINGLE == 0 else pairs
        batch = make(self.training, self.recipe.tokens // length, length, random)
        falls = self.step > self.recipe.steps * (1 - self.recipe.fall)
        share = MASKED if falls else self.recipe.masked
        read, asked = mask_words(batch.tokens, self.model.config.vocab_size, random, share)
        # On a processor, attention by plain matrix products takes two thirds of the time of torch's fused one for texts
        # so short.
        with half_precision(), sdpa_kernel(SDPBackend.MATH):
            states = self.model.states(read, token_types=batch.types)
            logits = self.model.logits(states[asked])
            said = None if batch.follows is None else self.heads[NEXT_SENTENCE](self.model.pooled(states))
        loss = F.cross_entropy(logits.float(), batch.tokens[asked])
        if said is not None and batch.follows is not None:
            loss = loss + F.cross_entropy(said.float(), (~batch.follows).long())
        return loss

    def measured(self) -> dict[str, float]:
        """Held-out: the loss and the accuracy of masked words, the accuracy of next sentences."""
        return judged(self.model, self.heads[NEXT_SENTENCE], self.held_out, batches=HELD_OUT_BATCHES)


@torch.no_grad()
def first_model(config: TransformerConfig, tokens: Tensor) -> Transformer:
    """The model before its first step, which begins with what counting tells, as little prose is read.

    Its embeddings are `word_vectors`, the bias of its logits is how frequent each token is. Its positions begin as
    sinusoids, as loud as the embeddings. As random vectors of their usual size they would drown the words, which BERT's
    form does not multiply by sqrt(d_model), and neighbours would have to be learned one by one.

    Args:
        config: of the model.
        tokens: what it is going to read.
    """
    model = Transformer(config)
    waves = sinusoidal_encoding(config.max_len, config.d_model)
    dict(model.named_parameters())["stack.positional.weight"].copy_(waves / config.d_model**0.5)
    counts = torch.bincount(tokens, minlength=config.vocab_size)
    known = counts > 0
    vectors = word_vectors(tokens, config.vocab_size, config.d_model, generator(config.seed, "word vectors"))
    model.stack.embedding.weight[known] = vectors[known]
    model.unembedding.bias.copy_((counts + 1).log() - (counts + 1).sum().log())
    return model


@torch.no_grad()
def judged(model: Transformer, head: nn.Module, texts: Sentences, *, batches: int) -> dict[str, float]:
    """Loss in nats and accuracy of masked words, accuracy of next sentences, on pairs that are the same each time.

    Args:
        model: in evaluation mode.
        head: that for next sentences.
        texts: what is read.
        batches: of 32 pairs of max_len tokens.
    """
    random, vocab_size = generator(0, "held out"), model.config.vocab_size
    loss, right, asked_for, told, count = 0.0, 0, 0, 0, 0
    for _ in range(batches):
        batch = pairs(texts, 32, model.config.max_len, random)
        read, asked = mask_words(batch.tokens, vocab_size, random)
        states = model.states(read, token_types=batch.types)
        logits, truth = model.logits(states[asked]), batch.tokens[asked]
        loss += F.cross_entropy(logits, truth, reduction="sum").item()
        right += int((logits.argmax(-1) == truth).sum())
        asked_for += len(truth)
        assert batch.follows is not None
        told += int(((head(model.pooled(states)).argmax(-1) == 0) == batch.follows).sum())
        count += len(batch.follows)
    return {"masked_loss": loss / asked_for, "masked_accuracy": right / asked_for, "next_accuracy": told / count}


def _any_of(places: Tensor, count: int, random: torch.Generator) -> Tensor:
    return places[torch.randint(len(places), (count,), generator=random)]
