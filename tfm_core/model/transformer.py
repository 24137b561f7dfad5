"""The transformer: tokens in, logits out.

    tokens -> embedding * sqrt(d_model) + positions -> layers -> final norm (pre-norm) -> logits

An encoder sees everything, a decoder never looks ahead, an encoder-decoder is one of each, the decoder also
looking at the encoder's output. Padding is hidden from attention by itself. Vaswani et al. 2017.

A decoder that writes need not read its text anew for each token: `model(new_tokens, cache=cache)`, see cache.py.
"""

import math
from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache
from itertools import repeat

import torch
from torch import Tensor, nn

from tfm_core.masks.basic import causal_mask, check_mask, combine_masks, padding_mask
from tfm_core.model.cache import KeyValueCache
from tfm_core.model.config import TransformerConfig
from tfm_core.model.initialization import SharedParameters, fill_parameters
from tfm_core.model.layer import TransformerLayer
from tfm_core.model.recording import Tapped, name_sites
from tfm_core.model.trained import RANDOM, put_trained
from tfm_core.model.unfilled import LayerNorm, Linear, copied
from tfm_core.positional.schemes import POSITIONAL, biases_made_once


class Stack(Tapped):
    """Embedding, positions and layers: all of an encoder, or of a decoder but its logits.

    Records `embedding` (batch, seq, d_model), `position` (seq, d_model) where the scheme adds one, and in
    pre-norm `final_norm` (batch, seq, d_model), beside what its layers record.
    """

    def __init__(self, config: TransformerConfig, *, decoder: bool, cross_attention: bool = False) -> None:
        super().__init__()
        self.config, self.decoder = config, decoder
        shape = config.vocab_size, config.d_model
        # Given a weight, nn.Embedding draws none: on the meta device, drawing makes torch import its compiler, which
        # takes 2 s.
        self.embedding = nn.Embedding(*shape, _weight=torch.empty(shape))
        self.positional = POSITIONAL[config.positional](
            d_model=config.d_model, num_heads=config.num_heads, max_len=config.max_len, bidirectional=not decoder
        )
        self.layers = nn.ModuleList(
            TransformerLayer(
                config.d_model,
                config.num_heads,
                config.feed_forward_dim,
                norm=config.norm,
                activation=config.activation,
                attention=config.attention,
                dropout=config.dropout,
                cross_attention=cross_attention,
            )
            for _ in range(config.num_layers)
        )
        self.final_norm = LayerNorm(config.d_model) if config.norm == "pre" else None
        self.dropout = nn.Dropout(config.dropout)

    def forward(
        self,
        tokens: Tensor,
        mask: Tensor | None = None,
        *,
        memory: Tensor | None = None,
        memory_mask: Tensor | None = None,
        cache: KeyValueCache | None = None,
    ) -> Tensor:
        """Token ids (batch, seq) -> the residual stream after the last layer, (batch, seq, d_model)."""
        x, visible = self.embed(tokens), self.padding(tokens)
        if cache is not None:
            visible = cache.see(visible, tokens.shape)
        return self.run(x, combine_masks(mask, visible), memory=memory, memory_mask=memory_mask, cache=cache)

    def embed(self, tokens: Tensor) -> Tensor:
        """Token ids (batch, seq) -> their embeddings times sqrt(d_model), (batch, seq, d_model)."""
        return self.tap("embedding", self.embedding(tokens) * math.sqrt(self.config.d_model))

    def place(self, x: Tensor, start: int = 0) -> Tensor:
        """Embeddings -> what the first layer reads: with positions, `start` and up, if the scheme adds any here."""
        encoding = self.positional.encode(x.shape[1], start)
        return x if encoding is None else x + self.tap("position", encoding.to(x))

    @biases_made_once()
    def run(
        self,
        x: Tensor,
        mask: Tensor | None = None,
        *,
        memory: Tensor | None = None,
        memory_mask: Tensor | None = None,
        cache: KeyValueCache | None = None,
    ) -> Tensor:
        """The same from embeddings on: (batch, seq, d_model) in and out."""
        start, layers = (0, repeat(None)) if cache is None else (cache.length, cache.layers)
        query_len = x.shape[1]
        x = self.dropout(self.place(x, start))
        if self.decoder and query_len > 1:  # a single token is the last, and sees all
            mask = combine_masks(mask, causal_mask(query_len, start + query_len, device=x.device))
        for layer, stored in zip(self.layers, layers, strict=False):
            x = layer(x, mask, memory=memory, memory_mask=memory_mask, positional=self.positional, stored=stored)
        return x if self.final_norm is None else self.tap("final_norm", self.final_norm(x))

    def padding(self, tokens: Tensor) -> Tensor | None:
        """The padding mask of these tokens, or None where there is no padding and nothing to hide."""
        mask = padding_mask(tokens, self.config.pad_id)
        return None if bool(mask.all()) else mask


