"""A checkpoint in a file of our own: float32 under our names, so that it is mapped into memory and not read.

Several processes then share one copy of the numbers, and a model is there in the time that the system takes to map
them. A quantised or half-precise checkpoint is converted once.

A matrix with more outputs than inputs, such as the embedding, lies in the file with its inputs first: a vector times it
is then read at twice the rate, which is what a decoder that writes spends its time on (benchmarks/pretrained.py).
"""

import json
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path

from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file
from torch import Tensor

from tfm_core.model.config import TransformerConfig

FORMAT = "tfm_core pretrained 2"
NAME = "converted.safetensors"  # in a folder


def write(
    path: Path, config: TransformerConfig, parameters: Mapping[str, Tensor], *, family: str, about: str = ""
) -> None:
    """Write a model's parameters, and all that it is made from, into a file, which is there whole or not at all."""
    turned = [name for name, value in parameters.items() if value.dim() == 2 and value.shape[0] > value.shape[1]]
    metadata = {
        "format": FORMAT,
        "config": json.dumps(asdict(config)),
        "family": family,
        "about": about,
        "inputs first": json.dumps(turned),
    }
    part = path.with_suffix(".part")
    laid = {name: (value.mT if name in turned else value).contiguous() for name, value in parameters.items()}
    save_file(laid, part, metadata)
    part.chmod(0o644)  # another user may run the server
    part.replace(path)


def read(path: Path) -> tuple[TransformerConfig, dict[str, str], dict[str, Tensor]]:
    """A file's configuration, what is said of it, and its parameters, mapped into memory.

    Raises:
        ValueError: for a file that `write` has not written.
    """
    try:
        with safe_open(path, framework="pt") as file:
            about = file.metadata() or {}
            if about.get("format") != FORMAT:
                raise ValueError(
                    f"{path.name}: expected a file of the format {FORMAT!r}, got {about.get('format')!r:.60}"
                )
            config = TransformerConfig(**json.loads(about["config"]))
            turned = set(json.loads(about["inputs first"]))
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 - no Mapping
            tensors |= {name: tensors[name].mT for name in turned}
    except (SafetensorError, OSError, KeyError, TypeError) as problem:
        raise ValueError(f"{path.name}: expected a converted checkpoint; {problem}") from problem
    return config, about, tensors
