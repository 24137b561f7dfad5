"""How fast a decoder writes, beside a bare loop over torch's modules and beside transformers' GPT-2.

All write 100 tokens after a prompt of 10, with the same weights and one thread, in turns. The bare loop is what one
would write by hand for speed: queries, keys and values by one map, the fused kernel, a cache by torch.cat, no checks.
Before the measurement, their logits of a text are compared, and what they write. What ours takes includes all that it
gives: each step's logits, a course to go on from, and the checks of what came in.
"""

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from benchmarks.measure import Figure, Figures, Ratio, interleaved, ratio, show, verdict
from tfm_core import Sampling, Transformer, TransformerLayer, generate, to_gpt2
from tfm_core.language.lab_gpt import UNTRAINED
from tfm_core.model.normalization import Norm

PROMPT, NEW = 10, 100
ROUNDS = 15
CONFIG = replace(UNTRAINED, seed=7)  # of Lab GPT's shape
SCHEMES = ("learned", "sinusoidal")
SPEED = 0.9  # of the bare loop's tokens a second


def _beside(positional: str, rival: str) -> Figure:
    return Figure(f"Tokens a second, greedy, {positional} positions", rival)


BARE, GPT2, WITHOUT = "a bare loop over torch’s modules", "transformers’ GPT-2, with its cache", "ours without cache"
SAMPLED = Figure("Tokens a second, greedy over sampled (temperature 0.8, top-k 50, top-p 0.95)", "ours sampled")
RATE = Figure("Tokens a second, sampled", "", "tokens a second", "{:.0f}")
FIGURES = [*(_beside(scheme, rival) for scheme in SCHEMES for rival in (BARE, GPT2, WITHOUT)), SAMPLED, RATE]


class BareLayer(nn.Module):
    """A pre-norm layer with a cache, and nothing else."""

    def __init__(self, layer: TransformerLayer) -> None:
        super().__init__()
        attention, network = layer.self_attention, layer.feed_forward
        projections = attention.query_projection, attention.key_projection, attention.value_projection
        self.norm, self.heads = _norm(layer.self_attention_norm), attention.num_heads
        self.all_three = _linear(
            torch.cat([linear.weight for linear in projections]), torch.cat([linear.bias for linear in projections])
        )
        self.output = _linear(attention.output_projection.weight, attention.output_projection.bias)
        self.network_norm = _norm(layer.feed_forward_norm)
        self.wide = _linear(network.input_projection.weight, network.input_projection.bias)
        self.narrow = _linear(network.output_projection.weight, network.output_projection.bias)
        self.keys: Tensor | None = None
        self.values: Tensor | None = None

    def forward(self, x: Tensor) -> Tensor:
        """(batch, new, d_model) in and out; all new tokens but a single one begin the text."""
        batch, new, width = x.shape
        q, k, v = self.all_three(self.norm(x)).view(batch, new, 3 * self.heads, -1).transpose(1, 2).chunk(3, 1)
        if self.keys is not None and self.values is not None:
            k, v = torch.cat([self.keys, k], 2), torch.cat([self.values, v], 2)
        self.keys, self.values = k, v
        gathered = F.scaled_dot_product_attention(q, k, v, is_causal=new > 1)
        x = x + self.output(gathered.transpose(1, 2).reshape(batch, new, width))
        result: Tensor = x + self.narrow(F.gelu(self.wide(self.network_norm(x))))
        return result


class BareDecoder(nn.Module):
    """The same decoder by torch's modules alone."""

    def __init__(self, model: Transformer) -> None:
        super().__init__()
        config, stack = model.config, model.stack
        table = stack.positional.encode(config.max_len)
        assert table is not None
        assert stack.final_norm is not None
        embeddings = stack.embedding.weight.detach() * math.sqrt(config.d_model)
        self.tokens = nn.Embedding(config.vocab_size, config.d_model, _weight=embeddings)
        self.positions = nn.Embedding(config.max_len, config.d_model, _weight=table.detach())
        self.layers = nn.ModuleList(BareLayer(layer) for layer in stack.layers if isinstance(layer, TransformerLayer))
        self.norm = _norm(stack.final_norm)
        self.logits = nn.Linear(config.d_model, config.vocab_size, bias=False)
        self.logits.weight = model.unembedding.weight

    def forward(self, tokens: Tensor, start: int) -> Tensor:
        """Logits (batch, new, vocab) of the tokens from this place on."""
        x = self.tokens(tokens) + self.positions(torch.arange(start, start + tokens.shape[1]))
        for layer in self.layers:
            x = layer(x)
        logits: Tensor = self.logits(self.norm(x))
        return logits

    def forget(self) -> None:
        """Begin another text."""
        for layer in self.layers:
            assert isinstance(layer, BareLayer)
            layer.keys = layer.values = None

    @torch.no_grad()
    def write(self, prompt: Tensor, new: int) -> list[int]:
        """Write this many new tokens after the prompt, each the likeliest."""
        self.forget()
        text, start, written = prompt, 0, list[int]()
        for _ in range(new):
            token = self(text, start)[:, -1].argmax(-1, keepdim=True)
            start += text.shape[1]
            text = token
            written.append(int(token))
        return written


