"""Equal to Hugging Face's transformers and to x-transformers, where torch itself has no such part."""

import numpy as np
import pytest
import torch

from tests.tfm_core.toys import TOLERANCE, build, largest_error, random_ids, scramble
from tfm_core import FeedForward, alibi_slopes, apply_rotary, recording, t5_buckets

# x-transformers calls torch.jit.script when it is imported.
pytestmark = pytest.mark.filterwarnings("ignore:`torch.jit.script` is deprecated:DeprecationWarning")

both_dtypes = pytest.mark.parametrize("dtype", TOLERANCE, ids=str)
# Other libraries are imported by the tests that need them: that takes seconds, which every worker would spend.


@both_dtypes
@pytest.mark.parametrize("base", [100.0, 10000.0])
def test_rotary_equals_llama(dtype, base):
    from transformers.models.llama import modeling_llama as llama

    seq, width = 40, 8
    query, key = torch.randn(2, 3, 2, seq, width, dtype=dtype)
    angles = np.arange(seq)[:, None] * base ** (-np.arange(0, width, 2) / width)  # Llama's own are float32
    cos, sin = (torch.tensor(np.tile(wave, 2)).to(dtype)[None] for wave in (np.cos(angles), np.sin(angles)))
    expected_query, expected_key = llama.apply_rotary_pos_emb(query, key, cos, sin)
    assert largest_error(apply_rotary(query, base=base), expected_query) < TOLERANCE[dtype]
    assert largest_error(apply_rotary(key, base=base), expected_key) < TOLERANCE[dtype]


def test_alibi_slopes_equal_bloom():
    from transformers.models.bloom.modeling_bloom import _get_alibi_slopes

    for heads in range(1, 33):
        assert largest_error(alibi_slopes(heads), _get_alibi_slopes(heads, torch.device("cpu"))) < 1e-6, heads


@pytest.mark.parametrize("num_heads", [1, 4, 6, 12])
@pytest.mark.parametrize("architecture", ["encoder", "decoder"])
def test_alibi_bias_equals_x_transformers(num_heads, architecture):
    from x_transformers import x_transformers

    model = build(positional="alibi", num_heads=num_heads, d_model=12, architecture=architecture)
    with recording("*.position_bias") as trace:
        model(random_ids(1, 11))
    expected = x_transformers.AlibiPositionalBias(num_heads)(11, 11)
    assert [largest_error(bias, expected) < 1e-5 for bias in trace.values()] == [True, True]


@pytest.mark.parametrize("bidirectional", [True, False])
@pytest.mark.parametrize(("num_buckets", "max_distance"), [(32, 128), (16, 64), (32, 20), (8, 128)])
def test_t5_buckets_equal_t5(bidirectional, num_buckets, max_distance):
    from transformers.models.t5.modeling_t5 import T5Attention

    distance = torch.arange(-400, 401)
    sizes = {"bidirectional": bidirectional, "num_buckets": num_buckets, "max_distance": max_distance}
    assert torch.equal(t5_buckets(distance, **sizes), T5Attention._relative_position_bucket(distance, **sizes))


@torch.no_grad()
@both_dtypes
def test_swiglu_equals_llama(dtype):
    from transformers.models.llama import modeling_llama as llama

    ours = scramble(FeedForward(8, 20, activation="swiglu"), dtype)
    config = llama.LlamaConfig(hidden_size=8, num_attention_heads=2, intermediate_size=20, mlp_bias=True)
    theirs = llama.LlamaMLP(config).to(dtype)
    for part, name in ((theirs.gate_proj, "gate"), (theirs.up_proj, "input"), (theirs.down_proj, "output")):
        part.load_state_dict(ours.get_submodule(f"{name}_projection").state_dict())
    x = torch.randn(2, 5, 8, dtype=dtype)
    assert largest_error(ours(x), theirs(x)) < TOLERANCE[dtype]
