"""What stands for the names that mask code uses without giving them a value: sizes, token ids, masks, scores."""

import re
from dataclasses import dataclass
from typing import Any

import torch

SIZE, BATCH, HEADS, WIDTH, WINDOW = 6, 2, 2, 8, 3
IDS = ((5, 3, 8, 2, 0, 0), (7, 4, 9, 6, 1, 2))  # 4 and 6 tokens: lengths that grow by 1 would look causal
PAD_ID = 0
SCORES = torch.zeros(())  # takes the shape of what it meets


@dataclass(frozen=True)
class Standing:
    """What stands for a name.

    Attributes:
        value: a number or a tensor.
        said: what it is, in words that follow "name stands for".
        kind: "size", "ids", "pad id", "mask", "lengths", "scores", "places" or "number".
    """

    value: Any
    said: str
    kind: str


def _pattern(words: str) -> re.Pattern[str]:
    return re.compile(f"(?:{'|'.join(words.split())})", re.IGNORECASE)


BATCHES = _pattern(r"b bs bsz bz batch batch_size nbatch(es)?")
HEADED = _pattern(r"h (n|num)_?heads?")
WIDTHS = _pattern(r"c d_model d_k dk d_head head_dim head_size hidden_size embed_dim")
WINDOWS = _pattern(r"w window(_size|_len)?")
SIZES = _pattern(
    r"n t l s m sz q k size len_\w+ n_?ctx ctx num_tokens n_tokens max_seq_len max_positions steps "
    r"(max_?|block_|context_|ctx_|src_|tgt_|trg_|q_|k_|kv_|query_|key_|target_|source_|input_)?(seq_?)?"
    r"(len|length|size|window) seqlen seq_length"
)
TOKENS = _pattern(
    r"(decoder_|encoder_|dec_|enc_)?(input_?|token_?)?ids? (src_|tgt_|trg_)?tokens src tgt trg source target x y seq "
    r"seq_[qk] sequences? inputs? enc_inputs? dec_inputs? text idx xb src_seq trg_seq tgt_seq source_ids target_ids"
)
PAD_IDS = _pattern(r"(\w+_)?pad(ding)?_?(id|idx|index|token|token_id|token_idx|value)? \w*pad_?(id|idx)")
TORCH_PADDING = _pattern(r"\w*key_padding_mask")
REAL_TOKENS = _pattern(
    r"(encoder_|decoder_)?attention_mask (input|token|valid|word|sequence)_mask "
    r"(src_|tgt_|trg_)?pad(ding)?(_mask)? src_mask enc_mask encoder_mask"
)
CAUSAL = _pattern(r"causal(_mask)? tril subsequent(_mask)? look_?ahead(_mask)? no_?peak(_mask)? tgt_mask trg_mask")
ANY_MASK = _pattern(r"(attn_|attention_|self_)?mask (attn_)?bias cond(ition)? keep allowed")
SHORT = _pattern(r"m")  # a mask where masked_fill takes it, and a size elsewhere
LENGTHS = _pattern(r"\w*lens \w*lengths valid_len(s|gths?)?")
SCORED = _pattern(
    r"\w*scores? attn attention energy qk qkt att wei \w*logits dots sim attn_weights? attention_weights? dot_product"
)
QUERIES = _pattern(r"(q|k|query|key|queries|keys)\w*")
ROWS = _pattern(r"i rows? q_idx query_idx q_pos query_pos")
COLUMNS = _pattern(r"j cols? columns? kv_idx k_idx key_idx k_pos key_pos")
STARTS = _pattern(r"start_pos start past_(len|length) past_key_values_length offset")
BELOW_ZERO = _pattern(r"(neg|minus)_?inf(inity)?")


