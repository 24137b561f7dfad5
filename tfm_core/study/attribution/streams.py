"""One pass of a model with each residual stream as a sum over its sources.

    streams = record(model, tokens)
    terms = streams.before(Place(layer=3, part="self_attention"))   # what attention of layer 4 reads, before its norm
    terms.vectors.sum(0)                                            # (position, d_model): the stream itself

A norm divides by a number that it computes from the whole sum. With this number as it was in the pass, a norm is
linear, and so is all from a source to a query, a key, a value or a logit. Elhage et al. 2021, "A Mathematical
Framework for Transformer Circuits"; norms with their statistics fixed: Kobayashi et al. 2021, section 3.

Where linearity ends: the statistics of norms, the softmax, and the activations of networks depend on the sum. What
would become of them without a source is not told by a term, but by an intervention.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, cast

import torch
from torch import Tensor, nn

from tfm_core.model.attention import MultiHeadAttention
from tfm_core.model.feed_forward import FeedForward
from tfm_core.model.layer import TransformerLayer
from tfm_core.model.normalization import norm_steps
from tfm_core.model.recording import recording
from tfm_core.model.transformer import Stack, Transformer
from tfm_core.positional.schemes import Positional
from tfm_core.study.attribution.sources import BIASES, EMBEDDING, POSITION, TYPES, Source, parts_of, sources_of

EXACT = torch.float64  # terms are summed in it, so that what a sum is off by is the pass's own rounding
END = "end"  # after all layers: what the final norm reads
WRITTEN = ("head_output", "output")  # what sub-layers leave in a recording
KINDS = {
    "self": ("", "self"),
    "encoder": ("encoder", "self"),
    "decoder": ("decoder", "self"),
    "cross": ("decoder", "cross"),
}


class Place(NamedTuple):
    """A place in a stack: before the norm of a sub-layer in pre-norm, before the sub-layer in post-norm.

    Attributes:
        layer: from 0; at the end it does not matter.
        part: "self_attention", "cross_attention" or "feed_forward"; "end" is after all layers.
        stack: "encoder" or "decoder" in an encoder-decoder; "" of the only stack.
    """

    layer: int
    part: str
    stack: str = ""


@dataclass(frozen=True)
class Terms:
    """Vectors that sum to one vector at each position.

    Attributes:
        sources: what each comes from.
        vectors: (source, position, width), float64.
    """

    sources: tuple[Source, ...]
    vectors: Tensor

    @property
    def names(self) -> tuple[str, ...]:
        """What each source is called."""
        return tuple(source.name for source in self.sources)


@dataclass(frozen=True)
class LinearNorm:
    """A norm with its statistics as they were in a pass: x -> center(x) * scale + shift, Kobayashi et al. 2021.

    Attributes:
        is_centred: whether the mean of a vector is taken away (layer norm), or not (RMS norm).
        scale: (position, d_model), the gain divided by the deviation or the root mean square of the whole sum.
        shift: (d_model).
    """

    is_centred: bool
    scale: Tensor
    shift: Tensor

    @classmethod
    def of(cls, norm: nn.Module, x: Tensor) -> "LinearNorm":
        """The norm at vectors x, (position, d_model)."""
        steps = norm_steps(norm, x)
        return cls(isinstance(norm, nn.LayerNorm), (steps.gain / steps.spread).to(EXACT), steps.shift.to(EXACT))

    def __call__(self, terms: Tensor) -> Tensor:
        """What becomes of terms (..., position, d_model); without the shift, which is no term's."""
        return (terms - terms.mean(-1, keepdim=True) if self.is_centred else terms) * self.scale

    def pulled(self, direction: Tensor) -> Tensor:
        """The direction d' for which d' · x = d · norm(x) without its shift: the transposed map, shapes as above."""
        scaled = direction * self.scale
        return scaled - scaled.mean(-1, keepdim=True) if self.is_centred else scaled


