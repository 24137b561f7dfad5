"""The model card of Lab BERT, from the figures that `make_masked` has measured."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tfm_core.training.prose.card import thinned
from tfm_core.training.prose.masked import HIDDEN, MASKED, SWAPPED

TEMPLATE = Path(__file__).with_name("masked_card.md")
CHANCE = 0.5
CLEARLY = 0.05  # above chance


def masked_card(figures: Mapping[str, Any]) -> str:
    """The text of README.md."""
    recipe, masked = figures["recipe"], figures["masked"]
    many = recipe["steps"] * recipe["tokens"]
    named = ("recipe", "config", "tokens", "parameters", "minutes", "next")
    return TEMPLATE.read_text("utf-8").format(
        **{name: figures[name] for name in named},
        megabytes=figures["bytes"] / 1e6,
        lengths=", ".join(map(str, recipe["lengths"][:-1])) + f" or {recipe['lengths'][-1]}",
        many=many / 1e6,
        times=many / figures["tokens"]["training"],
        masked=MASKED,
        hidden=HIDDEN,
        swapped=SWAPPED,
        torch=figures["torch"].partition("+")[0],
        right=masked["right"],
        asked=masked["asked"],
        frequent=masked["most frequent"],
        five=masked["among five"],
        loss=masked["loss"],
        pooler=_of_pooler(figures),
        curve="\n".join(
            f"| {point['step']:,} | {point['seconds'] / 60:.1f} | {point['training_loss']:.3f} "
            f"| {point['masked_loss']:.3f} | {point['masked_accuracy']:.1%} | {point['next_accuracy']:.1%} |"
            for point in thinned(figures["curve"])
        ),
        samples="\n".join(
            f"- {text}: " + ", ".join(f"{word} {share:.0%}" for word, share in words)
            for text, words in figures["samples"]
        ),
    )


def _of_pooler(figures: Mapping[str, Any]) -> str:
    """What the pooler has learned, in a sentence that follows from the numbers."""
    anywhere, near = figures["next"]["anywhere"], figures["next"]["same document"]
    if anywhere < CHANCE + CLEARLY:
        return "So the pooler has learned nothing of next sentences: it is hardly better than a coin."
    if near < CHANCE + CLEARLY:
        return (
            "So the pooler has learned which texts are of one kind, more than which sentence follows which: within one "
            "document it is hardly better than a coin."
        )
    return (
        "So the pooler has learned which texts are of one kind, and within one document, less surely, what follows "
        "what."
    )
