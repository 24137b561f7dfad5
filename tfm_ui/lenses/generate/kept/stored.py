"""What the cache stores: which keys and values there are at each step, and how many bytes they take."""

from collections.abc import Sequence
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go
import torch
from numpy.typing import NDArray
from torch import Tensor

from tfm_core import Transformer, TransformerConfig
from tfm_core.generation.course import context_begin
from tfm_core.model.attention import MultiHeadAttention
from tfm_core.model.cache import KeyValueCache
from tfm_core.model.stored import Stored
from tfm_ui.lenses.generate.panel import CoursePanel
from tfm_ui.lenses.generate.state import is_large
from tfm_ui.live.cache import cached
from tfm_ui.live.passes import transformer
from tfm_ui.live.script import config_of, script
from tfm_ui.live.tensors.step import Step, held
from tfm_ui.pictures import figures, heatmaps
from tfm_ui.pictures.canvas import Canvas, Content, Header
from tfm_ui.pictures.heatmaps import Heat, Side, numbered
from tfm_ui.pictures.map_scale import around_zero
from tfm_ui.text import formats, units
from tfm_ui.text.token_labels import named

CLOSE = 1e-4  # of keys and values, which are of size 1: rounding of float32 through all layers
NUMBER = 4  # bytes of a number in float32


def figure(header: Header, numbers: NDArray[Any]) -> go.Figure:
    """What is stored at the last step, as two heatmaps."""
    if not header["parts"]:
        return go.Figure(layout={"template": figures.TEMPLATE})
    part, width = header["parts"][-1], header["width"]
    begin, rows = part["begin"], part["rows"]
    last = np.asarray(numbers, np.float32)[-2 * rows * width :].reshape(2, rows, width)
    each, owner = width // header["heads"], header.get("owner", "head")
    heats = [
        Heat(
            name=f"{role}s of layer {header['layer']}",
            values=matrix,
            rows=Side(
                labels=numbered(header["tokens"][begin : begin + rows], begin + 1),
                title="token (row)",
                noun="token",
                role=role,
            ),
            columns=Side(
                labels=[f"{owner} {i // each + 1}, {i % each + 1}" for i in range(width)],
                title=f"numbers of all {owner}s{', d_model' if owner == 'head' else ''} (columns)",
                noun="number",
            ),
            scale=around_zero(scale["high"]),
            unit=f"{role}s of layer {header['layer']}",
            square=False,
        )
        for role, matrix, scale in zip(("key", "value"), last, header["scales"], strict=True)
    ]
    return heatmaps.figure(heats, told=f"Stored at step {len(header['steps'])}.", across=2)


KEPT = Canvas(
    "lenses/generate/kept",
    """
<div class="kept" data-picture>
  <canvas tabindex="0" role="application"></canvas>
  <div class="tip" hidden></div>
  <div class="scrub">
    <button type="button" class="play" aria-label="Play">▶</button>
    <input type="range" min="1" step="1" aria-label="Step">
    <output></output>
  </div>
  <span class="say" aria-live="polite"></span>
</div>
""",
    figure,
)


def side_by_side(cache: KeyValueCache, layer: int, count: int) -> tuple[Tensor, Tensor]:
    """One layer's keys and values of the first tokens, (token, d_model) each, heads side by side.

    Where heads share keys and values, those of the fewer heads that have them: (token, num_kv_heads x head_dim).
    """
    keys = cache.keys(layer)[0, :, :count].transpose(0, 1).flatten(1)  # (head, token, head_dim) -> (token, d_model)
    values = cache.values(layer)[0, :, :count].transpose(0, 1).flatten(1)
    return keys, values


def stored_by(model: Transformer, tokens: Sequence[int]) -> KeyValueCache:
    """What one pass over these tokens stores."""
    cache = KeyValueCache(model.config)
    with torch.no_grad():
        model(torch.tensor([tokens]), cache=cache)
    return cache


def stored(*, config: TransformerConfig, tokens: Sequence[int], layer: int) -> tuple[Tensor, Tensor, int]:
    """Keys and values of one layer, (token, d_model), heads side by side, and the bytes of all layers."""
    cache = stored_by(Transformer(config).eval(), tokens)
    keys, values = side_by_side(cache, layer, len(tokens))
    nbytes = cache.nbytes
    return keys, values, nbytes


