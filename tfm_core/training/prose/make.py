"""Lab GPT from the beginning: text, tokenizer, training, measurements, model card."""

import json
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

import tokenizers
import torch
from safetensors.torch import save

from tfm_core.generation.decoding import generate
from tfm_core.generation.sampling import Sampling
from tfm_core.language import lab_gpt
from tfm_core.language.bpe import SPECIAL, START_ID, as_tokenizer
from tfm_core.language.head_scores import head_scores
from tfm_core.model.transformer import Transformer
from tfm_core.training.prose.card import card
from tfm_core.training.prose.corpus import corpus_in, sizes
from tfm_core.training.prose.ngram import NGrams, xz_bits_per_byte
from tfm_core.training.prose.read import make_tokenizer, read
from tfm_core.training.prose.recipe import Recipe, Training, bits_per_byte

PROMPTS = ("The captain looked at the sea, and", "She was", "The government of the United States", "")
SAMPLING = Sampling(temperature=0.8, top_k=50, seed=1)
SAMPLED = 60  # tokens of a sample


def make(work: Path, out: Path, recipe: Recipe, tell: Callable[[str, float], None]) -> dict[str, Any]:
    """Train, and write weights, tokenizer, figures and card; return what the card says.

    Args:
        work: keeps the texts and the checkpoint: a run that was stopped goes on from there.
        out: gets the files that the app ships with.
        recipe: how it is trained.
        tell: gets a line and the share that is done.

    Raises:
        ValueError: if the texts cannot be had.
    """
    corpus = corpus_in(work / "texts")
    out.mkdir(parents=True, exist_ok=True)
    merges = make_tokenizer(corpus)
    ids = read(corpus, merges)
    training = Training(recipe, ids, work / "checkpoint.pt")
    for point in training.points():
        line = f"step {point['step']:.0f}, {point['bits_per_byte']:.3f} bits per byte held out"
        tell(line, point["step"] / recipe.steps)
    weights = {name: value.detach().half().contiguous() for name, value in training.model.named_parameters()}
    (out / lab_gpt.WEIGHTS.name).write_bytes(save(weights))
    merges.save(str(out / lab_gpt.TOKENIZER.name))
    model = Transformer(lab_gpt.UNTRAINED).eval()
    model.load_state_dict({name: value.float() for name, value in weights.items()}, strict=False)  # tied: two names
    prose = {part: "\n\n".join(each.text for each in corpus if each.held_out == part) for part in (False, True)}
    figures = {
        "recipe": asdict(recipe),
        "config": {name: value for name, value in asdict(lab_gpt.UNTRAINED).items() if name != "weights"},
        "parameters": sum(value.numel() for value in weights.values()),
        "bytes": (out / lab_gpt.WEIGHTS.name).stat().st_size,
        "minutes": training.seconds / 60,
        "torch": torch.__version__,
        "texts": sizes(corpus),
        "tokens": {"training": len(ids.training), "held out": len(ids.held_out)},
        "bits_per_byte": {
            "Lab GPT": bits_per_byte(model, ids),
            "5-gram": NGrams(ids.training, lab_gpt.UNTRAINED.vocab_size).bits_per_byte(
                ids.held_out, ids.held_out_bytes
            ),
            "xz": xz_bits_per_byte(prose[False].encode(), prose[True].encode()),
        },
        "curve": training.curve,
        **measured(model, merges),
    }
    (out / "figures.json").write_text(json.dumps(figures, indent=1) + "\n", "utf-8")
    (out / "README.md").write_text(card(figures), "utf-8")
    return figures


def measured(model: Transformer, merges: tokenizers.Tokenizer) -> dict[str, Any]:
    """What the card says that needs no corpus: what the heads do on repeated random tokens, and samples."""
    scores, tokenizer = head_scores(model, first_id=len(SPECIAL)), as_tokenizer(merges)
    samples = []
    for prompt in PROMPTS:
        ids = list(map(tokenizer.id_of, tokenizer.split(prompt))) or [START_ID]
        written = [step.token for step in generate(model, ids, SAMPLING, steps=SAMPLED)]
        samples.append([prompt, tokenizer.join([tokenizer.pieces[token] for token in written])])
    return {
        "heads": {
            "previous": scores.previous.tolist(),
            "induction": scores.induction.tolist(),
            "first_loss": scores.first_loss,
            "second_loss": scores.second_loss,
        },
        "sampling": asdict(SAMPLING),
        "samples": samples,
    }
