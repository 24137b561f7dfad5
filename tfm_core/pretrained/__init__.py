"""Models that others have trained: their checkpoints read into a `Transformer`.

    model = tfm_core.pretrained.load("path/of/a/folder")  # or the name of a model in the cache of Hugging Face's hub
    tokenizer = tfm_core.pretrained.read("path/of/a/folder").tokenizer()

Families: GPT-2, BERT, DistilBERT, RoBERTa, Llama with SmolLM2, Mistral, Qwen2, from safetensors; Llama's and Qwen2's
from GGUF files, too. Never from pickled files, which can run code.
"""

from tfm_core.pretrained.reading import Pretrained, load, read
from tfm_core.pretrained.registered import register

__all__ = ["Pretrained", "load", "read", "register"]