@dataclass(frozen=True)
class Streams:
    """What one pass left behind, and its residual streams as sums. See `record`.

    Attributes:
        model: the model.
        trace: the sites of the recording, each with a batch of one.
        inputs: what the model was called with: its token ids, or source and target.
        mask: what it was called with.
    """

    model: Transformer
    trace: Mapping[str, Tensor]
    inputs: tuple[Tensor, ...] = ()
    mask: Tensor | None = None

    def stack(self, name: str) -> Stack:
        """The stack of this name; of the only stack "" is its name.

        Raises:
            ValueError: if the model has no such stack.
        """
        names = ("encoder", "decoder") if self.model.config.architecture == "encoder-decoder" else ("",)
        if name not in names:
            raise ValueError(f"expected a stack of {names}, got {name!r}")
        return cast(Stack, getattr(self.model, name or "stack"))

    def layer(self, place: Place) -> TransformerLayer:
        """The layer of a place."""
        return cast(TransformerLayer, self.stack(place.stack).layers[place.layer])

    def attention(self, place: Place) -> MultiHeadAttention:
        """The attention of a place."""
        return cast(MultiHeadAttention, self.layer(place).get_submodule(place.part))

    def network(self, place: Place) -> FeedForward:
        """The feed-forward network of a place."""
        return self.layer(place).feed_forward

    def site(self, place: Place, what: str) -> Tensor:
        """What the pass recorded there, without the batch axis."""
        return self.trace[site_name(place, what)][0]

    def length(self, stack: str) -> int:
        """How many positions a stack has."""
        return self.trace[f"{prefix_of(stack)}embedding"].shape[1]

    def scheme(self, place: Place) -> Positional | None:
        """The positional scheme that acts within an attention; None in cross-attention."""
        return self.stack(place.stack).positional if place.part == "self_attention" else None

    def order(self, stack: str) -> list[Place]:
        """The sub-layers of a stack, from the first to the last."""
        layers = cast(Sequence[TransformerLayer], self.stack(stack).layers)
        return [Place(number, part, stack) for number, layer in enumerate(layers) for part in parts_of(layer)]

    def heads(self, place: Place, positions: Sequence[int] | None = None) -> Tensor:
        """What each head of an attention adds to the stream, (head, position, d_model): without the bias of W_O."""
        gathered = self.site(place, "head_output")
        gathered = gathered if positions is None else gathered[:, list(positions)]
        return gathered.to(EXACT) @ output_weights(self.attention(place))

    def written(self, place: Place, positions: Sequence[int] | None = None) -> Tensor:
        """What a sub-layer adds to the stream, (source, position, d_model): without its bias."""
        if place.part != "feed_forward":
            return self.heads(place, positions)
        output = self.site(place, "output").to(EXACT)
        bias = self.bias(place)
        return (output if positions is None else output[list(positions)])[None] - (0 if bias is None else bias)

    def bias(self, place: Place) -> Tensor | None:
        """What a sub-layer adds whatever it reads, (d_model): the bias of its output projection."""
        module = self.network(place) if place.part == "feed_forward" else self.attention(place)
        bias: Tensor | None = module.output_projection.bias
        return None if bias is None else bias.detach().to(EXACT)

    def norm_of(self, place: Place) -> nn.Module | None:
        """The norm through which a sub-layer reads the stream; None in post-norm. At the end, the final norm."""
        if place.part == END:
            return self.stack(place.stack).final_norm
        layer = self.layer(place)
        return layer.get_submodule(f"{place.part}_norm") if layer.pre_norm else None

    def norm_before(self, place: Place, positions: Sequence[int] | None = None) -> LinearNorm | None:
        """The same with its statistics as they were in the pass."""
        norm = self.norm_of(place)
        if norm is None:
            return None
        if place.part == END:
            return LinearNorm.of(norm, _some(self.site(self.order(place.stack)[-1], "residual_after"), positions))
        return LinearNorm.of(norm, _some(self.site(place, "residual_before"), positions))

    def norm_after(self, place: Place, positions: Sequence[int] | None = None) -> LinearNorm | None:
        """What norms the sum of the stream and what a sub-layer wrote, in post-norm; None in pre-norm."""
        layer = self.layer(place)
        if layer.pre_norm:
            return None
        total = self.site(place, "residual_before") + self.site(place, "output")
        return LinearNorm.of(layer.get_submodule(f"{place.part}_norm"), _some(total, positions))

    def before(self, place: Place, positions: Sequence[int] | None = None) -> Terms:
        """The residual stream at a place as a sum over its sources, (source, position, d_model).

        Args:
            place: where it is read. In post-norm each norm on the way is applied to all terms of the sum over which it
                stands, so that a term is what is left of its source there.
            positions: at which of the text's positions, from 0; at all by default.
        """
        return next(
            terms()
            for at, terms in self.sweep(place.stack, positions)
            if at.part == place.part and (place.part == END or at.layer == place.layer)
        )

    def sweep(self, name: str, positions: Sequence[int] | None = None) -> Iterator[tuple[Place, Callable[[], Terms]]]:
        """Each place of a stack from the first to its end, with what makes the terms before it, as in `before`.

        They must be made before the next place is asked for: then a sub-layer has written more.
        """
        sources, start = sources_of(self.stack(name), name), self._start(name, positions)
        vectors, biases, done = start.new_empty(len(sources) - 1, *start.shape[1:]), start[-1], len(start) - 1
        vectors[:done] = start[:-1]

        def terms() -> Terms:
            return Terms((*sources[:done], sources[-1]), torch.cat([vectors[:done], biases[None]]))

        for place in self.order(name):
            yield place, terms
            written, bias, norm = self.written(place, positions), self.bias(place), self.norm_after(place, positions)
            vectors[done : done + len(written)] = written
            done += len(written)
            biases = biases if bias is None else biases + bias
            if norm is not None:
                vectors[:done], biases = norm(vectors[:done]), norm(biases) + norm.shift
        yield Place(len(self.stack(name).layers), END, name), terms

    def read(self, place: Place, positions: Sequence[int] | None = None) -> Terms:
        """What a sub-layer reads as such a sum: in pre-norm the normed stream; at the end what the logits are made of.

        The shift of the norm is in the biases.
        """
        return self.normed(place, self.before(place, positions), positions)

    def normed(self, place: Place, terms: Terms, positions: Sequence[int] | None = None) -> Terms:
        """The terms before a place as its sub-layer reads them: `read` of `before`, at the same positions."""
        norm = self.norm_before(place, positions)
        if norm is None:
            return terms
        vectors = norm(terms.vectors)
        vectors[-1] += norm.shift
        return Terms(terms.sources, vectors)

    def memory(self, place: Place, positions: Sequence[int] | None = None) -> Terms:
        """What keys and values of an attention are made of: in cross-attention the encoder's output."""
        return self.read(self.read_by_keys(place), positions)

    def whole(self, place: Place) -> Terms:
        """What a sub-layer reads as one term, (1, position, d_model): as the pass recorded it, and not as a sum.

        Of a long text all sources at all positions are more than memory holds.
        """
        if place.part == END:
            stream = self.site(self.order(place.stack)[-1], "residual_after").to(EXACT)
        else:
            stream = self.site(place, "residual_before").to(EXACT)
        norm = self.norm_before(place)
        read = stream if norm is None else norm(stream) + norm.shift
        return Terms((Source(BIASES, stack=place.stack),), read[None])

    def asked_of(self, source: Source, read: Place, position: int, direction: Tensor) -> Tensor:
        """A direction in the stream at a place, (d_model), as one in what a source wrote earlier at this position.

        The same in pre-norm; in post-norm, norms have changed the term in between.
        """
        order = self.order(source.stack)
        places = [*order, Place(len(order), END, source.stack)]
        kinds = [(at.layer, at.part) if at.part != END else END for at in places]
        first = kinds.index((source.layer, source.part)) if source.part else 0
        last = kinds.index(END if read.part == END else (read.layer, read.part))
        for place in reversed(order[first:last]):
            norm = self.norm_after(place, [position])
            direction = direction if norm is None else norm.pulled(direction[None])[0]
        return direction

    @staticmethod
    def read_by_keys(place: Place) -> Place:
        """Where the stream is read that the keys and values of an attention are made of."""
        return Place(0, END, "encoder") if place.part == "cross_attention" else place

    def _start(self, name: str, positions: Sequence[int] | None) -> Tensor:
        """The sum before the first layer, (source, position, d_model), the biases last."""
        stack, prefix = self.stack(name), prefix_of(name)
        sites = {EMBEDDING: "embedding", TYPES: "token_types", POSITION: "position"}
        kinds = [source.kind for source in sources_of(stack, name) if source.kind in sites]
        whole = [self.trace[prefix + sites[kind]] for kind in kinds]
        terms = [_some(x[0] if x.dim() == 3 else x, positions).to(EXACT) for x in whole]
        vectors = torch.stack([*terms, torch.zeros_like(terms[0])])
        if stack.embedding_norm is not None:
            norm = LinearNorm.of(stack.embedding_norm, vectors.sum(0))
            vectors = norm(vectors)
            vectors[-1] += norm.shift
        return vectors


