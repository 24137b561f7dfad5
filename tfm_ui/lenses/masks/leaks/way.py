"""The way of information from a token to an output, in words. Pure."""

from collections.abc import Callable, Sequence

from tfm_core.study.leaks import Hop
from tfm_ui.text import formats


def way_in_words(
    way: Sequence[Hop], allowed: Sequence[Hop], places: Sequence[int], start: str, name: Callable[[Hop, int], str]
) -> str:
    """The moves of a way, and which of them are not allowed.

    Args:
        way: what the mask lets information do.
        allowed: what it is allowed to do.
        places: where it stands at first and after each hop, as of `route`.
        start: what stands first, in words.
        name: of what a hop writes to.
    """
    said, wrong = [start], []
    for hop, may, came, place in zip(way, allowed, places, places[1:], strict=False):
        if came != place or hop.where == "cross":  # there, the places are another text's
            said.append(f"{name(hop, place)} in {_layer(hop)}")
        if not may.sees[place, came]:
            wrong.append(_layer(hop))
    moves = " → ".join(said) if len(said) > 1 else f"{start} stays where it is, in the residual stream"
    steps = f" What is allowed leaves out the step{'s' * (len(wrong) > 1)} in {formats.listed(wrong)}." if wrong else ""
    return f"Its path: {moves}.{steps}"


def _layer(hop: Hop) -> str:
    layer = f"layer {hop.layer + 1}"
    return {"encoder": f"encoder {layer}", "cross": f"{layer} (cross-attention)", "self": layer}[hop.where]
