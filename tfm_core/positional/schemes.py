"""Positions: six ways to tell a transformer where a token stands.

A scheme can enter a model in three places, and overrides the method of that place; the others give `None`.

- `encode`: a vector per position, added to the embeddings before the first layer (sinusoidal, learned);
- `rotate`: turns queries and keys inside each self-attention (rope);
- `bias_at`: a number per head and distance, added to the scores inside each self-attention (alibi, t5).

Where a cache holds the first `start` tokens, a pass has the tokens after these: the first two methods begin there.

A scheme may enter at several of them. To add one, write its class here and enter it in `POSITIONAL` at the foot of the
file. What else depends on schemes, such as costs and sentences, asks their classes, and names none of them.
"""

import math
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any, ClassVar, cast

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from tfm_core.positional.maths import (
    alibi_slopes,
    apply_rotary,
    frequencies,
    rotary_pairs,
    rotary_turns,
    sinusoidal_encoding,
    t5_buckets,
    t5_shared_from,
    turn_pairs,
)


@dataclass(frozen=True)
class About:
    """What is known of a scheme, for its users.

    Attributes:
        kind: "absolute" if it says where a token stands, "relative" if how far two tokens stand apart, "absolute and
            relative" if both, or "none".
        beyond: what becomes of positions beyond those that the model was trained on.
        depends_on: the arguments that make it what it is, beside the weights.
        used_by: models.
        source: the paper.
        called: its name as its paper writes it, to be used within a sentence.
    """

    kind: str
    beyond: str
    depends_on: tuple[str, ...]
    used_by: tuple[str, ...]
    source: str
    called: str


@dataclass(frozen=True)
class Table:
    """Numbers that a scheme learns: one of its parameters.

    Attributes:
        place: at which one of `PLACES` they act.
        shape: its axes, each a number, or the name of the argument that says how long it is: "d_model", "num_heads",
            "max_len".
        std: the spread of its first values; see initialization.py.
    """

    place: str
    shape: tuple[int | str, ...]
    std: float = 1.0

    def sizes(self, **arguments: int) -> tuple[int, ...]:
        """How long each axis is in a scheme that is made with these arguments."""
        return tuple(axis if isinstance(axis, int) else arguments[axis] for axis in self.shape)


PLACES = ("encode", "rotate", "bias_at")  # where a scheme can enter
# Which dimensions of a query or a key turn together -> who stores weights for it.
PAIRINGS = {
    "halves": "dimensions i and i + width / 2: GPT-NeoX, and Llama, Mistral and Qwen as transformers stores them",
    "neighbours": "dimensions 2i and 2i + 1, as the paper has it: GPT-J, Llama as Meta stores it and in GGUF files",
}
OF_BIASES = ("slopes", "buckets", "shared_from")  # what a scheme tells of its biases


_made: ContextVar[dict[tuple[object, ...], Tensor] | None] = ContextVar("biases", default=None)


@contextmanager
def biases_made_once() -> Iterator[None]:
    """Let a scheme make its biases once in the block, as all layers of a stack add the same: for long texts it takes a
    third of the time of an attention. Nobody may change a scheme's weights in the block.
    """
    if _made.get() is not None:
        yield
        return
    token = _made.set({})
    try:
        yield
    finally:
        _made.reset(token)


