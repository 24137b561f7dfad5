"""The drawing as rows of boxes, from the tokens at the bottom to the end of each stack at the top."""

from dataclasses import asdict, dataclass, field
from itertools import groupby
from typing import Any

from tfm_core import POSITIONAL
from tfm_core.study.blocks import Block, Term
from tfm_ui.lenses.model.diagram.shapes import Chosen, Counted
from tfm_ui.lenses.model.state import PREFIX, ModelLensState
from tfm_ui.text import formats

COLUMNS = ("flows out", "parameters", "multiply-adds", "numbers written")
INSIDE = {"rotate": "turns Q, K", "bias_at": "adds a bias"}  # how a scheme enters the attention
NORM = "Layer norm"
TITLES = {
    "embedding": "Embedding × √d",
    "cross_attention": "Cross-attention",
    "feed_forward": "Feed-forward",
    "sum": "+ residual",
    "logits": "Logits",
    "head": "Mean, classes",
}


@dataclass(frozen=True)
class Row:
    """One row of the drawing.

    Attributes:
        kind: as in `Block`; or "tokens", "fold" (the line that opens or folds the layers), "layer" (a folded layer).
        text: in the box.
        mark: what enters the box from outside, such as a positional scheme.
        cells: of each column the long and the short text.
        sets: parameter -> value, of a click.
        picked: whether it is the block that is looked at.
        inside: whether the row belongs to the layers.
        begins: of a sum, the number of the row before which the residual connection leaves the stream.
        looks: whether the encoder's output flows in.
        name: of the block; "" if it is none.
    """

    kind: str
    text: str
    mark: str = ""
    cells: list[tuple[str, str]] = field(default_factory=list)
    sets: dict[str, Any] = field(default_factory=dict)
    picked: bool = False
    inside: bool = False
    begins: int = -1
    looks: bool = False
    name: str = ""


def kind_of_block(name: str) -> str:
    """What the link calls a block: its name without the stack and the layer."""
    return name.removeprefix("encoder.").removeprefix("decoder.").split(".")[-1]


def picked_layer(shown: Chosen, state: ModelLensState) -> int:
    """The layer whose blocks are drawn, from 0."""
    return min(state.layer, shown.config.num_layers) - 1


def picked_stack(shown: Chosen, state: ModelLensState) -> str:
    """The stack that is looked at."""
    return state.stack if state.stack in shown.lengths else next(iter(shown.lengths))


def picked(shown: Chosen, state: ModelLensState, counts: dict[str, list[Counted]]) -> Counted:
    """The block that is looked at; where the model has no such block, the self-attention."""
    blocks = counts[picked_stack(shown, state)]
    layer = picked_layer(shown, state)
    names = {kind_of_block(each.block.name): each for each in blocks if each.block.layer in (None, layer)}
    return names.get(state.block, names["self_attention"])


def written(terms: tuple[Term, ...]) -> tuple[str, str]:
    """A cost in symbols with its value, and its value alone."""
    value = formats.count(sum(term.value for term in terms))
    return (f"{' + '.join(term.symbols for term in terms)} = {value}", value) if terms else ("", "")


def costs_in_words(item: Counted) -> str:
    """What a block costs, in a sentence."""
    time, space = written(item.cost.time)[0], written(item.cost.space)[0]
    return f"It {f'needs {time} multiply-adds' if time else 'multiplies no matrices'} and writes {space} numbers."


def shape_out(block: Block, shown: Chosen, n: int) -> tuple[str, str]:
    """The shape of what flows out of a block, in symbols and numbers, and in numbers alone."""
    if block.kind == "head":
        return f"(C) = ({shown.classes})", str(shown.classes)
    symbol, width = ("V", shown.config.vocab_size) if block.kind == "logits" else ("d", shown.config.d_model)
    return (
        f"(n, {symbol}) = ({formats.count(n)}, {formats.count(width)})",
        f"{formats.count(n)} × {formats.count(width)}",
    )


