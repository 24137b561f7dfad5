"""The transformer: tokens in, logits out.

    tokens -> embedding * sqrt(d_model) + positions -> layers -> final norm (pre-norm) -> logits

Models that others have trained do some of it otherwise: see the second half of `TransformerConfig`.

An encoder sees everything, a decoder never looks ahead, an encoder-decoder is one of each, the decoder also
looking at the encoder's output. Padding is hidden from attention by itself. Vaswani et al. 2017.

A decoder that writes need not read its text anew for each token: `model(new_tokens, cache=cache)`, see cache.py.
"""

import math
from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache, partial
from itertools import repeat

import torch
from torch import Tensor, nn

from tfm_core.masks.basic import causal_mask, check_mask, combine_masks, padding_mask
from tfm_core.masks.patterns import window_mask
from tfm_core.model.cache import KeyValueCache
from tfm_core.model.config import TransformerConfig
from tfm_core.model.feed_forward import ACTIVATIONS
from tfm_core.model.initialization import SharedParameters, fill_parameters
from tfm_core.model.layer import TransformerLayer
from tfm_core.model.normalization import NORMALIZATIONS
from tfm_core.model.recording import Tapped, name_sites
from tfm_core.model.trained import RANDOM, mapped_weights, put_in_place, put_trained
from tfm_core.model.unfilled import Linear, copied
from tfm_core.positional.schemes import POSITIONAL, biases_made_once


