"""SmolLM2 beside transformers' Llama with the same weights, and on a page: passes, writing, a tick, memory.

Needs `python3 run.py --models`. One thread. transformers' model is eager and hands out all attentions, as whoever looks
into it must have it; ours is recorded, once with the logits of all tokens, and once as the app runs it, with those of
the last token alone. Before the measurement, logits and attentions are compared.
"""

import itertools
import os
import statistics
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from typing import Any

import psutil
import torch
from torch import Tensor

from benchmarks.drag import Visitor, dragging
from benchmarks.live.press import Clocked, Tick, link
from benchmarks.live.serve import chromium, running_server
from benchmarks.measure import Figure, Figures, interleaved, ratio, show, verdict
from tfm_core import Sampling, Transformer, TransformerLayer, generate, recording
from tfm_core.model.transformer import Stack
from tfm_core.pretrained.offered import COMMAND, OFFERED, pretrained_config

NAME = "smollm2"
LENGTHS, NEW, ROUNDS = (12, 256), 32, 5
PASS_BAR, WRITING_BAR, FIRST_BAR = 0.9, 1.2, 2.0  # times, times, seconds
TICK_BAR, BESIDE_BAR, MEMORY_BAR = 400.0, 3.0, 900.0  # ms, times, MB
TOKENS, TURNS, TICKS = 12, 6, 5
TEXT = "The animal number {} did not cross the street because it was too tired to walk"
FIRST_USE = """
import time
begin = time.perf_counter()
import torch
from tfm_core import Transformer
from tfm_core.pretrained.offered import pretrained_config, pretrained_prompt
imported = time.perf_counter()
with torch.no_grad():
    Transformer(pretrained_config("smollm2")).eval()(pretrained_prompt("smollm2", "The capital of France is").batch)
print(time.perf_counter() - imported)
"""

THEIRS = "transformers’ Llama, eager, with all attentions"
LAST = {n: Figure(f"A recorded pass of SmolLM2, {n} tokens, logits of the last", THEIRS) for n in LENGTHS}
ALL = {n: Figure(f"A recorded pass of SmolLM2, {n} tokens, all logits", THEIRS) for n in LENGTHS}
WRITING = Figure(f"SmolLM2 writes {NEW} tokens greedily: tokens a second", "transformers’ generate, with its cache")
FIRST = Figure("SmolLM2’s first pass in a new process, reading included", "", "s", "{:.2f}")
TICK = Figure(f"Heads with SmolLM2, {TOKENS} tokens: from a key to its pixels", "", "ms", "{:.0f}")
BESIDE = Figure("Both pictures of Heads while another visitor drags SmolLM2", "the same while nobody does")
MEMORY = Figure("Memory of a server with SmolLM2 over that without (PSS, page and two workers)", "", "MB", "{:.0f}")
FIGURES = [*LAST.values(), *ALL.values(), WRITING, FIRST, TICK, BESIDE, MEMORY]


def main() -> Figures:
    """Print the tables."""
    if not OFFERED[NAME].is_there:
        sys.exit(f"benchmarks pretrained: expected SmolLM2, which {COMMAND} installs")
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    ours = Transformer(pretrained_config(NAME)).eval()
    theirs = as_llama(ours)
    figures = passes(ours, theirs) | writing(ours, theirs) | {FIRST: first_use()}
    torch.set_num_threads(before)
    del theirs
    rows = [["first pass in a new process", f"{figures[FIRST]:.2f} s", verdict(figures[FIRST], FIRST_BAR)]]
    show("First use", ["", "measured", "bar"], rows)
    return figures | on_a_page()


