"""Where the time goes: every target's parts, and that they are the whole pass."""

import time
from dataclasses import replace

import pytest
import torch

from tests.tfm_core.profiling.small import OPEN, SHUT, SIZE
from tfm_core.profiling import TARGETS, Row, Setup, parts
from tfm_core.profiling.run_subject import Subject, refusal

TRANSFORMER = {"projections", "products", "feed-forward", "norms", "rest"}
EXPECTED = {
    "LSTM": {"recurrence", "output", "rest"},
    "GRU": {"recurrence", "output", "rest"},
    "convolution": {"convolution", "output", "rest"},
}
KERNELS = {
    "with weights": "",
    "fused flash": "flash",
    "fused math": "math",
    "nn.MultiheadAttention": "fast path",
    "nn.TransformerEncoder": "fast path",
    "LSTM": "",
}
HERE = [name for name in TARGETS if not refusal(Row(name, SIZE), Setup())]


@pytest.fixture
def few_passes(monkeypatch):
    """Make the fewest passes that decide, however awake the processor is: reading what was profiled takes longest."""
    monkeypatch.setattr(parts, "LEAST_SECONDS", 0.0)


@pytest.mark.usefixtures("few_passes")
@pytest.mark.parametrize("target", HERE)
def test_every_target_is_told_apart_into_its_parts(target):
    subject = Subject(Row(target, SIZE), Setup())
    took = []

    def call():
        begin = time.perf_counter()
        subject.call("forward")()
        took.append(time.perf_counter() - begin)

    with subject.mode("forward"):
        call()
        profiled = parts.measure(subject.module, call, "cpu", OPEN)
    times, kernel = profiled.parts, profiled.kernel
    assert not profiled.under_load
    names = {part.name for part in times}
    assert EXPECTED.get(target, TRANSFORMER) <= names <= EXPECTED.get(target, TRANSFORMER | {"softmax"})
    assert kernel == KERNELS.get(target, kernel)
    assert sum(part.seconds for part in times) >= 0.999 * min(took[2:])  # it is around the call
    assert [part.seconds for part in times] == sorted((part.seconds for part in times), reverse=True)


@pytest.mark.usefixtures("few_passes")
@pytest.mark.parametrize("target", ["with weights", "nn.TransformerEncoder", "GRU"])
def test_embedding_and_logits_are_parts_too(target):
    subject = Subject(Row(target, replace(SIZE, vocab_size=50, positional="learned")), Setup())
    with subject.mode("forward"):
        profiled = parts.measure(subject.module, subject.call("forward"), "cpu", OPEN)
    assert {"embedding", "logits"} | EXPECTED.get(target, TRANSFORMER) <= {part.name for part in profiled.parts}


@pytest.mark.usefixtures("few_passes")
def test_torchs_encoder_is_told_apart_off_its_fast_path_too():
    subject = Subject(Row("nn.TransformerEncoder", SIZE), Setup())
    with subject.mode("training"):
        profiled = parts.measure(subject.module, lambda: subject.module(subject.x), "cpu", OPEN)
    assert {part.name for part in profiled.parts} >= TRANSFORMER
    assert profiled.kernel == "flash"


def test_the_module_is_left_as_it_was():
    subject = Subject(Row("with weights", SIZE), Setup())
    with pytest.raises(ZeroDivisionError):
        parts.measure(subject.module, lambda: 1 / 0, "cpu", OPEN)
    assert not any("forward" in vars(module) for module in subject.module.modules())


def test_where_too_few_passes_are_clean_all_count_and_it_is_said():
    subject = Subject(Row("fused flash", SIZE), Setup())
    made = []
    with subject.mode("forward"):
        profiled = parts.measure(subject.module, lambda: made.append(subject.call("forward")()), "cpu", SHUT)
    assert profiled.under_load
    assert {part.name for part in profiled.parts} >= TRANSFORMER
    assert (profiled.kernel, len(made)) == ("flash", 1 + parts.MOST_PASSES)


class Opens:
    """A gate that finds the passes contended but for some."""

    def __init__(self, *clean):
        self.clean, self.passes = clean, 0

    def around(self, block):
        self.passes += 1
        return block(), float(self.passes not in self.clean)


@pytest.mark.parametrize(("clean", "under_load"), [((3,), True), ((3, 5, 7, 9, 11), True), (range(3, 10), False)])
def test_no_pass_alone_tells_where_the_time_goes(clean, under_load):
    """Contended passes are ten times as long here: they decide as soon as too few are clean."""
    gate = Opens(*clean)

    def call():
        time.sleep(0.001 if gate.passes + 1 in gate.clean else 0.01)

    profiled = parts.measure(torch.nn.Identity(), call, "cpu", gate)
    assert profiled.under_load is under_load
    assert (sum(part.seconds for part in profiled.parts) >= 0.01) is under_load
