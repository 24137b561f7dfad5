"""Layers and whole models as textbooks write them, with a place for each mistake."""

import torch
from torch import nn

from tests.tfm_core.checks.listings import ByLengths, Cloned, Fused, KeyValue, Separate, attend


class FeedForward(nn.Module):
    def __init__(self, d_model, d_ff, dropout=0.1):
        super().__init__()
        self.w_1, self.w_2 = nn.Linear(d_model, d_ff), nn.Linear(d_ff, d_model)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x):
        return self.w_2(self.dropout(self.w_1(x).relu()))


class Attention(Separate):
    """Attention with other names for the mask, any numbers."""

    def forward(self, query, key, value, mask=None):
        q, k, v = (
            layer(x).unflatten(-1, (self.nhead, -1)).transpose(1, 2)
            for layer, x in ((self.q_proj, query), (self.k_proj, key), (self.v_proj, value))
        )
        return self.out_proj(self.attend(q, k, v, mask).transpose(1, 2).flatten(2))

    def attend(self, q, k, v, mask):
        return attend(q, k, v, mask)[0]


class SubLayer(nn.Module):
    """A residual connection with its norm before."""

    def __init__(self, size, dropout):
        super().__init__()
        self.norm, self.dropout = nn.LayerNorm(size), nn.Dropout(dropout)

    def forward(self, x, sublayer):
        return x + self.dropout(sublayer(self.norm(x)))


class Assembled(nn.Module):
    """A layer of parts that are handed over."""

    def __init__(self, size, self_attn, feed_forward, dropout):
        super().__init__()
        self.self_attn, self.feed_forward, self.size = self_attn, feed_forward, size
        self.sublayer = nn.ModuleList([SubLayer(size, dropout) for _ in range(2)])

    def forward(self, x, mask):
        x = self.sublayer[0](x, lambda x: self.self_attn(x, x, x, mask))
        return self.sublayer[1](x, self.feed_forward)


class Encoder(nn.Module):
    """A post-norm layer."""

    def __init__(self, d_model, num_heads, d_ff, dropout=0.1):
        super().__init__()
        self.attention, self.network = Attention(d_model, num_heads), FeedForward(d_model, d_ff)
        self.norm1, self.norm2, self.dropout = nn.LayerNorm(d_model), nn.LayerNorm(d_model), nn.Dropout(dropout)

    def forward(self, x, mask=None):
        x = self.norm1(x + self.dropout(self.attention(x, x, x, mask)))
        return self.norm2(x + self.dropout(self.network(x)))


class PreNorm(Encoder):
    def forward(self, x, mask=None):
        h = self.norm1(x)
        x = x + self.attention(h, h, h, mask)
        return x + self.network(self.norm2(x))


class Expanded(nn.Module):
    """A block with three inputs and a factor in place of d_ff."""

    def __init__(self, embed_size, heads, dropout, forward_expansion):
        super().__init__()
        self.attention = Attention(embed_size, heads)
        self.norm1, self.norm2 = nn.LayerNorm(embed_size), nn.LayerNorm(embed_size)
        self.feed_forward = nn.Sequential(
            nn.Linear(embed_size, forward_expansion * embed_size),
            nn.GELU(),
            nn.Linear(forward_expansion * embed_size, embed_size),
        )
        self.dropout = nn.Dropout(dropout)

    def forward(self, x, mask=None):
        x = self.dropout(self.norm1(self.attention(x, x, x, mask) + x))
        return self.dropout(self.norm2(self.feed_forward(x) + x))


class Block(nn.Module):
    """A causal pre-norm block, with GELU by tanh."""

    def __init__(self, config):
        super().__init__()
        width = config.n_embd
        self.ln_1, self.attn, self.ln_2 = nn.LayerNorm(width), Fused(config), nn.LayerNorm(width)
        self.mlp = nn.ModuleDict({"c_fc": nn.Linear(width, 4 * width), "c_proj": nn.Linear(4 * width, width)})
        self.act = nn.GELU(approximate="tanh")

    def forward(self, x):
        x = x + self.attn(self.ln_1(x))
        return x + self.mlp["c_proj"](self.act(self.mlp["c_fc"](self.ln_2(x))))


class Decoder(nn.Module):
    """A post-norm layer of a decoder with a memory."""

    def __init__(self, d_model, n_heads, d_ff, dropout=0.1):
        super().__init__()
        self.self_attn, self.src_attn = Attention(d_model, n_heads), Attention(d_model, n_heads)
        self.feed_forward = FeedForward(d_model, d_ff)
        self.norms = nn.ModuleList([nn.LayerNorm(d_model) for _ in range(3)])

    def looks_back(self, x, mask):
        return self.norms[0](x + self.self_attn(x, x, x, mask))

    def looks_over(self, x, memory, mask):
        return self.norms[1](x + self.src_attn(x, memory, memory, mask))

    def works(self, x):
        return self.norms[2](x + self.feed_forward(x))

    def forward(self, x, memory, src_mask=None, tgt_mask=None):
        return self.works(self.looks_over(self.looks_back(x, tgt_mask), memory, src_mask))


