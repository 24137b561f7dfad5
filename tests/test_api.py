"""The promised API: lazy, whole, and told in docstrings whose examples run."""

import ast
import doctest
import importlib
import inspect
import re
import subprocess
import sys
import tomllib
import warnings
from pathlib import Path
from types import ModuleType

import pytest
import torch
from packaging.version import Version

import attention_lab
import tfm_core
from tests.promised import (
    Documented,
    fields_of,
    handles_tensors,
    names_a_shape,
    promised,
    promised_members,
    raises_value_error,
    told_attributes,
)
from tfm_core.api import GONE_IN, GROUPS, MODULES, MOVED, ROOMS

NAMES = tfm_core.__all__
TOLD = [(package, name) for package in (tfm_core, attention_lab) for name in package.__all__]
each_name = pytest.mark.parametrize(("package", "name"), TOLD, ids=lambda part: getattr(part, "__name__", part))
each_class = pytest.mark.parametrize(
    ("package", "name"),
    [(package, name) for package, name in TOLD if inspect.isclass(promised(name, package).thing)],
    ids=lambda part: getattr(part, "__name__", part),
)

# A paper by its authors and year, or the function of a library that computes the same.
SOURCE = re.compile(
    r"\b(?!(?:after|and|from|since|until)\b)[A-Za-z]{3,}(?:\s+et\s+al\.)?\s+\(?(?:19|20)\d\d\b"
    r"|\b(?:nn|F|torch\.nn)\.[A-Za-z]\w+"
)
WITH_SOURCES = ("model", "masks", "positional", "study")


# what is promised, and how it is imported


