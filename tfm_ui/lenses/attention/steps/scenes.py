"""Which matrices stand beside each other at each step, and what each step makes, in words."""

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
    "masked": "The score of a key that the query may not see is set to −∞.",
    "weights": "The softmax of each row, which sums to 1.",
    "weighted values": "Each value times its weight, for one query.",
    "head output": "For each query, the sum of all values times their weights.",
    "heads": "The outputs of all heads side by side.",
    "output": "What the attention adds to the residual stream.",
}


def what(step: str, head: HeadSteps) -> str:
    """What a step computes in this head, in words, with its switches and temperature as they are set."""
    if step == "masked" and not head.masked:
        return "The mask is off: every query sees every key, padding included."
    if step != "scaled":
        return WHAT[step]
    said = [WHAT[step] if head.scaled else "The scores as they are: the division by √dₖ is off."]
    said += [f"The bias of {head.positional} is added."] if head.bias is not None else []
    said += [f"The result is divided by the temperature, {head.temperature:g}."] if head.temperature != 1 else []
    return " ".join(said)
