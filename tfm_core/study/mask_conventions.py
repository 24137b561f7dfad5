"""One mask, many conventions: what to hand over to whose call, each verified against that call.

Ours is boolean (batch, query, key), **True = may attend**. Each entry of `CONVENTIONS` says what its call expects,
converts both ways, and makes the real call with a layer's own weights. Some conventions are too small for some masks:
`back(to(mask))` is what they can say of one.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Literal

from torch import Tensor

from tfm_core.masks.basic import causal_mask, to_additive, to_ignore
from tfm_core.model.attention import MultiHeadAttention
from tfm_core.study.mask_calls import bert, bert_causal, mha, mha_padding, sdpa


@dataclass(frozen=True)
class Convention:
    """An entry of `CONVENTIONS`.

    Attributes:
        about: what it can say, in a sentence.
        shape: of what is handed over, in symbols.
        keeps: what stands for "may attend".
        hides: what stands for the opposite.
        code: Python that makes `handed` of `mask`, ours; heads are `num_heads`.
        name: of the call and its argument.
        call_code: Python of the call, of which `handed` is one argument.
        to: (ours, number of heads) -> what is handed over.
        back: (what is handed over, shape of ours, number of heads) -> ours, as far as it was said.
        call: (attention, queries, keys, what is handed over) -> (batch, query, d_model).
        compares: which of our own numbers the call gives: what the heads gathered, or the projected output.
        slip: (ours, number of heads) -> what is handed over by mistake.
        slip_about: that mistake in words.
        library: where the call is from.
        across: whether there is such a call for cross-attention.
    """

    about: str
    shape: str
    keeps: str
    hides: str
    code: str
    name: str
    call_code: str
    to: Callable[[Tensor, int], Tensor]
    back: Callable[[Tensor, tuple[int, ...], int], Tensor]
    call: Callable[[MultiHeadAttention, Tensor, Tensor, Tensor], Tensor]
    compares: Literal["head_output", "output"]
    slip: Callable[[Tensor, int], Tensor]
    slip_about: str
    library: Literal["torch", "transformers"] = "torch"
    across: bool = True


def _seen_by_any(mask: Tensor) -> Tensor:
    """(batch, key): whether there is a query that may see this key."""
    return mask.any(-2)


def _for_all_queries(keys: Tensor, shape: tuple[int, ...]) -> Tensor:
    """(batch, key) -> ours."""
    return keys[:, None].expand(shape)


# What the entries of one call share.
_of_sdpa = partial(
    Convention,
    shape="(batch, 1, query, key)",
    name="F.scaled_dot_product_attention(attn_mask)",
    call_code="F.scaled_dot_product_attention(query, key, value, attn_mask=handed)",
    call=sdpa,
    compares="head_output",
)
_of_mha = partial(
    Convention,
    name="nn.MultiheadAttention(attn_mask)",
    call_code="attention(x, y, y, attn_mask=handed, need_weights=False)",
    call=mha,
    compares="output",
)
_of_bert = partial(
    Convention,
    name="create_bidirectional_mask, BERT’s attention",
    call_code="attend(x, attention_mask=create_bidirectional_mask(config, x, handed))",
    call=bert,
    compares="head_output",
    library="transformers",
)
# Sentences that several entries share.
ANY_BIAS = "Added to the scores. Any mask can be said, and any bias, too."
NOT_INVERTED = "not inverted, True for attend"
ONES_ADDED = "with 1 and 0 as floats, which are added and hide nothing"
INVERTED = "with 0 for keep and 1 for padding"

CONVENTIONS: dict[str, Convention] = {
    "SDPA, boolean": _of_sdpa(
        about="Our own convention: any mask, for each sentence, and for each head if need be.",
        keeps="True",
        hides="False",
        code="handed = mask[:, None]  # True = attend; the 1 is for all heads",
        to=lambda mask, _: mask[:, None],
        back=lambda handed, shape, _: handed[:, 0],
        slip=lambda mask, _: to_ignore(mask)[:, None],
        slip_about="with True for ignore, as nn.MultiheadAttention wants it",
    ),
    "SDPA, additive": _of_sdpa(
        about=ANY_BIAS,
        keeps="0",
        hides="−∞",
        code="handed = torch.zeros(mask.shape).masked_fill(~mask, float('-inf'))[:, None]",
        to=lambda mask, _: to_additive(mask)[:, None],
        back=lambda handed, shape, _: handed[:, 0] == 0,
        slip=lambda mask, _: mask.float()[:, None],
        slip_about=ONES_ADDED,
    ),
    "MHA, attn_mask": _of_mha(
        about="Two axes: one mask for all sentences and heads, so that of several sentences each key that any of them "
        "may see is kept.",
        shape="(query, key)",
        keeps="False",
        hides="True",
        code="handed = ~mask.any(0)  # True = ignore; one for all sentences",
        to=lambda mask, _: to_ignore(mask.any(0)),
        back=lambda handed, shape, _: to_ignore(handed).expand(shape),
        slip=lambda mask, _: mask.any(0),
        slip_about=NOT_INVERTED,
    ),
    "MHA, attn_mask per head": _of_mha(
        about="Any mask: each sentence’s heads one after the other, sentence by sentence.",
        shape="(batch · heads, query, key)",
        keeps="False",
        hides="True",
        code="handed = (~mask).repeat_interleave(num_heads, 0)  # True = ignore",
        to=lambda mask, heads: to_ignore(mask).repeat_interleave(heads, 0),
        back=lambda handed, shape, heads: to_ignore(handed[::heads]),
        slip=lambda mask, heads: mask.repeat_interleave(heads, 0),
        slip_about=NOT_INVERTED,
    ),
    "MHA, additive": _of_mha(
        about=ANY_BIAS,
        shape="(batch · heads, query, key)",
        keeps="0",
        hides="−∞",
        code="handed = torch.zeros(mask.shape).masked_fill(~mask, float('-inf')).repeat_interleave(num_heads, 0)",
        to=lambda mask, heads: to_additive(mask).repeat_interleave(heads, 0),
        back=lambda handed, shape, heads: handed[::heads] == 0,
        slip=lambda mask, heads: mask.float().repeat_interleave(heads, 0),
        slip_about=ONES_ADDED,
    ),
    "MHA, key_padding_mask": _of_mha(
        about="One row per sentence: it can only say which keys are hidden from everybody.",
        shape="(batch, key)",
        keeps="False",
        hides="True",
        code="handed = ~mask.any(1)  # True = ignore: the keys that nobody may see",
        name="nn.MultiheadAttention(key_padding_mask)",
        call_code="attention(x, y, y, key_padding_mask=handed, need_weights=False)",
        call=mha_padding,
        to=lambda mask, _: to_ignore(_seen_by_any(mask)),
        back=lambda handed, shape, _: _for_all_queries(to_ignore(handed), shape),
        slip=lambda mask, _: _seen_by_any(mask),
        slip_about=NOT_INVERTED,
    ),
    "HF, attention_mask": _of_bert(
        about="One row per sentence, in a model that looks both ways: it can only say which keys are hidden from "
        "everybody.",
        shape="(batch, key)",
        keeps="1",
        hides="0",
        code="handed = mask.any(1).long()  # 1 = keep",
        to=lambda mask, _: _seen_by_any(mask).long(),
        back=lambda handed, shape, _: _for_all_queries(handed == 1, shape),
        slip=lambda mask, _: to_ignore(_seen_by_any(mask)).long(),
        slip_about=INVERTED,
    ),
    "HF, causal model": _of_bert(
        about="One row per sentence, and the model adds causality by itself: causal and padding together, nothing "
        "else.",
        shape="(batch, key)",
        keeps="1",
        hides="0",
        code="handed = mask.any(1).long()  # 1 = keep; the model itself looks back only",
        name="create_causal_mask, BERT’s attention",
        call_code="attend(x, attention_mask=create_causal_mask(config, x, handed, past_key_values=None))",
        call=bert_causal,
        to=lambda mask, _: _seen_by_any(mask).long(),
        back=lambda handed, shape, _: _for_all_queries(handed == 1, shape) & causal_mask(*shape[1:]),
        slip=lambda mask, _: to_ignore(_seen_by_any(mask)).long(),
        slip_about=INVERTED,
        across=False,
    ),
    "HF, 4-D": _of_bert(
        about="Any mask: with four axes it is taken as it is, and nothing is added to it. Booleans mean what they "
        "mean to SDPA.",
        shape="(batch, 1, query, key)",
        keeps="True",
        hides="False",
        code="handed = mask[:, None]  # True = attend",
        to=lambda mask, _: mask[:, None],
        back=lambda handed, shape, _: handed[:, 0],
        slip=lambda mask, _: mask.float()[:, None],
        slip_about="with 1 and 0 as floats, as the two-axis form has them: they are added and hide nothing",
    ),
}
