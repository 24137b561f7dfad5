"""The name of a run, there and back, and what is refused."""

import math
import string
from dataclasses import fields, replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.tfm_core.training.runs import small
from tfm_core.model.feed_forward import ACTIVATIONS
from tfm_core.model.kind import NORMS
from tfm_core.positional.schemes import POSITIONAL
from tfm_core.training.config import BOUNDS, NETWORKS, SCHEDULES, WHOLE, TrainingConfig, of_task, read_name
from tfm_core.training.tasks.table import TASKS

NUMBERS = {
    name: st.integers(int(low), int(high)) if name in WHOLE else st.floats(low, high) | st.integers(1, int(high))
    for name, (low, high) in BOUNDS.items()
    if high >= 1
} | {"dropout": st.floats(0, 0.9), "beta2": st.floats(0, 0.99999)}
WORDS = {
    "network": st.sampled_from(NETWORKS),
    "positional": st.sampled_from(list(POSITIONAL)),
    "norm": st.sampled_from(NORMS),
    "activation": st.sampled_from(list(ACTIVATIONS)),
    "schedule": st.sampled_from(SCHEDULES),
    "pooling": st.sampled_from(["mean", "first"]),
    "file": st.text("0123456789abcdef", min_size=12, max_size=12) | st.just(""),
}
TASK = st.sampled_from(list(TASKS))
FIVE_TIMES = settings(max_examples=5 * settings().max_examples)  # as many as the profile asks for


@FIVE_TIMES
@given(TASK, st.fixed_dictionaries({}, optional=NUMBERS | WORDS))
def test_the_name_brings_the_configuration_back(task, changes):
    try:
        config = of_task(task, **changes)
    except ValueError:
        return  # what fields allow each by itself may not fit together
    assert read_name(config.name) == config
    assert read_name(config.name).name == config.name


@given(TASK, st.integers(0, 9999))
def test_the_name_says_what_differs_from_the_task_and_nothing_else(task, seed):
    assert of_task(task).name == task
    assert of_task(task, seed=seed).name == task + (f",seed={seed}" if seed else "")


def test_names_in_full():
    assert of_task("reverse", learning_rate=0.02, seed=3).name == "reverse,learning_rate=0.02,seed=3"
    assert of_task("sort", num_layers=1, dropout=0.1, positional="rope").name == (
        "sort,num_layers=1,positional=rope,dropout=0.1"
    )
    assert of_task("reverse", learning_rate=1).name == of_task("reverse", learning_rate=1.0).name
    assert read_name("reverse,seed=3,seed=4").seed == 4
    for rate in (1 / 3, 0.01 * (1 + 1e-15)):
        assert of_task("reverse", learning_rate=rate).name == f"reverse,learning_rate={rate!r}"


@pytest.mark.parametrize("name", list(BOUNDS))
def test_numbers_out_of_bounds_are_refused(name):
    low, high = BOUNDS[name]
    kind = "a whole number" if name in WHOLE else "a number"
    values = [low - 1, high + 1, 10**400, -(10**400), math.nan, math.inf, "3", None, True, [1], 2.5j]
    for value in [*values, *([low + 0.5, 4.0] if name in WHOLE else [])]:
        with pytest.raises(ValueError, match=rf"^{name}: expected {kind} from {low:g} to {high:g}, got") as refused:
            of_task("reverse", **{name: value})
        assert repr(value) in str(refused.value)


