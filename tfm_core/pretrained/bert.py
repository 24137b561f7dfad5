"""Checkpoints of BERT's family as our models: BERT, DistilBERT, RoBERTa. Devlin et al. 2019, Sanh et al. 2019, Liu et
al. 2019.

Post-norm encoders with learned positions and a norm after the embeddings. BERT and RoBERTa have types of tokens, and
may have a pooler; all may have a masked-word head. RoBERTa's positions begin at row 2, and pass over padding.
"""

from collections.abc import Callable, Collection
from typing import NamedTuple

from tfm_core.model.config import TransformerConfig
from tfm_core.pretrained.gpt2 import ACTIVATION
from tfm_core.pretrained.places import LeftOut, Place, Places, linear, without_prefix
from tfm_core.pretrained.settings import Settings

LEFT_OUT: LeftOut = {
    r".*embeddings\.(position_ids|token_type_ids)": "numbers in a row, which are made when they are needed",
    r"cls\.seq_relationship\..*": "the head for next sentences",
    r"(classifier|pre_classifier|qa_outputs|score)\..*": "a head for another task",
}


class Names(NamedTuple):
    """How a family names its modules.

    Attributes:
        prefixes: before all of them, where a head is saved with the model.
        layer: the modules of a layer, after its number.
        modules: ours -> theirs, within a layer.
        head: those of a masked-word head, ours -> theirs; its bias, and its matrix if it is not the embedding's.
    """

    prefixes: tuple[str, ...]
    layer: str
    modules: dict[str, str]
    head: dict[str, str]


BERT = Names(
    ("", "bert."),
    "encoder.layer",
    {
        "self_attention.query_projection": "attention.self.query",
        "self_attention.key_projection": "attention.self.key",
        "self_attention.value_projection": "attention.self.value",
        "self_attention.output_projection": "attention.output.dense",
        "self_attention_norm": "attention.output.LayerNorm",
        "feed_forward.input_projection": "intermediate.dense",
        "feed_forward.output_projection": "output.dense",
        "feed_forward_norm": "output.LayerNorm",
    },
    {
        "transform.projection": "cls.predictions.transform.dense",
        "transform.norm": "cls.predictions.transform.LayerNorm",
        "unembedding.bias": "cls.predictions.bias",
        "unembedding.weight": "cls.predictions.decoder.weight",
    },
)
ROBERTA = BERT._replace(
    prefixes=("", "roberta."),
    head={
        "transform.projection": "lm_head.dense",
        "transform.norm": "lm_head.layer_norm",
        "unembedding.bias": "lm_head.bias",
        "unembedding.weight": "lm_head.decoder.weight",
    },
)
DISTILBERT = Names(
    ("", "distilbert."),
    "transformer.layer",
    {
        "self_attention.query_projection": "attention.q_lin",
        "self_attention.key_projection": "attention.k_lin",
        "self_attention.value_projection": "attention.v_lin",
        "self_attention.output_projection": "attention.out_lin",
        "self_attention_norm": "sa_layer_norm",
        "feed_forward.input_projection": "ffn.lin1",
        "feed_forward.output_projection": "ffn.lin2",
        "feed_forward_norm": "output_layer_norm",
    },
    {
        "transform.projection": "vocab_transform",
        "transform.norm": "vocab_layer_norm",
        "unembedding.bias": "vocab_projector.bias",
        "unembedding.weight": "vocab_projector.weight",
    },
)


def config_of(names: Names) -> Callable[[Settings, Collection[str]], TransformerConfig]:
    """What reads the config.json of a family."""

    def config(settings: Settings, tensors: Collection[str]) -> TransformerConfig:
        settings.must_be("position_embedding_type", "absolute", "positions are added to the embeddings")
        settings.must_be("is_decoder", False, "an encoder sees all of its text")
        settings.must_be("add_cross_attention", False, "there is nothing else to look at")
        roberta = names is ROBERTA
        pad = settings.whole("pad_token_id", least=0, default=1 if roberta else 0)
        offset = pad + 1 if roberta else 0
        has_head = f"{names.head['transform.projection']}.weight" in tensors
        return TransformerConfig(
            vocab_size=settings.whole("vocab_size"),
            architecture="encoder",
            d_model=settings.whole("hidden_size", "dim"),
            num_heads=settings.whole("num_attention_heads", "n_heads"),
            num_layers=settings.whole("num_hidden_layers", "n_layers"),
            d_ff=settings.whole("intermediate_size", "hidden_dim"),
            max_len=settings.whole("max_position_embeddings", least=offset + 1, default=512) - offset,
            positional="learned",
            position_offset=offset,
            padding_takes_position=not roberta,
            norm="post",
            norm_eps=settings.number("layer_norm_eps", 1e-12),
            activation=settings.one_of("activation" if names is DISTILBERT else "hidden_act", ACTIVATION, "gelu"),
            scale_embeddings=False,
            embedding_norm=True,
            num_token_types=0 if names is DISTILBERT else settings.whole("type_vocab_size", default=2),
            head="masked" if has_head else "none",
            pooler=any(name.endswith("pooler.dense.weight") for name in tensors),
            tie_embeddings=has_head and names.head["unembedding.weight"] not in tensors,
            pad_id=pad,
        )

    return config


def places_of(names: Names) -> Callable[[TransformerConfig, Collection[str], str], Places]:
    """What tells where the tensors of a family go."""

    def places(config: TransformerConfig, tensors: Collection[str], where: str) -> Places:
        prefix = without_prefix(tensors, "embeddings.word_embeddings.weight", names.prefixes, where)
        sources = {
            "stack.embedding.weight": Place(f"{prefix}embeddings.word_embeddings.weight"),
            "stack.positional.weight": Place(f"{prefix}embeddings.position_embeddings.weight"),
            **linear("stack.embedding_norm", f"{prefix}embeddings.LayerNorm"),
        }
        if config.num_token_types:
            sources["stack.token_types.weight"] = Place(f"{prefix}embeddings.token_type_embeddings.weight")
        for number in range(config.num_layers):
            for ours, theirs in names.modules.items():
                sources |= linear(f"stack.layers.{number}.{ours}", f"{prefix}{names.layer}.{number}.{theirs}")
        if config.pooler:
            sources |= linear("pooler", f"{prefix}pooler.dense")
        if config.head == "masked":
            for ours, theirs in names.head.items():
                if not ours.startswith("unembedding"):
                    sources |= linear(ours, theirs)
            sources["unembedding.bias"] = Place(names.head["unembedding.bias"])
            if not config.tie_embeddings:
                sources["unembedding.weight"] = Place(names.head["unembedding.weight"])
        return sources

    return places
