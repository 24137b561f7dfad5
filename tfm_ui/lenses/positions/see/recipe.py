"""What the view "see" shows as a few lines of plain Python."""

from collections.abc import Callable, Sequence

from tfm_ui.lenses.positions.measured import known, opening
from tfm_ui.lenses.positions.schemes import Scheme
from tfm_ui.state.model_state import ModelState


def encode_recipe(model: ModelState, schemes: Sequence[Scheme], length: int) -> str:
    """Leaves the vectors in `values_A` and `values_B`, (position, dimension)."""
    return _recipe(model, schemes, lambda scheme: f"encode({known(scheme, length)})  # (position, dimension)")


def bias_recipe(model: ModelState, scheme: Scheme, length: int) -> str:
    """Leaves the matrices in `values_A` or `values_B`, (head, query, key)."""
    return _recipe(model, [scheme], lambda _: f"bias({length}, {length})  # (head, query, key)")


def waves_recipe(model: ModelState, schemes: Sequence[Scheme]) -> str:
    """Leaves the wavelengths in `values_A` and `values_B`, (pair)."""
    return _recipe(model, schemes, lambda scheme: f"wavelengths({scheme.width})  # in positions, of each pair")


def _recipe(model: ModelState, schemes: Sequence[Scheme], call: Callable[[Scheme], str]) -> str:
    lines = [f"values_{scheme.side} = {scheme.side}.{call(scheme)}" for scheme in schemes]
    return "\n".join([*opening(model, schemes), *lines])
