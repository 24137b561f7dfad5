"""The seeded faults can be put in: each patch fits, says what it is and who notices it, and no room is left out."""

import subprocess
from pathlib import Path

import pytest

from tests.seeded_faults.__main__ import Row, table
from tests.seeded_faults.fault import FAULTS, Fault, faults, read
from tests.seeded_faults.search import Catch, failure
from tfm_ui.lenses import NAMES

ROOT = Path(__file__).parents[1]
FEWEST = 34
ROOMS = {"assets", "attacks", "hosting"}
ROOMS |= {
    f"tfm_core/{room}"
    for room in ("generation", "language", "masks", "model", "positional", "profiling", "study", "training")
}
ROOMS |= {
    f"tfm_ui/{room}"
    for room in (
        "classroom",
        "jobs",
        "live",
        "page",
        "pictures",
        "server",
        "state",
        "store",
        "streamlit_private",
        "text",
        "visitors",
    )
}
ROOMS |= {f"tfm_ui/lenses/{name}" for name in NAMES}
ALL = faults()


def test_there_are_faults_in_all_rooms():
    assert len(ALL) >= FEWEST
    assert {fault.room for fault in ALL} == ROOMS
    assert {file.suffix for file in FAULTS.iterdir()} == {".patch"}


def fits(*chosen: Fault) -> bool:
    """Whether these patches can be put into the working tree, one after the other."""
    command = ["git", "apply", "--check", *(fault.file for fault in chosen)]
    return subprocess.run(command, cwd=ROOT, capture_output=True).returncode == 0


def test_each_patch_fits():
    assert fits(*ALL) or [fault.name for fault in ALL if not fits(fault)] == []  # two may change the same line


def test_each_tells_what_is_wrong_and_names_tests_that_there_are():
    for fault in ALL:
        assert fault.about.endswith("."), fault.name
        for test in fault.seen_by:
            file, _, name = test.partition("::")
            assert (ROOT / file).is_file(), (fault.name, test)
            code = (ROOT / file).read_text(encoding="utf-8")
            assert not name or f"def {name.partition('[')[0]}(" in code, (fault.name, test)


def test_a_patch_without_its_lines_is_refused(tmp_path):
    file = tmp_path / "odd.patch"
    file.write_text("Fault: something.\nSeen by: tests\nRoom: assets\n")
    with pytest.raises(ValueError, match=r"odd\.patch: expected the lines Fault, Room, Seen by first"):
        read(file)
    with pytest.raises(ValueError, match="got odd"):
        faults(["odd"])


@pytest.mark.parametrize(
    ("code", "output", "test"),
    [
        (0, "12 passed", ""),
        (1, "FAILED tests/a.py::test_b[c d] - AssertionError\n1 failed", "tests/a.py::test_b[c d]"),
        (1, "FAILED tests/a.py::test_b[c]\n1 failed", "tests/a.py::test_b[c]"),
        (1, "ERROR tests/a.py::test_b - RuntimeError\n1 error", "tests/a.py::test_b"),
        (1, "ok 1 - this\nnot ok 2 - the newest wins\n", "the newest wins"),
        (2, "FAILED tests/a.py::test_b - x\n! Interrupted: stopping after 1 failures !", "tests/a.py::test_b"),
        (2, "ERROR tests/a.py\n! Interrupted: 1 error during collection !", ""),
        (4, "ERROR: not found: tests/a.py::test_b", ""),
        (5, "no tests ran", ""),
    ],
)
def test_only_a_test_that_fails_has_noticed_something(code, output, test):
    assert failure(code, output) == test


def test_the_table_tells_which_test_noticed_what():
    fault = Fault(Path("slip.patch"), "Something is off by one.", "tfm_core/masks", ("tests/a.py",))
    rows = [Row(fault, Catch("unit", "tests/a.py::test_b"), 2.4), Row(fault, Catch("", ""), 60.0)]
    assert table(rows).splitlines()[2:] == [
        "| slip | tfm_core/masks | unit | `tests/a.py::test_b` | 2 |",
        "| slip | tfm_core/masks | **none** |  | 60 |",
    ]
