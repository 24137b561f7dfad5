"""What the library refuses: always a ValueError that says what was expected and what came.

A text of a table has the parts of the sentence, in their order, with … between them.
"""

import math
import re
from collections.abc import Callable, Sequence

import pytest
import torch
from torch import Tensor, nn

from tests.tfm_core.generation.writing import PROMPT, decoder, written
from tests.tfm_core.profiling.test_kinds import NUMBERS
from tests.tfm_core.toys import VOCAB, build, random_ids, shared, tiny
from tfm_core import (
    ATTENTION,
    Course,
    FeedForward,
    KeyValueCache,
    MultiHeadAttention,
    Sampling,
    SequenceClassifier,
    TransformerLayer,
    alibi_slopes,
    apply_rotary,
    attention_costs,
    beam_search,
    causal_mask,
    combine_masks,
    cross_mask,
    document_mask,
    draw,
    either_mask,
    encode,
    generate,
    global_mask,
    gradient_by_distance,
    hops,
    influence,
    next_token,
    padding_mask,
    prefix_mask,
    recording,
    scale_experiment,
    scaled_dot_product_attention,
    sinusoidal_encoding,
    strided_mask,
    surprise,
    t5_buckets,
    to_additive,
    to_gpt2,
    to_ignore,
    window_mask,
)
from tfm_core.generation.costs import pass_flops
from tfm_core.model.encoder_twin import as_torch_encoder
from tfm_core.model.linear_attention import linear_attention
from tfm_core.profiling import Size
from tfm_core.study.aggregates import attention_rollout
from tfm_core.study.closest_rows import closest
from tfm_core.study.contribution import contribution_norms
from tfm_core.study.depth import parameter_gradients, signals_by_depth
from tfm_core.study.interventions import set_weight, silence_head, zero_value
from tfm_core.study.leaks import replacements
from tfm_core.study.position_laws import shift_error
from tfm_core.study.recurrences import recurrences
from tfm_core.study.tiling import tiles
from tfm_core.training.baselines import baselines
from tfm_core.training.config import of_task

Calls = Sequence[tuple[Callable[[], object], str]]

X, IDS = torch.zeros(2, 3, 8), random_ids(2, 4)
EYE, FLAT = torch.eye(3, dtype=torch.bool), torch.zeros(1, 3, 8, dtype=torch.float64)
BOTH = {"architecture": "encoder-decoder"}
WEIGHTS = "layers.1.self_attention.weights"
WITHOUT_CACHE = [name for name, kind in ATTENTION.items() if not kind.has_cache]


def attend(*inputs: Tensor, mask: Tensor | None = None) -> Tensor:
    return MultiHeadAttention(8, 2)(*inputs, mask=mask)


def attended(*shapes: tuple[int, ...], mask: Tensor | None = None) -> object:
    """What the function gathers of a query, a key and a value of these shapes."""
    return scaled_dot_product_attention(*map(torch.zeros, shapes), mask)


def tiled(*shapes: tuple[int, ...], rows: int = 1) -> object:
    return list(tiles(*map(torch.zeros, shapes), rows=rows, columns=1))


def translated(source: Tensor = IDS, target: Tensor | None = None, **masks: Tensor) -> Tensor:
    return shared(**BOTH)(source, target, **masks)


def encoded(*inputs: object, **more: object) -> Tensor:
    return shared()(*inputs, **more)


def layer(**changes: object) -> TransformerLayer:
    return TransformerLayer(**{"d_model": 8, "num_heads": 2, "d_ff": 12, **changes})


def edited(site: str, edit: object) -> None:
    """A pass of the model with this edit of a site of its second self-attention."""
    with torch.no_grad(), recording(edits={f"layers.1.self_attention.{site}": edit}):
        shared()(random_ids(2, 6))


def stored(count: int, *, batch: int = 2) -> KeyValueCache:
    """What a decoder whose positions are learned has stored of so many tokens of each text."""
    cache = KeyValueCache(tiny(architecture="decoder", positional="learned"))
    with torch.no_grad():
        decoder(positional="learned")(random_ids(batch, count), cache=cache)
    return cache


