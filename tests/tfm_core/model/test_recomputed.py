"""Every recorded tensor: its name and place, and its numbers from what was recorded before it and the parameters."""

import math
from itertools import product

import pytest
import torch
import torch.nn.functional as F

from tests.tfm_core.toys import TOLERANCE, build, largest_error, random_ids, run, scramble
from tfm_core import (
    ACTIVATIONS,
    ARCHITECTURES,
    NORMS,
    POSITIONAL,
    alibi_slopes,
    apply_rotary,
    recording,
    sinusoidal_encoding,
    t5_buckets,
)

SUB_LAYERS = ["self_attention", "cross_attention", "feed_forward"]


class Recomputed:
    """What each site should hold, from the trace of its predecessors and the model's parameters."""

    def __init__(self, model, trace, ids):
        self.model, self.config, self.trace, self.ids = model, model.config, trace, ids
        self.parameters = {name.removeprefix("stack."): value for name, value in model.named_parameters()}

    def scheme(self, stack):
        """The model's own positional scheme, for one whose equation is not written out here."""
        return self.model.get_submodule(stack.removesuffix(".") or "stack").positional

    def linear(self, name, x):
        return F.linear(x, self.parameters[f"{name}.weight"], self.parameters.get(f"{name}.bias"))

    def norm(self, name, x):
        return F.layer_norm(x, x.shape[-1:], self.parameters[f"{name}.weight"], self.parameters[f"{name}.bias"])

    def heads(self, x):
        return torch.stack(x.chunk(self.config.num_heads, dim=-1), dim=1)

    def stream_before(self, stack, layer, sub):
        order = [s for s in SUB_LAYERS if f"{stack}layers.{layer}.{s}.output" in self.trace]
        if sub != order[0]:
            return self.trace[f"{stack}layers.{layer}.{order[order.index(sub) - 1]}.residual_after"]
        if layer:
            return self.trace[f"{stack}layers.{layer - 1}.feed_forward.residual_after"]
        position = self.trace.get(f"{stack}position")
        embedding = self.trace[f"{stack}embedding"]
        return embedding if position is None else embedding + position

    def last_stream(self, stack):
        return self.trace[f"{stack}layers.{self.config.num_layers - 1}.feed_forward.residual_after"]

    def end_of(self, stack):
        return self.trace.get(f"{stack}final_norm", self.last_stream(stack))

    def __call__(self, site):
        stack = next((prefix for prefix in ("encoder.", "decoder.") if site.startswith(prefix)), "")
        path = site.removeprefix(stack).split(".")
        if path[0] == "layers":
            return self.in_layer(stack, int(path[1]), path[2], path[3])
        if site == "logits":
            top = "decoder." if self.config.architecture == "encoder-decoder" else ""
            return self.linear("unembedding", self.end_of(top))
        if path[0] == "embedding":
            return self.parameters[f"{stack}embedding.weight"][self.ids] * math.sqrt(self.config.d_model)
        if path[0] == "final_norm":
            return self.norm(f"{stack}final_norm", self.last_stream(stack))
        assert path[0] == "position"
        if self.config.positional == "learned":
            return self.parameters[f"{stack}positional.weight"][: self.ids.shape[1]]
        if self.config.positional == "sinusoidal":
            return sinusoidal_encoding(self.ids.shape[1], self.config.d_model)
        return self.scheme(stack).encode(self.ids.shape[1])

    def in_layer(self, stack, layer, sub, leaf):
        name = f"{stack}layers.{layer}.{sub}"
        here = {s.rsplit(".", 1)[-1]: t for s, t in self.trace.items() if s.startswith(f"{name}.")}
        x = here.get("normed", here["residual_before"])
        if leaf == "residual_before":
            return self.stream_before(stack, layer, sub)
        if leaf == "normed":
            return self.norm(f"{name}_norm", here["residual_before"])
        if leaf == "residual_after":
            total = here["residual_before"] + here["output"]
            return total if self.config.norm == "pre" else self.norm(f"{name}_norm", total)
        if sub == "feed_forward":
            if leaf == "output":
                return self.linear(f"{name}.output_projection", here["hidden"])
            function, gated = ACTIVATIONS[self.config.activation]
            hidden = self.linear(f"{name}.input_projection", x)
            return function(self.linear(f"{name}.gate_projection", x)) * hidden if gated else function(hidden)
        if leaf in ("query", "key", "value"):
            read = self.end_of("encoder.") if sub == "cross_attention" and leaf != "query" else x
            return self.heads(self.linear(f"{name}.{leaf}_projection", read))
        if leaf.startswith("rotated_"):
            rotate = apply_rotary if self.config.positional == "rope" else self.scheme(stack).rotate
            return rotate(here[leaf.removeprefix("rotated_")])
        if leaf == "position_bias":
            return self.bias(stack, here["query"])
        if leaf == "scores":
            query, key = (here.get(f"rotated_{end}", here[end]) for end in ("query", "key"))
            bias = here.get("position_bias", 0)
            return query @ key.transpose(-1, -2) / math.sqrt(self.config.head_dim) + bias
        if leaf == "mask":
            queries, keys = here["scores"].shape[-2:]
            allowed = (self.ids != 0)[:, None, None, :].expand_as(here["mask"])
            if (stack == "decoder." or self.config.architecture == "decoder") and sub == "self_attention":
                allowed = allowed & (torch.arange(keys) <= torch.arange(queries)[:, None])
            return allowed
        if leaf == "masked_scores":
            return torch.where(here["mask"], here["scores"], -math.inf)
        if leaf == "weights":
            return here["masked_scores"].softmax(-1)
        if leaf == "head_output":
            return here["weights"] @ here["value"]
        assert leaf == "output"
        merged = torch.cat(here["head_output"].unbind(1), dim=-1)
        return self.linear(f"{name}.output_projection", merged)

    def bias(self, stack, query):
        distance = torch.arange(query.shape[-2]) - torch.arange(query.shape[-2])[:, None]
        if self.config.positional == "alibi":
            return (-alibi_slopes(self.config.num_heads)[:, None, None] * distance.abs()).to(query)
        if self.config.positional != "t5":
            return self.scheme(stack).bias(query.shape[-2], query.shape[-2])
        one_sided = stack == "decoder." or self.config.architecture == "decoder"
        buckets = t5_buckets(distance, bidirectional=not one_sided)
        return self.parameters[f"{stack}positional.weight"].T[:, buckets]


