"""Results of somebody's code, as they are handed in: tensors by name, out of a file or a text.

Nothing in a file is executed, and no size that it names is believed.
"""

import re
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from tfm_core.clinic.brackets import read_lists
from tfm_core.clinic.text import SHORTENED, read_text
from tfm_core.study.attention_files import (
    MAGIC,
    array_of_npy,
    arrays_of_npz,
    tensors_of_safetensors,
    unpacked_from,
)
from tfm_core.study.diagnosis import ASKED

MOST_BYTES = 8 * 2**20
MOST_UNPACKED = 4 * MOST_BYTES
NAN = 1.7976931348e308
# What people call the steps.
NAMES = {
    "attn": "weights",
    "attention": "weights",
    "attention_weights": "weights",
    "attn_weights": "weights",
    "probs": "weights",
    "attn_scores": "scores",
    "qk": "products",
    "out": "output",
    "attn_output": "output",
    "attention_output": "output",
    "y": "output",
    "heads": "head outputs",
    "head_output": "head outputs",
    "context": "head outputs",
    "pe": "positional encoding",
    "encoding": "positional encoding",
    "pos_enc": "positional encoding",
    "embedded": "scaled embedding",
    "q": "query",
    "k": "key",
    "v": "value",
    "queries": "query",
    "keys": "key",
    "values": "value",
    "layer": "layer output",
    "layer_out": "layer output",
    "h": "layer output",
}


@dataclass(frozen=True)
class Results:
    """What was handed in.

    Attributes:
        tensors: by the name that they have there, "" where there is a single one without a name.
        rounding: how far a number may be off because it was printed with few digits; 0 of a file.
    """

    tensors: dict[str, Tensor]
    rounding: float = 0.0


def read_results(data: bytes | str) -> Results:
    """Tensors out of a .npz, .safetensors, .npy, or a printed tensor.

    Raises:
        ValueError: in a sentence that says what was expected.
    """
    if isinstance(data, bytes) and len(data) > MOST_BYTES:
        raise ValueError(f"The file has {len(data):,} bytes; {MOST_BYTES:,} is the limit.")
    if isinstance(data, str):
        return _printed(data)
    try:
        if data.startswith(MAGIC):
            return Results({"": array_of_npy(data, least=0)})
        if data.startswith(b"PK"):
            return Results(_of_npz(data))
        if data[8:9] == b"{" and int.from_bytes(data[:8], "little") <= len(data) - 8:
            return Results(tensors_of_safetensors(data)[0])
    except ValueError as problem:
        text = str(problem)
        raise ValueError(f"{text[:1].upper()}{text[1:]}.") from None
    if data.startswith(b"\x80"):
        raise ValueError("This is a pickle, which could execute anything, so it is not opened: save with np.savez.")
    try:
        return _printed(data.decode("utf-8-sig"))
    except UnicodeDecodeError:
        raise ValueError("This is neither .npz, .npy, .safetensors nor text in UTF-8.") from None


def _of_npz(data: bytes) -> dict[str, Tensor]:
    left, tensors = MOST_UNPACKED, {}
    with arrays_of_npz(data) as (archive, files):
        for name, entry in files.items():
            unpacked = unpacked_from(archive, entry, left)
            left -= len(unpacked)
            tensors[name] = array_of_npy(unpacked, least=0)
    return tensors


def _printed(text: str) -> Results:
    """A printed tensor, or a number alone."""
    digits = [len(match[1]) for match in re.finditer(r"\.(\d+)(?!\d*e)", text)]
    rounding = 0.5 * 10.0 ** -max(digits) if digits else 0.0
    alone = re.fullmatch(r"\s*(?:torch\.)?(?:tensor\()?\s*(-?[\d.]+(?:e-?\d+)?)\s*[^\[\]]*", text)
    if alone and alone[1].count(".") <= 1:
        return Results({"": torch.tensor(float(alone[1]), dtype=torch.float64)}, rounding)
    if "..." in text or "…" in text:
        raise ValueError(SHORTENED)
    if "[" not in text:
        return Results({"": torch.from_numpy(read_text(text).values)}, rounding)
    lists = text[text.index("[") : text.rindex("]") + 1] if "]" in text else text
    # No mask has NaN, so the reader of masks knows none: here it is a number that nobody writes.
    values, _ = read_lists(re.sub(r"\bnan\b", str(NAN), lists, flags=re.IGNORECASE))
    if not values.size:
        raise ValueError("There is nothing in it.")
    return Results({"": torch.from_numpy(np.where(values == NAN, np.nan, values))}, rounding)


def step_of(name: str) -> str:
    """The step that a name speaks of; "" if it is none."""
    plain = name.strip().lower().replace(" ", "_").replace("-", "_")
    known = {step.replace(" ", "_").replace("-", "_"): step for step in ASKED} | NAMES
    return known.get(plain, "")
