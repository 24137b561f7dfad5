"""What is recorded of a picture: what the browser gets, header and numbers."""

from typing import Any

import numpy as np

from tests.record.charts import numbers_of, words_of
from tests.record.statistics import describe, of_known
from tests.tfm_ui.payloads import decode
from tfm_ui.pictures.registry import Asked, CannotBeShown, made

Record = dict[str, Any]


def picture_of(name: str, asked: Asked) -> Record:
    """A picture of a link; why there is none, if it cannot be shown."""
    try:
        header, numbers = decode(made(name, asked))
    except CannotBeShown as reason:
        return {"cannot be shown": str(reason)}
    del header["query"]
    if "figure" in header:
        return {"header": of_known(words_of(header)), "numbers": numbers_of(header)}
    return {"header": of_known(header), "numbers": _numbers(header, numbers)}


def _numbers(header: Record, numbers: bytes) -> Any:
    """What a picture's script draws: float32, except in the grid of heads and in the arcs."""
    if "ends" in header and "block" in header:  # a byte per cell
        return describe(np.frombuffer(numbers, np.uint8))
    if "kept" in header:  # weights, and then the keys that they belong to
        lines = len(header["maps"]) * len(header["queries"])
        weights = np.frombuffer(numbers, np.float32, lines * (1 + header["kept"]))
        keys = np.frombuffer(numbers, np.uint16, lines * header["kept"], weights.nbytes)
        return {"weights": describe(weights), "keys": describe(keys)}
    return describe(np.frombuffer(numbers, np.float32))