def imported_for_type_checkers(package: ModuleType) -> dict[str, str]:
    """Public name -> its module, as the block `if TYPE_CHECKING` of a package's __init__.py has them."""
    tree = ast.parse(Path(str(package.__file__)).read_text(encoding="utf-8"))
    blocks = [node for node in tree.body if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"]
    imports = [node for block in blocks for node in block.body if isinstance(node, ast.ImportFrom)]
    return {alias.name: str(node.module) for node in imports for alias in node.names}


@pytest.mark.parametrize(("package", "modules"), [(tfm_core, MODULES), (attention_lab, attention_lab.MODULES)])
def test_type_checkers_see_what_is_imported_on_demand(package, modules):
    on_demand = {name: f"{package.__name__}.{module}" for name, module in modules.items()}
    assert imported_for_type_checkers(package) == on_demand
    assert set(on_demand) == set(package.__all__)


def test_each_name_comes_from_its_module_and_is_listed():
    for name, module in MODULES.items():
        assert getattr(tfm_core, name) is getattr(importlib.import_module(f"tfm_core.{module}"), name)
    for name, module in attention_lab.MODULES.items():
        assert getattr(attention_lab, name) is getattr(importlib.import_module(f"attention_lab.{module}"), name)
    assert set(NAMES) | set(ROOMS) <= {*dir(tfm_core), *ROOMS}
    for package in (tfm_core, attention_lab):
        assert {"__version__", "__all__", *package.__all__} <= set(dir(package))


def test_the_two_packages_share_no_name():
    assert not set(tfm_core.__all__) & set(attention_lab.__all__)


def test_groups_stand_in_the_source_in_their_order():
    source = Path(tfm_core.__file__).read_text(encoding="utf-8")
    headings = re.findall(r"^# (.+)\n__all__ \+?= \[", source, re.MULTILINE)
    assert headings == list(GROUPS)


def test_importing_the_package_imports_none_of_its_rooms():
    code = (
        "import sys, tfm_core; print(*sorted(name for name in sys.modules if name.startswith('tfm_core')));"
        "print(*sorted(dir(tfm_core)))"
    )
    listed = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    imported, names = (line.split() for line in listed.splitlines())
    assert imported == ["tfm_core", "tfm_core.api", "tfm_core.version"]
    assert set(NAMES) <= set(names)


def test_a_star_imports_what_is_promised():
    namespace: dict[str, object] = {}
    exec("from tfm_core import *", namespace)
    assert set(namespace) - {"__builtins__"} == set(NAMES)


@pytest.mark.parametrize("name", ["load", "Pretrained"])
def test_what_needs_another_package_says_which_extra_brings_it(name):
    code = f"import sys; sys.modules['tokenizers'] = None; from tfm_core import {name}"
    failed = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert failed.returncode
    told = f"ModuleNotFoundError: tfm_core.{name} needs tokenizers, of Attention Lab's extra [pretrained]"
    expected = f"{told}: pip install tokenizers"
    assert failed.stderr.strip().endswith(expected)


def test_extras_exist():
    project = tomllib.loads((Path(tfm_core.__file__).parents[1] / "pyproject.toml").read_text("utf-8"))["project"]
    assert {group.extra for group in GROUPS.values() if group.extra} <= set(project["optional-dependencies"])


@pytest.mark.parametrize("room", ROOMS)
def test_rooms_are_attributes(room):
    assert getattr(tfm_core, room) is importlib.import_module(f"tfm_core.{room}")


def test_a_name_that_is_nothing_is_refused():
    with pytest.raises(AttributeError, match="module 'tfm_core' has no attribute 'atention_scores'"):
        _ = tfm_core.atention_scores
    with pytest.raises(ImportError):
        exec("from tfm_core import atention_scores")


@pytest.mark.parametrize("name", MOVED)
def test_a_name_that_has_moved_says_where_it_is(name):
    module, new = MOVED[name]
    there = getattr(importlib.import_module(f"tfm_core.{module}"), new.removesuffix("()"))
    expected = there() if new.endswith("()") else there
    says = re.escape(f"tfm_core.{name} goes in version {GONE_IN}: from tfm_core.{module} import ")
    with pytest.warns(DeprecationWarning, match=says) as warned:
        assert getattr(tfm_core, name) is expected
    assert warned[0].filename == __file__  # the reader's line, not ours
    assert name not in NAMES


def test_no_name_that_has_moved_is_promised_again():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for name in NAMES:
            getattr(tfm_core, name)
    assert not set(MOVED) & set(NAMES)
    assert Version(tfm_core.__version__) < Version(GONE_IN)


# what is told


def everything_of(name: str, package: ModuleType = tfm_core) -> list[Documented]:
    return [promised(name, package), *promised_members(name, package)]


@each_name
def test_everything_public_has_a_docstring(package, name):
    assert [each.name for each in everything_of(name, package) if not each.text.strip()] == []


@each_class
def test_every_field_is_told(package, name):
    told = told_attributes(promised(name, package).text)
    assert [field for field in fields_of(promised(name, package).thing) if not told.get(field, "").strip()] == []


@each_name
def test_tensors_have_named_axes(package, name):
    functions = [each for each in everything_of(name, package) if inspect.isfunction(each.thing)]
    assert [each.name for each in functions if handles_tensors(each.thing) and not names_a_shape(each.text)] == []


@each_class
def test_fields_that_are_tensors_have_named_axes(package, name):
    thing, told = promised(name, package).thing, told_attributes(promised(name, package).text)
    kinds = {field: str(inspect.get_annotations(thing).get(field, "")) for field in fields_of(thing)}
    tensors = [field for field, kind in kinds.items() if "torch.Tensor" in kind]
    text = promised(name, package).text.partition("Attributes:")[0]
    assert [field for field in tensors if not names_a_shape(told[field]) and not names_a_shape(text)] == []


@each_name
def test_errors_are_told(package, name):
    lacking = [
        each.name for each in everything_of(name, package) if raises_value_error(each) and "Raises:" not in each.text
    ]
    assert lacking == []


@pytest.mark.parametrize("module", sorted({module for group in WITH_SOURCES for module in GROUPS[group].modules}))
def test_modules_name_their_sources(module):
    """A module that computes what papers or libraries define says which: in its docstring, or in a public one."""
    texts = [importlib.import_module(f"tfm_core.{module}").__doc__ or ""]
    texts += [each.text for name, home in MODULES.items() if home == module for each in everything_of(name)]
    assert SOURCE.search("\n".join(texts))


# what is shown


@each_name
def test_examples_run(package, name):
    """Each public name has an example, which a reader can copy: it imports what it needs."""
    text = promised(name, package).text
    assert "Examples:\n    >>> " in text
    test = doctest.DocTestParser().get_doctest(text, {}, name, None, 0)
    assert len(test.examples) > 1
    assert not any(example.options for example in test.examples)
    said: list[str] = []
    with torch.random.fork_rng(devices=[]):
        doctest.DocTestRunner(verbose=False).run(test, out=said.append)
    assert not said, "".join(said)


# that these tests can fail


@pytest.mark.parametrize(
    ("text", "is_named"),
    [
        ("The weights, (batch, head, query, key).", True),
        ("Boolean (vocab), the tokens.", True),
        ("Scores, softmax(q k) of all of them.", False),
        ("-inf where the mask is False; the same shape.", True),
        ("Some numbers (as many as there are).", False),
    ],
)
def test_shapes_are_recognised(text, is_named):
    assert names_a_shape(text) is is_named


@pytest.mark.parametrize(
    ("text", "is_named"),
    [
        ("Vaswani et al. 2017, equation 1.", True),
        ("Abnar & Zuidema (2020)", True),
        ("Milakov and Gimelshein 2018", True),
        ("the same as nn.MultiheadAttention", True),
        ("trained on prose of 1790 to 1864", False),
        ("In 2017 that was new.", False),
    ],
)
def test_sources_are_recognised(text, is_named):
    assert (SOURCE.search(text) is not None) is is_named
