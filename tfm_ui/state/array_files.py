"""Files of attention weights: kept in the server's store, where all of its processes find them by their names.

Whoever has the link sees them, as long as the store keeps them.
"""

import json
import secrets
import threading
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from hashlib import blake2b
from typing import Any

import torch
from cachetools import TTLCache
from safetensors import SafetensorError
from safetensors.torch import load, save
from torch import Tensor

from tfm_core.study.attention_arrays import MOST_SIGNS, AttentionArray
from tfm_core.training.files import as_text
from tfm_ui.settings import SETTINGS
from tfm_ui.state import arrays
from tfm_ui.state.arrays import BEGINS, GONE, AttentionFile
from tfm_ui.state.sizes import MOST
from tfm_ui.store.kinds import UPLOADS
from tfm_ui.store.shared import store
from tfm_ui.store.store import StoreAway

SECRET = secrets.token_bytes(32)
HALVES = {"float16": torch.float16, "bfloat16": torch.bfloat16}  # kept as they came, in half of the room
LOOKED_UP_EVERY = 2.0  # seconds: what is on screen counts as used, so that it is not the oldest in the store


def keep(attention: AttentionArray, file: str, visitor: str, tokens: Sequence[str] = ()) -> str:
    """Take weights in; returns their name.

    Args:
        attention: the weights.
        file: the name of their file.
        visitor: whose they are.
        tokens: names for the tokens of each sentence, in place of the file's; () leaves those.

    Raises:
        ValueError: for more layers, heads, tokens or bytes than this server takes, or another number of tokens.
        StoreAway: if the store does not answer.
    """
    layers, batch, heads, length, _ = attention.weights.shape
    for what, count, most, lowered in (
        ("layers", layers, MOST, ""),
        ("heads", heads, MOST, ""),
        ("tokens", length, SETTINGS.max_tokens, SETTINGS.lowered_by("max_tokens")),
    ):
        if count > most:
            raise ValueError(f"expected at most {most:,} {what}{lowered}, got {count:,}")
    if tokens:
        attention = replace(attention, tokens=(_checked(tokens, length),) * batch)
    value = as_bytes(attention, file)
    if len(value) > UPLOADS.largest:
        raise ValueError(
            f"expected weights of at most {UPLOADS.largest:,} bytes, which this server keeps for one visitor"
            f"{SETTINGS.lowered_by('upload_bytes_per_visitor')}; got {len(value):,}: float16 takes half of float32"
        )
    digest = blake2b(len(visitor).to_bytes(4) + visitor.encode() + value, digest_size=16, key=SECRET).hexdigest()
    store().put(UPLOADS, BEGINS + digest, value, visitor)
    return BEGINS + digest


def _checked(tokens: Sequence[str], length: int) -> tuple[str, ...]:
    if len(tokens) != length:
        raise ValueError(f"expected {length:,} tokens, one for each key of the file; got {len(tokens):,}")
    if (longest := max(map(len, tokens))) > MOST_SIGNS:
        raise ValueError(f"expected tokens of at most {MOST_SIGNS:,} characters, got one of {longest:,}")
    return tuple(tokens)


def as_bytes(attention: AttentionArray, file: str) -> bytes:
    """The weights and what is known of them as safetensors."""
    words = {
        "file": as_text(file),
        "tokens": attention.tokens,
        "notes": attention.notes,
        "tolerance": attention.tolerance,
        "sums": attention.rows_sum_to_1,
        "causal": attention.is_causal,
    }
    kept = attention.weights.to(HALVES.get(attention.dtype, torch.float32)).contiguous()
    return save({"weights": kept}, {"about": json.dumps(words)})


def weights_of(about: AttentionFile) -> Tensor:
    """The weights of the sentence that is shown, float32 (layer, head, query, key).

    Raises:
        ValueError: if they have gone since, in a sentence.
    """
    try:
        weights, _ = _contents(about.key)
        return weights[:, about.item].to(torch.float32, copy=True).contiguous()
    except (LookupError, IndexError, StoreAway) as problem:
        raise ValueError(GONE if isinstance(problem, LookupError) else str(problem)) from problem


# The state of a page is read many times in a run, and each time asks. Names that are not there are not remembered:
# a visitor may load the file again at any time.
_latest: TTLCache[str, AttentionFile | str] = TTLCache(64, LOOKED_UP_EVERY)
_lock = threading.Lock()


def forget() -> None:
    """Forget what was looked up. The app never does; tests do, whose stores are others."""
    with _lock:
        _latest.clear()
    _read.cache_clear()


def _look_up(name: str, key: str, item: int) -> AttentionFile | str:
    """What is known of the weights, or why they are not there."""
    with _lock:
        if (latest := _latest.get(name)) is not None:
            return latest
    try:
        entry = store().entry(UPLOADS, key)
        there: AttentionFile | str = _read(key, entry.digest, item) if entry else GONE
    except LookupError:
        return GONE
    except StoreAway as away:
        there = f"The attention weights of this link cannot be looked up now. {away}"
    if there != GONE:
        with _lock:
            _latest[name] = there
    return there


@lru_cache(maxsize=32)
def _read(key: str, digest: str, item: int) -> AttentionFile:
    """What is known of a file with this digest, which is read once and not for each page.

    Raises:
        LookupError: if it is not there, or has no such sentence.
    """
    weights, words = _contents(key)
    layers, batch, heads, length, _ = weights.shape
    if item >= batch:
        raise LookupError(f"expected a sentence of {batch:,}, got number {item + 1:,}")
    return AttentionFile(
        key=key,
        digest=digest,
        file=str(words["file"]),
        num_layers=layers,
        num_heads=heads,
        length=length,
        batch=batch,
        item=item,
        named=tuple(map(str, words["tokens"][item])) if words["tokens"] else (),
        notes=tuple(map(str, words["notes"])),
        tolerance=float(words["tolerance"]),
        rows_sum_to_1=bool(words["sums"]),
        is_causal=bool(words["causal"]),
    )


def _contents(key: str) -> tuple[Tensor, Mapping[str, Any]]:
    """The weights, (layer, batch, head, query, key), and the words, as `as_bytes` has written them.

    Raises:
        LookupError: for anything else; nothing in it is executed.
    """
    value = store().get(UPLOADS, key)
    if value is None:
        raise LookupError(f"expected an upload that is kept, got {key}")
    try:
        weights = load(value)["weights"]
        words = json.loads(json.loads(value[8 : 8 + int.from_bytes(value[:8], "little")])["__metadata__"]["about"])
        _, batch, _, queries, keys = weights.shape
        if queries != keys or not weights.is_floating_point() or min(weights.shape) < 1:
            raise ValueError(f"expected floats, (layer, batch, head, query, key); got {tuple(weights.shape)}")
        tokens = words["tokens"]
        if tokens and (len(tokens) != batch or any(len(sentence) != keys for sentence in tokens)):
            raise ValueError(f"expected {keys} tokens for each of {batch} sentences, got others")
        # What was kept is finite and not below 0; somebody else may write to a Redis server.
        if not bool((weights.isfinite() & (weights >= 0)).all()):
            raise ValueError("expected finite weights of at least 0, got others")
        return weights, {name: words[name] for name in ("file", "tokens", "notes", "tolerance", "sums", "causal")}
    except (SafetensorError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as problem:
        raise LookupError(f"expected weights that this app has kept, got {len(value):,} other bytes") from problem


arrays.looked_up_by(_look_up)
