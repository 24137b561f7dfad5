"""Each family's checkpoints beside transformers: logits, each layer's attention, padding, the cache, the pooler."""

import pytest
import torch
from torch import Tensor
from transformers import PreTrainedModel

from tests.tfm_core.pretrained.checkpoints import ENCODERS, MADE, made, saved, tokens
from tfm_core import KeyValueCache, Transformer, generate, recording
from tfm_core.generation.lean import LeanDecoder
from tfm_core.generation.sampling import Sampling
from tfm_core.pretrained import load, read
from tfm_core.profiling.closed_forms import transformer_parameters
from tfm_core.profiling.size import OF_CONFIG, Size
from tfm_core.study.blocks import stack_blocks
from tfm_core.study.counting import block_parameters

LOGITS, WEIGHTS = 1e-4, 1e-5  # largest differences
DECODERS = [name for name in MADE if not name.startswith(ENCODERS) and "no head" not in name]


@pytest.fixture(scope="module", params=MADE)
def both(request, tmp_path_factory) -> tuple[str, PreTrainedModel, Transformer]:
    theirs = made(request.param)
    return request.param, theirs, load(saved(theirs, tmp_path_factory.mktemp("checkpoint")))


def of_theirs(theirs: PreTrainedModel, ids: Tensor, **more) -> tuple[Tensor, list[Tensor]]:
    """Logits, or without a head the last hidden states, and each layer's attention."""
    with torch.no_grad():
        out = theirs(input_ids=ids, output_attentions=True, output_hidden_states=True, **more)
    if "classifier" in type(theirs).__name__.lower() or "classification" in type(theirs).__name__.lower():
        return out.hidden_states[-1], list(out.attentions)
    logits = out.get("prediction_logits", out.get("logits", out.get("last_hidden_state")))
    return logits, list(out.attentions)


def of_ours(ours: Transformer, ids: Tensor, **more) -> tuple[Tensor, list[Tensor]]:
    with torch.no_grad(), recording("*.self_attention.weights") as trace:
        out = ours(ids, **more)
    return out, list(trace.values())


def check(ours: tuple[Tensor, list[Tensor]], theirs: tuple[Tensor, list[Tensor]], rows: Tensor | None = None) -> None:
    """Compare; `rows` (batch, seq) says which tokens are read: what padding itself gives means nothing."""
    keep = torch.ones(ours[0].shape[:2], dtype=torch.bool) if rows is None else rows
    torch.testing.assert_close(ours[0][keep], theirs[0][keep], atol=LOGITS, rtol=0)
    assert len(ours[1]) == len(theirs[1]) > 0
    for here, there in zip(ours[1], theirs[1], strict=True):
        torch.testing.assert_close(here.transpose(1, 2)[keep], there.transpose(1, 2)[keep], atol=WEIGHTS, rtol=0)


def test_logits_and_attention_are_those_of_transformers(both):
    _, theirs, ours = both
    ids = tokens()
    check(of_ours(ours, ids), of_theirs(theirs, ids))
    assert not ours.training


@pytest.mark.parametrize("side", ["left", "right"])
def test_padding_on_either_side_makes_no_difference_but_where_it_does_in_transformers(both, side):
    name, theirs, ours = both
    pad = ours.config.pad_id if ours.config.pad_id >= 0 else 3
    ids = tokens()
    hidden = slice(0, 4) if side == "left" else slice(-4, None)
    ids[1, hidden] = pad
    is_read = torch.ones_like(ids)
    is_read[1, hidden] = 0
    more = {} if name.startswith(ENCODERS) else {"mask": is_read.bool()[:, None, None]}
    check(of_ours(ours, ids, **more), of_theirs(theirs, ids, attention_mask=is_read), is_read.bool())


def test_types_of_tokens_are_those_of_transformers(both):
    _, theirs, ours = both
    if ours.config.num_token_types < 2:
        with pytest.raises(ValueError, match="token_types: expected"):
            ours(tokens(), token_types=torch.full((2, 12), 1))
        return
    types = (torch.arange(12) >= 6).long().expand(2, -1)
    check(of_ours(ours, tokens(), token_types=types), of_theirs(theirs, tokens(), token_type_ids=types))


