"""The text box of configurations: a line for each."""

from collections.abc import Mapping
from typing import Any

from tfm_core.profiling import Size
from tfm_ui.state.fields import whole_number

LARGEST = 65536  # of each number in the text box


def sizes_of(text: str, batch: int, kind: Mapping[str, Any] | None = None) -> tuple[list[Size], list[str]]:
    """The configurations that a text describes, and what is wrong with the lines that describe none.

    A line may hold a fifth number, the hidden units of the feed-forward network.

    Args:
        text: a line for each.
        batch: of all.
        kind: more fields of `Size`, of all.
    """
    sizes, problems = list[Size](), []
    for number, line in enumerate(text.splitlines(), 1):
        if line.strip():
            try:
                sizes.append(_size(line, batch, kind or {}))
            except ValueError as problem:
                problems.append(f"Line {number}, “{line.strip()[:40]}”: {problem}.")
    return sizes, problems


def _size(line: str, batch: int, kind: Mapping[str, Any]) -> Size:
    words = line.replace(",", " ").split()
    numbers = [number for number in map(whole_number, words) if number is not None]
    if not 4 <= len(numbers) == len(words) <= 5:
        raise ValueError("expected 4 whole numbers, d_model, heads, layers and length; a fifth is d_ff")
    if max(numbers) > LARGEST:
        raise ValueError(f"expected numbers up to {LARGEST}")
    d_model, heads, layers, length, d_ff = [*numbers, 0][:5]
    return Size(d_model=d_model, num_heads=heads, num_layers=layers, seq_len=length, batch=batch, d_ff=d_ff, **kind)