def learned_on(count: int, *, batch: int = 2, mask: Tensor | None = None) -> Tensor:
    """Logits of so many tokens behind 40 that are stored."""
    return decoder(positional="learned")(random_ids(batch, count), mask=mask, cache=stored(40))


def attended_from(kind: str) -> Tensor:
    """An attention of this kind behind three stored keys, whatever it makes of stored keys."""
    cache = KeyValueCache(tiny(architecture="decoder"))
    cache.layers[0].append(torch.ones(1, 4, 3, 4), torch.ones(1, 4, 3, 4))
    return ATTENTION[kind](16, 4)(torch.ones(1, 2, 16), stored=cache.layers[0])


def wrote(**changes: object) -> object:
    return generate(**{"model": decoder(), "prompt_ids": PROMPT, "steps": 3, **changes})


def course() -> Course:
    return written(decoder(), steps=2)


def searched(**changes: object) -> object:
    return beam_search(**{"model": decoder(), "prompt_ids": PROMPT, "width": 2, "steps": 3, **changes})


ATTENTIONS: Calls = [
    (lambda: MultiHeadAttention(8, 3), "d_model=8 … 3"),
    (lambda: MultiHeadAttention(8, 0), "num_heads … 0"),
    (lambda: attend(X[0]), "query … (batch, seq, d_model=8) … (3, 8)"),
    (lambda: attend(X[..., :7]), "query … d_model=8 … (2, 3, 7)"),
    (lambda: attend(X, X[..., :7]), "key … d_model=8 … (2, 3, 7)"),
    (lambda: attend(X[:, :0]), "non-empty … (2, 0, 8)"),
    (lambda: attend(X[:0]), "non-empty … (0, 3, 8)"),
    (lambda: attend(X, X[:1]), "one batch … (2, 3, 8) … (1, 3, 8)"),
    (lambda: attend(X, X, X[:, :2]), "one length … (2, 2, 8)"),
    (lambda: attend(X, mask=torch.ones(3, 3)), "torch.bool … torch.float32"),
    (lambda: attend(X, mask=causal_mask(4)), "(2, 2, 3, 3) … (4, 4)"),
    (lambda: attend(X, mask=causal_mask(3)[(None,) * 3]), "(2, 2, 3, 3) … (1, 1, 1, 3, 3)"),
    (lambda: attend(X, mask=causal_mask(3, 2)), "(2, 2, 3, 3) … (3, 2)"),
    (lambda: attended((3, 4), (5, 6), (5, 4)), "expected query … got ("),
    (lambda: attended((3, 4), (5, 4), (6, 4)), "expected query … got ("),
    (lambda: attended((3, 4), (0, 4), (0, 4)), "expected query … got ("),
    (lambda: attended((4,), (5, 4), (5, 4)), "expected query … got ("),
    (lambda: attended((2, 3, 4), (5, 5, 4), (5, 5, 4)), "expected query … got ("),
    (lambda: attended((2, 3, 4), (2, 5, 4), (2, 5, 4), mask=torch.ones(3, 5)), "torch.bool"),
    (lambda: attended((2, 3, 4), (2, 5, 4), (2, 5, 4), mask=causal_mask(3, 4)), "(2, 3, 5), got (3, 4)"),
    *(
        (
            lambda mask=mask: ATTENTION["linear"](8, 2)(X[:1], mask=mask),
            "linear attention: … a mask … got another … (3, 3)",
        )
        for mask in (EYE, ~causal_mask(3), causal_mask(3, diagonal=1))
    ),
    (lambda: tiny(positional="alibi", attention="linear"), "positional='alibi' adds a bias; got 'linear'"),
    (lambda: tiny(positional="t5", attention="linear"), "positional='t5' adds a bias; got 'linear'"),
    (lambda: linear_attention(X, X[:, :2], X[:, :2], causal=True), "as many keys as queries, got 3 and 2"),
    (lambda: linear_attention(X, X, X, visible=torch.ones(3)), "boolean tensor … got torch.float32"),
    (lambda: tiled((3, 4), (3, 5), (3, 4)), "expected query (query, head_dim) … (3, 5)"),
    (lambda: tiled((1, 3, 4), (3, 4), (3, 4)), "got (1, 3, 4)"),
    (lambda: tiled((3, 4), (3, 4), (2, 4)), "got … (2, 4)"),
    (lambda: tiled((3, 4), (3, 4), (3, 4), rows=0), "at least one row and one column, got 0 and 1"),
    (lambda: attention_costs("half", 3, d_model=8, num_heads=2), "attention … 'half'"),
]

