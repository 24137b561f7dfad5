"""The notebooks of the chapters, run by Jupyter where only the library is installed: with solutions and without."""

import os
from functools import cache
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError
from nbformat.v4 import new_code_cell, new_notebook

from examples.__main__ import problems
from tfm_core.pretrained.offered import FOLDER as MODELS
from tfm_core.pretrained.offered import HOME
from tfm_ui.lenses import lens
from tfm_ui.lessons import shelf
from tfm_ui.lessons.notebook_file import notebook_bytes

ROOT = Path(__file__).parents[1]
CHAPTERS = shelf.names()
LARGEST = 100_000  # bytes of a notebook
TIMEOUT = 120  # seconds of a cell


@cache
def notebook_of(name, *, solutions):
    return notebook_bytes(shelf.shipped(name), lens, solutions=solutions)


def read(name, *, solutions):
    return nbformat.reads(notebook_of(name, solutions=solutions).decode(), as_version=4)


@pytest.fixture(scope="module")
def kernel(tmp_path_factory):
    """A client of a kernel that finds the library and nothing else of this project; all notebooks share it, in turn."""
    folder = tmp_path_factory.mktemp("installed")
    (folder / "library").mkdir()
    (folder / "library" / "tfm_core").symlink_to(ROOT / "tfm_core")
    (folder / "work").mkdir()
    ours = {
        "PYTHONPATH": str(folder / "library"),
        "PYDEVD_DISABLE_FILE_VALIDATION": "1",  # else the kernel warns of a debugger that nobody uses
        "OMP_NUM_THREADS": "1",
        "ATTENTION_LAB_RUNS": str(folder / "runs"),
        MODELS: str(HOME),
    }
    client = NotebookClient(
        new_notebook(), timeout=TIMEOUT, record_timing=False, resources={"metadata": {"path": str(folder / "work")}}
    )
    with client.setup_kernel(env={**os.environ, **ours}):
        yield client


@pytest.mark.parametrize("name", CHAPTERS)
def test_it_stops_at_the_first_blank_and_with_solutions_it_runs(name, kernel):
    blank, filled = read(name, solutions=False), read(name, solutions=True)
    stopped, error = run(kernel, blank)
    checks = [cell.id for cell in blank.cells if cell.id.endswith("-check")]
    assert stopped == checks[0]
    assert "Not right yet: the report says where." in error
    assert "not right" in written(blank, stopped)
    assert run(kernel, filled) == ("", "")
    assert problems(blank) == problems(filled) == []
    assert [check for check in checks if ": right." not in written(filled, check)] == []


def run(client, notebook):
    """The id of the cell that raises an exception, and what it raised; nothing if all cells run. It begins anew."""
    client.nb = new_notebook(cells=[new_code_cell("%reset -f")])
    client.execute_cell(client.nb.cells[0], 0)
    client.nb = notebook
    for at, cell in enumerate(notebook.cells):
        try:
            client.execute_cell(cell, at)
        except CellExecutionError as error:
            return cell.id, str(error)
    return "", ""


def written(notebook, name):
    """What a cell has printed."""
    [cell] = [cell for cell in notebook.cells if cell.id == name]
    return "".join(output.get("text", "") for output in cell.outputs)


@pytest.mark.parametrize("name", CHAPTERS)
def test_it_is_small_and_has_no_outputs_and_the_same_bytes_each_time(name):
    for solutions in (False, True):
        data = notebook_of(name, solutions=solutions)
        assert len(data) < LARGEST
        assert data == notebook_bytes(shelf.shipped(name), lens, solutions=solutions)
        notebook = read(name, solutions=solutions)
        assert all(cell.outputs == [] for cell in notebook.cells if cell.cell_type == "code")
        assert set(notebook.metadata) == {"kernelspec", "language_info"}
        assert str(ROOT) not in data.decode()


@pytest.mark.parametrize("name", CHAPTERS)
def test_it_has_two_exercises_at_least_and_each_once(name):
    exercises = [cell.source for cell in read(name, solutions=False).cells if cell.id.endswith("-exercise")]
    assert 2 <= len(exercises) == len(set(exercises))
