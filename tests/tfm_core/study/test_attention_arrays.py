"""Attention weights from elsewhere: beside NumPy and transformers' own."""

import io
import json
import zipfile

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from safetensors.torch import save

from tfm_core.study.aggregates import attention_rollout
from tfm_core.study.attention_arrays import AttentionArray, as_attention, read_attention

NUMPY = ["<f2", ">f2", "<f4", ">f4", "<f8", ">f8"]
TORCH = {"float16": torch.float16, "bfloat16": torch.bfloat16, "float32": torch.float32, "float64": torch.float64}


def drawn(*shape, seed=0, causal=False):
    """Weights as softmax gives them, float64."""
    scores = np.random.default_rng(seed).normal(size=shape) * 2
    if causal:
        scores = np.where(np.tri(shape[-1], dtype=bool), scores, -np.inf)
    exps = np.exp(scores)
    return exps / exps.sum(-1, keepdims=True)


def npy(values, **how) -> bytes:
    file = io.BytesIO()
    np.save(file, values, **how)
    return file.getvalue()


def npz(*layers, compressed=False, **named) -> bytes:
    file = io.BytesIO()
    (np.savez_compressed if compressed else np.savez)(file, *layers, **named)
    return file.getvalue()


def archive(method=zipfile.ZIP_DEFLATED, **entries) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", method) as written:
        for name, content in entries.items():
            written.writestr(f"{name}.npy", content)
    return file.getvalue()


def refusal(read, *given) -> str:
    """The sentence that a bad one gets."""
    with pytest.raises(ValueError, match="expected") as problem:
        read(*given)
    assert "got" in str(problem.value)
    assert len(str(problem.value)) < 400
    assert str(problem.value).isprintable()
    return str(problem.value)


def five_axes(values):
    """(layer, batch, head, query, key) by the rules that docstrings tell."""
    for axis in {2: (0, 0, 0), 3: (0, 0), 4: (1,), 5: ()}[values.ndim]:
        values = np.expand_dims(values, axis)
    return values


SHAPES = st.lists(st.integers(1, 3), max_size=3).flatmap(
    lambda first: st.integers(1, 4).map(lambda size: (*first, size, size))
)


# formats


@given(SHAPES, st.sampled_from(NUMPY), st.booleans(), st.booleans(), st.integers(0, 99))
def test_any_shape_and_type_comes_back_from_numpys_files(shape, dtype, fortran, causal, seed):
    values = drawn(*shape, seed=seed, causal=causal).astype(dtype)
    values = np.asfortranarray(values) if fortran else values
    readings = [
        read_attention(npy(values), "x.npy"),
        read_attention(npz(values, compressed=causal), "x.npz"),
        read_attention(npz(attentions=values, other=np.zeros(3)), ""),
        as_attention(values),
        as_attention(values[::-1][::-1]),
    ]
    for attention in readings:
        assert attention.weights.dtype == torch.float32
        np.testing.assert_array_equal(attention.weights.numpy(), five_axes(values).astype("f4"))
        check_facts(attention, five_axes(values))
        assert attention.dtype == f"float{8 * np.dtype(dtype).itemsize}"


@given(SHAPES, st.sampled_from(sorted(TORCH)), st.booleans(), st.integers(0, 99))
def test_any_shape_and_type_comes_back_from_safetensors(shape, dtype, causal, seed):
    values = torch.from_numpy(drawn(*shape, seed=seed, causal=causal)).to(TORCH[dtype])
    for attention in (
        read_attention(save({"x": values}), "x.safetensors"),
        read_attention(save({"weights": values, "b": torch.zeros(3)}), ""),
        as_attention(values),
        as_attention(values.requires_grad_()),
    ):
        expected = five_axes(values.detach().float().numpy())
        np.testing.assert_array_equal(attention.weights.numpy(), expected)
        check_facts(attention, expected)
        assert attention.dtype == dtype
        assert not attention.weights.requires_grad


@given(SHAPES, st.sampled_from(["attentions", "attention", "weights", "attn", ""]), st.booleans(), st.integers(0, 99))
def test_any_shape_comes_back_from_json(shape, name, rounded, seed):
    values = drawn(*shape, seed=seed)
    lists = values.round(4).tolist() if rounded else values.tolist()
    attention = read_attention(json.dumps({name: lists} if name else lists).encode(), "x.json")
    np.testing.assert_array_equal(attention.weights.numpy(), five_axes(np.array(lists)).astype("f4"))
    assert attention.rows_sum_to_1
    np.testing.assert_array_equal(as_attention(lists).weights, attention.weights)


