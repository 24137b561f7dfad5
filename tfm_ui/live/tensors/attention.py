"""Attentions as steps to take along: one with all its matrices, or the heads of all layers; all numbers of one pass."""

from collections.abc import Callable
from dataclasses import replace

import torch
from torch import Tensor

from tfm_core.positional.schemes import Positional
from tfm_ui.live.attention import GivenAttention
from tfm_ui.live.inside import Inside
from tfm_ui.live.origins import Heads, Origin
from tfm_ui.live.tensors.parts import applied, linear, normed
from tfm_ui.live.tensors.plain import features, for_pairs, rolled_out
from tfm_ui.live.tensors.step import Named, Step, held

PAIRS = ("head", "query", "key")
CALLED = {
    "self": "self-attention",
    "encoder": "the encoder’s self-attention",
    "decoder": "the decoder’s self-attention",
    "cross": "cross-attention",
}
SMALLEST = 1e-30  # what is divided by at least, where a query may see nothing
# What the step-by-step view calls S, M and S″ is called so here, too.
SCORES = "Q @ K.mT"
ABOUT_SCORES = "S, the dot product of each query and each key"
ABOUT_ADDED = "M, what the mask adds to scores: 0 where the query may look at the key, −inf where it may not"
ABOUT_MASKED = "S″, the scaled scores, and −inf where the query may not look at the key"
SCORE_IS_SCALED = "What is called a score on screen is in “scaled”: it is divided by √d_k already."
NEAR = 1e-5  # by how much what plain torch makes of a scheme may differ from what it adds, as a share


def title(kind: str, layer: int) -> str:
    """What an attention is called; the layer from 0."""
    return f"Layer {layer + 1}, {CALLED[kind]}"


def of_attention(
    inside: Inside, called: str, *, scaled: bool = True, masked: bool = True, temperature: float = 1.0
) -> Step:
    """One attention from its input to its output, all heads of it.

    Args:
        inside: what it read and wrote.
        called: which it is.
        scaled: whether scores are divided by the root of head_dim, as in the model.
        masked: whether the mask is obeyed, as in the model.
        temperature: what the scores are divided by at the end; 1 in the model.
    """
    module, crosses = inside.module, inside.memory.data_ptr() != inside.input.data_ptr()
    as_in_model = scaled and masked and temperature == 1
    tensors = normed(inside.residual, inside.norm, inside.input, "X", "query")
    if crosses:
        tensors.append(held("memory", ("key", "d_model"), inside.memory, "what keys and values are made from"))
    reads = {"query": "X", "key": "memory" if crosses else "X", "value": "memory" if crosses else "X"}
    for role, letter in (("query", "Q"), ("key", "K"), ("value", "V")):
        tensors += _projected(inside, role, letter, reads[role])
    bias = bias_of(inside.positional, inside.heads, *inside.visible.shape)
    visible = inside.visible if masked else torch.ones_like(inside.visible)
    if module.has_scores:
        tensors += [*bias, *_weights(inside, visible, bool(bias), scaled, temperature)]
    else:
        tensors += _linear_weights(inside)
    gathered = inside.recorded["head_output"]
    output = inside.recorded["output"]
    side_by_side = ("query", "head × head_dim")
    if not as_in_model:
        gathered, output = _without(inside, visible, scaled, temperature)
    tensors.append(
        held("head_output", ("head", "query", "head_dim"), gathered, "H, values times weights, summed", "weights @ V")
    )
    merged = gathered.transpose(0, 1).flatten(1)
    tensors.append(held("heads", side_by_side, merged, "the outputs of all heads side by side", "merged(head_output)"))
    tensors += linear(module.output_projection, "W_O", "b_O", ("d_model", "head × head_dim"), "the output")
    added = applied("heads", module.output_projection, "W_O", "b_O")
    tensors.append(held("output", ("query", "d_model"), output, "Y, what is added to the residual stream", added))
    return Step(called, tensors, _constants(inside, temperature), "" if as_in_model else _switched(scaled, masked))


def _constants(inside: Inside, temperature: float) -> dict[str, float]:
    module = inside.module
    eps = {} if inside.norm is None else {"norm_eps": inside.norm.eps or 0.0}
    heads = {"num_heads": module.num_heads, "num_kv_heads": module.num_kv_heads, "head_dim": inside.head_dim}
    return {"d_model": module.d_model, **heads, **eps, "temperature": temperature}


def _switched(scaled: bool, masked: bool) -> str:
    """Why these are not the numbers of the model."""
    off = [name for name, on in (("the division by the root of head_dim", scaled), ("the mask", masked)) if not on]
    if off:
        is_off = "is" if len(off) == 1 else "are"
        return f"{' and '.join(off).capitalize()} {is_off} switched off: from there on, numbers are not the model’s."
    return "The temperature is not 1: from the scaled scores on, numbers are not the model’s."


