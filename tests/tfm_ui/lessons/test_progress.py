"""Progress: what a browser tells is taken as far as it can be progress, and what two sides know is put together."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tfm_ui.lessons.progress import MOST_BYTES, MOST_CHARS, MOST_LESSONS, from_file, merged, noted, read

NAMES = st.text("abc-9", min_size=1, max_size=5)
DONE = st.fixed_dictionaries({}, optional={"reached": st.just(True)}) | st.fixed_dictionaries(
    {"answered": st.just(True), "guess": st.none() | st.floats(-1e9, 1e9) | st.text(max_size=20)}
)
PROGRESS = st.dictionaries(NAMES, st.dictionaries(NAMES, DONE, max_size=4), max_size=4)
JSON = st.recursive(
    st.none() | st.booleans() | st.floats() | st.text(max_size=10),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=6), inner, max_size=4),
    max_leaves=20,
)


@given(PROGRESS)
def test_what_was_kept_comes_back(progress):
    assert read(json.loads(json.dumps(progress))) == progress


@given(JSON)
def test_whatever_is_told_becomes_progress_or_is_left_out(told):
    assert read(read(told)) == read(told)


@given(PROGRESS.filter(bool))
def test_a_file_that_was_exported_comes_back(progress):
    assert from_file(json.dumps(progress, ensure_ascii=False, indent=1).encode()) == progress


@pytest.mark.parametrize(
    ("data", "told"),
    [
        (b"", "got no JSON"),
        (b"\xff\xfe\x00", "got no JSON"),
        (b"[" * 100_000, "got no JSON"),
        (b"{}", "got one without any lesson"),
        (b'{"../x": {}}', "got one without any lesson"),
        (b" " * (MOST_BYTES + 1), "expected a file of at most 1,000,000 bytes, got 1,000,001"),
    ],
)
def test_a_file_without_progress_is_told(data, told):
    with pytest.raises(ValueError, match=told):
        from_file(data)


@pytest.mark.parametrize(
    ("told", "known"),
    [
        ({"a": {"s": {"answered": "yes"}}}, {"a": {"s": {}}}),
        ({"a": {"s": {"answered": True, "guess": True}}}, {"a": {"s": {"answered": True, "guess": None}}}),
        ({"a": {"s": {"answered": True, "guess": 1e300}}}, {"a": {"s": {"answered": True, "guess": None}}}),
        ({"a": {"<b>": {}}}, {"a": {}}),
        ({"A/../": {}}, {}),
        ({"a": {"s": 3}}, {"a": {"s": {}}}),
    ],
)
def test_what_is_no_progress(told, known):
    assert read(told) == known


def test_a_browser_cannot_fill_the_server():
    told = {f"l{n}": {f"s{m}": {"answered": True, "guess": "x" * 10_000} for m in range(100)} for n in range(1000)}
    known = read(told)
    assert len(known) == MOST_LESSONS
    assert max(map(len, known.values())) <= 40
    assert {len(done["guess"]) for steps in known.values() for done in steps.values()} == {MOST_CHARS}


@given(PROGRESS, PROGRESS)
def test_nothing_that_a_side_knows_is_lost(kept, told):
    both = merged(kept, told)
    assert merged(both, told) == both == merged(kept, both)
    for side in (kept, told):
        for lesson, steps in side.items():
            assert steps.keys() <= both[lesson].keys()
            assert all(done.keys() <= both[lesson][step].keys() for step, done in steps.items())


def test_a_step_that_was_seen_is_noted():
    assert noted({"a": {"s": {"reached": True}}}, "a", "t", answered=True, guess=3) == {
        "a": {"s": {"reached": True}, "t": {"answered": True, "guess": 3}}
    }
