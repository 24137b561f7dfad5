"""Files that a stranger brings as a model: each gives a sentence, leaves nothing behind, runs nothing and ends soon.

Each is read in a process of its own, as the box for files reads it, with a limit of processor time and of memory: a
file that took more would kill the process.
"""

import json
import pickle
import struct
import subprocess
import sys
import warnings
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file, save_file

from tests.tfm_core.pretrained.checkpoints import made, saved
from tests.tfm_core.pretrained.made_tokenizers import gpt2

SECONDS, BYTES = 60, 6 * 2**30  # of processor time for all files together, and of addresses
# What the box does with files, and whether something is left of them.
READS = """
import json, resource, sys
from pathlib import Path
resource.setrlimit(resource.RLIMIT_CPU, ({seconds}, {seconds}))
resource.setrlimit(resource.RLIMIT_AS, ({bytes}, {bytes}))
from tempfile import TemporaryDirectory
from tfm_core.pretrained import read
from tfm_ui.page.bring_model import _written
from tfm_ui.store import models, shared

class File:
    def __init__(self, path):
        self.name, self.file = path.name, path.open("rb")
        for name in ("read", "seek", "tell", "seekable"):
            setattr(self, name, getattr(self.file, name))

    def getbuffer(self):
        return Path(self.file.name).read_bytes()

outcomes = {{}}
home = shared.folder() / "models"
for name, files in json.loads(sys.stdin.read()).items():
    before = set(home.iterdir()) if home.exists() else set()
    try:
        with TemporaryDirectory() as made:
            models.keep(read(_written([File(Path(file)) for file in files], Path(made))))
        said = "TAKEN"
    except (ValueError, OSError) as problem:
        said = str(problem)
    left = (set(home.iterdir()) if home.exists() else set()) - before
    outcomes[name] = said, [path.name for path in left]
print(json.dumps(outcomes))
"""


