"""Where the time goes: every target's parts, and that they are the whole pass."""

import time

import pytest

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
        found, kernel = parts.measure(subject.module, call, "cpu", OPEN)
    names = {part.name for part in found}
    assert EXPECTED.get(target, TRANSFORMER) <= names <= EXPECTED.get(target, TRANSFORMER | {"softmax"})
    assert kernel == KERNELS.get(target, kernel)
    assert sum(part.seconds for part in found) >= 0.999 * min(took[2:])  # it is around the call
    assert [part.seconds for part in found] == sorted((part.seconds for part in found), reverse=True)


def test_torchs_encoder_is_told_apart_off_its_fast_path_too():
    subject = Subject(Row("nn.TransformerEncoder", SIZE), Setup())
    with subject.mode("training"):
        found, kernel = parts.measure(subject.module, lambda: subject.module(subject.x), "cpu", OPEN)
    assert {part.name for part in found} >= TRANSFORMER
    assert kernel == "flash"


def test_the_module_is_left_as_it_was():
    subject = Subject(Row("with weights", SIZE), Setup())
    with pytest.raises(ZeroDivisionError):
        parts.measure(subject.module, lambda: 1 / 0, "cpu", OPEN)
    assert not any("forward" in vars(module) for module in subject.module.modules())


def test_passes_that_were_contended_do_not_count():
    subject = Subject(Row("fused flash", SIZE), Setup())
    made = []
    with subject.mode("forward"):
        found, kernel = parts.measure(subject.module, lambda: made.append(subject.call("forward")()), "cpu", SHUT)
    assert (found, kernel, len(made)) == ((), "flash", 1 + parts.MOST_PASSES)
