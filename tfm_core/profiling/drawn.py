"""Building a module without random numbers, then drawing its weights."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeVar

from torch import Tensor, nn
from torch.overrides import TorchFunctionMode

from tfm_core.model.initialization import fill_parameters

Module = TypeVar("Module", bound=nn.Module)

# With which torch's modules start, called by one another, too: the outermost is left out.
STARTS = {Tensor.uniform_, Tensor.normal_, nn.init.uniform_, nn.init.normal_, nn.init.kaiming_uniform_}


class _Undrawn(TorchFunctionMode):
    """A mode within which this thread's new modules leave out torch's own random start.

    On the meta device that start would make torch import its compiler; elsewhere it would move torch's random state.
    """

    def __torch_function__(
        self,
        func: Callable[..., Any],
        types: Iterable[type],
        args: tuple[Any, ...] = (),
        kwargs: Mapping[str, Any] | None = None,
    ) -> Any:
        """Return a tensor that was to be drawn as it is; do everything else."""
        named = kwargs or {}
        if func in STARTS:
            return named["tensor"] if "tensor" in named else args[0]
        return func(*args, **named)


def drawn(build: Callable[[], Module], seed: int) -> Module:
    """Make a module on torch's default device; on the meta device it stays without weights.

    Args:
        build: makes the module.
        seed: of its weights, which depend on this and on their names alone.
    """
    with _Undrawn():
        module = build()
    fill_parameters(module, seed)
    return module
