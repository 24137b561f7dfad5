"""GGUF files of Llama's family as our models, by the `gguf` package: its reader, and its dequantisation.

Their numbers are mostly quantised, so that a model is close to the one that was trained, and not the same. Queries and
keys of `llama` files are stored for pairs of neighbours under RoPE, those of `qwen2` for halves.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from tfm_core.model.config import TransformerConfig
from tfm_core.pretrained.places import LeftOut, Place, Places, linear
from tfm_core.pretrained.settings import Settings

if TYPE_CHECKING:
    import numpy as np
    from gguf import GGUFReader, ReaderTensor

PAIRING = {"llama": "neighbours", "qwen2": "halves"}
LEFT_OUT: LeftOut = {}
MODULES = {
    "self_attention.query_projection": "attn_q",
    "self_attention.key_projection": "attn_k",
    "self_attention.value_projection": "attn_v",
    "self_attention.output_projection": "attn_output",
    "feed_forward.gate_projection": "ffn_gate",
    "feed_forward.input_projection": "ffn_up",
    "feed_forward.output_projection": "ffn_down",
}


class Tensors(Mapping[str, Tensor]):
    """The tensors of a file by their names, each made float32 when it is asked for."""

    def __init__(self, reader: GGUFReader) -> None:
        self._tensors: dict[str, ReaderTensor] = {tensor.name: tensor for tensor in reader.tensors}

    def __getitem__(self, name: str) -> Tensor:
        import numpy as np
        from gguf.quants import dequantize

        tensor = self._tensors[name]
        numbers: np.ndarray[Any, np.dtype[np.float32]] = dequantize(tensor.data, tensor.tensor_type)
        return torch.from_numpy(np.array(numbers, dtype=np.float32, order="C"))

    def __iter__(self) -> Iterator[str]:
        return iter(self._tensors)

    def __len__(self) -> int:
        return len(self._tensors)

    def shapes(self) -> dict[str, tuple[int, ...]]:
        """Those of torch: the file has the last axis first."""
        return {name: tuple(int(size) for size in tensor.shape[::-1]) for name, tensor in self._tensors.items()}

    def kinds(self) -> dict[str, int]:
        """Kind of number, such as Q4_1 -> how many tensors have it."""
        counts: dict[str, int] = {}
        for tensor in self._tensors.values():
            counts[tensor.tensor_type.name] = counts.get(tensor.tensor_type.name, 0) + 1
        return counts


def read(path: Path) -> tuple[dict[str, Any], Tensors]:
    """What a file says of its model, and its tensors.

    Raises:
        ValueError: for a file that is none, or is cut off.
    """
    try:
        from gguf import GGUFReader  # here, as few need it
    except ImportError as missing:
        raise ValueError(
            f"{path.name}: expected the package gguf, to read it with; install it: pip install gguf"
        ) from missing
    _check_header(path)
    try:
        reader = GGUFReader(path)
        fields = {name: field.contents() for name, field in reader.fields.items()}
    except Exception as problem:  # of many kinds, as it reads on where a file has ended
        raise ValueError(f"{path.name}: expected a whole GGUF file; {type(problem).__name__}: {problem}") from problem
    return fields, Tensors(reader)


# Bytes of a number of each type of metadata, as the format's description numbers the types; 8 is text, 9 a list.
_NUMBERS = {0: 1, 1: 1, 2: 2, 3: 2, 4: 4, 5: 4, 6: 4, 7: 1, 10: 8, 11: 8, 12: 8}
_TEXT, _LIST = 8, 9
MOST_FIELDS, MOST_TENSORS, MOST_AXES = 10_000, 100_000, 4


def _check_header(path: Path) -> None:
    """Refuse a header that promises more than the file holds: the package would read on for as long as it says.

    Raises:
        ValueError: with what was expected, and what came.
    """
    size = path.stat().st_size
    with path.open("rb") as file:

        def number(form: str) -> int:
            data = file.read(struct.calcsize(form))
            if len(data) < struct.calcsize(form):
                raise ValueError(f"{path.name}: expected a whole GGUF file, got its first {size:,} bytes")
            (value,) = struct.unpack(form, data)
            return int(value)

        def skip(count: int) -> None:
            if count > size - file.tell():
                raise ValueError(f"{path.name}: expected {count:,} bytes at {file.tell():,}, got a file of {size:,}")
            file.seek(count, 1)

        def value(kind: int, depth: int = 0) -> None:
            if kind in _NUMBERS:
                skip(_NUMBERS[kind])
            elif kind == _TEXT:
                skip(number("<Q"))
            elif kind == _LIST and depth == 0:
                inside, count = number("<I"), number("<Q")
                if inside in _NUMBERS:
                    skip(_NUMBERS[inside] * min(count, size + 1))
                    return
                if count > size // 8:  # each text has its length in 8 bytes
                    raise ValueError(f"{path.name}: expected a list that the file can hold, got one of {count:,}")
                for _ in range(count):
                    value(inside, 1)
            else:
                raise ValueError(f"{path.name}: expected metadata of a known type, got type {kind}")

        if (magic := file.read(4)) != b"GGUF":
            raise ValueError(f"{path.name}: expected a GGUF file, which begins with b'GGUF'; got {magic!r}")
        if (version := number("<I")) not in (2, 3):
            raise ValueError(f"{path.name}: expected version 2 or 3 of the format, little-endian; got {version}")
        tensors, fields = number("<Q"), number("<Q")
        if tensors > MOST_TENSORS or fields > MOST_FIELDS:
            most = f"at most {MOST_TENSORS:,} tensors and {MOST_FIELDS:,} fields"
            raise ValueError(f"{path.name}: expected {most}, got {tensors:,} and {fields:,}")
        for _ in range(fields):
            skip(number("<Q"))
            value(number("<I"))
        for _ in range(tensors):
            skip(number("<Q"))
            if (axes := number("<I")) > MOST_AXES:
                raise ValueError(f"{path.name}: expected tensors of at most {MOST_AXES} axes, got {axes}")
            sizes = [number("<Q") for _ in range(axes)]
            if math.prod(sizes) > 64 * size:  # the smallest kind has more than a bit for each number
                raise ValueError(f"{path.name}: expected tensors that the file can hold, got one of {sizes}")
            skip(12)


def config(fields: Mapping[str, Any], tensors: Tensors, where: str) -> TransformerConfig:
    """The configuration that a file describes.

    Raises:
        ValueError: for another family, or what our models lack.
    """
    family = fields.get("general.architecture")
    if family not in PAIRING:
        raise ValueError(f"{where}: general.architecture: expected one of {', '.join(PAIRING)}; got {family!r:.40}")
    start = f"{family}."
    settings = Settings(
        {name.removeprefix(start): _as_meant(value) for name, value in fields.items() if name.startswith(start)}, where
    )
    d_model, heads = settings.whole("embedding_length"), settings.whole("attention.head_count")
    head_dim = d_model // heads
    for key in ("rope.dimension_count", "attention.key_length", "attention.value_length"):
        settings.must_be(key, head_dim, "each head is d_model / num_heads wide, and all of it is turned")
    settings.must_be("rope.scaling.type", "none", "frequencies are not stretched here")
    settings.must_be("expert_count", 0, "there are no experts")
    names = set(tensors)
    return TransformerConfig(
        vocab_size=tensors.shapes()["token_embd.weight"][0] if "token_embd.weight" in names else 1,
        architecture="decoder",
        d_model=d_model,
        num_heads=heads,
        num_kv_heads=settings.whole("attention.head_count_kv", default=heads),
        num_layers=settings.whole("block_count"),
        d_ff=settings.whole("feed_forward_length"),
        max_len=settings.whole("context_length", default=2048),
        positional="rope",
        positional_base=settings.number("rope.freq_base", 10000.0),
        rope_pairing=PAIRING[family],
        normalization="rms",
        norm_eps=settings.number("attention.layer_norm_rms_epsilon", 1e-6),
        activation="swiglu",
        qkv_bias="blk.0.attn_q.bias" in names,
        output_bias="blk.0.attn_output.bias" in names,
        feed_forward_bias="blk.0.ffn_up.bias" in names,
        sliding_window=settings.whole("attention.sliding_window", least=0, default=0),
        scale_embeddings=False,
        tie_embeddings="output.weight" not in names,
        pad_id=-1,
    )


def _as_meant(value: object) -> object:
    """A number as it was written down: the file has 1e-5 in single precision, which is 0.0000099999997."""
    return float(f"{value:.6g}") if isinstance(value, float) else value


def places(config: TransformerConfig) -> Places:
    """Our parameters -> the file's tensors."""
    sources: dict[str, Place] = {
        "stack.embedding.weight": Place("token_embd.weight"),
        "stack.final_norm.weight": Place("output_norm.weight"),
    }
    biases = dict.fromkeys(("attn_q", "attn_k", "attn_v"), config.qkv_bias) | {"attn_output": config.output_bias}
    for number in range(config.num_layers):
        ours, theirs = f"stack.layers.{number}", f"blk.{number}"
        sources |= {
            f"{ours}.self_attention_norm.weight": Place(f"{theirs}.attn_norm.weight"),
            f"{ours}.feed_forward_norm.weight": Place(f"{theirs}.ffn_norm.weight"),
        }
        for module, name in MODULES.items():
            bias = biases.get(name, config.feed_forward_bias)
            sources |= linear(f"{ours}.{module}", f"{theirs}.{name}", bias=bias)
    if not config.tie_embeddings:
        sources["unembedding.weight"] = Place("output.weight")
    return sources
