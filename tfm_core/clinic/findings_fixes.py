"""Code that mends a mask and hands it over: a line that mends, a line that calls, for each of three calls."""

from typing import Literal

Axes = Literal["pairs", "uneven pairs", "sentences", "keys", "batch"]


def shape_kind(shape: tuple[int, ...]) -> Axes | None:
    """What the axes of a mask are, or None where no call takes it.

    "pairs" is (query, key) and square, "uneven pairs" (query, key), "keys" (batch, 1, 1, key), "batch"
    (batch, 1, query, key). "sentences", (batch, key), cannot be told from the shape.
    """
    if len(shape) == 2:
        return "pairs" if shape[0] == shape[1] else "uneven pairs"
    if len(shape) == 4 and shape[1] == 1:
        return "keys" if shape[2] == 1 else "batch"
    return None


def fixes(mending: str, *, meaning: str, boolean: bool, axes: Axes | None) -> dict[str, str]:
    """Two lines for each call that can take the mask.

    Args:
        mending: Python that leaves the mended `mask`.
        meaning: of the mended mask: "attend", "ignore" or "added".
        boolean: whether the mended mask is boolean; otherwise it holds numbers.
        axes: of the mended mask; None gives no fixes.
    """
    if axes is None:
        return {}
    attends, hides = POLARITIES[meaning if meaning == "added" else f"{meaning}, {'boolean' if boolean else 'numbers'}"]
    lines = CALLS_ADDED[axes] if meaning == "added" else CALLS[axes]
    calls = {name: line.format(attends=attends, hides=hides) for name, line in lines.items()}
    return {name: f"{mending}\n{call.replace('=(~mask))', '=~mask)')}" for name, call in calls.items()}


# What makes True = may attend, and True = hidden, of a mask.
POLARITIES: dict[str, tuple[str, str]] = {
    "attend, boolean": ("mask", "(~mask)"),
    "attend, numbers": ("mask.bool()", "(mask == 0)"),
    "ignore, boolean": ("(~mask)", "mask"),
    "ignore, numbers": ("(mask == 0)", "mask.bool()"),
    "added": ("mask", "mask"),
}
_TORCH = "out = F.scaled_dot_product_attention(q, k, v, attn_mask={attends}%s)"
_MHA = "out, weights = attention(x, %s, %s, %s={hides}%s)"
_HF = "out = model(input_ids, attention_mask={attends}%s)"
CALLS: dict[Axes, dict[str, str]] = {
    "pairs": {
        "torch": _TORCH % "",
        "nn.MultiheadAttention": _MHA % ("x", "x", "attn_mask", ""),
        "Hugging Face": _HF % "[None, None]",
    },
    "uneven pairs": {"torch": _TORCH % "", "nn.MultiheadAttention": _MHA % ("y", "y", "attn_mask", "")},
    "sentences": {
        "torch": _TORCH % "[:, None, None, :]",
        "nn.MultiheadAttention": _MHA % ("x", "x", "key_padding_mask", ""),
        "Hugging Face": _HF % ".long()",
    },
    "keys": {
        "torch": _TORCH % "",
        "nn.MultiheadAttention": _MHA % ("x", "x", "key_padding_mask", "[:, 0, 0]"),
        "Hugging Face": _HF % "[:, 0, 0].long()",
    },
    "batch": {
        "torch": _TORCH % "",
        "nn.MultiheadAttention": _MHA % ("x", "x", "attn_mask", "[:, 0].repeat_interleave(attention.num_heads, 0)"),
        "Hugging Face": _HF % "",
    },
}
# A mask that is added keeps its numbers: Hugging Face takes these with four axes only.
CALLS_ADDED: dict[Axes, dict[str, str]] = {
    **CALLS,
    "sentences": {**CALLS["sentences"], "Hugging Face": _HF % "[:, None, None, :]"},
    "keys": {**CALLS["keys"], "Hugging Face": _HF % ""},
}