def check_facts(attention: AttentionArray, values):
    """Facts beside loops over all rows."""
    values, off, ahead = values.astype(float), 0.0, False
    for layer in values:
        for sentence in layer:
            for head in sentence:
                for query, row in enumerate(head):
                    off = max(off, abs(1 - sum(row)))
                    ahead |= any(row[query + 1 :])
    assert attention.off == pytest.approx(off, abs=1e-7)
    assert attention.rows_sum_to_1
    assert attention.is_causal == (not ahead)
    assert not attention.looks_transposed
    assert attention.empty_rows == 0


@pytest.mark.parametrize("dtype", [bool, "<i8", ">i2", "u1", "<u2", "<u4", "<u8"])
def test_whole_numbers_are_weights_if_each_row_sums_to_1(dtype):
    onehot = np.eye(4)[[1, 1, 3, 0]].astype(dtype)
    for attention in (read_attention(npy(onehot), "x.npy"), as_attention(onehot), as_attention(onehot.tolist())):
        np.testing.assert_array_equal(attention.weights[0, 0, 0], onehot.astype("f4"))
        assert attention.rows_sum_to_1
        assert any("Masks lens" in note for note in attention.notes)


@pytest.mark.parametrize("dtype", ["bool", "int64", "uint8", "uint16", "float32", "float64"])
def test_a_mask_is_no_weights(dtype):
    for mask in (np.tri(4), np.zeros((4, 4)), np.ones((2, 4, 4))):
        for values in (mask.astype(dtype), torch.from_numpy(mask).to(getattr(torch, dtype))):
            assert "Masks lens" in refusal(as_attention, values)
    counts = refusal(as_attention, np.full((2, 2), 7, "u1"))
    assert "whole numbers, 7 at layer 1, head 1, query 1, key 1" in counts


@pytest.mark.parametrize("write", [npz, lambda **named: save({name: torch.from_numpy(x) for name, x in named.items()})])
def test_layers_by_number(write):
    layers = [drawn(1, 2, 3, 3, seed=layer) for layer in range(12)]
    for form in ("arr_{}", "layer_{}", "model.layers.{}.attn", "2d_{}"):
        named = {form.format(layer): values for layer, values in reversed([*enumerate(layers)])}
        np.testing.assert_array_equal(read_attention(write(**named), "").weights, np.stack(layers).astype("f4"))
        with_ids = read_attention(write(**named, input=np.zeros(2)), "")
        np.testing.assert_array_equal(with_ids.weights, np.stack(layers).astype("f4"))
        assert "“input” is not" in with_ids.notes[0]
    first = {f"layer{layer + 1}": values[0, 0] for layer, values in enumerate(layers)}
    assert read_attention(write(**first), "").weights.shape == (12, 1, 1, 3, 3)
    del first["layer4"]
    assert "without a gap" in refusal(read_attention, write(**first), "")
    assert "expected one array" in refusal(read_attention, write(a=layers[0], b=layers[1]), "")
    assert read_attention(write(layer_0=np.tile(layers[0], (5, 1, 1, 1))), "").weights.shape == (1, 5, 2, 3, 3)


def test_four_axes_are_layers_and_heads_and_a_note_says_so():
    values = drawn(5, 2, 3, 3)
    attention = as_attention(values)
    assert attention.weights.shape == (5, 1, 2, 3, 3)
    assert any("weights[None]" in note for note in attention.notes)
    assert as_attention(values[None]).weights.shape == (1, 5, 2, 3, 3)
    assert as_attention([values]).weights.shape == (1, 5, 2, 3, 3)
    assert not any("weights[None]" in note for note in as_attention([values]).notes)


