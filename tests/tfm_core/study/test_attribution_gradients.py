"""Parts of scores and logits, beside gradients of torch.autograd in passes whose norms, weights and ratios are held.

What is held is held by code of these tests: hooks that compute norms anew with their statistics detached, edits of a
recording that detach queries and keys, and activations whose ratio to what they get is detached.
"""

from contextlib import contextmanager

import pytest
import torch
from torch import nn

from tests.tfm_core.study.test_attribution_sums import HEADS, ROUNDING, VARIANTS, WITHOUT_BIAS, Case
from tests.tfm_core.toys import largest_error
from tfm_core import POSITIONAL, recording
from tfm_core.model.feed_forward import ACTIVATIONS, FeedForward
from tfm_core.model.kind import ARCHITECTURES, NORMS
from tfm_core.model.normalization import NORMALIZATIONS
from tfm_core.study.attribution.flow import flow_to
from tfm_core.study.attribution.logits import attribute_logit
from tfm_core.study.attribution.scores import attribute_score, score_parts
from tfm_core.study.attribution.sources import sources_of
from tfm_core.study.attribution.values import attribute_written

WHERE = {"embedding": "embedding", "types": "token_types", "position": "position"}
TOKEN, OTHER = 5, 17


def site_of(source):
    """The site of a recording at which a source writes."""
    prefix = f"{source.stack}." if source.stack else ""
    if source.kind in WHERE:
        return prefix + WHERE[source.kind]
    return f"{prefix}layers.{source.layer}.{source.part}.{'head_output' if source.is_head else 'output'}"


class Held:
    """A pass whose norms keep their statistics: all sites at which sources write, with their gradients.

    Args:
        case: whose model and text.
        cut: whether each source is a number by itself: a gradient takes no way through what other sources read.
        edits: of the recording.
    """

    def __init__(self, case, *, cut=False, edits=None):
        self.case, self.written, self.answers = case, {}, {}
        stacks = ("encoder", "decoder") if case.across else ("",)
        streams = case.streams
        self.sources = [source for name in stacks for source in sources_of(streams.stack(name), name)[:-1]]
        keep = {site_of(source): self.kept(site_of(source), cut) for source in self.sources}
        with norms_held(case.model), recording(edits={**keep, **(edits or {})}) as self.trace:
            self.logits = case.model(*case.inputs, mask=case.mask)[0]

    def kept(self, site, cut):
        def keep(x):
            self.answers[site] = x  # what a source made of what it read, also where the way ends behind it
            self.written[site] = x.detach().requires_grad_() if cut or not x.requires_grad else x
            return self.written[site]

        return keep

    def gradients(self, target, **keywords):
        """The gradient of a number with respect to what is written, site -> of the shape there; 0 without a way."""
        keywords = {"retain_graph": True, "allow_unused": True, "materialize_grads": True, **keywords}
        sites = list(self.written)
        gradients = torch.autograd.grad(target, [self.written[site] for site in sites], **keywords)
        return dict(zip(sites, gradients, strict=True))

    def of(self, source, tensors):
        """What belongs to a source, (position, width), of tensors by site."""
        x = tensors[site_of(source)]
        if source.is_head:
            return x[0, source.head]
        return x[0] if x.dim() == 3 else x

    def wrote(self, source):
        """What a source wrote, (position, width): a network without its last bias."""
        x = self.of(source, self.written)
        if source.kind != "network":
            return x
        network = self.case.streams.stack(source.stack).layers[source.layer].feed_forward
        return x if network.output_projection.bias is None else x - network.output_projection.bias.detach()

    def shares(self, target, **keywords):
        """Gradient times input of each source, a tensor (position) each."""
        gradients = self.gradients(target, **keywords)
        return {source: (self.of(source, gradients) * self.wrote(source)).sum(-1) for source in self.sources}


@contextmanager
def norms_held(model):
    hooks = [
        module.register_forward_hook(with_its_statistics_held)
        for module in model.modules()
        if isinstance(module, nn.LayerNorm | nn.RMSNorm)
    ]
    try:
        yield
    finally:
        for hook in hooks:
            hook.remove()


def with_its_statistics_held(module, inputs, output):
    [x] = inputs
    centred = x - x.mean(-1, keepdim=True) if isinstance(module, nn.LayerNorm) else x
    y = centred / (centred.square().mean(-1, keepdim=True) + module.eps).sqrt().detach() * module.weight
    y = y if module.bias is None else y + module.bias
    assert largest_error(y, output) < 1e-12
    return y


