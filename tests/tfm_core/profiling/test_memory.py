"""Peaks of memory: measured ones beside what must have been allocated, closed forms beside measured ones."""

import math
from itertools import product

import pytest
import torch

from tests.tfm_core.profiling.kinds import KINDS, OTHERS, sized
from tfm_core.model.weights_in_parts import is_faster_written
from tfm_core.profiling import DEFAULT_SIZES, TARGETS, Row, Setup, Size, memory
from tfm_core.profiling.costs import peak_memory
from tfm_core.profiling.memory import allocated
from tfm_core.profiling.run_subject import Subject

MIB = 2**20


def test_the_curve_is_the_allocators_to_the_byte():
    def call():
        a, b = torch.empty(MIB, dtype=torch.uint8), torch.empty(3 * MIB, dtype=torch.uint8)
        del a
        return b, torch.empty(MIB // 2, dtype=torch.uint8)

    assert memory.allocated(call) == 4 * MIB
    assert memory.allocated(lambda: None) == 0


def test_explicit_attention_of_200_tokens():
    """Notes: 103.9 MiB with the scores beside the weights. All weights of 4 layers, and no more than one of scores."""
    row = Row("with weights", Size(d_model=128, num_heads=8, num_layers=4, seq_len=200))
    subject = Subject(row, Setup())
    with subject.mode("forward"):
        subject.call("forward")()
        first, again = (memory.measure(subject.call("forward"), "cpu") for _ in range(2))
    one_layer = 16 * 8 * 200 * 200 * 4
    assert 4 * one_layer < first.allocated < 5 * one_layer + 16 * MIB
    assert first.allocated == again.allocated == pytest.approx(103.9 * MIB, rel=0.15)
    assert first.system is None or first.system > 3 * one_layer


@pytest.mark.parametrize("target", ["without weights", "fused"])
def test_weights_that_nobody_keeps_are_not_held(target):
    size = Size(d_model=64, num_heads=4, num_layers=4, seq_len=128)
    peaks = []
    for name in ("with weights", target):
        subject = Subject(Row(name, size), Setup())
        with subject.mode("forward"):
            peaks.append(memory.allocated(subject.call("forward")))
    assert peaks[1] < peaks[0] / 2
    assert target in TARGETS


def test_what_the_system_saw(tmp_path):
    assert memory.system(lambda: None, tmp_path / "none") is None
    (tmp_path / "status").write_text("VmRSS: many kB\n")
    assert memory.system(lambda: None, tmp_path) is None
    (tmp_path / "status").write_text("VmHWM:\t  70 kB\nVmRSS:\t  30 kB\n")
    assert memory.system(lambda: None, tmp_path) == 40 * 1024
    assert (tmp_path / "clear_refs").read_text() == "5"
    grown = memory.system(lambda: torch.ones(64 * MIB, dtype=torch.uint8))
    assert grown is None or grown > 48 * MIB


def test_memory_that_is_installed(monkeypatch):
    assert memory.installed("cpu") > 2**28
    monkeypatch.delattr(memory.os, "sysconf")
    assert memory.installed("cpu") == math.inf


# peaks in closed form beside the allocation curve of torch.profiler


LONG = Size(d_model=32, num_heads=4, num_layers=2, seq_len=320, batch=3)  # scores outgrow the cache
NARROW = {"d_model": 32, "num_heads": 4, "num_layers": 2, "seq_len": 200, "batch": 3}
WIDE = {"d_model": 64, "num_heads": 4, "num_layers": 2, "seq_len": 50, "batch": 8}
HERE = [name for name, target in TARGETS.items() if not target.refuses(Setup())]
LIKE_ANOTHER = ("fused flash", "strided")  # "fused" takes the same kernel on a processor, "window" has a mask as well
STACKS = [name for name in HERE if name not in OTHERS + LIKE_ANOTHER]
CHOICES = ("norm", "activation", "positional", "architecture", "causal", "vocab_size", "ends")
DIFFERENT = (  # as far as what is no stack knows
    {},
    {"vocab_size": 30},
    {"vocab_size": 30, "ends": "embedding"},
    {"vocab_size": 30, "ends": "output"},
    {"positional": "learned", "causal": True},
    {"architecture": "encoder-decoder", "norm": "post", "activation": "swiglu"},
)


def ratios(target, size):
    """The foretold peak over the measured one, of the forward pass and of forward + backward."""
    row = Row(target, size)
    subject = Subject(row, Setup())
    with subject.mode("forward"):
        subject.call("forward")()  # what is set up for the first time does not count
    for direction in ("forward", "training"):
        with subject.mode(direction):
            measured = allocated(subject.call(direction))
        yield peak_memory(row, Setup(), backward=direction == "training") / measured


@pytest.mark.parametrize("size", [DEFAULT_SIZES[0], LONG])
@pytest.mark.parametrize("target", HERE)
def test_within_a_factor_of_2_of_the_allocation_curve(target, size):
    """Transformers, where each tensor is accounted for, are nearer than that."""
    low, high = (0.5, 2) if target in OTHERS else (0.9, 1.1)
    forward, training = ratios(target, size)
    assert low < forward < high
    assert low < training < high


def of_kind(kind, numbers):
    return sized({**kind, "vocab_size": 500 if "vocab_size" in kind else 0}, **numbers)


def telling(target):
    """Kinds that bring a target a choice that no kind before has brought it; for the first target all kinds."""
    brought = set()
    for kind in KINDS:
        size = of_kind(kind, NARROW)
        choices = {(name, getattr(size, name)) for name in CHOICES}
        if target == STACKS[0] or (not TARGETS[target].lacks(size) and not choices <= brought):
            brought |= choices
            yield kind


def pytest_generate_tests(metafunc):
    """Every kind, and every choice with every target, where scores are most of it; where they are not, two targets.

    All that is wide is in feed-forward networks, of which there are two: ours, and that of torch's own layers.
    With `--all`, it is every kind with every target at both sizes.
    """
    if metafunc.function is test_of_every_kind:
        if metafunc.config.getoption("all_combinations"):
            rows = list(product(KINDS, [NARROW, WIDE], STACKS))
        else:
            rows = [(kind, NARROW, target) for target in STACKS for kind in telling(target)]
            rows += product(KINDS, [WIDE], ["without weights", "nn.TransformerEncoder"])
        metafunc.parametrize(("kind", "numbers", "target"), rows)


def test_of_every_kind(kind, numbers, target):
    size = of_kind(kind, numbers)
    if not TARGETS[target].lacks(size):
        forward, training = ratios(target, size)
        assert 0.88 < forward < 1.12
        assert 0.88 < training < 1.12


@pytest.mark.crossed(kind=DIFFERENT, numbers=[NARROW, WIDE], target=OTHERS)
def test_what_is_no_stack_of_what_it_can_be(kind, numbers, target):
    forward, training = ratios(target, of_kind(kind, numbers))
    assert 0.5 < forward < 2
    assert 0.5 < training < 2


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("backward", [False, True])
@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
def test_more_of_anything_never_takes_less(target, backward, dtype):
    base = {"d_model": 16, "num_heads": 2, "num_layers": 2, "seq_len": 16, "batch": 2, "d_ff": 40}
    setup = Setup(dtype=dtype)

    def peak(**changes):
        return peak_memory(Row(target, Size(**{**base, **changes})), setup, backward=backward)

    assert 0 < peak() <= min(peak(seq_len=32), peak(batch=3), peak(d_model=32), peak(d_ff=80))
    if backward:  # else one layer after the other takes the same memory, and what has an equal count grows narrow
        assert peak() < peak(num_layers=4)


@pytest.mark.parametrize("batch", [1, 2, 3])
def test_where_ours_changes_to_the_fused_kernel(batch):
    """The peak falls where weights are no longer written: at the very size where the model does so."""
    sizes = [Size(d_model=16, num_heads=2, num_layers=1, seq_len=n, batch=batch, d_ff=16) for n in range(500, 1100)]
    setup = Setup()
    written = [peak_memory(Row("without weights", s), setup) > peak_memory(Row("fused", s), setup) for s in sizes]
    heads = (torch.empty(s.batch, s.num_heads, s.seq_len, s.head_dim, device="meta") for s in sizes)
    assert written == [is_faster_written(x, x) for x in heads]
    assert any(written)
    assert not all(written)
