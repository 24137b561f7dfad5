"""Checkpoints of which something is wrong, the hub's cache, and files of our own format."""

import json
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file, save_file
from transformers import LlamaForCausalLM

from tests.tfm_core.pretrained.checkpoints import made, saved, tokens
from tfm_core import Transformer
from tfm_core.pretrained import converted, hub, load, read


def changed(folder: Path, **values) -> Path:
    """The folder with other values in its config.json; None removes one."""
    file = folder / "config.json"
    known = json.loads(file.read_text()) | values
    file.write_text(json.dumps({name: value for name, value in known.items() if value is not None}))
    return folder


@pytest.mark.parametrize(
    ("name", "values", "told"),
    [
        ("llama", {"model_type": "mamba"}, r"config.json: model_type: expected one of gpt2, bert"),
        ("llama", {"model_type": None}, "config.json: model_type: expected one of"),
        ("llama", {"hidden_act": "relu6"}, "config.json: hidden_act: expected one of silu, swish; got 'relu6'"),
        ("llama", {"head_dim": 8}, "config.json: head_dim: expected hidden_size / num_attention_heads = 24 / 6; got 8"),
        ("llama", {"num_key_value_heads": 4}, "num_kv_heads: expected 0 or a divisor of num_heads=6, got 4"),
        ("llama", {"num_hidden_layers": 10**9}, "config.json: num_hidden_layers: expected a whole number from 1 to"),
        ("llama", {"num_hidden_layers": 40}, "config.json: num_hidden_layers: expected as many layers as"),
        ("llama", {"num_hidden_layers": 4}, "expected a tensor 'model.layers.3.input_layernorm.weight' for"),
        (
            "llama",
            {"num_hidden_layers": 2},
            "got 'model.layers.2.input_layernorm.weight' and 8 more, which has no place",
        ),
        ("llama", {"hidden_size": 24.0}, "config.json: hidden_size: expected a whole number from 1 to"),
        ("llama", {"hidden_size": None}, "config.json: expected hidden_size, got none"),
        ("llama", {"vocab_size": 60}, r"tensor 'model.embed_tokens.weight': expected \(60, 24\) for .*got \(61, 24\)"),
        ("llama", {"rms_norm_eps": -1}, "config.json: rms_norm_eps: expected a number above 0; got -1"),
        ("llama", {"rope_parameters": {"rope_type": "llama3"}}, "rope_scaling: expected 'default', as frequencies"),
        ("llama", {"rope_parameters": 3}, "config.json: rope_parameters: expected an object; got 3"),
        ("llama", {"attention_bias": "no"}, "config.json: attention_bias: expected true or false; got 'no'"),
        ("gpt2", {"scale_attn_by_inverse_layer_idx": True}, "all layers scale their scores alike; got True"),
        ("gpt2", {"n_head": 5}, "num_heads: expected a divisor of d_model=24, got 5"),
        ("bert", {"position_embedding_type": "relative_key"}, "positions are added to the embeddings"),
        ("bert", {"is_decoder": True}, "an encoder sees all of its text; got True"),
        ("bert", {"type_vocab_size": 3}, r"token_type_embeddings.weight': expected \(3, 24\)"),
    ],
)
def test_a_configuration_that_does_not_fit_is_told_with_what_was_expected_and_what_came(name, values, told, tmp_path):
    folder = changed(saved(made(name), tmp_path), **values)
    with pytest.raises(ValueError, match=told):
        load(folder)


def test_a_tensor_without_a_place_is_named(tmp_path):
    folder = saved(made("bert"), tmp_path)
    tensors = load_file(folder / "model.safetensors")
    save_file(tensors | {"bert.extra.weight": torch.zeros(2)}, folder / "model.safetensors")
    with pytest.raises(ValueError, match=r"got 'bert.extra.weight', which has no place in it"):
        read(folder)