MODELS: Calls = [
    (lambda: encoded(IDS + VOCAB), f"source … vocab_size=23 … {int(IDS.max()) + VOCAB}"),
    (lambda: encoded(IDS * 0 - 1), "source … vocab_size=23 … -1"),
    (lambda: encoded([[1, 2]]), "source … tensor … list"),
    (lambda: encoded(IDS.float()), "source … int64 … torch.float32"),
    (lambda: encoded(IDS > 3), "source … int64 … torch.bool"),
    (lambda: encoded(IDS[0]), "source … (batch, seq) … (4,)"),
    (lambda: encoded(IDS[None]), "source … (batch, seq) … (1, 2, 4)"),
    (lambda: encoded(IDS[:, :0]), "source … (2, 0)"),
    (lambda: encoded(IDS[:0]), "source … (0, 4)"),
    (lambda: build(positional="learned", max_len=3)(IDS), "max_len=3 … 4"),
    (lambda: build(positional="learned", max_len=3, **BOTH)(IDS[:, :2], IDS), "max_len=3 … 4"),
    (lambda: translated(), "model(source, target) … no target"),
    (lambda: encoded(IDS, IDS), "model(tokens) … 'encoder' … target"),
    (lambda: decoder()(IDS, IDS), "model(tokens) … 'decoder'"),
    (lambda: encoded(IDS, cross_mask=causal_mask(4)), "model(tokens) … cross_mask"),
    (lambda: translated(target=IDS + VOCAB), "target … vocab_size=23"),
    (lambda: translated(target=IDS.double()), "target … int64 … torch.float64"),
    (lambda: translated(target=IDS[:, :0]), "target … (2, 0)"),
    (lambda: translated(target=IDS[:1]), "one batch size … 2 and 1"),
    (lambda: encoded(IDS, mask=[[True]]), "mask … torch.bool … list"),
    (lambda: encoded(IDS, mask=torch.ones(4, 4).long()), "mask … torch.bool … torch.int64"),
    (lambda: encoded(IDS, mask=causal_mask(3)), "mask … (2, 4, 4, 4) … (3, 3)"),
    (lambda: translated(target=IDS[:, :3], mask=causal_mask(4)), "mask … (2, 4, 3, 3) … (4, 4)"),
    (lambda: translated(target=IDS[:, :3], cross_mask=causal_mask(4, 3)), "cross_mask … (2, 4, 3, 4) … (4, 3)"),
    (lambda: translated(target=IDS, cross_mask=torch.ones(4, 4)), "cross_mask … torch.bool … torch.float32"),
    (lambda: FeedForward(8, 0), "at least 1 … 8 and 0"),
    (lambda: FeedForward(8, 12, activation="tanh"), "activation … relu, gelu … 'tanh'"),
    (lambda: layer(norm="both"), "norm … pre, post … 'both'"),
    (lambda: layer(attention="half"), "attention … full … 'half'"),
    (lambda: layer()(X, memory=X), "no cross-attention … (2, 3, 8)"),
    (lambda: layer(cross_attention=True)(X), "memory … None"),
    (lambda: SequenceClassifier(tiny(), 3, "last"), "pooling: expected one of mean, first; got 'last'"),
    (lambda: SequenceClassifier(tiny(**BOTH), 3), "got 'encoder-decoder' and 3"),
    (lambda: SequenceClassifier(tiny(), 0), "got 'encoder' and 0"),
    *(
        (lambda layers=layers: as_torch_encoder(layers, nn.LayerNorm(8)), "without a gate")
        for layers in ([], [layer(activation="swiglu")], [layer(cross_attention=True)])
    ),
    (lambda: tiny(num_heads=3), "num_heads … divisor of d_model=16 … 3"),
    (lambda: tiny(num_heads=32), "num_heads … divisor of d_model=16 … 32"),
    (lambda: tiny(positional="rope", d_model=12), "rope … even … 12 / 4 = 3"),
    (lambda: tiny(positional="rope", num_heads=16), "rope … even … 16 / 16 = 1"),
    (lambda: tiny(pad_id=23), "pad_id … below vocab_size=23 … 23"),
    (lambda: tiny(dropout=1.0), "dropout … 0 to below 1 … 1.0"),
    *((lambda share=share: tiny(dropout=share), f"dropout … {share!r}") for share in (-0.1, math.nan, True, "0.1")),
    (lambda: tiny(tie_embeddings=1), "tie_embeddings … True or False … 1"),
    (lambda: encode("a", "bpe"), "word, character, byte … 'bpe'"),
    (lambda: encode("a", ["word"]), "word, character, byte … ['word']"),
    (lambda: encode("a", seq_len=2.5), "seq_len … whole number … 2.5"),
    (lambda: encode("a", seq_len=0), "seq_len … at least 1 … 0"),
    (lambda: encode("a", seq_len=-3), "seq_len … at least 1 … -3"),
]

