"""Steps to take along, as somebody has them who has the files alone."""

import contextlib
import io
from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import torch
from safetensors.torch import load

from tfm_ui.live.tensors.page import page
from tfm_ui.live.tensors.step import Step

FILE = "tensors.npz"


def arrays(step: Step) -> dict[str, np.ndarray]:
    """What the .npz holds."""
    with np.load(io.BytesIO(step.npz()), allow_pickle=False) as file:
        return {name: file[name] for name in file.files}


def as_written(step: Step) -> Mapping[str, Any]:
    """What the page of torch leaves, run beside the .npz; it fails where a tensor is not what was saved.

    That both files hold what the table says is looked at on the way.
    """
    kept, others = arrays(step), load(step.safetensors())
    assert {name: (x.shape, x.dtype) for name, x in kept.items()} == {
        each.name: (each.shape, torch.empty(0, dtype=each.dtype).numpy().dtype) for each in step.kept
    }
    assert kept.keys() == others.keys()
    for name, numbers in kept.items():
        np.testing.assert_array_equal(numbers, others[name].numpy())
    with TemporaryDirectory() as folder:
        (Path(folder) / FILE).write_bytes(step.npz())
        left: dict[str, Any] = {"__file__": str(Path(folder) / "page.py"), "__name__": "page"}
        with contextlib.redirect_stdout(io.StringIO()) as told:
            exec(compile(page(step, FILE), "page.py", "exec"), left)
    compared = {line.split()[0] for line in told.getvalue().splitlines()}
    assert compared == {each.name for each in step.computed if each in step.kept}
    return left
