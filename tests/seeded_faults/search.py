"""Runs tests in a copy with a fault, the likeliest first, until one fails."""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.seeded_faults.fault import Fault
from tests.tiers import TIERS, tier_of

SCRIPTS = "scripts"  # what the tests by Node are called in the table
PATIENCE = 3600  # seconds that tests which are run together may take
FAILURE = re.compile(r"^(?:FAILED|ERROR) (\S+::.+?)(?: - .*)?$|^not ok \d+ - (.*)$", re.MULTILINE)


@dataclass(frozen=True)
class Catch:
    """Which test noticed a fault.

    Attributes:
        tier: of the test; "" if none has noticed it.
        test: the first that failed.
        problems: what could not be run, such as a test that there no longer is.
    """

    tier: str
    test: str
    problems: tuple[str, ...] = ()


def search(fault: Fault, place: Path) -> Catch:
    """Run tests in the copy at this place until one fails."""
    problems: list[str] = []
    for command in _batches(fault, place):
        code, output = _run(command, place)
        if test := failure(code, output):
            return Catch(tier_of(test) if "::" in test else SCRIPTS, test, tuple(problems))
        if code:
            what = " ".join(command[1:])
            problems.append(f"{fault.name}: {what} ended with code {code}: {' '.join(output.split())[-300:]}")
    return Catch("", "", tuple(problems))


def failure(code: int, output: str) -> str:
    """The first test that failed; "" if none did, or if tests could not even be collected.

    Args:
        code: the exit code of pytest or Node: 1 where tests have failed. With several workers pytest ends with 2 where
            the first failure has stopped it, as it does where files cannot be imported.
        output: what was written.
    """
    match = FAILURE.search(output)
    if code == 1:
        return (match[1] or match[2]) if match else "a test that is not named"
    return match[1] if code == 2 and match and match[1] else ""


def _run(command: Sequence[str], place: Path) -> tuple[int, str]:
    """The exit code, and what was written."""
    environment = os.environ | {"PYTHONDONTWRITEBYTECODE": ""}
    try:
        done = subprocess.run(
            command, cwd=place, env=environment, capture_output=True, text=True, timeout=PATIENCE, check=False
        )
    except subprocess.TimeoutExpired:
        return -1, f"no end within {PATIENCE} seconds"
    return done.returncode, done.stdout + done.stderr


def _batches(fault: Fault, place: Path) -> Iterator[list[str]]:
    """Commands: first for the tests that are named, then for all of each tier."""
    for is_script in (True, False):
        if tests := [test for test in fault.seen_by if test.endswith(".js") == is_script]:
            yield _node(tests) if is_script else _pytest(*tests)
    for tier in TIERS:
        yield _pytest("--tiers", tier, "-n", "2", "--dist", "loadgroup")
        if tier == "law":  # these are quick, too
            yield _node(sorted(str(file.relative_to(place)) for file in place.glob("tests/scripts/*.test.js")))


def _pytest(*words: str) -> list[str]:
    return [sys.executable, "-m", "pytest", "-x", "-q", "--tb=no", "-p", "no:cacheprovider", *words]


def _node(files: Sequence[str]) -> list[str]:
    return [shutil.which("node") or "node", "--test", "--test-reporter=tap", *files]
