"""Blanks, filled wrongly as people fill them: what a learner writes, and what the check must name."""

import re

# (exercise, place of the blank, what is written in it, the mistake of the catalogue or what is said)
NAMED = [
    ("projection", 0, "x @ weight", "weights transposed"),
    ("projection", 1, "projected", "bias forgotten"),
    ("scores", 1, "products", "no scale"),
    ("scores", 1, "products / query.shape[-1]", "scale by d_k without the root"),
    ("scores", 0, "key @ query.mT", "queries and keys exchanged"),
    ("softmax", 0, "scores.exp()", "with scores of about 1,000"),
    ("softmax", 1, "powers / powers.sum(-2, keepdim=True)", "The sum runs over the queries"),
    ("softmax", 1, "powers / powers.sum(1, keepdim=True)", "The sum runs over the heads"),
    ("softmax-gradient", 1, "torch.zeros_like(with_itself)", "Only the diagonal is there"),
    ("blend", 0, "weights.mT @ value", "The weights of a column"),
    ("attention", 0, "query @ key.mT", "no scale"),
    ("attention", 1, "scores.masked_fill(mask, -math.inf)", "mask inverted"),
    ("attention", 1, "scores", "mask forgotten"),
    ("attention", 2, "scores.softmax(-2)", "softmax over the queries"),
    ("split-heads", 0, "x.reshape(*x.shape[:2], -1, num_heads).mT", "heads interleaved"),
    ("merge-heads", 0, "heads.reshape(len(heads), heads.shape[2], -1)", "heads merged without transpose"),
    ("multi-head-attention", 0, "self.w_q(x), self.w_k(x), self.w_k(x)", "values from the keys"),
    ("multi-head-attention", 2, "query @ key.mT", "no scale"),
    ("multi-head-attention", 4, "gathered.transpose(1, 2).flatten(2)", "W_O missing"),
    ("shared-keys", 1, "key.repeat(1, sharing, 1, 1)", "take turns"),
    ("causal-mask", 0, "places < places[:, None]", "diagonal hidden"),
    ("causal-mask", 0, "places >= places[:, None]", "looks ahead instead of back"),
    ("causal-mask", 0, "places > places[:, None]", "mask inverted"),
    ("causal-mask", 0, "places <= places[:, None] + 1", "next token visible"),
    ("padding-mask", 1, "is_token[:, None, :, None]", "padding on the query axis"),
    ("padding-mask", 0, "ids == pad_id", "mask inverted"),
    ("padding-mask", 0, "ids != 0", "pad_id is not used"),
    ("padding-mask", 1, "is_token[:, None, :]", "axis for heads, or that for queries, is missing"),
    ("window-mask", 1, "(back < 0) | (back >= window)", "mask inverted"),
    ("window-mask", 1, "(back >= 0) & (back <= window)", "one token too wide"),
    ("mean-of-tokens", 1, "x.shape[1]", "its number is counted all the same"),
    ("positional-encoding", 0, "1000.0 ** (-torch.arange(0, d_model, 2) / d_model)", "base 1,000"),
    ("alibi-slopes", 0, "2.0 ** (-8.0 * torch.arange(num_heads) / num_heads)", "ALiBi slopes begin at 1"),
    ("alibi-slopes", 2, "slopes[:, None, None] * distance", "ALiBi’s sign"),
    ("layer-norm", 1, "x.var(-1, keepdim=True)", "unbiased variance"),
    ("layer-norm", 2, "(x - mean) / (variance.sqrt() + eps)", "epsilon outside of the root"),
    ("gelu", 0, "(1 + torch.erf(x)) / 2", "not divided by √2"),
    ("gelu", 0, "(x > 0).float()", "ReLU for GELU"),
    ("swiglu", 0, "(x @ w_gate.mT).sigmoid()", "that is a GLU"),
    ("swiglu", 1, "gate", "Nothing passes the gate"),
    ("residual", 1, "change", "residual missing"),
    ("residual", 0, "sublayer(x)", "there is no norm"),
    ("encoder-layer", 1, "self.attention(read, read, mask)", "residual missing"),
    ("encoder-layer", 1, "read + self.attention(read, read, mask)", "residual around the normed input"),
    ("decoder-layer", 1, "self.norm_1(self.self_attention(x, x, causal))", "residual missing before the norm"),
    ("count-parameters", 2, "0", "The norms are not counted"),
    ("count-parameters", 0, "3 * (d_model * d_model + d_model)", "W_O is missing"),
    ("embedding", 1, "rows", "embedding not scaled"),
    ("tiny-gpt", 1, "places > -places[:, None] - 1", "causal mask forgotten"),
    ("cross-entropy", 0, "logits", "The sum of the powers is missing"),
    ("cross-entropy", 2, "-right.sum()", "loss summed"),
    ("recurrent", 0, "torch.tanh(x[:, at] @ w_in.mT)", "The old state is not used"),
    ("recurrent", 0, "torch.tanh(state @ w_state + x[:, at] @ w_in.mT)", "w_state is not transposed"),
    ("temperature", 0, "logits * temperature", "The logits are multiplied"),
    ("top-k", 1, "logits.masked_fill(logits < lowest, 0.0)", "0 stands in place of −∞"),
    ("top-p", 1, "torch.where(before + ranked <= p, ranked, 0.0)", "what is left has less than p"),
    ("top-p", 2, "final", "does not sum to 1"),
    ("contributions", 0, "value", "lengths of values"),
    ("rollout", 1, "mean", "The residual connection is missing"),
    ("rollout", 2, "total @ mixed", "The layers stand in the wrong order"),
    ("score-parts", 2, "query @ key.mT", "no scale"),
    ("score-parts", 2, "key @ query.mT / math.sqrt(len(w_q))", "Rows and columns are exchanged"),
    ("head-logit", 1, "added[token]", "The mean of all tokens is not subtracted"),
    ("linear-attention", 2, "query @ sums", "Nothing is divided"),
    ("tiled-attention", 1, "torch.tensor(1.0)", "not corrected"),
]


def exchanged(coding, written):
    """The code of an exercise with other right sides in some blanks.

    Args:
        coding: the exercise.
        written: place of the blank, from 0 -> what stands in it.
    """
    code = coding.code(sorted(written))
    for place in sorted(written):
        code = re.sub(r"\.\.\.  # .*", lambda _, place=place: written[place], code, count=1)
    return code
