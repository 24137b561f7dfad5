"""Panels of the view "sentences": an encoder's last hidden states, its pooled output, and how alike sentences are."""

from collections.abc import Sequence
from functools import cached_property
from typing import NamedTuple

import numpy as np
import pandas as pd
import torch
from numpy.typing import NDArray
from torch import Tensor

from tfm_core import Transformer, TransformerConfig, recording
from tfm_ui.lenses.model.encoders import about_typed, with_pooler
from tfm_ui.lenses.model.machine import LayerPanel, ModelPanel, config_of, inputs_of
from tfm_ui.lenses.model.sentences_fields import about_lines, sentences_in
from tfm_ui.lenses.model.state import ModelLensState
from tfm_ui.live import passes
from tfm_ui.live.cache import cached
from tfm_ui.live.memory import LITTLE
from tfm_ui.live.passes import transformer
from tfm_ui.live.script import config_code, script
from tfm_ui.live.tensors.step import Step, held
from tfm_ui.pictures import lines, maps
from tfm_ui.pictures.canvas import Content
from tfm_ui.pictures.chart import CHART
from tfm_ui.pictures.line_traces import Line
from tfm_ui.pictures.lines import Chart
from tfm_ui.pictures.map_scale import around_zero
from tfm_ui.pictures.maps import MAPS, Axis, Map
from tfm_ui.state.model_state import ModelState
from tfm_ui.state.pass_cost import NUMBER
from tfm_ui.text import formats
from tfm_ui.text.ties import one_of_ties, places_of_largest

LONGEST = 64  # tokens of a sentence that is compared
NEAR = 1e-4
TWICE = 2
Ids = tuple[tuple[int, ...], ...]


def mean_pooled(model: Transformer, sentences: Sequence[Sequence[int]]) -> Tensor:
    """The mean of each sentence's last hidden states but padding, (sentence, d_model): Reimers and Gurevych 2019."""
    pad, longest = model.config.pad_id, max(map(len, sentences))
    tokens = torch.tensor([[*ids, *[pad] * (longest - len(ids))] for ids in sentences])
    with torch.no_grad():
        states: Tensor = model.states(tokens)  # (sentence, token, d_model); padding is seen by nobody
    is_read = torch.tensor([[place < len(ids) for place in range(longest)] for ids in sentences])[..., None]
    mean: Tensor = (states * is_read).sum(1) / is_read.sum(1)
    return mean


def cosines_of(vectors: Tensor) -> Tensor:
    """The cosine between each two vectors, (vector, vector): in float64, as in float32 some are above 1."""
    directions = vectors.double() / vectors.double().norm(dim=-1, keepdim=True)
    cosines: Tensor = directions @ directions.T
    return cosines.float()


def alike(*, config: TransformerConfig, sentences: Sequence[Sequence[int]]) -> Tensor:
    """The cosine between the mean-pooled vectors of each two sentences, (sentence, sentence)."""
    cosines = cosines_of(mean_pooled(Transformer(config).eval(), sentences))
    return cosines


def pooled_beside(
    *, config: TransformerConfig, inputs: Sequence[Tensor], mask: Tensor | None, site: str
) -> tuple[Tensor, Tensor, Tensor]:
    """The last hidden state of the first token, the pooled output, and the cosine between them."""
    with torch.no_grad(), recording([site, "pooled"]) as trace:
        Transformer(config).eval()(*inputs, mask=mask)
    first, pooled = trace[site][0, 0], trace["pooled"][0]
    cosine = torch.cosine_similarity(first, pooled, dim=0)
    return first, pooled, cosine


def shares_of(weights: Tensor, places: Sequence[int], read: int) -> Tensor:
    """How much of the weight of all queries is on each of these keys: (head, query, key) -> (key), the mean."""
    return weights[:, :read, list(places)].double().mean((0, 1))


def on_special(
    *,
    config: TransformerConfig,
    inputs: Sequence[Tensor],
    mask: Tensor | None,
    places: Sequence[int],
    read: int,
) -> Tensor:
    """The share of the weight on each of these places, in each layer, (layer, place)."""
    sites = [f"layers.{layer}.self_attention.weights" for layer in range(config.num_layers)]
    with torch.no_grad(), recording(sites) as trace:
        Transformer(config).eval()(*inputs, mask=mask)
    shares = torch.stack([shares_of(trace[site][0], places, read) for site in sites])
    return shares


@cached()
def vectors_of(config: TransformerConfig, sentences: Ids) -> Tensor:
    """What `mean_pooled` gives, of the live model."""
    return mean_pooled(transformer(config), sentences)


def needs_of_sentences(model: ModelState, state: ModelLensState) -> int:
    """Passes over the text and over all sentences."""
    model = with_pooler(model)
    read = LONGEST * len(sentences_in(state.lines))
    return passes.needs(model) + LITTLE + NUMBER * read * (12 * model.d_model + model.hidden)


