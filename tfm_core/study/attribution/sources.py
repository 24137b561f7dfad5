"""What a residual stream is the sum of: its sources, each with its name."""

from collections.abc import Iterator
from dataclasses import dataclass

from tfm_core.model.layer import TransformerLayer
from tfm_core.model.transformer import Stack

EMBEDDING, TYPES, POSITION, HEAD, CROSS, NETWORK, BIASES = (
    "embedding",
    "types",
    "position",
    "head",
    "cross",
    "network",
    "biases",
)
PARTS = {HEAD: "self_attention", CROSS: "cross_attention", NETWORK: "feed_forward"}  # kind -> the sub-layer that writes
NAMES = {
    EMBEDDING: "token embedding",
    TYPES: "token type",
    POSITION: "position",
    HEAD: "layer {layer}, head {head}",
    CROSS: "layer {layer}, cross-attention head {head}",
    NETWORK: "layer {layer}, network",
    BIASES: "biases",
}
CODES = {
    EMBEDDING: "embedding",
    TYPES: "types",
    POSITION: "position",
    HEAD: "{layer}.{head}",
    CROSS: "{layer}x{head}",
    NETWORK: "{layer}n",
    BIASES: "biases",
}
SHORT = {
    EMBEDDING: "embedding",
    TYPES: "type",
    POSITION: "position",
    HEAD: "L{layer} H{head}",
    CROSS: "L{layer} X{head}",
    NETWORK: "L{layer} net",
    BIASES: "biases",
}


@dataclass(frozen=True)
class Source:
    """One of the vectors that a residual stream is the sum of, at each of its places.

    Attributes:
        kind: "embedding", "types" (token types), "position" (where the scheme adds one to the embeddings), "head",
            "cross" (a head of the cross-attention), "network" (a feed-forward network), or "biases": all that is the
            same for each text, which are the biases of output projections and networks, and the shifts of norms.
        layer: from 0, of a head or a network.
        head: from 0.
        stack: "encoder" or "decoder" in an encoder-decoder; "" of the only stack.
    """

    kind: str
    layer: int = -1
    head: int = -1
    stack: str = ""

    @property
    def name(self) -> str:
        """Its name, which counts from 1 as the screen does: "layer 1, head 4"; in an encoder "encoder: position"."""
        name = NAMES[self.kind].format(layer=self.layer + 1, head=self.head + 1)
        return f"encoder: {name}" if self.stack == "encoder" else name

    @property
    def short(self) -> str:
        """Its name where room is scarce: "L1 H4", in the cross-attention "L1 X4"."""
        return SHORT[self.kind].format(layer=self.layer + 1, head=self.head + 1)

    @property
    def code(self) -> str:
        """Its name in a link: "1.4" is head 4 of layer 1, "1x4" one of the cross-attention, "1n" the network."""
        return CODES[self.kind].format(layer=self.layer + 1, head=self.head + 1)

    @property
    def part(self) -> str:
        """The name of the sub-layer that writes it; "" if no sub-layer does."""
        return PARTS.get(self.kind, "")

    @property
    def is_head(self) -> bool:
        """Whether a head writes it, which can be split further."""
        return self.kind in (HEAD, CROSS)


def parts_of(layer: TransformerLayer) -> tuple[str, ...]:
    """The names of a layer's sub-layers, in the order in which they write."""
    across = ("cross_attention",) * layer.looks_across
    return ("self_attention", *across, "feed_forward")


def written_by(stack: Stack, layer: int, part: str, name: str) -> list[Source]:
    """The sources that a sub-layer adds to the stream: its heads, or the network.

    Args:
        stack: to which it belongs.
        layer: from 0.
        part: the name of the sub-layer.
        name: of the stack, as in `Source`.
    """
    if part == PARTS[NETWORK]:
        return [Source(NETWORK, layer, stack=name)]
    kind = HEAD if part == PARTS[HEAD] else CROSS
    return [Source(kind, layer, head, name) for head in range(stack.config.num_heads)]


def sources_of(stack: Stack, name: str = "") -> list[Source]:
    """All sources of a stack's last vectors: first those of its embeddings, then layer by layer, the biases last."""
    first = [Source(EMBEDDING, stack=name)]
    first += [Source(TYPES, stack=name)] * (stack.token_types is not None)
    first += [Source(POSITION, stack=name)] * stack.positional.overrides("encode")
    return [*first, *_by_layers(stack, name), Source(BIASES, stack=name)]


def _by_layers(stack: Stack, name: str) -> Iterator[Source]:
    for number, layer in enumerate(stack.layers):
        assert isinstance(layer, TransformerLayer)
        for part in parts_of(layer):
            yield from written_by(stack, number, part, name)
