"""Steps to take along: the numbers are the model's, every page runs alone, and large ones have a limit."""

import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest
import torch
import torch.nn.functional as F

from tests.taken import FILE, arrays, as_written
from tests.tfm_ui.given_weights import given, softmaxed
from tests.tfm_ui.store.empty import empty_store
from tfm_core import (
    ATTENTION,
    POSITIONAL,
    FeedForward,
    Transformer,
    TransformerConfig,
    TransformerLayer,
    attention_rollout,
    causal_mask,
    recording,
)
from tfm_core.model.feed_forward import ACTIVATIONS
from tfm_core.model.normalization import NORMALIZATIONS
from tfm_ui.live import inside as insides
from tfm_ui.live import passes
from tfm_ui.live.places import PLACES, place
from tfm_ui.live.tensors import live_steps
from tfm_ui.live.tensors.attention import and_aggregate, of_attention, of_heads
from tfm_ui.live.tensors.layers import and_residual, of_network, of_output
from tfm_ui.live.tensors.page import page
from tfm_ui.live.tensors.step import Named, Step, beside, held
from tfm_ui.page import tensors
from tfm_ui.state import array_files
from tfm_ui.state.model_state import ModelState

ARCHITECTURES = ["encoder", "decoder", "encoder-decoder"]
HERE = "attention-lab-head.npz"


def close(left, right):
    np.testing.assert_allclose(np.asarray(left), np.asarray(right), rtol=1e-4, atol=1e-5)


@pytest.mark.crossed(
    architecture=ARCHITECTURES, norm=["pre", "post"], positional=list(POSITIONAL), tokens=[3, 12], layer=[0, 1]
)
def test_an_attention_holds_what_a_recording_holds_and_torchs_kernel_makes_of_it(
    architecture, norm, positional, tokens, layer
):
    state = ModelState(
        architecture=architecture, norm=norm, positional=positional, seq_len=tokens, text="the cat", target="ja so"
    )
    inputs = [state.source_tokens.batch] + [state.target_tokens.batch] * (architecture == "encoder-decoder")
    with torch.no_grad(), recording() as trace:
        passes.transformer(state.config)(*inputs, mask=passes.mask_of(state))
    for kind in PLACES[state.is_encoder_decoder]:
        step = live_steps.attention(state, kind, layer)
        as_written(step)
        taken = {name: torch.from_numpy(numbers) for name, numbers in arrays(step).items()}
        turns = kind != "cross" and "rotate" in POSITIONAL[positional].enters()
        of_site = {"V": "value", "bias": "position_bias", "scaled": "scores"}
        of_site |= {name: name for name in ("weights", "head_output", "output")}
        for name, site in (("Q", "query"), ("K", "key")):
            of_site |= {name: f"rotated_{site}", f"{name}_before_rotation": site} if turns else {name: site}
        for name, what in of_site.items():
            if name in taken:
                recorded = trace[place(state, kind).format(layer=layer, what=what)]
                close(taken[name], recorded[0] if recorded.dim() > taken[name].dim() else recorded)
        bias = torch.where(taken["mask"], 0.0, -torch.inf) + taken.get("bias", torch.zeros(1, 1, 1))
        close(taken["head_output"], F.scaled_dot_product_attention(taken["Q"], taken["K"], taken["V"], attn_mask=bias))
        close(taken["scores"], taken["Q"] @ taken["K"].mT)
        assert ("bias" in taken) == (kind != "cross" and "bias_at" in POSITIONAL[positional].enters())
        assert ("Q_before_rotation" in taken) == turns
        assert ("memory" in taken) == (kind == "cross")
        assert {each.name for each in step.tensors} - {each.name for each in step.computed} == {
            name
            for name in taken
            if name[:2] in ("W_", "b_") or name in ("residual", "memory", "mask", "pairs", "turn", "slopes")
            or name in ("norm_weight", "norm_bias", "bias_table", "buckets") or (name == "X" and norm == "post")
        }  # fmt: skip