class Sentences(ModelPanel):
    """How alike sentences are, each two."""

    canvas = MAPS
    needs = needs_of_sentences
    title = "How alike are these sentences?"
    sources = (mean_pooled, cosines_of)

    def __init__(self, model: ModelState, state: ModelLensState) -> None:
        super().__init__(with_pooler(model), state)

    @cached_property
    def texts(self) -> list[str]:
        """The sentences that are compared."""
        return sentences_in(self.state.lines)

    @cached_property
    def config(self) -> TransformerConfig:
        """What is run."""
        return config_of(self.model, self.state)

    @cached_property
    def ids(self) -> Ids:
        """Their ids, with the special tokens around them."""
        known = self.model.pretrained
        assert known
        cuts = known.tokenizer
        most = min(LONGEST, known.context)
        each = [len(cuts.split(text)) for text in self.texts]
        return tuple(known.tokens_of(text, min(count, most)).ids for text, count in zip(self.texts, each, strict=True))

    @cached_property
    def cosines(self) -> Tensor:
        """The cosine between each two, (sentence, sentence)."""
        return cosines_of(vectors_of(self.config, self.ids))

    @property
    def pairs(self) -> list[tuple[int, int]]:
        """Each two sentences, from 0."""
        return [(row, column) for row in range(len(self.texts)) for column in range(row)]

    @cached_property
    def most_alike(self) -> tuple[int, int]:
        """The two that are most alike, from 0, the first one first."""
        values = np.array([float(self.cosines[pair]) for pair in self.pairs])
        row, column = self.pairs[places_of_largest(values)[0]]
        return column, row

    def partners(self, of: int) -> list[int]:
        """The other sentences that are most like one, from 0: one, or several that are as alike."""
        others = [other for other in range(len(self.texts)) if other != of]
        values = np.array([float(self.cosines[of, other]) for other in others])
        return [others[place] for place in places_of_largest(values)] if others else []

    @property
    def how_to_read(self) -> str:
        return (
            "Each cell: the cosine between the means of two sentences’ last hidden states, [CLS] and [SEP] among them, "
            "padding not. 1 is the same direction, 0 at right angles."
        )

    @property
    def shape(self) -> str:
        return f"sentence × sentence = {len(self.texts)} × {len(self.texts)}"

    def sentence(self) -> str:
        """The two that are most alike, and the two that are least."""
        if len(self.texts) < 2:
            return about_lines(self.state.lines)
        first, second = self.most_alike
        partners = self.partners(0)
        near = formats.number(float(self.cosines[0, partners[0]]))
        values = np.array([float(self.cosines[pair]) for pair in self.pairs])
        alike_too = one_of_ties(len(places_of_largest(values)))
        low, high = formats.number(float(values.min())), formats.number(float(values.max()))
        told = (
            f"Sentence 1 is most like sentence {partners[0] + 1}{one_of_ties(len(partners))}, with a cosine of {near}. "
            f"The most alike are “{self.texts[first]}” and “{self.texts[second]}”{alike_too}, with a cosine of {high}; "
            f"the lowest of {formats.plural(len(values), 'pair')} is {low}."
        )
        return " ".join(filter(None, [told, about_lines(self.state.lines), self._cut()]))

    def _cut(self) -> str:
        known = self.model.pretrained
        assert known
        lost = sum(len(known.tokenizer.split(text)) > len(ids) for text, ids in zip(self.texts, self.ids, strict=True))
        return f"Of {formats.plural(lost, 'sentence')} only the first {LONGEST} tokens are read." if lost else ""

    def laws(self) -> dict[str, bool]:
        """What must hold of cosines, and of padding."""
        if not self.texts:
            return {}
        off = float((self.cosines.diagonal() - 1).abs().max())
        uneven = float((self.cosines - self.cosines.T).abs().max())
        alone = mean_pooled(transformer(self.config), [min(self.ids, key=len)])[0]
        beside = vectors_of(self.config, self.ids)[self.ids.index(min(self.ids, key=len))]
        apart = float((alone - beside).abs().max())
        size = max(1.0, float(alone.abs().max()))
        return {
            f"each sentence has a cosine of 1 with itself (largest error {formats.tiny(off)})": off < NEAR,
            f"the table is the same the other way round (largest error {formats.tiny(uneven)})": uneven < NEAR,
            f"padding changes nothing: the shortest alone has the same vector (largest error {formats.tiny(apart)})": (
                apart < NEAR * size
            ),
        }

    def table(self) -> pd.DataFrame:
        """A row and a column per sentence."""
        names = pd.Index(self.texts, name="sentence \\ sentence")
        return pd.DataFrame(self.cosines.numpy() if self.texts else np.zeros((0, 0)), index=names, columns=self.texts)

    def picture(self) -> Content:
        if len(self.texts) < 2:
            return maps.nothing(about_lines(self.state.lines))
        values: NDArray[np.float32] = self.cosines.float().numpy()
        names = [f"{number}. {_short(text)}" for number, text in enumerate(self.texts, 1)]
        axis, across = (Axis(names, "sentence", "sentence"), Axis(_numbers(names), "sentence", "sentence"))
        return maps.content([Map(name="cosine", values=values, scale=around_zero(1.0))], rows=axis, columns=across)

    @property
    def tensors(self) -> Step:
        about = "the mean of each sentence’s last hidden states"
        vectors = held("vectors", ("sentence", "d_model"), vectors_of(self.config, self.ids), about)
        code = "torch.cosine_similarity(vectors[:, None], vectors, dim=-1)"
        axes = ("sentence", "sentence")
        return Step("Sentences alike", [vectors, held("cosines", axes, self.cosines, "between each two", code)])

    def recipe(self) -> str:
        """A script that leaves `cosines`."""
        if not self.ids:
            return ""
        return script(alike, config=config_code(self.config), sentences=[list(ids) for ids in self.ids])


