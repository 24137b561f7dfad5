"""Norms and linear maps as tensors of a step, for all that is made of them."""

from torch import Tensor, nn

from tfm_core.model.normalization import Norm
from tfm_ui.live.tensors.step import Named, held


def normed(residual: Tensor, norm: Norm | None, result: Tensor, name: str, axis: str, prefix: str = "") -> list[Named]:
    """What a sub-layer reads, with the norm before it and the stream that this reads; without a norm, what it reads.

    Args:
        residual: (token, d_model), the residual stream.
        norm: the norm before; None if there is none.
        result: (token, d_model), what is read.
        name: of what is read.
        axis: what the axis of tokens is called.
        prefix: stands before the names of all else.
    """
    axes = (axis, "d_model")
    if norm is None:
        return [held(name, axes, result, "the residual stream, which is read as it is")]
    before = held(f"{prefix}residual", axes, residual, "the residual stream before it")
    return [before, *norm_of(norm, f"{prefix}residual", result, name, axis, f"{prefix}norm")]


def norm_of(norm: Norm, reads: str, result: Tensor, name: str, axis: str, prefix: str) -> list[Named]:
    """A norm: what it has learned, and what it makes of the tensor of the name `reads`."""
    gain = held(f"{prefix}_weight", ("d_model",), norm.weight.detach(), "the norm’s gain")
    if isinstance(norm, nn.LayerNorm):
        shift = [held(f"{prefix}_bias", ("d_model",), norm.bias.detach(), "the norm’s shift")]
        code = f"F.layer_norm({reads}, (d_model,), {prefix}_weight, {prefix}_bias, norm_eps)"
    else:
        shift = []
        code = f"{reads} / ({reads}.square().mean(-1, keepdim=True) + norm_eps).sqrt() * {prefix}_weight"
    kind = "layer norm" if shift else "RMS norm"
    return [gain, *shift, held(name, (axis, "d_model"), result, f"what the {kind} makes of it", code)]


def linear(module: nn.Linear, weight: str, bias: str, axes: tuple[str, str], makes: str) -> list[Named]:
    """The weight of a linear map, (out, in), and its bias if it has one."""
    shift: Tensor | None = module.bias
    about = f"makes {makes}; nn.Linear’s weight, (out, in)"
    biases = [] if shift is None else [held(bias, axes[:1], shift.detach(), f"is added to {makes}")]
    return [held(weight, axes, module.weight.detach(), about), *biases]


def applied(reads: str, module: nn.Linear, weight: str, bias: str) -> str:
    """The code of a linear map of what is read."""
    shift: Tensor | None = module.bias
    return f"{reads} @ {weight}.T" + ("" if shift is None else f" + {bias}")
