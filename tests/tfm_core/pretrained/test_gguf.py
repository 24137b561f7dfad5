"""GGUF files of Llama's family beside transformers: files that the `gguf` package writes of small random models."""

import struct
from pathlib import Path

import numpy as np
import pytest
import torch
from gguf import GGMLQuantizationType, GGUFWriter
from gguf.quants import quantize

from tests.tfm_core.pretrained.checkpoints import made, tokens
from tfm_core.pretrained import load, read

NAMES = {
    "model.embed_tokens": "token_embd",
    "model.norm": "output_norm",
    "lm_head": "output",
    "input_layernorm": "attn_norm",
    "post_attention_layernorm": "ffn_norm",
    "self_attn.q_proj": "attn_q",
    "self_attn.k_proj": "attn_k",
    "self_attn.v_proj": "attn_v",
    "self_attn.o_proj": "attn_output",
    "mlp.gate_proj": "ffn_gate",
    "mlp.up_proj": "ffn_up",
    "mlp.down_proj": "ffn_down",
}


def neighbours(weight: torch.Tensor, heads: int) -> torch.Tensor:
    """Rows of a projection for pairs of neighbours, from rows for pairs of halves, head by head."""
    rows = weight.view(heads, 2, weight.shape[0] // heads // 2, *weight.shape[1:])
    return rows.transpose(1, 2).reshape(weight.shape)


def written(theirs, path: Path, *, architecture: str = "llama", kind=None, without: str = "", **more) -> Path:
    """A model of transformers as a GGUF file."""
    config = theirs.config
    writer = GGUFWriter(path, architecture)
    writer.add_block_count(config.num_hidden_layers)
    writer.add_context_length(config.max_position_embeddings)
    writer.add_embedding_length(config.hidden_size)
    writer.add_feed_forward_length(config.intermediate_size)
    writer.add_head_count(config.num_attention_heads)
    writer.add_head_count_kv(config.num_key_value_heads)
    writer.add_layer_norm_rms_eps(config.rms_norm_eps)
    writer.add_rope_freq_base(config.rope_parameters["rope_theta"])
    for key, value in more.items():
        writer.add_key_value(key, *value)
    heads = {"q_proj": config.num_attention_heads, "k_proj": config.num_key_value_heads}
    for name, tensor in theirs.state_dict().items():
        if name == "lm_head.weight" and config.tie_word_embeddings:
            continue
        module, _, leaf = name.rpartition(".")
        layer = module.split(".")[2] if ".layers." in module else ""
        inside = module.partition(f"layers.{layer}.")[2] if layer else module
        theirs_name = f"{f'blk.{layer}.' if layer else ''}{NAMES[inside]}.{leaf}"
        if theirs_name == without:
            continue
        projection = module.rpartition(".")[2]
        if architecture == "llama" and projection in heads:
            tensor = neighbours(tensor, heads[projection])
        numbers = tensor.detach().numpy().astype(np.float32)
        if kind is not None and numbers.ndim == 2:
            writer.add_tensor(theirs_name, quantize(numbers, kind), raw_dtype=kind)
        else:
            writer.add_tensor(theirs_name, numbers)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path


@pytest.mark.parametrize(
    ("name", "architecture"),
    [("llama", "llama"), ("llama, tied", "llama"), ("llama, base", "llama"), ("qwen2", "qwen2")],
)
def test_a_file_gives_the_logits_of_transformers(name, architecture, tmp_path):
    theirs = made(name)
    ours = load(written(theirs, tmp_path / "model.gguf", architecture=architecture))
    ids = tokens()
    with torch.no_grad():
        torch.testing.assert_close(ours(ids), theirs(ids).logits, atol=1e-4, rtol=0)
    assert ours.config.rope_pairing == {"llama": "neighbours", "qwen2": "halves"}[architecture]
    assert ours.config.tie_embeddings == theirs.config.tie_word_embeddings
    assert ours.config.norm_eps == theirs.config.rms_norm_eps  # as it was written down, and not its float32


@pytest.mark.parametrize("kind", [GGMLQuantizationType.F16, GGMLQuantizationType.BF16, GGMLQuantizationType.Q8_0])
def test_quantised_numbers_are_those_that_the_package_gives_back(kind, tmp_path):
    theirs = made("llama", hidden_size=64, intermediate_size=96, num_attention_heads=4)
    checkpoint = read(written(theirs, tmp_path / "model.gguf", kind=kind))
    assert f" of {kind.name}" in checkpoint.about
    exact = theirs.model.layers[0].mlp.up_proj.weight.detach()
    got = checkpoint.parameters()["stack.layers.0.feed_forward.input_projection.weight"]
    assert got.dtype == torch.float32
    off = float((got - exact).abs().max())
    assert 0 < off < float(exact.abs().max()) / 50


def test_the_other_pairing_gives_another_model_in_silence(tmp_path):
    theirs = made("llama")
    ours = load(written(theirs, tmp_path / "model.gguf"))
    wrong = load(written(theirs, tmp_path / "wrong.gguf", architecture="qwen2", without=""))
    ids = tokens()
    with torch.no_grad():
        right = theirs(ids).logits
        torch.testing.assert_close(ours(ids), right, atol=1e-4, rtol=0)
        torch.testing.assert_close(wrong(ids), right, atol=1e-4, rtol=0)  # stored for halves, and read so


def test_a_tensor_that_is_missing_is_named(tmp_path):
    path = written(made("llama"), tmp_path / "model.gguf", without="blk.1.ffn_up.weight")
    with pytest.raises(ValueError, match=r"model.gguf: expected a tensor 'blk.1.ffn_up.weight' for .*got none"):
        read(path)


def test_another_family_is_refused_with_those_that_are_known(tmp_path):
    writer = GGUFWriter(tmp_path / "model.gguf", "gemma3")
    writer.add_block_count(1)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.close()
    with pytest.raises(ValueError, match=r"general.architecture: expected one of llama, qwen2; got 'gemma3'"):
        read(tmp_path / "model.gguf")


@pytest.mark.parametrize("share", [0, 4, 30, 200, 2000, -1])
def test_a_file_that_is_cut_off_is_an_error_with_its_name(share, tmp_path):
    whole = written(made("llama"), tmp_path / "model.gguf").read_bytes()
    cut = tmp_path / "cut.gguf"
    cut.write_bytes(whole[:share])
    with pytest.raises(ValueError, match=r"cut\.gguf: expected"):
        read(cut).parameters()


def field(name: bytes, kind: int, value: bytes) -> bytes:
    return struct.pack("<Q", len(name)) + name + struct.pack("<I", kind) + value


HUGE = struct.pack("<Q", 2**60)
HOSTILE = {
    "no GGUF": b"GGML" + bytes(40),
    "another version": b"GGUF" + struct.pack("<IQQ", 9, 0, 0),
    "a number of tensors beyond all": b"GGUF" + struct.pack("<IQQ", 3, 2**60, 0),
    "a number of fields beyond all": b"GGUF" + struct.pack("<IQQ", 3, 0, 2**60),
    "a name that never ends": b"GGUF" + struct.pack("<IQQ", 3, 0, 1) + HUGE,
    "a text that never ends": b"GGUF" + struct.pack("<IQQ", 3, 0, 1) + field(b"a", 8, HUGE),
    "a list of numbers beyond all": b"GGUF"
    + struct.pack("<IQQ", 3, 0, 1)
    + field(b"a", 9, struct.pack("<I", 4) + HUGE),
    "a list of texts beyond all": b"GGUF" + struct.pack("<IQQ", 3, 0, 1) + field(b"a", 9, struct.pack("<I", 8) + HUGE),
    "lists in a list": b"GGUF" + struct.pack("<IQQ", 3, 0, 1) + field(b"a", 9, struct.pack("<IQ", 9, 3) + bytes(99)),
    "a type that there is not": b"GGUF" + struct.pack("<IQQ", 3, 0, 1) + field(b"a", 77, bytes(9)),
    "a tensor of many axes": b"GGUF" + struct.pack("<IQQQ", 3, 1, 0, 1) + b"a" + struct.pack("<I", 2**31),
    "a tensor of terabytes": b"GGUF"
    + struct.pack("<IQQQ", 3, 1, 0, 1)
    + b"a"
    + struct.pack("<IQQIQ", 2, 2**30, 2**30, 0, 0),
}


@pytest.mark.parametrize("content", HOSTILE.values(), ids=HOSTILE)
def test_a_header_that_promises_more_than_the_file_holds_is_refused_at_once(content, tmp_path):
    (tmp_path / "bad.gguf").write_bytes(content)
    with pytest.raises(ValueError, match=r"bad\.gguf: expected"):
        read(tmp_path / "bad.gguf")
