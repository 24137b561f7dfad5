"""Models that visitors bring, each in a folder of this server, where all of its processes find them and map them.

A link holds a model's name, a key of 128 bits that nobody can guess: whoever has it sees the model as long as this
server runs, and as long as there is room. The oldest in use goes first.
"""

import secrets
import shutil
from pathlib import Path
from tempfile import TemporaryDirectory

from tfm_core.pretrained import Pretrained, converted
from tfm_ui.settings import SETTINGS
from tfm_ui.store import shared
from tfm_ui.store.model_folder import NAME

BEGINS = "mine-"
TOGETHER = 4  # so many of the largest models are kept
FLOAT32 = 4  # bytes of a number


def keep(checkpoint: Pretrained) -> str:
    """Take a model in; returns its name.

    Raises:
        ValueError: for a model that is too large for this server, has no tokenizer, or has a tensor that does not fit.
        StoreAway: if this server can make no folder.
    """
    size, most = FLOAT32 * checkpoint.numbers, SETTINGS.model_bytes
    if size > most:
        raise ValueError(
            f"expected a model of at most {most / 1e6:,.0f} MB in float32, by this server’s setting "
            f"ATTENTION_LAB_MODEL_MB; got one of {size / 1e6:,.0f} MB"
        )
    checkpoint.tokenizer()  # which says what is wrong with it
    home = _home()
    home.mkdir(exist_ok=True)
    _make_room(home, TOGETHER * most - size)
    name = BEGINS + secrets.token_hex(16)
    with TemporaryDirectory(dir=home) as made:
        folder = Path(made, name)
        folder.mkdir()
        converted.write(
            folder / converted.NAME,
            checkpoint.config,
            checkpoint.parameters(),
            family=checkpoint.family,
            about=checkpoint.about,
        )
        checkpoint.save_tokenizer(folder / "tokenizer.json")
        folder.rename(home / name)
    return name


def _home() -> Path:
    return shared.folder() / "models"


def _make_room(home: Path, most: int) -> None:
    """Remove the folders that were used longest ago, until the others take at most so many bytes."""
    kept = sorted((each for each in home.iterdir() if NAME.fullmatch(each.name)), key=lambda each: each.stat().st_mtime)
    sizes = [sum(file.stat().st_size for file in each.iterdir()) for each in kept]
    for at, each in enumerate(kept):
        if sum(sizes[at:]) <= most:
            return
        shutil.rmtree(each, ignore_errors=True)