def record(
    model: Transformer,
    tokens: Tensor,
    target: Tensor | None = None,
    *,
    mask: Tensor | None = None,
    weights: bool = False,
) -> Streams:
    """Run the model on one text, and keep what its residual streams are made of.

    Args:
        model: best in evaluation mode, as dropout would be part of the pass.
        tokens: (1, seq) token ids.
        target: (1, target), those of the decoder in an encoder-decoder.
        mask: as the model takes it.
        weights: whether the attention weights of all heads are kept, too: the graph of a pass needs them.

    The recording holds about 4 + 3 num_layers vectors (seq, d_model) of a stack, with what heads gathered.

    Raises:
        ValueError: for more than one text.
    """
    if tokens.dim() != 2 or len(tokens) != 1:
        raise ValueError(f"expected one text, token ids (1, seq); got {tuple(tokens.shape)}")
    kept = ["residual_before", "residual_after", *WRITTEN, *(["weights"] if weights else [])]
    sites = ["*embedding", *(f"*layers.*.{what}" for what in kept)]
    stack = model.decoder if model.config.architecture == "encoder-decoder" else model.stack
    sites += ["*position"] * stack.positional.overrides("encode") + ["*token_types"] * (stack.token_types is not None)
    inputs = (tokens,) if target is None else (tokens, target)
    with torch.no_grad(), recording(sites) as trace:
        model.states(*inputs, mask=mask)
    return Streams(model, dict(trace), inputs, mask)


