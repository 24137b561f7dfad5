"""Recipes as scripts: what they are made of, and that they need nothing of the app."""

import numpy as np
import torch

from tests.tfm_ui.live import plain_recipe
from tfm_ui.lenses.positions.see.encode import added
from tfm_ui.lenses.positions.why.added import matrix_of_shift
from tfm_ui.live.script import Code, script

SIZES = {"d_model": 6, "num_heads": 2, "max_len": 9}


def test_functions_of_other_files_of_the_app_are_written_into_the_script():
    text = script(added, schemes={"A": {"name": "sinusoidal", "seed": 1, **SIZES}}, defined={"A": 5})
    assert "tfm_ui" not in text
    assert text.index("def lone_scheme(") < text.index("def added_vectors(") < text.index("values = ")
    assert "from typing import Any" in text  # what the other file imports
    assert text.count("import torch\n") == 1
    scope: dict = {}
    exec(text, scope)
    expected = added(schemes=scope["schemes"], defined=scope["defined"])
    assert torch.equal(scope["values"]["A"], expected["A"])


def test_an_expression_stands_in_the_header_as_it_is():
    text = script(matrix_of_shift, width=4, shift=3, base=Code("10.0 ** 4"))
    assert "\nbase = 10.0 ** 4\n" in text
    scope: dict = {}
    exec(text, scope)
    assert scope["matrix"].shape == (4, 4)


def test_what_the_header_names_is_imported_even_if_the_recipes_own_file_needs_none_of_it():
    text = script(plain_recipe.twice, mask=Code("torch.ones(2, 3)"))
    assert text.count("import torch\n") == 1
    scope: dict = {}
    exec(text, scope)
    assert torch.equal(scope["doubled"], torch.full((2, 3), 2.0))
    assert "torch" not in script(plain_recipe.twice, mask=3)


def test_a_module_keeps_the_name_that_the_recipe_calls_it_by():
    scope: dict = {}
    exec(script(plain_recipe.rooted, values=[4.0, 9.0]), scope)
    assert np.array_equal(scope["roots"], [2.0, 3.0])
