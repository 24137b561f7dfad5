"""What the view "see" shows as a few lines of plain Python."""

from tfm_ui.model_state import ModelState
from tfm_ui.positions_lens.schemes import Scheme


def encode_recipe(model: ModelState, scheme: Scheme, length: int) -> str:
    """Leaves the vectors in `values`, (position, dimension)."""
    return _recipe(model, scheme, f"values = scheme.encode({length})  # (position, dimension)")


def bias_recipe(model: ModelState, scheme: Scheme, length: int) -> str:
    """Leaves the matrices in `values`, (head, query, key)."""
    return _recipe(model, scheme, f"values = scheme.bias({length}, {length})  # (head, query, key)")


def waves_recipe(model: ModelState, scheme: Scheme) -> str:
    """Leaves the wavelengths in `values`, (pair)."""
    return _recipe(model, scheme, f"values = scheme.wavelengths({scheme.width})  # in positions, of each pair")


def _recipe(model: ModelState, scheme: Scheme, last: str) -> str:
    module = scheme.module
    sizes = {name: getattr(module, name) for name in ("d_model", "num_heads", "max_len", "bidirectional", "base")}
    arguments = ", ".join(f"{name}={value!r}" for name, value in sizes.items())
    weights = [
        "# the weights that a model of this seed has",
        f'fill_parameters(nn.ModuleDict({{"stack": nn.ModuleDict({{"positional": scheme}})}}), {model.seed})',
    ]
    return "\n".join(
        [
            *["from torch import nn", ""] * scheme.is_trained,
            "from tfm_core import POSITIONAL",
            *["from tfm_core.initialization import fill_parameters"] * scheme.is_trained,
            "",
            f"scheme = POSITIONAL[{scheme.name!r}]({arguments})",
            *weights * scheme.is_trained,
            last,
        ]
    )
