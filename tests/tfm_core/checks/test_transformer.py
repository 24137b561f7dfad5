"""check_transformer and check_generate: laws of any model, and what is written with a model of which all is known."""

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from tests.tfm_core.checks.layer_listings import Attention, Encoder, Model, PreNorm, changed
from tfm_core import Transformer, TransformerConfig
from tfm_core.checks import check_generate, check_transformer


class Masked(Model):
    """An encoder that takes its mask."""

    def forward(self, ids, mask=None):
        x = self.embed(ids)
        for block in self.blocks:
            x = block(x, mask)
        return self.head(self.norm(x))


class Stacked(nn.Module):
    """torch's layers, with a loss beside the logits."""

    def __init__(self, vocab_size, n_embd, n_head, n_layer, block_size):
        super().__init__()
        self.wte, self.wpe = nn.Embedding(vocab_size, n_embd), nn.Embedding(block_size, n_embd)
        self.layers = nn.ModuleList(
            [nn.TransformerEncoderLayer(n_embd, n_head, 64, batch_first=True, norm_first=True) for _ in range(n_layer)]
        )
        self.lm_head = nn.Linear(n_embd, vocab_size)
        self.lm_head.weight = self.wte.weight

    def forward(self, idx, targets=None):
        mask = nn.Transformer.generate_square_subsequent_mask(idx.shape[1])
        x = self.wte(idx) + self.wpe(torch.arange(idx.shape[1]))
        for layer in self.layers:
            x = layer(x, src_mask=mask)
        return self.lm_head(x), None


def knows_padding(self, ids):
    return (ids != 0)[:, None, None]


ENCODER = changed(Model, mask=knows_padding)
RIGHT = {
    "learned positions": (Model, True),
    "post-norm": (changed(Model, block=Encoder), True),
    "with a loss": (Stacked, True),
    "instance": (Model(50, 16, 2, 3, 12), True),
    "a mask is handed over": (Masked, True),
    "an encoder whose mask is handed over": (Masked, False),
    "an encoder that knows padding": (ENCODER, False),
    "logarithms": (changed(Model, forward=lambda self, ids: Model.forward(self, ids).log_softmax(-1)), True),
}
for positional in ("sinusoidal", "rope", "alibi"):
    config = TransformerConfig(vocab_size=30, d_model=32, num_heads=4, positional=positional)
    RIGHT[f"ours, {positional}"] = (Transformer(config), True)


@pytest.mark.parametrize("name", RIGHT)
def test_models_of_each_style_are_right(name):
    model, causal = RIGHT[name]
    for seed in (0, 3):
        report = check_transformer(model, causal=causal, seed=seed)
        assert report, report


def of_batches(x):
    return (x - x.mean((0, 1))) / x.std((0, 1), correction=0)


def over_batch(self, q, k, v, mask):
    scores = q @ k.mT / q.shape[-1] ** 0.5
    return (scores.masked_fill(mask == 0, -1e9)).softmax(0) @ v


class ValuesFromQueries(Attention):
    def forward(self, query, key, value, mask=None):
        q, k = (
            layer(x).unflatten(-1, (self.nhead, -1)).transpose(1, 2)
            for layer, x in ((self.q_proj, query), (self.k_proj, key))
        )
        return self.out_proj(self.attend(q, k, q, mask).transpose(1, 2).flatten(2))


def with_attention(attention):
    class Its(PreNorm):
        def __init__(self, d_model, num_heads, d_ff):
            super().__init__(d_model, num_heads, d_ff)
            self.attention = attention(d_model, num_heads)

    return changed(Model, block=Its)