class Apart(Expanded):
    """A block that takes values, keys and queries apart, and a required mask."""

    def __init__(self, embed_size, heads, dropout, forward_expansion):
        super().__init__(embed_size, heads, dropout, forward_expansion)
        self.feed_forward[1] = nn.ReLU()

    def forward(self, value, key, query, mask):
        x = self.dropout(self.norm1(self.attention(query, key, value, mask) + query))
        return self.dropout(self.norm2(self.feed_forward(x) + x))


class ApartDecoder(nn.Module):
    """A decoder's block that ends in an encoder's."""

    def __init__(self, embed_size, heads, forward_expansion, dropout):
        super().__init__()
        self.attention, self.norm = Attention(embed_size, heads), nn.LayerNorm(embed_size)
        self.transformer_block = Apart(embed_size, heads, dropout, forward_expansion)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x, value, key, src_mask, trg_mask):
        query = self.dropout(self.norm(self.attention(x, x, x, trg_mask) + x))
        return self.transformer_block(value, key, query, src_mask)


class AddNorm(nn.Module):
    def __init__(self, norm_shape, dropout):
        super().__init__()
        self.dropout, self.ln = nn.Dropout(dropout), nn.LayerNorm(norm_shape)

    def forward(self, x, y):
        return self.ln(self.dropout(y) + x)


class WithLengths(nn.Module):
    """A block whose mask is the number of tokens, with lazy layers and norms in modules of their own."""

    def __init__(self, num_hiddens, ffn_num_hiddens, num_heads, dropout, use_bias=False):
        super().__init__()
        self.attention = ByLengths(num_hiddens, num_heads, dropout, use_bias)
        self.addnorm1 = AddNorm(num_hiddens, dropout)
        self.ffn = nn.Sequential(nn.LazyLinear(ffn_num_hiddens), nn.ReLU(), nn.LazyLinear(num_hiddens))
        self.addnorm2 = AddNorm(num_hiddens, dropout)

    def forward(self, x, valid_lens=None):
        y = self.addnorm1(x, self.attention(x, x, x, valid_lens))
        return self.addnorm2(y, self.ffn(y))


class InnerNorms(nn.Module):
    """Norms inside of the sub-layers."""

    def __init__(self, dim, heads, mlp_dim):
        super().__init__()
        self.norm, self.attention = nn.LayerNorm(dim), KeyValue(dim, heads)
        self.net = nn.Sequential(nn.LayerNorm(dim), nn.Linear(dim, mlp_dim), nn.GELU(), nn.Linear(mlp_dim, dim))

    def forward(self, x, mask=None):
        x = self.attention(self.norm(x), mask)["output"] + x
        return self.net(x) + x


def assembled():
    return Assembled(16, Cloned(2, 16), FeedForward(16, 64), 0.1)


ENCODERS = {
    "torch’s": nn.TransformerEncoderLayer,
    "torch’s, pre-norm": lambda: nn.TransformerEncoderLayer(
        24, 3, 50, norm_first=True, activation="gelu", batch_first=True
    ),
    "post-norm": Encoder,
    "pre-norm": PreNorm,
    "assembled": assembled,
    "expanded": Expanded,
    "block": Block,
    "apart": Apart,
    "lengths": WithLengths,
    "inner norms": InnerNorms,
}
DECODERS = {
    "torch’s": nn.TransformerDecoderLayer,
    "torch’s, pre-norm": lambda: nn.TransformerDecoderLayer(24, 3, 50, norm_first=True, batch_first=True),
    "post-norm": Decoder,
    "apart": ApartDecoder,
}


class Model(nn.Module):
    """A whole decoder with learned positions."""

    block = PreNorm

    def __init__(self, vocab_size, d_model, num_heads, num_layers, max_len):
        super().__init__()
        self.embedding, self.positions = nn.Embedding(vocab_size, d_model), nn.Embedding(max_len, d_model)
        self.blocks = nn.ModuleList([self.block(d_model, num_heads, 2 * d_model) for _ in range(num_layers)])
        self.norm, self.head = nn.LayerNorm(d_model), nn.Linear(d_model, vocab_size, bias=False)

    def mask(self, ids):
        return torch.ones(ids.shape[1], ids.shape[1]).tril()

    def embed(self, ids):
        return self.embedding(ids) + self.positions(torch.arange(ids.shape[1]))

    def normed(self, x):
        return self.norm(x)

    def forward(self, ids):
        x = self.embed(ids)
        for block in self.blocks:
            x = block(x, self.mask(ids))
        return self.head(self.normed(x))


def changed(parent, **methods):
    """The class with other methods."""
    return type("Changed", (parent,), methods)
