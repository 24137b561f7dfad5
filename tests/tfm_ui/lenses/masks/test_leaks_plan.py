"""Which tokens are changed, and how often, where there is not the time or the memory for all."""

from tfm_ui.lenses.masks.setting import Setting

from tfm_core import encode
from tfm_ui.lenses.masks.leaks import numbers as leaks
from tfm_ui.lenses.masks.leaks import plan as leaks_plan
from tfm_ui.lenses.masks.state import MasksState
from tfm_ui.state.model_state import ModelState


def of_length(tokens: int, **more) -> Setting:
    return Setting(model=ModelState(text="@alice", seq_len=tokens, **more), place="self", composition="")


def test_texts_of_up_to_64_tokens_are_tested_whole_and_longer_ones_as_far_as_there_is_time():
    small = leaks_plan.plan(of_length(64), 4, 64)
    assert (small.places, small.tries, small.aside) == (tuple(range(64)), 4, "")
    large = leaks_plan.plan(of_length(64, num_layers=8, d_model=256, num_heads=16), 4, 64)
    assert (large.places, large.tries) == (tuple(range(64)), 1)
    assert large.aside.startswith("Each token is changed into 1 other instead of 4: to run all would take about ")
    long = leaks_plan.plan(of_length(1024), 4, 1024)
    assert long.places[0] == 0
    assert long.places[-1] == 1023
    assert 20 < len(long.places) < 100
    assert long.seconds <= leaks_plan.SECONDS
    assert long.slow
    said = (
        f"Of 1\u202f024 tokens {len(long.places)} are changed, spread over the text, each into 1 other instead of 4: "
    )
    assert long.aside.startswith(said)
    longest = leaks_plan.plan(of_length(1024, num_layers=8, d_model=256, num_heads=8), 1, 1024)
    assert len(longest.places) == leaks_plan.LEAST
    assert "minutes" in longest.aside


def test_a_bias_of_many_heads_is_not_made_for_more_tokens_than_fit():
    model = ModelState(text="@alice", seq_len=1024, num_heads=16, positional="alibi")
    found = leaks.plan_of(model, MasksState(item=1))
    assert found.places[-1] == 511
    assert found.aside.startswith(
        "Of 1\u202f024 tokens the first 512 are read: more take too much memory, as alibi adds"
    )
    for other in (ModelState(seq_len=1024, num_heads=16), ModelState(seq_len=64, num_heads=16, positional="t5")):
        assert leaks_plan.fitting(other) == other


def test_of_a_short_text_in_many_places_all_words_are_changed_and_some_padding():
    model = ModelState(seq_len=1024)
    found = leaks_plan.plan(Setting(model=model, place="self", composition=""), 4, 1024)
    real = len(encode(model.text).pieces)
    assert found.places[:real] == tuple(range(real))
    assert all(place >= real for place in found.places[real:])
    assert len(set(found.places)) == len(found.places) > real