PLANTED = {
    "causal mask forgotten": (changed(Model, mask=lambda self, ids: None), True),
    "mask forgotten": (changed(Model, mask=lambda self, ids: None), True),
    "next token visible": (changed(Model, mask=lambda self, ids: torch.ones(*[ids.shape[1]] * 2).tril(1)), True),
    "diagonal hidden": (changed(Model, mask=lambda self, ids: torch.ones(*[ids.shape[1]] * 2).tril(-1)), True),
    "looks ahead instead of back": (
        changed(Model, mask=lambda self, ids: torch.ones(*[ids.shape[1]] * 2).triu()),
        True,
    ),
    "norm over the tokens": (
        changed(Model, normed=lambda self, x: (x - x.mean(1, keepdim=True)) / x.std(1, keepdim=True)),
        True,
    ),
    "norm over the batch": (changed(Model, normed=lambda self, x: of_batches(x)), True),
    "softmax over the batch": (with_attention(changed(Attention, attend=over_batch)), True),
    "no positions": (changed(Model, embed=lambda self, ids: self.embedding(ids)), True),
    "positions along the batch": (
        changed(Model, embed=lambda self, ids: self.embedding(ids) + self.positions(torch.arange(len(ids)))[:, None]),
        True,
    ),
    "probabilities for logits": (changed(Model, forward=lambda self, ids: Model.forward(self, ids).softmax(-1)), True),
    "dropout active": (changed(Model, forward=lambda self, ids: F.dropout(Model.forward(self, ids), 0.1)), True),
    "values from the queries": (with_attention(ValuesFromQueries), True),
    "padding mask forgotten": (changed(Model, mask=lambda self, ids: None), False),
}


@pytest.mark.parametrize("name", PLANTED)
def test_each_planted_mistake_gets_its_name(name):
    model, causal = PLANTED[name]
    report = check_transformer(model, causal=causal)
    assert not report
    assert name in (report.mistake, *report.equal), report


def test_logits_of_another_shape_and_exceptions_are_told():
    report = check_transformer(changed(Model, forward=lambda self, ids: Model.forward(self, ids).mT))
    assert "Expected logits of shape (3, 12, 24); got (3, 24, 12)." in str(report)
    report = check_transformer(changed(Model, forward=lambda self, ids: self.head(ids)))
    assert "RuntimeError" in str(report)


def test_nan_is_told():
    minus_infinity = changed(
        Attention,
        attend=lambda self, q, k, v, mask: (q @ k.mT).masked_fill(mask.tril(-1) == 0, -torch.inf).softmax(-1) @ v,
    )
    report = check_transformer(with_attention(minus_infinity))
    assert report.mistake == "diagonal hidden"
    assert "NaN" in str(report)


def test_parameters_that_get_no_gradient_are_told():
    class Idle(Model):
        def __init__(self, vocab_size, d_model, num_heads, num_layers, max_len):
            super().__init__(vocab_size, d_model, num_heads, num_layers, max_len)
            self.idle = nn.Linear(d_model, d_model)

    report = check_transformer(Idle)
    assert not report
    assert "none gets to idle.weight" in str(report)


def test_a_model_is_unchanged_by_its_check():
    model = Model(24, 16, 2, 2, 12).train()
    model.head.weight.grad = torch.ones_like(model.head.weight)
    before = {name: tensor.clone() for name, tensor in model.state_dict().items()}
    assert check_transformer(model)
    assert len(model.blocks) == 2
    assert list(before) == list(model.state_dict())
    assert all(torch.equal(tensor, before[name]) for name, tensor in model.state_dict().items())
    assert model.training
    assert torch.equal(model.head.weight.grad, torch.ones_like(model.head.weight))
    assert model.norm.weight.grad is None


@pytest.mark.parametrize("bad", [5, None, "model", lambda: 3])
def test_what_is_no_model_is_refused(bad):
    with pytest.raises(ValueError, match=r"expected .*; got"):
        check_transformer(bad)


# writing


@torch.no_grad()
def full(model, idx, max_new_tokens, temperature=1.0, do_sample=False, top_k=None, eos_token_id=None):
    was = model.training
    model.eval()
    for _ in range(max_new_tokens):
        cropped = idx if idx.size(1) <= model.block_size else idx[:, -model.block_size :]
        logits = model(cropped)[:, -1, :] / temperature
        probabilities = F.softmax(logits, dim=-1)
        new = torch.multinomial(probabilities, 1) if do_sample else probabilities.argmax(-1, keepdim=True)
        idx = torch.cat((idx, new), dim=1)
        if eos_token_id is not None and bool((new == eos_token_id).all()):
            break
    model.train(was)
    return idx