@pytest.mark.crossed(
    num_kv_heads=[1, 2, 4],
    normalization=list(NORMALIZATIONS),
    qkv_bias=[True, False],
    output_bias=[True, False],
    rope_pairing=["halves", "neighbours"],
    attention=[name for name, kind in ATTENTION.items() if kind.has_scores],
)
def test_what_others_do_otherwise_is_written_down_too(
    num_kv_heads, normalization, qkv_bias, output_bias, rope_pairing, attention
):
    config = TransformerConfig(
        vocab_size=50,
        architecture="decoder",
        positional="rope",
        num_kv_heads=num_kv_heads,
        normalization=normalization,
        qkv_bias=qkv_bias,
        output_bias=output_bias,
        rope_pairing=rope_pairing,
        attention=attention,
    )
    model, ids = Transformer(config).eval(), torch.arange(1, 8)[None]
    step = of_attention(insides.of_model(model, [ids], layer=1), "one")
    left = as_written(step)
    module = model.stack.layers[1].self_attention
    with torch.no_grad():
        again = module(left["X"][None], mask=left["mask"], positional=model.stack.positional)
    close(left["output"], again[0])
    assert left["W_K"].shape == (8 * num_kv_heads, 32)
    assert ("b_K" in left) == qkv_bias
    assert ("b_O" in left) == output_bias
    assert len([each for each in step.tensors if each.code]) == len(step.computed)


@pytest.mark.crossed(
    scaled=[True, False], masked=[True, False], temperature=[0.5, 1.0, 3.0], positional=["none", "rope", "t5"]
)
def test_switches_of_a_head_are_obeyed(scaled, masked, temperature, positional):
    state = ModelState(architecture="decoder", positional=positional)
    inside = live_steps.inside(state, "self", 0)
    step = of_attention(inside, "one", scaled=scaled, masked=masked, temperature=temperature)
    left = as_written(step)
    mask = causal_mask(state.length) & (state.source_tokens.batch != 0) if masked else torch.tensor(True)
    bias = left.get("bias", torch.zeros(1, 1, 1)) / temperature
    scale = (8**-0.5 if scaled else 1.0) / temperature
    right = F.scaled_dot_product_attention(
        left["Q"], left["K"], left["V"], attn_mask=torch.where(mask, bias, -torch.inf), scale=scale
    )
    close(left["head_output"], right)
    close(left["scaled"], left["Q"] @ left["K"].mT * scale + bias)
    close(left["masked"], torch.where(mask, left["scaled"], -torch.inf))
    assert bool(step.note) == ((scaled, masked, temperature) != (True, True, 1.0))


def test_a_query_without_keys_has_zeros():
    state = ModelState()
    inside = replace(live_steps.inside(state, "self", 0), visible=torch.zeros(state.length, state.length).bool())
    left = as_written(of_attention(inside, "one", temperature=2.0))
    assert not left["weights"].any()
    assert not left["head_output"].any()


@pytest.mark.crossed(positional=list(POSITIONAL), how=["", "mean", "max", "rollout"], causal=[True, False])
def test_all_heads(positional, how, causal):
    state = ModelState(positional=positional, causal=causal)
    heads = passes.run(state).attention["self"]
    step = and_aggregate(of_heads(heads, "all", passes.scheme(state, "self")), heads, how)
    left = as_written(step)
    for layer in range(state.num_layers):
        for head in range(state.num_heads):
            close(left["weights"][layer, head], heads.exact(layer, head))
    for layer in range(state.num_layers if how else 0):
        right = {
            "mean": left["weights"][layer].mean(0),
            "max": left["weights"][layer].amax(0),
            "rollout": attention_rollout(left["weights"][: layer + 1]),
        }
        close(arrays(step)[how][layer], right[how])


def test_weights_out_of_a_file_are_all_that_there_is():
    array_files.forget()
    with empty_store(array_files):
        weights = softmaxed(2, 3, 4, 5, 5)
        step = live_steps.attention(given(weights, item=1), "self", 0)
        taken = arrays(step)
        assert list(taken) == ["weights"]
        np.testing.assert_array_equal(taken["weights"], weights[:, 1])
        assert "file" in step.note
        as_written(step)


