"""One head of a transformer, from its input to its output, number by number."""

from collections.abc import Sequence
from copy import deepcopy
from typing import Any

import numpy as np
import torch
import traitlets
from numpy.typing import NDArray
from torch import Tensor

from attention_lab.picture import NotThereError, Picture
from tfm_core.language.lab_gpt import NAME
from tfm_core.language.prompt import lab_prompt
from tfm_core.model.config import TransformerConfig
from tfm_core.model.tokens import Tokens, encode
from tfm_core.model.transformer import Transformer
from tfm_core.positional.schemes import PLAIN
from tfm_core.training.config import read_name
from tfm_ui.live import inside, streams
from tfm_ui.live.inside import Inside
from tfm_ui.live.places import texts_of
from tfm_ui.pictures.steps import STEPS
from tfm_ui.pictures.steps.canvas import MATRICES_CANVAS
from tfm_ui.pictures.steps.matrices import NUMBERS, Cell, HeadSteps
from tfm_ui.pictures.steps.scene import Scene
from tfm_ui.text import token_labels

ALL = slice(None)
FROM_1 = ("head", "query", "key", "dim", "channel")  # what the script counts from 1, and Python from 0
AS_THEY_ARE = ("step", "whole", "temperature")
COLDEST, HOTTEST = 0.05, 10.0