POSITIONS: Calls = [
    (lambda: sinusoidal_encoding(0, 4), "seq_len >= 1 … 0, 4"),
    (lambda: apply_rotary(torch.ones(4, 3)), "even width … (4, 3)"),
    (lambda: apply_rotary(torch.ones(4, 2).long()), "floats … torch.int64"),
    (lambda: apply_rotary(torch.ones(4, 2), torch.arange(5)), "positions of 4 places … (5,)"),
    (lambda: alibi_slopes(0), "at least 1 head … 0"),
    (lambda: t5_buckets(torch.arange(3), bidirectional=True, num_buckets=2), "2 buckets … got 1 a side"),
    (lambda: shift_error(sinusoidal_encoding(60, 16), 60), "expected 0 to 59, within the table, got 60"),
    (lambda: closest(torch.ones(1, 4)), "expected 2 rows or more, got 1"),
]

MASKS: Calls = [
    (lambda: window_mask(3, window=0), "window: expected at least 1, got 0"),
    (lambda: strided_mask(3, stride=-1), "stride: expected at least 1, got -1"),
    (lambda: global_mask(3, tokens=(1, -2)), "tokens: expected at least 0, got -2"),
    (lambda: prefix_mask(3, prefix=-1), "prefix: expected at least 0, got -1"),
    (lambda: document_mask(3, lengths=(2, 0)), "lengths: expected at least 1, got 0"),
    (lambda: window_mask(0, window=1), "query_len: expected at least 1, got 0"),
    (lambda: window_mask(2, 0, window=1), "key_len: expected at least 1, got 0"),
    (lambda: cross_mask(torch.ones(2, 3), torch.ones(3, 3)), "one batch size, got 2 and 3"),
    (lambda: causal_mask(0), "expected lengths of at least 1, got query_len=0"),
    (lambda: causal_mask(3, 0), "expected lengths of at least 1, got … key_len=0"),
    (lambda: padding_mask(torch.tensor([1, 0])), "expected … (batch, key) … (2,)"),
    (lambda: combine_masks(causal_mask(2).float()), "expected … torch.bool … torch.float32"),
    (lambda: to_additive(torch.ones(2)), "expected … torch.bool … torch.float32"),
    (lambda: to_ignore(torch.ones(2, dtype=torch.int64)), "expected … torch.bool … torch.int64"),
    *(
        refusal
        for combine in (combine_masks, either_mask)
        for refusal in (
            (lambda combine=combine: combine(EYE[:2], EYE[0, :2]), f"{combine.__name__}: … broadcast … (2, 3), (2,)"),
            (lambda combine=combine: combine(torch.ones(3), EYE[0]), "dtype torch.bool"),
        )
    ),
    (lambda: hops(EYE[:2], 1), "expected a square mask and a layer or more, got (2, 3) and 1"),
    (lambda: hops(EYE, 0), "and 0"),
    (lambda: hops(EYE, 1, cross=causal_mask(2, 4)), "got (3, 3), (2, 4) and (4, 4)"),
]

