"""The one cache for all results, with one limit in bytes; what is soon computed again for its size is dropped first.

    @cached()
    def reading(state: ModelState, layer: int) -> Reading: ...

Arguments must be frozen dataclasses or plain values: their repr is the key. All visitors share the results, so nobody
may change them. A missing result is computed in the visitor's turn (tfm_ui/visitors/turn.py); if several threads ask
for it at the same time, one computes it and the others wait. Each process that computes has such a cache, and all
processes together keep to the setting (tfm_ui/visitors/workers.py).

A pass of a large model may take more than a whole cache. So whoever computes pictures, words or a page does it in a
block `with kept_together():`, in which nothing is computed twice, however small the cache is.
"""

import gc
import itertools
import sys
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import lru_cache, wraps
from hashlib import blake2b
from threading import Condition
from types import BuiltinFunctionType, FunctionType, ModuleType
from typing import Any, ParamSpec, TypeVar, cast

import cachetools
import numpy as np
from torch import Tensor, nn

from tfm_core import TransformerConfig
from tfm_core.allocator import give_back
from tfm_core.model.trained import is_mapped
from tfm_ui.state.pass_cost import HEAVY, weight_bytes
from tfm_ui.visitors.turn import turn_to_compute
from tfm_ui.visitors.workers import EACH_CACHE

P = ParamSpec("P")
R = TypeVar("R")

SHARED = type, ModuleType, BuiltinFunctionType  # belong to the program, not to a result
GIVE_BACK_EVERY = 100  # freed memory is given back after this many quick results
ENTRY = 500  # bytes that an entry takes in addition to its result: its key and its place in the cache


def held_bytes(value: Any) -> int:
    """The bytes that a value keeps in memory: its tensors and arrays, each counted once, and all other objects."""
    total, known = 0, set[int]()
    reached: list[Any] = [value]
    while reached:
        fresh = {id(item): item for item in reached if id(item) not in known and not isinstance(item, SHARED)}
        known.update(fresh)
        total += sum(map(sys.getsizeof, fresh.values()))
        reached = []
        for at, item in list(fresh.items()):
            if isinstance(item, Tensor):
                storage = item.untyped_storage()
                if storage.data_ptr() not in known:
                    known.add(storage.data_ptr())
                    total += 0 if is_mapped(item) else storage.nbytes()
            elif isinstance(item, np.ndarray) and item.base is not None:
                reached.append(item.base)  # a view: its memory belongs to another array
            elif isinstance(item, nn.Module):
                # Looking into the dozen empty tables of hooks that each module has takes as long as into all the rest.
                parts = vars(item).values()
                filled = [part for part in parts if type(part) is not OrderedDict or part]
                total += sys.getsizeof(vars(item)) + (len(parts) - len(filled)) * sys.getsizeof(OrderedDict())
                reached += filled
                del fresh[at]
            elif isinstance(item, FunctionType):
                reached.append(item.__closure__)  # but not the module in which it is defined
                del fresh[at]
        reached += gc.get_referents(*fresh.values())
    return total


