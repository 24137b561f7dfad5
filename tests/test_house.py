"""The shape of the project: short chains of imports, rooms on few floors, small files, names that say something."""

import ast
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

from tests.imports import Source, documented, grouped, longest_chain, named, parsed
from tfm_core import POSITIONAL, Positional
from tfm_core.positional.schemes import PLAIN

ROOT = Path(__file__).parents[1]
APP, CORE = Source(ROOT, ("app.py", "attention_lab", "pages", "tfm_ui", "tfm_core")), Source(ROOT, ("tfm_core",))

LONGEST_CHAIN = 11  # files, of which each imports the next
MOST_FLOORS = 8  # of rooms
OTHERS = {"node_modules", "minisearch"}  # what others have written: what npm has installed, a library as it came
LONGEST_FILE = 500  # lines; at 250, single panels were cut into seams
CODE = {".py", ".js", ".css"}
VAGUE = {"found", "own", "seen", "one"}  # no names for what has a name

# A docstring that begins with one of these says what its subject is part of, or what is done to it, and leaves it out
# ("Of all stacks.", "That there is none."), or keeps the reader waiting for it.
SUBJECTLESS = frozenset(
    """
    about above after against also among and around as at before behind beside besides between beyond by called counted
    except for from in into like made of on once or over said so than that through to towards under until via whom whose
    with within without
    """.split()
)
OPENING = re.compile(r"[A-Z][a-z]*")  # the first word of a docstring, unless that is a name or a formula
COMMENT = re.compile(r"/\*\*\s+(?=[^@\s])")  # where a script's comment begins to tell something


def test_chains_of_the_app_are_short_with_the_library_as_one():
    library = {module: "tfm_core" if module.startswith("tfm_core") else module for module in APP.files}
    chain = longest_chain(grouped(APP.imports, library))
    assert len(chain) <= LONGEST_CHAIN, " -> ".join(chain)


def test_chains_of_the_library_are_short():
    chain = longest_chain(CORE.imports)
    assert len(chain) <= LONGEST_CHAIN, " -> ".join(chain)


def test_rooms_stand_on_few_floors_and_on_each_other_in_no_circle():
    rooms = grouped(APP.imports, {module: room_of(module) for module in APP.files})
    assert {"app", "pages", "tfm_ui.lenses", "tfm_ui.page", "tfm_ui.text", "tfm_core"} <= rooms.keys()
    floors = longest_chain(rooms)
    assert len(floors) <= MOST_FLOORS, " -> ".join(floors)


def room_of(module: str) -> str:
    """The library is one room, so are the pages; in tfm_ui each folder is one."""
    top, *folders = module.split(".")
    return f"{top}.{folders[0]}" if top == "tfm_ui" and folders else top


@pytest.mark.parametrize("folder", ["attention_lab", "tfm_core", "tfm_ui", "pages", "assets", "tests", "benchmarks"])
def test_no_file_is_long(folder):
    paths = [path for path in (ROOT / folder).rglob("*") if path.suffix in CODE and OTHERS.isdisjoint(path.parts)]
    assert paths
    lines = {str(path.relative_to(ROOT)): len(path.read_text(encoding="utf-8").splitlines()) for path in paths}
    assert {path: count for path, count in lines.items() if count > LONGEST_FILE} == {}


@pytest.mark.parametrize("part", ["app.py", "attention_lab", "pages", "tfm_core", "tfm_ui", "tests"])
def test_no_name_is_vague(part):
    files = Source(ROOT, (part,)).files.values()
    assert files
    vague = [
        f"{path.relative_to(ROOT)}:{line}: {name}"
        for path in files
        for line, name in parsed(path).names
        if name in VAGUE
    ]
    assert not vague, "\n".join(vague)


@pytest.mark.parametrize(
    "part", ["app.py", "run.py", "attention_lab", "pages", "tfm_core", "tfm_ui", "benchmarks", "assets", "tests"]
)
def test_no_docstring_begins_without_a_subject(part):
    told = [
        f"{path.relative_to(ROOT)}:{line}: {text.splitlines()[0]}"
        for path, docstrings in docstrings_in(part)
        for line, text in docstrings
        if lacks_subject(text)
    ]
    assert not told, "\n".join(told)