def _projected(inside: Inside, role: str, letter: str, reads: str) -> list[Named]:
    """A projection, and the queries, keys or values that it makes; where positions turn these, before and after."""
    module, linear_map = inside.module, inside.projection(role)
    shares = role != "query" and module.num_kv_heads < module.num_heads
    heads, axis = ("num_kv_heads", "kv_head") if shares else ("num_heads", "head")
    weight, bias, noun = f"W_{letter}", f"b_{letter}", {"query": "queries", "key": "keys", "value": "values"}[role]
    code = f"split({applied(reads, linear_map, weight, bias)}, {heads})"
    about = f"the {noun} of each head"
    if shares:
        code += ".repeat_interleave(num_heads // num_kv_heads, dim=0)"
        about += f", which {module.num_heads // module.num_kv_heads} heads share"
    axes = ("head", "query" if role == "query" else "key", "head_dim")
    parameters = linear(linear_map, weight, bias, (f"{axis} × head_dim", "d_model"), f"the {noun}")
    if f"rotated_{role}" not in inside.recorded:
        return [*parameters, held(letter, axes, inside.recorded[role], f"{letter}, {about}", code)]
    before = f"{letter}_before_rotation"
    assert inside.positional is not None
    turns = turns_of(inside.positional, inside.head_dim)
    turned, of_turned = inside.recorded[f"rotated_{role}"], f"rotated({before}, pairs, turn)" * bool(turns)
    return [
        *parameters,
        held(before, axes, inside.recorded[role], f"{about}, before their positions turn them", code),
        *(turns if role == "query" else []),
        held(letter, axes, turned, f"{letter}, the {noun} of each head, turned by their positions", of_turned),
    ]


def turns_of(scheme: Positional, width: int) -> list[Named]:
    """Which dimensions a scheme turns together, and how far; nothing where it does not say."""
    pairs, wavelengths = scheme.pairs(width), scheme.wavelengths(width)
    if pairs is None or wavelengths is None:
        return []
    turn = (2 * torch.pi / wavelengths).float()
    return [
        held("pairs", ("pair", "2"), pairs, "which dimensions turn together"),
        held("turn", ("pair",), turn, "how far each pair turns from a position to the next, in radians"),
    ]


def bias_of(scheme: Positional | None, heads: int, queries: int, keys: int) -> list[Named]:
    """What a positional scheme adds to the scores, if it does: by distance, and for each pair of tokens.

    Args:
        scheme: that of the attention.
        heads: how many there are.
        queries: how many tokens look.
        keys: how many are looked at.
    """
    if scheme is None or "bias_at" not in scheme.enters():
        return []
    distances = torch.arange(1 - queries, keys)
    with torch.no_grad():
        made = scheme.bias_at(distances)
    assert made is not None
    biases = made.to(torch.float32)
    made_of, code = _made_of(scheme, distances, biases, f"{queries}, {keys}")
    about = "what each head adds at each distance key − query"
    by_distance = held("bias_by_distance", ("head", "distance"), biases, about, code)
    pairs = Named(
        "bias",
        PAIRS,
        (heads, queries, keys),
        "B, what the positions add to the scores",
        lambda: for_pairs(biases, queries, keys),
        f"for_pairs(bias_by_distance, {queries}, {keys})",
        spare=True,
    )
    return [*made_of, by_distance, pairs]


def _made_of(scheme: Positional, distances: Tensor, biases: Tensor, lengths: str) -> tuple[list[Named], str]:
    """What the biases at all distances are made of, and how; nothing where that is more than slopes or a table."""
    slopes, buckets = scheme.slopes(), scheme.buckets(distances)
    tables = [getattr(scheme, name) for name, table in scheme.tables.items() if table.place == "bias_at"]
    if slopes is not None and _near(-slopes[:, None] * distances.abs(), biases):
        steep = held("slopes", ("head",), slopes.float(), "how much the bias falls with every step of distance")
        return [steep], f"-slopes[:, None] * distances({lengths}).abs()"
    if buckets is not None and len(tables) == 1 and _near(tables[0].detach()[buckets].T, biases):
        table = held("bias_table", ("bucket", "head"), tables[0].detach(), "a number per bucket of distances, learned")
        rows = held("buckets", ("distance",), buckets, "the row of the table for each distance key − query")
        return [table, rows], "bias_table[buckets].T"
    return [], ""


def _near(made: Tensor, right: Tensor) -> bool:
    return made.shape == right.shape and torch.allclose(made.float(), right, rtol=NEAR, atol=NEAR)


