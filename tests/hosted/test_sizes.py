"""What a server with lower limits makes of links that ask for more: in a process with its settings."""

from collections.abc import Callable, Iterator

import pytest

from tests.hosted.answering import answering
from tfm_ui.settings import ENTRIES, Settings
from tfm_ui.state.model_state import ModelState


@pytest.fixture(scope="module")
def call() -> Iterator[Callable[..., list]]:
    """`call("link", query, MAX_TOKENS="64")`: the answer of a server with these settings, by `tests.hosted.opened`."""
    with answering("tests.hosted.opened", {}) as ask:
        yield lambda name, query, **settings: ask(name, query, settings)


LARGEST = {"seq_len": "1000", "num_layers": "8", "num_heads": "16", "d_model": "256"}


def test_what_exceeds_a_limit_is_cut_to_it_and_the_sentence_names_limit_and_setting(call):
    limits = {"MAX_TOKENS": "256", "MAX_LAYERS": "6", "MAX_HEADS": "9", "MAX_D_MODEL": "127"}
    sizes, said, length, problem = call("link", LARGEST, **limits)
    assert sizes == [256, 6, 8, 96]
    assert length == 256
    assert problem == ""
    assert said == [
        f"The link asked for {name} = {LARGEST[name]}: it can be at most {value} "
        f"(this server's setting ATTENTION_LAB_{variable}); it is {value} now."
        for name, value, variable in [
            ("seq_len", 256, "MAX_TOKENS"),
            ("d_model", 96, "MAX_D_MODEL"),
            ("num_heads", 8, "MAX_HEADS"),
            ("num_layers", 6, "MAX_LAYERS"),
        ]
    ]


def test_without_settings_the_sentences_name_none(call):
    sizes, said, _, problem = call("link", LARGEST | {"num_layers": "9"})
    assert sizes == [1000, 8, 16, 256]
    assert said == ["The link asked for num_layers = 9: it goes from 1 to 8 in whole numbers; it is 8 now."]
    assert problem == ""


@pytest.mark.parametrize(
    ("setting", "at_first", "most", "said"),
    [
        ("20", 10, 20, []),
        (
            "7",
            5,
            5,
            [
                "The link asked for model_reach_seeds = 20: it can be at most 5 "
                "(this server's setting ATTENTION_LAB_MAX_DRAWS); it is 5 now."
            ],
        ),
    ],
)
def test_a_server_draws_weights_as_often_as_its_setting_says(call, setting, at_first, most, said):
    assert call("draws", {"model_reach_seeds": "20"}, MAX_DRAWS=setting) == [at_first, most, said]


def test_a_text_longer_than_the_limit_is_cut(call):
    assert call("link", {"text": "word " * 300}, MAX_TOKENS="64")[2] == 64


def test_a_pass_that_is_too_large_names_the_setting_where_it_is_lower_than_usual(call):
    problem = call("link", LARGEST, PICTURE_MB="50")[3]
    assert "50 MB is the limit (this server's setting ATTENTION_LAB_PICTURE_MB)." in problem


def test_the_largest_model_of_a_hosted_server_can_run(call):
    sizes, said, _, problem = call("link", LARGEST | {"architecture": "encoder-decoder"}, PRESET="hosted")
    assert sizes == [ENTRIES[limit].hosted for limit in ("max_tokens", "max_layers", "max_heads", "max_d_model")]
    assert len(said) == 3  # d_model may be as large as anywhere
    assert problem == ""


@pytest.mark.parametrize(
    ("limit", "field"), [("max_layers", "num_layers"), ("max_heads", "num_heads"), ("max_d_model", "d_model")]
)
def test_no_limit_is_below_what_the_model_has_at_first(limit, field):
    least = next(number for number in range(1000) if ENTRIES[limit].kind.read(str(number)) is not None)
    assert getattr(ModelState(), field) == least
    assert least < getattr(Settings(), limit)
