"""The one cache of everything that is computed: one budget in bytes, what was not used for longest goes first.

    @cached()
    def reading(state: ModelState, layer: int) -> Reading: ...

Arguments are frozen dataclasses and plain values, told apart by their repr. Results are shared by all visitors: read,
never write. What is not there yet is computed in a turn of the gate, and by one thread though several ask for it.
"""

import ctypes
import gc
import itertools
import sys
from collections.abc import Callable
from contextvars import ContextVar
from functools import wraps
from hashlib import blake2b
from threading import Condition
from types import BuiltinFunctionType, FunctionType, ModuleType
from typing import Any, ParamSpec, TypeVar

import cachetools
import numpy as np
from torch import Tensor

from tfm_ui.visitors.settings import SETTINGS
from tfm_ui.visitors.turn import turn_to_compute

P = ParamSpec("P")
R = TypeVar("R")

SHARED = type, ModuleType, BuiltinFunctionType  # of the program, not of a result
OFTEN = 100  # quick results after which freed memory is given back
ENTRY = 500  # bytes that an entry takes beside its result: its key and its place in the cache


def held_bytes(value: Any) -> int:
    """Bytes that are kept alive by a value: tensors and arrays by their memory, each once, and the objects around."""
    total, known = 0, set[int]()
    stack: list[Any] = [value]
    while stack:
        item = stack.pop()
        if isinstance(item, SHARED) or id(item) in known:
            continue
        known.add(id(item))
        total += sys.getsizeof(item)
        if isinstance(item, Tensor):
            storage = item.untyped_storage()
            if storage.data_ptr() not in known:
                known.add(storage.data_ptr())
                total += storage.nbytes()
        elif isinstance(item, np.ndarray) and item.base is not None:
            stack.append(item.base)  # a view: the memory is another's
        if isinstance(item, FunctionType):
            stack.append(item.__closure__)  # and not the module that it stands in
        else:
            stack.extend(gc.get_referents(item))
    return total


CACHE: cachetools.LRUCache[bytes, Any] = cachetools.LRUCache(
    SETTINGS.cache_bytes, getsizeof=lambda result: held_bytes(result) + ENTRY
)
_changed = Condition()
_results = itertools.count(1)
_computing: ContextVar[bool] = ContextVar("computing", default=False)  # whether this thread computes a cached result


def _is_heavy(*arguments: Any, **more: Any) -> bool:
    """Whether a model among the arguments says that its pass takes long."""
    return any(getattr(argument, "is_heavy", False) for argument in (*arguments, *more.values()))


def cached(*, heavy: Callable[..., bool] = _is_heavy) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Keep what a function returns, as long as there is room.

    Args:
        heavy: of its arguments: whether it takes long.
    """

    def decorate(function: Callable[P, R]) -> Callable[P, R]:
        name = f"{function.__module__}.{function.__qualname__}"

        def key(*args: Any, **more: Any) -> bytes:
            # A digest, as the repr of a model holds its text; Streamlit's own hashing takes longer than a small pass.
            text = f"{name}{args}{sorted(more.items())}"
            return blake2b(text.encode(errors="surrogatepass"), digest_size=16).digest()

        def compute(*args: P.args, **more: P.kwargs) -> R:
            token = _computing.set(True)
            try:
                return function(*args, **more)
            finally:
                _computing.reset(token)

        once: Callable[P, R] = cachetools.cached(CACHE, key=key, condition=_changed)(compute)

        @wraps(function)
        def kept(*args: P.args, **more: P.kwargs) -> R:
            with _changed:
                if (at := key(*args, **more)) in CACHE:
                    result: R = CACHE[at]
                    return result
            if _computing.get():  # others may wait for what this is part of: it must not wait for a turn
                return once(*args, **more)
            long = heavy(*args, **more)
            with turn_to_compute(heavy=long):
                result = once(*args, **more)
            if long or next(_results) % OFTEN == 0:
                give_back()
            return result

        return kept

    return decorate


def give_back() -> None:
    """Return to the system the memory that was freed: glibc keeps it else, twice as much as the budget."""
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None) if sys.platform == "linux" else None
    if trim:
        trim(0)


def clear() -> None:
    """Forget all of it."""
    with _changed:
        CACHE.clear()