def rows(
    shown: Chosen, state: ModelLensState, stack: str, counts: dict[str, list[Counted]], *, masked: bool
) -> list[Row]:
    """The rows of one stack. One layer is drawn in full; the others are folded, or a line each."""
    n, at, blocks = shown.lengths[stack], picked_layer(shown, state), counts[stack]
    name = picked(shown, state, counts).block.name
    drawn = [Row("tokens", formats.plural(n, "token"), cells=[(f"(n) = ({formats.count(n)})", formats.count(n))])]
    for layer, items in groupby(blocks, key=lambda item: item.block.layer):
        inside = list(items)
        if layer in (None, at):
            for item in inside:
                drawn.append(_row(item, shown, stack, len(drawn), masked=masked, is_picked=item.block.name == name))
            if layer == at and shown.config.num_layers > 1:
                drawn.append(_fold(shown, state, at, blocks))
        elif state.all_layers and shown.live:
            assert layer is not None
            drawn.append(_whole_layer(inside, shown, stack, layer))
    return drawn


def _whole_layer(inside: list[Counted], shown: Chosen, stack: str, layer: int) -> Row:
    """A layer in a line: what flows out of it, and its sums. Its name is that of the block which writes the stream."""
    last = inside[-1].block
    sums = (
        sum(item.block.parameters for item in inside),
        sum(term.value for item in inside for term in item.cost.time),
        sum(term.value for item in inside for term in item.cost.space),
    )
    cells = [shape_out(last, shown, shown.lengths[stack]), *((text, text) for text in map(formats.count, sums))]
    sets = {f"{PREFIX}layer": layer + 1, f"{PREFIX}stack": stack}
    return Row("layer", f"Layer {layer + 1}", cells=cells, sets=sets, inside=True, name=last.name)


def _fold(shown: Chosen, state: ModelLensState, at: int, blocks: list[Counted]) -> Row:
    """The line that opens or folds the other layers. Those of a shape that is only counted are alike."""
    layers = shown.config.num_layers
    if not shown.live:
        counts = {sum(item.block.parameters for item in blocks if item.block.layer == layer) for layer in range(layers)}
        alike = "all alike" if len(counts) == 1 else "one table shared"
        return Row("fold", f"× {layers} layers, {alike}", inside=True)
    acts = "fold the others" if state.all_layers else "show all"
    sets = {f"{PREFIX}all_layers": not state.all_layers}
    return Row("fold", f"Layer {at + 1} of {layers}: {acts}", sets=sets, inside=True)


def _row(item: Counted, shown: Chosen, stack: str, at: int, *, masked: bool, is_picked: bool) -> Row:
    block, config = item.block, shown.config
    text = TITLES.get(block.kind, NORM)
    mark = ""
    if block.kind == "position":
        text = f"+ {config.positional} positions"
    if block.kind == "self_attention":
        plain = "self-attention" if config.attention == "full" else f"{config.attention} self-attention"
        text = f"masked {plain}" if masked else plain
        text = text[0].upper() + text[1:]
        ways = [INSIDE[way] for way in POSITIONAL[config.positional].enters() if way in INSIDE]
        mark = f"{config.positional} {ways[0]}" if ways else ""
    if block.kind == "feed_forward":
        text = f"Feed-forward, {config.activation}"
    if block.name.endswith("final_norm"):
        text = "Final norm"
    sets: dict[str, Any] = {f"{PREFIX}block": kind_of_block(block.name), f"{PREFIX}stack": stack}
    if block.layer is not None:
        sets[f"{PREFIX}layer"] = block.layer + 1
    parameters = formats.count(block.parameters) if block.parameters else ""
    if not block.parameters and block.kind in ("embedding", "logits"):
        parameters = "shared"
    cells = [
        shape_out(block, shown, shown.lengths[stack]),
        (parameters, parameters),
        written(item.cost.time),
        written(item.cost.space),
    ]
    return Row(
        block.kind,
        text,
        mark,
        cells,
        sets,
        picked=is_picked,
        inside=block.layer is not None,
        begins=at - (2 if config.norm == "pre" else 1) if block.kind == "sum" else -1,
        looks=block.kind == "cross_attention",
        name=block.name,
    )


def as_header(row: Row) -> dict[str, Any]:
    """The row as the script reads it."""
    return asdict(row)