@pytest.mark.crossed(activation=list(ACTIVATIONS), bias=[True, False], normalization=list(NORMALIZATIONS))
def test_networks(activation, bias, normalization):
    config = {"activation": activation, "feed_forward_bias": bias, "normalization": normalization}
    layer = TransformerLayer(8, 2, 12, norm="post", **config).eval()
    x = torch.randn(5, 8, generator=torch.Generator().manual_seed(0))
    network = layer.feed_forward
    assert isinstance(network, FeedForward)
    with torch.no_grad():
        sums = x + network(x)
        leaves = layer.feed_forward_norm(sums)
    step = and_residual(of_network(network, x, "one"), "X", layer.feed_forward_norm, sums, leaves, "token")
    left = as_written(step)
    close(left["leaves"], leaves)
    assert not [each.name for each in step.tensors if each.code and each not in step.computed]


@pytest.mark.crossed(norm=["pre", "post"], tied=[True, False], head=["logits", "masked"], temperature=[1.0, 0.3])
def test_the_output(norm, tied, head, temperature):
    config = TransformerConfig(vocab_size=40, norm=norm, tie_embeddings=tied, head=head)
    model, ids = Transformer(config).eval(), torch.arange(1, 8)[None]
    sites = ["layers.1.feed_forward.residual_after", *["final_norm"] * (norm == "pre")]
    with torch.no_grad(), recording([*sites, "logits"]) as trace:
        model(ids)
    vectors = [trace[site][0] for site in sites]
    left = as_written(of_output(model, vectors, trace["logits"][0], "end", temperature))
    close(left["probabilities"], (trace["logits"][0] / temperature).softmax(-1))


def test_two_steps_beside_each_other_keep_their_names_apart():
    states = {name: ModelState(positional=name) for name in ("rope", "alibi")}
    steps = {name: live_steps.attention(state, "self", 0) for name, state in states.items()}
    left = as_written(
        beside("two", steps | {"hot": of_attention(live_steps.inside(ModelState(), "self", 0), "", temperature=2.0)})
    )
    for name, state in states.items():
        close(left[f"output_{name}"], live_steps.inside(state, "self", 0).recorded["output"])
    assert "temperature_hot" in left  # another number than the two before have


@pytest.mark.parametrize("most", [0, 2_000, 9_000, 40_000, 10**9])
def test_what_is_too_large_is_left_out_and_told(most):
    step = replace(live_steps.attention(ModelState(), "self", 0), most=most)
    assert sum(numbers.nbytes for numbers in arrays(step).values()) <= most
    assert [each.name for each in step.tensors] == [
        each.name for each in step.tensors if each in step.kept or each in step.left_out
    ]
    assert all(each.name in step.why_left_out() for each in step.left_out)
    assert bool(step.why_left_out()) == bool(step.left_out)
    left = as_written(step)
    if {"X", "W_Q"} <= left.keys():
        assert "Q" in left  # computed, though the file may have no room for it


def test_where_room_lacks_the_weights_stay_and_what_a_line_makes_again_goes():
    step = live_steps.attention(ModelState(positional="alibi"), "self", 0)
    names = ["bias", "scores", "scaled", "masked"]
    of_pairs = next(each for each in step.tensors if each.name == "weights").size
    small = replace(step, most=sum(each.size for each in step.tensors) - len(names) * of_pairs)
    assert [each.name for each in small.left_out] == names
    assert small.why_left_out().endswith("The page in torch computes them.")
    assert {*names, "weights"} <= as_written(small).keys()


def test_a_long_text_never_computes_what_has_no_room():
    """The longest text and the most heads: matrices of all heads have 67 MB each."""

    def never():
        raise AssertionError("expected nobody to ask for these numbers")

    shape, axes = (16, 1024, 1024), ("head", "query", "key")
    query = torch.randn(16, 1024, 8)
    step = Step(
        "long",
        [
            held("Q", ("head", "query", "head_dim"), query, "queries"),
            Named("scores", axes, shape, "all pairs", never, "Q @ Q.mT"),
            Named("weights", axes, shape, "their softmax", never, "scores.softmax(-1)"),
        ],
        most=60 * 2**20,
    )
    assert list(arrays(step)) == ["Q"]
    assert step.why_left_out().endswith(
        "it leaves out scores (64 MiB) and weights (64 MiB). The page in torch computes them."
    )
    assert [each.name for each in step.computed] == ["scores", "weights"]


