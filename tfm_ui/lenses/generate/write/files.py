"""The view's files: the text with its settings, and all distributions."""

import csv
import io
import json
from dataclasses import asdict
from functools import partial

from tfm_ui.lenses.generate.write.numbers import Written
from tfm_ui.pictures.panel import Files


def files_of(shown: Written) -> Files:
    """Kind -> what it holds, its content, its MIME type."""
    return {
        "TXT": ("The text, its prompt and its settings", partial(text_of, shown), "text/plain"),
        "distributions.csv": (
            "The probabilities of all tokens at each step, after the cuts",
            partial(table_of, shown, "final"),
            "text/csv",
        ),
        "logits.csv": ("The logits of all tokens at each step", partial(table_of, shown, "logits"), "text/csv"),
    }


def text_of(shown: Written) -> str:
    """Prompt and text, and below them all that brings them back."""
    model, settings = shown.model, shown.settings
    about = {
        "config": asdict(model.config),
        "tokenizer": model.tokenizer if model.is_random else model.weights,
        "prompt_ids": list(shown.course.prompt),
        "sampling": asdict(settings.sampling),
        "steps": settings.steps,
        "when_full": settings.full,
        "forced": {step + 1: token for step, token in settings.forced},
        "ids": [step.token for step in shown.course.steps],
    }
    prompt = model.tokens_by.join([model.tokens_by.pieces[token] for token in shown.course.prompt])
    return f"{prompt}{shown.text}\n\n---\n{json.dumps(about, indent=1, ensure_ascii=False)}\n"


def table_of(shown: Written, which: str) -> str:
    """A row per step, a column per token of the vocabulary.

    Args:
        shown: the course.
        which: "final" for the probabilities with which tokens are drawn, or "logits".
    """
    written = io.StringIO()
    table = csv.writer(written)
    table.writerow(
        ["step", "written id", *(f"{number} {piece}" for number, piece in enumerate(shown.model.tokens_by.pieces))]
    )
    for step, draw in zip(shown.course.steps, shown.draws, strict=True):
        values = draw.final if which == "final" else draw.logits
        table.writerow([step.number + 1, step.token, *(f"{value:.6g}" for value in values.tolist())])
    return written.getvalue()