class Encoded(NamedTuple):
    """What both panels on the text show of one pass.

    Attributes:
        states: last_hidden_state, (1, token, d_model).
        pooled: the pooled output, (d_model).
        shares: the share of the weight on each special token in each layer, (layer, place).
    """

    states: Tensor
    pooled: Tensor
    shares: Tensor


@cached()
def encoded(model: ModelState, config: TransformerConfig, places: tuple[int, ...], read: int) -> Encoded:
    """A pass over the text, of which no layer's weights are kept."""
    shares: list[Tensor] = []

    def note(site: str, weights: Tensor) -> None:
        shares.append(shares_of(weights[0], places, read))

    inputs, mask = inputs_of(model)
    with torch.no_grad(), recording([], watch={"layers.*.self_attention.weights": note}):
        states = transformer(config).states(*inputs, mask=mask)
        pooled = transformer(config).pooled(states)[0]
    return Encoded(states, pooled, torch.stack(shares))


def needs_of_text(model: ModelState, state: ModelLensState) -> int:
    """A pass over the text."""
    return passes.needs(with_pooler(model))


class EncodedPanel(LayerPanel):
    """A panel on the encoder's pass over the text."""

    needs = needs_of_text

    def __init__(self, model: ModelState, state: ModelLensState) -> None:
        super().__init__(with_pooler(model), state)

    @cached_property
    def places(self) -> list[int]:
        """Where the special tokens around the text stand."""
        known = self.model.pretrained
        assert known
        before, after = (len(ids) for ids in known.special_around)
        return [*range(min(before, self.read)), *range(max(before, self.read - after), self.read)]

    @property
    def of_pass(self) -> Encoded:
        """What is shown of the pass."""
        return encoded(self.model, self.config, tuple(self.places), self.read)


class SentencesPooled(EncodedPanel):
    """The pooled output beside the last hidden state of the first token."""

    canvas = CHART
    title = "Pooled output and [CLS]"
    sources = (Transformer.pooled, pooled_beside)
    how_to_read = (
        "Each dimension of the first token’s last hidden state, and of the pooled output, which a dense layer and a "
        "tanh make of it: no number of it is outside of −1 to 1."
    )

    @property
    def site(self) -> str:
        """Where the last hidden states are recorded."""
        last = f"layers.{self.model.num_layers - 1}.feed_forward.residual_after"
        return "final_norm" if self.config.norm == "pre" else last

    @property
    def states(self) -> Tensor:
        """last_hidden_state, (1, token, d_model)."""
        return self.of_pass.states

    @property
    def pooled(self) -> Tensor:
        """The pooled output, (d_model)."""
        return self.of_pass.pooled

    @property
    def cosine(self) -> float:
        """The cosine between the two."""
        return float(torch.cosine_similarity(self.states[0, 0], self.pooled, dim=0))

    @property
    def shape(self) -> str:
        return f"last_hidden_state {tuple(self.states.shape)}, pooled output {(1, *self.pooled.shape)}"

    def sentence(self) -> str:
        """The pieces, the shapes, and that the two are not the same."""
        pieces = self.tokens.pieces[: self.read]
        listed = " ".join(pieces[:24]) + (" …" if len(pieces) > 24 else "")
        largest = formats.number(float(self.pooled.abs().max()))
        return (
            f"{formats.plural(len(pieces), 'piece')}: {listed}. last_hidden_state has the shape "
            f"{tuple(self.states.shape)}, the pooled output {(1, *self.pooled.shape)}. The pooled output is not the "
            f"last hidden state of {pieces[0]}: the cosine between them is {formats.number(self.cosine)}. Its largest "
            f"number is {largest} in size, as a tanh gives none above 1; that of {pieces[0]} has "
            f"{formats.number(float(self.states[0, 0].abs().max()))}. {about_typed(self.model)}"
        ).strip()

    def laws(self) -> dict[str, bool]:
        """Whether the pooled output is the tanh of the dense layer."""
        layer = transformer(self.config).pooler
        with torch.no_grad():
            ours = (self.states[0, 0] @ layer.weight.T + layer.bias).tanh()
        off = float((ours - self.pooled).abs().max())
        return {
            f"tanh(W x + b) of the first token’s state is the pooled output (largest error {formats.tiny(off)})": (
                off < NEAR
            ),
            "no number of it is outside of −1 to 1": float(self.pooled.abs().max()) <= 1,
        }

    def table(self) -> pd.DataFrame:
        """A row per dimension."""
        columns = {self.tokens.pieces[0]: self.states[0, 0].numpy(), "pooled output": self.pooled.numpy()}
        return pd.DataFrame(columns, index=pd.RangeIndex(1, len(self.pooled) + 1, name="dimension"))

    def picture(self) -> Content:
        places = range(1, len(self.pooled) + 1)
        first = self.states[0, 0].double().tolist()
        drawn = [
            Line(self.tokens.pieces[0], places, first, "muted", "dots"),
            Line("pooled output", places, self.pooled.double().tolist(), "result", "dots"),
        ]
        return lines.content([Chart("dimension of d_model", "value", drawn, reach=[-1, 1])])

    def recipe(self) -> str:
        """A script that leaves `first`, `pooled` and `cosine`."""
        return self.script(pooled_beside, site=self.site)