def test_tokens_from_each_format():
    values, tokens = drawn(1, 2, 3, 3), ["<s>", "naïve\n", "猫"]
    told = [
        read_attention(npz(attentions=values, tokens=np.array(tokens)), ""),
        read_attention(npz(arr_0=values, tokens=np.array(tokens).astype(">U9")), ""),
        read_attention(save({"a": torch.from_numpy(values)}, {"tokens": json.dumps(tokens)}), ""),
        read_attention(json.dumps({"attention": values.tolist(), "tokens": tokens}).encode(), ""),
        read_attention(json.dumps({"attn": values.tolist(), "left_text": tokens, "right_text": tokens}).encode(), ""),
        read_attention(json.dumps({"attention": [{"attn": values.tolist(), "left_text": tokens}]}).encode(), ""),
        as_attention(values, tokens),
        as_attention(values, np.array(tokens)),
        as_attention(values, [tokens]),
    ]  # fmt: skip
    for attention in told:
        assert attention.tokens == (tuple(tokens),)
    batch = np.tile(values[:, None], (1, 2, 1, 1, 1))
    two = [tokens, ["a", "b", "c"]]
    for order in "CF":
        assert read_attention(npz(w=batch, tokens=np.array(two, order=order)), "").tokens[1] == ("a", "b", "c")
    shared = as_attention(batch, tokens)
    assert shared.tokens == (tuple(tokens),) * 2
    assert "2 sentences" in shared.notes[-1]


@pytest.mark.parametrize(
    ("tokens", "says"),
    [
        (["a"], "3 tokens, one for each key; got 1"),
        (["a", "b", 7], "a number as token 3"),
        (["a", "b", None], "nothing"),
        (["a", "b", "c" * 201], "201 in token 3"),
        ([["a", "b", "c"]] * 2, "1 lists; got 2"),
        ([["a", "b", "c"], "abc"], "1 lists; got 2"),
        (["abc", ["a"], "c"], "a list as token 2"),
        ("abc", "the text “abc”"),
        (7, "a number"),
        ({"a": 1}, "an object"),
    ],
)
def test_tokens_that_do_not_fit(tokens, says):
    values = drawn(3, 3)
    assert says in refusal(as_attention, values, tokens)
    content = json.dumps({"weights": values.tolist(), "tokens": tokens}).encode()
    assert says in refusal(read_attention, content, "x.json")
    content = save({"w": torch.from_numpy(values)}, {"tokens": json.dumps(tokens)})
    assert says in refusal(read_attention, content, "x.safetensors")


def test_tokens_that_cannot_be_read():
    values = drawn(2, 2)
    assert "unicode strings" in refusal(read_attention, npz(w=values, tokens=np.array([1, 2])), "")
    assert "at most 65,536 tokens" in refusal(read_attention, npz(w=values, tokens=np.full(2**17, "a")), "")
    assert "JSON list" in refusal(read_attention, save({"w": torch.eye(2)}, {"tokens": "["}), "")
    objects = {"w": npy(values), "tokens": npy(np.array(["a", "b"], object), allow_pickle=True)}
    assert "unicode strings" in refusal(read_attention, archive(**objects), "")
    halves = read_attention(b'{"weights": [[1]], "tokens": ["\\ud83d"]}', "x.json").tokens[0][0]
    assert halves == "\N{REPLACEMENT CHARACTER}"
    other = json.dumps({"attn": values.tolist(), "left_text": ["a", "b"], "right_text": ["c", "d"]})
    assert "cross-attention" in refusal(read_attention, other.encode(), "")


# what transformers hands out


def outputs(kind, attn="eager", **shape):
    import transformers

    sizes = {
        "vocab_size": 50,
        "hidden_size": 24,
        "num_hidden_layers": 3,
        "num_attention_heads": 4,
        "intermediate_size": 16,
    }
    torch.default_generator.manual_seed(1)
    config = getattr(transformers, f"{kind}Config")(**sizes, **shape, attn_implementation=attn, initializer_range=1.0)
    model = getattr(transformers, f"{kind}Model")(config).eval()
    padding = torch.ones(2, 7, dtype=torch.long)
    padding[1, 5:] = 0
    ids = torch.arange(14).view(2, 7)
    with torch.no_grad():
        return model(input_ids=ids, attention_mask=padding, output_attentions=attn == "eager").attentions


