"""A decoder as transformers' GPT-2, for whoever wants to go on with it there. Radford et al. 2019.

GPT-2's blocks are our pre-norm ones (Radford et al. 2019, section 2.3). What differs is written into its tables: our
embeddings are multiplied by sqrt(d_model), so GPT-2's are larger by that, and no longer those of the logits; positions
that we compute, it reads from a table of max_len rows. Padding is hidden here by itself, and there by `attention_mask`.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import torch
from torch import Tensor, nn

from tfm_core.model.config import TransformerConfig
from tfm_core.model.layer import TransformerLayer
from tfm_core.model.normalization import Norm
from tfm_core.model.transformer import Transformer
from tfm_core.positional.schemes import POSITIONAL

if TYPE_CHECKING:
    from transformers import GPT2LMHeadModel

SAME_WEIGHTS = ("full", "fused")  # the kinds of attention that compute what GPT-2's does


@torch.no_grad()
def to_gpt2(model: Transformer) -> GPT2LMHeadModel:
    """The same function of token ids, as a GPT2LMHeadModel in evaluation mode, with weights of its own.

    Args:
        model: a decoder with pre-norm, gelu (by the error function or the tanh), full or fused attention, and no
            positions, or such as are added to the embeddings.

    Raises:
        ValueError: for any other model, with the reason why GPT-2's format cannot hold it.

    Examples:
        >>> import torch
        >>> from tfm_core import Transformer, TransformerConfig, to_gpt2
        >>> config = TransformerConfig(vocab_size=50, architecture="decoder", d_model=8, num_heads=2, max_len=16)
        >>> model, tokens = Transformer(config).eval(), torch.tensor([[5, 6, 7]])
        >>> with torch.no_grad():
        ...     torch.allclose(to_gpt2(model)(tokens).logits, model(tokens), atol=1e-4)
        True
    """
    from transformers import GPT2Config, GPT2LMHeadModel  # heavy: only who converts loads it

    config = model.config
    _check(config)
    stack = model.stack
    assert stack.final_norm is not None
    gpt2 = GPT2LMHeadModel(
        GPT2Config(
            vocab_size=config.vocab_size,
            n_positions=config.max_len,
            n_embd=config.d_model,
            n_layer=config.num_layers,
            n_head=config.num_heads,
            n_inner=config.feed_forward_dim,
            activation_function={"gelu": "gelu", "gelu_tanh": "gelu_new"}[config.activation],
            layer_norm_epsilon=config.norm_eps,
            resid_pdrop=config.dropout,
            embd_pdrop=config.dropout,
            attn_pdrop=config.dropout,
            tie_word_embeddings=False,
            bos_token_id=None,
            eos_token_id=None,
            pad_token_id=None if config.pad_id < 0 else config.pad_id,
        )
    )
    scale = math.sqrt(config.d_model) if config.scale_embeddings else 1.0
    weights = {
        "transformer.wte.weight": stack.embedding.weight * scale,
        "transformer.wpe.weight": _table(model),
        **_norm("transformer.ln_f", stack.final_norm),
        "lm_head.weight": model.unembedding.weight,
    }
    for number, layer in enumerate(stack.layers):
        assert isinstance(layer, TransformerLayer)
        here, attention, network = f"transformer.h.{number}", layer.self_attention, layer.feed_forward
        weights |= {
            **_norm(f"{here}.ln_1", layer.self_attention_norm),
            **_map(
                f"{here}.attn.c_attn",
                attention.query_projection,
                attention.key_projection,
                attention.value_projection,
            ),
            **_map(f"{here}.attn.c_proj", attention.output_projection),
            **_norm(f"{here}.ln_2", layer.feed_forward_norm),
            **_map(f"{here}.mlp.c_fc", network.input_projection),
            **_map(f"{here}.mlp.c_proj", network.output_projection),
        }
    gpt2.load_state_dict(weights)
    nn.Module.eval(gpt2)
    return gpt2


def _check(config: TransformerConfig) -> None:
    """Refuse what GPT-2's format cannot hold."""
    added = tuple(name for name, scheme in POSITIONAL.items() if set(scheme.enters()) <= {"encode"})
    wanted = {
        "architecture": (("decoder",), "GPT-2 is a decoder"),
        "norm": (("pre",), "GPT-2 norms before attention and network, and at the end"),
        "activation": (("gelu", "gelu_tanh"), "its network has no gate, and is known with gelu"),
        "normalization": (("layer",), "its norms take the mean away"),
        "num_kv_heads": ((0, config.num_heads), "each of its heads has keys of its own"),
        "embedding_norm": ((False,), "no norm comes after its embeddings"),
        "num_token_types": ((0,), "it knows no types of tokens"),
        "sliding_window": ((0,), "each of its queries sees all earlier keys"),
        "head": (("logits",), "its logits are a matrix times the last hidden states"),
        "positional": (added, "it adds positions to the embeddings, and nowhere else"),
        "attention": (SAME_WEIGHTS, "each of its queries sees all earlier keys, by a softmax"),
    }
    for field, (choices, why) in wanted.items():
        if getattr(config, field) not in choices:
            raise ValueError(
                f"to_gpt2: expected {field} {' or '.join(map(str, choices))}, as {why}; got {getattr(config, field)!r}"
            )


def _table(model: Transformer) -> Tensor:
    """What is added at each position, (max_len, d_model)."""
    config = model.config
    table = model.stack.positional.encode(config.max_len)
    return torch.zeros(config.max_len, config.d_model) if table is None else table


def _norm(name: str, norm: Norm) -> dict[str, Tensor]:
    assert isinstance(norm, nn.LayerNorm)  # as `_check` has asked for
    return {f"{name}.weight": norm.weight, f"{name}.bias": norm.bias}


def _bias(linear: nn.Linear) -> Tensor:
    """Its bias: zeros where it has none, as GPT-2's maps all have one."""
    bias: Tensor | None = linear.bias
    return linear.weight.new_zeros(len(linear.weight)) if bias is None else bias


def _map(name: str, *maps: nn.Linear) -> dict[str, Tensor]:
    """Linear maps side by side as a Conv1D, which has its weight as (inputs, outputs)."""
    return {
        f"{name}.weight": torch.cat([linear.weight for linear in maps]).mT.contiguous(),
        f"{name}.bias": torch.cat([_bias(linear) for linear in maps]),
    }