class SentencesSpecial(EncodedPanel):
    """How much of the attention the special tokens around the text take, layer by layer."""

    canvas = CHART
    title = "Attention to the special tokens"
    sources = (shares_of, on_special)

    @property
    def called(self) -> list[str]:
        """How they are written."""
        return [self.tokens.pieces[place] for place in self.places]

    @property
    def shares(self) -> Tensor:
        """Their share of the weight in each layer, (layer, place)."""
        return self.of_pass.shares

    @property
    def how_to_read(self) -> str:
        return (
            "The mean over all heads and tokens of the weight on each special token. Dotted: an even share of all "
            f"{self.read} tokens."
        )

    @property
    def shape(self) -> str:
        return f"layer × special token = {self.model.num_layers} × {len(self.places)}"

    def sentence(self) -> str:
        """The layer in which each has its largest share."""
        told = []
        for column, name in enumerate(self.called):
            shares = self.shares[:, column].numpy()
            layers = places_of_largest(shares)
            share = formats.percent(float(shares[layers[0]]), 3)
            told.append(f"{name} has its largest share in layer {layers[0] + 1}{one_of_ties(len(layers))}, {share}")
        even, last = 1 / self.read, float(self.shares[:, -1].max())
        most = (
            f"here a layer’s heads give {self.called[-1]} at most {formats.number(last / even)} even shares on average"
        )
        here = f"{most}: a place to rest" if last > TWICE * even else f"{most}, so most heads do not rest there"
        return (
            f"{'; '.join(told)}. An even share is {formats.percent(even, 3)}. In BERT, Clark et al. 2019 found heads "
            f"that look at [SEP] where they find nothing to do; {here}."
        )

    def laws(self) -> dict[str, bool]:
        """Each is a share."""
        return {
            "each share is between 0 and 1, and so is their sum": bool(
                (self.shares >= 0).all() and (self.shares.sum(-1) <= 1 + NEAR).all()
            )
        }

    def table(self) -> pd.DataFrame:
        """A row per layer."""
        names = [f"{name}, place {place + 1}" for name, place in zip(self.called, self.places, strict=True)]
        return pd.DataFrame(self.shares.numpy(), index=_layers(self.model.num_layers), columns=names)

    def picture(self) -> Content:
        layers = range(1, self.model.num_layers + 1)
        colours = ("result", "query", "key", "value")
        drawn = [
            Line(name, layers, self.shares[:, column].tolist(), colours[column % len(colours)])
            for column, name in enumerate(self.called)
        ]
        even = Line("an even share", layers, [1 / self.read] * len(layers), "muted", "dashed")
        return lines.content([Chart("layer", "share of the weight", [*drawn, even], reach=[0])])

    def recipe(self) -> str:
        """A script that leaves `shares`."""
        return self.script(on_special, places=self.places, read=self.read)


def _layers(count: int) -> pd.Index:
    return pd.RangeIndex(1, count + 1, name="layer")


def _short(text: str) -> str:
    return text if len(text) <= 34 else f"{text[:33]}…"


def _numbers(names: Sequence[str]) -> list[str]:
    return [name.partition(".")[0] for name in names]