@contextmanager
def ratios_held(model):
    networks = [module for module in model.modules() if isinstance(module, FeedForward)]
    before = [network.activation for network in networks]
    for network in networks:
        network.activation = held(network.activation, gated=network.gate_projection is not None)
    try:
        yield
    finally:
        for network, activation in zip(networks, before, strict=True):
            network.activation = activation


def held(activation, *, gated):
    def ratio(x):
        return torch.where(x == 0, 0.0, activation(x) / x).detach()

    return lambda x: activation(x).detach() if gated else x * ratio(x)


def held_for_all(case, *, cut=False):
    """A pass in which all is held that a flow holds: weights, as nothing asks queries and keys, norms and ratios."""
    with ratios_held(case.model):
        return Held(case, cut=cut, edits={"*.query": torch.Tensor.detach, "*.key": torch.Tensor.detach})


@pytest.mark.crossed(
    architecture=ARCHITECTURES,
    positional=POSITIONAL,
    norm=NORMS,
    normalization=NORMALIZATIONS,
    variant=VARIANTS,
)
def test_each_pair_s_part_is_the_second_derivative_times_both_inputs(
    architecture, positional, norm, normalization, variant
):
    blocks = {"positional": positional, "normalization": normalization}
    case = Case(variant, architecture=architecture, norm=norm, **blocks)
    held_pass = Held(case, cut=True)
    for number, (kind, place, site) in enumerate(case.places):
        if place.layer == 0:
            continue
        head, query, key = number % HEADS, 3, 1  # two positions, so that a score is linear in what is written at each
        arguments = {"layer": 1, "head": head, "query": query, "key": key, "attention": kind, "mask": case.mask}
        parts = attribute_score(case.model, *case.inputs, **arguments)
        score = held_pass.trace[f"{site}scores"][0, head, query, key]
        of_keys = held_pass.gradients(score, create_graph=True)
        for column, source in enumerate(parts.key_side[:-1]):
            given = (held_pass.of(source, of_keys)[key] * held_pass.wrote(source)[key].detach()).sum()
            of_queries = held_pass.shares(given)
            expected = torch.stack([of_queries[of_query][query] for of_query in parts.query_side[:-1]])
            assert largest_error(parts.parts[:-1, column], expected) < ROUNDING


@pytest.mark.crossed(architecture=ARCHITECTURES, positional=POSITIONAL, norm=NORMS, variant=VARIANTS)
def test_rows_and_columns_are_gradient_times_input_with_the_other_side_held(architecture, positional, norm, variant):
    """The query looks at itself: with both sides free, a score is not linear in what is written there."""
    case = Case(variant, architecture=architecture, positional=positional, norm=norm)
    for side, other in (("query", "key"), ("key", "query")):
        held_pass = Held(case, cut=True, edits={f"*.{other}": lambda x: x.detach()})
        for number, (_, place, site) in enumerate(case.places):
            head = (number + 1) % HEADS
            score = held_pass.trace[f"{site}scores"][0, head, 3, 3]
            parts = score_parts(case.streams, place, head=head, query=3, key=3)
            sources, sums = (
                (parts.query_side, parts.parts.sum(1)) if side == "query" else (parts.key_side, parts.parts.sum(0))
            )
            shares = held_pass.shares(score)
            expected = torch.stack([shares[source][3] for source in sources[:-1]])
            assert largest_error(sums[:-1], expected) < ROUNDING


