"""Checkpoints of Llama's family as our models: Llama, SmolLM2, Mistral, Qwen2. Touvron et al. 2023.

Pre-norm decoders with RMS norms, RoPE, a gated feed-forward network, and keys and values that heads share. They differ
in biases (Qwen2's queries, keys and values have them), and in how far back a query sees (Mistral: Jiang et al. 2023).
"""

from collections.abc import Collection

from tfm_core.model.config import TransformerConfig
from tfm_core.pretrained.places import LeftOut, Place, Places, linear, without_prefix
from tfm_core.pretrained.settings import Settings

ACTIVATION = {"silu": "swiglu", "swish": "swiglu"}
LEFT_OUT: LeftOut = {
    r".*rotary_emb\.inv_freq": "the frequencies of RoPE, which follow from its base",
    r"(score|classifier|qa_outputs)\..*": "a head for another task",
}
BASES = {"llama": 10000.0, "mistral": 10000.0, "qwen2": 10000.0}


def config(settings: Settings, names: Collection[str]) -> TransformerConfig:
    """The configuration that a config.json of the family describes."""
    family = settings.get("model_type", "llama")
    d_model, heads = settings.whole("hidden_size"), settings.whole("num_attention_heads")
    head_dim = settings.whole("head_dim", default=d_model // heads)
    if head_dim * heads != d_model:
        raise settings.wrong("head_dim", f"hidden_size / num_attention_heads = {d_model} / {heads}", head_dim)
    settings.must_be("pretraining_tp", 1, "its maps are whole")
    biased = settings.flag("attention_bias", default=False)
    has_head = "lm_head.weight" in names or any("CausalLM" in str(name) for name in settings.get("architectures") or [])
    return TransformerConfig(
        vocab_size=settings.whole("vocab_size"),
        architecture="decoder",
        d_model=d_model,
        num_heads=heads,
        num_kv_heads=settings.whole("num_key_value_heads", default=heads),
        num_layers=settings.whole("num_hidden_layers"),
        d_ff=settings.whole("intermediate_size"),
        max_len=settings.whole("max_position_embeddings", default=2048),
        positional="rope",
        positional_base=rope_base(settings),
        normalization="rms",
        norm_eps=settings.number("rms_norm_eps", 1e-6),
        activation=settings.one_of("hidden_act", ACTIVATION, "silu"),
        qkv_bias=biased or family == "qwen2",
        output_bias=biased,
        feed_forward_bias=settings.flag("mlp_bias", default=False),
        sliding_window=_window(settings, family),
        scale_embeddings=False,
        head="logits" if has_head else "none",
        tie_embeddings=has_head and settings.flag("tie_word_embeddings", default=False),
        pad_id=-1,
    )


def rope_base(settings: Settings) -> float:
    """The base of RoPE's frequencies, wherever the file has it; stretched frequencies are refused."""
    parameters = settings.get("rope_parameters") or settings.get("rope_scaling") or {}
    if not isinstance(parameters, dict):
        raise settings.wrong("rope_parameters", "an object", parameters)
    kind = parameters.get("rope_type", parameters.get("type", "default"))
    if kind != "default":
        raise settings.wrong("rope_scaling", "'default', as frequencies are not stretched here", kind)
    if "rope_theta" in parameters:
        return Settings(parameters, settings.name).number("rope_theta", 10000.0)
    return settings.number("rope_theta", 10000.0)


def _window(settings: Settings, family: str) -> int:
    """How many keys a query sees back; 0 for all."""
    if family == "mistral" or (family == "qwen2" and settings.flag("use_sliding_window", default=False)):
        if family == "qwen2":
            settings.must_be("max_window_layers", 0, "all layers have the same window", default=28)
        return settings.whole("sliding_window", default=0)
    return 0


def places(config: TransformerConfig, names: Collection[str], where: str) -> Places:
    """Our parameters -> the family's tensors."""
    prefix = without_prefix(names, "embed_tokens.weight", ("model.", ""), where)
    sources: dict[str, Place] = {
        "stack.embedding.weight": Place(f"{prefix}embed_tokens.weight"),
        "stack.final_norm.weight": Place(f"{prefix}norm.weight"),
    }
    biases = {"q_proj": config.qkv_bias, "k_proj": config.qkv_bias, "v_proj": config.qkv_bias}
    biases |= {"o_proj": config.output_bias}
    biases |= dict.fromkeys(("gate_proj", "up_proj", "down_proj"), config.feed_forward_bias)
    for number in range(config.num_layers):
        ours, theirs = f"stack.layers.{number}", f"{prefix}layers.{number}"
        sources |= {
            f"{ours}.self_attention_norm.weight": Place(f"{theirs}.input_layernorm.weight"),
            f"{ours}.feed_forward_norm.weight": Place(f"{theirs}.post_attention_layernorm.weight"),
        }
        for module, name in (
            ("self_attention.query_projection", "self_attn.q_proj"),
            ("self_attention.key_projection", "self_attn.k_proj"),
            ("self_attention.value_projection", "self_attn.v_proj"),
            ("self_attention.output_projection", "self_attn.o_proj"),
            ("feed_forward.gate_projection", "mlp.gate_proj"),
            ("feed_forward.input_projection", "mlp.up_proj"),
            ("feed_forward.output_projection", "mlp.down_proj"),
        ):
            sources |= linear(f"{ours}.{module}", f"{theirs}.{name}", bias=biases[name.rpartition(".")[2]])
    if config.head == "logits" and not config.tie_embeddings:
        sources["unembedding.weight"] = Place("lm_head.weight")
    return sources
