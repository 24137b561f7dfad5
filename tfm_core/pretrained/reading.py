"""A checkpoint as one of our models: which family it is of, what it is made of, and the model itself.

checkpoint = read("some/folder")
checkpoint.table  # where each of its tensors goes
model, tokenizer = checkpoint.model(), checkpoint.tokenizer()
"""

import math
import re
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

import tokenizers
import torch
from torch import Tensor

from tfm_core.model.config import TransformerConfig
from tfm_core.model.tokens import Tokenizer
from tfm_core.model.trained import RANDOM
from tfm_core.model.transformer import Transformer
from tfm_core.pretrained import bert, converted, gguf, gguf_tokenizer, gpt2, hub, llama, tokenizer
from tfm_core.pretrained.checkpoint import check_finite, open_checkpoint
from tfm_core.pretrained.places import LeftOut, Place, Places, Row, table
from tfm_core.pretrained.settings import Settings


class Family(NamedTuple):
    """How checkpoints of a family become our models.

    Attributes:
        called: its name, in a sentence.
        config: its config.json and the names of its tensors -> our configuration.
        places: our configuration, these names and the file's name -> where each of our parameters comes from.
        left_out: what is not read of it.
    """

    called: str
    config: Callable[[Settings, Collection[str]], TransformerConfig]
    places: Callable[[TransformerConfig, Collection[str], str], Places]
    left_out: LeftOut


FAMILIES = {
    "gpt2": Family("GPT-2", gpt2.config, gpt2.places, gpt2.LEFT_OUT),
    "bert": Family("BERT", bert.config_of(bert.BERT), bert.places_of(bert.BERT), bert.LEFT_OUT),
    "distilbert": Family("DistilBERT", bert.config_of(bert.DISTILBERT), bert.places_of(bert.DISTILBERT), bert.LEFT_OUT),
    "roberta": Family("RoBERTa", bert.config_of(bert.ROBERTA), bert.places_of(bert.ROBERTA), bert.LEFT_OUT),
    "llama": Family("Llama", llama.config, llama.places, llama.LEFT_OUT),
    "mistral": Family("Mistral", llama.config, llama.places, llama.LEFT_OUT),
    "qwen2": Family("Qwen2", llama.config, llama.places, llama.LEFT_OUT),
}


