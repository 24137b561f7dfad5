"""Small random checkpoints of all families, made by transformers, which also says what is right of them."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
import transformers
from transformers import PreTrainedModel

SMALL = {"vocab_size": 61, "attn_implementation": "eager"}
LLAMA = {
    **SMALL,
    "hidden_size": 24,
    "intermediate_size": 40,
    "num_hidden_layers": 3,
    "num_attention_heads": 6,
    "num_key_value_heads": 2,
    "max_position_embeddings": 64,
    "pad_token_id": None,
    "bos_token_id": 1,
    "eos_token_id": 2,
}
BERT = {
    **SMALL,
    "hidden_size": 24,
    "intermediate_size": 40,
    "num_hidden_layers": 3,
    "num_attention_heads": 4,
    "max_position_embeddings": 40,
}
GPT2 = {**SMALL, "n_embd": 24, "n_layer": 3, "n_head": 4, "n_positions": 40, "bos_token_id": 1, "eos_token_id": 2}
DISTILBERT = {**SMALL, "dim": 24, "hidden_dim": 40, "n_layers": 3, "n_heads": 4, "max_position_embeddings": 40}

# Name -> the model's class and its configuration's, and what the configuration is made with.
MADE: dict[str, tuple[str, str, dict[str, Any]]] = {
    "gpt2": ("GPT2LMHeadModel", "GPT2Config", GPT2),
    "gpt2, untied": ("GPT2LMHeadModel", "GPT2Config", GPT2 | {"tie_word_embeddings": False, "n_inner": 50}),
    "gpt2, exact gelu": ("GPT2LMHeadModel", "GPT2Config", GPT2 | {"activation_function": "gelu"}),
    "gpt2, no head": ("GPT2Model", "GPT2Config", GPT2),
    "bert": ("BertForMaskedLM", "BertConfig", BERT),
    "bert, pooler": ("BertModel", "BertConfig", BERT | {"hidden_act": "gelu_new", "layer_norm_eps": 1e-5}),
    "bert, both heads": ("BertForPreTraining", "BertConfig", BERT),
    "bert, classifier": ("BertForSequenceClassification", "BertConfig", BERT),
    "distilbert": ("DistilBertForMaskedLM", "DistilBertConfig", DISTILBERT),
    "distilbert, no head": ("DistilBertModel", "DistilBertConfig", DISTILBERT | {"sinusoidal_pos_embds": True}),
    "roberta": ("RobertaForMaskedLM", "RobertaConfig", BERT | {"pad_token_id": 1, "type_vocab_size": 1}),
    "roberta, pooler": ("RobertaModel", "RobertaConfig", BERT | {"pad_token_id": 1}),
    "llama": ("LlamaForCausalLM", "LlamaConfig", LLAMA),
    "llama, tied": ("LlamaForCausalLM", "LlamaConfig", LLAMA | {"tie_word_embeddings": True, "rms_norm_eps": 1e-5}),
    "llama, biases": ("LlamaForCausalLM", "LlamaConfig", LLAMA | {"attention_bias": True, "mlp_bias": True}),
    "llama, base": (
        "LlamaForCausalLM",
        "LlamaConfig",
        LLAMA | {"rope_parameters": {"rope_theta": 100000.0, "rope_type": "default"}},
    ),
    "llama, one key head": ("LlamaForCausalLM", "LlamaConfig", LLAMA | {"num_key_value_heads": 1}),
    "llama, no head": ("LlamaModel", "LlamaConfig", LLAMA),
    "mistral": ("MistralForCausalLM", "MistralConfig", LLAMA | {"sliding_window": None}),
    "mistral, window": ("MistralForCausalLM", "MistralConfig", LLAMA | {"sliding_window": 4}),
    "qwen2": ("Qwen2ForCausalLM", "Qwen2Config", LLAMA | {"use_sliding_window": False}),
    "qwen2, tied": ("Qwen2ForCausalLM", "Qwen2Config", LLAMA | {"tie_word_embeddings": True}),
}
ENCODERS = ("bert", "distilbert", "roberta")


def made(name: str, **changes: Any) -> PreTrainedModel:
    """A model of this name with weights that are drawn: also those that transformers starts with zeros and ones."""
    model, config, values = MADE[name]
    torch.manual_seed(0)
    theirs: PreTrainedModel = getattr(transformers, model)(getattr(transformers, config)(**values | changes))
    with torch.no_grad():
        for parameter in theirs.parameters():
            parameter.add_(0.3 * torch.randn_like(parameter))
        padding: Callable[[], Any] = theirs.get_input_embeddings
        padding().weight[0].normal_()
    return theirs.eval()


def saved(theirs: PreTrainedModel, folder: Path, **how: Any) -> Path:
    """Its checkpoint in a folder, as transformers writes it."""
    theirs.save_pretrained(folder, **how)
    return folder


def tokens(count: int = 12, batch: int = 2, vocab: int = 61, seed: int = 1) -> torch.Tensor:
    """Random ids without the small ones, which are special."""
    return torch.randint(5, vocab, (batch, count), generator=torch.Generator().manual_seed(seed))
