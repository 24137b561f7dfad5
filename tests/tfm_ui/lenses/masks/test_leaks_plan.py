"""Which tokens are changed, and how often, where there is not the time or the memory for all."""

from dataclasses import replace

import pytest

from tfm_core import encode
from tfm_ui.lenses.masks.leaks.measured import plan_of
from tfm_ui.lenses.masks.leaks.plan import LEAST, MOST_SECONDS, SECONDS, fitting, plan
from tfm_ui.lenses.masks.state import MasksState, Setting
from tfm_ui.state.model_state import ModelState

WORDS = " ".join(f"w{i % 40}" for i in range(1024))


def of_length(tokens: int, **more) -> Setting:
    return Setting(model=ModelState(text="@alice", seq_len=tokens, **more), place="self", composition="")


def test_texts_of_up_to_64_tokens_are_tested_whole_and_longer_ones_as_far_as_there_is_time():
    small = plan(of_length(64), 4, 64)
    assert (small.places, small.tries, small.aside) == (tuple(range(64)), 4, "")
    large = plan(of_length(64, num_layers=8, d_model=256, num_heads=16), 4, 64)
    assert (large.places, large.tries) == (tuple(range(64)), 1)
    assert large.aside.startswith("Each token is changed into 1 other instead of 4: to run all would take about ")
    long = plan(of_length(1024), 4, 1024)
    assert long.places[0] == 0
    assert long.places[-1] == 1023
    assert 20 < len(long.places) < 100
    assert long.seconds <= SECONDS
    assert long.slow
    said = f"Of 1,024 tokens {len(long.places)} are changed, spread over the text, each into 1 other instead of 4: "
    assert long.aside.startswith(said)
    longest = plan(of_length(1024, num_layers=8, d_model=256, num_heads=8), 1, 1024)
    assert len(longest.places) == LEAST
    assert "minutes" in longest.aside


def test_a_bias_of_many_heads_is_not_made_for_more_tokens_than_fit():
    model = ModelState(text="@alice", seq_len=1024, num_heads=16, positional="alibi")
    planned = plan_of(model, MasksState(item=1))
    assert planned.places[-1] == 511
    assert planned.aside.startswith("Of 1,024 tokens the first 512 are read: more take too much memory, as alibi adds")
    for other in (ModelState(seq_len=1024, num_heads=16), ModelState(seq_len=64, num_heads=16, positional="t5")):
        assert fitting(other, "self") == (other, "")


@pytest.mark.parametrize("positional", ["sinusoidal", "t5"])
@pytest.mark.parametrize("place", ["self", "decoder", "cross"])
def test_the_largest_model_reads_as_much_as_there_is_time_for_and_that_is_said(place, positional):
    largest = {"seq_len": 1024, "num_layers": 8, "num_heads": 16, "d_model": 256, "d_ff": 1024}
    architecture = "encoder" if place == "self" else "encoder-decoder"
    model = ModelState(
        text=WORDS, target=WORDS, architecture=architecture, positional=positional, causal=False, **largest
    )
    planned = plan_of(model, MasksState(item=1, place=place))
    read, changed = planned.places[-1] + 1, len(planned.places)
    assert changed == (LEAST + 1 if (place, positional) == ("decoder", "t5") else LEAST)
    assert 128 <= read < 1024
    assert (LEAST + 1) * planned.seconds / changed <= MOST_SECONDS
    assert planned.aside.startswith(f"Of 1,024 tokens the first {read} are read: to change 4 tokens of a longer text ")
    smaller, why = fitting(replace(model, num_layers=1), place)
    assert ("too long" in why) is False
    assert smaller.longest == (512 if positional == "t5" else 1024)


def test_of_a_short_text_in_many_places_all_words_are_changed_and_some_padding():
    model = ModelState(seq_len=1024)
    planned = plan(Setting(model=model, place="self", composition=""), 4, 1024)
    real = len(encode(model.text).pieces)
    assert planned.places[:real] == tuple(range(real))
    assert all(place >= real for place in planned.places[real:])
    assert len(set(planned.places)) == len(planned.places) > real