class Stack(Tapped):
    """Embedding, positions and layers: all of an encoder, or of a decoder but its logits.

    Records `embedding` (batch, seq, d_model), `position` (seq, d_model) where the scheme adds one, and in
    pre-norm `final_norm` (batch, seq, d_model), beside what its layers record. Where there are token types,
    `token_types`, and where embeddings are normed, `embedding_norm`, both (batch, seq, d_model).
    """

    def __init__(self, config: TransformerConfig, *, decoder: bool, cross_attention: bool = False) -> None:
        super().__init__()
        self.config, self.decoder = config, decoder
        shape = config.vocab_size, config.d_model
        # Given a weight, nn.Embedding draws none: on the meta device, drawing makes torch import its compiler, which
        # takes 2 s.
        self.embedding = nn.Embedding(*shape, _weight=torch.empty(shape))
        self.token_types: nn.Embedding | None = None
        if config.num_token_types:
            of_types = config.num_token_types, config.d_model
            self.token_types = nn.Embedding(*of_types, _weight=torch.empty(of_types))
        self.positional = POSITIONAL[config.positional](
            d_model=config.d_model,
            num_heads=config.num_heads,
            max_len=config.max_len,
            bidirectional=not decoder,
            base=config.positional_base,
            offset=config.position_offset,
            pairing=config.rope_pairing,
        )
        new_norm = partial(NORMALIZATIONS[config.normalization], config.d_model, eps=config.norm_eps)
        self.embedding_norm = new_norm() if config.embedding_norm else None
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
                normalization=config.normalization,
                norm_eps=config.norm_eps,
                num_kv_heads=config.num_kv_heads,
                qkv_bias=config.qkv_bias,
                output_bias=config.output_bias,
                feed_forward_bias=config.feed_forward_bias,
            )
            for _ in range(config.num_layers)
        )
        self.final_norm = new_norm() if config.norm == "pre" else None
        self.dropout = nn.Dropout(config.dropout)

    def forward(
        self,
        tokens: Tensor,
        mask: Tensor | None = None,
        *,
        memory: Tensor | None = None,
        memory_mask: Tensor | None = None,
        cache: KeyValueCache | None = None,
        token_types: Tensor | None = None,
    ) -> Tensor:
        """Token ids (batch, seq) -> the residual stream after the last layer, (batch, seq, d_model)."""
        x, visible = self.embed(tokens, token_types), self.padding(tokens)
        places = None
        if visible is not None and not self.config.padding_takes_position:
            places = (visible[:, 0, 0].cumsum(-1) - 1).clamp(min=0)
        if cache is not None:
            visible = cache.see(visible, tokens.shape)
        mask = combine_masks(mask, visible)
        return self.run(x, mask, memory=memory, memory_mask=memory_mask, cache=cache, places=places)

    def embed(self, tokens: Tensor, token_types: Tensor | None = None) -> Tensor:
        """Token ids (batch, seq) -> their embeddings, (batch, seq, d_model): times sqrt(d_model), unless that is off.

        Where there are token types, what they add is in them; `token_types` (batch, seq) are 0 by default.
        """
        scale = math.sqrt(self.config.d_model) if self.config.scale_embeddings else 1.0
        x = self.tap("embedding", self.embedding(tokens) * scale)
        if self.token_types is None:
            return x
        types = torch.zeros_like(tokens) if token_types is None else token_types
        return x + self.tap("token_types", self.token_types(types))

    def place(self, x: Tensor, start: int = 0, places: Tensor | None = None) -> Tensor:
        """Embeddings -> what the first layer reads: with positions, if the scheme adds any here, and their norm.

        Args:
            x: (batch, seq, d_model).
            start: the position of the first of them, after which the others follow.
            places: (batch, seq), the position of each, if they do not follow each other.
        """
        encoding = self.positional.encode(x.shape[1], start)
        if encoding is not None:
            encoding = encoding if places is None else encoding[places]
            x = x + self.tap("position", encoding.to(x))
        return x if self.embedding_norm is None else self.tap("embedding_norm", self.embedding_norm(x))

    @biases_made_once()
    def run(
        self,
        x: Tensor,
        mask: Tensor | None = None,
        *,
        memory: Tensor | None = None,
        memory_mask: Tensor | None = None,
        cache: KeyValueCache | None = None,
        places: Tensor | None = None,
    ) -> Tensor:
        """The same from embeddings on: (batch, seq, d_model) in and out; `places` as in `place`."""
        start, layers = (0, repeat(None)) if cache is None else (cache.length, cache.layers)
        query_len = x.shape[1]
        x = self.dropout(self.place(x, start, places))
        if self.config.sliding_window and self.config.sliding_window < start + query_len:
            near = window_mask(query_len, start + query_len, window=self.config.sliding_window).to(x.device)
            mask = combine_masks(mask, near)
        if self.decoder and query_len > 1:  # a single token is the last, and sees all
            mask = combine_masks(mask, causal_mask(query_len, start + query_len, device=x.device))
        for layer, stored in zip(self.layers, layers, strict=False):
            x = layer(x, mask, memory=memory, memory_mask=memory_mask, positional=self.positional, stored=stored)
        return x if self.final_norm is None else self.tap("final_norm", self.final_norm(x))

    def padding(self, tokens: Tensor) -> Tensor | None:
        """The padding mask of these tokens, or None where there is no padding and nothing to hide."""
        mask = padding_mask(tokens, self.config.pad_id)
        return None if bool(mask.all()) else mask


class OutputTransform(nn.Module):
    """What a masked-word head does before its matrix: norm(act(W x + b)), each position alone. Devlin et al. 2019."""

    def __init__(self, config: TransformerConfig) -> None:
        super().__init__()
        self.projection = Linear(config.d_model, config.d_model)
        self.activation = ACTIVATIONS[config.activation].function
        self.norm = NORMALIZATIONS[config.normalization](config.d_model, eps=config.norm_eps)

    def forward(self, x: Tensor) -> Tensor:
        """(batch, seq, d_model) in and out."""
        y: Tensor = self.norm(self.activation(self.projection(x)))
        return y