@torch.no_grad()
def check_agreement(model: Transformer, bare: BareDecoder, gpt2: Any) -> None:
    """Check that all do the same work: logits of a text agree, read token by token.

    What they write would not be enough: untrained, it is the same token again and again.
    """
    text = torch.randint(1, CONFIG.vocab_size, (1, PROMPT + NEW), generator=torch.Generator().manual_seed(2))
    expected, ids = model(text)[0], text[0].tolist()
    bare.forget()
    singly = [bare(text[:, place : place + 1], place)[0, 0] for place in range(len(ids))]
    forced = dict(enumerate(ids[PROMPT:]))
    steps = generate(model, ids[:PROMPT], steps=NEW, forced=forced)
    ours = torch.stack([step.logits for step in steps])  # the last token is written, and not read
    torch.testing.assert_close(torch.stack(singly), expected, atol=1e-3, rtol=0)
    torch.testing.assert_close(ours, expected[PROMPT - 1 : -1], atol=1e-3, rtol=0)
    torch.testing.assert_close(gpt2(text).logits[0], expected, atol=1e-3, rtol=0)


def _linear(weight: Tensor, bias: Tensor) -> nn.Linear:
    linear = nn.Linear(weight.shape[1], weight.shape[0])
    linear.weight, linear.bias = nn.Parameter(weight.detach()), nn.Parameter(bias.detach())
    return linear


def _norm(norm: Norm) -> nn.LayerNorm:
    bare = nn.LayerNorm(norm.weight.shape)
    bare.load_state_dict(norm.state_dict())
    return bare


def contenders(positional: str) -> dict[str, Callable[[], list[int]]]:
    """Name -> a call that writes the new tokens, all with the same weights and the same prompt."""
    model = Transformer(replace(CONFIG, positional=positional)).eval()
    bare = BareDecoder(model).eval()
    gpt2: Any = to_gpt2(model)  # whose `generate` has types that mypy does not accept
    check_agreement(model, bare, gpt2)
    prompt = torch.randint(1, CONFIG.vocab_size, (1, PROMPT), generator=torch.Generator().manual_seed(1))
    ids, sees_all = prompt[0].tolist(), torch.ones_like(prompt)
    sampled = Sampling(temperature=0.8, top_k=50, top_p=0.95)

    def ours(sampling: Sampling, use_cache: bool) -> list[int]:
        return [step.token for step in generate(model, ids, sampling, steps=NEW, use_cache=use_cache)]

    def theirs() -> list[int]:
        text = gpt2.generate(prompt, attention_mask=sees_all, max_new_tokens=NEW, do_sample=False, use_cache=True)
        written: list[int] = text[0, PROMPT:].tolist()
        return written

    greedy = Sampling(greedy=True)
    return {
        "ours": lambda: ours(greedy, True),
        "ours, sampled": lambda: ours(sampled, True),
        WITHOUT: lambda: ours(greedy, False),
        BARE: lambda: bare.write(prompt, NEW),
        GPT2: theirs,
    }


def main() -> Figures:
    """Print the tables."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    told: Figures = {}
    rows = []
    for positional in SCHEMES:
        calls = contenders(positional)
        texts = {name: call() for name, call in calls.items() if name != "ours, sampled"}
        assert all(text == texts["ours"] for text in texts.values()), "expected all to write the same text"
        seconds = interleaved(calls, rounds=ROUNDS)
        rates = {name: NEW / sorted(times)[len(times) // 2] for name, times in seconds.items()}
        for rival, bar in ((BARE, SPEED), (GPT2, 1.0), (WITHOUT, 1.0)):
            measured: Ratio = ratio(seconds[rival], seconds["ours"])  # tokens a second, so seconds the other way round
            told[_beside(positional, rival)] = measured.median
            beside = f"{measured}  {verdict(measured, bar, at_least=True)}"
            rows.append([positional, f"{rates['ours']:.0f}", rival, f"{rates[rival]:.0f}", beside])
        told[SAMPLED], told[RATE] = ratio(seconds["ours, sampled"], seconds["ours"]).median, rates["ours, sampled"]
        rows.append([positional, f"{rates['ours']:.0f}", "ours, sampled", f"{rates['ours, sampled']:.0f}"])
    columns = ["positions", "ours, tokens a second", "beside", "tokens a second", "ours over it (quartiles)"]
    show(f"Writing {NEW} tokens after {PROMPT}, one thread", columns, rows)
    torch.set_num_threads(before)
    return told
