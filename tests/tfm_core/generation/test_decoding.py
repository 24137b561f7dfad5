"""Writing: with and without the cache the same, nothing twice, as many operations as torch counts, as in GPT-2."""

from itertools import islice

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.utils.flop_counter import FlopCounterMode

from tests.examples import shared_by
from tests.tfm_core.generation.writing import (
    CLOSE,
    PROMPT,
    contexts,
    decoder,
    every_scheme,
    prompts,
    samplings,
    tokens_of,
)
from tests.tfm_core.toys import VOCAB, build, largest_error, random_ids, scramble, tiny
from tfm_core import ATTENTION, POSITIONAL, KeyValueCache, Sampling, draw, generate, recording, to_gpt2
from tfm_core.generation.costs import pass_flops, step_flops
from tfm_core.generation.course import context_begin


@every_scheme
@shared_by(len(POSITIONAL))
@given(prompt=prompts, sampling=samplings, context=contexts, forced=st.dictionaries(st.integers(0, 20), st.just(7)))
def test_with_and_without_the_cache_the_course_is_the_same(positional, prompt, sampling, context, forced):
    model, both = decoder(positional=positional), []
    for use_cache in (True, False):
        steps = generate(
            model, prompt, sampling, steps=20, context=context, forced=forced, use_cache=use_cache, end_id=3
        )
        both.append(list(steps))
    assert tokens_of(both[0]) == tokens_of(both[1])
    for first, second in zip(*both, strict=True):
        assert (first.begin, first.forced, first.number) == (second.begin, second.forced, second.number)
        assert largest_error(first.logits, second.logits) < CLOSE


@torch.no_grad()
@every_scheme
def test_logits_are_those_of_a_pass_and_tokens_those_of_the_draw(positional):
    model, sampling = decoder(positional=positional), Sampling(temperature=1.4, seed=4)
    steps = list(generate(model, PROMPT, sampling, steps=30))
    text = PROMPT + tokens_of(steps)
    logits = model(torch.tensor([text]))[0]
    for number, step in enumerate(steps):
        assert step.number == number
        assert largest_error(step.logits, logits[len(PROMPT) + number - 1]) < CLOSE
        assert step.token == draw(step.logits, sampling, number).token
        assert not step.logits.requires_grad
        assert step.logits.untyped_storage().nbytes() == 4 * VOCAB  # it holds no other row in memory


