"""The model card of Lab GPT, from the figures that `make` has measured."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tfm_core.training.prose.corpus import ORIGINS

TEMPLATE = Path(__file__).with_name("card.md")
POINTS = 13  # lines of the curve
FORMED = 0.3  # of its weight, on random tokens: then a head is an induction head here


def card(figures: Mapping[str, Any]) -> str:
    """The text of README.md."""
    recipe, heads, tokens = figures["recipe"], figures["heads"], figures["tokens"]
    many = recipe["steps"] * recipe["batch_size"] * figures["config"]["max_len"]
    return TEMPLATE.read_text("utf-8").format(
        **{
            name: figures[name] for name in ("recipe", "heads", "tokens", "config", "parameters", "minutes", "sampling")
        },
        bits=figures["bits_per_byte"],
        megabytes=figures["bytes"] / 1e6,
        many=many / 1e6,
        times=many / tokens["training"],
        torch=figures["torch"].partition("+")[0],
        half=figures["config"]["max_len"] // 2,
        repeats=_repeats(figures),
        previous=_largest(heads["previous"]),
        previous_head=_head(heads["previous"]),
        induction=_largest(heads["induction"]),
        induction_head=_head(heads["induction"]),
        texts="\n".join(
            f"| {ORIGINS[source][0]} | {size['documents']} | {size['bytes'] / 1e6:.2f} MB | {ORIGINS[source][1]} |"
            for source, size in figures["texts"].items()
        ),
        curve="\n".join(
            f"| {point['step']:,} | {point['training_loss']:.3f} | {point['bits_per_byte']:.3f} "
            f"| {point['previous']:.3f} | {point['induction']:.3f} |"
            for point in thinned(figures["curve"])
        ),
        samples="\n\n".join(
            f"**{_line(prompt) or '(nothing: the start token)'}**{_line(text, after=bool(prompt))}"
            for prompt, text in figures["samples"]
        ),
    )


def _repeats(figures: Mapping[str, Any]) -> str:
    """What was done for an induction head, and what came of it."""
    phases = figures["recipe"]["phases"]
    if not phases:
        return "All windows are plain prose."
    (first, *_), curve = phases[0], figures["curve"]
    before = max(point["induction"] for point in curve if point["step"] <= first)
    after = [point for point in curve if point["step"] > first]
    formed = next((point["step"] for point in after if point["induction"] > FORMED), None)
    shares = "; ".join(
        f"after step {step:,} {share:.0%} of the windows" + (f", {shuffled:.0%} of these shuffled" if shuffled else "")
        for step, share, shuffled in phases
    )
    when = f"It had formed by step {formed:,}." if formed else "None formed."
    return (
        f"Plain prose alone formed no induction head in the first {first:,} steps: the best score was {before:.3f}, "
        "and equal weights on all tokens give 0.014. So from then on some windows are a stretch of 8 to 127 tokens "
        "over and over, which it pays to copy: prose, or shuffled, that is tokens from anywhere in the texts. "
        f"In particular: {shares}. {when}"
    )


def thinned(curve: Sequence[Mapping[str, float]]) -> list[Mapping[str, float]]:
    """The points of a curve that the card shows, the last one among them."""
    every = -(-len(curve) // POINTS)
    return [point for number, point in enumerate(curve, 1) if number % every == 0 or number == len(curve)]


def _largest(scores: Sequence[Sequence[float]]) -> float:
    return max(max(layer) for layer in scores)


def _head(scores: Sequence[Sequence[float]]) -> str:
    largest = _largest(scores)
    layer, head = next((i, j) for i, row in enumerate(scores) for j, score in enumerate(row) if score == largest)
    return f"{head + 1} of layer {layer + 1}"


def _line(text: str, *, after: bool = True) -> str:
    """The text on one line, without Markdown's signs; a line break is shown as ↵."""
    plain = text.replace("\n", " ↵ ").replace("*", "\\*").replace("<", "\\<")
    return plain if after else f" {plain.lstrip()}"