@pytest.mark.crossed(architecture=ARCHITECTURES, positional=POSITIONAL, norm=NORMS, variant=VARIANTS)
def test_what_a_head_wrote_is_gradient_times_input_by_key_and_source(architecture, positional, norm, variant):
    case = Case(variant, architecture=architecture, positional=positional, norm=norm)
    # A head's output is a source by itself in a cut pass: its gathering is computed from recorded values.
    held_pass = Held(case, cut=True)
    for number, (kind, place, site) in enumerate(case.places):
        head, query = (number + 2) % HEADS, 2
        arguments = {"layer": place.layer, "head": head, "query": query, "attention": kind, "mask": case.mask}
        written = attribute_written(case.model, *case.inputs, **arguments)
        values, weights = held_pass.trace[f"{site}value"][0], case.trace[f"{site}weights"][0, head, query]
        gathered = weights @ values[head // (HEADS // len(values))]
        columns = slice(head * len(gathered), (head + 1) * len(gathered))
        direction = torch.randn(16, dtype=torch.float64)
        weight = case.attention(site).output_projection.weight.detach()[:, columns]
        shares = held_pass.shares(direction @ (weight @ gathered))
        expected = torch.stack([shares[source] for source in written.sources[:-1]], -1)
        assert largest_error(written.along(direction)[:, :-1], expected) < ROUNDING


@pytest.mark.crossed(architecture=ARCHITECTURES, norm=NORMS, normalization=NORMALIZATIONS, variant=VARIANTS)
def test_parts_of_a_logit_are_gradient_times_input_on_the_direct_path(architecture, norm, normalization, variant):
    case = Case(variant, architecture=architecture, norm=norm, normalization=normalization, positional="learned")
    held_pass = Held(case, cut=True)
    arguments = {"position": 2, "token": TOKEN, "minus": OTHER, "mask": case.mask}
    parts = attribute_logit(case.model, *case.inputs, **arguments)
    shares = held_pass.shares(held_pass.logits[2, TOKEN] - held_pass.logits[2, OTHER])
    expected = torch.stack([shares[source][2] for source in parts.sources[:-1]])
    assert largest_error(parts.parts[:-1], expected) < ROUNDING


@pytest.mark.crossed(
    architecture=ARCHITECTURES,
    positional=POSITIONAL,
    norm=NORMS,
    normalization=NORMALIZATIONS,
    variant=VARIANTS,
    minus=[None, OTHER],
)
def test_a_flow_is_gradient_times_input_of_the_pass_held_linear(
    architecture, positional, norm, normalization, variant, minus
):
    blocks = {"positional": positional, "normalization": normalization}
    assert_flow(Case(variant, architecture=architecture, norm=norm, **blocks), minus)


def assert_flow(case, minus):
    flow = flow_to(case.streams, position=2, token=TOKEN, minus=minus)
    held_pass = held_for_all(case)
    target = held_pass.logits[2, TOKEN] - (0 if minus is None else held_pass.logits[2, minus])
    assert flow.total == pytest.approx(target.item(), abs=ROUNDING)
    shares = held_pass.shares(target)
    for stack, values in flow.values.items():
        expected = torch.stack([shares[source] for source in sources_of(case.streams.stack(stack), stack)[:-1]])
        assert largest_error(values, expected) < ROUNDING
    # What is asked of each sub-layer's output.
    for place, asked in flow.at.items():
        prefix = f"{place.stack}." if place.stack else ""
        output = held_pass.trace[f"{prefix}layers.{place.layer}.{place.part}.output"]
        [expected] = torch.autograd.grad(target, output, retain_graph=True, allow_unused=True, materialize_grads=True)
        assert largest_error(asked, expected[0]) < ROUNDING
    assert len(flow.at) == sum(len(case.streams.order(stack)) for stack in flow.values)
    assert flow.biases == pytest.approx(given_by_biases(case.model, target), abs=ROUNDING)


def given_by_biases(model, target):
    """All parameters called bias, each times what is asked of it; the scheme's are called otherwise."""
    biases = [parameter for name, parameter in model.named_parameters() if name.endswith(".bias")]
    if not biases:
        return 0.0
    gradients = torch.autograd.grad(target, biases, allow_unused=True, materialize_grads=True)
    return sum((gradient * bias).sum().item() for gradient, bias in zip(gradients, biases, strict=True))


@pytest.mark.crossed(architecture=ARCHITECTURES, positional=WITHOUT_BIAS, norm=NORMS, num_kv_heads=[0, 2])
def test_a_flow_through_linear_attention_is_one_as_well(architecture, positional, norm, num_kv_heads):
    blocks = {"positional": positional, "num_kv_heads": num_kv_heads}
    assert_flow(Case(attention="linear", architecture=architecture, norm=norm, **blocks), None)


@pytest.mark.parametrize("activation", ACTIVATIONS)
def test_a_hidden_unit_that_gets_nothing_gives_nothing(activation):
    """The ratio of 0 to 0 is no number: such a unit is left out, and what is left sums to the logit."""

    def with_silent_units(model):
        network = model.stack.layers[1].feed_forward
        network.input_projection.weight.data[3:7] = 0
        network.input_projection.bias.data[3:7] = 0

    case = Case(activation=activation, change=with_silent_units)
    flow = flow_to(case.streams, position=2, token=TOKEN)
    [values] = flow.values.values()
    assert values.isfinite().all()
    tokens = [not source.part for source in sources_of(case.model.stack)[:-1]]
    assert values[torch.tensor(tokens)].sum().item() + flow.biases == pytest.approx(case.logits[2, TOKEN].item())
    target = held_for_all(case).logits[2, TOKEN]
    assert flow.biases == pytest.approx(given_by_biases(case.model, target), abs=ROUNDING)
