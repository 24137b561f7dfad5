"""Where processor time goes: functions are timed while they run inside each other, and each is charged its share."""

import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from functools import wraps
from typing import Any
from unittest.mock import patch

Places = Mapping[str, Sequence[tuple[Any, str]]]  # part -> (module or class, the name of its function)


class Parts:
    """The processor time of this process's threads by part, in seconds.

    A part that runs inside another is charged to itself alone. Two threads must not run timed functions at the same
    time.
    """

    def __init__(self) -> None:
        self.seconds: defaultdict[str, float] = defaultdict(float)
        self._open: list[str] = []
        self._since = 0.0

    @contextmanager
    def charged(self, part: str) -> Iterator[None]:
        """Charge what runs in this block to a part."""
        self._charge()
        self._open.append(part)
        try:
            yield
        finally:
            self._charge()
            self._open.pop()

    def timed(self, part: str, function: Callable[..., Any]) -> Callable[..., Any]:
        """The function, charged to a part."""

        @wraps(function)
        def timed(*args: Any, **more: Any) -> Any:
            with self.charged(part):
                return function(*args, **more)

        return timed

    @contextmanager
    def watching(self, places: Places) -> Iterator[None]:
        """Time functions where they are looked up, while the block runs."""
        with ExitStack() as stack:
            for part, functions in places.items():
                for owner, name in functions:
                    stack.enter_context(patch.object(owner, name, self.timed(part, getattr(owner, name))))
            yield

    def _charge(self) -> None:
        now = time.process_time()
        if self._open:
            self.seconds[self._open[-1]] += now - self._since
        self._since = now
