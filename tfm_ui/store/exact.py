"""What was computed in full where views show a part, kept in the store: by all that it depends on, for everybody."""

from collections.abc import Hashable, Mapping
from hashlib import blake2b

from safetensors import SafetensorError
from safetensors.torch import load, save
from torch import Tensor

from tfm_ui.store.kinds import EXACT
from tfm_ui.store.shared import store


def key_of(job: str, argument: Hashable) -> str:
    """The key of a job's result.

    Args:
        job: its name in the table of jobs.
        argument: plain values, whose repr says everything that the result depends on.
    """
    return f"{job}-{blake2b(repr(argument).encode(errors='surrogatepass'), digest_size=16).hexdigest()}"


def keep(key: str, numbers: Mapping[str, Tensor], owner: str = "") -> None:
    """Keep a result, and forget the oldest where there are too many, first the owner's.

    Raises:
        StoreAway: if the store does not answer.
        ValueError: for more bytes than the kind allows.
    """
    store().put(EXACT, key, save({name: tensor.contiguous() for name, tensor in numbers.items()}), owner)


def digest_of(key: str) -> str:
    """What stands for the result that is kept; "" if there is none.

    Raises:
        StoreAway: if the store does not answer.
    """
    entry = store().entry(EXACT, key)
    return entry.digest if entry else ""


def read(key: str) -> Mapping[str, Tensor] | None:
    """The result; None if there is none, or if somebody else has written something else.

    Raises:
        StoreAway: if the store does not answer.
    """
    value = store().get(EXACT, key)
    try:
        return load(value) if value else None
    except (SafetensorError, ValueError, KeyError, TypeError):
        return None
