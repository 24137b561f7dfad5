"""Transformers of every kind: the modules are that very `Transformer`, and the closed forms are their counts."""

import json

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from tests.tfm_core.profiling.kinds import KINDS, MASKED, OTHERS, PLAIN_KINDS, described, input_of, possible, sized
from tests.tfm_core.toys import largest_error
from tfm_core import ACTIVATIONS, ARCHITECTURES, NORMS, POSITIONAL, Transformer, causal_mask
from tfm_core.profiling import DEFAULT_SIZES, TARGETS, Machine, Plan, Report, Row, Setup, Size, costs, files
from tfm_core.profiling.run_subject import Subject, refusal
from tfm_core.profiling.size import ENDS
from tfm_core.profiling.targets_transformer import config_of

NUMBERS = {"d_model": 16, "num_heads": 4, "num_layers": 2, "seq_len": 9, "batch": 2, "d_ff": 20}
BOTH = {"vocab_size": 30, "ends": "both"}
EVERY_KIND = pytest.mark.parametrize("kind", KINDS, ids=described)
EVERY_SIZE = pytest.mark.parametrize("kind", [*KINDS, *PLAIN_KINDS], ids=described)
LARGE = vars(DEFAULT_SIZES[-1])
NOWHERE = Machine(device="", processor="", cores=0, system="", torch="")
TEXTBOOK = {"norm": "post", "activation": "relu", "vocab_size": 1000}


def here(size: Size) -> list[str]:
    """The targets that run here."""
    return [name for name in possible(size) if not refusal(Row(name, size), Setup())]


def parameters(target: str, size: Size) -> int:
    return sum(costs.parameters(Row(target, size)).values())


@EVERY_KIND
def test_with_embedding_and_output_a_row_is_the_transformer_itself(kind):
    size = sized({**kind, **BOTH}, **NUMBERS)
    model, tokens = Transformer(config_of(size, 3)), input_of(size)
    both = (tokens, tokens) if size.num_stacks == 2 else (tokens,)
    mask = causal_mask(size.seq_len) if size.causal else None
    with torch.inference_mode():
        assert largest_error(TARGETS["without weights"].build(size, 3)(tokens), model(*both, mask=mask)) == 0


@EVERY_KIND
def test_without_them_it_is_all_between_them(kind):
    """A row's stacks, given a model's embedded tokens, give what that model's output is made from."""
    whole = sized({**kind, **BOTH}, **NUMBERS)
    size = sized({**kind, "vocab_size": 0}, **NUMBERS)
    model, tokens = TARGETS["without weights"].build(whole, 3).transformer, input_of(whole)
    stack = model.encoder if whole.num_stacks == 2 else model.stack
    inner = TARGETS["without weights"].build(size, 3)
    with torch.inference_mode():
        between = inner(stack.embedding(tokens) * whole.d_model**0.5)
        expected = TARGETS["without weights"].build(whole, 3)(tokens)
        assert largest_error(model.unembedding(between), expected) < 1e-5
    assert parameters("fused", whole) - parameters("fused", size) == 30 * whole.d_model


@EVERY_KIND
@pytest.mark.parametrize("target", ["without weights", "LSTM"])
def test_one_end_alone_is_the_whole_without_the_other(kind, target):
    """The embedding alone gives what the whole makes its logits from; the output alone makes them from the same."""
    whole, first, last = (
        TARGETS[target].build(sized({**kind, "vocab_size": 30, "ends": ends}, **NUMBERS), 3).eval() for ends in ENDS
    )
    size, tokens = sized({**kind, **BOTH}, **NUMBERS), input_of(sized({**kind, **BOTH}, **NUMBERS))
    table = next(weight for name, weight in whole.named_parameters() if "embedding" in name)
    with torch.inference_mode():
        expected = whole(tokens)
        assert largest_error(first(tokens) @ table.T, expected) < 1e-5
        assert largest_error(last(table[tokens] * size.d_model**0.5), expected) < 1e-5


@EVERY_SIZE
def test_what_computes_the_same_gives_the_same(kind):
    size = sized(kind, **NUMBERS)
    x = input_of(size)
    with torch.inference_mode():
        expected = TARGETS["with weights"].build(size).eval()(x)
        for target in here(size):
            if target not in (*OTHERS, *MASKED):
                assert largest_error(TARGETS[target].build(size).eval()(x), expected) < 1e-5, target


@EVERY_SIZE
def test_gradients_agree_too(kind):
    """The gradient of the input, where it has one; and of a weight, but for torch's encoder, which has others."""
    size = sized(kind, **NUMBERS)
    given, of_weight, of_input = input_of(size), {}, {}
    for target in here(size):
        if target not in (*OTHERS, *MASKED):
            model, x = TARGETS[target].build(size).train(), given.clone().requires_grad_(not size.embeds)
            model(x).sin().sum().backward()
            of_input |= {} if size.embeds else {target: x.grad}
            for layer in [*model.layers()][:1]:
                of_weight[target] = layer.feed_forward.input_projection.weight.grad
    assert len(of_weight) >= 4
    for gradients in filter(None, (of_weight, of_input)):
        expected = gradients["with weights"]
        assert expected.abs().max() > 0.01
        for target, gradient in gradients.items():
            assert largest_error(gradient, expected) < 1e-4 * expected.abs().max(), target


