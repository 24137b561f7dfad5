"""The documents: every one is linked, every link and anchor leads somewhere, every command exists, examples run."""

import re
import shlex
from functools import cache
from importlib.util import find_spec
from pathlib import Path

import pytest

from benchmarks.__main__ import LONG, NAMES
from benchmarks.runs import figures_of, table
from tfm_core.training.folder import FOLDER
from tfm_ui.settings import ENTRIES

ROOT = Path(__file__).parents[1]
README, HOW_FAST = ROOT / "README.md", ROOT / "docs" / "how-fast.md"
PLACES = (
    "*.md",
    "docs/*.md",
    "assets/*/README.md",
    "tfm_core/language/*/README.md",
    "tfm_core/training/tasks/*/README.md",
)
DOCUMENTS = sorted(document for place in PLACES for document in ROOT.glob(place))
ONE_SCREEN = 60  # lines
FENCED = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\(([^)\s]+)\)")
COMMAND = re.compile(r"^(python3? |pip |npm |streamlit )")
# A file of the project that code or a comment names, and where they are looked for.
NAMED = re.compile(r"\b(?:tests|tfm_core|tfm_ui|hosting|docs|benchmarks)/[\w/]+\.(?:py|js|md|template)\b")
WITH_COMMENTS = sorted(
    file
    for room in ("tfm_core", "tfm_ui", "benchmarks", "assets", "hosting", "tests")
    for kind in ("*.py", "*.js", "*.css", "*.template")
    for file in (ROOT / room).rglob(kind)
)
NUMBER = r"-?[\d.,]+"
WITHOUT_NUMBER = f"more than {NUMBER} s|out of memory|refused|not tried|each round was disturbed"
ONE_RUN = rf"{NUMBER}( [\w ]+)?"  # counts have no unit
SEVERAL_RUNS = rf"{ONE_RUN} \({NUMBER} to {NUMBER}\)"


@cache
def prose(document):
    """The text without its fenced blocks."""
    return FENCED.sub("", document.read_text("utf-8"))


def links(document):
    """(path, anchor) of each link that stays in the project."""
    targets = [target for target in LINK.findall(prose(document)) if "://" not in target]
    pairs = (target.partition("#") for target in targets)
    return [((document.parent / path).resolve() if path else document, anchor) for path, _, anchor in pairs]


def anchors(document):
    """The anchors of its headings, as sites that show Markdown make them."""
    titles = re.findall(r"^#+ (.+)$", prose(document), re.MULTILINE)
    return [re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles]


def commands(document):
    """The commands in a document: lines of fenced shell, and inline code that begins with a program's name."""
    fenced = [
        line
        for language, body in FENCED.findall(document.read_text("utf-8"))
        if language == "sh"
        for line in body.splitlines()
    ]
    inline = re.findall(r"`([^`\n]+)`", prose(document))
    return [line for line in (*fenced, *inline) if COMMAND.match(line)]


def problem(command):
    """The files, modules and benchmarks in a command that do not exist."""
    words = shlex.split(command, comments=True)
    modules = {words[at + 1]: words[at + 2 :] for at, word in enumerate(words) if word == "-m"}
    files = [word for word in words if word.endswith((".py", ".txt", ".md"))]
    files += [f"{words[at + 1]}/package.json" for at, word in enumerate(words) if word == "--prefix"]
    missing = [file for file in files if not (ROOT / file).exists()]
    missing += [module for module in modules if find_spec(module) is None]
    named = [word for word in modules.get("benchmarks", []) if not word.startswith(("-", "[")) and not word.isdigit()]
    return missing + [name for name in named if name not in NAMES and name not in files]


def test_the_readme_is_one_screen():
    assert len(README.read_text("utf-8").splitlines()) <= ONE_SCREEN


def test_every_document_is_linked_from_the_readme_directly_or_over_another():
    reached, to_read = set(), [README]
    while to_read:
        document = to_read.pop()
        if document not in reached:
            reached.add(document)
            to_read += [path for path, _ in links(document) if path.suffix == ".md"]
    assert reached == set(DOCUMENTS)


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_every_link_and_anchor_leads_somewhere(document):
    dead = [str(path) for path, _ in links(document) if not path.exists()]
    assert dead == []
    assert [f"{path}#{anchor}" for path, anchor in links(document) if anchor and anchor not in anchors(path)] == []


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_every_command_exists(document):
    assert {command: problem(command) for command in commands(document) if problem(command)} == {}


def test_the_commands_are_found_and_a_wrong_one_is_told():
    assert "python3 run.py         # sets everything up, then starts the app" in commands(README)
    assert "python -m benchmarks --runs 1 --into docs/how-fast.md" in commands(HOW_FAST)
    assert problem("python -m benchmarks --runs 1 --into docs/how-slow.md core") == ["docs/how-slow.md"]
    assert problem("python -m benchmarks --runs 3 core nonsense") == ["nonsense"]
    assert problem("python3 walk.py") == ["walk.py"]
    assert problem("python -m no_such_module") == ["no_such_module"]


def test_the_example_of_the_library_gives_what_it_says():
    [example] = [
        body
        for language, body in FENCED.findall((ROOT / "docs" / "library.md").read_text("utf-8"))
        if language == "python"
    ]
    scope = {}
    exec(example, scope)
    shape = tuple(scope["trace"]["layers.0.self_attention.weights"].shape)
    assert f"= {shape}" in example


def test_the_tables_of_how_fast_are_what_the_benchmarks_print():
    text = HOW_FAST.read_text("utf-8")
    sections = dict(re.findall(r"^### (\w+)\n(.*?)(?=^### |\Z)", text, re.MULTILINE | re.DOTALL))
    assert list(sections) == [name for name in NAMES if name not in LONG]
    for name, section in sections.items():
        cells = [line.split(" | ") for line in section.splitlines() if line[:1] == "|"]
        runs = re.search(r"Median of (\d+) runs", section)
        figures = figures_of(name)
        printed = table(figures, [["VALUE"] * len(figures)] * (int(runs[1]) if runs else 1))
        expected = [line.split(" | ") for line in printed]
        assert [len(row) for row in cells] == [len(row) for row in expected]
        pairs = [pair for row, others in zip(cells, expected, strict=True) for pair in zip(row, others, strict=True)]
        assert [cell for cell, other in pairs if "VALUE" not in other and cell != other] == []
        measured = [cell.removesuffix(" |") for cell, other in pairs if "VALUE" in other]
        form = rf"{SEVERAL_RUNS if runs else ONE_RUN}|{WITHOUT_NUMBER}"
        assert [cell for cell in measured if not re.fullmatch(form, cell)] == []


def test_the_settings_that_are_described_are_those_that_are_read():
    text = (ROOT / "docs/hosting.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| `ATTENTION_LAB_.*$", text, re.MULTILINE)
    runs = [row for row in rows if f"`{FOLDER}`" in row]  # the library's, which knows nothing of the app's settings
    assert len(runs) == 1
    assert [row for row in rows if row not in runs] == [entry.row for entry in ENTRIES.values()]
    variables = {FOLDER, *(entry.variable for entry in ENTRIES.values())}
    assert set(re.findall(r"ATTENTION_LAB_[A-Z_]+", text)) == variables


def test_files_that_code_and_comments_name_are_there():
    made_up = {"tests/a.py"}  # in a test of patches
    named = {(name, file) for file in WITH_COMMENTS for name in NAMED.findall(file.read_text("utf-8"))}
    assert len(named) > 50
    assert sorted((name, str(file)) for name, file in named if not (ROOT / name).exists() and name not in made_up) == []
