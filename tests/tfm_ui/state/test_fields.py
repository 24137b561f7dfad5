"""How fields are read from links: good values, bad values, and states that come back from their links."""

from urllib.parse import parse_qs, urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tfm_core import Transformer
from tfm_ui.lenses.heads.state import HeadsState
from tfm_ui.state.fields import Choice, Flag, Whole, controls_of
from tfm_ui.state.links import as_text, link_parameters, read_link, share_link
from tfm_ui.state.model_state import CHARS, ModelState
from tfm_ui.state.trained import RunName

STATES = [(ModelState, ""), (HeadsState, "heads_")]


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


@pytest.mark.parametrize(("state", "prefix"), STATES)
@given(data=st.data())
def test_no_text_in_a_link_can_make_an_impossible_state(state, prefix, data):
    names = st.sampled_from([prefix + name for name in controls_of(state)])
    raw = data.draw(st.dictionaries(names, st.lists(st.text(), min_size=1, max_size=3)))
    corrected = raw | {c.name: [as_text(c.value)] for c in read_link(state, prefix, raw)}
    assert read_link(state, prefix, corrected) == []
    values = {
        name: f.read(corrected[prefix + name][0], d)[0]
        for name, (f, d) in controls_of(state).items()
        if prefix + name in corrected
    }
    made = state(**values)
    if isinstance(made, ModelState):
        assert made.config.d_model % made.config.num_heads == 0


def _values(field, default):
    if isinstance(field, Choice):
        return st.sampled_from(field.options)
    if isinstance(field, RunName):
        return st.sampled_from(["random", "reverse", "sort-decoder", "majority,positional=rope,seed=3"])
    if isinstance(field, Whole):
        return st.integers(field.low, field.high)
    return st.booleans() if isinstance(field, Flag) else st.text(st.characters(exclude_categories=["Cs"]), max_size=80)


@given(data=st.data())
def test_a_shared_link_brings_back_the_very_state(data):
    states = [
        (kind(**{name: data.draw(_values(*control)) for name, control in controls_of(kind).items()}), prefix)
        for kind, prefix in STATES
    ]
    query = parse_qs(urlsplit(share_link("https://lab.example/heads", *states)).query, keep_blank_values=True)
    for state, prefix in states:
        assert read_link(type(state), prefix, query) == []
        values = {
            n: f.read(query[prefix + n][0], d)[0] if prefix + n in query else d
            for n, (f, d) in controls_of(type(state)).items()
        }
        assert type(state)(**values) == state


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