class DearestKept(cachetools.Cache[bytes, Any]):
    """A cache that drops the result of the least worth: GreedyDual-Size (Cao and Irani, 1997).

    A result is worth the processor time that it took, for each of its bytes, and what the last dropped one was worth:
    so old results leave in the end. With the least recently used one dropped first, a class in all views that shares
    27 MB had a text of Lab GPT written anew at each move, 100 ms, as the models of other visitors, 3 ms each, had
    pushed it out.
    """

    def __init__(self, maxsize: int) -> None:
        super().__init__(maxsize, self._size_of)
        self._seconds: dict[bytes, float] = {}
        self._per_byte: dict[bytes, float] = {}  # seconds
        self._worth: dict[bytes, float] = {}  # the one that was asked for last is the last
        self._least = 0.0  # what the last dropped result was worth
        self._size = 0  # of the result that is being put in

    def _size_of(self, result: Any) -> int:
        self._size = held_bytes(result) + ENTRY
        return self._size

    def __getitem__(self, key: bytes) -> Any:
        result = super().__getitem__(key)
        self._note(key)
        return result

    def __setitem__(self, key: bytes, result: Any) -> None:
        super().__setitem__(key, result)
        self._seconds[key] = getattr(_took, "seconds", 0.0)
        self._per_byte[key] = self._seconds[key] / self._size
        self._note(key)

    def __delitem__(self, key: bytes) -> None:
        super().__delitem__(key)
        for of_keys in (self._seconds, self._per_byte, self._worth):
            of_keys.pop(key, None)

    def popitem(self) -> tuple[bytes, Any]:
        """Drop the result of the least worth; of several, the one that was asked for least recently."""
        key = min(self._worth, key=self._worth.__getitem__)
        self._least = self._worth[key]
        result = super().__getitem__(key)
        del self[key]
        return key, result

    def clear(self) -> None:
        """Drop all results."""
        super().clear()
        for of_keys in (self._seconds, self._per_byte, self._worth):
            of_keys.clear()

    def seconds(self, key: bytes) -> float:
        """The processor time that a result took; 0 if it is not there."""
        return self._seconds.get(key, 0.0)

    def _note(self, key: bytes) -> None:
        self._worth.pop(key, None)
        self._worth[key] = self._least + self._per_byte[key]


CACHE = DearestKept(EACH_CACHE)
_took = threading.local()  # the processor time of the result that this thread has computed last
# Name -> cached function whose arguments say what it costs: tests look whether they do.
WEIGHED_BY_ARGUMENTS: dict[str, Callable[..., Any]] = {}
_changed = Condition()
_forget: list[Callable[[], None]] = []  # drops what is kept outside the cache
_results = itertools.count(1)
_computing: ContextVar[bool] = ContextVar("computing", default=False)  # whether this thread computes a cached result


@dataclass
class _Together:
    """Key -> result of all that was asked for in a block of `kept_together`, and whether any of it took long."""

    results: dict[bytes | tuple[Any, ...], Any] = field(default_factory=dict)
    long: bool = False


_together: ContextVar[_Together | None] = ContextVar("together", default=None)


@contextmanager
def kept_together() -> Iterator[None]:
    """Keep all results that are asked for in the block until it ends, also those for which the cache has no room.

    Of blocks within each other the outermost keeps them.
    """
    if _together.get():
        yield
        return
    together = _Together()
    token = _together.set(together)
    try:
        yield
    finally:
        _together.reset(token)
        together.results.clear()
        if together.long:
            give_back()


def made_once(kind: Callable[P, R], *args: P.args, **more: P.kwargs) -> R:
    """An object of these arguments; in a block of `kept_together` the same one each time, so that what it keeps is
    computed once. The arguments can be hashed, and nobody may change the object.
    """
    together = _together.get()
    if not together:
        return kind(*args, **more)
    at = kind, *args, *sorted(more.items())
    if at not in together.results:
        together.results[at] = kind(*args, **more)
    made: R = together.results[at]
    return made


def never(*_: Any, **__: Any) -> bool:
    """What is said of a computation that is quick whatever its arguments: `@cached(heavy=never)`."""
    return False


def _is_heavy(*arguments: Any, **more: Any) -> bool:
    """Whether one of the arguments says that it takes long: a model's pass, or the weights of a configuration."""
    return any(map(_takes_long, (*arguments, *more.values())))


def _takes_long(argument: Any) -> bool:
    if isinstance(argument, TransformerConfig):
        return weight_bytes(argument) > HEAVY
    if isinstance(argument, tuple):
        return any(map(_takes_long, argument))
    return getattr(argument, "is_heavy", False)


