"""Lab BERT: the encoder of BERT's form that comes with the app, as `weights="lab-bert"` of a configuration.

Trained by this repository on the prose of Lab GPT, by masked words and next sentences; its model card is
lab_bert/README.md, its recipe tfm_core/training/prose/masked.py.
"""

from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path

from safetensors.torch import load_file
from torch import Tensor

from tfm_core.language.wordpiece import PAD_ID, load
from tfm_core.model.config import TransformerConfig
from tfm_core.model.tokens import Tokenizer

NAME = "lab-bert"
FOLDER = Path(__file__).parent / "lab_bert"
WEIGHTS, TOKENIZER, FIGURES = FOLDER / "weights.safetensors", FOLDER / "tokenizer.json", FOLDER / "figures.json"
NEXT_SENTENCE = "next_sentence"  # the head for next sentences, which no `Transformer` has: its weight and its bias
# Its shape, with the weights still random: training begins with it.
UNTRAINED = TransformerConfig(
    vocab_size=4096,
    architecture="encoder",
    d_model=128,
    num_heads=4,
    num_layers=4,
    max_len=128,
    positional="learned",
    norm="post",
    norm_eps=1e-12,
    scale_embeddings=False,
    embedding_norm=True,
    num_token_types=2,
    head="masked",
    pooler=True,
    tie_embeddings=True,
    pad_id=PAD_ID,
    seed=0,
)
LAB_BERT = replace(UNTRAINED, weights=NAME)
"""The configuration of Lab BERT: `Transformer(LAB_BERT)` is the trained model, 1.4 million parameters.

BERT's form, Devlin et al. 2018, section 3: a post-norm encoder with learned positions and token types, a norm after the
embeddings, a masked-word head and a pooler.

Examples:
    >>> from tfm_core.language.lab_bert import LAB_BERT
    >>> LAB_BERT.architecture, LAB_BERT.norm, LAB_BERT.head, LAB_BERT.pooler
    ('encoder', 'post', 'masked', True)
"""


@cache
def lab_bert_tokenizer() -> Tokenizer:
    """Lab BERT's tokenizer: WordPiece in small letters, [CLS] before each text and [SEP] after it.

    Examples:
        >>> from tfm_core.language.lab_bert import lab_bert_tokenizer
        >>> lab_bert_tokenizer().split("The whale!")
        ['[CLS]', 'the', 'whale', '!', '[SEP]']
    """
    return load(TOKENIZER)


@cache
def _weights() -> Mapping[str, Tensor]:
    """Its parameters by name, kept in half precision and computed with in single precision."""
    return {name: value.float() for name, value in load_file(WEIGHTS).items()}


def next_sentence_logits(pooled: Tensor) -> Tensor:
    """What the second head says of a pooled output (batch, d_model): logits (batch, 2).

    Of row 0 if the second part of a text follows the first, of row 1 if it is from elsewhere: Devlin et al. 2018,
    section 3.1, task 2.
    """
    return pooled @ _weights()[f"{NEXT_SENTENCE}.weight"].T + _weights()[f"{NEXT_SENTENCE}.bias"]


def source(name: str) -> Mapping[str, Tensor] | None:
    """Where models find its weights: tfm_core/model/trained.py."""
    return _weights() if name == NAME else None
