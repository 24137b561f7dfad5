"""Try the ranges of pyproject.toml: all packages in their lowest version together, or all in their newest.

    python -m locks.ranges lowest     # or newest
    python -m locks.ranges lowest tests/tfm_core/model -x     # what follows goes to pytest, in place of tests/tfm_core

It resolves all extras with `uv pip compile`, installs the answer into a new environment, and runs the tests there. Of
torch it takes the lowest version both times: another one brings gigabytes with it.
"""

import re
import subprocess
import sys
import tomllib
import venv
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from locks.__main__ import BIN, OLDEST_PYTHON, ROOT, TORCH

RESOLUTIONS = {"lowest": "lowest-direct", "newest": "highest"}
# What the tests need beside the packages that are tried: by their pins in requirements-dev.txt.
TOOLS = (
    "aiohttp", "allpairspy", "axe-playwright-python", "hypothesis", "playwright", "pytest", "pytest-cov",
    "pytest-randomly", "pytest-xdist", "pyyaml", "x-transformers",
)  # fmt: skip
TESTS = ("tests/tfm_core", "-m", "not hypothesis")


def ranges() -> list[str]:
    """The requirements of the distribution with all of its extras, without those that are extras of its own."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = [each for extra in project["optional-dependencies"].values() for each in extra]
    everything = [*project["dependencies"], *extras]
    return sorted({each for each in everything if not each.startswith(project["name"])})


def lowest_torch() -> str:
    """The pin of the lowest version of torch in the ranges."""
    (lower,) = (begins[1] for each in ranges() if (begins := re.match(r"torch>=([0-9.]+)", each)))
    return f"torch=={lower}.0" if lower.count(".") == 1 else f"torch=={lower}"


def resolved(resolution: str) -> list[str]:
    """The pins that fit all ranges, without torch and what its build for CUDA needs.

    Args:
        resolution: of `uv pip compile`.

    Raises:
        CalledProcessError: if there are none; uv has said why by then.
    """
    command = [str(BIN / "uv"), "pip", "compile", "--quiet", "--no-config", "--no-header", "--no-annotate"]
    command += ["--python-version", OLDEST_PYTHON, "--resolution", resolution, "-"]
    asked = "\n".join([*ranges(), lowest_torch()])
    told = subprocess.run(command, input=asked, capture_output=True, text=True)
    if told.returncode:
        sys.stderr.write(told.stderr)
        told.check_returncode()
    return [pin for pin in told.stdout.splitlines() if not TORCH.match(pin)]


def tools() -> list[str]:
    """The pins of what the tests need."""
    lines = (
        line.partition(" #")[0].strip() for line in (ROOT / "requirements-dev.txt").read_text("utf-8").splitlines()
    )
    return [line for line in lines if line.partition("==")[0] in TOOLS]


def main(arguments: Sequence[str]) -> int:
    """Try one end of the ranges; return the tests' exit code."""
    if arguments[:1] not in [[each] for each in RESOLUTIONS]:
        sys.exit(f"expected one of {', '.join(RESOLUTIONS)}; got {' '.join(arguments) or 'nothing'}")
    pins = resolved(RESOLUTIONS[arguments[0]])
    sys.stdout.write("\n".join([lowest_torch(), *pins, ""]))
    sys.stdout.flush()
    with TemporaryDirectory(prefix="attention-lab-") as folder:
        venv.create(folder, with_pip=True)
        python = str(Path(folder, BIN.name, "python"))
        install = [python, "-m", "pip", "install", "--quiet"]
        subprocess.run([*install, lowest_torch()], check=True)
        subprocess.run([*install, *pins, *tools()], check=True)
        tests = [python, "-m", "pytest", "-q", "-p", "no:cacheprovider", *(arguments[1:] or TESTS)]
        return subprocess.run(tests, cwd=ROOT).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
