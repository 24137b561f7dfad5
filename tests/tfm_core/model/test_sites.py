"""The sites of the recording: what they are called, in which order they come, and how they are shaped."""

import pytest

from tests.tfm_core.toys import VOCAB, build, random_ids, run
from tfm_core import ARCHITECTURES, NORMS, POSITIONAL, recording

ATTENTION = ["query", "key", "value", "mask", "scores", "masked_scores", "weights", "head_output", "output"]
FEED_FORWARD = ["hidden", "output"]
every_architecture = pytest.mark.parametrize("architecture", ARCHITECTURES)


def extra_sites(scheme):
    """What a scheme adds by the method that it overrides, and after which site."""
    if "encode" in scheme.enters():
        yield "embedding", ["position"]
    if "bias_at" in scheme.enters():
        yield "self_attention.value", ["position_bias"]
    if "rotate" in scheme.enters():
        yield "self_attention.value", ["rotated_query", "rotated_key"]


def sub_layer(name, inner, norm):
    normed = [f"{name}.normed"] if norm == "pre" else []
    return [f"{name}.residual_before", *normed, *(f"{name}.{site}" for site in inner), f"{name}.residual_after"]


def stack(num_layers, norm, *, cross=False):
    layer = sub_layer("self_attention", ATTENTION, norm)
    if cross:
        layer += sub_layer("cross_attention", ATTENTION, norm)
    layer += sub_layer("feed_forward", FEED_FORWARD, norm)
    layers = [f"layers.{i}.{site}" for i in range(num_layers) for site in layer]
    return ["embedding", *layers, *(["final_norm"] if norm == "pre" else [])]


def all_sites(architecture, norm, positional, num_layers=2):
    if architecture == "encoder-decoder":
        names = [f"encoder.{site}" for site in stack(num_layers, norm)]
        names += [f"decoder.{site}" for site in stack(num_layers, norm, cross=True)]
    else:
        names = stack(num_layers, norm)
    for after, extra in extra_sites(POSITIONAL[positional]):
        for i, name in reversed(list(enumerate(names))):
            if name.endswith(after):
                names[i + 1 : i + 1] = [name.removesuffix(after.split(".")[-1]) + site for site in extra]
    return [*names, "logits"]


@pytest.mark.crossed(positional=POSITIONAL, architecture=ARCHITECTURES, norm=NORMS)
def test_the_names_and_order_of_all_sites(architecture, norm, positional):
    with recording() as trace:
        run(build(architecture=architecture, norm=norm, positional=positional), random_ids(1, 3))
    assert list(trace) == all_sites(architecture, norm, positional)


def test_the_shape_of_every_site():
    batch, source, target, width, heads = 2, 5, 3, 16, 4
    with recording() as trace:
        build(architecture="encoder-decoder")(random_ids(batch, source), random_ids(batch, target))
    for site, tensor in trace.items():
        stack, _, rest = site.partition(".")
        queries = source if stack == "encoder" else target
        keys = source if "cross_attention" in rest else queries
        shapes = {
            "position": (queries, width),
            "query": (batch, heads, queries, width // heads),
            "key": (batch, heads, keys, width // heads),
            "value": (batch, heads, keys, width // heads),
            "mask": (queries, keys),
            **dict.fromkeys(["scores", "masked_scores", "weights"], (batch, heads, queries, keys)),
            "head_output": (batch, heads, queries, width // heads),
            "hidden": (batch, queries, 20),
            "logits": (batch, target, VOCAB),
        }
        assert tensor.shape == shapes.get(site.rsplit(".", 1)[-1], (batch, queries, width)), site
