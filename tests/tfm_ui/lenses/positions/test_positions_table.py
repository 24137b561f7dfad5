"""The table of schemes: its counts are those of real models, and a new scheme appears by itself."""

import re

import pytest
import torch

from tfm_core import POSITIONAL, Positional, Transformer
from tfm_core.positional.schemes import T5, About
from tfm_ui.lenses.positions.state import PositionsState
from tfm_ui.lenses.positions.table.numbers import parameters, schemes_table
from tfm_ui.state.model_state import ModelState


@pytest.mark.parametrize("architecture", ["encoder", "decoder", "encoder-decoder"])
@pytest.mark.parametrize("name", POSITIONAL)
def test_parameters_are_those_of_a_real_model(name, architecture):
    model = ModelState(architecture=architecture, positional=name, d_model=64, num_heads=8)
    schemes = [module for module in Transformer(model.config).modules() if isinstance(module, Positional)]
    expected = sum(parameter.numel() for scheme in schemes for parameter in scheme.parameters())
    assert parameters(model, name) == expected


def test_all_that_is_known_is_there_and_the_pinned_are_marked():
    state = PositionsState(a="t5", b="learned")
    result = schemes_table(ModelState(), state)
    table, html = result.table(), result.html()
    assert list(table.index) == list(POSITIONAL)
    assert table["pinned as"].to_dict() == dict.fromkeys(POSITIONAL, "") | {"t5": "A", "learned": "B"}
    for name, scheme in POSITIONAL.items():
        assert table.loc[name, "source"] == scheme.about.source
        assert name == "t5" or scheme.about.beyond in html
    assert "t5 <b>A</b>" in html
    assert "sinusoidal <i>the sidebar’s</i>" in html
    assert table["parameters"].sum() == 1024 * 32 + 32 * 4


@pytest.mark.parametrize("architecture", ["encoder", "decoder", "encoder-decoder"])
def test_what_is_said_of_t5_is_what_the_stacks_of_the_model_do(architecture):
    model = ModelState(architecture=architecture, positional="t5")
    said = next(row.beyond for row in schemes_table(model, PositionsState()).rows if row.name == "t5")
    built = [module for module in Transformer(model.config).modules() if isinstance(module, T5)]
    starts = set()
    for scheme in built:
        buckets = scheme.buckets(-torch.arange(1000)).tolist()
        starts.add(buckets.index(buckets[-1]))
    assert {int(number) for number in re.findall(r"from (\d+) on", said)} == starts


def test_a_new_scheme_appears_by_itself(monkeypatch):
    class New(Positional):
        about = About("relative", "not defined", (), ("<b>nobody</b>",), "a paper & more")

        def rotate(self, x):
            return x

    monkeypatch.setitem(POSITIONAL, "new", New)
    result = schemes_table(ModelState(), PositionsState())
    html = result.html()
    assert "&lt;b&gt;nobody&lt;/b&gt;" in html
    assert "a paper &amp; more" in html
    assert result.table().loc["new", "enters"].startswith("inside each self-attention")
    assert "learned and new" in result.sentence()