@dataclass(frozen=True)
class Pretrained:
    """A checkpoint that is one of our models, before its numbers are read.

    Attributes:
        family: what it is called, such as "GPT-2".
        config: of the model, still without a name for its weights.
        table: all of its tensors, and where each goes.
        places: our parameter -> what it is made of.
        tensors: of the file, by its own names and of its shapes.
        where: our parameter -> the file that it is read from, for errors.
        tokenizer_file: its tokenizer.json; None without one.
        tokens: what a GGUF file says of its tokens, where there is no tokenizer.json.
        about: what should be known of its numbers, such as that they are quantised.
        is_checked: whether all numbers were looked at when the file was made, so that reading can leave them on disk.

    Examples:
        >>> import tempfile
        >>> from pathlib import Path
        >>> from tfm_core import Transformer, TransformerConfig, to_gpt2
        >>> from tfm_core.pretrained import read
        >>> config = TransformerConfig(vocab_size=50, architecture="decoder", d_model=8, num_heads=2, max_len=16)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     to_gpt2(Transformer(config)).save_pretrained(folder)
        ...     checkpoint = read(folder)
        >>> checkpoint.family, checkpoint.config.d_model
        ('GPT-2', 8)
    """

    family: str
    config: TransformerConfig
    table: list[Row]
    places: Places
    tensors: Mapping[str, Tensor]
    where: Callable[[str], str]
    tokenizer_file: Path | None = None
    tokens: Mapping[str, Any] | None = None
    about: str = ""
    is_checked: bool = False

    @property
    def numbers(self) -> int:
        """How many numbers the model's parameters are."""
        return sum(math.prod(shape) for shape in self._shapes().values())

    def parameters(self) -> dict[str, Tensor]:
        """The values of all parameters by our names, float32, of the same shapes.

        They are views of the file's memory where these are its numbers.

        Raises:
            ValueError: for a tensor of a wrong shape, or with a number that is none.
        """
        shapes = self._shapes()
        assert shapes.keys() == self.places.keys()
        made = {}
        checked = set[str]()
        for ours, place in self.places.items():
            tensor = self.tensors[place.theirs]
            if not self.is_checked and place.theirs not in checked:
                check_finite(place.theirs, tensor, self.where(place.theirs))
                checked.add(place.theirs)
            value = place.make(tensor).float()
            if tuple(value.shape) != shapes[ours]:
                raise ValueError(
                    f"{self.where(place.theirs)}: tensor {place.theirs!r}: expected {shapes[ours]} for {ours}, as the "
                    f"configuration has it; got {tuple(tensor.shape)}"
                    + (f", of which {place.how}: {tuple(value.shape)}" if place.how else "")
                )
            made[ours] = value
        return made

    def _shapes(self) -> dict[str, tuple[int, ...]]:
        """Those of the model's parameters, by our names."""
        with torch.device("meta"):
            empty = Transformer(replace(self.config, weights=RANDOM))
        return {name: tuple(x.shape) for name, x in empty.named_parameters()}

    def save_tokenizer(self, path: Path) -> None:
        """Write its tokenizer as a tokenizer.json."""
        if self.tokenizer_file is not None:
            path.write_bytes(self.tokenizer_file.read_bytes())
        elif self.tokens is not None:
            gguf_tokenizer.of_gguf(self.tokens).save(str(path))

    def model(self) -> Transformer:
        """The model, in evaluation mode.

        Raises:
            ValueError: for a tensor of a wrong shape, or with a number that is none.
        """
        return Transformer(self.config, weights=self.parameters()).eval()

    def named(self, name: str) -> "Pretrained":
        """The same under another name of its weights."""
        return replace(self, config=replace(self.config, weights=name))

    def tokenizer(self) -> Tokenizer:
        """Its tokenizer, as our models read it.

        Raises:
            ValueError: if it has none, or the file is broken.
        """
        return tokenizer.as_tokenizer(self.merges(), self.config.vocab_size)

    def merges(self) -> tokenizers.Tokenizer:
        """Its tokenizer, as the library of that name has it.

        Raises:
            ValueError: if it has none, or the file is broken.
        """
        if self.tokenizer_file is not None:
            return tokenizer.read(self.tokenizer_file, trusted=self.is_checked)
        if self.tokens is not None:
            return gguf_tokenizer.of_gguf(self.tokens)
        raise ValueError("tokenizer.json: expected one beside the weights, got none")


def read(place: str | Path) -> Pretrained:
    """What lies at a place, and how it becomes one of our models; no numbers are read yet.

    Args:
        place: a folder as Hugging Face's libraries write it, with config.json, model.safetensors or its shards, and
            tokenizer.json; or a GGUF file; or a file that `converted.write` has written; or else the name of a model
            that lies in the cache of Hugging Face's hub on this machine, such as "gpt2".

    Raises:
        ValueError: for another place, a family that is not known, or a file that is no such thing, with what was
            expected and what came.
    """
    path = Path(place)
    if path.is_file():
        return _of_gguf(path) if path.suffix == ".gguf" else _of_converted(path)
    folder = path if path.is_dir() else hub.folder_of(str(place))
    if folder is None:
        raise ValueError(
            f"expected a folder with a checkpoint, a GGUF file, or the name of a model in the cache of Hugging "
            f"Face’s hub ({hub.CACHE}); got {str(place)!r}"
        )
    if (folder / converted.NAME).exists():
        return _of_converted(folder / converted.NAME)
    if not (folder / "config.json").exists() and len(files := sorted(folder.glob("*.gguf"))) == 1:
        return _of_gguf(files[0])
    return _of_folder(folder)