def _scaled(inside: Inside, head: int, scaled: bool, temperature: float) -> Tensor:
    scores = inside.origin.scores(head, scale=None if scaled else 1.0)
    return scores if temperature == 1 else scores / temperature


def _masked(inside: Inside, head: int, visible: Tensor, scaled: bool, temperature: float) -> Tensor:
    return _scaled(inside, head, scaled, temperature).masked_fill(~visible, -torch.inf)


def _head_weights(inside: Inside, head: int, visible: Tensor, scaled: bool, temperature: float) -> Tensor:
    weights = _masked(inside, head, visible, scaled, temperature).softmax(-1)
    return weights.masked_fill(~visible.any(-1, keepdim=True), 0.0)


def _without(inside: Inside, visible: Tensor, scaled: bool, temperature: float) -> tuple[Tensor, Tensor]:
    """What the heads gather where a switch makes other weights than the model's, and the output of that."""
    rows = [
        _head_weights(inside, head, visible, scaled, temperature) @ inside.value[head] for head in range(inside.heads)
    ]
    gathered = torch.stack(rows)
    with torch.no_grad():
        output: Tensor = inside.module.output_projection(gathered.transpose(0, 1).flatten(1))
    return gathered, output


def _weights(inside: Inside, visible: Tensor, has_bias: bool, scaled: bool, temperature: float) -> list[Named]:
    """What becomes of the products of queries and keys, step by step, in all heads: up to the weights."""
    shape, heads = (inside.heads, *visible.shape), range(inside.heads)
    plain = Origin(inside.query[None], inside.key[None], None)  # without what positions add
    added = torch.zeros(visible.shape).masked_fill(~visible, -torch.inf)

    def of_heads(make: Callable[[int], Tensor]) -> Callable[[], Tensor]:
        return lambda: torch.stack([make(head) for head in heads])

    scores = of_heads(lambda head: plain.scores(head, scale=1.0))
    of_scaled = of_heads(lambda head: _scaled(inside, head, scaled, temperature))
    masked = of_heads(lambda head: _masked(inside, head, visible, scaled, temperature))
    weights = of_heads(lambda head: _head_weights(inside, head, visible, scaled, temperature))
    about, code = told_of_scaled(has_bias=has_bias, scaled=scaled, temperature=temperature)
    return [
        Named("scores", PAIRS, shape, ABOUT_SCORES, scores, SCORES, spare=True),
        Named("scaled", PAIRS, shape, about, of_scaled, code, spare=True),
        mask_of(visible),
        held("M", PAIRS[1:], added, ABOUT_ADDED, f"torch.zeros{tuple(visible.shape)}.masked_fill(~mask, -torch.inf)"),
        Named("masked", PAIRS, shape, ABOUT_MASKED, masked, "scaled + M", spare=True),
        Named("weights", PAIRS, shape, about_weights(visible), weights, weight_code(visible)),
    ]


def _linear_weights(inside: Inside) -> list[Named]:
    """The mask and the weights that linear attention implies: its products of features have no scores."""
    query, key, visible = inside.query, inside.key, inside.visible
    code = "features(Q) @ features(K).mT"

    def products() -> Tensor:
        return features(query) @ features(key).mT

    def kept() -> Tensor:
        return products().masked_fill(~visible, 0.0)

    def weights() -> Tensor:
        return kept() / kept().sum(-1, keepdim=True).clamp(min=SMALLEST)

    shape = (inside.heads, *visible.shape)
    about = "A, each query’s shares of the keys, which linear attention never writes down"
    divided = f"kept / kept.sum(-1, keepdim=True).clamp(min={SMALLEST})"
    of_kept = "the products of pairs that may look at each other"
    return [
        Named("products", PAIRS, shape, "products of the features elu(x) + 1", products, code, spare=True),
        mask_of(visible),
        Named("kept", PAIRS, shape, of_kept, kept, "products.masked_fill(~mask, 0)", spare=True),
        Named("weights", PAIRS, shape, about, weights, divided),
    ]


def told_of_scaled(*, has_bias: bool, scaled: bool = True, temperature: float = 1.0) -> tuple[str, str]:
    """What the scaled scores are, and the code that makes them of the scores."""
    code = "scores" + " / head_dim**0.5" * scaled + " + bias" * has_bias
    about = f"S′, the scores{' divided by √d_k' if scaled else ', not divided by √d_k'}"
    about += ", and what the positions add" * has_bias
    if temperature == 1:
        return about, code
    return f"{about}; all divided by the temperature", f"({code}) / temperature"