@pytest.mark.parametrize(
    ("task", "changes", "words"),
    [
        ("reverse", {"network": "mamba"}, "network: expected one of transformer, lstm, gru, rnn; got 'mamba'"),
        ("reverse", {"positional": "alibis"}, "positional: expected one of none, .*; got 'alibis'"),
        ("reverse", {"norm": 3}, "norm: expected one of pre, post; got 3"),
        ("reverse", {"pooling": "first"}, "pooling: expected one of mean; got 'first'"),
        ("textbook", {"pooling": "max"}, "pooling: expected one of mean, first; got 'max'"),
        ("reverse", {"num_heads": 3}, "num_heads: expected a divisor of d_model=16, got 3"),
        ("reverse", {"positional": "rope", "d_model": 3}, "expected an even d_model / num_heads"),
        ("reverse", {"file": "0123456789aB"}, "file: expected 32 or twelve hexadecimal digits or nothing"),
        ("reverse", {"file": "0123456789ab\n"}, "file: expected 32 or twelve hexadecimal digits or nothing"),
        ("reverse", {"file": 123456789012}, "file: expected 32 or twelve hexadecimal digits"),
        ("reverse-decoder", {"network": "gru"}, "network: expected a transformer .* of 'reverse-decoder', got 'gru'"),
        ("reverse", {"network": "lstm", "d_model": 7}, "d_model: expected an even number, .* from each end; got 7"),
    ],
)
def test_what_cannot_be_is_refused(task, changes, words):
    with pytest.raises(ValueError, match=words):
        of_task(task, **changes)


def test_a_decoder_reads_from_one_end_so_its_width_may_be_odd():
    assert of_task("copy", network="lstm", d_model=7).d_model == 7


@pytest.mark.parametrize("task", ["", "Reverse", "reverse ", None, 3, "reverse\0", "a" * 10_000])
def test_other_tasks_are_refused(task):
    for make in (of_task, lambda name: TrainingConfig(task=name)):
        with pytest.raises(ValueError, match=r"task: expected one of reverse, majority, .*; got"):
            make(task)


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("", "task: expected one of"),
        ("seed=1", "task: expected one of"),
        ("reverse,", "expected changes of network, d_model, .* such as seed=3; got ''"),
        ("reverse,=3", "got '=3'"),
        ("reverse,seed", "name of a run: expected changes of network, .*; got 'seed'"),
        ("reverse,task=sort", "got 'task=sort'"),
        ("reverse,__class__=1", "got '__class__=1'"),
        ("reverse,seed=1e9", "seed: expected a number, got '1e9'"),
        ("reverse,seed=", "seed: expected a number, got ''"),
        ("reverse,steps=nan", "steps: expected a number, got 'nan'"),
        ("reverse,steps=1=2", "steps: expected a number, got '1=2'"),
        ("reverse,learning_rate=nan", "learning_rate: expected a number from 1e-06 to 10, got nan"),
        ("reverse,learning_rate=inf", "got inf"),
        ("reverse,dropout=-0.1", "dropout: expected a number from 0 to 0.9, got -0.1"),
        (f"reverse,seed={'9' * 400}", "seed: expected a whole number from 0 to 9999, got 999"),
        (f"reverse,seed={'9' * 40_000}", "seed: expected a number"),
        (f"reverse,{'seed=1,' * 10_000}", "got ''"),
        ("reverse,norm=\ud800", "norm: expected one of pre, post"),
    ],
)
def test_hostile_names_are_refused_with_a_sentence(name, words):
    with pytest.raises(ValueError, match=words):
        read_name(name)


PIECES = st.sampled_from(["reverse", "sort", ",", "=", "seed", "steps", "file", "1", "-", "e", ".", "nan", "\0", "é"])


@FIVE_TIMES
@given(st.text() | st.lists(PIECES).map("".join) | st.text(string.printable).map("reverse,seed={}".format))
def test_any_text_is_a_name_or_a_value_error(text):
    try:
        config = read_name(text)
    except ValueError:
        with pytest.raises(ValueError, match="expected"):
            read_name(text)
    else:
        assert config.about is TASKS[config.task]


def test_the_transformer_is_what_was_asked_for():
    config = small("sort-decoder", num_heads=2, num_layers=3, norm="post", positional="rope", dropout=0.2, seed=9)
    shape = config.transformer
    for name in ("d_model", "num_heads", "num_layers", "norm", "positional", "dropout", "seed"):
        assert getattr(shape, name) == getattr(config, name)
    assert (shape.architecture, shape.vocab_size, shape.max_len) == ("encoder-decoder", 34, 10)
    assert shape.weights == "random"


def test_it_is_a_value():
    config = of_task("reverse")
    assert hash(config) == hash(of_task("reverse"))
    assert len({config, replace(config, seed=1), of_task("reverse")}) == 2
    assert {field.name for field in fields(config)} == {"task", *NUMBERS, *WORDS}
