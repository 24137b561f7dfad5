"""Looking inside a running model, and reaching into it.

- `tap(site, tensor)` marks a place in the model; without a listener it costs next to nothing.
- `recording()` listens: inside the block every marked tensor is kept in a `Trace`.
- `edits` change a tensor on its way, so an intervention needs no second model.
- `watch` looks at a tensor as it passes, for what is too large to keep.
- `Tapped` is an nn.Module that knows its own path, so that sites are named like parameters.

The listener lives in a ContextVar and not on the module, because one model is shared by the threads of
many users: each thread has its own context, so nobody can see another's pass.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from difflib import get_close_matches
from fnmatch import fnmatchcase
from functools import lru_cache

from torch import Tensor, nn

Edit = Tensor | Callable[[Tensor], Tensor]
Watch = Callable[[str, Tensor], None]


class Trace(Mapping[str, Tensor]):
    """What one recording kept: site name -> tensor, in the order in which the model reached them.

    If the model runs several times inside the block, the last pass is the one that stays. Tensors are
    the model's own, with their graph if there is one: run under `torch.no_grad()` to keep values alone.

    Examples:
        >>> import torch
        >>> from tfm_core import Transformer, TransformerConfig, recording
        >>> model = Transformer(TransformerConfig(vocab_size=50, d_model=8, num_heads=2, num_layers=1))
        >>> with torch.no_grad(), recording("*.weights") as trace:
        ...     _ = model(torch.tensor([[5, 6, 7]]))
        >>> trace
        Trace of 1 sites
          layers.0.self_attention.weights: (1, 2, 3, 3)
    """

    def __init__(self, met: Collection[str] = ()) -> None:
        self._tensors: dict[str, Tensor] = {}
        self._met = met  # every site that the model reached, kept or not

    def __getitem__(self, site: str) -> Tensor:
        if site in self._tensors:
            return self._tensors[site]
        raise KeyError(
            f"{site} was not asked for in this recording" if site in self._met else _unknown(site, self._met)
        )

    def __contains__(self, site: object) -> bool:  # Mapping's own would look for the neighbours of each that is missing
        return site in self._tensors

    def __iter__(self) -> Iterator[str]:
        return iter(self._tensors)

    def __len__(self) -> int:
        return len(self._tensors)

    def __repr__(self) -> str:
        rows = (f"  {site}: {tuple(tensor.shape)}" for site, tensor in self.items())
        return "\n".join([f"Trace of {len(self)} sites", *rows])


class _Matches(dict[str, bool]):
    """Site -> whether one of these patterns stands for it, worked out once."""

    def __init__(self, patterns: tuple[str, ...]) -> None:
        super().__init__()
        self._patterns = patterns

    def __missing__(self, site: str) -> bool:
        answer = self[site] = any(fnmatchcase(site, pattern) for pattern in self._patterns)
        return answer


# They outlive a recording: a model is run again and again with the same patterns, and has few sites.
_matches = lru_cache(maxsize=256)(_Matches)


class _Recorder:
    """One open `recording` block: which sites it keeps, edits and watches, and which it has met."""

    def __init__(
        self, sites: str | Iterable[str] | None, edits: Mapping[str, Edit] | None, watch: Mapping[str, Watch] | None
    ) -> None:
        self.patterns = ("*",) if sites is None else (sites,) if isinstance(sites, str) else tuple(sites)
        self.edits, self.watches = dict(edits or {}), dict(watch or {})
        self.names = (*self.patterns, *self.edits, *self.watches)
        self._kept, self._wanted = _matches(self.patterns), _matches(self.names)
        self._met: dict[str, None] = {}  # a set that stays in the model's order
        self.trace = Trace(self._met)

    def wants(self, site: str) -> bool:
        """Whether the site is kept, edited or watched; from now on it is known."""
        self._met[site] = None
        return self._wanted[site]

    def edit(self, site: str, tensor: Tensor) -> Tensor:
        for pattern, edit in self.edits.items():
            if not fnmatchcase(site, pattern):
                continue
            # A clone, because the tensor may share memory with one that is already in a trace.
            changed = edit(tensor.clone()) if callable(edit) else edit
            if not isinstance(changed, Tensor) or (changed.shape, changed.dtype) != (tensor.shape, tensor.dtype):
                expected = f"shape {tuple(tensor.shape)}, {tensor.dtype}"
                got = f"shape {tuple(changed.shape)}, {changed.dtype}" if isinstance(changed, Tensor) else repr(changed)
                raise ValueError(f"edit of {site!r}: expected a tensor of {expected}; got {got}")
            tensor = changed
        return tensor

    def keep(self, site: str, tensor: Tensor) -> None:
        self._met[site] = None
        if self._kept[site]:
            self.trace._tensors[site] = tensor
        if self.watches:
            for pattern, watch in self.watches.items():
                if fnmatchcase(site, pattern):
                    watch(site, tensor)

    def check_names(self) -> None:
        """Refuse a name that no site of the model answered to: a typo must not look like an empty result."""
        for name in self.names:
            if self._met and not any(map(_matches((name,)).__getitem__, self._met)):
                raise ValueError(_unknown(name, self._met))


def _unknown(site: str, known: Iterable[str]) -> str:
    known = list(known)
    near = get_close_matches(site, known, n=3, cutoff=0.5) or known[:3]
    hint = f"did you mean {' or '.join(near)}?" if near else "no model ran in it"
    return f"expected a site of this recording, got {site!r}; {hint}"


_recorders: ContextVar[tuple[_Recorder, ...]] = ContextVar("tfm_core recorders", default=())


def tap(site: str, tensor: Tensor) -> Tensor:
    """Offer a tensor to whoever listens; returns it, or what an edit made of it.

    Args:
        site: the dotted name of the place, `layers.0.self_attention.weights`.
        tensor: any shape; comes back with the same shape and dtype.

    Examples:
        >>> import torch
        >>> from tfm_core import recording, tap
        >>> def half(x):
        ...     return tap("half", x / 2)
        >>> with recording() as trace:
        ...     _ = half(torch.ones(2))
        >>> trace["half"].tolist()
        [0.5, 0.5]
    """
    recorders = _recorders.get()
    for recorder in recorders:
        if recorder.edits:
            tensor = recorder.edit(site, tensor)
    for recorder in recorders:
        recorder.keep(site, tensor)
    return tensor


def wanted(*sites: str) -> bool:
    """Whether any open recording keeps, edits or watches one of these sites: if not, they need not be computed."""
    # A list, not a generator: each recorder has to learn each name, so that it can suggest it for a misspelt one.
    answers = [recorder.wants(site) for recorder in _recorders.get() for site in sites]
    return any(answers)


def is_recorded() -> bool:
    """Whether any recording is open."""
    return bool(_recorders.get())


@contextmanager
def recording(
    sites: str | Iterable[str] | None = None,
    edits: Mapping[str, Edit] | None = None,
    watch: Mapping[str, Watch] | None = None,
) -> Iterator[Trace]:
    """Record, and if asked change, what happens inside a model.

        with torch.no_grad(), recording("*.weights") as trace:
            model(tokens)
        trace["layers.0.self_attention.weights"]  # (batch, head, query, key)

    Args:
        sites: names of the sites to keep, `*` standing for anything; all of them by default.
        edits: site name -> the tensor to put there, or a function from the tensor to its replacement, of
            the same shape and dtype. The trace holds what the model went on with, after the edit.
        watch: site name -> a function of the site and its tensor, called as the model passes it. For what is too
            large to keep: it takes what it needs, and must not change the tensor.

    Blocks nest: each one keeps its own trace, and the inner one edits after the outer. A block inside a generator
    goes on recording while the generator is suspended.

    Raises:
        ValueError: when the block ends, for a name that no site of the model answered to.

    Examples:
        >>> import torch
        >>> from tfm_core import Transformer, TransformerConfig, recording
        >>> model = Transformer(TransformerConfig(vocab_size=50, d_model=8, num_heads=2, num_layers=1)).eval()
        >>> tokens, site = torch.tensor([[5, 6, 7]]), "layers.0.self_attention.output"
        >>> with torch.no_grad(), recording("logits") as plain:
        ...     _ = model(tokens)
        >>> with torch.no_grad(), recording("logits", edits={site: torch.zeros_like}) as silenced:
        ...     _ = model(tokens)
        >>> torch.equal(plain["logits"], silenced["logits"])
        False
    """
    recorder = _Recorder(sites, edits, watch)
    _recorders.set((*_recorders.get(), recorder))
    try:
        yield recorder.trace
    finally:  # not reset(): blocks inside generators may end in another order than they began
        _recorders.set(tuple(other for other in _recorders.get() if other is not recorder))
    recorder.check_names()


class Tapped(nn.Module):
    """A module whose sites begin with its own path in the model, set once by `name_sites`."""

    prefix = ""

    def tap(self, site: str, tensor: Tensor) -> Tensor:
        return tap(self.prefix + site, tensor) if _recorders.get() else tensor

    def wanted(self, *sites: str) -> bool:
        return bool(_recorders.get()) and wanted(*[self.prefix + site for site in sites])


def name_sites(model: nn.Module) -> None:
    """Tell each `Tapped` module below (and including) this one its path, the name it has in `named_modules`."""
    for path, module in model.named_modules():
        if isinstance(module, Tapped):
            module.prefix = f"{path}." if path else ""