class Transformer(Tapped):
    """A transformer by its configuration, with weights drawn from (seed, parameter name), or trained.

    Sites of the recording: `embedding`, `position`, `layers.0.self_attention.weights`, ..., `final_norm`; in an
    encoder-decoder the same after `encoder.` and `decoder.`; `logits` (batch, seq, vocab) in all.

    Args:
        config: all that the model depends on.
        shared: the drawn parameters of other models, to use those that are also this one's. Without it, the model has
            all parameters for itself, and may be trained; trained weights never are shared.
    """

    stack: Stack  # of an encoder or a decoder
    encoder: Stack  # these two of an encoder-decoder
    decoder: Stack
    unembedding: Linear

    def __init__(self, config: TransformerConfig, shared: SharedParameters | None = None) -> None:
        super().__init__()
        self.config = config
        for name, part in _empty_parts(replace(config, seed=0, weights=RANDOM)).items():
            setattr(self, name, copied(part))
        for stack in self._stacks():
            stack.config = config
        if config.tie_embeddings:
            self._tie()
        is_drawn = config.weights == RANDOM
        fill_parameters(self, config.seed, torch.get_default_device(), shared if is_drawn else None)
        if not is_drawn:
            put_trained(self, config.weights)

    def forward(
        self,
        source: Tensor,
        target: Tensor | None = None,
        *,
        mask: Tensor | None = None,
        cross_mask: Tensor | None = None,
        cache: KeyValueCache | None = None,
    ) -> Tensor:
        """Logits (batch, seq, vocab): `model(tokens)`, or in an encoder-decoder `model(source, target)`.

        Args:
            source: token ids (batch, seq).
            target: token ids (batch, target) of the decoder, in an encoder-decoder alone.
            mask: boolean, True = may attend, broadcasts to (batch, head, query, key); of the self-attention, in an
                encoder-decoder the decoder's. Combined by and with padding and causality.
            cross_mask: likewise for the cross-attention.
            cache: what a decoder has stored of earlier tokens: `source` are the tokens after these, the logits are
                theirs, the mask's key axis is that of all. They are added to the cache; if the pass breaks off,
                the cache stays as it was.

        Raises:
            ValueError: naming what was expected and what came.
        """
        return self._logits(self.states(source, target, mask=mask, cross_mask=cross_mask, cache=cache))

    def states(
        self,
        source: Tensor,
        target: Tensor | None = None,
        *,
        mask: Tensor | None = None,
        cross_mask: Tensor | None = None,
        cache: KeyValueCache | None = None,
    ) -> Tensor:
        """What the logits are made of, (batch, seq, d_model): the same pass, and the same arguments, without its end.

        For whoever looks at layers alone: at these sizes the logits take as long as a layer.
        """
        self._check_ids("source", source)
        if self.config.architecture != "encoder-decoder":
            if target is not None or cross_mask is not None:
                raise ValueError(
                    f"expected model(tokens) of {self.config.architecture!r}; got a target or a cross_mask"
                )
            if cache is not None:
                return self._go_on(source, mask, cache)
            self._check_mask("mask", mask, source, source.shape[1])
            states: Tensor = self.stack(source, mask)
            return states

        if cache is not None:
            raise ValueError("cache: expected none for an encoder-decoder, got one")
        if target is None:
            raise ValueError("expected model(source, target) of an encoder-decoder, got no target")
        self._check_ids("target", target)
        if len(source) != len(target):
            raise ValueError(f"expected source and target of one batch size, got {len(source)} and {len(target)}")
        self._check_mask("mask", mask, target, target.shape[1])
        self._check_mask("cross_mask", cross_mask, target, source.shape[1])
        memory = self.encoder(source)
        cross_mask = combine_masks(cross_mask, self.encoder.padding(source))
        states = self.decoder(target, mask, memory=memory, memory_mask=cross_mask)
        return states

    def _go_on(self, tokens: Tensor, mask: Tensor | None, cache: KeyValueCache) -> Tensor:
        """What the logits are made of, of tokens that come after those in the cache."""
        cache.check(self.config, len(tokens))
        self._check_mask("mask", mask, tokens, cache.length + tokens.shape[1])
        draft = cache.copy()  # so that a pass that breaks off leaves no layer longer than the others
        states: Tensor = self.stack(tokens, mask, cache=draft)
        cache.become(draft)
        return states

    def _logits(self, x: Tensor) -> Tensor:
        return self.tap("logits", self.unembedding(x))

    def _stacks(self) -> list[Stack]:
        return [stack for stack in self.children() if isinstance(stack, Stack)]

    def _tie(self) -> None:
        stacks = self._stacks()
        for stack in stacks:
            stack.embedding.weight = stacks[0].embedding.weight
        self.unembedding.weight = stacks[0].embedding.weight

    def _check_ids(self, name: str, tokens: Tensor) -> None:
        if not isinstance(tokens, Tensor):
            raise ValueError(f"{name}: expected a tensor of token ids (batch, seq), got {type(tokens).__name__}")
        if tokens.dim() != 2 or 0 in tokens.shape or tokens.dtype not in (torch.int64, torch.int32):
            raise ValueError(
                f"{name}: expected token ids (batch, seq) of dtype int64 or int32, not empty; "
                f"got {tuple(tokens.shape)}, {tokens.dtype}"
            )
        lowest, highest = (int(end) for end in tokens.aminmax())
        if lowest < 0 or highest >= self.config.vocab_size:
            raise ValueError(
                f"{name}: expected ids below vocab_size={self.config.vocab_size}, from 0 on; got {lowest} to {highest}"
            )

    def _check_mask(self, name: str, mask: Tensor | None, queries: Tensor, key_len: int) -> None:
        if mask is not None:
            shape = (len(queries), self.config.num_heads, queries.shape[1], key_len)
            check_mask(mask, shape, name=name)


# A model of two layers is copied in 0.3 ms and built in 1; a slider of the seed builds one at each step.
@lru_cache(maxsize=32)
def _empty_parts(config: TransformerConfig) -> Mapping[str, nn.Module]:
    """Name -> a stack or the output matrix, of this shape: without memory, without random numbers, its sites named."""
    with torch.device("meta"):
        unembedding = Linear(config.d_model, config.vocab_size, bias=False)
        if config.architecture != "encoder-decoder":
            # The one stack of an encoder or a decoder needs no prefix in the names of its sites.
            stack = Stack(config, decoder=config.architecture == "decoder")
            name_sites(stack)
            return {"stack": stack, "unembedding": unembedding}
        stacks = {
            "encoder": Stack(config, decoder=False),
            "decoder": Stack(config, decoder=True, cross_attention=True),
        }
        name_sites(nn.ModuleDict(stacks))
        return {**stacks, "unembedding": unembedding}