@given(st.integers(1, 200), st.integers(1, 30))
def test_the_context_is_full_then_its_newer_half_is_left(length, context):
    start = 0
    for end in range(1, length + 1):
        if end - start > context:
            start = end - max(1, context // 2)
    assert context_begin(length, context) == start
    assert context_begin(length, None) == 0


def test_each_token_of_a_context_is_read_once(read):
    steps = list(generate(decoder(), PROMPT, steps=20, context=8))
    # 3, then to 8 singly; then the newer 4 anew, to 8 singly; ...
    assert read == [3, *[1] * 5, 4, *[1] * 4, 4, *[1] * 4, 4, *[1] * 3]
    assert [step.begin for step in steps] == [0] * 6 + [5] * 5 + [10] * 5 + [15] * 4


def test_a_full_context_can_be_the_end():
    steps = list(generate(decoder(), PROMPT, steps=20, context=8, when_full="stop"))
    assert len(steps) == 6  # the last is read from all 8, and is the ninth
    learned = list(generate(decoder(positional="learned", max_len=10), PROMPT, steps=20, when_full="stop"))
    assert len(learned) == 8
    assert len(list(generate(decoder(positional="learned", max_len=10), PROMPT, steps=20))) == 20
    assert len(list(generate(decoder(positional="rope", max_len=10), PROMPT, steps=20, when_full="stop"))) == 20


def test_a_caller_can_stop_at_any_step_and_nothing_is_computed_ahead(read):
    written = generate(decoder(), PROMPT, steps=1000)
    assert read == []
    three = list(islice(written, 3))
    assert read == [3, 1, 1]
    course = written.course()
    assert course.steps == tuple(three)
    next(written)
    assert len(course.steps) == 3
    assert course.caches[0].length == 5
    assert len(written.course().steps) == 4


def test_the_end_is_written_and_ends():
    all_tokens = tokens_of(generate(decoder(), PROMPT, Sampling(seed=2), steps=30))
    end = all_tokens[6]
    ended = tokens_of(generate(decoder(), PROMPT, Sampling(seed=2), steps=30, end_id=end))
    assert ended == all_tokens[: all_tokens.index(end) + 1]


def test_a_forced_token_is_put_there_and_read():
    model, sampling = decoder(), Sampling(seed=2)
    steps = list(generate(model, PROMPT, sampling, steps=6, forced={2: 12}))
    assert [step.forced for step in steps] == [False, False, True, False, False, False]
    assert steps[2].token == 12
    beside = list(generate(model, PROMPT, sampling, steps=6))
    assert torch.equal(steps[2].logits, beside[2].logits)
    assert beside[2].token != 12
    text = PROMPT + tokens_of(steps[:3])
    assert largest_error(steps[3].logits, next(generate(model, text, steps=1)).logits) < CLOSE


@pytest.mark.parametrize("name", [name for name, kind in ATTENTION.items() if not kind.has_cache])
def test_kinds_without_a_cache_write_without(name):
    model = decoder(attention=name)
    steps = list(generate(model, PROMPT, steps=3, use_cache=False))
    course = generate(model, PROMPT, steps=3, use_cache=False).course()
    assert tokens_of(generate(model, PROMPT, steps=3, use_cache=False, earlier=course)) == tokens_of(steps)


SHAPES = [
    {"d_model": 24, "num_heads": 3, "d_ff": 0},
    {"d_ff": 40, "num_layers": 3, "activation": "swiglu"},
    {"norm": "post", "positional": "rope", "tie_embeddings": True},
]


@torch.no_grad()
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize(("new", "stored"), [(1, 0), (7, 0), (5, 9), (2, 11)])
def test_a_pass_has_the_operations_that_torch_counts(shape, new, stored):
    model = build(architecture="decoder", **shape)
    ids, cache = random_ids(1, stored + new), KeyValueCache(model.config)
    if stored:
        model(ids[:, :stored], cache=cache)
    # Weights are recorded, as torch does not count fused kernels on the processor.
    with recording("*.weights"), FlopCounterMode(display=False) as counter:
        model(ids[:, stored:], cache=cache)
    assert pass_flops(model.config, new, stored) == counter.get_total_flops()


@pytest.mark.parametrize("shape", SHAPES)
def test_a_step_reads_one_token_or_all_of_them(shape):
    config = tiny(architecture="decoder", **shape)
    assert step_flops(config, 12, cached=True) == pass_flops(config, 1, 11)
    assert step_flops(config, 12, cached=False) == pass_flops(config, 12)
    assert step_flops(config, 1, cached=True) == step_flops(config, 1, cached=False)


# a decoder as transformers' GPT-2


GPT2_SHAPES = [
    {},
    {"num_layers": 4, "d_model": 24, "num_heads": 3, "d_ff": 0},
    {"num_heads": 1, "num_layers": 1, "d_ff": 7, "max_len": 12},
]


@torch.no_grad()
@pytest.mark.crossed(
    positional=["none", "sinusoidal", "learned"],
    attention=["full", "fused"],
    tie_embeddings=[True, False],
    shape=GPT2_SHAPES,
)
def test_logits_are_those_of_gpt2(positional, attention, tie_embeddings, shape):
    model = build(
        architecture="decoder", positional=positional, attention=attention, tie_embeddings=tie_embeddings, **shape
    )
    scramble(model)
    before = {name: parameter.clone() for name, parameter in model.named_parameters()}
    gpt2, tokens = to_gpt2(model), random_ids(3, 12)
    assert largest_error(gpt2(tokens).logits, model(tokens)) < 1e-4
    for parameter in gpt2.parameters():  # no memory in common
        parameter.zero_()
    assert all(torch.equal(parameter, before[name]) for name, parameter in model.named_parameters())
