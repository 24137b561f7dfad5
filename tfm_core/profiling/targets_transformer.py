"""The transformers that can be measured: our own, whatever does the attention in it, and torch's own layers."""

from collections.abc import Callable, Iterator
from contextlib import nullcontext
from functools import partial

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.nn.attention import SDPBackend, sdpa_kernel

from tfm_core.masks.basic import causal_mask, combine_masks, to_ignore
from tfm_core.model.attention import MultiHeadAttention
from tfm_core.model.config import TransformerConfig
from tfm_core.model.encoder_twin import as_torch_encoder
from tfm_core.model.layer import TransformerLayer
from tfm_core.model.normalization import Norm
from tfm_core.model.recording import recording
from tfm_core.model.scaled_dot_product import mask_scores
from tfm_core.model.torch_twin import as_torch
from tfm_core.model.transformer import Stack, Transformer
from tfm_core.profiling.size import OF_CONFIG, Size


def config_of(size: Size, seed: int = 0) -> TransformerConfig:
    """The transformer that a size describes; where embedding and output are left out, with the smallest ones."""
    return TransformerConfig(
        vocab_size=size.vocab_size or 1,
        head="masked" if size.gives_logits and size.head == "masked" else "logits",
        seed=seed,
        **{name: getattr(size, name) for name in OF_CONFIG} | {"pooler": size.pooler and size.embeds},
    )


class Model(nn.Module):
    """The `Transformer` that a size describes, or its stacks alone where embedding and output are left out.

    (batch, seq, d_model) in and out; with an embedding token ids (batch, seq) in, with an output logits (batch, seq,
    vocab) out. Both stacks of an encoder-decoder read the same.

    Args:
        size: its numbers and choices; `batch` has no effect here.
        seed: of its weights.
        mask: of the self-attention beside the causal mask, in an encoder-decoder the decoder's.
        keeps_weights: whether all attention weights are recorded, and held until the pass has ended.
    """

    mask: Tensor | None

    def __init__(self, size: Size, seed: int = 0, *, mask: Tensor | None = None, keeps_weights: bool = False) -> None:
        super().__init__()
        self.size, self.keeps_weights = size, keeps_weights
        self.transformer = Transformer(config_of(size, seed))
        if not size.gives_logits:
            del self.transformer.unembedding
        if not size.embeds:
            for stack in self.stacks():
                del stack.embedding
                stack.token_types = None
        given = causal_mask(size.seq_len) if size.causal and size.architecture == "encoder" else None
        self.register_buffer("mask", combine_masks(given, mask))

    def stacks(self) -> Iterator[Stack]:
        """The model's encoder, its decoder, or both."""
        return (stack for stack in self.transformer.children() if isinstance(stack, Stack))

    def layers(self) -> Iterator[TransformerLayer]:
        """The layers of all stacks, in order."""
        return (layer for stack in self.stacks() for layer in stack.layers if isinstance(layer, TransformerLayer))

    def forward(self, x: Tensor) -> Tensor:
        """One pass."""
        with recording("*.weights") if self.keeps_weights else nullcontext():
            return self._pass(x)

    def _pass(self, x: Tensor) -> Tensor:
        model, size = self.transformer, self.size
        if size.embeds and size.gives_logits:
            logits: Tensor = model(x, x if size.num_stacks == 2 else None, mask=self.mask)
            return logits
        x = self._embedded(x) if size.embeds else self._run(x)
        return model.logits(x) if size.gives_logits else x

    def _embedded(self, tokens: Tensor) -> Tensor:
        """`Transformer.forward` but for its logits."""
        model = self.transformer
        if self.size.num_stacks == 1:
            alone: Tensor = model.stack(tokens, self.mask)
            return alone
        memory, hidden = model.encoder(tokens), model.encoder.padding(tokens)
        decoded: Tensor = model.decoder(tokens, self.mask, memory=memory, memory_mask=hidden)
        return decoded

    def _run(self, x: Tensor) -> Tensor:
        model = self.transformer
        if self.size.num_stacks == 1:
            return model.stack.run(x, self.mask)
        return model.decoder.run(x, self.mask, memory=model.encoder.run(x))


class FusedAttention(MultiHeadAttention):
    """Ours, by F.scaled_dot_product_attention at any length.

    Args:
        ours: whose shape it has.
        backend: the one of torch's kernels that is to do it; its own choice by default.
        causal: whether its only mask is the causal one: then the kernel is told so, and looks at no mask.
    """

    def __init__(self, ours: MultiHeadAttention, backend: SDPBackend | None = None, *, causal: bool) -> None:
        super().__init__(**ours.shape)
        self.backend, self.causal = backend, causal

    def _attend(self, q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None, bias: Tensor | None) -> Tensor:
        with sdpa_kernel(self.backend) if self.backend is not None else nullcontext():
            if self.causal and bias is None:
                return F.scaled_dot_product_attention(q, k, v, is_causal=True)
            # With a batch axis, as kernels other than MATH know no mask of three axes.
            return F.scaled_dot_product_attention(q, k, v, mask if bias is None else mask_scores(bias, mask)[None])