@torch.no_grad()
@pytest.mark.crossed(positional=POSITIONAL, architecture=ARCHITECTURES, norm=NORMS, dtype=TOLERANCE)
def test_every_site_follows_from_its_predecessors(architecture, norm, positional, dtype):
    activation = list(ACTIVATIONS)[list(POSITIONAL).index(positional) % len(ACTIVATIONS)]
    model = build(architecture=architecture, norm=norm, positional=positional, activation=activation)
    model = scramble(model, dtype)
    ids = random_ids(2, 6)
    ids[1, 4:] = 0
    with recording() as trace:
        run(model, ids)
    recomputed = Recomputed(model, trace, ids)
    for site, tensor in trace.items():
        expected = recomputed(site)
        if tensor.dtype == torch.bool:
            assert torch.equal(tensor, expected), site
            continue
        hidden = tensor == -math.inf
        assert torch.equal(hidden, expected == -math.inf), site
        error = largest_error(tensor.masked_fill(hidden, 0), expected.masked_fill(hidden, 0).to(dtype))
        assert error < TOLERANCE[dtype], site


def sites_of(scheme, norm, *, looks_across=False):
    """The sites of a stack of two layers with this positional scheme, in their order."""
    entering = scheme.enters()
    placed = ["rotated_query", "rotated_key"] * ("rotate" in entering) + ["position_bias"] * ("bias_at" in entering)
    ends = ["mask", "scores", "masked_scores", "weights", "head_output", "output"]
    inner = {
        "self_attention": ["query", "key", "value", *placed, *ends],
        "cross_attention": ["query", "key", "value", *ends],
        "feed_forward": ["hidden", "output"],
    }
    yield from ["embedding"] + ["position"] * ("encode" in entering)
    for layer, sub in product(range(2), SUB_LAYERS):
        if looks_across or sub != "cross_attention":
            sites = ["residual_before", *["normed"] * (norm == "pre"), *inner[sub], "residual_after"]
            yield from (f"layers.{layer}.{sub}.{site}" for site in sites)
    yield from ["final_norm"] * (norm == "pre")


@pytest.mark.crossed(positional=POSITIONAL, architecture=ARCHITECTURES, norm=NORMS)
def test_the_names_and_order_of_all_sites(architecture, norm, positional):
    with recording() as trace:
        run(build(architecture=architecture, norm=norm, positional=positional), random_ids(1, 3))
    expected = [*sites_of(POSITIONAL[positional], norm)]
    if architecture == "encoder-decoder":
        of_decoder = sites_of(POSITIONAL[positional], norm, looks_across=True)
        expected = [*(f"encoder.{site}" for site in expected), *(f"decoder.{site}" for site in of_decoder)]
    assert list(trace) == [*expected, "logits"]
