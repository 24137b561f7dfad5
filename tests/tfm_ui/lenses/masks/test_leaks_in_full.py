"""The leak test of all tokens, as the worker runs it: the numbers that would be there at once, had there been time."""

import math
import re
from dataclasses import replace

import pytest
import torch

from tests.tfm_ui.lenses.masks.test_leaks import CASES
from tests.tfm_ui.store.empty import empty_store
from tfm_core import encode
from tfm_core.study.leak_test import unpacked
from tfm_core.study.leaks import joined
from tfm_ui.jobs import exact as jobs
from tfm_ui.jobs.exact import ExactStep
from tfm_ui.lenses.masks.leaks import measured as of_view
from tfm_ui.lenses.masks.leaks import plan as leaks_plan
from tfm_ui.lenses.masks.leaks import running
from tfm_ui.lenses.masks.leaks.measured import OF_EACH, all_of, measure_needs, plan_of
from tfm_ui.lenses.masks.leaks.moved import Leaks
from tfm_ui.lenses.masks.leaks.plan import LEAST, MOST_SECONDS, SECONDS, fitting, plan
from tfm_ui.lenses.masks.masked_passes import in_full
from tfm_ui.lenses.masks.state import MasksState, Setting
from tfm_ui.live import cache
from tfm_ui.live.exact import LONGEST, MISSING, MOST, Exact
from tfm_ui.settings import SETTINGS
from tfm_ui.state.model_state import ModelState
from tfm_ui.store import exact as kept

MODEL, STATE = CASES["leaky"]


@pytest.fixture
def hurried(monkeypatch):
    """Only a replacement of each token is tried while the reader waits; what is computed in full is kept apart."""
    monkeypatch.setattr(leaks_plan, "SECONDS", 1e-5)
    monkeypatch.setattr(jobs, "connect", lambda: None)
    with empty_store(kept):
        yield


@pytest.mark.parametrize("case", CASES)
def test_all_parts_together_are_what_is_measured_at_once(case):
    whole = Leaks(*CASES[case])
    test = in_full(whole.setting, whole.plan.tries)
    assert torch.equal(unpacked(test.mask, test.shape), whole.setting.mask)
    together = joined(list(replace(test, at_once=3).parts()))
    assert together.moved.numel() == test.numbers
    torch.testing.assert_close(together.moved, whole.influence.moved, rtol=1e-9, atol=whole.influence.tolerance)
    assert together.largest == pytest.approx(whole.influence.largest)


def test_nothing_is_offered_where_nothing_is_left_out():
    assert all(all_of(*asked) is None for asked in CASES.values())


@pytest.mark.parametrize("case", CASES)
def test_the_link_of_the_whole_shows_what_there_would_be_with_more_time(case, hurried, monkeypatch):
    model, state = CASES[case]
    exact = all_of(model, state)
    steps = list(jobs.all_leaks(replace(exact.argument, at_once=2)))
    assert [step.share for step in steps] == sorted(step.share for step in steps)
    assert steps[-1].share == 1
    assert len(steps) == math.ceil(len(exact.argument.changed) / 2)
    assert not exact.is_kept
    jobs.keep(exact.key, "", steps[-1])
    assert steps[-1].without_results() == replace(steps[-1], numbers={})
    named = replace(state, whole=exact.new_name())
    shown, part = Leaks(model, named), Leaks(model, state)
    assert part.plan.tries == 1
    assert shown.plan.tries == state.tries
    assert shown.plan.aside.endswith(f"tokens were changed, each into {state.tries} others.")
    monkeypatch.setattr(leaks_plan, "SECONDS", 60.0)
    expected = Leaks(model, state)
    torch.testing.assert_close(
        shown.influence.moved, expected.influence.moved, rtol=1e-9, atol=expected.influence.tolerance
    )
    assert shown.recipe() == expected.recipe()


def test_a_job_that_is_stopped_keeps_nothing(hurried):
    exact = all_of(MODEL, STATE)
    running = jobs.all_leaks(replace(exact.argument, at_once=1))
    step = next(running)
    assert 0 < step.share < 1
    running.close()
    jobs.keep(exact.key, "", step)
    assert not exact.is_kept
    assert kept.store().keys(kept.EXACT) == []


def test_a_link_of_what_is_not_there_says_so_and_one_of_other_settings_shows_a_part(hurried):
    exact = all_of(MODEL, STATE)
    missing = Leaks(MODEL, replace(STATE, whole=exact.new_name()))
    assert missing.plan.aside == f"{MISSING} {Leaks(MODEL, STATE).plan.aside}"
    *_, last = jobs.all_leaks(exact.argument)
    jobs.keep(exact.key, "", last)
    other = replace(STATE, mask="causal", whole=exact.new_name())
    assert MISSING not in Leaks(MODEL, other).plan.aside
    assert Leaks(MODEL, other).plan.tries == 1
    kept.store().put(kept.EXACT, exact.key, b"no safetensors")
    assert Leaks(MODEL, replace(STATE, whole=exact.new_name())).plan.aside.startswith(MISSING)


def test_a_result_that_is_dropped_while_it_is_read_is_there_again_once_it_is_kept_again(hurried, monkeypatch):
    exact = all_of(MODEL, STATE)
    named = replace(STATE, whole=exact.new_name())
    *_, last = jobs.all_leaks(exact.argument)
    jobs.keep(exact.key, "", last)
    cache.clear()
    with monkeypatch.context() as between:
        between.setattr(type(kept.store()), "get", lambda *_: None)
        assert Leaks(MODEL, named).plan.aside.startswith(MISSING)
    assert "All 10 tokens were changed" in Leaks(MODEL, named).plan.aside