class Positional(nn.Module):
    """No positions at all, and the frame that the other schemes fill in.

    Attributes:
        about: what is known of it.
        tables: the name of each parameter -> its place and its shape. They are all that it learns.
        waves_at: those of `PLACES` where its numbers are waves. Where they are added, they are those of
            `sinusoidal_encoding`; where they turn, the dimensions `pairs`[i] turn once in `wavelengths`[i] positions,
            and a scheme that turns has to say both.
        num_buckets: of `buckets`, how many there are; 0 without.
        equations: the functions that its methods call, for readers who ask where numbers come from.

    Args:
        d_model, num_heads: of the model.
        max_len: the longest sequence that a scheme with a table knows.
        bidirectional: False in decoders, which never look ahead.
        base: of the frequencies, in schemes of waves.
        offset: in which row of a table of positions the first position stands; the table has so many rows more.
        pairing: one of `PAIRINGS`, in schemes that turn.

    Examples:
        >>> from tfm_core import POSITIONAL
        >>> alibi = POSITIONAL["alibi"](d_model=8, num_heads=2, max_len=16)
        >>> alibi.bias(3, 3).shape  # (head, query, key)
        torch.Size([2, 3, 3])
        >>> alibi.encode(3) is None  # it adds nothing to the embeddings
        True
    """

    about: ClassVar[About] = About(
        kind="none",
        beyond="defined: there is nothing to run out of; decoders still tell some order by their mask",
        depends_on=(),
        used_by=("some layers of Llama 4 and SmolLM3",),
        source="Kazemnejad et al. 2023 (NoPE)",
        called="no positions",
    )
    tables: ClassVar[Mapping[str, Table]] = {}
    waves_at: ClassVar[tuple[str, ...]] = ()
    num_buckets: ClassVar[int] = 0
    equations: ClassVar[tuple[Callable[..., Any], ...]] = ()

    def __init__(
        self,
        *,
        d_model: int,
        num_heads: int,
        max_len: int,
        bidirectional: bool = True,
        base: float = 10000.0,
        offset: int = 0,
        pairing: str = "halves",
    ) -> None:
        super().__init__()
        self.d_model, self.num_heads, self.max_len = d_model, num_heads, max_len
        self.bidirectional, self.base, self.offset, self.pairing = bidirectional, base, offset, pairing
        for name, table in self.tables.items():
            shape = table.sizes(d_model=d_model, num_heads=num_heads, max_len=max_len + offset)
            self.register_parameter(name, nn.Parameter(_first(*shape, std=table.std)))

    @classmethod
    def overrides(cls, method: str) -> bool:
        """Whether it has this method of its own, in place of that of a scheme that does nothing."""
        return getattr(cls, method) is not getattr(Positional, method)

    @classmethod
    def enters(cls) -> tuple[str, ...]:
        """Where it enters: those of `PLACES` that it overrides."""
        return tuple(place for place in PLACES if cls.overrides(place))

    @classmethod
    def at(cls, place: str) -> "type[Positional]":
        """What the scheme does at one of the places where it enters, as a scheme that enters nowhere else."""
        if cls.enters() == (place,):
            return cls
        left_out = [other for other in PLACES if other != place]
        left_out += [] if place in cls.waves_at else ["wavelengths", "pairs"]
        left_out += [] if place == "bias_at" else OF_BIASES
        members = {method: getattr(Positional, method) for method in left_out} | {
            "tables": {name: table for name, table in cls.tables.items() if table.place == place},
            "waves_at": tuple(other for other in cls.waves_at if other == place),
        }
        return cast("type[Positional]", type(cls.__name__, (cls,), members))

    @classmethod
    def learns_at(cls, place: str) -> bool:
        """Whether numbers that act at this one of `PLACES` are learned."""
        return any(table.place == place for table in cls.tables.values())

    @classmethod
    def count_learned(cls, **sizes: int) -> dict[str, int]:
        """Those of `PLACES` where it learns -> how many numbers; the sizes are d_model, num_heads and max_len."""
        counts = dict[str, int]()
        for table in cls.tables.values():
            counts[table.place] = counts.get(table.place, 0) + math.prod(table.sizes(**sizes))
        return counts

    @classmethod
    def ends_at_max_len(cls) -> bool:
        """Whether it has nothing to say past max_len: there a table of so many rows ends."""
        return any("max_len" in table.shape for table in cls.tables.values())

    @classmethod
    def beyond(cls, architecture: str) -> str:
        """What becomes of positions beyond those that a model of this architecture was trained on."""
        return cls.about.beyond

    def encode(self, seq_len: int, start: int = 0) -> Tensor | None:
        """(seq, d_model), added to the embeddings; like `bias` of any float dtype, the model casts it to its own."""
        return None

    def rotate(self, x: Tensor, start: int = 0) -> Tensor | None:
        """Queries or keys (batch, head, seq, head_dim), turned by their positions, `start` and up."""
        return None

    def bias_at(self, distance: Tensor) -> Tensor | None:
        """What is added to the scores at these distances key - query: (head, ...), the axes of `distance` last."""
        return None

    def wavelengths(self, width: int) -> Tensor | None:
        """The positions in which each pair of dimensions of vectors of this width turns once, float64 (pair).

        Of waves they are 2 pi base^(2i / width) positions, if the scheme says nothing else; None without waves.
        """
        return 2 * math.pi / frequencies(width, self.base) if self.waves_at else None

    def pairs(self, width: int) -> Tensor | None:
        """Which dimensions of vectors of this width turn together, int64 (pair, 2); None where nothing turns."""
        return None

    def slopes(self) -> Tensor | None:
        """How much the bias of each head falls with every step of distance, float64 (head); None if not evenly."""
        return None

    def buckets(self, distance: Tensor) -> Tensor | None:
        """Which row of its table of biases these distances key - query fall into; of the same shape. None without."""
        return None

    @property
    def shared_from(self) -> int | None:
        """The first distance back from which on all keys share one bias; None if no two distances must."""
        return None

    def bias(self, query_len: int, key_len: int, dtype: torch.dtype | None = None) -> Tensor | None:
        """(head, query, key), added to the scores; the last query stands at the last key.

        Args:
            query_len: the number of queries.
            key_len: the number of keys.
            dtype: of the result; the scheme's own by default.
        """
        if type(self).bias_at is Positional.bias_at:
            return None
        made = _made.get()
        if made is None:
            return self._bias(query_len, key_len, dtype)
        key = self, query_len, key_len, dtype, torch.is_grad_enabled()
        if key not in made:
            made[key] = self._bias(query_len, key_len, dtype)
        return made[key]

    def _bias(self, query_len: int, key_len: int, dtype: torch.dtype | None) -> Tensor:
        device = next((parameter.device for parameter in self.parameters()), None)
        values = self.bias_at(torch.arange(1 - key_len, query_len, device=device))  # each distance once
        assert values is not None
        # A row for each last query, the latest first: it begins at the distance of the first key, the furthest back.
        # In one piece head by head, as t5's values are not: added to the scores in half the time.
        return values.to(dtype or values.dtype).contiguous().unfold(-1, key_len, 1).flip(-2)

    @staticmethod
    def check(*, d_model: int, num_heads: int) -> None:
        """Refuse sizes with which the scheme cannot work.

        Raises:
            ValueError: naming what was expected and what came.
        """


