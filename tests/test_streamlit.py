"""What is private to Streamlit is used in rooms of its own alone, and docs/streamlit.md lists it."""

import ast
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

from tests.browser.test_streamlit_dom import BUSY, NARROW, WIDE, WITH_LIST, WITH_MENU
from tests.imports import Source, parsed

ROOT = Path(__file__).parents[1]
# Streamlit documents these modules: https://docs.streamlit.io/develop/api-reference
PUBLIC = {
    "streamlit",
    "streamlit.column_config",
    "streamlit.components.v2",
    "streamlit.errors",
    "streamlit.testing.v1",
    "streamlit.testing.v1.element_tree",
    "streamlit.typing",
}
SUBMODULES = {"config", "logger", "proto", "runtime", "util", "web"}  # that `from streamlit import` would bring
TESTING = {"AppTest", "Block"}  # what is public of streamlit.testing
IN_PYTHON = ("tfm_ui/streamlit_private", "benchmarks/streamlit_private", "tests/tfm_ui/streamlit_private")
ON_THE_PAGE = ("assets/streamlit_private", "benchmarks/streamlit_private")
LOOKED_FOR = "tests/browser/test_streamlit_dom.py"
# Classes and test ids that Streamlit gives its elements, their attributes, and those of the libraries that draw them.
NAMED = re.compile(
    r"""\.st[A-Z]\w*|(?<![\w-])st[A-Z]\w*(?=["'\]])|data-testid|get_by_test_id|st-emotion|react-aria-[A-Z]|data-baseweb
    |data-stale|data-collapsed|data-test-script-state|testScriptState|data-st-overlay""",
    re.VERBOSE,
)
PAGE = {".css", ".js", ".py"}


def private(statement: ast.Import | ast.ImportFrom) -> list[str]:
    """What an import statement takes of Streamlit that is not public."""
    if isinstance(statement, ast.Import):
        return [name.name for name in statement.names if is_streamlit(name.name) and name.name not in PUBLIC]
    module = statement.module or ""
    if not is_streamlit(module):
        return []
    names = {name.name for name in statement.names}
    if module == "streamlit":
        names &= SUBMODULES
    elif module.startswith("streamlit.testing"):
        names -= TESTING
    elif module == "streamlit.components.v2":
        names -= {"component"}
    elif module in PUBLIC:
        return []
    return [f"{module}.{name}" for name in sorted(names)]


def is_streamlit(module: str) -> bool:
    return module.partition(".")[0] == "streamlit"


def outside(files: Iterable[Path], rooms: Iterable[str]) -> Iterator[Path]:
    """Those of the files that are in none of these folders, nor this file."""
    inside = [ROOT / room for room in rooms]
    return (path for path in files if path != Path(__file__) and not any(path.is_relative_to(room) for room in inside))


def test_no_file_outside_its_rooms_imports_what_is_private_to_streamlit():
    parts = ("app.py", "run.py", "pages", "tfm_core", "tfm_ui", "hosting", "benchmarks", "locks", "tests")
    files = Source(ROOT, parts).files.values()
    taken = [
        f"{path.relative_to(ROOT)}:{statement.lineno}: {', '.join(names)}"
        for path in outside(files, IN_PYTHON)
        for statement in parsed(path).imports
        if (names := private(statement))
    ]
    assert not taken, f"import it in one of {IN_PYTHON}:\n" + "\n".join(taken)


def test_no_file_outside_its_rooms_names_elements_as_streamlit_does():
    folders = ("assets", "tfm_ui", "benchmarks", "tests/browser", "tests/hosted", "tests/pages")
    files = [path for folder in folders for path in (ROOT / folder).rglob("*") if path.suffix in PAGE]
    named = [
        f"{path.relative_to(ROOT)}:{number}: {', '.join(names)}"
        for path in outside(files, (*ON_THE_PAGE, LOOKED_FOR))
        if path.parent.name != "plotly"
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        if (names := NAMED.findall(line))
    ]
    assert len(files) > 100
    assert not named, f"use a key of ours (.st-key-…), or name it in one of {ON_THE_PAGE}:\n" + "\n".join(named)


def elements() -> set[str]:
    """The names of elements in their rooms."""
    texts = [
        path.read_text(encoding="utf-8")
        for folder in ON_THE_PAGE
        for path in (ROOT / folder).iterdir()
        if path.suffix in PAGE
    ]
    return {name.lstrip(".") for text in texts for name in NAMED.findall(text)} - {"data-testid"}


def test_each_element_is_looked_for_in_a_browser():
    selectors = "\n".join(part.selector + part.holds for part in (*WIDE, *WITH_MENU, *WITH_LIST, *BUSY, *NARROW))
    assert elements()
    assert {name for name in elements() if name not in selectors} == set(), LOOKED_FOR


def test_the_list_is_whole():
    listed = (ROOT / "docs/streamlit.md").read_text(encoding="utf-8")
    imported = {
        name
        for path in Source(ROOT, IN_PYTHON[:2]).files.values()
        for statement in parsed(path).imports
        for name in private(statement)
    }
    assert imported
    assert {name for name in imported | elements() if f"`{name}`" not in listed} == set()


@pytest.mark.parametrize(
    ("code", "names"),
    [
        ("import streamlit as st", []),
        ("import streamlit.logger", ["streamlit.logger"]),
        ("from streamlit import config", ["streamlit.config"]),
        ("from streamlit.column_config import TextColumn", []),
        ("from streamlit.testing.v1 import AppTest, app_test", ["streamlit.testing.v1.app_test"]),
        ("from streamlit.components.v2 import manifest_scanner", ["streamlit.components.v2.manifest_scanner"]),
        ("from streamlit.runtime import Runtime", ["streamlit.runtime.Runtime"]),
        ("from streamlit_private import x", []),
    ],
)
def test_what_is_private_is_told_from_what_is_public(code, names):
    (statement,) = ast.parse(code).body
    assert private(statement) == names


@pytest.mark.parametrize(
    ("line", "is_named"),
    [
        (".stSelectbox > div { }", True),
        ("[data-testid=stApp] { }", True),
        ('page.get_by_test_id("stSidebar")', True),
        ('querySelector("[aria-controls=stSidebar]")', True),
        (".react-aria-ComboBox { }", True),
        ('.st-key-stage, [class*="st-key-line_"] { }', False),
        ("st.toggle(streamlit) // .stop()", False),
        ("var(--st-background-color)", False),
    ],
)
def test_streamlits_names_are_told_from_ours(line, is_named):
    assert bool(NAMED.search(line)) == is_named
