"""The notebooks: each runs from top to bottom, without warnings, and shows what is kept of it."""

import json
import re
import subprocess
import sys
from functools import cache
from pathlib import Path

import nbformat
import pytest

from examples.__main__ import NOTEBOOKS, PNG, WIDGET, executed, outputs, problems, smaller, without_widgets
from tfm_core.pretrained.offered import FOLDER as MODELS
from tfm_core.pretrained.offered import OFFERED
from tfm_ui.lessons.shelf import shipped

ROOT = Path(__file__).parents[1]
LARGEST = 500_000  # bytes of a notebook
CHAPTER = re.compile(r"\[([^\]]+)\]\(http://localhost:8501/learn\?lesson=([\w-]+)\)")
ROUNDED = re.compile(r"(?<=row sums to 1); the furthest off.*")  # by so much as the processor rounds
NUMBER = re.compile(r"\d[\d.,]*")
TRAINED = ("4", "5")  # how these notebooks begin: what is trained comes out a little different on another processor

named = pytest.mark.parametrize("file", NOTEBOOKS, ids=lambda file: file.stem)


@cache
def now(file):
    """The notebook as it comes out now, where no run is kept from before."""
    return executed(file)


@pytest.fixture(autouse=True)
def _no_runs(monkeypatch, tmp_path):
    monkeypatch.setenv("ATTENTION_LAB_RUNS", str(tmp_path))


def kept(file):
    return nbformat.read(file, as_version=4)


def said(notebook):
    """The sentence of each picture."""
    return [output.data["text/plain"] for output in outputs(notebook) if PNG in output.get("data", {})]


def pictures(notebook):
    return [output.data for output in outputs(notebook) if PNG in output.get("data", {})]


def test_there_are_five_in_an_order():
    assert [file.name[:2] for file in NOTEBOOKS] == ["1-", "2-", "3-", "4-", "5-"]


@named
def test_it_runs_and_each_picture_is_a_widget_and_a_png(file):
    notebook = now(file)
    assert problems(notebook) == []
    shown = pictures(notebook)
    assert 4 <= len(shown) <= 8
    assert all(WIDGET in data and smaller(data[PNG]) for data in shown)


@named
def test_what_is_kept_of_its_pictures_is_what_they_say(file):
    if file.name.startswith("2") and not OFFERED["smollm2"].is_there:
        pytest.skip("what is kept was said of SmolLM2, which is not installed")
    before, after = ([ROUNDED.sub("", sentence) for sentence in said(notebook)] for notebook in (kept(file), now(file)))
    if file.name.startswith(TRAINED):
        before, after = ([NUMBER.sub("#", sentence) for sentence in both] for both in (before, after))
    assert after == before


@named
def test_only_texts_and_pngs_are_kept(file):
    text = file.read_text(encoding="utf-8")
    assert len(text) <= LARGEST
    notebook = json.loads(text)
    assert (notebook["nbformat"], notebook["nbformat_minor"]) == (4, 5)
    assert set(notebook["metadata"]) == {"kernelspec", "language_info"}
    assert all(cell["metadata"] == {} for cell in notebook["cells"])
    kinds = {kind for output in outputs(kept(file)) for kind in output.get("data", ())}
    assert kinds == {"text/plain", PNG}
    assert {output.output_type for output in outputs(kept(file))} <= {"display_data", "execute_result", "stream"}


@named
def test_nothing_of_a_machine_is_kept(file):
    words = "".join(json.dumps(cell.source) + json.dumps(_texts(cell)) for cell in kept(file).cells)
    assert [path for path in (str(ROOT), str(Path.home()), sys.prefix, " at 0x") if path in words] == []


def _texts(cell):
    return [output.get("text") or output.data.get("text/plain") for output in cell.get("outputs", [])]


@named
def test_it_begins_with_what_one_must_know_and_ends_with_what_one_can_try(file):
    cells = kept(file).cells
    begin, end = cells[0].source, cells[-1].source
    for promised in ("**What you learn.**", '`pip install ".[notebook', "**Time.**"):
        assert promised in begin
    assert end.startswith("## Three things to try")
    assert len(re.findall(r"^\d\. ", end, re.MULTILINE)) == 3
    chapters = CHAPTER.findall(begin)
    assert chapters
    assert chapters == [(shipped(name).title, name) for _, name in chapters]


@named
def test_every_code_cell_was_run_in_order(file):
    numbers = [cell.execution_count for cell in kept(file).cells if cell.cell_type == "code"]
    assert numbers == list(range(1, len(numbers) + 1))


def test_without_smollm2_its_notebook_shows_lab_gpt(tmp_path):
    [file] = [file for file in NOTEBOOKS if file.name.startswith("2")]
    notebook = executed(file, {MODELS: str(tmp_path)})
    assert problems(notebook) == []
    assert "SmolLM2 is not there" in next(output.text for output in outputs(notebook) if "text" in output)
    assert len(pictures(notebook)) == len(pictures(kept(file)))


@pytest.fixture
def failing(tmp_path):
    """A notebook with a cell that raises an exception."""
    file = tmp_path / "wrong.ipynb"
    nbformat.write(nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell("1 / 0")]), file)
    return file


def test_an_exception_in_a_notebook_is_raised(failing):
    with pytest.raises(Exception, match="ZeroDivisionError"):
        executed(failing)


def test_warnings_and_pictures_without_a_png_are_problems():
    warning = nbformat.v4.new_output("stream", name="stderr", text="Careful.")
    widget = nbformat.v4.new_output("display_data", {WIDGET: {}, "text/plain": "A picture."})
    cell = nbformat.v4.new_code_cell("1", outputs=[warning, widget])
    notebook = nbformat.v4.new_notebook(cells=[cell])
    assert problems(notebook) == ["It warns: Careful.", "No PNG stands beside this picture: A picture."]
    assert [*outputs(without_widgets(notebook))][1].data == {"text/plain": "A picture."}


def test_the_command_names_the_notebooks_where_none_is_meant():
    asked = [sys.executable, "-m", "examples", "9", "--check"]
    told = subprocess.run(asked, cwd=ROOT, capture_output=True, text=True, timeout=60)
    assert told.returncode == 1
    assert NOTEBOOKS[0].name in told.stderr