def cached(
    *, heavy: Callable[..., bool] = _is_heavy, always_kept: int = 0
) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Decorate a function whose results are kept in the cache.

    Args:
        heavy: a function of the same arguments that tells whether the computation takes long. By default an argument
            says it; where none can, it must be told (tests/laws/test_weighed.py).
        always_kept: how many results are kept outside the cache as well, where results of other functions cannot push
            them out: for small ones that take long and are asked for again and again. Their arguments can be hashed.
    """

    def decorate(function: Callable[P, R]) -> Callable[P, R]:
        name = f"{function.__module__}.{function.__qualname__}"

        def key(*args: Any, **more: Any) -> bytes:
            # A digest, because the repr of a model contains its text. Streamlit's hashing takes longer than a pass.
            text = f"{name}{args}{sorted(more.items())}"
            return blake2b(text.encode(errors="surrogatepass"), digest_size=16).digest()

        def compute(*args: P.args, **more: P.kwargs) -> R:
            token, begin = _computing.set(True), time.thread_time()
            try:
                return function(*args, **more)
            finally:
                _computing.reset(token)
                _took.seconds = time.thread_time() - begin

        once: Callable[P, R] = cachetools.cached(CACHE, key=key, condition=_changed)(compute)

        @wraps(function)
        def kept(*args: P.args, **more: P.kwargs) -> R:
            at, together = key(*args, **more), _together.get()
            if together and at in together.results:
                mine: R = together.results[at]
                return mine
            result = there(at, *args, **more)
            if together:
                together.results[at] = result
            return result

        def there(at: bytes, *args: P.args, **more: P.kwargs) -> R:
            with _changed:
                if at in CACHE:
                    result: R = CACHE[at]
                    return result
            if _computing.get():  # part of another result, for which others may wait: it must not wait for a turn
                return once(*args, **more)
            long = heavy(*args, **more)
            with turn_to_compute(heavy=long):
                result = once(*args, **more)
            if long and (together := _together.get()):
                together.long = True
            if not long and next(_results) % GIVE_BACK_EVERY == 0:
                give_back()  # otherwise glibc keeps up to twice the cache's limit; after long ones, their turn does it
            return result

        if heavy is _is_heavy:
            WEIGHED_BY_ARGUMENTS[name] = function
        if not always_kept:
            return kept
        remembered = lru_cache(always_kept)(kept)
        _forget.append(remembered.cache_clear)
        return cast("Callable[P, R]", remembered)

    return decorate


def grown(
    of: object,
    grow: Callable[[R | None], R],
    *,
    is_enough: Callable[[R], bool],
    heavy: Callable[[R | None], bool] = never,
) -> R:
    """What is kept of something that grows, such as a text that is written on: as it is, or grown until it is enough.

    It has one entry in the cache, whatever its lengths that were asked for. Two threads that ask for it at the same
    time may both compute.

    Args:
        of: a frozen dataclass or plain values, whose repr is the key.
        grow: makes it of what there is; of None, where there is nothing, from its beginning. What there is stays as
            it is: others may have it.
        is_enough: whether what there is needs not grow.
        heavy: tells of what there is whether growing takes long.
    """
    at, together = _key_of_latest(of), _together.get()
    there = [latest(of), together.results.get(at) if together else None]
    result = max((each for each in there if each is not None), key=is_enough, default=None)
    if result is None or not is_enough(result):
        begin = time.thread_time()
        if _computing.get():  # part of another result, for which others may wait: it must not wait for a turn
            result = grow(result)
        else:
            long = heavy(result)
            with turn_to_compute(heavy=long):
                result = grow(result)
            if long and together:
                together.long = True
        keep_latest(of, result, CACHE.seconds(at) + time.thread_time() - begin)
    if together:
        together.results[at] = result
    return result


def latest(of: object) -> Any:
    """What `keep_latest` or `grown` has kept last of something; None if nothing was, or if it is there no more."""
    with _changed:
        return CACHE.get(_key_of_latest(of))


def keep_latest(of: object, result: Any, seconds: float = 0.0) -> None:
    """Keep this result for `latest`, in place of an earlier one; it counts like all others.

    Args:
        of: a frozen dataclass or plain values, whose repr is the key.
        result: from which another result of the same can go on. Nobody may change it.
        seconds: of processor time that it took from its beginning on.
    """
    _took.seconds = seconds
    with _changed, suppress(ValueError):  # larger than the whole cache
        CACHE[_key_of_latest(of)] = result


def _key_of_latest(of: object) -> bytes:
    return blake2b(f"latest {of!r}".encode(errors="surrogatepass"), digest_size=16).digest()


def clear() -> None:
    """Empty the cache. The app never does; tests do, to have a result computed anew."""
    with _changed:
        CACHE.clear()
        for forget in _forget:
            forget()