def test_heads_for_other_tasks_are_left_out_and_the_table_says_so(tmp_path):
    table = read(saved(made("bert, both heads"), tmp_path)).table
    left_out = {row.theirs: row.how for row in table if not row.ours}
    assert "left out: the head for next sentences" in left_out.values()


def test_the_first_berts_names_of_norms_are_known(tmp_path):
    theirs = made("bert, pooler")
    folder = saved(theirs, tmp_path)
    tensors = load_file(folder / "model.safetensors")
    old = {"LayerNorm.weight": "LayerNorm.gamma", "LayerNorm.bias": "LayerNorm.beta"}
    renamed = {}
    for name, tensor in tensors.items():
        for new, before in old.items():
            name = name.replace(new, before)
        renamed[name] = tensor
    assert renamed.keys() != tensors.keys()
    save_file(renamed, folder / "model.safetensors")
    with torch.no_grad():
        torch.testing.assert_close(load(folder)(tokens()), theirs(tokens()).last_hidden_state, atol=1e-4, rtol=0)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float64])
def test_other_precisions_become_float32(dtype, tmp_path):
    ours = load(saved(made("llama").to(dtype), tmp_path))
    assert {parameter.dtype for parameter in ours.parameters()} == {torch.float32}
    theirs = LlamaForCausalLM.from_pretrained(tmp_path, dtype=torch.float32, attn_implementation="eager").eval()
    with torch.no_grad():
        torch.testing.assert_close(ours(tokens()), theirs(tokens()).logits, atol=1e-4, rtol=0)


@pytest.mark.parametrize("name", ["gpt2", "llama", "bert", "roberta, pooler"])
def test_a_converted_file_gives_the_same_model(name, tmp_path):
    checkpoint = read(saved(made(name), tmp_path))
    ours = checkpoint.model()
    file = tmp_path / converted.NAME
    converted.write(file, checkpoint.config, checkpoint.parameters(), family=checkpoint.family, about="Made here.")
    for place in (file, tmp_path):  # of the two in the folder, it is the one that is mapped
        again = read(place)
        assert (again.family, again.about, again.config) == (checkpoint.family, "Made here.", checkpoint.config)
        with torch.no_grad():
            torch.testing.assert_close(again.model()(tokens()), ours(tokens()), atol=1e-5, rtol=0)
    assert not list(tmp_path.glob("*.part"))


def test_another_safetensors_file_is_no_converted_one(tmp_path):
    save_file({"x": torch.zeros(2)}, tmp_path / "x.safetensors")
    with pytest.raises(ValueError, match=r"x.safetensors: expected a file of the format .* got None"):
        read(tmp_path / "x.safetensors")


def test_a_model_in_the_hubs_cache_is_there_by_its_name(tmp_path, monkeypatch):
    cache = tmp_path / "hub"
    snapshot = cache / "models--openai-community--gpt2" / "snapshots" / "abc"
    saved(made("gpt2"), snapshot)
    refs = snapshot.parents[1] / "refs"
    refs.mkdir()
    (refs / "main").write_text("abc")
    for name in ("gpt2", "openai-community/gpt2"):
        assert hub.folder_of(name, cache) == snapshot
    (refs / "main").unlink()
    assert hub.folder_of("gpt2", cache) == snapshot  # the newest that is whole
    for name in ("../gpt2", "gpt3", "a/b/c", "", "models--openai-community--gpt2/snapshots/abc"):
        assert hub.folder_of(name, cache) is None
    monkeypatch.setattr(hub, "CACHE", cache)
    assert load("gpt2").config.num_layers == 3
    with pytest.raises(ValueError, match=r"expected a folder with a checkpoint.*got 'gpt3'"):
        load("gpt3")


def test_weights_that_are_handed_over_are_the_models_own_memory(tmp_path):
    checkpoint = read(saved(made("llama"), tmp_path))
    parameters = checkpoint.parameters()
    model = Transformer(checkpoint.config, weights=parameters)
    for name, parameter in model.named_parameters():
        assert parameter.data_ptr() == parameters[name].data_ptr()