class Steps(Picture):
    """One head at one step, or at all of them; a click on a number tells how it came about.

    What the reader does in the picture sets these attributes, and so can Python. All places count from 0.

    Attributes:
        layer, head: the head.
        step: which matrix is looked at: "input", "query", "key", "value", "scores", "scaled", "masked", "weights",
            "weighted values", "head output", "heads" or "output".
        query, key: the tokens of the number in focus.
        dim: its dimension of the head.
        channel: its channel of d_model.
        whole: whether all matrices are shown, or those of the step alone.
        scaled: whether scores are divided by the root of d_k, as the model does.
        masked: whether the mask is obeyed, as the model does.
        temperature: what scaled scores are divided by, 0.05 to 10; 1 in the model.

    Examples:
        >>> import attention_lab
        >>> from tfm_core import Transformer, TransformerConfig
        >>> model = Transformer(TransformerConfig(vocab_size=4096, d_model=16, num_heads=2))
        >>> picture = attention_lab.steps(model, "the cat sat on the mat")
        >>> before = picture.matrix_of("scaled")
        >>> picture.scaled = False  # not divided by the root of d_k, 8
        >>> round((picture.matrix_of("scaled") / before).mean().item(), 2)
        2.83
    """

    canvases = (MATRICES_CANVAS,)
    choices = ("layer", *FROM_1, *AS_THEY_ARE, "scaled", "masked")

    layer = traitlets.Int(0).tag(sync=True)
    head = traitlets.Int(0).tag(sync=True)
    step = traitlets.Enum(STEPS, default_value="weights").tag(sync=True)
    query = traitlets.Int(0).tag(sync=True)
    key = traitlets.Int(0).tag(sync=True)
    dim = traitlets.Int(0).tag(sync=True)
    channel = traitlets.Int(0).tag(sync=True)
    whole = traitlets.Bool(True).tag(sync=True)
    scaled = traitlets.Bool(True).tag(sync=True)
    masked = traitlets.Bool(True).tag(sync=True)
    temperature = traitlets.Float(1.0).tag(sync=True)

    def __init__(
        self, model: Transformer, texts: Sequence[Tokens], mask: Tensor | None = None, kind: str = "self", **traits: Any
    ) -> None:
        self._model, self._texts, self._mask, self._kind = model, texts, mask, kind
        which = [{"source": 0, "target": -1}[text] for text in texts_of(kind)]
        self._queries, self._keys = (token_labels.labels(texts[number]) for number in which)
        self._read: tuple[int, Inside] | None = None
        notes = [note for text in dict.fromkeys(texts) for note in token_labels.about_tokens(text)]
        super().__init__(notes=notes, **traits)

    @property
    def _inside(self) -> Inside:
        """What this layer's attention read and wrote, of all heads."""
        if self._read is None or self._read[0] != self.layer:
            inputs = [text.batch for text in self._texts]
            self._read = (
                self.layer,
                inside.of_model(self._model, inputs, self._mask, kind=self._kind, layer=self.layer),
            )
        return self._read[1]

    @property
    def _steps(self) -> HeadSteps:
        """All that the head computes, with its switches as they are set."""
        crosses = self._kind == "cross"
        return HeadSteps(
            inside=self._inside,
            number=self.head,
            scaled=self.scaled,
            masked=self.masked,
            temperature=self.temperature,
            queries=self._queries,
            keys=self._keys,
            positional=PLAIN if crosses else self._model.config.positional,
            crosses=crosses,
        )

    @property
    def _at(self) -> Cell:
        """The number in focus."""
        return Cell(self.query, self.key, self.dim, self.channel)

    @property
    def matrix(self) -> NDArray[np.float32]:
        """The matrix of the step, such as the weights (query, key), whole, however much of it is shown."""
        return self._numbers(self.step)

    def matrix_of(self, name: str) -> NDArray[np.float32]:
        """One of the head's matrices, float32: scores and weights are (query, key), queries (query, head_dim).

        Args:
            name: a step, or what a step is computed with: "memory", "query weights", "key weights", "value weights",
                "key transposed", "bias", "mask" or "output weights".

        Raises:
            ValueError: for another name.
        """
        if name not in NUMBERS:
            raise ValueError(f"expected a matrix of {', '.join(NUMBERS)}; got {name!r}")
        return self._numbers(name)

    def _numbers(self, name: str) -> NDArray[np.float32]:
        return np.asarray(NUMBERS[name](self._steps, self._at, ALL, ALL).detach().float().numpy())

    @traitlets.validate("layer", *FROM_1)
    def _check_place(self, proposal: Any) -> int:
        name, at, config = proposal["trait"].name, int(proposal["value"]), self._model.config
        counts = {"layer": config.num_layers, "head": config.num_heads, "channel": config.d_model}
        counts |= {"query": len(self._queries), "key": len(self._keys), "dim": config.d_model // config.num_heads}
        if not 0 <= at < counts[name]:
            raise NotThereError(f"{name}: expected a number of 0 to {counts[name] - 1}, got {at}")
        return at

    @traitlets.validate("temperature")
    def _check_temperature(self, proposal: Any) -> float:
        temperature = float(proposal["value"])
        if not COLDEST <= temperature <= HOTTEST:
            raise NotThereError(f"temperature: expected a number of {COLDEST:g} to {HOTTEST:g}, got {temperature!r}")
        return temperature

    def draw(self) -> None:
        """The matrices that are looked at, and how the number in focus came about."""
        scene = Scene(self._steps, self._at, self.step, self.whole)
        which = "" if self._kind == "self" else f" ({self._kind})"
        self.show(
            0,
            scene.content(prefix=""),
            title=f"Layer {self.layer + 1}, head {self.head + 1}{which}",
            sentence=scene.sentence(),
            shape=f"step {STEPS.index(self.step) + 1} of {len(STEPS)}: {self.step}",
            sets={name: (name, 1) for name in FROM_1} | {name: name for name in AS_THEY_ARE},
        )


def steps(
    model: Transformer,
    tokens: Any,
    *,
    mask: Tensor | None = None,
    kind: str = "self",
    layer: int = 0,
    head: int = 0,
    tokenizer: str = "",
    mode: str = "auto",
    **choices: Any,
) -> Steps:
    """One head from its input to its output, number by number, live in a notebook.

    Args:
        model: the transformer; what it computes is that of `model.eval()`. One on another device or in another dtype
            is copied to the CPU, in float32.
        tokens: what it reads: `tfm_core.Tokens`, token ids (seq,) or (1, seq), or a text; of an encoder-decoder two of
            them, source and target.
        mask: as in `model(..., mask=mask)`: boolean, True = may attend, broadcasts to (batch, head, query, key), and is
            the same in all heads.
        kind: of an encoder-decoder "encoder", "decoder" or "cross".
        layer: from 0.
        head: from 0.
        tokenizer: of a text, a key of `tfm_core.TOKENIZERS`; by default that of the model's weights, if these are named
            in its configuration, else "word".
        mode: "light", "dark", or "auto", which follows the notebook.
        choices: other attributes of `Steps`, such as `step="scores"` or `query=3`.

    Raises:
        ValueError: for what is no model or no tokens of it, for a mask that differs from head to head, and for a place
            that is not there; the message says what was expected and what came.

    Examples:
        >>> import attention_lab
        >>> from tfm_core import Transformer, TransformerConfig
        >>> model = Transformer(TransformerConfig(vocab_size=4096, d_model=16, num_heads=2))
        >>> picture = attention_lab.steps(model, "the cat sat on the mat", head=1, query=2)
        >>> picture.step = "scores"
        >>> picture.matrix.shape  # (query, key)
        (6, 6)
    """
    if not isinstance(model, Transformer):
        raise ValueError(f"model: expected a tfm_core.Transformer, got {type(model).__name__}")
    kinds = list(streams.kinds(model.config))
    if kind not in kinds:
        of = f"an {model.config.architecture}" if model.config.architecture[0] == "e" else "a decoder"
        raise ValueError(f"kind: expected one of {', '.join(kinds)} of {of}, got {kind!r}")
    texts = [tokens]
    if len(kinds) > 1:
        if not isinstance(tokens, tuple | list) or len(tokens) != 2:
            raise ValueError(f"tokens: expected two texts, source and target, got {_described(tokens)}")
        texts = list(tokens)
    read = [_read(text, model.config, tokenizer) for text in texts]
    mask = None if mask is None else torch.as_tensor(mask).cpu()
    return Steps(_still(model), read, mask, kind, layer=layer, head=head, mode=mode, **choices)


def _still(model: Transformer) -> Transformer:
    """The model itself where it can be computed with as it is, else a copy: on the CPU, in float32, without dropout."""
    parameters = list(model.parameters())
    plain = all(each.device.type == "cpu" and each.dtype in (torch.float32, torch.float64) for each in parameters)
    drops = model.training and model.config.dropout > 0
    return model if plain and not drops else deepcopy(model).cpu().float().eval()


def _read(text: Any, config: TransformerConfig, tokenizer: str) -> Tokens:
    """What the model reads, as tokens."""
    if isinstance(text, str):
        tokens = _cut(text, config, tokenizer)
    elif isinstance(text, Tokens):
        tokens = text
    else:
        tokens = _of_ids(text, config)
    if not tokens.ids:
        raise ValueError("tokens: expected one at least, got none")
    return tokens


def _cut(text: str, config: TransformerConfig, tokenizer: str) -> Tokens:
    if tokenizer:
        return encode(text, tokenizer)
    if config.weights == NAME:
        return lab_prompt(text)
    try:
        return encode(text, read_name(config.weights).about.tokenizer)
    except ValueError:  # these weights are not those of a run
        return encode(text)


def _of_ids(ids: Any, config: TransformerConfig) -> Tokens:
    """Token ids as tokens that have their numbers for names; the last ones may be padding."""
    try:
        numbers = torch.as_tensor(ids).cpu()
    except (TypeError, ValueError, RuntimeError) as problem:
        expected = "Tokens, ids (seq,) or (1, seq), or a text"
        raise ValueError(f"tokens: expected {expected}; got {_described(ids)}") from problem
    whole = not numbers.dtype.is_floating_point and not numbers.dtype.is_complex and numbers.dtype != torch.bool
    if numbers.dim() not in (1, 2) or (numbers.dim() == 2 and len(numbers) != 1) or not whole:
        raise ValueError(
            f"tokens: expected whole numbers of shape (seq,) or (1, seq), got {tuple(numbers.shape)}, {numbers.dtype}"
        )
    row = tuple(map(int, numbers.flatten().tolist()))
    read = len(row)
    while read and row[read - 1] == config.pad_id:
        read -= 1
    return Tokens(tuple(map(str, row[:read])), row, dropped=0)


def _described(what: Any) -> str:
    return f"{type(what).__name__} of {len(what)}" if isinstance(what, tuple | list) else type(what).__name__
