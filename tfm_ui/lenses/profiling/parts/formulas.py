"""The formulas behind the counts of a transformer's parts, in symbols and with the numbers put in."""

from collections.abc import Callable, Mapping

from tfm_core.model.kind import MAX_LEN
from tfm_core.profiling import Size
from tfm_ui.text import formats

Formulas = Callable[[Size], Mapping[str, tuple[str, int]]]  # part -> (in symbols, its value)

SYMBOLS = {name: name for name in ("batch", "layers", "n", "d", "d_ff", "vocabulary", "heads")}


def parameters(size: Size) -> dict[str, tuple[str, int]]:
    """Parameters of each part that a transformer of this size has: their formula, and their number."""
    d, d_ff, many, each = size.d_model, size.feed_forward_dim, size.num_attentions, size.num_feed_forwards
    attentions, networks, _ = _counts(size)
    norms = many + each + (size.num_stacks if size.norm == "pre" else 0)
    last = f" + {size.num_stacks}" if size.norm == "pre" else ""
    of_stacks = "2 × " * (size.num_stacks == 2)
    terms = {
        "embedding" if size.embeds else "logits": ("{vocabulary} × {d}", size.vocab_size * d),
        "projections": (f"{attentions} × 4({{d}}² + {{d}})", many * 4 * (d**2 + d)),
        "feed-forward": (f"{networks} × (2 × {{d}} × {{d_ff}} + {{d_ff}} + {{d}})", each * (2 * d * d_ff + d_ff + d)),
        "norms": (f"({(many + each) // size.num_layers} × {{layers}}{last}) × 2 × {{d}}", norms * 2 * d),
    }
    if size.is_gated:
        gated = f"{networks} × (3 × {{d}} × {{d_ff}} + 2 × {{d_ff}} + {{d}})"
        terms["feed-forward"] = gated, each * (3 * d * d_ff + 2 * d_ff + d)
    if size.positional == "learned":
        terms["positions"] = f"{of_stacks}{MAX_LEN} × {{d}}", size.num_stacks * MAX_LEN * d
    if size.positional == "t5":
        terms["positions"] = f"{of_stacks}32 × {{heads}}", size.num_stacks * 32 * size.num_heads
    return terms


def flops(size: Size) -> dict[str, tuple[str, int]]:
    """FLOPs of each part that a transformer of this size has: their formula, and their number."""
    attentions, networks, maps = _counts(size)
    n, d, many = size.seq_len, size.d_model, size.batch * size.num_attentions
    return {
        "projections": (f"{{batch}} × {attentions} × 8 × {{n}} × {{d}}²", many * 8 * n * d**2),
        "products": (f"{{batch}} × {attentions} × 4 × {{n}}² × {{d}}", many * 4 * n**2 * d),
        "feed-forward": (
            f"{{batch}} × {networks} × {2 * maps} × {{n}} × {{d}} × {{d_ff}}",
            size.batch * size.num_feed_forwards * 2 * maps * n * d * size.feed_forward_dim,
        ),
        "logits": ("{batch} × 2 × {n} × {d} × {vocabulary}", size.batch * 2 * n * d * size.vocab_size),
    }


def _counts(size: Size) -> tuple[str, str, int]:
    """How many attentions and feed-forward networks there are, in symbols, and matrices in each of these networks."""
    two = size.num_stacks == 2
    return "3 × {layers}" if two else "{layers}", "2 × {layers}" if two else "{layers}", 3 if size.is_gated else 2


def laws(formulas: Formulas, counts: Mapping[str, int], size: Size) -> dict[str, bool]:
    """What to show of these counts: each formula that gives the count, as a law that holds.

    For a target that is no such transformer, none need hold.
    """
    numbers = {
        "batch": size.batch,
        "layers": size.num_layers,
        "n": size.seq_len,
        "d": size.d_model,
        "d_ff": size.feed_forward_dim,
        "vocabulary": size.vocab_size,
        "heads": size.num_heads,
    }
    hold = {}
    for part, (formula, value) in formulas(size).items():
        if counts.get(part) == value:
            symbols, put_in = formula.format(**SYMBOLS), formula.format(**numbers)
            hold[f"{part}: {symbols} = {put_in} = {formats.count(value)}"] = True
    return hold