def test_numbers_of_another_shape_are_refused():
    with pytest.raises(ValueError, match=r"weights: expected torch.float32 \(2, 3\), got torch.float32 \(3, 2\)"):
        Named("weights", ("query", "key"), (2, 3), "", lambda: torch.zeros(3, 2)).array()
    with pytest.raises(ValueError, match="expected an axis for each"):
        held("weights", ("query",), torch.zeros(3, 2), "")
    with pytest.raises(ValueError, match="expected names that differ"):
        Step("", [held("x", (), torch.tensor(1.0), "")] * 2)


def test_a_page_needs_torch_and_numpy_alone(tmp_path):
    """Run as a student runs it: in a folder without anything of ours, by a Python that does not know where ours is."""
    steps = {
        "rope": live_steps.attention(
            ModelState(positional="rope", num_kv_heads=2) if False else ModelState(positional="rope"), "self", 0
        ),
        "t5": live_steps.heads(ModelState(positional="t5", architecture="decoder"), "self"),
        "cross": live_steps.attention(ModelState(architecture="encoder-decoder"), "cross", 1),
    }
    for name, step in steps.items():
        (tmp_path / f"{name}.npz").write_bytes(step.npz())
        (tmp_path / f"{name}.py").write_text(page(step, f"{name}.npz"), encoding="utf-8")
    runs = "\n".join(f"import {name}" for name in steps)
    ours = "[name for name in sys.modules if name.startswith(('tfm_', 'attention_lab'))]"
    code = f"import sys\nsys.path.insert(0, {str(tmp_path)!r})\n{runs}\nassert not {ours}"
    done = subprocess.run(
        [sys.executable, "-I", "-c", code], cwd=tmp_path, capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("largest difference") == sum(
        each in step.kept for step in steps.values() for each in step.computed
    )


def test_a_page_notices_another_file(tmp_path):
    step = live_steps.attention(ModelState(), "self", 0)
    taken = arrays(step)
    taken["weights"] = taken["weights"] * 1.01
    np.savez(tmp_path / FILE, **taken)
    with pytest.raises(AssertionError, match="weights: differs from the saved one"):
        exec(page(step, FILE), {"__file__": str(tmp_path / "page.py")})


@pytest.mark.parametrize("folder", ["", "a folder of mine"])
def test_a_page_alone_says_which_file_it_wants_where(tmp_path, folder):
    here = tmp_path / folder
    here.mkdir(exist_ok=True)
    (here / "page.py").write_text(page(live_steps.attention(ModelState(), "self", 0), HERE), encoding="utf-8")
    done = subprocess.run(
        [sys.executable, str(here / "page.py")], cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 1
    assert done.stderr == f"Expected the file {HERE} in the folder {here.resolve()}: download it there, too.\n"


def test_a_page_notices_what_is_hidden_elsewhere(tmp_path):
    step = live_steps.attention(ModelState(), "self", 0)
    taken = arrays(step)
    taken["masked"] = np.abs(taken["masked"])  # +inf for -inf
    np.savez(tmp_path / FILE, **taken)
    with pytest.raises(AssertionError, match="masked: differs from the saved one"):
        exec(page(step, FILE), {"__file__": str(tmp_path / "page.py")})


def test_what_strangers_write_stays_text():
    """A title may hold a token or a name that looks like code, or like the end of a docstring."""
    hostile = 'a""" + exit() \\ \' \n import os  """'
    numbers = held("x", ("token",), torch.zeros(2), f"{hostile}\nexit()")
    made = held("y", ("token",), torch.ones(2), hostile, "x + 1")
    step = Step(hostile, [numbers, made], note=hostile)
    assert set(as_written(step)) >= {"x", "y"}
    assert "<b>" not in tensors.table(Step("", [held("x", ("<b>",), torch.zeros(2), "<b>")], note="<b>"))