@cached()
def stored_at_once(config: TransformerConfig, tokens: tuple[int, ...]) -> KeyValueCache:
    """What one pass over these tokens stores, in all layers."""
    return stored_by(transformer(config), tokens)


class Kept(CoursePanel):
    """What the cache stores while the text on screen is written.

    The tokens before each step, `lengths`, are what is stored when its token is chosen.
    """

    title = "What is kept"
    how_to_read = (
        "A row per token that has been read, the prompt’s first. Drag the slider: each step adds one row "
        "to the keys and one to the values of every layer; this is one layer. Rows that are there never change, so "
        "each token is read once."
    )
    sources = (Stored, MultiHeadAttention.forward, KeyValueCache, context_begin)
    canvas = KEPT

    @cached_property
    def parts(self) -> dict[int, int]:
        """Where each context begins in the whole text -> how many tokens its cache stores at last."""
        return dict(zip(self.begins, self.lengths, strict=True))

    @property
    def slow(self) -> bool:
        # The slider of this view is the number of tokens, which goes on from what is written. All is written anew where
        # a slider draws other weights.
        return (self.model.is_random or is_large(self.model.config)) and super().slow

    def matrices(self, begin: int) -> tuple[Tensor, Tensor]:
        """The layer's keys and values of a context, (token, d_model) each, heads side by side."""
        return side_by_side(self.course.caches[begin], self.layer, self.parts[begin])

    @property
    def tensors(self) -> Step | None:
        step = super().tensors
        begin, count = list(self.parts.items())[-1]
        cache, layers = self.course.caches[begin], range(self.model.num_layers)
        axes = ("layer", "kv_head", "token", "head_dim")
        keys, values = (
            torch.stack([stored(layer)[0, :, :count] for layer in layers]) for stored in (cache.keys, cache.values)
        )
        return step and step.also(
            held("keys", axes, keys, "what the cache has of each token at last"),
            held("values", axes, values, "likewise"),
        )

    @cached_property
    def last_tokens(self) -> tuple[int, ...]:
        """The tokens that the last context stores at last."""
        begin, count = list(self.parts.items())[-1]
        return self.course.tokens[begin : begin + count]

    @cached_property
    def measured(self) -> list[int]:
        """Bytes of all layers' keys and values at each step, from the tensors."""
        sizes = []
        for begin, length in zip(self.begins, self.lengths, strict=True):
            cache = self.course.caches[begin]
            layers = [(cache.keys(layer), cache.values(layer)) for layer in range(self.model.num_layers)]
            sizes.append(sum(tensor[:, :, :length].nbytes for both in layers for tensor in both))
        return sizes

    @cached_property
    def by_formula(self) -> list[int]:
        """The same by 2 × layers × d_model × tokens × 4 bytes, or in place of d_model what is kept of it."""
        return [KeyValueCache.memory_of(self.model.config, length) for length in self.lengths]

    @property
    def width(self) -> int:
        """How many numbers a key of all heads has: d_model, or fewer where heads share keys."""
        config = self.model.config
        return config.kv_heads * config.head_dim

    @property
    def shared_by(self) -> int:
        """How many heads read each key and each value."""
        return self.model.config.num_heads // self.model.config.kv_heads

    @property
    def per_token(self) -> int:
        """Bytes that a token takes."""
        return KeyValueCache.memory_of(self.model.config, 1)

    @property
    def shape(self) -> str:
        numbers = "d_model" if self.shared_by == 1 else "key-value heads × d_k"
        return f"tokens × {numbers} = {formats.count(self.lengths[-1])} × {self.width} at last, twice"

    def sentence(self) -> str:
        """What each token adds, what is stored at last, and whether the context was full."""
        last, config = self.lengths[-1], self.model.config
        return (
            f"Of each token that is read, every layer keeps a key and a value of {self.width} numbers{self._shared()}: "
            f"2 × {formats.plural(config.num_layers, 'layer')} × {self.width} × {NUMBER} bytes = "
            f"{formats.count(self.per_token)} bytes a token. When the token of step {len(self.lengths)} is chosen, "
            f"{formats.plural(last, 'token')} {'is' if last == 1 else 'are'} stored: "
            f"{formats.count(self.measured[-1])} bytes, {units.bytes_of(self.measured[-1])}. The token that is written "
            f"last is not among them: the next step reads it. {self.when_full()}"
        )

    def _shared(self) -> str:
        """Why these are fewer numbers than d_model, if they are."""
        config = self.model.config
        if self.shared_by == 1:
            return ""
        return (
            f", not of {config.d_model}, as {formats.plural(config.num_heads, 'head')} share {config.kv_heads} keys "
            f"and {config.kv_heads} values of {config.head_dim} numbers, each of them {self.shared_by} heads"
        )

    def when_full(self) -> str:
        """Whether the context was full, at which step, and what was done."""
        context = f"the context of {formats.count(self.model.most_tokens)} tokens"
        sentences = []
        if self.begins[0]:
            sentences.append(f"The prompt is longer than {context}: its end alone is read.")
        for number, (before, begin) in enumerate(pairwise(self.begins), 1):
            if begin != before:
                sentences.append(
                    f"At step {number + 1} {context} was full: its cache was dropped, and the newer "
                    f"{self.lengths[number]} tokens were read anew, as a text of their own."
                )
        steps = len(self.lengths)
        if self.settings.full == "stop" and steps < self.settings.steps:
            sentences.append(f"After step {steps} {context} was full: there the text ends, as “stop” was chosen.")
        return " ".join(sentences) or f"With the last token the text has {self.lengths[-1] + 1}: {context} is not full."

    @cached_property
    def difference(self) -> float:
        """The largest one between the last context's keys and values and those of one pass over all of it."""
        fresh = side_by_side(stored_at_once(self.model.config, self.last_tokens), self.layer, len(self.last_tokens))
        pairs = zip(self.matrices(self.begins[-1]), fresh, strict=True)
        return max(float((ours - theirs).abs().max()) for ours, theirs in pairs)

    def laws(self) -> dict[str, bool]:
        """Bytes by the formula, and what one pass would store."""
        width = "d_model" if self.shared_by == 1 else str(self.width)
        return {
            f"2 × layers × {width} × tokens × {NUMBER} is the size of the tensors in bytes, at each step "
            f"({len(self.lengths)})": self.measured == self.by_formula,
            "the keys and values on screen, which came token by token, are those of one pass over the text (largest "
            f"difference {formats.tiny(self.difference)})": self.difference < CLOSE,
        }

    def table(self) -> pd.DataFrame:
        """A row per step."""
        return pd.DataFrame(
            {
                "token": list(map(named, self.pieces)),
                "context begins at token": [begin + 1 for begin in self.begins],
                "tokens stored": self.lengths,
                "bytes of the tensors": self.measured,
                "bytes by the formula": self.by_formula,
            },
            index=pd.RangeIndex(1, len(self.lengths) + 1, name="step"),
        )

    def picture(self) -> Content:
        """All that is stored by the last step, of each context its keys, then its values; how much at each step.

        Keys and values have a scale each, which is the same at each step.
        """
        config, begins = self.model.config, list(self.parts)
        matrices = [self.matrices(begin) for begin in begins]
        scales = []
        for which in range(2):  # keys, values
            scale = around_zero(max((float(pair[which].abs().max()) for pair in matrices), default=0.0))
            low, high = scale.texts(whole=False)
            scales.append({"high": scale.high, "lowText": low, "highText": high})
        header = {
            "layer": self.layer + 1,
            "layers": config.num_layers,
            "heads": config.kv_heads,
            "width": self.width,
            **({"owner": "key-value head"} if self.shared_by > 1 else {}),
            "number": NUMBER,
            "prompt": len(self.prompt),
            "context": self.course.context,
            "tokens": list(map(named, [*self.prompt, *self.pieces])),
            "parts": [{"begin": begin, "rows": rows} for begin, rows in self.parts.items()],
            "steps": [
                {"part": begins.index(begin), "rows": length, "bytes": size, "short": units.bytes_of(size)}
                for begin, length, size in zip(self.begins, self.lengths, self.measured, strict=True)
            ],
            "scales": scales,
        }
        numbers = [matrix.numpy().ravel() for pair in matrices for matrix in pair]
        return header, np.concatenate([np.zeros(0, np.float32), *numbers])

    def recipe(self) -> str:
        """A script that leaves `keys`, `values` and `nbytes` of the last step."""
        return script(stored, config=config_of(self.model), tokens=list(self.last_tokens), layer=self.layer)