def test_what_bert_pools_is_a_dense_layer_and_a_tanh_of_the_first_token(both):
    _, theirs, ours = both
    if not ours.config.pooler:
        with pytest.raises(ValueError, match="a model with a pooler"):
            ours.pooled(torch.zeros(1, 2, ours.config.d_model))
        return
    bare = getattr(theirs, theirs.base_model_prefix, theirs)
    with torch.no_grad():
        expected = bare(input_ids=tokens())
        states = ours.states(tokens())
        torch.testing.assert_close(states, expected.last_hidden_state, atol=LOGITS, rtol=0)
        torch.testing.assert_close(ours.pooled(states), expected.pooler_output, atol=LOGITS, rtol=0)
    assert not torch.allclose(ours.pooled(states), states[:, 0], atol=0.01)


def test_each_parameter_is_counted_by_modules_by_blocks_and_by_the_closed_form(both):
    _, theirs, ours = both
    config = ours.config
    counted = sum(parameter.numel() for parameter in ours.parameters())
    assert sum(block_parameters(config).values()) == counted
    (blocks,) = stack_blocks(config).values()
    assert sum(block.parameters for block in blocks) == counted
    ends = "embedding" if config.head == "none" else "both"
    size = Size(
        **{field: getattr(config, field) for field in OF_CONFIG},
        vocab_size=config.vocab_size,
        seq_len=2,
        ends=ends,
        head=config.head,
    )
    assert sum(transformer_parameters(size).values()) == counted
    heads = ("classifier.", "score.", "cls.seq_relationship.")  # of other tasks: they are left out
    of_theirs = {name: x for name, x in theirs.named_parameters() if not name.startswith(heads)}
    assert counted == sum(parameter.numel() for parameter in of_theirs.values())


def test_a_recording_names_its_sites_as_ever_and_heads_share_keys(both):
    _, _, ours = both
    config = ours.config
    with torch.no_grad(), recording() as trace:
        ours(tokens())
    for layer in range(config.num_layers):
        site = f"layers.{layer}.self_attention"
        assert trace[f"{site}.query"].shape == (2, config.num_heads, 12, config.head_dim)
        assert trace[f"{site}.key"].shape == (2, config.kv_heads, 12, config.head_dim)
        assert trace[f"{site}.weights"].shape == (2, config.num_heads, 12, 12)
    for block in next(iter(stack_blocks(config).values())):
        for site in (*block.reads, *block.writes):
            assert site in trace or block.kind == "pooler"


@pytest.mark.parametrize("name", DECODERS)
def test_a_cache_gives_what_a_whole_pass_gives_and_what_transformers_writes(name, tmp_path):
    theirs = made(name)
    ours = load(saved(theirs, tmp_path))
    ids = tokens(batch=1)
    cache = KeyValueCache(ours.config)
    with torch.no_grad():
        parts = [ours(ids[:, :5], cache=cache), *(ours(ids[:, at : at + 1], cache=cache) for at in range(5, 12))]
        torch.testing.assert_close(torch.cat(parts, 1), theirs(ids).logits, atol=LOGITS, rtol=0)
        assert cache.nbytes == KeyValueCache.memory_of(ours.config, 12)
        assert cache.keys(0).shape == (1, ours.config.kv_heads, 12, ours.config.head_dim)
        lean, fresh = LeanDecoder(ours), KeyValueCache(ours.config)
        if lean.can(5, fresh):
            one_by_one = torch.stack([lean(int(token), fresh) for token in ids[0]])
            torch.testing.assert_close(one_by_one, theirs(ids).logits[0], atol=LOGITS, rtol=0)
        else:
            assert ours.config.sliding_window
    expected = theirs.generate(ids, max_new_tokens=8, do_sample=False, eos_token_id=None, pad_token_id=3)
    written = [step.token for step in generate(ours, ids[0].tolist(), steps=8, sampling=Sampling(greedy=True))]
    assert written == expected[0, 12:].tolist()


def test_the_table_says_of_each_tensor_where_it_went(both, tmp_path):
    name, theirs, _ = both
    checkpoint = read(saved(theirs, tmp_path))
    tied = set(theirs.all_tied_weights_keys or ()) if hasattr(theirs, "all_tied_weights_keys") else set()
    assert {row.theirs for row in checkpoint.table} >= set(theirs.state_dict()) - tied - {
        "bert.embeddings.position_ids"
    }
    assert {row.ours for row in checkpoint.table} - {""} == set(checkpoint.places)
    assert all(row.how.startswith("left out") for row in checkpoint.table if not row.ours)
    assert checkpoint.family.lower().replace("-", "").startswith(name.split(",")[0])