EDITS: Calls = [
    *(
        (lambda edit=edit: edited("weights", edit), f"{WEIGHTS} … (2, 4, 6, 6), torch.float32 … {got}")
        for edit, got in (
            (torch.zeros(2, 4, 6, 5), "(2, 4, 6, 5)"),
            (torch.zeros(2, 4, 6, 6, dtype=torch.float64), "torch.float64"),
            (lambda weights: weights[:1], "(1, 4, 6, 6)"),
            (lambda weights: weights.half(), "torch.float16"),
            (lambda weights: None, "None"),
            (lambda weights: 0.5, "0.5"),
        )
    ),
    (lambda: edited("head_output", silence_head(4)), "head: expected a number from 0 to 3, got 4"),
    (lambda: edited("value", zero_value(-1)), "position: expected a number from 0 to 5, got -1"),
    (lambda: edited("value", zero_value(0, 9)), "head: expected a number from 0 to 3, got 9"),
    (lambda: edited("weights", set_weight(0, 6, 0, 0.5)), "query: expected a number from 0 to 5, got 6"),
    (lambda: edited("weights", set_weight(0, 0, 6, 0.5)), "key: expected a number from 0 to 5, got 6"),
    *((lambda share=share: set_weight(0, 0, 0, share), "a number from 0 to 1") for share in (-0.1, 1.5, math.nan)),
]

