"""Lab GPT: the language model that comes with the app, as `weights="lab-gpt"` of a configuration.

A decoder of 1.6 million parameters, trained by this repository on prose of 1790 to 1864; its model card is
lab_gpt/README.md, its recipe tfm_core/training/prose.
"""

from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path

from safetensors.torch import load_file
from torch import Tensor

from tfm_core.language.bpe import load
from tfm_core.model.config import TransformerConfig
from tfm_core.model.tokens import Tokenizer

NAME = "lab-gpt"
FOLDER = Path(__file__).parent / "lab_gpt"
WEIGHTS, TOKENIZER = FOLDER / "weights.safetensors", FOLDER / "tokenizer.json"
# Its shape, with the weights still random: training begins with it.
UNTRAINED = TransformerConfig(
    vocab_size=2048,
    architecture="decoder",
    d_model=160,
    num_heads=5,
    num_layers=4,
    max_len=256,
    positional="sinusoidal",
    tie_embeddings=True,
    seed=0,
)
LAB_GPT = replace(UNTRAINED, weights=NAME)
"""The configuration of Lab GPT: `Transformer(LAB_GPT)` is the trained model, 1.6 million parameters.

Pre-norm as in GPT-2, Radford et al. 2019, section 2.3, with the sinusoids of Vaswani et al. 2017, section 3.5.

Examples:
    >>> from tfm_core import LAB_GPT
    >>> LAB_GPT.architecture, LAB_GPT.d_model, LAB_GPT.num_layers, LAB_GPT.max_len
    ('decoder', 160, 4, 256)
"""


@cache
def lab_tokenizer() -> Tokenizer:
    """Lab GPT's tokenizer: byte-level BPE with 2,048 tokens, of which 0 is padding and 1 begins a document.

    Sennrich et al. 2016, section 3.2; on bytes, Radford et al. 2019, section 2.2.

    Examples:
        >>> from tfm_core import lab_tokenizer
        >>> tokenizer = lab_tokenizer()
        >>> tokenizer.vocab_size
        2048
        >>> tokenizer.join(tokenizer.split("a truth"))
        'a truth'
    """
    return load(TOKENIZER)


@cache
def _weights() -> Mapping[str, Tensor]:
    """Its parameters by name, kept in half precision and computed with in single precision."""
    return {name: value.float() for name, value in load_file(WEIGHTS).items()}


def source(name: str) -> Mapping[str, Tensor] | None:
    """Where models find its weights: tfm_core/model/trained.py."""
    return _weights() if name == NAME else None