def test_nothing_is_said_to_be_computed_while_a_whole_result_is_read(hurried, monkeypatch):
    monkeypatch.setattr(leaks_plan, "SLOW", 0.0)
    exact = all_of(MODEL, STATE)
    named = replace(STATE, whole=exact.new_name())
    assert running(MODEL, STATE) == running(MODEL, named) == "Changing one token after the other"
    jobs.keep(exact.key, "", ExactStep(1, 0, "", {"moved": torch.zeros(1)}))
    assert running(MODEL, STATE)
    assert running(MODEL, named) == ""


def test_what_all_depends_on_has_a_key_of_its_own(hurried):
    changes = ({"tries": 3}, {"mask": "causal"}, {"item": 2}, {"paint": "~s1.5"})
    states = [STATE, *(replace(STATE, **change) for change in changes)]
    keys = {all_of(model, state).key for state in states for model in (MODEL, replace(MODEL, seed=11))}
    assert len(keys) == 2 * len(states)
    assert all_of(MODEL, replace(STATE, promise="causal", changed=2)).key == all_of(MODEL, STATE).key


def test_what_takes_too_long_or_too_much_is_refused_with_the_way_without_the_app(monkeypatch):
    def why(**more) -> str:
        fits = {"seconds": 9.0, "numbers": 9, "needs": 9}
        return Exact(job="leaks", argument=0, by_hand="with tries = 4", **(fits | more)).why_not

    assert why() == ""
    ends = "Without the app: the script under “Source”, with tries = 4."
    assert (
        why(seconds=LONGEST + 60) == f"All of it would take about 11 minutes, and 10 minutes are the most here. {ends}"
    )
    assert why(seconds=LONGEST + 1) == f"All of it would take a little more than 10 minutes, the most here. {ends}"
    assert why(numbers=MOST + 1).startswith("All of it would be 2,")
    monkeypatch.setattr(type(SETTINGS), "job_bytes", 10**6, raising=False)
    assert why(needs=SETTINGS.job_bytes + 10**6).endswith(ends)
    assert why(needs=SETTINGS.job_bytes + 1).startswith("All of it would take a little more than 4.0 GB of memory, ")
    model = ModelState(text="@alice", seq_len=1024, num_layers=8, d_model=256, num_heads=16)
    exact = all_of(model, MasksState(item=1))
    instead = f"1024 in place of {Leaks(model, MasksState(item=1)).setting.model.longest} wherever that stands"
    assert exact.why_not.endswith(f"under “Source”, with {instead}, places = range(1024) and tries = 4.")
    assert not math.isinf(exact.seconds)


@pytest.mark.parametrize("positional", ["sinusoidal", "alibi"])
@pytest.mark.parametrize("place", ["decoder", "cross"])
def test_the_way_without_the_app_is_said_as_it_is_gone(place, positional, monkeypatch):
    monkeypatch.setattr(of_view, "fitting", lambda *asked: leaks_plan.fitting(*asked, *[5e-4] * (len(asked) == 2)))
    monkeypatch.setattr(leaks_plan, "SECONDS", 1e-5)
    model = ModelState(
        text="@alice",
        target="one two three",
        seq_len=128,
        architecture="encoder-decoder" if place == "cross" else "encoder",
        positional=positional,
        num_layers=1,
        num_heads=1,
        d_model=8,
    )
    state = MasksState(item=1, place=place, mask="window 5 and padding", tries=1)
    exact, part = all_of(model, state), Leaks(model, state)
    by_hand = re.fullmatch(
        r"with (\d+) in place of (\d+) wherever that stands, (places = range\(\d+\)) and (tries = \d+)", exact.by_hand
    )
    longer, shorter, places, tries = by_hand.groups()
    lines = re.sub(rf"\b{shorter}\b", longer, part.recipe())
    lines = re.sub("^places = .*", places, re.sub("^tries = .*", tries, lines, flags=re.M), flags=re.M)
    exec(lines, scope := {})
    moved = joined(list(exact.argument.parts())).moved
    torch.testing.assert_close(scope["moved"], moved, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("positional", ["alibi", "t5"])
def test_a_bias_lets_all_of_a_long_text_be_computed(positional):
    exact = all_of(ModelState(text="@alice", seq_len=1024, positional=positional), MasksState(item=1))
    assert exact.argument.shape == (1024, 1024)
    assert exact.why_not == ""  # measured, it takes four minutes and five


def test_what_a_whole_result_takes_on_the_page_is_counted():
    model = ModelState(text="@alice", seq_len=1024)
    exact = all_of(model, MasksState(item=1))
    assert exact.numbers == 1024 * 2 * 1024
    assert exact.why_not == ""
    named = MasksState(item=1, whole=exact.new_name())
    assert measure_needs(model, named) >= OF_EACH * exact.numbers
    assert of_view.measure_needs(model, MasksState(item=1, whole="0" * 12)) == measure_needs(model, MasksState(item=1))


# which tokens are changed, and how often, where there is not the time or the memory for all

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
    sentence = f"Of 1,024 tokens {len(long.places)} are changed, spread over the text, each into 1 other instead of 4: "
    assert long.aside.startswith(sentence)
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
