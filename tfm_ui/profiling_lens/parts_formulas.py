"""The formulas behind the counts of a transformer's parts, in symbols and with the numbers put in."""

from collections.abc import Callable, Mapping

from tfm_core.profiling import Size
from tfm_ui.figures import look

Formulas = Mapping[str, tuple[str, Callable[[Size], int]]]  # part -> (in symbols, its value)

PARAMETERS: Formulas = {
    "projections": ("{layers} × 4({d}² + {d})", lambda s: s.num_layers * 4 * (s.d_model**2 + s.d_model)),
    "feed-forward": (
        "{layers} × (2 × {d} × {d_ff} + {d_ff} + {d})",
        lambda s: s.num_layers * (2 * s.d_model * s.feed_forward_dim + s.feed_forward_dim + s.d_model),
    ),
    "norms": ("(2 × {layers} + 1) × 2 × {d}", lambda s: (2 * s.num_layers + 1) * 2 * s.d_model),
}
FLOPS: Formulas = {
    "projections": (
        "{batch} × {layers} × 8 × {n} × {d}²",
        lambda s: s.batch * s.num_layers * 8 * s.seq_len * s.d_model**2,
    ),
    "products": (
        "{batch} × {layers} × 4 × {n}² × {d}",
        lambda s: s.batch * s.num_layers * 4 * s.seq_len**2 * s.d_model,
    ),
    "feed-forward": (
        "{batch} × {layers} × 4 × {n} × {d} × {d_ff}",
        lambda s: s.batch * s.num_layers * 4 * s.seq_len * s.d_model * s.feed_forward_dim,
    ),
}
SYMBOLS = {name: name for name in ("batch", "layers", "n", "d", "d_ff")}


def laws(formulas: Formulas, counts: Mapping[str, int], size: Size) -> dict[str, bool]:
    """What to show of these counts: each formula that gives the count, as a law that holds.

    Of a target that is no such transformer none may.
    """
    found = {}
    for part, (formula, value) in formulas.items():
        if counts.get(part) == value(size):
            numbers = {
                "batch": size.batch,
                "layers": size.num_layers,
                "n": size.seq_len,
                "d": size.d_model,
                "d_ff": size.feed_forward_dim,
            }
            symbols, put_in = formula.format(**SYMBOLS), formula.format(**numbers)
            found[f"{part}: {symbols} = {put_in} = {look.count(value(size))}"] = True
    return found