WRITING: Calls = [
    *(
        (lambda kind=kind: KeyValueCache(tiny(architecture=kind)), f"expected architecture='decoder' … got '{kind}'")
        for kind in ("encoder", "encoder-decoder")
    ),
    *(
        refusal
        for kind in WITHOUT_CACHE
        for refusal in (
            (lambda kind=kind: KeyValueCache(decoder(attention=kind).config), f"full, fused; got '{kind}'"),
            (lambda kind=kind: attended_from(kind), "expected no stored keys, as it has no cache; got 3"),
            (lambda kind=kind: wrote(model=decoder(attention=kind)), "earlier tokens do not change"),
        )
    ),
    (lambda: shared(**BOTH)(IDS, IDS, cache=stored(4)), "expected none for an encoder-decoder"),
    (lambda: shared()(IDS, cache=stored(4)), "expected one of the model's own configuration"),
    (lambda: learned_on(9), "at most max_len=48 tokens, got 40 in the cache and 9 new"),
    (lambda: learned_on(1, batch=1), "expected 2 texts, as many as are stored; got 1"),
    (lambda: learned_on(1, mask=causal_mask(1, 40)), "(2, 4, 1, 41), got (1, 40)"),
    (lambda: stored(40).cut(41), "cut: expected a length from 0 to 40, got 41"),
    (lambda: wrote(prompt_ids=[]), "prompt_ids: expected at least one token id, got none"),
    (lambda: wrote(prompt_ids=[VOCAB]), "prompt_ids: expected ids below vocab_size=23, from 0 on; got 23"),
    (lambda: wrote(forced={1: -1}), "forced: expected ids below vocab_size=23, from 0 on; got -1"),
    (lambda: wrote(steps=-1), "expected steps of at least 0"),
    (lambda: wrote(context=0), "a context of at least 1, got 3 and 0"),
    (lambda: wrote(when_full="slide"), "when_full: expected one of window, stop; got 'slide'"),
    (lambda: wrote(context=2, when_full="stop"), "prompt_ids: expected at most context=2 tokens, got 3"),
    (lambda: wrote(model=shared()), "expected a decoder, got 'encoder'"),
    (lambda: wrote(model=decoder(positional="learned"), context=49), "max_len=48 learned positions, got 49"),
    (lambda: wrote(model=decoder(positional="rope"), earlier=course()), "earlier: expected a course of Transformer"),
    (lambda: wrote(context=8, earlier=course()), "with context=8; got one of … with context=None"),
    (lambda: searched(width=0), "a width from 1 to 8, at least 1 step and 1 token of a prompt; got 0, 3 and 3"),
    (lambda: searched(width=9), "got 9, 3 and 3"),
    (lambda: searched(steps=0), "got 2, 0 and 3"),
    (lambda: searched(prompt_ids=[]), "got 2, 3 and 0"),
    (lambda: searched(model=shared()), "expected a decoder, got 'encoder'"),
    (lambda: surprise(shared(), [1, 2]), "expected a decoder, got 'encoder'"),
    (lambda: surprise(decoder(), [1]), "at least 2 tokens and a context of at least 2; got 1 and None"),
    (lambda: surprise(decoder(), [1, 2], context=1), "got 2 and 1"),
    (lambda: surprise(decoder(), [1, 2]).bits_per_byte(0), "expected at least 1 byte, got 0"),
    (lambda: pass_flops(tiny(), 3), "expected a decoder with full attention"),
    (lambda: pass_flops(tiny(architecture="decoder", attention="linear"), 3), "expected a decoder with full attention"),
    (lambda: to_gpt2(shared()), "architecture decoder, as GPT-2 is a decoder; got 'encoder'"),
    (lambda: to_gpt2(shared(**BOTH)), "got 'encoder-decoder'"),
    (lambda: to_gpt2(decoder(norm="post")), "expected norm pre, as GPT-2 norms before"),
    (
        lambda: to_gpt2(decoder(activation="swiglu")),
        "expected activation gelu or gelu_tanh, as its network has no gate",
    ),
    (lambda: to_gpt2(decoder(positional="rope")), "positional none or sinusoidal or learned, as it adds positions"),
    (lambda: to_gpt2(decoder(attention="window")), "expected attention full or fused, as each of its queries sees all"),
    (lambda: Sampling(temperature=0), "temperature: … 0.05 to 5; its limit at 0 is greedy=True; got 0"),
    (lambda: Sampling(temperature=5.1), "temperature: expected a number from 0.05 to 5; got 5.1"),
    (lambda: Sampling(temperature=math.nan), "got nan"),
    (lambda: Sampling(temperature=True), "got True"),
    (lambda: Sampling(top_k=-1), "top_k: expected a whole number of at least 0, got -1"),
    (lambda: Sampling(top_k=2.0), "top_k: expected a whole number of at least 0, got 2.0"),
    (lambda: Sampling(seed=-3), "seed: expected a whole number of at least 0, got -3"),
    (lambda: Sampling(top_p=0), "top_p: expected a number above 0, up to 1; got 0"),
    (lambda: Sampling(top_p=1.5), "got 1.5"),
    (lambda: Sampling(min_p=-0.1), "min_p: expected a number from 0 to 1, got -0.1"),
    (lambda: Sampling(greedy=1), "greedy: expected True or False, got 1"),
    *(
        (
            lambda function=function, logits=logits, greedy=greedy: function(logits, Sampling(greedy=greedy, top_k=1)),
            told,
        )
        for function in (draw, next_token)
        for greedy in (True, False)
        for logits, told in (
            (torch.ones(2, 3), "floating logits of shape (vocab)"),
            (torch.ones(0), "floating logits of shape (vocab)"),
            (torch.tensor(1.0), "floating logits of shape (vocab)"),
            (torch.tensor([1, 2]), "floating logits of shape (vocab)"),
            (torch.tensor([1.0, math.nan]), "logits of which"),
            (torch.tensor([1.0, math.inf]), "logits of which"),
            (torch.tensor([-math.inf, -math.inf]), "logits of which"),
        )
    ),
]

