"""What a transformer is made of: its blocks in the order in which a token meets them, what flows in and out of each,
how many parameters each has, and what each costs.

    for block in stack_blocks(config)["encoder"]:
        print(block.name, block.parameters, block_costs(block, config, n=10))

Nothing is run: parameters are counted on the modules themselves (`block_parameters`), so that any size can be asked
for. Vaswani et al. 2017, figure 1 and table 1.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from tfm_core.model.attention import ATTENTION
from tfm_core.model.config import TransformerConfig
from tfm_core.model.feed_forward import ACTIVATIONS
from tfm_core.positional.schemes import POSITIONAL
from tfm_core.study.counting import block_parameters


@dataclass(frozen=True, kw_only=True)
class Block:
    """One box of the drawing of a transformer.

    Attributes:
        name: as in `block_parameters` and in recordings, such as "encoder.layers.0.self_attention"; sums are called
            "layers.0.self_attention_sum", positions that are added "position".
        kind: "embedding", "position", "norm", "self_attention", "cross_attention", "feed_forward", "sum", "logits",
            "head"; in models that have it "token_types", which are added like positions, "transform" before the logits,
            and "pooler".
        parameters: how many it has; a matrix that several blocks share counts at the first of them.
        layer: of which layer, from 0; None outside the layers.
        reads: sites of a recording whose sum flows in; none into the embedding, which reads token ids.
        writes: sites of a recording whose sum flows out, while nothing is dropped out.
    """

    name: str
    kind: str
    parameters: int
    reads: tuple[str, ...]
    writes: tuple[str, ...]
    layer: int | None = None


AT_END = ("logits", "transform", "pooler", "pooled")  # what belongs to no stack


class Term(NamedTuple):
    """A term of a cost: in symbols, and its value."""

    symbols: str
    value: int


class Cost(NamedTuple):
    """What a block costs: multiply-adds of its matrix products, and how many numbers it writes."""

    time: tuple[Term, ...]
    space: tuple[Term, ...]


def stack_blocks(config: TransformerConfig, classes: int = 0) -> dict[str, list[Block]]:
    """Stack -> its blocks, from the tokens to its end; "encoder" or "decoder", or both.

    With `classes` it is a `SequenceClassifier`, whose last block is its `head`. Else the last block is `logits`; in an
    encoder-decoder the encoder ends in its final norm, or in post-norm in its last layer.

    Args:
        config: the transformer.
        classes: of a classifier; 0 for a model with logits.

    Examples:
        >>> from tfm_core import TransformerConfig, stack_blocks
        >>> blocks = stack_blocks(TransformerConfig(vocab_size=50, d_model=8, num_heads=2, num_layers=1))["encoder"]
        >>> [block.kind for block in blocks[:4]]
        ['embedding', 'position', 'norm', 'self_attention']
    """
    parameters = block_parameters(config, classes)
    if config.architecture != "encoder-decoder":
        return {
            config.architecture: list(_stack(config, parameters, "", cross=False, last="head" if classes else "logits"))
        }
    return {
        name: list(_stack(config, parameters, f"{name}.", cross=name == "decoder", last="logits" * (name == "decoder")))
        for name in ("encoder", "decoder")
    }


def _stack(
    config: TransformerConfig, parameters: dict[str, int], prefix: str, *, cross: bool, last: str
) -> Iterator[Block]:
    scheme = POSITIONAL[config.positional]
    rows = config.max_len + config.position_offset
    learned = scheme.count_learned(d_model=config.d_model, num_heads=config.num_heads, max_len=rows)
    of_positions = learned.pop("encode", 0)

    def block(name: str, kind: str, reads: list[str], writes: list[str], layer: int | None = None) -> Block:
        sites = [tuple(site if site in AT_END else prefix + site for site in ends) for ends in (reads, writes)]
        # Biases of the scores are one table for all layers: it counts in the first.
        shared = sum(learned.values()) if (kind, layer) == ("self_attention", 0) else 0
        of_module = parameters.get("unembedding" if kind == "logits" else name if name in AT_END else prefix + name, 0)
        return Block(
            name=name if name in AT_END else prefix + name,
            kind=kind,
            parameters=of_positions if kind == "position" else of_module + shared,
            reads=sites[0],
            writes=sites[1],
            layer=layer,
        )

    stream = "layers.0.self_attention.residual_before"
    parts = ["embedding"]  # whose sum has come so far
    yield block("embedding", "embedding", [], ["embedding"])
    added = ["token_types"] * (config.num_token_types > 0) + ["position"] * ("encode" in scheme.enters())
    for kind in added:
        is_last = kind == added[-1] and not config.embedding_norm
        yield block(kind, kind, parts, [stream] if is_last else [*parts, kind])
        parts = [*parts, kind]
    if config.embedding_norm:
        yield block("embedding_norm", "norm", parts, ["embedding_norm"])
    for layer in range(config.num_layers):
        for kind in ("self_attention", *["cross_attention"] * cross, "feed_forward"):
            name = f"layers.{layer}.{kind}"
            before, normed, output, stream = (
                f"{name}.{what}" for what in ("residual_before", "normed", "output", "residual_after")
            )
            norm = f"{name}_norm", "norm"
            if config.norm == "pre":
                yield block(*norm, [before], [normed], layer)
                yield block(name, kind, [normed], [output], layer)
                yield block(f"{name}_sum", "sum", [before, output], [stream], layer)
            else:
                yield block(name, kind, [before], [output], layer)
                yield block(f"{name}_sum", "sum", [before, output], [before, output], layer)
                yield block(*norm, [before, output], [stream], layer)
    if config.norm == "pre":
        yield block("final_norm", "norm", [stream], ["final_norm"])
        stream = "final_norm"
    if last == "logits" and config.pooler:
        yield block("pooler", "pooler", [stream], ["pooled"])
    if last == "logits" and config.head == "masked":
        yield block("transform", "transform", [stream], ["transform"])
        stream = "transform"
    if last and (last != "logits" or config.head != "none"):
        yield block(last, last, [stream], ["logits"])


def block_costs(block: Block, config: TransformerConfig, n: int, m: int = 0, classes: int = 0) -> Cost:
    """What a block costs on one sentence.

    Symbols: n tokens, m tokens of the encoder that cross-attention looks at, d = d_model, h heads, d_k = d / h, d_ff,
    V token ids, C classes. Time is multiply-adds of matrix products: sums, norms and activations, of order n d, are
    left out.
    Space is how many numbers the block writes, without the turned queries and keys of RoPE: of attention the scores,
    counted once, and query, key, value, what the heads gathered, and the output; of linear attention the sums over
    keys, and their normaliser, in place of the scores; of fused attention nothing in their place. A window or a stride
    is a mask on all scores.

    Args:
        block: of this configuration.
        config: the transformer.
        n: how many tokens the block's stack reads.
        m: how many tokens the encoder reads, for cross-attention.
        classes: C, of the head of a classifier.

    Examples:
        >>> from tfm_core import TransformerConfig, block_costs, stack_blocks
        >>> config = TransformerConfig(vocab_size=50, d_model=8, num_heads=2)
        >>> network = next(block for block in stack_blocks(config)["encoder"] if block.kind == "feed_forward")
        >>> block_costs(network, config, n=10).time
        (Term(symbols='2 n d d_ff', value=5120),)
    """
    d, d_ff, heads = config.d_model, config.feed_forward_dim, config.num_heads
    stream, keys = Term("n d", n * d), config.kv_heads * config.head_dim
    maps: tuple[Term, ...] = (Term("4 n d²", 4 * n * d * d),)
    written: tuple[Term, ...] = (Term("5 n d", 5 * n * d),)
    if keys < d:  # heads share keys and values
        maps = Term("2 n d²", 2 * n * d * d), Term("2 n d d_kv", 2 * n * d * keys)
        written = Term("3 n d", 3 * n * d), Term("2 n d_kv", 2 * n * keys)
    match block.kind:
        case "self_attention" if not ATTENTION[config.attention].has_scores:
            each = Term("2 n d dₖ", 2 * n * d * config.head_dim)
            return Cost((*maps, each), (*written, Term("d dₖ", d * config.head_dim), Term("d", d)))
        case "self_attention":
            products, scores = Term("2 n² d", 2 * n * n * d), (Term("h n²", heads * n * n),)
            beside = scores if ATTENTION[config.attention].writes_scores else ()
            return Cost((*maps, products), (*beside, *written))
        case "cross_attention":
            of_keys = "d" if keys == d else "d_kv"
            maps = Term("2 n d²", 2 * n * d * d), Term("2 m d²" if keys == d else "2 m d d_kv", 2 * m * d * keys)
            written = Term("h n m", heads * n * m), Term("3 n d", 3 * n * d), Term(f"2 m {of_keys}", 2 * m * keys)
            return Cost((*maps, Term("2 n m d", 2 * n * m * d)), written)
        case "feed_forward":
            gated = ACTIVATIONS[config.activation].gated
            matrices = 3 if gated else 2
            hidden = Term("2 n d_ff" if gated else "n d_ff", (matrices - 1) * n * d_ff)
            return Cost((Term(f"{matrices} n d d_ff", matrices * n * d * d_ff),), (hidden, stream))
        case "logits":
            vocab = config.vocab_size
            return Cost((Term("n d V", n * d * vocab),), (Term("n V", n * vocab),))
        case "transform":
            return Cost((Term("n d²", n * d * d),), (stream,))
        case "pooler":  # of the first token
            return Cost((Term("d²", d * d),), (Term("d", d),))
        case "head":  # of one vector, the mean over the tokens
            return Cost((Term("d C", d * classes),), (Term("C", classes),))
        case _:
            return Cost((), (stream,))