class Bomb:
    """What makes a file when it is unpickled."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self):
        return (Path.touch, (self.path,))


def whole(folder: Path) -> Path:
    """A folder with a checkpoint that is taken in."""
    merges = gpt2()
    saved(made("llama", vocab_size=merges.get_vocab_size()), folder)
    merges.save(str(folder / "tokenizer.json"))
    return folder


@pytest.fixture(scope="module")
def outcomes(tmp_path_factory) -> dict[str, tuple[str, list[str]]]:
    """Name of a case -> what is said of its files, and what is left of them on the server."""
    ways = {name: changed for name, (changed, _) in HOSTILE.items()} | {"whole": lambda folder: None}
    cases: dict[str, list[Path]] = {}
    for name, change in ways.items():
        folder = whole(tmp_path_factory.mktemp("case") / "whole")
        change(folder)
        cases[name] = files_of(folder)
    for name, make in (ARCHIVES | OTHERS).items():
        cases[name] = [make(whole(tmp_path_factory.mktemp("case") / "whole"))]
    told = subprocess.run(
        [sys.executable, "-c", READS.format(seconds=SECONDS, bytes=BYTES)],
        input=json.dumps({name: list(map(str, files)) for name, files in cases.items()}),
        capture_output=True,
        text=True,
        cwd=Path(__file__).parents[2],
    )
    assert told.returncode == 0, told.stderr[-2000:]
    said: dict[str, tuple[str, list[str]]] = json.loads(told.stdout.strip().splitlines()[-1])
    return said


def files_of(folder: Path) -> list[Path]:
    return [folder / name for name in ("config.json", "model.safetensors", "tokenizer.json")]


def header_of(path: Path) -> tuple[dict[str, object], bytes]:
    content = path.read_bytes()
    (length,) = struct.unpack("<Q", content[:8])
    return json.loads(content[8 : 8 + length]), content[8 + length :]


def changed_tensors(folder: Path, change: Callable[[dict[str, torch.Tensor]], object]) -> None:
    tensors = load_file(folder / "model.safetensors")
    change(tensors)
    save_file(tensors, folder / "model.safetensors")


def changed_config(folder: Path, **values: object) -> None:
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps(config | values))


def doubled(folder: Path) -> None:
    header, numbers = header_of(folder / "model.safetensors")
    text = json.dumps(header)
    again = json.dumps({"model.norm.weight": header["model.norm.weight"]})[1:-1]
    text = f"{text[:-1]}, {again}}}".encode()
    (folder / "model.safetensors").write_bytes(struct.pack("<Q", len(text)) + text + numbers)


def with_nan(tensors: dict[str, torch.Tensor]) -> None:
    tensors["model.norm.weight"][3] = float("nan")


def replaced(name: str, content: bytes) -> Callable[[Path], None]:
    return lambda folder: (folder / name).write_bytes(content) and None


def slow_pattern(folder: Path) -> None:
    tokenizer = json.loads((folder / "tokenizer.json").read_text())
    tokenizer["pre_tokenizer"] = {
        "type": "Split",
        "pattern": {"Regex": "(a+)+$"},
        "behavior": "Isolated",
        "invert": False,
    }
    (folder / "tokenizer.json").write_text(json.dumps(tokenizer))


def cut(folder: Path) -> None:
    file = folder / "model.safetensors"
    file.write_bytes(file.read_bytes()[:-100])


HOSTILE: dict[str, tuple[Callable[[Path], object], str]] = {
    "cut off": (cut, "model.safetensors: expected"),
    "a header of gigabytes": (
        replaced("model.safetensors", struct.pack("<Q", 2**40) + b"{}"),
        "model.safetensors: expected",
    ),
    "a tensor of another shape": (
        lambda folder: changed_tensors(folder, lambda t: t.update({"model.norm.weight": torch.ones(7)})),
        "tensor 'model.norm.weight': expected (24,)",
    ),
    "a tensor too few": (
        lambda folder: changed_tensors(folder, lambda t: t.pop("model.layers.1.mlp.up_proj.weight")),
        "expected a tensor 'model.layers.1.mlp.up_proj.weight'",
    ),
    "a tensor twice": (doubled, "stands twice"),
    "a tensor that is no number": (lambda folder: changed_tensors(folder, with_nan), "model.norm.weight"),
    "a configuration of a billion layers": (
        lambda folder: changed_config(folder, num_hidden_layers=10**9),
        "num_hidden_layers",
    ),
    "a configuration of enormous width": (
        lambda folder: changed_config(
            folder, hidden_size=2**24, head_dim=None, num_attention_heads=2**20, num_key_value_heads=1
        ),
        "expected",
    ),
    "a configuration that is no JSON": (replaced("config.json", b"{" * 100_000), "config.json: expected"),
    "a tokenizer of 100 MB": (replaced("tokenizer.json", b" " * 100_000_000), "tokenizer.json: expected"),
    "a tokenizer of nested lists": (replaced("tokenizer.json", b"[" * 1_000_000), "tokenizer.json: expected"),
    "a pattern that never ends": (slow_pattern, "(a+)+$"),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_checkpoint_is_told_and_leaves_nothing(name, outcomes):
    said, left = outcomes[name]
    assert HOSTILE[name][1] in said
    assert "expected" in said
    assert left == []
    assert len(said) < 1000


def test_a_checkpoint_that_is_whole_is_taken_in(outcomes):
    said, left = outcomes["whole"]
    assert said == "TAKEN"
    assert len(left) == 1
    assert left[0].startswith("mine-")


def archive(folder: Path, *more: tuple[zipfile.ZipInfo | str, bytes]) -> Path:
    path = folder / "model.zip"
    with warnings.catch_warnings(), zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as made_of:
        warnings.simplefilter("ignore")  # of Python, about a name that stands twice
        for file in files_of(folder):
            made_of.write(file, file.name)
        for name, content in more:
            made_of.writestr(name, content)
    return path


def link_to(target: str) -> zipfile.ZipInfo:
    entry = zipfile.ZipInfo("generation_config.json")
    entry.create_system, entry.external_attr = 3, 0o120777 << 16
    entry.extra = b""
    entry.comment = target.encode()
    return entry


ARCHIVES: dict[str, Callable[[Path], Path]] = {
    "a path that climbs": lambda folder: archive(folder, ("../../climbed.json", b"{}")),
    "a path from the root": lambda folder: archive(folder, ("/tmp/climbed.json", b"{}")),
    "a symbolic link": lambda folder: archive(folder, (link_to("/etc/passwd"), b"/etc/passwd")),
    "a file twice": lambda folder: archive(folder, ("config.json", b"{}")),
}


def zeros(folder: Path) -> Path:
    """An archive whose weights are 6 GB of zeros, which take 6 MB."""
    path = folder / "bomb.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as bomb:
        bomb.write(folder / "config.json", "config.json")
        with bomb.open("model.safetensors", "w", force_zip64=True) as weights:
            for _ in range(96):
                weights.write(bytes(2**26))
    return path


def pickled(name: str) -> Callable[[Path], Path]:
    """An archive with a pickled file in place of the weights."""

    def make(folder: Path) -> Path:
        (folder / "model.safetensors").unlink()
        (folder / name).write_bytes(pickle.dumps(Bomb(folder.parent / "ran")))
        path = folder / "model.zip"
        with zipfile.ZipFile(path, "w") as made_of:
            for file in ("config.json", "tokenizer.json", name):
                made_of.write(folder / file, file)
        return path

    return make


def empty_promise(folder: Path) -> Path:
    """A GGUF file that promises more than it holds."""
    path = folder / "model.gguf"
    path.write_bytes(b"GGUF" + struct.pack("<IQQ", 3, 2**40, 2**40))
    return path


OTHERS: dict[str, Callable[[Path], Path]] = {
    "gigabytes of zeros": zeros,
    "a pickled .bin": pickled("pytorch_model.bin"),
    "a pickled .pt": pickled("model.pt"),
    "a GGUF file that promises more than it holds": empty_promise,
}


@pytest.mark.parametrize("name", [*ARCHIVES, *OTHERS])
def test_a_hostile_archive_or_file_is_told_leaves_nothing_and_runs_nothing(name, outcomes, tmp_path_factory):
    said, left = outcomes[name]
    assert "expected" in said
    assert left == []
    base = tmp_path_factory.getbasetemp()
    assert not [*base.rglob("climbed*"), *base.rglob("ran")]
    assert not list(Path("/tmp").glob("climbed*"))