def as_llama(ours: Transformer) -> Any:
    """transformers' Llama with the weights of ours; those of queries and keys are put in order for pairs of halves."""
    from transformers import LlamaConfig, LlamaForCausalLM

    config = ours.config
    theirs = LlamaForCausalLM(
        LlamaConfig(
            vocab_size=config.vocab_size,
            hidden_size=config.d_model,
            intermediate_size=config.d_ff,
            num_hidden_layers=config.num_layers,
            num_attention_heads=config.num_heads,
            num_key_value_heads=config.num_kv_heads,
            max_position_embeddings=config.max_len,
            rms_norm_eps=config.norm_eps,
            rope_parameters={"rope_theta": config.positional_base, "rope_type": "default"},
            tie_word_embeddings=True,
            attn_implementation="eager",
        )
    )
    theirs.load_state_dict(_named_as_theirs(ours.stack))
    return theirs.eval()


def _named_as_theirs(stack: Stack) -> dict[str, Tensor]:
    def halves(weight: Tensor, heads: int) -> Tensor:
        return weight.view(heads, -1, 2, weight.shape[1]).transpose(1, 2).reshape(weight.shape)

    assert stack.final_norm is not None
    embedding = stack.embedding.weight
    tensors = {"model.embed_tokens.weight": embedding, "lm_head.weight": embedding}
    tensors["model.norm.weight"] = stack.final_norm.weight
    for number, layer in enumerate(stack.layers):
        assert isinstance(layer, TransformerLayer)
        attention, network = layer.self_attention, layer.feed_forward
        assert network.gate_projection is not None
        weights: dict[str, Tensor] = {
            "self_attn.q_proj": halves(attention.query_projection.weight, attention.num_heads),
            "self_attn.k_proj": halves(attention.key_projection.weight, attention.num_kv_heads),
            "self_attn.v_proj": attention.value_projection.weight,
            "self_attn.o_proj": attention.output_projection.weight,
            "mlp.gate_proj": network.gate_projection.weight,
            "mlp.up_proj": network.input_projection.weight,
            "mlp.down_proj": network.output_projection.weight,
            "input_layernorm": layer.self_attention_norm.weight,
            "post_attention_layernorm": layer.feed_forward_norm.weight,
        }
        tensors |= {f"model.layers.{number}.{name}.weight": weight for name, weight in weights.items()}
    return tensors


@torch.no_grad()
def passes(ours: Transformer, theirs: Any) -> Figures:
    """Recorded passes of random tokens."""
    figures: Figures = {}
    rows = []
    for length in LENGTHS:
        tokens = torch.randint(20, ours.config.vocab_size, (1, length), generator=torch.Generator().manual_seed(length))

        calls: dict[str, Callable[[], Any]] = {
            "all": partial(recorded, partial(ours, tokens)),
            "last": partial(recorded, partial(_last_logits, ours, tokens)),
            "theirs": partial(theirs, tokens, output_attentions=True, use_cache=False),
        }
        check(ours, theirs, tokens)
        seconds = interleaved(calls, rounds=ROUNDS)
        for kind, figure in (("last", LAST[length]), ("all", ALL[length])):
            measured = ratio(seconds[kind], seconds["theirs"])
            figures[figure] = measured.median
            ms = f"{1000 * statistics.median(seconds[kind]):.0f} / {1000 * statistics.median(seconds['theirs']):.0f}"
            bar = verdict(measured, PASS_BAR) if kind == "last" else ""
            rows.append([f"{length} tokens, logits of {kind}", measured, bar, ms])
    show(f"A recorded pass over {THEIRS}, one thread", ["", "times", "bar", "ms ours / theirs"], rows)
    return figures


def recorded(run: Callable[[], Tensor]) -> Tensor:
    """A pass whose attention weights are all kept until it ends."""
    with recording("*.weights"):
        return run()


def _last_logits(ours: Transformer, tokens: Tensor) -> Tensor:
    return ours.logits(ours.states(tokens)[:, -1:])


def check(ours: Transformer, theirs: Any, tokens: Tensor) -> None:
    """Check that both compute the same."""
    with recording("*.self_attention.weights") as trace:
        logits = ours(tokens)
    expected = theirs(tokens, output_attentions=True)
    torch.testing.assert_close(logits, expected.logits, atol=1e-3, rtol=0)
    for here, there in zip(trace.values(), expected.attentions, strict=True):
        torch.testing.assert_close(here, there, atol=1e-4, rtol=0)


