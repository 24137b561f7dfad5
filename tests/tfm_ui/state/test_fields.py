"""How fields are read from links: good values, bad values, and states that come back from their links."""

import pytest

from tfm_core import Transformer
from tfm_ui.lenses.heads.state import HeadsState
from tfm_ui.state.fields import Choice, controls_of
from tfm_ui.state.links import link_parameters, read_link, share_link
from tfm_ui.state.model_state import CHARS, ModelState


@pytest.mark.parametrize(
    ("name", "raw", "value", "reason"),
    [
        ("seq_len", "12", 12, ""),
        ("seq_len", "0", 0, ""),
        ("seq_len", "1", 2, "2 to 1024"),
        ("seq_len", "10000", 1024, "2 to 1024"),
        ("seq_len", "-5", 2, "2 to 1024"),
        ("seq_len", "7.6", 8, "whole"),
        ("seq_len", "1e400", 1024, "2 to 1024"),
        ("seq_len", "nan", 0, "whole number"),
        ("seq_len", "", 0, "or 0 for as many as there are"),
        ("seq_len", "🦊", 0, "whole number"),
        ("seq_len", "9" * 5000, 1024, "2 to 1024"),
        ("num_heads", "8", 8, ""),
        ("num_heads", "7", 8, "1, 2, 4, 8, 16"),
        ("num_heads", "many", 4, "1, 2, 4, 8, 16"),
        ("d_model", "77", 64, "32, 64"),
        ("d_model", "nan", 32, "32, 64"),
        ("d_model", "inf", 256, "32, 64"),
        ("positional", "rope", "rope", ""),
        ("positional", "RoPE", "sinusoidal", "none, sinusoidal"),
        ("causal", "false", False, ""),
        ("causal", "False", False, ""),
        ("causal", "maybe", True, "true or false"),
        ("text", "x" * (CHARS + 1), "x" * CHARS, f"first {CHARS}"),
        ("weights", "pretrained", "random", "random"),
        ("weights", "reverse", "reverse", ""),
        ("weights", "reverse,seed=3", "reverse,seed=3", ""),
        ("weights", "reverse,steps=400,seed=3", "reverse,seed=3", "the plain name of this run is reverse,seed=3"),
        ("weights", "reverse,seed=-1", "random", "seed: expected a whole number from 0 to 9999"),
        ("weights", "reverse,network=lstm", "random", "lenses show transformers"),
        ("weights", "", "random", "or the name of a run"),
        ("weights", "🦊" * 100, "random", "or the name of a run"),
    ],
)
def test_a_links_value_becomes_the_nearest_possible_one_with_the_reason(name, raw, value, reason):
    field, default = controls_of(ModelState)[name]
    got, why = field.read(raw, default)
    assert got == value
    assert type(got) is type(value)
    assert (reason in why) if reason else why == ""


def test_a_link_holds_only_what_differs_from_the_defaults():
    assert share_link("/heads", (ModelState(), ""), (HeadsState(), "heads_")) == "/heads"
    assert link_parameters(ModelState(causal=False, seed=3), "") == {"causal": "false", "seed": "3"}


def test_a_models_limits_narrow_a_lens():
    corrections = read_link(HeadsState, "heads_", {"heads_head": ["12"]}, HeadsState.limits(ModelState(num_heads=8)))
    assert [(c.name, c.value) for c in corrections] == [("heads_head", 8)]
    assert "1 to 8" in str(corrections[0])


@pytest.mark.parametrize("architecture", controls_of(ModelState)["architecture"][0].options)
def test_every_pair_of_width_and_heads_is_a_model(architecture):
    controls = controls_of(ModelState)
    for d_model in controls["d_model"][0].options:
        for num_heads in controls["num_heads"][0].options:
            for positional in controls["positional"][0].options:
                state = ModelState(
                    d_model=d_model, num_heads=num_heads, positional=positional, architecture=architecture
                )
                assert state.config.head_dim * num_heads == d_model
    assert Transformer(ModelState(architecture=architecture).config).config.architecture == architecture


def test_of_a_repeated_parameter_the_last_counts_and_that_is_said():
    (correction,) = read_link(ModelState, "", {"num_heads": ["8", "2"]})
    assert correction.value == 2
    assert "num_heads = 8 and 2: of several values the last one counts; it is 2 now" in str(correction)


@pytest.mark.parametrize(("raw", "value"), [("9" * 5000, 256), ("1e400", 256), ("-1e400", 32), ("100", 96)])
def test_of_numbers_beyond_all_options_the_outermost_is_the_nearest(raw, value):
    assert Choice("d_model", (256, 32, 96)).read(raw, 32)[0] == value


def test_a_control_of_fewer_values_begins_with_the_nearest_of_them():
    def at_first(name: str, **narrower) -> object:
        return controls_of(ModelState, {name: narrower})[name][1]

    assert at_first("d_model", options=(64, 96)) == 64
    assert at_first("num_layers", high=1) == 1
    assert at_first("positional", options=("alibi", "rope")) == "alibi"
    assert at_first("positional", options=("alibi", "sinusoidal")) == "sinusoidal"
