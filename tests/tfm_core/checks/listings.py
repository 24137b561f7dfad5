"""Multi-head attention as textbooks and libraries write it: twenty right modules, each in a style of its kind."""

import math

import torch
import torch.nn.functional as F
from torch import nn


def attend(query, key, value, mask=None):
    scores = query @ key.transpose(-2, -1) / math.sqrt(query.size(-1))
    if mask is not None:
        scores = scores.masked_fill(mask == 0, -1e9)
    weights = scores.softmax(-1)
    return weights @ value, weights


class Cloned(nn.Module):
    """Four linear layers in a list, a mask (batch, query, key), the heads before d_model."""

    def __init__(self, h, d_model, dropout=0.1):
        super().__init__()
        self.d_k, self.h = d_model // h, h
        self.linears = nn.ModuleList([nn.Linear(d_model, d_model) for _ in range(4)])
        self.attn = None
        self.dropout = nn.Dropout(p=dropout)

    def forward(self, query, key, value, mask=None):
        if mask is not None:
            mask = mask.unsqueeze(1)
        batch = query.size(0)
        query, key, value = (
            layer(x).view(batch, -1, self.h, self.d_k).transpose(1, 2)
            for layer, x in zip(self.linears, (query, key, value), strict=False)
        )
        x, self.attn = attend(query, key, value, mask)
        return self.linears[-1](x.transpose(1, 2).contiguous().view(batch, -1, self.h * self.d_k))


class ByLengths(nn.Module):
    """Lengths of sentences in place of a mask, lazy layers, heads folded into the batch."""

    def __init__(self, num_hiddens, num_heads, dropout, bias=False):
        super().__init__()
        self.num_heads = num_heads
        self.W_q, self.W_k = nn.LazyLinear(num_hiddens, bias=bias), nn.LazyLinear(num_hiddens, bias=bias)
        self.W_v, self.W_o = nn.LazyLinear(num_hiddens, bias=bias), nn.LazyLinear(num_hiddens, bias=bias)
        self.dropout = nn.Dropout(dropout)

    def fold(self, x):
        x = x.reshape(x.shape[0], x.shape[1], self.num_heads, -1).permute(0, 2, 1, 3)
        return x.reshape(-1, x.shape[2], x.shape[3])

    def forward(self, queries, keys, values, valid_lens=None):
        q, k, v = self.fold(self.W_q(queries)), self.fold(self.W_k(keys)), self.fold(self.W_v(values))
        scores = torch.bmm(q, k.transpose(1, 2)) / math.sqrt(q.shape[-1])
        if valid_lens is not None:
            lens = torch.repeat_interleave(valid_lens, self.num_heads, dim=0)
            hidden = torch.arange(k.shape[1])[None, None] >= lens[:, None, None]
            scores = scores.masked_fill(hidden, -1e6)
        out = torch.bmm(self.dropout(scores.softmax(-1)), v)
        out = out.reshape(-1, self.num_heads, out.shape[1], out.shape[2]).permute(0, 2, 1, 3)
        return self.W_o(out.reshape(out.shape[0], out.shape[1], -1))


