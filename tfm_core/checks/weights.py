"""Which weights of a module are W_Q, W_K, W_V and W_O: by names where they tell, by shapes and by order.

Where the module does not say how it reads its weights, such as the three parts of a fused layer, there are several
assignments, the likeliest first; the right one is that under which the module is right.
"""

import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice, permutations

import torch
from torch import Tensor, nn
from torch.nn.parameter import UninitializedParameter

from tfm_core.checks.callables import meaning

Starts = dict[str, Tensor]  # W_Q (out, in), b_Q, …: what `Steps` starts from

AFFIXES = re.compile(
    r"linears|linear|projections|projection|project|proj|weights|weight|bias|layers|layer|lin|fc|dense|heads|head|"
    r"matrix|mat|transform|^to|^w|w$|^b(?=[qkvo]$)"
)
SAID: dict[str, frozenset[str]] = {
    "Q": frozenset({"q", "query", "queries", "qs"}),
    "K": frozenset({"k", "key", "keys", "ks"}),
    "V": frozenset({"v", "value", "values", "val", "vs"}),
    "O": frozenset({"o", "out", "output", "outputs", "c", "final", "unify", "combine", "concat", "to", "resid", "mix"}),
}
MOST = 24  # assignments


@dataclass(frozen=True)
class Projection:
    """A linear map of a module.

    Attributes:
        name: where it lies in the module.
        weight: its numbers, in any layout.
        bias: or None.
        is_free: whether the layout is unknown: a parameter of the module's, not nn.Linear's (out, in).
    """

    name: str
    weight: Tensor
    bias: Tensor | None
    is_free: bool = False


def projections(module: nn.Module) -> list[Projection]:
    """The linear maps of a module, in the order in which they were registered."""
    return list(_projections(module))


def is_norm(part: nn.Module) -> bool:
    """Whether a module is a norm: it has vectors by itself, and is called a norm or has nothing but two of them."""
    vectors = list(part.parameters(recurse=False))
    every = list(part.parameters())
    if not vectors or any(isinstance(p, UninitializedParameter) or p.dim() > 1 for p in every):
        return False
    return "norm" in type(part).__name__.lower() or (len(vectors) == 2 and not list(part.children()))


def _projections(module: nn.Module) -> Iterator[Projection]:
    for path, part in module.named_modules():
        if isinstance(part, nn.Linear):
            yield Projection(path, part.weight.detach(), _detached(part.bias))
        elif isinstance(part, nn.Conv1d) and part.kernel_size == (1,):
            yield Projection(path, part.weight.detach()[..., 0], _detached(part.bias))
        elif not is_norm(part) and not isinstance(part, nn.Embedding):
            yield from _loose(path, part)


def _loose(path: str, part: nn.Module) -> Iterator[Projection]:
    """The parameters that a module has by itself."""
    parameters = {name: p.detach() for name, p in part.named_parameters(recurse=False)}
    biases = {name: p for name, p in parameters.items() if p.dim() == 1 or plainly(name).startswith("b")}
    weights = {name: p for name, p in parameters.items() if name not in biases}
    if len(weights) == 1 and len(biases) <= 1 and path:
        ((name, weight),) = weights.items()
        where = f"{path}.{name}" if role_of(name) else path
        yield Projection(where, weight, next(iter(biases.values()), None), is_free=True)
        return
    for name, weight in weights.items():
        role = role_of(name)
        fitting = [bias for other, bias in biases.items() if role and role_of(other) == role]
        yield Projection(f"{path}.{name}".lstrip("."), weight, fitting[0] if fitting else None, is_free=True)


def _detached(bias: Tensor | None) -> Tensor | None:
    return None if bias is None else bias.detach()


def plainly(name: str) -> str:
    """A name's letters and digits, in lower case."""
    return re.sub(r"[^a-z0-9]", "", name.lower())


def role_of(path: str) -> str:
    """What a projection is by its name: "Q", "K", "V", "O", "QKV", "KV", or "" where it does not tell."""
    for component in reversed(path.split(".")):
        short = plainly(component)
        if "qkv" in short or "kqv" in short or short in ("cattn", "inproj", "inprojweight", "inprojbias"):
            return "QKV"
        if "kv" in short:
            return "KV"
        core = AFFIXES.sub("", short)
        for role, names in SAID.items():
            if core in names or (role == "O" and short in ("wo", "w0")):
                return role
        if not core and ("proj" in short or short in ("fc", "dense", "unifyheads", "toout")):
            return "O"
    return ""