def docstrings_in(part: str) -> Iterator[tuple[Path, Iterable[tuple[int, str]]]]:
    """The files of a part of the project, each with its docstrings and their lines; in scripts the `/** */`."""
    python = Source(ROOT, (part,)).files.values()
    scripts = sorted(path for path in (ROOT / part).rglob("*.js") if OTHERS.isdisjoint(path.parts))
    assert [*python, *scripts]
    yield from ((path, parsed(path).docstrings) for path in python)
    for path in scripts:
        text = path.read_text(encoding="utf-8")
        yield path, [(text.count("\n", 0, at.end()) + 1, text[at.end() :]) for at in COMMENT.finditer(text)]


def lacks_subject(docstring: str) -> bool:
    """Whether a docstring begins with a word that leaves it without a subject."""
    opening = OPENING.match(docstring)
    return opening is not None and opening[0].lower() in SUBJECTLESS


# Files that may decide something by the name of a positional scheme, or need the class of one. All others ask the entry
# of `POSITIONAL`, so that a new scheme is a class in schemes.py and nothing else.
ABOUT_ONE_SCHEME = {
    "tfm_core/positional/schemes.py": "has the schemes",
    "tfm_ui/lenses/positions/questions.py": "has a question about the parameters of the learned table",
}


def test_nothing_is_decided_by_the_name_of_a_positional_scheme():
    deciding = {
        str(path.relative_to(ROOT)): names
        for path in Source(ROOT, ("tfm_core", "tfm_ui", "pages")).files.values()
        if (names := schemes_decided_by(path.read_text(encoding="utf-8")))
    }
    others = {path: names for path, names in deciding.items() if path not in ABOUT_ONE_SCHEME}
    assert not others, "\n".join(f"{path}: {', '.join(names)}" for path, names in others.items())
    assert set(ABOUT_ONE_SCHEME) == set(deciding)


def schemes_decided_by(code: str) -> list[str]:
    """Schemes by which code decides: it compares with their names, looks up what belongs to them, or has their class.

    "none" stands for much else, so that it counts only where it is compared with what is called positional or scheme.
    """
    names = set(POSITIONAL) - {PLAIN}
    classes = {scheme.__name__ for scheme in POSITIONAL.values()} - {Positional.__name__}
    decided = []
    for node in ast.walk(ast.parse(code)):
        match node:
            case ast.Compare():
                text = ast.unparse(node)
                is_of_schemes = "positional" in text or "scheme" in text
                decided += [name for name in strings_in(node) if name in names or (is_of_schemes and name == PLAIN)]
            case ast.Dict(keys=keys):
                decided += [name for key in keys if key for name in strings_in(key) if name in names]
            case ast.Subscript(slice=key) | ast.MatchValue(value=key):
                decided += [name for name in strings_in(key) if name in names]
            case ast.Tuple(elts=parts) | ast.List(elts=parts) | ast.Set(elts=parts):
                some = [part.value for part in parts if isinstance(part, ast.Constant) and part.value in names]
                decided += some if len(some) > 1 else []
            case ast.ImportFrom(module="tfm_core.positional.schemes", names=imported):
                decided += [alias.name for alias in imported if alias.name in classes]
    return decided


def strings_in(node: ast.AST) -> list[str]:
    """The strings of a part of code."""
    return [part.value for part in ast.walk(node) if isinstance(part, ast.Constant) and isinstance(part.value, str)]


# that these tests can fail