class TorchAttention(nn.Module):
    """nn.MultiheadAttention with the weights of ours, called as our layer calls."""

    def __init__(self, ours: MultiHeadAttention, *, causal: bool, keeps_weights: bool) -> None:
        super().__init__()
        self.attention, self.causal, self.keeps_weights = as_torch(ours), causal, keeps_weights

    def forward(
        self,
        x: Tensor,
        key: Tensor | None = None,
        *,
        mask: Tensor | None = None,
        positional: object = None,
        stored: None = None,
    ) -> Tensor:
        """(batch, seq, d_model) in and out, without a cache. The weights of every head are dropped, where asked for.

        Positions that act inside the attention never come here (`lacks_inner_positions`).
        """
        keys = x if key is None else key
        hidden = None if mask is None else to_ignore(mask)
        how = {"need_weights": self.keeps_weights, "average_attn_weights": False, "is_causal": self.causal}
        output: Tensor = self.attention(x, keys, keys, attn_mask=hidden, **how)[0]
        return output


class TorchLayers(nn.Module):
    """nn.TransformerEncoder with the weights of all of our layers, called as our stack calls one layer."""

    def __init__(self, layers: list[TransformerLayer], final_norm: Norm | None) -> None:
        super().__init__()
        self.encoder = as_torch_encoder(layers, final_norm)

    def forward(
        self,
        x: Tensor,
        mask: Tensor | None = None,
        *,
        memory: None,
        memory_mask: None,
        positional: object,
        stored: None = None,
    ) -> Tensor:
        """(batch, seq, d_model) in and out; no cache and no memory: it is one stack (`lacks_in_torchs_encoder`)."""
        hidden = None if mask is None else to_ignore(mask)
        output: Tensor = self.encoder(x, hidden, is_causal=mask is not None)
        return output


def ours(size: Size, seed: int = 0, *, keeps_weights: bool = False) -> Model:
    """This library's model, as a target."""
    return Model(size, seed, keeps_weights=keeps_weights)


def masked(size: Size, seed: int = 0, *, mask: Callable[[int], Tensor]) -> Model:
    """The same under a mask, made once from the length."""
    return Model(size, seed, mask=mask(size.seq_len))


def fused(size: Size, seed: int = 0, *, backend: SDPBackend | None = None) -> Model:
    """Our layers around torch's fused kernel."""

    def build(ours: MultiHeadAttention, *, causal: bool) -> nn.Module:
        with torch.device("meta"):  # nothing is drawn
            attention = FusedAttention(ours, backend, causal=causal)
        attention.load_state_dict(ours.state_dict(keep_vars=True), assign=True)
        attention.prefix = ours.prefix
        return attention

    return _with_attention(Model(size, seed), build)


def torch_attention(size: Size, seed: int = 0, *, keeps_weights: bool = False) -> Model:
    """Our layers around nn.MultiheadAttention."""
    return _with_attention(Model(size, seed), partial(TorchAttention, keeps_weights=keeps_weights))


def torch_encoder(size: Size, seed: int = 0) -> Model:
    """Our embedding, positions and output around nn.TransformerEncoder."""
    model = Model(size, seed)
    (stack,) = model.stacks()
    stack.layers = nn.ModuleList([TorchLayers(list(model.layers()), stack.final_norm)])
    stack.final_norm = None  # torch's encoder has it
    return model


def lacks_inner_positions(size: Size) -> str:
    """Why nn.MultiheadAttention cannot be in this model; "" if it can."""
    if set(size.scheme.enters()) <= {"encode"}:
        return ""
    return f"nn.MultiheadAttention has no place for {size.positional}, which acts inside of the attention."


def lacks_in_torchs_encoder(size: Size) -> str:
    """Why nn.TransformerEncoder cannot be this model; "" if it can."""
    if size.num_stacks == 2:
        return "nn.TransformerEncoder is one stack, and no encoder-decoder."
    if size.normalization != "layer" or not (size.qkv_bias and size.output_bias and size.feed_forward_bias):
        return "nn.TransformerEncoder has layer norms and biases in all of its maps."
    if size.is_gated:
        return f"nn.TransformerEncoder has no place for {size.activation}, as its feed-forward network has no gate."
    return lacks_inner_positions(size).replace("nn.MultiheadAttention", "nn.TransformerEncoder")


def lacks_gradient_of_bias(size: Size, kernel: str) -> str:
    """Why this kernel cannot do the attention of this model; "" if it can."""
    learned = size.scheme.learns_at("bias_at")
    return f"{kernel} has no gradient for the biases that {size.positional} learns." if learned else ""


def masks_the_decoder_alone(size: Size) -> str:
    """Which attention of an encoder-decoder has the mask; "" of what has one kind of attention."""
    return "masks the decoder’s self-attention alone" if size.num_stacks == 2 else ""


def _with_attention(model: Model, change: Callable[..., nn.Module]) -> Model:
    """The model with each attention changed: by a function of ours and of `causal`, if its mask is the causal one."""
    for stack in model.stacks():
        for layer in stack.layers:
            layer.self_attention = change(layer.self_attention, causal=stack.decoder or model.mask is not None)
            if layer.looks_across:
                layer.cross_attention = change(layer.cross_attention, causal=False)
    return model
