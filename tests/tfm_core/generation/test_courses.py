"""Courses: nothing is run twice, and going on from one is as good as writing afresh."""

from dataclasses import FrozenInstanceError

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from tests.examples import shared_by
from tests.tfm_core.generation.writing import (
    CLOSE,
    PROMPT,
    contexts,
    decoder,
    every_scheme,
    samplings,
    tokens_of,
    written,
)
from tests.tfm_core.toys import VOCAB, largest_error
from tfm_core import POSITIONAL, KeyValueCache, Sampling, generate
from tfm_core.generation import decoding


def test_the_same_settings_need_no_pass(read):
    course = written(decoder(), steps=12)
    read.clear()
    again = generate(decoder(), PROMPT, Sampling(seed=1), steps=12, earlier=course)
    assert tokens_of(again) == tokens_of(course.steps)
    assert read == []
    assert again.course().nbytes == course.nbytes
    longer = generate(decoder(), PROMPT, Sampling(seed=1), steps=15, earlier=again.course())
    assert tokens_of(longer) == tokens_of(written(decoder(), steps=15).steps)


def test_more_steps_run_what_is_new_alone(read):
    course = written(decoder(), steps=12)
    read.clear()
    longer = list(generate(decoder(), PROMPT, Sampling(seed=1), steps=15, earlier=course))
    assert read == [1, 1, 1]  # the twelfth token was drawn, and never read
    assert longer[:12] != course.steps  # steps anew, of the same logits
    assert all(new.logits is old.logits for new, old in zip(longer, course.steps, strict=False))


def test_what_was_drawn_in_the_same_way_is_not_drawn_again(monkeypatch):
    drawn, draw_one = [], decoding.next_token
    course = written(decoder(), steps=12)

    def noted(logits, sampling, number):
        drawn.append(number)
        return draw_one(logits, sampling, number)

    monkeypatch.setattr(decoding, "next_token", noted)
    put = course.steps[5].token
    written(decoder(), steps=15, earlier=course)
    assert drawn == [12, 13, 14]
    for settings in ({"forced": {5: put}}, {"sampling": Sampling(seed=1, top_k=3)}):
        drawn.clear()
        beside = written(decoder(), steps=12, **settings)
        drawn.clear()
        assert tokens_of(written(decoder(), steps=12, earlier=beside).steps) == tokens_of(course.steps)
        assert 5 in drawn  # what was put there, and what was drawn in another way, is drawn


def test_a_longer_prompt_that_begins_the_same_reads_its_end_alone(read):
    course = written(decoder(), steps=12)
    text = list(course.tokens)
    read.clear()
    assert next(generate(decoder(), text[:9], steps=1, earlier=course)).logits is course.steps[6].logits
    assert read == []
    next(generate(decoder(), [*text[:9], 1, 2], steps=1, earlier=course))
    assert read == [2]
    next(generate(decoder(), text[:2], steps=1, earlier=course))  # inside the prompt: its last logits were not kept
    assert read == [2, 1]


@every_scheme
@shared_by(len(POSITIONAL))
@given(
    first=samplings, second=samplings, context=contexts, lengths=st.tuples(*[st.integers(0, 25)] * 2), data=st.data()
)
def test_from_any_earlier_course_it_goes_on_as_it_would_without(positional, first, second, context, lengths, data):
    model, kinds = decoder(positional=positional), st.dictionaries(st.integers(0, 25), st.integers(0, VOCAB - 1))
    settings = {"context": context, "forced": data.draw(kinds)}
    earlier = written(model, first, steps=lengths[0], context=context)
    prompt = data.draw(st.sampled_from([PROMPT, list(earlier.tokens[: data.draw(st.integers(1, 28))]), [5, 9, 1, 1]]))
    going_on = generate(model, prompt, second, steps=lengths[1], earlier=earlier, **settings)
    steps, afresh = list(going_on), list(generate(model, prompt, second, steps=lengths[1], **settings))
    assert tokens_of(steps) == tokens_of(afresh)
    for got, expected in zip(steps, afresh, strict=True):
        assert largest_error(got.logits, expected.logits) < CLOSE
    # and the new course is as good a beginning
    again = list(generate(model, prompt, first, steps=lengths[1], earlier=going_on.course(), **settings))
    assert tokens_of(again) == tokens_of(generate(model, prompt, first, steps=lengths[1], **settings))


@pytest.mark.parametrize("context", [None, 8, 9, 40])
@pytest.mark.parametrize("at", [0, 1, 4, 5, 6, 11, 20, 29])
def test_no_token_of_a_context_is_read_twice_in_both_courses_together(at, context, read):
    """It also holds where contexts begin anew, before the place where the courses part and after it."""
    course = written(decoder(), steps=30, context=context)
    assert sum(read) == sum(cache.length for cache in course.caches.values())
    read.clear()
    forced = {at: (course.steps[at].token + 1) % VOCAB or 1}
    other = written(decoder(), steps=30, context=context, forced=forced, earlier=course)
    both, same = len(PROMPT) + at, 0
    for begin, cache in course.caches.items():
        same += max(0, min(begin + cache.length, both) - begin)
    assert sum(read) == sum(cache.length for cache in other.caches.values()) - same
    assert len(read) == 29 - at


def test_a_course_never_changes_and_knows_its_size():
    model = decoder()
    course = written(model, steps=12)
    assert course.tokens == (*PROMPT, *tokens_of(course.steps))
    assert course.nbytes == 12 * 4 * VOCAB + KeyValueCache.memory_of(model.config, len(PROMPT) + 11)
    assert written(model, steps=12, use_cache=False).nbytes == 12 * 4 * VOCAB
    before, keys = course.nbytes, course.caches[0].keys(1).clone()
    list(generate(model, PROMPT, Sampling(seed=3), steps=40, earlier=course))
    assert course.nbytes == before
    assert torch.equal(course.caches[0].keys(1), keys)
    with pytest.raises(FrozenInstanceError):
        course.prompt = ()
    with pytest.raises(TypeError):
        course.caches[0] = None