@pytest.mark.parametrize(("kind", "more"), [("Bert", {}), ("Llama", {"num_key_value_heads": 2})])
def test_attentions_of_transformers(kind, more):
    attentions = outputs(kind, **more)
    attention = as_attention(attentions, [list("abcdefg"), list("hijklmn")])
    assert attention.weights.shape == (3, 2, 4, 7, 7)
    for layer in range(3):
        np.testing.assert_array_equal(attention.weights[layer], attentions[layer])
    assert attention.is_causal == (kind == "Llama")
    assert attention.rows_sum_to_1
    assert not attention.looks_transposed
    for content in (
        npz(*(layer.numpy() for layer in attentions)),
        npy(torch.stack(attentions).numpy()),
        save({f"layer_{place}": layer for place, layer in enumerate(attentions)}),
        json.dumps([layer.tolist() for layer in attentions]).encode(),
    ):
        np.testing.assert_array_equal(read_attention(content, "").weights, attention.weights)


@pytest.mark.parametrize(("kind", "more"), [("Bert", {}), ("Llama", {"num_key_value_heads": 2})])
def test_rollout_is_the_papers(kind, more):
    weights = as_attention(outputs(kind, **more)).weights
    rollout = attention_rollout(weights)
    for sentence in range(2):
        product = np.eye(7)
        for layer in weights[:, sentence].double().numpy():
            mixed = 0.5 * layer.mean(0) + 0.5 * np.eye(7)
            product = mixed / mixed.sum(-1, keepdims=True) @ product
        np.testing.assert_allclose(rollout[sentence], product, atol=1e-6)


def test_what_transformers_hands_out_without_weights():
    assert "eager" in refusal(as_attention, None)
    assert "eager" in refusal(as_attention, ())
    assert "eager" in refusal(as_attention, (None, None))
    assert "eager" in refusal(as_attention, outputs("Bert", "sdpa"))
    steps = ((torch.eye(2)[None, None],) * 3, (torch.ones(1, 1, 1, 3) / 3,) * 3)
    assert "generate()" in refusal(as_attention, steps)


@pytest.mark.parametrize(
    ("weights", "says"),
    [
        ([torch.eye(2), torch.eye(3)], "3 × 3 of float32 for layer 2"),
        ([torch.eye(2), torch.eye(2).double()], "float64 for layer 2"),
        ([torch.eye(2), 3], "a number among them"),
        ([torch.eye(2)[None, None, None]], "at most (batch, head, query, key)"),
        (torch.eye(2).to_sparse(), "sparse"),
        (torch.empty(2, 2, device="meta"), "meta"),
        (torch.eye(2).to(torch.complex64), "complex64"),
        (torch.eye(2).to(torch.float8_e4m3fn), "float8_e4m3fn"),
        (torch.tensor(1.0), "a single number"),
        (torch.ones(3), "one axis of 3"),
        (torch.ones(1, 1, 1, 1, 1, 1), "2 to 5 axes"),
        (torch.ones(2, 0, 0), "at least one number"),
        (torch.ones(2, 3) / 3, "2 queries and 3 keys: cross-attention"),
        (torch.ones(1).expand(10**9).view(10**4, 10**5), "at most 268,435,456 numbers"),
        ([torch.ones(1).expand(2**20).view(2**10, 2**10)] * 257, "at most 268,435,456 numbers"),
        (np.eye(2).astype(object), "Python objects"),
        (np.eye(2).astype("U3"), "<U3"),
        (np.eye(2).astype("c8"), "c8"),
        (np.zeros((2, 2), [("a", "f4")]), "structured"),
        (np.zeros((2, 2), "M8[s]"), "M8"),
        (np.float32(1), "a single number"),
        ("abc", "the text"),
        (7, "none"),
        ([[1, 0], [1]], "beside one of 2, got one of 1"),
        ([[1, 0], [1, [0]]], "got a list"),
        ([[1, 0], 5], "got a number"),
        ([[1, 0], [1, "x"]], "the text “x”"),
        ([[1, 0], [1, {}]], "an object"),
        ([[1, 0], [1, 10**400]], "beyond float64"),
        ([[10**300, 0], [1, 0]], "expected weights up to 1"),
        ([[]], "at least one number"),
        ([[[[[[1]]]]]], "2 to 5 axes"),
        (range(3), "a range"),
    ],
)
def test_what_is_no_array_of_weights(weights, says):
    assert says in refusal(as_attention, weights)


