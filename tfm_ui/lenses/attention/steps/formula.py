"""Attention as one formula and as the lines of this program that computed it, for each step."""

import ast
import inspect
import textwrap
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

from tfm_core import (
    MultiHeadAttention,
    TransformerLayer,
    apply_rotary,
    attention_scores,
    attention_weights,
    mask_scores,
)
from tfm_core.model.scaled_dot_product import _scaled
from tfm_core.model.transformer import Stack
from tfm_ui.lenses.attention.steps.matrices import HeadSteps
from tfm_ui.text import colours
from tfm_ui.text.colours import Mode

Line = tuple[Callable[..., Any], str]  # a function, and a piece of one of its lines

# step -> the line that computes it, in every model.
LINES: dict[str, Line] = {
    "input": (TransformerLayer._add, "norm(x)))"),
    "query": (MultiHeadAttention.forward, "self.query_projection("),
    "key": (MultiHeadAttention.forward, "self.key_projection("),
    "value": (MultiHeadAttention.forward, "self.value_projection("),
    "scores": (vars(HeadSteps)["scores"].func, "scale=1.0"),  # not yet scaled
    "scaled": (_scaled, "math.sqrt"),
    "masked": (mask_scores, "masked_fill"),
    "weights": (attention_weights, ".softmax("),
    "weighted values": (HeadSteps.weighted_values, "* self.value"),  # in the model one product with the sum
    "head output": (MultiHeadAttention._attend, "@ v"),
    "heads": (MultiHeadAttention.forward, ".flatten(2)"),
    "output": (MultiHeadAttention.forward, "self.output_projection(merged)"),
}


def lines_of(head: HeadSteps, step: str) -> list[Line]:
    """The lines that computed this step of this head, whatever its model is made of."""
    recorded, lines = head.inside.recorded, [LINES[step]]
    if step == "input" and head.inside.norm is None:  # post-norm: the sub-layer before left it, or the embedding
        added: list[Line] = [(Stack.place, 'self.tap("position"')] if "position" in recorded else []
        first: list[Line] = [(Stack.embed, "self.embedding("), *added]
        lines = first if "embedding" in recorded else [(TransformerLayer._add, "norm(x + ")]
    if f"rotated_{step}" in recorded:
        lines.append((MultiHeadAttention._place, "positional.rotate("))
        lines.append((apply_rotary, "first * cos"))
    if step == "scaled" and head.bias is not None:
        lines.append((attention_scores, "scores + bias"))
    if step == "scaled" and head.temperature != 1:
        lines.append((HeadSteps._scaled, "/ self.temperature"))
    return lines


VALUE = ("value", "weighted values", "head output")  # the steps in which V takes part


def latex(head: HeadSteps, step: str, mode: Mode) -> list[str]:
    """The formulas, Vaswani et al. 2017, equation 1 and section 3.2.2, with the parts of one step lit."""

    def part(text: str, *steps: str, role: str = "") -> str:
        if step not in steps:
            return rf"\textcolor{{{colours.MUTED[mode]}}}{{{text}}}"
        return rf"\textcolor{{{colours.ROLE[mode][role] if role else colours.INK[mode]}}}{{\boldsymbol{{{text}}}}}"

    score = part("Q", "query", "scores", role="query") + part(r"K^{\top}", "key", "scores", role="key")
    root = part(r"\sqrt{d_k}", "scaled")
    inner = rf"\dfrac{{{score}}}{{{root}}}" if head.scaled else score
    if head.bias is not None:
        inner += part("+B", "scaled")
    if head.temperature != 1:
        inner = r"\left(" + inner + r"\right)" + part(f"/{head.temperature:g}", "scaled")
    weights = part(r"\mathrm{softmax}", "weights") + r"\left(" + inner + part("+M", "masked") + r"\right)"
    gathered = part("H", "head output", "heads", role="result") + "=" + weights
    gathered += r"\," + part("V", *VALUE, role="value")
    output = part("Y", "output", role="result") + "=" + part(r"[H_1 \dots H_h]", "heads", "output", role="result")
    output += part(r"\,W_O", "output", role="result")
    read = [
        part(letter, name, role=name) + "=" + part("X", "input", name) + part(rf"\,W_{letter}", name, role=name)
        for letter, name in (("Q", "query"), ("K", "key"), ("V", "value"))
    ]
    return [*read, gathered, output]


def code(lines: Sequence[Line]) -> str:
    """These lines, cut out of the source as it runs."""
    return "\n".join(_statement(function, piece) for function, piece in lines)


@cache  # it is asked for with every picture
def _statement(function: Callable[..., Any], piece: str) -> str:
    """The shortest statement of a function that holds this piece."""
    source = textwrap.dedent(inspect.getsource(function))
    statements = [
        text
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.stmt) and (text := ast.get_source_segment(source, node)) and piece in text
    ]
    return textwrap.dedent(min(statements, key=len))