def load(place: str | Path) -> Transformer:
    """A model that others have trained, in evaluation mode: logits where it has a head, else the last hidden states.

    Args:
        place: a folder as Hugging Face's libraries write it, with config.json and model.safetensors or its shards; or a
            GGUF file; or else the name of a model that lies in the cache of Hugging Face's hub on this machine.

    Raises:
        ValueError: for another place, a family that is not known, or a file that is no such thing, with what was
            expected and what came.

    Examples:
        >>> import tempfile
        >>> import torch
        >>> from tfm_core import Transformer, TransformerConfig, load, to_gpt2
        >>> config = TransformerConfig(vocab_size=50, architecture="decoder", d_model=8, num_heads=2, max_len=16)
        >>> model, tokens = Transformer(config).eval(), torch.tensor([[5, 6, 7]])
        >>> with tempfile.TemporaryDirectory() as folder, torch.no_grad():
        ...     to_gpt2(model).save_pretrained(folder)
        ...     torch.allclose(load(folder)(tokens), model(tokens), atol=1e-4)
        True
    """
    return read(place).model()


def _of_folder(folder: Path) -> Pretrained:
    opened = open_checkpoint(folder)
    settings = Settings(opened.config)
    kind = settings.get("model_type")
    if not isinstance(kind, str) or kind not in FAMILIES:
        raise settings.wrong("model_type", f"one of {', '.join(FAMILIES)}", kind)
    family = FAMILIES[kind]
    renamed = {_as_named_today(name): name for name in opened.tensors}
    config = family.config(settings, renamed)
    where = next(iter(opened.files.values())).name
    if config.num_layers > len(renamed):  # before a name is made for each
        raise settings.wrong("num_hidden_layers", f"as many layers as {where} has tensors for", config.num_layers)
    places = family.places(config, renamed, where)
    shapes = {name: tuple(opened.shapes[original]) for name, original in renamed.items()}
    return Pretrained(
        family=family.called,
        config=replace(config, weights=folder.name or "pretrained"),
        table=table(places, shapes, family.left_out, where),
        places=places,
        tensors=_Renamed(opened.tensors, renamed),
        where=lambda name: opened.files[renamed[name]].name,
        tokenizer_file=opened.tokenizer,
    )


def _of_gguf(path: Path) -> Pretrained:
    fields, tensors = gguf.read(path)
    config = gguf.config(fields, tensors, path.name)
    if config.num_layers > len(tensors):
        raise ValueError(f"{path.name}: expected tensors for {config.num_layers} layers, got {len(tensors)} in all")
    places = gguf.places(config)
    kinds = ", ".join(f"{count} of {kind}" for kind, count in tensors.kinds().items())
    beside = path.with_name("tokenizer.json")
    return Pretrained(
        family="Llama",
        config=replace(config, weights=path.stem),
        table=table(places, tensors.shapes(), gguf.LEFT_OUT, path.name),
        places=places,
        tensors=tensors,
        where=lambda name: path.name,
        tokenizer_file=beside if beside.exists() else None,
        tokens=None if beside.exists() else fields,
        about=f"Tensors by kind of number: {kinds}.",
    )


def _of_converted(path: Path) -> Pretrained:
    config, about, tensors = converted.read(path)
    places = {name: Place(name) for name in tensors}
    beside = path.with_name("tokenizer.json")
    return Pretrained(
        family=about["family"],
        config=config,
        table=[Row(name, tuple(x.shape), name, "") for name, x in tensors.items()],
        places=places,
        tensors=tensors,
        where=lambda name: path.name,
        tokenizer_file=beside if beside.exists() else None,
        about=about["about"],
        is_checked=True,
    )


class _Renamed(Mapping[str, Tensor]):
    """The same tensors under other names."""

    def __init__(self, tensors: Mapping[str, Tensor], names: Mapping[str, str]) -> None:
        self._tensors, self._names = tensors, names

    def __getitem__(self, name: str) -> Tensor:
        return self._tensors[self._names[name]]

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)


def _as_named_today(name: str) -> str:
    """The first BERTs called the weight and the bias of a norm gamma and beta."""
    return re.sub(r"LayerNorm\.(gamma|beta)$", lambda old: f"LayerNorm.{_NORM[old[1]]}", name)


_NORM = {"gamma": "weight", "beta": "bias"}
