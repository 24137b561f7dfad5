"""Models that others have trained: their checkpoints read into a `Transformer`.

    model = tfm_core.pretrained.load("path/of/a/folder")  # or the name of a model in the cache of Hugging Face's hub
    tokenizer = tfm_core.pretrained.read("path/of/a/folder").tokenizer()

Families: GPT-2, BERT, DistilBERT, RoBERTa, Llama with SmolLM2, Mistral, Qwen2, from safetensors; Llama's and Qwen2's
from GGUF files, too. Never from pickled files, which can run code.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tfm_core.pretrained.reading import Pretrained as Pretrained
    from tfm_core.pretrained.reading import load as load
    from tfm_core.pretrained.reading import read as read
    from tfm_core.pretrained.registered import register as register

# What is promised -> its module. Reading a text takes the library tokenizers, which who reads an archive may not have.
PLACES = {"Pretrained": "reading", "load": "reading", "read": "reading", "register": "registered"}

__all__ = ["Pretrained", "load", "read", "register"]


def __getattr__(name: str) -> Any:
    if name not in PLACES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{PLACES[name]}"), name)
