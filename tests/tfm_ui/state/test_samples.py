"""Sample texts exist, are long enough and clean, and have an origin; unknown names are ordinary texts."""

import re

import pytest

from tfm_core import encode
from tfm_ui.folders import FOLDER
from tfm_ui.live import head_recipe
from tfm_ui.live.script import of_model, script
from tfm_ui.state.model_state import MAX_TOKENS, ModelState
from tfm_ui.state.samples import SAMPLES, about, path, read_text, sample_name


@pytest.mark.parametrize("name", SAMPLES)
def test_each_sample_is_a_clean_text_with_an_origin(name):
    text = read_text(f"@{name}")
    assert (FOLDER / path(name)).is_file()
    assert len(encode(text, "word").pieces) > 100
    assert not re.search(r"[\"'`_\r\t]|  |--|\s$", text), "one style of quotes, no mark-up"
    assert about(f"@{name}") == SAMPLES[name].origin
    assert SAMPLES[name].origin.endswith("public domain")


def test_no_file_lies_there_unnamed():
    assert sorted(file.stem for file in (FOLDER / "assets/texts").iterdir()) == sorted(SAMPLES)


def test_alice_fills_the_longest_text():
    assert encode(read_text("@alice"), "word", MAX_TOKENS).padding == 0


@pytest.mark.parametrize(
    "text", ["", "@", "alice", "@Alice", "@bob hi", "@alice hi", "@alicex", "@../README", "a @alice"]
)
def test_what_is_no_name_stands_for_itself(text):
    assert sample_name(text) is None
    assert read_text(text) == text


def test_a_lone_name_that_is_none_is_explained():
    assert "There are @alice" in about("@alcie")
    assert about("@bob hi") == ""
    assert sample_name(" @alice\n") == "alice"


def test_the_model_reads_the_sample_and_so_does_the_recipe():
    state = ModelState(text="@jack", target="@faust", architecture="encoder-decoder", seq_len=12)
    assert state.source_tokens.pieces[:3] == ("This", "is", "the")
    assert state.target_tokens.pieces[:2] == ("Habe", "nun")
    scope: dict = {}
    site = "decoder.layers.0.cross_attention.weights"
    exec(script(head_recipe.weights, **of_model(state), site=site, head=0), scope)
    assert scope["source"] == state.source_tokens
    assert scope["target"] == state.target_tokens