@EVERY_KIND
def test_causal_models_do_not_look_ahead_and_others_do(kind):
    size = sized({**kind, "vocab_size": 0}, **NUMBERS)
    for target in here(size):
        if target in OTHERS or size.num_stacks == 2:  # its decoder sees all of the source
            continue
        model, x = TARGETS[target].build(size).eval(), input_of(size)
        other = x.clone()
        other[:, -1] = -other[:, -1]
        with torch.inference_mode():
            moved = largest_error(model(x)[:, :-1], model(other)[:, :-1])
        assert (moved < 1e-6) == size.looks_back_only, target


@pytest.mark.parametrize("kind", [*KINDS, *PLAIN_KINDS, LARGE], ids=described)
def test_parameters_are_as_many_as_the_module_has(kind):
    size = sized(kind, **NUMBERS)
    for target in possible(size):
        with torch.device("meta"):
            module = TARGETS[target].build(size)
        assert all(tensor.is_meta for tensor in module.parameters())
        assert sum(tensor.numel() for tensor in module.parameters()) == parameters(target, size), target


@given(
    st.fixed_dictionaries(
        {
            "norm": st.sampled_from(NORMS),
            "activation": st.sampled_from(list(ACTIVATIONS)),
            "positional": st.sampled_from(list(POSITIONAL)),
            "architecture": st.sampled_from(ARCHITECTURES),
            "causal": st.booleans(),
            "vocab_size": st.sampled_from((0, 2, 30)),
            "ends": st.sampled_from(list(ENDS)),
            "d_model": st.integers(1, 6).map(lambda pairs: 6 * pairs),
            "num_layers": st.integers(1, 5),
            "d_ff": st.integers(0, 90),
        }
    )
)
def test_parameters_of_any_kind(fields):
    size = Size(**{"num_heads": 3, "seq_len": 5, "batch": 1, **fields})
    for target in ("without weights", *OTHERS):
        with torch.device("meta"):
            module = TARGETS[target].build(size)
        assert sum(tensor.numel() for tensor in module.parameters()) == parameters(target, size), target
    assert eval(repr(size), {"Size": Size}) == size


@pytest.mark.parametrize("target", OTHERS)
@EVERY_KIND
def test_what_is_compared_has_as_many_parameters_and_says_what_it_lacks(target, kind):
    size = sized(kind, **{**NUMBERS, "d_model": 64, "d_ff": 0})
    assert parameters(target, size) == pytest.approx(parameters("fused", size), rel=0.02)
    sentence = TARGETS[target].differs(size)
    assert sentence.startswith("is compared without norms, positions and heads")
    assert ("while the transformer" in sentence) == (size.looks_back_only == (target == "convolution"))


@pytest.mark.parametrize(
    ("numbers", "count"), [((64, 4, 2), 163_968), ((128, 8, 4), 921_088), ((256, 8, 6), 4_994_560)]
)
def test_the_textbooks_totals(numbers, count):
    size = Size(**dict(zip(("d_model", "num_heads", "num_layers"), numbers, strict=True)), seq_len=50, **TEXTBOOK)
    assert parameters("without weights", size) == count
    assert sum(tensor.numel() for tensor in Transformer(config_of(size)).parameters()) == count


@pytest.mark.parametrize(
    ("kind", "lacking"),
    [
        ({}, ()),
        ({"positional": "learned", "causal": True, "norm": "post", "activation": "silu"}, ()),
        (
            {"positional": "rope"},
            ("nn.MultiheadAttention", "nn.MultiheadAttention weights", "nn.TransformerEncoder"),
        ),
        ({"activation": "swiglu"}, ("nn.TransformerEncoder",)),
        ({"architecture": "encoder-decoder"}, ("nn.TransformerEncoder",)),
        (
            {"positional": "t5"},
            (
                "fused flash",
                "fused cudnn",
                "nn.MultiheadAttention",
                "nn.MultiheadAttention weights",
                "nn.TransformerEncoder",
            ),
        ),
    ],
)
def test_what_a_target_has_no_place_for_is_a_sentence_and_it_is_not_built(kind, lacking):
    size = sized(kind, **NUMBERS)
    assert tuple(name for name, target in TARGETS.items() if target.lacks(size)) == lacking
    for name in lacking:
        assert TARGETS[name].lacks(size).endswith(".")
        assert refusal(Row(name, size), Setup()) == TARGETS[name].lacks(size).removesuffix(".")


def test_what_was_written_before_there_were_kinds_is_still_read():
    """Rows were pre-norm stacks with GELU, without positions, causality, embedding and output."""
    report = Report(id="old", plan=Plan((Row("fused", Size(**NUMBERS)),)), machine=NOWHERE)
    whole = json.loads(files.as_json(report))
    for field in ("norm", "activation", "positional", "architecture", "causal", "vocab_size", "ends"):
        del whole["report"]["plan"]["rows"][0]["size"][field]
    assert files.from_json(json.dumps(whole)).plan == report.plan


@EVERY_KIND
def test_every_kind_is_measured_both_ways(kind):
    size = sized(kind, **NUMBERS)
    for target in ("without weights", "LSTM"):  # the input is that of the kind, whatever reads it
        subject = Subject(Row(target, size), Setup())
        assert subject.x.is_floating_point() == (not size.embeds)
        for direction in ("forward", "training"):
            with subject.mode(direction):
                subject.call(direction)()
