"""Lab BERT from the beginning: text, tokenizer, training, measurements, model card."""

import json
from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import tokenizers
import torch
import torch.nn.functional as F
from safetensors.torch import save
from torch import Tensor, nn

from tfm_core.language import lab_bert, wordpiece
from tfm_core.language.wordpiece import MASK, MASK_ID
from tfm_core.model.initialization import generator
from tfm_core.model.transformer import Transformer
from tfm_core.training.prose.corpus import Document, corpus_in, sizes
from tfm_core.training.prose.guesses import Guesses
from tfm_core.training.prose.masked import MaskedRecipe, MaskedTraining, Sentences, in_a_row, mask_words, pairs
from tfm_core.training.prose.masked_card import masked_card

ROWS, BATCHES, FIRST = 32, 60, 5
GAPS = (
    f"The captain looked at the {MASK}.",
    f"The government of the {MASK} States.",
    f"Mr. Darcy was a very {MASK} man.",
    f"She could not {MASK} it.",
    f"{MASK} said nothing.",
)


def make_masked(work: Path, out: Path, recipe: MaskedRecipe, tell: Callable[[str, float], None]) -> dict[str, Any]:
    """Train, and write weights, tokenizer, figures and card; return what the card says.

    Args:
        work: keeps the texts and the checkpoint: a run that was stopped goes on from there.
        out: gets the files that the app ships with.
        recipe: how it is trained.
        tell: gets a line and the share that is done.

    Raises:
        ValueError: if the texts cannot be had.
    """
    corpus, config = corpus_in(work / "texts"), lab_bert.UNTRAINED
    out.mkdir(parents=True, exist_ok=True)
    words = _tokenizer(work / lab_bert.TOKENIZER.name, corpus, config.vocab_size)
    words.save(str(out / lab_bert.TOKENIZER.name))
    training = in_a_row([document for document in corpus if not document.held_out], words, config.max_len)
    held_out = in_a_row([document for document in corpus if document.held_out], words, config.max_len)
    run = MaskedTraining(recipe, training, held_out, work / "checkpoint.pt")
    for point in run.points():
        line = f"step {point['step']:.0f}, {point['masked_accuracy']:.1%} of held-out masked words right"
        tell(line, point["step"] / recipe.steps)
    weights = {name: value.detach().half().contiguous() for name, value in run.model.named_parameters()}
    head = run.heads[lab_bert.NEXT_SENTENCE]
    added = {f"{lab_bert.NEXT_SENTENCE}.{name}": value.detach().half() for name, value in head.named_parameters()}
    (out / lab_bert.WEIGHTS.name).write_bytes(save(weights | added))
    model = Transformer(config).eval()
    model.load_state_dict({name: value.float() for name, value in weights.items()}, strict=False)  # tied: two names
    figures = {
        "recipe": asdict(recipe),
        "config": {name: value for name, value in asdict(config).items() if name != "weights"},
        "parameters": sum(value.numel() for value in weights.values()),
        "bytes": (out / lab_bert.WEIGHTS.name).stat().st_size,
        "minutes": run.seconds / 60,
        "torch": torch.__version__,
        "texts": sizes(corpus),
        "tokens": {"training": len(training.ids), "held out": len(held_out.ids)},
        "masked": of_masked_words(model, training, held_out, words),
        "next": {
            "anywhere": of_next_sentences(model, head, held_out, near=False),
            "same document": of_next_sentences(model, head, held_out, near=True),
        },
        "curve": run.curve,
        "samples": gaps_filled(model, words),
    }
    (out / lab_bert.FIGURES.name).write_text(json.dumps(figures, indent=1) + "\n", "utf-8")
    (out / "README.md").write_text(masked_card(figures), "utf-8")
    return figures


def _tokenizer(file: Path, corpus: Sequence[Document], vocab_size: int) -> tokenizers.Tokenizer:
    """The tokenizer of these documents, kept in a file: learned anew, pieces of one frequency would change places."""
    if not file.exists():
        wordpiece.train((document.text for document in corpus if not document.held_out), vocab_size).save(str(file))
    return tokenizers.Tokenizer.from_file(str(file))


@torch.no_grad()
def of_masked_words(
    model: Transformer, training: Sentences, held_out: Sentences, words: tokenizers.Tokenizer
) -> dict[str, Any]:
    """How many of the same held-out masked words the model tells right, and how many counting does."""
    config, random = model.config, generator(0, "held-out masked words")
    guesses = Guesses(training.ids, config.vocab_size)
    frequent = guesses.most_frequent()
    names = ("Lab BERT", "both neighbours", "left neighbour", "most frequent")
    right, asked_for, loss, five = dict.fromkeys(names, 0), 0, 0.0, 0
    for _ in range(BATCHES):
        batch = pairs(held_out, ROWS, config.max_len, random)
        read, asked = mask_words(batch.tokens, config.vocab_size, random)
        truth = batch.tokens[asked]
        logits = model.logits(model.states(read, token_types=batch.types)[asked])
        left, right_hand = batch.tokens.roll(1, 1)[asked], batch.tokens.roll(-1, 1)[asked]
        said: dict[str, Tensor] = {
            "Lab BERT": logits.argmax(-1),
            "both neighbours": guesses.of_both(left, right_hand),
            "left neighbour": guesses.of_left(left),
            "most frequent": torch.full_like(truth, frequent),
        }
        for name, guess in said.items():
            right[name] += int((guess == truth).sum())
        loss += F.cross_entropy(logits, truth, reduction="sum").item()
        five += int((logits.topk(FIRST).indices == truth[:, None]).any(-1).sum())
        asked_for += len(truth)
    return {
        "right": {name: count / asked_for for name, count in right.items()},
        "most frequent": words.id_to_token(frequent),
        "among five": five / asked_for,
        "loss": loss / asked_for,
        "asked": asked_for,
    }


@torch.no_grad()
def of_next_sentences(model: Transformer, head: nn.Module, held_out: Sentences, *, near: bool) -> float:
    """The share of held-out pairs of which the head tells whether the second part follows the first.

    Args:
        model: in evaluation mode.
        head: that for next sentences.
        held_out: what is read.
        near: whether a part that does not follow is from the same document.
    """
    random, right = generator(0, f"held-out pairs, near {near}"), 0
    for _ in range(BATCHES):
        batch = pairs(held_out, ROWS, model.config.max_len, random, near=near)
        assert batch.follows is not None
        said = head(model.pooled(model.states(batch.tokens, token_types=batch.types)))
        right += int(((said.argmax(-1) == 0) == batch.follows).sum())
    return right / (ROWS * BATCHES)


@torch.no_grad()
def gaps_filled(model: Transformer, words: tokenizers.Tokenizer) -> list[list[Any]]:
    """Each of `GAPS` with the likeliest words in its gap, and their probabilities."""
    filled = []
    for text in GAPS:
        ids = torch.tensor([words.encode(text).ids])
        shares = model(ids)[ids == MASK_ID][0].softmax(-1)
        best = shares.topk(FIRST)
        listed = zip(best.indices.tolist(), best.values.tolist(), strict=True)
        filled.append([text, [[words.id_to_token(number), share] for number, share in listed]])
    return filled
