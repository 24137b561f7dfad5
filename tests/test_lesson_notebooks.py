"""The notebooks of the chapters, run by Jupyter where only the library is installed: with solutions and without."""

import os
from functools import cache
from pathlib import Path

import nbformat
import pytest
import torch
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError
from nbformat.v4 import new_code_cell, new_notebook

from examples.__main__ import problems
from tfm_core.checks.exercises import EXERCISES
from tfm_core.pretrained.offered import FOLDER as MODELS
from tfm_core.pretrained.offered import HOME
from tfm_ui.lenses import lens
from tfm_ui.lenses.attention.steps import Steps
from tfm_ui.lessons import shelf
from tfm_ui.lessons.notebook import plain
from tfm_ui.lessons.notebook_file import notebook_bytes
from tfm_ui.lessons.notebook_kinds import KINDS
from tfm_ui.lessons.programming import exercises_of
from tfm_ui.lessons.shown import shown
from tfm_ui.lessons.step_code import code_of, codes_of
from tfm_ui.pictures.panel import panels_in
from tfm_ui.pictures.steps.matrices import NUMBERS

ROOT = Path(__file__).parents[1]
CHAPTERS = shelf.names()
TEACHING = sorted(path.stem for path in (ROOT / "assets" / "lessons" / "teaching").glob("*.md"))
# A line of a solution that is also in the code of a picture, where the app shows it to everybody.
IN_PICTURES = {"mean = x.mean(-1, keepdim=True)"}
LARGEST = 100_000  # bytes of a notebook
TIMEOUT = 120  # seconds of a cell


@cache
def notebook_of(name, kind):
    return notebook_bytes(shelf.shipped(name), lens, kind=kind)


def read(name, kind):
    return nbformat.reads(notebook_of(name, kind).decode(), as_version=4)


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
    blank, filled = read(name, "students"), read(name, "solutions")
    stopped, error = run(kernel, blank)
    checks = [cell.id for cell in blank.cells if cell.id.endswith("-check")]
    assert stopped == checks[0]
    assert ": Not filled in yet: line " in error.strip().splitlines()[-1]
    assert "not filled in yet.\nLine " in written(blank, stopped)
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
    for kind in KINDS:
        data = notebook_of(name, kind)
        assert len(data) < LARGEST
        assert kind != "study" or data == notebook_bytes(shelf.shipped(name), lens, kind=kind)
        notebook = read(name, kind)
        assert all(cell.outputs == [] for cell in notebook.cells if cell.cell_type == "code")
        assert set(notebook.metadata) == {"kernelspec", "language_info"}
        assert str(ROOT) not in data.decode()


@pytest.mark.parametrize("name", CHAPTERS)
def test_it_has_two_exercises_at_least_and_each_once(name):
    exercises = [cell.source for cell in read(name, "students").cells if cell.id.endswith("-exercise")]
    assert 2 <= len(exercises) == len(set(exercises))


def sources(name, kind):
    return {cell.id: cell.source for cell in read(name, kind).cells}


@pytest.mark.parametrize("name", CHAPTERS)
def test_self_study_has_the_same_code_and_more_words(name):
    """It stops where that for students stops, which is run above."""
    students, study = sources(name, "students"), sources(name, "study")
    more = study.keys() - students.keys()
    assert {each.rpartition("-")[2] for each in more} <= {"solution", "answer"}
    assert all(study[each] == source for each, source in students.items() if each != "title")
    assert all(study[each].startswith("<details>") or "Not computed" in study[each] for each in more)


@pytest.mark.parametrize("name", [*CHAPTERS, *TEACHING])
def test_what_is_handed_out_has_no_solution_and_no_answer(name):
    lesson = shelf.shipped(name)
    written_in = "\n".join(sources(name, "students").values())
    codes, exercises = codes_of(lesson, lens), exercises_of(lesson, lens)
    for exercise in filter(None, exercises):
        coding = EXERCISES[exercise]
        filled, blank = coding.filled.splitlines(), coding.code().splitlines()
        lines = {line.strip() for line in filled} - {line.strip() for line in blank}
        lines = {line for line in lines if not line.startswith("#")} - IN_PICTURES
        assert lines
        others = "\n".join(EXERCISES[each].code() for each in filter(None, exercises))
        assert [line for line in lines if f"\n    {line}" in written_in and line not in others] == []
    for step, code in zip(lesson.steps, codes, strict=True):
        assert not code.answer or plain(code.answer) not in written_in, step.name
        measured = f"It is **{plain(code.measured)}**"
        assert measured not in written_in
        assert not code.measured or measured in sources(name, "solutions")[f"{step.name}-yours"]


@pytest.mark.parametrize("name", CHAPTERS)
def test_the_code_of_each_step_by_step_picture_computes_its_matrix(name):
    """What the code shows in the end is the matrix of this step, to the last bit that float32 has."""
    compared = 0
    for step in shelf.shipped(name).steps:
        this = shown(step, lens)
        [panel, *_] = panels_in(this.lens.blocks(this.model, this.state))
        if not isinstance(panel, Steps):
            continue
        code, scope = panel.in_notebook(), {}
        *before, last = code.splitlines()
        exec("\n".join(before), scope)
        matrix = panel.state.step
        right = NUMBERS[matrix](panel.steps, panel.at, slice(None), slice(None))
        assert torch.allclose(eval(last, scope), right, rtol=1e-4, atol=1e-5), step.name
        compared += 1
    assert compared or name not in ("attention-in-five-steps", "real-models", "why-the-square-root")


def test_a_question_about_the_next_token_has_code_that_gives_its_probability(capsys):
    """Home: how sure the model is; a silenced head: how likely “whale” is then; Heads: how likely “or” is."""
    steps = [*shelf.shipped("start-here").steps, shelf.shipped("reading-attention").steps[0]]
    for name in ("predict-the-next-word", "silence-a-head", "a-convincing-picture"):
        [step] = [step for step in steps if step.name == name]
        code = code_of(step, lens)
        exec(code.code, {})
        printed = capsys.readouterr().out
        if name != "silence-a-head":
            assert float(printed.split("%")[0]) == pytest.approx(float(code.measured.rstrip("%")), abs=0.051)
        else:
            [share] = [line.split("%")[0] for line in printed.splitlines() if line.endswith("' whale'")]
            assert float(share) == pytest.approx(float(code.measured.rstrip("%")), abs=0.051)
