"""Write anew what follows from the requirements: the locks of this folder, and the licences in docs/licences.md.

    python -m locks                            as few changes as the requirements ask for
    python -m locks --upgrade                  the newest version of each package that they allow
    python -m locks --upgrade-package NAME     of one package

What follows `locks` goes to `uv pip compile`, which asks the package index. Versions that are locked stay if they can.
"""

import re
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from locks.licences import write_licences

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / "locks"
BIN = Path(sys.executable).parent
OLDEST_PYTHON = "3.11"
# torch with what its build for CUDA alone needs. A build without CUDA is another file with another hash, so that torch
# is a lock of its own: whoever brings such a build leaves that lock out.
TORCH = re.compile(r"(torch|triton|cuda-.*|nvidia-.*)==")
# Lock -> the requirements file that it stands for, and the package of it, if not all of the file.
LOCKS = {
    "app": ("requirements.txt", ""),
    "torch": ("requirements.txt", "torch"),
    "transformers": ("requirements-transformers.txt", ""),
    "sbom": ("requirements-dev.txt", "cyclonedx-bom"),
}
HEADER = """# Made by `python -m locks`: do not edit. What {what} needs on any system, by Python {python} and newer.
# Install it with `pip install --require-hashes --requirement locks/{lock}.txt`; CONTRIBUTING.md says more.
"""


def wanted(lock: str) -> str:
    """The requirements that a lock stands for, as text of a requirements file."""
    file, package = LOCKS[lock]
    lines = (ROOT / file).read_text(encoding="utf-8").splitlines()
    return "\n".join(line for line in lines if not package or line.startswith(f"{package}=="))


def pins(text: str) -> list[str]:
    """The pins `name==version` of a lock, in its order; a name occurs twice if platforms differ."""
    return re.findall(r"^[a-z0-9.-]+==[^ ;\\]+", text, re.MULTILINE)


def compiled(requirements: str, kept: str, *options: str) -> str:
    """Everything that requirements need, for all platforms, with hashes.

    Args:
        requirements: text of a requirements file.
        kept: a former answer, whose versions stay where they can.
        options: more of `uv pip compile`.

    Raises:
        CalledProcessError: if uv finds no versions that fit together, or no index; it has said so by then.
    """
    with TemporaryDirectory() as folder:
        asked, answer = Path(folder, "asked.txt"), Path(folder, "answer.txt")
        asked.write_text(requirements, encoding="utf-8")
        answer.write_text(kept, encoding="utf-8")
        command = [str(BIN / "uv"), "pip", "compile", "--quiet", "--universal", "--python-version", OLDEST_PYTHON]
        shape = [
            "--generate-hashes",
            "--no-header",
            "--no-annotate",
            "--no-emit-index-url",
            "--output-file",
            str(answer),
        ]
        # Without a file of settings that this machine may have: the lock is the same wherever it is made.
        subprocess.run([*command, "--no-config", *shape, *options, str(asked)], check=True)
        return answer.read_text(encoding="utf-8")


def write_locks(options: Sequence[str]) -> None:
    """Write all locks. What several of them have is of the same version in each, so that they can be combined."""
    files = {lock: FOLDER / f"{lock}.txt" for lock in LOCKS}
    kept = "".join(file.read_text(encoding="utf-8") for file in files.values() if file.exists())
    everything = compiled("\n".join(map(wanted, LOCKS)), kept, *options)
    left_out = [f"--no-emit-package={pin.partition('==')[0]}" for pin in pins(everything) if TORCH.match(pin)]
    for lock, file in files.items():
        locked = compiled(wanted(lock), everything, *(left_out if lock != "torch" else ()))
        what = LOCKS[lock][1] or LOCKS[lock][0]
        file.write_text(HEADER.format(python=OLDEST_PYTHON, what=what, lock=lock) + locked, encoding="utf-8")


if __name__ == "__main__":
    write_locks(sys.argv[1:])
    write_licences()