def _first(*shape: int, std: float) -> Tensor:
    """Normal numbers; none on the meta device, where drawing makes torch import its compiler: 66 MB and 2 s."""
    empty = torch.empty(shape)
    return empty if empty.is_meta else torch.randn(shape) * std


class Sinusoidal(Positional):
    """Fixed waves, added to the embeddings; defined for any length."""

    about = About(
        kind="absolute",
        beyond="defined; but a model trained on shorter texts has never met these vectors",
        depends_on=("d_model", "base"),
        used_by=("the Transformer of 2017", "Whisper's encoder"),
        source="Vaswani et al. 2017, section 3.5",
        called="sinusoids",
    )
    waves_at = ("encode",)
    equations = (sinusoidal_encoding,)

    def encode(self, seq_len: int, start: int = 0) -> Tensor:
        return sinusoidal_encoding(seq_len, self.d_model, base=self.base, start=start)


class Learned(Positional):
    """A trained vector per position, added to the embeddings; beyond max_len there is none. Gehring et al. 2017."""

    about = About(
        kind="absolute",
        beyond="not defined: the table ends at max_len",
        depends_on=("d_model", "max_len"),
        used_by=("BERT", "GPT-2", "ViT"),
        source="Gehring et al. 2017, section 3.1",
        called="learned positions",
    )
    # As loud as the sinusoids, whose mean square is 1/2.
    tables: ClassVar = {"weight": Table("encode", ("max_len", "d_model"), std=math.sqrt(0.5))}
    weight: nn.Parameter

    def encode(self, seq_len: int, start: int = 0) -> Tensor:
        if start + seq_len > self.max_len:
            got = f"{start} in the cache and {seq_len} new" if start else f"{seq_len}"
            raise ValueError(f"learned positions: expected at most max_len={self.max_len} tokens, got {got}")
        first = self.offset + start
        places = torch.arange(first, first + seq_len, device=self.weight.device)
        return F.embedding(places, self.weight)  # a copy, no view