class Fused(nn.Module):
    """A configuration, one layer for all three, causal by a buffer."""

    def __init__(self, config):
        super().__init__()
        self.c_attn = nn.Linear(config.n_embd, 3 * config.n_embd)
        self.c_proj = nn.Linear(config.n_embd, config.n_embd)
        self.n_head, self.n_embd = config.n_head, config.n_embd
        size = config.block_size
        self.register_buffer("bias", torch.tril(torch.ones(size, size)).view(1, 1, size, size))

    def forward(self, x):
        batch, seq, width = x.size()
        q, k, v = self.c_attn(x).split(self.n_embd, dim=2)
        q, k, v = (t.view(batch, seq, self.n_head, width // self.n_head).transpose(1, 2) for t in (q, k, v))
        att = (q @ k.transpose(-2, -1)) * (1.0 / math.sqrt(k.size(-1)))
        att = F.softmax(att.masked_fill(self.bias[:, :, :seq, :seq] == 0, float("-inf")), dim=-1)
        return self.c_proj((att @ v).transpose(1, 2).contiguous().view(batch, seq, width))


class FusedByHead(nn.Module):
    """One layer whose rows are ordered head by head, then cut in three; outputs and weights."""

    def __init__(self, embed_dim, num_heads):
        super().__init__()
        self.num_heads, self.head_dim = num_heads, embed_dim // num_heads
        self.qkv_proj, self.o_proj = nn.Linear(embed_dim, 3 * embed_dim), nn.Linear(embed_dim, embed_dim)

    def forward(self, x, mask=None):
        batch, seq, width = x.size()
        qkv = self.qkv_proj(x).reshape(batch, seq, self.num_heads, 3 * self.head_dim).permute(0, 2, 1, 3)
        values, weights = attend(*qkv.chunk(3, dim=-1), mask)
        return self.o_proj(values.permute(0, 2, 1, 3).reshape(batch, seq, width)), weights


class FusedByTurns(nn.Module):
    """One layer whose rows are (head_dim, 3, head)."""

    def __init__(self, dim, heads):
        super().__init__()
        self.heads = heads
        self.to_qkv, self.W_0 = nn.Linear(dim, 3 * dim, bias=False), nn.Linear(dim, dim, bias=False)

    def forward(self, x, mask=None):
        q, k, v = self.to_qkv(x).unflatten(-1, (-1, 3, self.heads)).permute(3, 0, 4, 1, 2)
        return self.W_0(attend(q, k, v, mask)[0].transpose(1, 2).flatten(2))


class Conv1D(nn.Module):
    """A linear layer that stores (in, out)."""

    def __init__(self, nf, nx):
        super().__init__()
        self.weight, self.bias = nn.Parameter(torch.randn(nx, nf) * 0.02), nn.Parameter(torch.zeros(nf))

    def forward(self, x):
        return torch.addmm(self.bias, x.view(-1, x.size(-1)), self.weight).view(*x.shape[:-1], -1)


class FusedConv(FusedByHead):
    """Both layers stored (in, out)."""

    def __init__(self, hidden_size, num_attention_heads):
        super().__init__(hidden_size, num_attention_heads)
        del self.qkv_proj, self.o_proj
        self.c_attn, self.c_proj = Conv1D(3 * hidden_size, hidden_size), Conv1D(hidden_size, hidden_size)

    def forward(self, x, mask=None):
        q, k, v = (t.unflatten(-1, (self.num_heads, -1)).transpose(1, 2) for t in self.c_attn(x).chunk(3, -1))
        return self.c_proj(attend(q, k, v, mask)[0].transpose(1, 2).flatten(2))


class Head(nn.Module):
    """A single head, keys first."""

    def __init__(self, n_embd, head_size):
        super().__init__()
        self.key = nn.Linear(n_embd, head_size, bias=False)
        self.query = nn.Linear(n_embd, head_size, bias=False)
        self.value = nn.Linear(n_embd, head_size, bias=False)

    def forward(self, x, mask=None):
        return attend(self.query(x), self.key(x), self.value(x), mask)[0]


class ListOfHeads(nn.Module):
    """Heads as modules, joined by torch.cat."""

    def __init__(self, d_model, num_heads):
        super().__init__()
        self.heads = nn.ModuleList([Head(d_model, d_model // num_heads) for _ in range(num_heads)])
        self.proj = nn.Linear(d_model, d_model)

    def forward(self, x, mask=None):
        return self.proj(torch.cat([head(x, mask) for head in self.heads], dim=-1))


class ListsOfProjections(nn.Module):
    """A list of projections for queries, for keys and for values."""

    def __init__(self, d_model, n_heads):
        super().__init__()
        width = d_model // n_heads
        self.q, self.k, self.v = (nn.ModuleList([nn.Linear(d_model, width) for _ in range(n_heads)]) for _ in range(3))
        self.out = nn.Linear(d_model, d_model)

    def forward(self, q, k, v, mask=None):
        heads = [attend(a(q), b(k), c(v), mask)[0] for a, b, c in zip(self.q, self.k, self.v, strict=True)]
        return self.out(torch.cat(heads, -1))


class Parameters(nn.Module):
    """Plain parameters, x @ W, outputs and weights."""

    def __init__(self, d_model, num_heads):
        super().__init__()
        self.W_q, self.W_k, self.W_v, self.W_o = (nn.Parameter(torch.randn(d_model, d_model)) for _ in range(4))
        self.num_heads = num_heads

    def heads(self, x):
        return x.unflatten(-1, (self.num_heads, -1)).transpose(1, 2)

    def forward(self, q, k, v, mask=None):
        out, weights = attend(self.heads(q @ self.W_q), self.heads(k @ self.W_k), self.heads(v @ self.W_v), mask)
        return out.transpose(1, 2).flatten(2) @ self.W_o, weights


class Einsum(nn.Module):
    """Parameters with an axis for the heads, joined by einsum."""

    def __init__(self, d_model, n_heads, d_head):
        super().__init__()
        self.W_Q, self.W_K, self.W_V = (nn.Parameter(torch.randn(n_heads, d_model, d_head)) for _ in range(3))
        self.W_O = nn.Parameter(torch.randn(n_heads, d_head, d_model))
        self.b_Q, self.b_K, self.b_V = (nn.Parameter(torch.zeros(n_heads, d_head)) for _ in range(3))
        self.b_O = nn.Parameter(torch.zeros(d_model))

    def forward(self, x, mask=None):
        q, k, v = (
            torch.einsum("bsd,hde->bshe", x, weight) + bias
            for weight, bias in ((self.W_Q, self.b_Q), (self.W_K, self.b_K), (self.W_V, self.b_V))
        )
        scores = torch.einsum("bqhe,bkhe->bhqk", q, k) / q.shape[-1] ** 0.5
        if mask is not None:
            scores = scores.masked_fill(~mask.bool(), -torch.inf)
        heads = torch.einsum("bhqk,bkhe->bqhe", scores.softmax(-1), v)
        return torch.einsum("bqhe,hed->bqd", heads, self.W_O) + self.b_O


class SharedByHeads(nn.Module):
    """The same small projections for each head; values come first."""

    def __init__(self, embed_size, heads):
        super().__init__()
        self.embed_size, self.heads, self.head_dim = embed_size, heads, embed_size // heads
        self.values, self.keys, self.queries = (nn.Linear(self.head_dim, self.head_dim, bias=False) for _ in range(3))
        self.fc_out = nn.Linear(embed_size, embed_size)

    def forward(self, values, keys, query, mask):
        values, keys, queries = (x.reshape(*x.shape[:2], self.heads, self.head_dim) for x in (values, keys, query))
        energy = torch.einsum("nqhd,nkhd->nhqk", [self.queries(queries), self.keys(keys)])
        if mask is not None:
            energy = energy.masked_fill(mask == 0, float("-1e20"))
        attention = torch.softmax(energy / (self.head_dim ** (1 / 2)), dim=3)
        out = torch.einsum("nhql,nlhd->nqhd", [attention, self.values(values)])
        return self.fc_out(out.reshape(*query.shape[:2], self.embed_size))


class Separate(nn.Module):
    """Four named layers and torch's function."""

    def __init__(self, d_model, nhead):
        super().__init__()
        self.nhead = nhead
        self.q_proj, self.k_proj, self.v_proj, self.out_proj = (nn.Linear(d_model, d_model) for _ in range(4))

    def forward(self, query, key, value, attn_mask=None):
        q, k, v = (
            layer(x).unflatten(-1, (self.nhead, -1)).transpose(1, 2)
            for layer, x in ((self.q_proj, query), (self.k_proj, key), (self.v_proj, value))
        )
        out = F.scaled_dot_product_attention(q, k, v, attn_mask=attn_mask)
        return self.out_proj(out.transpose(1, 2).flatten(2))


class Keyed(nn.Module):
    """A dictionary as configuration, causal, dropout of weights, with a buffer that hides."""

    def __init__(self, d_in, d_out, context_length, dropout, num_heads, qkv_bias=False):
        super().__init__()
        self.num_heads, self.head_dim, self.d_out = num_heads, d_out // num_heads, d_out
        self.W_query = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_key = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_value = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.out_proj, self.dropout = nn.Linear(d_out, d_out), nn.Dropout(dropout)
        self.register_buffer("mask", torch.triu(torch.ones(context_length, context_length), diagonal=1))

    def forward(self, x):
        batch, seq, _ = x.shape
        keys, queries, values = self.W_key(x), self.W_query(x), self.W_value(x)
        keys, queries, values = (
            t.view(batch, seq, self.num_heads, self.head_dim).transpose(1, 2) for t in (keys, queries, values)
        )
        scores = queries @ keys.transpose(2, 3)
        scores = scores.masked_fill(self.mask.bool()[:seq, :seq], -torch.inf)
        weights = self.dropout(torch.softmax(scores / keys.shape[-1] ** 0.5, dim=-1))
        return self.out_proj((weights @ values).transpose(1, 2).contiguous().view(batch, seq, self.d_out))


class KeyValue(nn.Module):
    """One layer for keys and values; scaled queries; a dictionary as output."""

    def __init__(self, dim, num_heads):
        super().__init__()
        self.num_heads, self.scale = num_heads, (dim // num_heads) ** -0.5
        self.to_q, self.to_kv = nn.Linear(dim, dim, bias=False), nn.Linear(dim, 2 * dim, bias=False)
        self.to_out = nn.Sequential(nn.Linear(dim, dim), nn.Dropout(0.1))

    def forward(self, x, mask=None):
        q, k, v = (
            t.unflatten(-1, (self.num_heads, -1)).transpose(1, 2) for t in (self.to_q(x), *self.to_kv(x).chunk(2, -1))
        )
        scores = (q * self.scale) @ k.mT
        if mask is not None:
            scores = scores + torch.zeros(mask.shape).masked_fill(mask == 0, -torch.inf)
        weights = scores.softmax(-1)
        return {"weights": weights, "output": self.to_out((weights @ v).transpose(1, 2).flatten(2))}


RIGHT = {
    listing.__name__: listing
    for listing in (
        Cloned, ByLengths, Fused, FusedByHead, FusedByTurns, FusedConv, ListOfHeads, ListsOfProjections, Parameters,
        Einsum, SharedByHeads, Separate, Keyed, KeyValue, nn.MultiheadAttention,
    )
}  # fmt: skip
INSTANCES = {
    "512 wide": lambda: Cloned(8, 512),
    "torch, no bias": lambda: nn.MultiheadAttention(24, 3, bias=False, batch_first=True),
    "odd number of heads": lambda: Separate(21, 3),
    "a single head": lambda: Separate(8, 1),
    "function": lambda: lambda: Parameters(12, 2),
}
