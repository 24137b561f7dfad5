"""What stands beside each other at each step, and what a step makes."""

from tfm_ui.lenses.attention.steps.head_steps import HeadSteps

# What stands beside each other at a step: matrices by name, and what is done with them in between.
SCENES: dict[str, tuple[str, ...]] = {
    "input": ("input",),
    "query": ("input", "×", "query weights", "=", "query"),
    "key": ("memory", "×", "key weights", "=", "key"),
    "value": ("memory", "×", "value weights", "=", "value"),
    "scores": ("query", "×", "key transposed", "=", "scores"),
    "scaled": ("scores", "scale", "bias", "=", "scaled"),
    "masked": ("scaled", "+", "mask", "=", "masked"),
    "weights": ("masked", "softmax", "weights"),
    "weighted values": ("weights", "row ×", "value", "=", "weighted values"),
    "head output": ("weights", "×", "value", "=", "head output"),
    "heads": ("head output", "beside the others", "heads"),
    "output": ("heads", "×", "output weights", "=", "output"),
}
WHAT = {
    "input": "What the attention reads: a vector per token.",
    "query": "What each token asks for.",
    "key": "What each token answers to.",
    "value": "What each token has to give.",
    "scores": "How well each query matches each key.",
    "scaled": "The scores divided by √dₖ.",
    "masked": "What may not be seen is set to −∞.",
    "weights": "Each row’s softmax: it sums to 1.",
    "weighted values": "Each value times its weight, for one query.",
    "head output": "Their sum, for each query.",
    "heads": "All heads side by side.",
    "output": "What goes back into the residual stream.",
}


def what(step: str, head: HeadSteps) -> str:
    """What a step makes of this head, as its switches stand."""
    if step == "masked" and not head.masked:
        return "The mask is off: nothing is hidden, padding included."
    if step != "scaled":
        return WHAT[step]
    said = [WHAT[step] if head.scaled else "The scores as they are: the division by √dₖ is off."]
    said += [f"The bias of {head.positional} is added."] if head.bias is not None else []
    said += [f"Divided by the temperature, {head.temperature:g}."] if head.temperature != 1 else []
    return " ".join(said)