def test_rows_of_arrays_and_bfloat16_of_numpy():
    np.testing.assert_array_equal(as_attention([[np.float32(0.5), np.float64(0.5)], [0, 1]]).weights[0, 0, 0, 0], 0.5)

    class Bfloat16:
        """What ml_dtypes makes of NumPy's arrays."""

        dtype = type("", (), {"name": "bfloat16", "fields": None, "hasobject": False, "str": "<V2"})()
        shape = (2, 2)
        ndim = 2

        def __array__(self):
            return self

        def tobytes(self):
            return torch.full((2, 2), 0.5).bfloat16().view(torch.uint8).numpy().tobytes()

    attention = as_attention(Bfloat16())
    assert attention.dtype == "bfloat16"
    assert attention.weights.eq(0.5).all()


def test_what_was_read_is_memory_of_its_own():
    values = torch.eye(3)
    attention = as_attention(values)
    values[0, 0] = 9
    assert attention.weights[0, 0, 0, 0, 0] == 1


# what is checked


@pytest.mark.parametrize(
    ("value", "says"), [(-0.25, "−0.25"), (np.nan, "NaN"), (np.inf, "inf"), (-np.inf, "−inf"), (1e13, "1e+13")]
)
def test_what_no_weight_can_be_is_named_with_its_place(value, says):
    values = drawn(2, 3, 4, 5, 5)
    values[1, 2, 3, 0, 4] = value
    for content in (npy(values), json.dumps(values.tolist()).encode()):
        said = refusal(read_attention, content, "")
        assert f"got {says} at layer 2, batch item 3, head 4, query 1, key 5" in said
    values[1, 2, 3, 0] = np.nan
    assert "nothing but −inf" in refusal(as_attention, values)


def test_rows_that_sum_to_something_else():
    values = drawn(2, 3, 4, 4)
    values[1, 2, 3] *= 1.5
    attention = as_attention(values)
    assert not attention.rows_sum_to_1
    assert attention.off == pytest.approx(0.5)
    assert not attention.looks_transposed
    assert any(
        "1 of 24 rows do not sum to 1" in note and "1.5 in layer 2, head 3, query 4" in note for note in attention.notes
    )
    values[1, 2, 3] = [0, 3, 0, 0]
    assert any("1 weight is above 1, the largest 3 at layer 2, head 3, query 4, key 2" in n for n in notes_of(values))
    values[1, 2, 3] = 0
    attention = as_attention(values)
    assert attention.rows_sum_to_1
    assert attention.empty_rows == 1
    assert any("1 of 24 rows sum to 0, the first in layer 2, head 3, query 4" in n for n in notes_of(values))


def notes_of(values):
    return as_attention(values).notes


def test_a_transposed_array_is_told_and_not_turned():
    values = drawn(2, 3, 4, 4, causal=True).swapaxes(-1, -2)
    attention = as_attention(values)
    assert attention.looks_transposed
    assert not attention.rows_sum_to_1
    assert any("it looks transposed" in note for note in attention.notes)
    np.testing.assert_array_equal(attention.weights[:, 0], values.astype("f4"))


@pytest.mark.parametrize("dtype", sorted(TORCH))
@pytest.mark.parametrize("keys", [5, 300])
def test_rounding_is_no_mistake(dtype, keys):
    values = torch.from_numpy(drawn(2, keys, keys)).to(TORCH[dtype])
    assert as_attention(values).rows_sum_to_1
    attention = as_attention(values.float())
    said = any("half precision" in note for note in attention.notes)
    assert said == (not attention.rows_sum_to_1)
    assert not as_attention(values * 1.1).rows_sum_to_1


@given(st.integers(1, 6), st.integers(0, 99), st.booleans())
def test_causal_is_what_is_exactly_0_above_the_diagonal(size, seed, leaks):
    values = drawn(2, size, size, seed=seed, causal=True)
    if leaks and size > 1:
        values[1, 0, 1] = 1e-30
    assert as_attention(values).is_causal == (not leaks or size == 1)


def test_an_array_of_all_layers_and_one_text():
    file = io.BytesIO()
    np.save(file, drawn(2, 1, 3, 6, 6).astype(np.float32))
    attention = read_attention(file.getvalue(), "attentions.npy")
    assert attention.weights.shape == (2, 1, 3, 6, 6)
    assert attention.rows_sum_to_1