STUDIES: Calls = [
    (lambda: attention_rollout([torch.ones(2, 3, 4)]), "as many keys as queries; got weights (2, 3, 4)"),
    (lambda: attention_rollout([]), "at least one layer, got none"),
    *(
        (lambda measure=measure: measure([layer()], FLAT, ["none"]), "wiring: expected one of pre-norm, … got 'none'")
        for measure in (signals_by_depth, parameter_gradients)
    ),
    (lambda: signals_by_depth([layer(cross_attention=True)], FLAT), "without cross-attention"),
    (lambda: gradient_by_distance(lambda x: x.sum(1), X[:1]), "an output (batch, seq, width) … got (1, 8)"),
    (lambda: gradient_by_distance(torch.zeros_like, X[:1]), "depends on the input"),
    (lambda: recurrences(nn.GRU(2, 2, bidirectional=True), {}, X), "in one direction, … got GRU(2, 2, bidirectional"),
    (
        lambda: recurrences(nn.RNN(8, 3), {"weight_ih_l0": torch.ones(3, 8)}, X[:1]),
        "weight_ih_l0 of shape (1, 3, 8), got (3, 8)",
    ),
    *(
        (
            lambda wrong=wrong: scale_experiment(**{"widths": [4], **wrong}),
            "expected widths of at least 1, … got widths=",
        )
        for wrong in ({"widths": []}, {"widths": [0]}, {"draws": 0}, {"keys": 1})
    ),
    (
        lambda: contribution_norms(torch.ones(5, 7), torch.ones(6, 4), torch.ones(4, 12)),
        "expected weights … got (5, 7), (6, 4), (4, 12)",
    ),
    (lambda: replacements(1, 0, vocab_size=3, tries=2), "expected 2 replacements of id 1 among 3 ids, got 1"),
    (lambda: influence(lambda ids: ids[..., None].float(), IDS[:1], vocab_size=9), "expected outputs in float64"),
]

SIZES: Calls = [
    *(
        (lambda fields=fields: Size(**{**NUMBERS, **fields}), told)
        for fields, told in (
            ({"norm": "batch"}, "norm: expected one of pre, post; got 'batch'"),
            ({"positional": "rope", "d_model": 12}, "expected an even d_model / num_heads"),
            ({"positional": "learned", "seq_len": 1025}, "learned positions: expected at most 1024 tokens, got 1025"),
            ({"vocab_size": 1}, "vocab_size: expected 0 or at least 2"),
            ({"vocab_size": -1}, "vocab_size: expected a whole number of at least 0"),
            ({"ends": "none"}, "ends: expected one of both, embedding, output; got 'none'"),
            ({"causal": 1}, "causal: expected True or False, got 1"),
            ({"architecture": "CNN"}, "architecture: expected one of encoder"),
        )
    ),
    (lambda: baselines(of_task("reverse")), "expected one with a label for the whole sequence, got 'reverse'"),
]

TABLES = {
    "attention": ATTENTIONS,
    "models": MODELS,
    "positions": POSITIONS,
    "masks": MASKS,
    "edits": EDITS,
    "writing": WRITING,
    "studies": STUDIES,
    "sizes": SIZES,
}


@pytest.mark.parametrize(
    ("call", "told"),
    [pytest.param(*each, id=f"{name}: {each[1]}") for name, calls in TABLES.items() for each in calls],
)
def test_what_cannot_be_is_refused_with_what_was_expected_and_what_came(call: Callable[[], object], told: str) -> None:
    with pytest.raises(ValueError, match=".*".join(map(re.escape, told.split(" … ")))) as refused:
        call()
    assert "expected" in str(refused.value)