def mask_of(visible: Tensor) -> Named:
    """The mask of a step."""
    return held("mask", ("query", "key"), visible, "True where the query may look at the key")


def weight_code(visible: Tensor) -> str:
    """The code of the weights under a mask, which may leave a query no key."""
    code = "masked.softmax(-1)"
    return code if bool(visible.any(-1).all()) else f"{code}.masked_fill(~mask.any(-1, keepdim=True), 0)"


def about_weights(visible: Tensor) -> str:
    """What the weights are."""
    empty = "" if bool(visible.any(-1).all()) else "; a query that may see nothing has zeros"
    return f"A, each query’s shares of the keys, the softmax of its row{empty}"


def of_heads(attention: Heads, called: str, positional: Positional | None) -> Step:
    """The heads of all layers in one pass: queries and keys, the mask, scores and weights; of a file, its weights.

    Args:
        attention: the heads.
        called: which they are.
        positional: the scheme that acts in them; None if none does.
    """
    axes, layers = ("layer", *PAIRS), range(len(attention.origins))
    if isinstance(attention, GivenAttention):
        shape = (len(attention.layers), *attention.layers[0].given.shape)
        weights = Named(
            "weights", axes, shape, "as the file has them", lambda: torch.stack([x.given for x in attention.layers])
        )
        return Step(called, [weights], note="These weights come from a file, and nothing else is known of them.")
    origins, visible, heads = attention.origins, torch.from_numpy(attention.visible), attention.heads
    shape = (len(origins), heads, *visible.shape)
    bias = bias_of(positional, heads, *visible.shape)
    query, key = (torch.cat([getattr(origin, what) for origin in origins]) for what in ("query", "key"))
    turned = ", turned by their positions" if positional is not None and "rotate" in positional.enters() else ""

    def of_all(make: Callable[[int, int], Tensor]) -> Tensor:
        return torch.stack([torch.stack([make(i, head) for head in range(heads)]) for i in layers])

    def scores() -> Tensor:
        return of_all(lambda i, head: replace(origins[i], positional=None).scores(head, scale=1.0))

    def scaled() -> Tensor:
        return of_all(attention.scores)

    def masked() -> Tensor:
        return of_all(lambda i, head: attention.scores(i, head).masked_fill(~visible, -torch.inf))

    def weights_of_all() -> Tensor:
        return of_all(lambda i, head: torch.from_numpy(attention.exact(i, head)))

    about, code = told_of_scaled(has_bias=bool(bias))
    tensors = [
        held("Q", ("layer", "head", "query", "head_dim"), query, f"Q, the queries of each head{turned}"),
        held("K", ("layer", "head", "key", "head_dim"), key, f"K, the keys of each head{turned}"),
        *bias,
        Named("scores", axes, shape, ABOUT_SCORES, scores, SCORES, spare=True),
        Named("scaled", axes, shape, about, scaled, code, spare=True),
        mask_of(visible),
        Named("masked", axes, shape, ABOUT_MASKED, masked, "scaled.masked_fill(~mask, -torch.inf)", spare=True),
        Named("weights", axes, shape, about_weights(visible), weights_of_all, weight_code(visible)),
    ]
    return Step(called, tensors, {"head_dim": query.shape[-1]})


def and_aggregate(step: Step, attention: Heads, how: str) -> Step:
    """The heads of all layers, and what is made of their weights: their "mean", their "max", or their "rollout".

    Args:
        step: that of `of_heads`.
        attention: the same heads.
        how: one of these three; as in the step for anything else.
    """
    weights = next(tensor for tensor in step.tensors if tensor.name == "weights")
    layers, heads, *pairs = weights.shape

    def means() -> Tensor:  # a head at a time: of a long text all would be more than a server has
        each = (sum(torch.from_numpy(attention.exact(i, head)) for head in range(heads)) for i in range(layers))
        return torch.stack([torch.as_tensor(total) / heads for total in each])

    def largest() -> Tensor:
        made = torch.zeros(layers, *pairs)
        for i in range(layers):
            for head in range(heads):
                torch.maximum(made[i], torch.from_numpy(attention.exact(i, head)), out=made[i])
        return made

    made = {
        "mean": ("the mean over the heads of each layer", means, "weights.mean(1)"),
        "max": ("the largest weight of any head of each layer", largest, "weights.amax(1)"),
        "rollout": (
            "what flows from key to query through the layers up to each",
            lambda: rolled_out(means()),
            "rolled_out(weights.mean(1))",
        ),
    }
    if how not in made:
        return step
    about, numbers, code = made[how]
    aggregate = Named(how, ("layer", "query", "key"), (layers, *pairs), about, numbers, code)
    return replace(step, tensors=[*step.tensors, aggregate])