@pytest.mark.parametrize(
    ("code", "schemes"),
    [
        ('bias = n if size.positional in ("alibi", "t5") else 0', ["alibi", "t5"]),
        ('what = "no" if state.positional == "none" else ""', ["none"]),
        ('INSIDE = {"rope": "turns"}', ["rope"]),
        ('INSIDE = ("none", "sinusoidal", "learned")', ["sinusoidal", "learned"]),
        ('count = parameters["learned"]', ["learned"]),
        ("match scheme:\n  case 'rope': pass", ["rope"]),
        ("from tfm_core.positional.schemes import T5, About", ["T5"]),
        ('config = replace(config, positional="rope")', []),
        ('page = {"a": "learned", "b": "rope"}', []),
        ('if mask == "none": pass', []),
    ],
)
def test_schemes_that_decide_are_told_from_schemes_that_are_chosen(code, schemes):
    assert set(schemes_decided_by(code)) == set(schemes)


@pytest.mark.parametrize(
    ("docstring", "lacks"),
    [
        ("Of all stacks.", True),
        ("That there is none.", True),
        ("By how much the second is larger.", True),
        ("As maps want them: MASKED for NaN.", True),
        ("The blocks of all stacks, in order.", False),
        ("Whether there is one.", False),
        ("How many of the rows are read.", False),
        ("Draw the rows.", False),
        ("`most` of the positions, evenly spaced.", False),
        ("(query, key): the weights.", False),
        ("after - before, (seq, d_model).", False),
        ("Boolean, of every pair.", False),
    ],
)
def test_openings_without_a_subject_are_told_from_others(docstring, lacks):
    assert lacks_subject(docstring) == lacks


def test_docstrings_of_every_kind_are_looked_at():
    code = '"""A."""\nclass K:\n  """B."""\n  async def f(self):\n    """C."""\n    def g():\n      """D."""'
    assert sorted(documented(ast.walk(ast.parse(code)))) == [(1, "A."), (3, "B."), (5, "C."), (7, "D.")]
    scripts = "/** @param {number} x */", "/** Of it. @param {number} x */", "/** @type {const} */"
    assert [bool(COMMENT.search(script)) for script in scripts] == [False, True, False]


def test_every_way_to_give_a_name_is_looked_at():
    code = """
import os as a
class b:
    c: int
    def d(self, e, *f, g=0, **h):
        self.i = j = 0
        for k, (l, *m) in []: pass
        return [n for n in ()], lambda o: (p := 0)
try: ...
except ValueError as q:
    with open("") as r: ...
match 0:
    case {"": s, **t} | [s, *t]: ...
async def u(): ...
"""
    assert {name for _, name in named(ast.walk(ast.parse(code)))} == {*"abcdefghijklmnopqrstu", "self"}
    assert not [*named(ast.walk(ast.parse("import one\none.own(seen=found)")))]  # what others have named


@pytest.fixture
def toy(tmp_path):
    """Six files: `first` gets a name through the package `shop`, which has it from `shop/inner.py`."""
    for path, text in {
        "first.py": "from shop import thing, shelf\nfrom os import path",
        "shop/__init__.py": "from shop.inner import thing",
        "shop/inner.py": "def f():\n    import shop.deepest as d\nthing = 0",
        "shop/deepest.py": "",
        "shop/shelf.py": "",
        "round.py": "",
    }.items():
        (tmp_path / path).parent.mkdir(exist_ok=True)
        (tmp_path / path).write_text(text)
    return Source(tmp_path, ("first.py", "round.py", "shop"))


def test_imports_are_followed_to_the_file_that_defines_the_name(toy):
    assert toy.imports == {
        "first": {"shop.inner", "shop.shelf"},
        "shop": {"shop.inner"},
        "shop.inner": {"shop.deepest"},
        "shop.deepest": set(),
        "shop.shelf": set(),
        "round": set(),
    }
    assert longest_chain(toy.imports) == ["first", "shop.inner", "shop.deepest"]
    rooms = {module: module.partition(".")[0] for module in toy.files}
    assert grouped(toy.imports, rooms) == {"first": {"shop"}, "shop": set(), "round": set()}


def test_a_circle_is_named():
    with pytest.raises(ValueError, match="a circle: b -> c -> b"):
        longest_chain({"a": ["b"], "b": ["c"], "c": ["b"]})