def assignments(parts: Sequence[Projection], d_model: int, heads: int) -> list[Starts]:
    """What the attention's weights may be, the likeliest first; empty where no reading fits.

    Args:
        parts: the projections of the attention alone.
        d_model: its width.
        heads: how many heads it has.
    """
    layouts = (True, False) if any(part.is_free for part in parts) else (False,)
    every: list[Starts] = []
    for is_in_out in layouts:
        with suppress(ValueError):  # shapes that do not fit this reading
            every += islice(_readings(parts, d_model, heads, is_in_out), MOST)
    return every


def _readings(parts: Sequence[Projection], d_model: int, heads: int, is_in_out: bool) -> Iterator[Starts]:
    roles: dict[str, list[Projection]] = {}
    for part in parts:
        roles.setdefault(role_of(part.name), []).append(part)
    fused = roles.get("QKV") or [each for each in roles.get("", []) if max(each.weight.shape) == 3 * d_model]
    if fused:
        rest = [each for each in parts if each is not fused[0]]
        weight, bias = _whole(fused[:1], d_model, heads, is_in_out, 3 * d_model)
        for pieces in _unfused(weight, bias, 3, heads, "KQV" if "kqv" in plainly(fused[0].name) else "QKV"):
            yield from _with_output(pieces, rest, d_model, heads, is_in_out)
    elif "KV" in roles and "Q" in roles:
        weight, bias = _whole(roles["KV"][:1], d_model, heads, is_in_out, 2 * d_model)
        query = _named("Q", _whole(roles["Q"], d_model, heads, is_in_out, d_model))
        rest = [each for each in parts if each not in (*roles["KV"], *roles["Q"])]
        for pieces in _unfused(weight, bias, 2, heads, "KV"):
            yield from _with_output({**query, **pieces}, rest, d_model, heads, is_in_out)
    elif {"Q", "K", "V"} <= set(roles):
        pieces = {}
        for role in "QKV":
            pieces |= _named(role, _whole(roles[role], d_model, heads, is_in_out, d_model))
        rest = [each for each in parts if role_of(each.name) not in ("Q", "K", "V")]
        yield from _with_output(pieces, rest, d_model, heads, is_in_out)
    else:
        yield from _by_order(parts, roles.get("O", []), d_model, heads, is_in_out)


def _by_order(
    parts: Sequence[Projection], output: Sequence[Projection], d_model: int, heads: int, is_in_out: bool
) -> Iterator[Starts]:
    """Four projections without names that tell: in their order, and then the first three in any other."""
    inputs = [each for each in parts if each not in output]
    if len(inputs) == 4 and not output:
        output, inputs = inputs[3:], inputs[:3]
    if len(inputs) != 3:
        return
    for order in permutations(inputs):
        pieces: Starts = {}
        for role, part in zip("QKV", order, strict=True):
            pieces |= _named(role, _whole([part], d_model, heads, is_in_out, d_model))
        yield from _with_output(pieces, output, d_model, heads, is_in_out)


def _with_output(
    pieces: Starts, rest: Sequence[Projection], d_model: int, heads: int, is_in_out: bool
) -> Iterator[Starts]:
    """The pieces with W_O; where the module has none they are left without, and W_O is the exercise's."""
    if rest:
        pair = _whole(rest[-1:], d_model, heads, is_in_out, d_model, is_output=True)
        yield {**pieces, **_named("O", pair)}
    else:
        yield pieces


def _named(role: str, pair: tuple[Tensor, Tensor]) -> Starts:
    weight, bias = pair
    return {f"W_{role}": weight, f"b_{role}": bias}


def _unfused(weight: Tensor, bias: Tensor, parts: int, heads: int, order: str) -> Iterator[Starts]:
    """The parts of a fused layer: one after the other, head by head, or by turns; in its order, and in any other."""
    cuts = (_one_after_the_other, _head_by_head, _by_turns)
    for names in dict.fromkeys((order, *map("".join, permutations(order)))):
        for cut in cuts:
            weights, biases = cut(weight, parts, heads), cut(bias[:, None], parts, heads)
            pieces: Starts = {}
            for role, some, shift in zip(names, weights, biases, strict=True):
                pieces |= _named(role, (some, shift[:, 0]))
            yield pieces


