"""The key-value cache: what a decoder keeps of the tokens that it has read, so that each is read once.

    cache = KeyValueCache(model.config)
    model(prompt, cache=cache)  # logits (batch, prompt, vocab)
    model(token, cache=cache)  # logits (batch, 1, vocab), of the token after the prompt

A token's keys and values depend on the tokens before it alone, as a decoder never looks ahead: what later tokens look
up is the same whenever it is computed. So the logits are those of a pass over the whole text. Pope et al. 2022,
section 2.1, count what the cache saves, and what reading it costs.
"""

from typing import Protocol

import torch
from torch import Tensor

from tfm_core.model.attention import ATTENTION
from tfm_core.model.kind import Kind
from tfm_core.model.stored import Stored


class Cached(Kind, Protocol):
    """What a cache needs to know of a `TransformerConfig`."""

    @property
    def architecture(self) -> str:
        """Decoders alone have a cache."""

    @property
    def attention(self) -> str:
        """A key of `ATTENTION`."""

    @property
    def num_layers(self) -> int:
        """Each has keys and values."""


class KeyValueCache:
    """Keys and values of every layer of a decoder, and which of the stored tokens are padding.

    A pass with the cache adds to it. What was stored is never changed, so `copy` and `cut` cost next to nothing, and
    several texts can go on from one beginning. Each cache is for one thread at a time; its copies may be others'.

    Args:
        config: of the model, and of no other one.

    Attributes:
        layers: the `Stored` keys and values of each layer.
        visible: boolean (batch, 1, 1, seq), False where padding is stored; None where there is no padding.

    Raises:
        ValueError: for a model that is no decoder, or a kind of attention that has no cache.

    Examples:
        >>> import torch
        >>> from tfm_core import KeyValueCache, Transformer, TransformerConfig
        >>> config = TransformerConfig(vocab_size=50, architecture="decoder", d_model=8, num_heads=2)
        >>> model, cache = Transformer(config).eval(), KeyValueCache(config)
        >>> tokens = torch.tensor([[5, 6, 7, 8]])
        >>> with torch.no_grad():
        ...     _ = model(tokens[:, :3], cache=cache)
        ...     last = model(tokens[:, 3:], cache=cache)
        ...     torch.allclose(last[:, -1], model(tokens)[:, -1], atol=1e-5)
        True
        >>> cache.length, tuple(cache.keys(0).shape)
        (4, (1, 2, 4, 4))
        >>> cache.nbytes == KeyValueCache.memory_of(config, 4)
        True
    """

    def __init__(self, config: Cached) -> None:
        if config.architecture != "decoder":
            raise ValueError(
                f"cache: expected architecture='decoder', whose tokens never look ahead; got {config.architecture!r}"
            )
        if not can_cache(config):
            kinds = ", ".join(name for name, kind in ATTENTION.items() if kind.has_cache)
            raise ValueError(
                f"cache: expected attention of a kind whose earlier tokens do not change when others follow, one of "
                f"{kinds}; got {config.attention!r}"
            )
        self.config = config
        self.layers = [Stored() for _ in range(config.num_layers)]
        self.visible: Tensor | None = None

    def __repr__(self) -> str:
        return f"KeyValueCache of {self.length} tokens, {self.nbytes} bytes"

    @property
    def length(self) -> int:
        """How many tokens are stored."""
        return self.layers[0].length

    @property
    def batch(self) -> int | None:
        """How many texts are stored side by side; None as long as nothing is stored."""
        keys = self.layers[0].keys
        return None if keys is None else len(keys)

    @property
    def nbytes(self) -> int:
        """Bytes of all keys and values. Copies that share tensors count them, too."""
        return sum(self.keys(layer).nbytes + self.values(layer).nbytes for layer in range(len(self.layers)))

    @staticmethod
    def memory_of(config: Cached, length: int, *, batch: int = 1, number: int = 4) -> int:
        """What `nbytes` will be with `length` tokens: 2 layers d_model length batch, each of `number` bytes.

        Where heads share keys and values, those of num_kv_heads in place of num_heads, and so a part of it.
        """
        width = config.d_model // config.num_heads * (config.num_kv_heads or config.num_heads)
        return 2 * config.num_layers * width * length * batch * number

    def keys(self, layer: int) -> Tensor:
        """What a layer matches new queries with, (batch, head, seq, head_dim); under rope, turned by position."""
        return self._tensor(self.layers[layer].keys)

    def values(self, layer: int) -> Tensor:
        """What a layer's new queries gather, (batch, head, seq, head_dim)."""
        return self._tensor(self.layers[layer].values)

    def copy(self) -> "KeyValueCache":
        """The same tokens, to go on with another text after them. Nothing is copied but references."""
        return self._with([Stored(layer.keys, layer.values) for layer in self.layers], self.visible)

    def cut(self, length: int) -> "KeyValueCache":
        """The first `length` tokens alone, to go on from there: a cache with tensors of its own.

        Raises:
            ValueError: for more tokens than there are.
        """
        if not 0 <= length <= self.length:
            raise ValueError(f"cut: expected a length from 0 to {self.length}, got {length}")
        if length == self.length:
            return self.copy()
        if not length:
            return KeyValueCache(self.config)
        part = slice(length)
        layers = [
            Stored(self.keys(i)[:, :, part].contiguous(), self.values(i)[:, :, part].contiguous())
            for i in range(len(self.layers))
        ]
        return self._with(layers, None if self.visible is None else self.visible[..., part])

    def select(self, rows: Tensor) -> "KeyValueCache":
        """The texts of these rows of the batch, int64 (new batch); a row may be there several times, or not at all."""
        layers = [Stored(self.keys(i)[rows], self.values(i)[rows]) for i in range(len(self.layers))]
        return self._with(layers, None if self.visible is None else self.visible[rows])

    def check(self, config: Cached, batch: int) -> None:
        """Refuse a model that cannot go on with these tokens.

        Args:
            config: of the model.
            batch: with how many texts it would go on.

        Raises:
            ValueError: for another configuration than the cache's, or another number of texts.
        """
        if config is not self.config and config != self.config:
            raise ValueError(f"cache: expected one of the model's own configuration {config}, got one of {self.config}")
        if self.batch not in (None, batch):
            raise ValueError(f"cache: expected {self.batch} texts, as many as are stored; got {batch}")

    def see(self, visible: Tensor | None, shape: tuple[int, ...]) -> Tensor | None:
        """Note which new tokens are padding; returns the mask for all keys, (batch, 1, 1, key), None without padding.

        Args:
            visible: boolean (batch, 1, 1, new), None where no new token is padding.
            shape: (batch, new).
        """
        if visible is not None or self.visible is not None:
            batch, new = shape
            parts = (self.visible, self.length), (visible, new)
            self.visible = torch.cat(
                [torch.ones(batch, 1, 1, size, dtype=torch.bool) if x is None else x for x, size in parts], -1
            )
        return self.visible

    def become(self, other: "KeyValueCache") -> None:
        """Take over what another cache of the same model stores."""
        self.layers, self.visible = other.layers, other.visible

    def _tensor(self, kept: Tensor | None) -> Tensor:
        heads = self.config.num_kv_heads or self.config.num_heads
        width = self.config.d_model // self.config.num_heads
        return kept if kept is not None else torch.empty(1, heads, 0, width)

    def _with(self, layers: list[Stored], visible: Tensor | None) -> "KeyValueCache":
        cache = object.__new__(KeyValueCache)
        cache.config, cache.layers, cache.visible = self.config, layers, visible
        return cache


def can_cache(config: Cached) -> bool:
    """Whether a model of this configuration can go on with a `KeyValueCache`.

    Examples:
        >>> from tfm_core import TransformerConfig, can_cache
        >>> can_cache(TransformerConfig(vocab_size=50, architecture="decoder"))
        True
        >>> can_cache(TransformerConfig(vocab_size=50, architecture="decoder", attention="linear"))
        False
    """
    return config.architecture == "decoder" and ATTENTION[config.attention].has_cache
