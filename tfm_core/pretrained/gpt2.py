"""GPT-2's checkpoints as our models: Radford et al. 2019.

A pre-norm decoder with learned positions and the tanh form of GELU. Its maps are Conv1D, whose weights are (inputs,
outputs), and query, key and value are one of them.
"""

from collections.abc import Collection

from tfm_core.model.config import TransformerConfig
from tfm_core.pretrained.places import LeftOut, Place, Places, linear, transposed, without_prefix
from tfm_core.pretrained.settings import Settings

ACTIVATION = {
    "gelu_new": "gelu_tanh",
    "gelu_pytorch_tanh": "gelu_tanh",
    "gelu": "gelu",
    "relu": "relu",
    "silu": "silu",
    "swish": "silu",
}
LEFT_OUT: LeftOut = {
    r".*\.attn\.(masked_)?bias": "a causal mask, which our decoders make themselves",
    r"(score|multiple_choice_head.*|classifier)\..*": "a head for another task",
}


def config(settings: Settings, names: Collection[str]) -> TransformerConfig:
    """The configuration that a GPT-2's config.json describes."""
    settings.must_be("scale_attn_weights", True, "scores are divided by √d_k")
    settings.must_be("scale_attn_by_inverse_layer_idx", False, "all layers scale their scores alike")
    settings.must_be("add_cross_attention", False, "it has no encoder to look at")
    width = settings.whole("n_embd", "hidden_size")
    has_head = _has_head(settings, names)
    return TransformerConfig(
        vocab_size=settings.whole("vocab_size"),
        architecture="decoder",
        d_model=width,
        num_heads=settings.whole("n_head", "num_attention_heads"),
        num_layers=settings.whole("n_layer", "num_hidden_layers"),
        d_ff=settings.whole("n_inner", default=4 * width),
        max_len=settings.whole("n_positions", "max_position_embeddings", default=1024),
        positional="learned",
        activation=settings.one_of("activation_function", ACTIVATION, "gelu_new"),
        norm_eps=settings.number("layer_norm_epsilon", 1e-5),
        scale_embeddings=False,
        head="logits" if has_head else "none",
        tie_embeddings=has_head and settings.flag("tie_word_embeddings", default=True),
        pad_id=-1,
    )


def places(config: TransformerConfig, names: Collection[str], where: str) -> Places:
    """Our parameters -> GPT-2's tensors."""
    prefix, d = without_prefix(names, "wte.weight", ("", "transformer."), where), config.d_model
    sources: dict[str, Place] = {
        "stack.embedding.weight": Place(f"{prefix}wte.weight"),
        "stack.positional.weight": Place(f"{prefix}wpe.weight"),
        **linear("stack.final_norm", f"{prefix}ln_f"),
    }
    for number in range(config.num_layers):
        ours, theirs = f"stack.layers.{number}", f"{prefix}h.{number}"
        sources |= linear(f"{ours}.self_attention_norm", f"{theirs}.ln_1")
        sources |= linear(f"{ours}.feed_forward_norm", f"{theirs}.ln_2")
        for at, name in enumerate(("query", "key", "value")):
            sources |= _third(f"{ours}.self_attention.{name}_projection", f"{theirs}.attn.c_attn", at, d)
        for module, conv in (
            ("self_attention.output_projection", "attn.c_proj"),
            ("feed_forward.input_projection", "mlp.c_fc"),
            ("feed_forward.output_projection", "mlp.c_proj"),
        ):
            sources[f"{ours}.{module}.weight"] = transposed(f"{theirs}.{conv}.weight")
            sources[f"{ours}.{module}.bias"] = Place(f"{theirs}.{conv}.bias")
    if config.head == "logits" and not config.tie_embeddings:
        sources["unembedding.weight"] = Place("lm_head.weight")
    return sources


def _third(ours: str, theirs: str, at: int, d: int) -> dict[str, Place]:
    """Query, key or value of a map that is all three side by side."""
    part = slice(at * d, (at + 1) * d)
    said = f"columns {part.start + 1} to {part.stop}"
    return {
        f"{ours}.weight": Place(f"{theirs}.weight", f"{said}, transposed", lambda tensor: tensor[:, part].mT),
        f"{ours}.bias": Place(f"{theirs}.bias", said, lambda tensor: tensor[part]),
    }


def _has_head(settings: Settings, names: Collection[str]) -> bool:
    """Whether the model was saved with its output: that it is for language, or has a tensor of its own for it."""
    architectures = settings.get("architectures") or []
    return "lm_head.weight" in names or any("LMHead" in str(name) for name in architectures)