@torch.no_grad()
def writing(ours: Transformer, theirs: Any) -> Figures:
    """Tokens that are written with the cache, greedily."""
    prompt = torch.randint(20, ours.config.vocab_size, (1, 12), generator=torch.Generator().manual_seed(1))
    ids, sees_all, greedy = prompt[0].tolist(), torch.ones_like(prompt), Sampling(greedy=True)
    options = {"max_new_tokens": NEW, "do_sample": False, "eos_token_id": None, "pad_token_id": 2}
    calls: dict[str, Callable[[], list[int]]] = {
        "ours": lambda: [step.token for step in generate(ours, ids, greedy, steps=NEW)],
        "theirs": lambda: theirs.generate(prompt, attention_mask=sees_all, **options)[0, 12:].tolist(),
    }
    assert calls["ours"]() == calls["theirs"](), "expected both to write the same text"
    seconds = interleaved(calls, rounds=ROUNDS)
    measured = ratio(seconds["theirs"], seconds["ours"])  # tokens a second, so seconds the other way round
    rates = [f"{NEW / statistics.median(seconds[name]):.1f}" for name in ("ours", "theirs")]
    row = [measured, verdict(measured, WRITING_BAR, at_least=True), " / ".join(rates)]
    show("Writing, over transformers’ generate", ["times", "bar", "tokens a second ours / theirs"], [row])
    return {WRITING: measured.median}


def first_use() -> float:
    """Seconds of the first pass in a new process, after its imports."""
    told = subprocess.run([sys.executable, "-c", FIRST_USE], capture_output=True, text=True, check=True)
    return float(told.stdout)


def on_a_page() -> Figures:
    """Ticks, another visitor's ticks beside them, and memory."""
    texts = (TEXT.format(number) for number in itertools.count())
    model = {"weights": NAME, "seq_len": TOKENS + 1}
    with running_server(settings={"ATTENTION_LAB_WORKERS": "2"}) as (address, process), chromium() as browser:
        for path in ("/heads", "/attention", "/model"):
            Clocked(browser, address + link(path, TOKENS)).close()
        without = _memory(process)
        ticks: list[Tick] = []
        for _ in range(TURNS):
            lens = Clocked(browser, address + link("/heads", TOKENS, **model | {"text": next(texts)}))
            ticks.append(lens.press("Tokens", "ArrowLeft"))
            lens.close()
        for path in ("/attention", "/model"):
            Clocked(browser, address + link(path, TOKENS, **model | {"text": next(texts)})).close()
        memory = _memory(process) - without
        visitor, seeds = Visitor(address), itertools.count(1000)
        idle: list[float] = []
        busy: list[float] = []
        for _ in range(TURNS):
            idle.append(statistics.median(visitor.ask(seed=next(seeds)) for _ in range(TICKS)))
            some = tuple(itertools.islice(texts, 100))
            with dragging(address, "text", some, weights=NAME, seq_len=TOKENS):
                busy.append(statistics.median(visitor.ask(seed=next(seeds)) for _ in range(TICKS)))
    beside, tick = ratio(busy, idle), statistics.median(each.all for each in ticks)
    rows = [
        ["a tick of Heads, ms", f"{tick:.0f} (longest {max(each.all for each in ticks):.0f})", verdict(tick, TICK_BAR)],
        ["another visitor’s tick, times", f"{beside}", verdict(beside, BESIDE_BAR)],
        ["memory, MB", f"{memory:.0f}", verdict(memory, MEMORY_BAR)],
    ]
    show("SmolLM2 on a page", ["", "measured", "bar"], rows)
    return {TICK: tick, BESIDE: beside.median, MEMORY: memory}


def _memory(process: int) -> float:
    """Proportional set size of a server's processes, in MB: what they share counts once."""
    whole = psutil.Process(process)
    if not hasattr(whole.memory_full_info(), "pss"):
        return float("nan")
    sizes = (
        each.memory_full_info().pss for each in (whole, *whole.children(recursive=True)) if each.pid != os.getpid()
    )
    return float(sum(sizes)) / 1e6