def short(model, ids, n, context_size):
    for _ in range(n):
        with torch.no_grad():
            logits = model(ids[:, -context_size:])
        ids = torch.cat([ids, logits[:, -1].argmax(dim=-1, keepdim=True)], dim=-1)
    return ids


def plainly(model, ids, max_len):
    while ids.shape[1] < max_len:
        ids = torch.cat([ids, model(ids)[:, -1:].argmax(-1)], 1)
    return ids


def sampled(model, idx, max_new_tokens, temperature):
    for _ in range(max_new_tokens):
        logits = model(idx)[:, -1]
        new = logits.argmax(-1, keepdim=True)
        if temperature > 0:
            new = torch.multinomial((logits / temperature).softmax(-1), 1)
        idx = torch.cat([idx, new], 1)
    return idx


@pytest.mark.parametrize("f", [full, short, plainly, sampled])
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_functions_that_write_are_right(f, seed):
    assert check_generate(f, seed=seed), check_generate(f, seed=seed)


def writes(next_of, steps=0):
    """A function that writes, with another next token, and some tokens too many."""

    def f(model, ids, max_new_tokens):
        for _ in range(max_new_tokens + steps):
            ids = torch.cat([ids, next_of(model(ids))], 1)
        return ids

    return f


def uncropped(model, ids, n, block_size):
    return plainly(model, ids, ids.shape[1] + n)


def endless(model, ids, n, eos_token_id=None):
    return plainly(model, ids, ids.shape[1] + n)


def once(model, ids, n):
    new = model(ids)[:, -1:].argmax(-1)
    return torch.cat([ids, *[new] * n], 1)


def always_samples(model, ids, n):
    return writes(lambda logits: torch.multinomial((logits[:, -1] / 5).softmax(-1), 1))(model, ids, n)


GENERATE_WRONG = {
    "first place": writes(lambda logits: logits[:, 0].argmax(-1, keepdim=True)),
    "before the last": writes(lambda logits: logits[:, -2].argmax(-1, keepdim=True)),
    "should be added": writes(lambda logits: logits[:, -1:].argmax(-1), steps=1),
    "without the prompt": lambda model, ids, n: plainly(model, ids, ids.shape[1] + n)[:, ids.shape[1] :],
    "prompt is not kept": lambda model, ids, n: plainly(model, ids, ids.shape[1] + n).flip(1),
    "sentences": lambda model, ids, n: plainly(model, ids, ids.shape[1] + n)[:1],
    "handed 7": uncropped,
    "should stop": endless,
    "same token": writes(lambda logits: logits[:1, -1:].argmax(-1).expand(len(logits), 1)),
    "New token 2": once,
    "not the likeliest": always_samples,
    "RuntimeError": writes(lambda logits: logits[:, -1].argmax(-1)),
}


@pytest.mark.parametrize("said", GENERATE_WRONG)
def test_what_is_wrong_with_writing_is_said(said):
    report = check_generate(GENERATE_WRONG[said])
    assert not report
    assert said in str(report), report
    assert "Cure" not in str(report)
    assert bool(report.error) or "Cure" in str(check_generate(GENERATE_WRONG[said], hint=True))


def test_gradients_and_training_are_noted():
    said = str(check_generate(plainly))
    assert "torch.no_grad is missing" in said
    assert "not put into evaluation" in said
    assert "no_grad" not in str(check_generate(full))


@pytest.mark.parametrize("bad", [5, None])
def test_what_does_not_write_is_refused(bad):
    with pytest.raises(ValueError, match=r"expected a function .*; got"):
        check_generate(bad)
    assert "Expected an output of shape" in str(check_generate(lambda model, ids, n: 3))