class Rotary(Positional):
    """Queries and keys turned by their positions. Su et al. 2021.

    Which dimensions turn together is a convention, `PAIRINGS`. Weights made for one of them go wrong under the other,
    in silence: a head's rows of the query and key projections would have to change places.
    """

    about = About(
        kind="relative",
        beyond="defined; but slow pairs reach angles that a model trained on shorter texts has never met",
        depends_on=("d_model", "base"),
        used_by=("Llama", "GPT-NeoX", "Mistral", "Qwen"),
        source="Su et al. 2021 (RoFormer), equation 34",
        called="RoPE",
    )
    waves_at = ("rotate",)
    equations = (apply_rotary,)

    def rotate(self, x: Tensor, start: int = 0) -> Tensor:
        if x.is_cpu and not torch.is_grad_enabled():
            cos, sin = rotary_turns(start, x.shape[-2], x.shape[-1], self.base, x.dtype)
            return turn_pairs(x, cos, sin, neighbours=self.pairing == "neighbours")
        positions = torch.arange(start, start + x.shape[-2], device=x.device)
        return apply_rotary(x, positions, base=self.base, neighbours=self.pairing == "neighbours")

    def pairs(self, width: int) -> Tensor:
        return rotary_pairs(width, neighbours=self.pairing == "neighbours")

    @staticmethod
    def check(*, d_model: int, num_heads: int) -> None:
        if d_model // num_heads % 2:
            raise ValueError(
                f"rope turns pairs of dimensions: expected an even d_model / num_heads, "
                f"got {d_model} / {num_heads} = {d_model // num_heads}"
            )


class Alibi(Positional):
    """Scores fall by slope x |distance|, a fixed slope per head. Press et al. 2022."""

    about = About(
        kind="relative",
        beyond="defined: the penalty goes on as before, which is what it was made for",
        depends_on=("num_heads",),
        used_by=("BLOOM", "MPT"),
        source="Press et al. 2022 (ALiBi), section 3",
        called="ALiBi",
    )
    equations = (alibi_slopes,)

    def slopes(self) -> Tensor:
        return alibi_slopes(self.num_heads)

    def bias_at(self, distance: Tensor) -> Tensor:
        slopes = self.slopes().to(distance.device)
        return -slopes.view(-1, *[1] * distance.dim()) * distance.abs()


class T5(Positional):
    """A trained number per head and bucket of distances, shared by the layers of a stack. Raffel et al. 2020."""

    about = About(
        kind="relative",
        beyond="defined: far distances share the last bucket of their side, "
        f"from {t5_shared_from(bidirectional=True)} on where keys stand on both sides, "
        f"from {t5_shared_from(bidirectional=False)} on in decoders",
        depends_on=("num_heads",),
        used_by=("T5", "Flan-T5"),
        source="Raffel et al. 2020 (T5), section 2.1",
        called="T5",
    )
    num_buckets = 32
    tables: ClassVar = {"weight": Table("bias_at", (num_buckets, "num_heads"))}
    weight: nn.Parameter
    equations = (t5_buckets,)

    @classmethod
    def beyond(cls, architecture: str) -> str:
        both, back = (t5_shared_from(bidirectional=side, num_buckets=cls.num_buckets) for side in (True, False))
        here = {
            "encoder": f"from {both} on here, where half of the buckets are for each side",
            "decoder": f"from {back} on here, where all buckets are for earlier keys",
            "encoder-decoder": f"from {both} on in the encoder, from {back} on in the decoder",
        }[architecture]
        return f"defined: far distances share the last bucket, {here}"

    def buckets(self, distance: Tensor) -> Tensor:
        return t5_buckets(distance, bidirectional=self.bidirectional, num_buckets=self.num_buckets)

    @property
    def shared_from(self) -> int:
        return t5_shared_from(bidirectional=self.bidirectional, num_buckets=self.num_buckets)

    def bias_at(self, distance: Tensor) -> Tensor:
        return F.embedding(self.buckets(distance.to(self.weight.device)), self.weight).movedim(-1, 0)


POSITIONAL: dict[str, type[Positional]] = {
    "none": Positional,
    "sinusoidal": Sinusoidal,
    "learned": Learned,
    "rope": Rotary,
    "alibi": Alibi,
    "t5": T5,
}
"""Name -> a positional scheme, a class that derives from `Positional`; `about` tells its source and what it does.

Sinusoidal: Vaswani et al. 2017, section 3.5. Learned: Gehring et al. 2017, section 3.1. RoPE: Su et al. 2021, equation
34. ALiBi: Press et al. 2022, section 3. T5: Raffel et al. 2020, section 2.1. None: Kazemnejad et al. 2023.

Examples:
    >>> from tfm_core import POSITIONAL
    >>> list(POSITIONAL)
    ['none', 'sinusoidal', 'learned', 'rope', 'alibi', 't5']
    >>> POSITIONAL["rope"].about.kind, POSITIONAL["rope"].enters()
    ('relative', ('rotate',))
"""

PLAIN = next(name for name, scheme in POSITIONAL.items() if not scheme.enters())  # with which others are compared


def called(name: str) -> str:
    """How a scheme is called before the word "positions": by its name, "no" where it enters nowhere."""
    return name if POSITIONAL[name].enters() else "no"
