"""Functions as they are shown on screen."""

import ast
import inspect

import pytest

import tfm_core
from tests.promised import promised
from tfm_ui.text.source import shown_source

WITH_CODE = [
    name
    for name in tfm_core.__all__
    if inspect.isclass(promised(name).thing) or inspect.isroutine(promised(name).thing)
]


@pytest.mark.parametrize("name", WITH_CODE)
def test_examples_are_left_out_and_nothing_else(name):
    source = inspect.getsource(promised(name).thing)
    shown = shown_source(promised(name).thing)
    assert ">>>" in source
    assert ">>>" not in shown
    assert "Examples:" not in shown
    before, after = (ast.parse(inspect.cleandoc("\n" + code)).body[0] for code in (source, shown))
    told, still_told = ast.get_docstring(before), ast.get_docstring(after)
    assert told.partition("\n\nExamples:")[0] == still_told
    for tree in (before, after):
        tree.body.pop(0)
    assert ast.dump(before) == ast.dump(after)


def test_a_function_without_examples_stays_as_it_is():
    assert shown_source(shown_source) == inspect.getsource(shown_source)