def _one_after_the_other(fused: Tensor, parts: int, heads: int) -> Sequence[Tensor]:
    return fused.chunk(parts)


def _head_by_head(fused: Tensor, parts: int, heads: int) -> Sequence[Tensor]:
    """Rows (head, part, head_dim)."""
    return [part.flatten(0, 1) for part in fused.reshape(heads, parts, -1, fused.shape[-1]).unbind(1)]


def _by_turns(fused: Tensor, parts: int, heads: int) -> Sequence[Tensor]:
    """Rows (head_dim, part, head)."""
    turns = fused.reshape(-1, parts, heads, fused.shape[-1]).unbind(1)
    return [part.transpose(0, 1).flatten(0, 1) for part in turns]


def _whole(
    parts: Sequence[Projection], d_model: int, heads: int, is_in_out: bool, out: int, *, is_output: bool = False
) -> tuple[Tensor, Tensor]:
    """(out, in) and the bias of a projection, or of the same projection of each head.

    Raises:
        ValueError: for a shape that is none of these.
    """
    weights = [_out_in(part, d_model, heads, is_in_out, is_output) for part in parts]
    weight = torch.cat(weights, dim=1 if is_output else 0) if len(weights) > 1 else weights[0]
    biases = [
        each.new_zeros(each.shape[0]) if part.bias is None else part.bias.flatten()
        for part, each in zip(parts, weights, strict=True)
    ]
    bias = torch.stack(biases).sum(0) if is_output else torch.cat(biases)
    width = d_model // heads
    if tuple(weight.shape) == (width, width) and heads > 1:  # the same for each head
        weight = torch.kron(torch.eye(heads), weight.cpu().float())
        bias = bias.repeat(heads)
    if tuple(weight.shape) != (out, d_model):
        raise ValueError(f"expected a weight of shape ({out}, {d_model}), got {tuple(weight.shape)}")
    return weight.cpu().float(), bias.cpu().float()


def _out_in(part: Projection, d_model: int, heads: int, is_in_out: bool, is_output: bool) -> Tensor:
    """The weight as (out, in)."""
    weight = part.weight
    if weight.dim() == 3:  # an axis for the heads
        width = d_model // heads
        if is_output:
            return weight.reshape(d_model, d_model).mT
        if tuple(weight.shape) == (heads, d_model, width):
            return weight.mT.reshape(d_model, d_model)
        if tuple(weight.shape) == (d_model, heads, width):
            return weight.reshape(d_model, d_model).mT
        return weight.reshape(d_model, d_model)
    if not part.is_free:
        return weight
    rows, columns = weight.shape
    if rows == columns:
        return weight.mT if is_in_out else weight
    return weight if columns == d_model else weight.mT


def heads_of(module: nn.Module, d_model: int) -> list[int]:
    """How many heads a module may have: as an attribute says, by its list of heads, or any divisor of the width."""
    for part in module.modules():
        for name, value in vars(part).items():
            if meaning(name) == "num_heads" and isinstance(value, int) and value > 0 and d_model % value == 0:
                return [value]
    for part in module.modules():
        for name, value in vars(part).items():
            if meaning(name) == "d_k" and isinstance(value, int) and value > 0 and d_model % value == 0:
                return [d_model // value]
    for name, part in module.named_modules():
        if isinstance(part, nn.ModuleList) and "head" in name.lower() and d_model % len(part) == 0:
            return [len(part)]
    return [heads for heads in (8, 4, 2, 16, 12, 1, 3, 6) if d_model % heads == 0]


def width_of(module: nn.Module) -> int:
    """The width that a module reads: as an attribute says, or its first projection's; 0 if neither tells."""
    for name, value in vars(module).items():
        if meaning(name) == "d_model" and isinstance(value, int) and value > 0:
            return value
    parts = projections(module)
    if not parts:
        return 0
    first = parts[0]
    if first.weight.dim() == 3:
        return max(first.weight.shape)
    if role_of(first.name) in ("QKV", "KV"):
        return min(first.weight.shape)
    return int(first.weight.shape[0 if first.is_free else 1])