class Transformer(Tapped):
    """A transformer by its configuration, with weights drawn from (seed, parameter name), or trained.

    Vaswani et al. 2017, figure 1: an encoder, a decoder, or both.

    Sites of the recording: `embedding`, `position`, `layers.0.self_attention.weights`, ..., `final_norm`; in an
    encoder-decoder the same after `encoder.` and `decoder.`; `logits` (batch, seq, vocab) in all but those without a
    head; `transform` (batch, seq, d_model) before the logits of a masked-word head; `pooled` (batch, d_model) in
    those with a pooler.

    Args:
        config: all that the model depends on.
        weights: name of a parameter -> its values, of its shape and dtype, which become the parameter as they are,
            without a copy: memory-mapped ones stay so. What has no values here is drawn.
        shared: the drawn parameters of other models, to use those that are also this one's. Without it, the model has
            all parameters for itself, and may be trained; trained weights never are shared.

    Raises:
        ValueError: for weights that are not known, or of another dtype than float32.

    Examples:
        >>> import torch
        >>> from tfm_core import Transformer, TransformerConfig
        >>> config = TransformerConfig(vocab_size=50, d_model=8, num_heads=2, seed=7)
        >>> model, tokens = Transformer(config).eval(), torch.tensor([[5, 6, 7]])
        >>> with torch.no_grad():
        ...     logits = model(tokens)  # (batch, seq, vocab)
        >>> logits.shape
        torch.Size([1, 3, 50])
        >>> torch.allclose(logits, Transformer(config).eval()(tokens), atol=1e-5)  # the same seed, the same weights
        True
    """

    stack: Stack  # of an encoder or a decoder
    encoder: Stack  # these two of an encoder-decoder
    decoder: Stack
    unembedding: Linear
    transform: OutputTransform  # of a masked-word head
    pooler: Linear

    def __init__(
        self,
        config: TransformerConfig,
        shared: SharedParameters | None = None,
        *,
        weights: Mapping[str, Tensor] | None = None,
    ) -> None:
        super().__init__()
        self.config = config
        for name, part in _empty_parts(replace(config, seed=0, weights=RANDOM)).items():
            setattr(self, name, copied(part))
        for stack in self._stacks():
            stack.config = config
        if config.tie_embeddings:
            self._tie()
        if weights is None and config.weights != RANDOM:
            weights = mapped_weights(config.weights)
        is_drawn = weights is None and config.weights == RANDOM
        if weights is not None:
            put_in_place(self, weights)
        fill_parameters(self, config.seed, torch.get_default_device(), shared if is_drawn else None, missing=True)
        if not is_drawn and weights is None:
            put_trained(self, config.weights)

    def forward(
        self,
        source: Tensor,
        target: Tensor | None = None,
        *,
        mask: Tensor | None = None,
        cross_mask: Tensor | None = None,
        cache: KeyValueCache | None = None,
        token_types: Tensor | None = None,
    ) -> Tensor:
        """Logits (batch, seq, vocab): `model(tokens)`, or in an encoder-decoder `model(source, target)`.

        Of a model without a head, the last hidden states (batch, seq, d_model).

        Args:
            source: token ids (batch, seq).
            target: token ids (batch, target) of the decoder, in an encoder-decoder alone.
            mask: boolean, True = may attend, broadcasts to (batch, head, query, key); of the self-attention, in an
                encoder-decoder the decoder's. Combined by and with padding and causality.
            cross_mask: likewise for the cross-attention.
            cache: what a decoder has stored of earlier tokens: `source` are the tokens after these, the logits are
                theirs, the mask's key axis is that of all. They are added to the cache; if the pass breaks off,
                the cache stays as it was.
            token_types: (batch, seq), the type of each token in a model that has types; 0 by default.

        Raises:
            ValueError: naming what was expected and what came.
        """
        states = self.states(source, target, mask=mask, cross_mask=cross_mask, cache=cache, token_types=token_types)
        if self.config.pooler and self.wanted("pooled"):
            self.pooled(states)
        return self.logits(states)

    def states(
        self,
        source: Tensor,
        target: Tensor | None = None,
        *,
        mask: Tensor | None = None,
        cross_mask: Tensor | None = None,
        cache: KeyValueCache | None = None,
        token_types: Tensor | None = None,
    ) -> Tensor:
        """What the logits are made of, (batch, seq, d_model): the same pass, and the same arguments, without its end.

        For whoever looks at layers alone: at these sizes the logits take as long as a layer.

        Raises:
            ValueError: naming what was expected and what came.
        """
        self._check_ids("source", source)
        self._check_types(source, token_types)
        if self.config.architecture != "encoder-decoder":
            if target is not None or cross_mask is not None:
                raise ValueError(
                    f"expected model(tokens) of {self.config.architecture!r}; got a target or a cross_mask"
                )
            if cache is not None:
                return self._go_on(source, mask, cache)
            self._check_mask("mask", mask, source, source.shape[1])
            states: Tensor = self.stack(source, mask, token_types=token_types)
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

    def logits(self, states: Tensor) -> Tensor:
        """The logits (batch, seq, vocab) of last hidden states (batch, seq, d_model); without a head, these states."""
        if self.config.head == "none":
            return states
        if self.config.head == "masked":
            states = self.tap("transform", self.transform(states))
        return self.tap("logits", self.unembedding(states))

    def pooled(self, states: Tensor) -> Tensor:
        """One vector for a text: tanh(W x + b) of the first token's last hidden state, (batch, d_model).

        Devlin et al. 2019 classify with it. It is not that hidden state itself.

        Raises:
            ValueError: of a model without a pooler.
        """
        if not self.config.pooler:
            raise ValueError("pooled: expected a model with a pooler, got one without")
        return self.tap("pooled", self.pooler(states[:, 0]).tanh())

    def _stacks(self) -> list[Stack]:
        return [stack for stack in self.children() if isinstance(stack, Stack)]

    def _tie(self) -> None:
        stacks = self._stacks()
        for stack in stacks:
            stack.embedding.weight = stacks[0].embedding.weight
        if self.config.head != "none":
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

    def _check_types(self, tokens: Tensor, types: Tensor | None) -> None:
        if types is None:
            return
        known = self.config.num_token_types
        if not known or types.shape != tokens.shape or not 0 <= int(types.min()) <= int(types.max()) < known:
            expected = f"types 0 to {known - 1} of shape {tuple(tokens.shape)}" if known else "none, as it has no types"
            raise ValueError(f"token_types: expected {expected}; got {tuple(types.shape)}, {types.tolist()!r:.60}")

    def _check_mask(self, name: str, mask: Tensor | None, queries: Tensor, key_len: int) -> None:
        if mask is not None:
            shape = (len(queries), self.config.num_heads, queries.shape[1], key_len)
            check_mask(mask, shape, name=name)


# A model of two layers is copied in 0.3 ms and built in 1; a slider of the seed builds one at each step.
@lru_cache(maxsize=32)
def _empty_parts(config: TransformerConfig) -> Mapping[str, nn.Module]:
    """Name -> a stack or the output matrix, of this shape: without memory, without random numbers, its sites named."""
    with torch.device("meta"):
        end: dict[str, nn.Module] = {}
        if config.head == "masked":
            end["transform"] = OutputTransform(config)
        if config.head != "none":
            end["unembedding"] = Linear(config.d_model, config.vocab_size, bias=config.head == "masked")
        if config.pooler:
            end["pooler"] = Linear(config.d_model, config.d_model)
        if config.architecture != "encoder-decoder":
            # The one stack of an encoder or a decoder needs no prefix in the names of its sites.
            stack = Stack(config, decoder=config.architecture == "decoder")
            name_sites(stack)
            return {"stack": stack, **end}
        stacks = {
            "encoder": Stack(config, decoder=False),
            "decoder": Stack(config, decoder=True, cross_attention=True),
        }
        name_sites(nn.ModuleDict(stacks))
        return {**stacks, **end}