def site_name(place: Place, what: str) -> str:
    """The name of a place's site in a recording."""
    return f"{prefix_of(place.stack)}layers.{place.layer}.{place.part}.{what}"


def place_of(model: Transformer, attention: str, layer: int) -> Place:
    """Where an attention stands.

    Args:
        model: the model.
        attention: "self" in a single stack; "encoder", "decoder" or "cross" in an encoder-decoder.
        layer: from 0.

    Raises:
        ValueError: for a kind of attention or a layer that the model does not have.
    """
    kinds = list(KINDS)[1:] if model.config.architecture == "encoder-decoder" else ["self"]
    if attention not in kinds:
        raise ValueError(f"attention: expected one of {', '.join(kinds)}; got {attention!r}")
    within("layer", layer, model.config.num_layers)
    stack, kind = KINDS[attention]
    return Place(layer, f"{kind}_attention", stack)


def within(what: str, index: int, size: int) -> int:
    """The index, if it is one.

    Raises:
        ValueError: naming what was expected.
    """
    if type(index) is not int or not 0 <= index < size:
        raise ValueError(f"{what}: expected a number from 0 to {size - 1}, got {index!r}")
    return index


def output_weights(attention: MultiHeadAttention) -> Tensor:
    """The rows of W_O that each head is multiplied with, (head, head_dim, d_model)."""
    weight = attention.output_projection.weight.detach().to(EXACT)
    return weight.mT.reshape(attention.num_heads, -1, weight.shape[0])


def _some(x: Tensor, positions: Sequence[int] | None) -> Tensor:
    return x if positions is None else x[list(positions)]


def prefix_of(stack: str) -> str:
    """How the names of a stack's sites begin in a recording."""
    return f"{stack}." if stack else ""
