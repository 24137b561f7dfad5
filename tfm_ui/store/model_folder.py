"""Where the models lie that visitors have brought (tfm_ui/store/models.py): found by their names, in any process."""

import os
import re
from contextlib import suppress
from pathlib import Path

SERVER = "_ATTENTION_LAB_KEEPS"  # the environment variable that names this server's folder: tfm_ui/store/shared.py
NAME = re.compile("mine-[0-9a-f]{32}")


def folder_of(name: str) -> Path | None:
    """The folder of the model of this name, which counts as using it; None if it is not there any more."""
    if not NAME.fullmatch(name) or not (server := os.environ.get(SERVER)):
        return None
    with suppress(OSError):
        folder = Path(server, "models", name)
        if folder.is_dir():
            folder.touch()
            return folder
    return None
