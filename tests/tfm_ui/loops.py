"""An event loop for tests of asynchronous code."""

import asyncio
from collections.abc import Coroutine
from concurrent.futures import ThreadPoolExecutor
from typing import Any


def run(coroutine: Coroutine) -> Any:
    """The coroutine's result. It runs in a new thread, because the browser tests leave a loop in the main thread."""
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(asyncio.run, coroutine).result()