def standing(name: str, context: str = "") -> Standing | None:
    """What stands for a name, or None where a mask gives it no meaning.

    Args:
        name: the name, without what stands before its last dot.
        context: what is done with it: "arithmetic", "compared", "condition" (of masked_fill), "product" (a matrix
            product), "inverted" (~, not), "joined" (by & or | with others, as it is), or "".
    """
    ids = torch.tensor(IDS)
    real = ids != PAD_ID
    if context == "product" and QUERIES.fullmatch(name):
        return Standing(torch.zeros(BATCH, 1, SIZE, WIDTH), "zeros, (2, 1, 6, 8)", "scores")
    if PAD_IDS.fullmatch(name) and (context == "compared" or not REAL_TOKENS.fullmatch(name)):
        return Standing(PAD_ID, "0, the id of padding", "pad id")
    if TORCH_PADDING.fullmatch(name):
        return Standing(~real, "two sentences of 4 and 6 tokens and padding, True = padding", "mask")
    if REAL_TOKENS.fullmatch(name):
        if context == "arithmetic":
            return Standing(real.long(), "two sentences of 4 and 6 tokens and padding, 1 = real, 0 = padding", "mask")
        keys = real[:, None, None, :] if context == "joined" else real
        return Standing(keys, "two sentences of 4 and 6 tokens and padding, True = real", "mask")
    square = torch.ones(SIZE, SIZE).tril()
    if CAUSAL.fullmatch(name) and context != "condition":
        return Standing(square if name == "tril" else square.bool(), "a causal mask, 6 × 6, True = may attend", "mask")
    if ANY_MASK.fullmatch(name) or (context == "condition" and (SHORT.fullmatch(name) or CAUSAL.fullmatch(name))):
        if context == "condition":
            return Standing(~square.bool(), "a causal mask, 6 × 6, True = hidden, as masked_fill has it", "mask")
        if context == "arithmetic":
            return Standing(square, "a causal mask of floats, 6 × 6, 1 = may attend", "mask")
        return Standing(square.bool(), "a causal mask, 6 × 6, True = may attend", "mask")
    for pattern, other in _OTHERS:
        if pattern.fullmatch(name):
            return other
    if TOKENS.fullmatch(name):
        return Standing(ids, "the token ids of two sentences, 5 3 8 2 0 0 and 7 4 9 6 1 2", "ids")
    return None


_OTHERS: tuple[tuple[re.Pattern[str], Standing], ...] = (
    (LENGTHS, Standing(torch.tensor([4, 6]), "the lengths 4 and 6 of two sentences", "lengths")),
    (SCORED, Standing(SCORES, "scores of 0", "scores")),
    (ROWS, Standing(torch.arange(SIZE)[:, None], "the places of 6 queries", "places")),
    (COLUMNS, Standing(torch.arange(SIZE)[None, :], "the places of 6 keys", "places")),
    (BATCHES, Standing(BATCH, f"{BATCH}", "size")),
    (HEADED, Standing(HEADS, f"{HEADS}", "size")),
    (WIDTHS, Standing(WIDTH, f"{WIDTH}", "size")),
    (WINDOWS, Standing(WINDOW, f"{WINDOW}", "size")),
    (SIZES, Standing(SIZE, f"{SIZE}", "size")),
    (STARTS, Standing(0, "0", "size")),
    (BELOW_ZERO, Standing(-torch.inf, "−∞", "number")),
)


class UnknownShape(tuple[int, ...]):
    """The shape of a tensor that is not known: (2, 6), (2, 6, 8) or (2, 2, 6, 8), as many axes as are asked for."""

    __slots__ = ()
    AXES = (BATCH, SIZE), (BATCH, SIZE, WIDTH), (BATCH, HEADS, SIZE, WIDTH)

    def __new__(cls) -> "UnknownShape":
        return super().__new__(cls, cls.AXES[0])

    def sizes(self, count: int) -> tuple[int, ...]:
        """Sizes, as many as a line takes apart.

        Raises:
            ValueError: for less than 1 or more than 4.
        """
        for axes in ((SIZE,), *self.AXES):
            if len(axes) == count:
                return axes
        raise ValueError(f"A shape of 1 to 4 axes was expected; {count} names take it apart.")

    def at(self, axis: int) -> int:
        """The size of an axis."""
        return BATCH if axis == 0 else SIZE
