"""A positional scheme by itself: what it adds to embeddings, how it turns queries and keys, what it adds to scores."""

import math
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
import traitlets
from numpy.typing import NDArray
from torch import Tensor

from attention_lab.picture import NotThereError, Picture, check_part
from tfm_core.model.choices import check_choice
from tfm_core.model.initialization import fill_parameters
from tfm_core.positional.schemes import PLACES, POSITIONAL, Positional
from tfm_ui.live.windows import WHOLE, part_of
from tfm_ui.pictures import lines
from tfm_ui.pictures.chart import CHART
from tfm_ui.pictures.lines import Line
from tfm_ui.pictures.maps import MAPS
from tfm_ui.pictures.positions.added import CURVES, Added
from tfm_ui.pictures.positions.bias import Biases
from tfm_ui.pictures.positions.clocks import CLOCKS, Turns, in_positions, wave_chart
from tfm_ui.text import formats

NO_DIMENSIONS = "No dimension is chosen: click a column of the heatmap, or set `dims`."


class Positions(Picture):
    """A scheme at one of the places where it enters a model. Positions and dimensions count from 0.

    Attributes:
        scheme: the scheme itself.
        length: how many positions are shown.

    Examples:
        >>> import attention_lab
        >>> picture = attention_lab.positions("t5", length=32)
        >>> isinstance(picture, attention_lab.BiasPositions), picture.scheme.num_buckets, picture.length
        (True, 32, 32)
    """

    place = ""
    still = 0

    def __init__(self, scheme: Positional, name: str, length: int, **traits: Any) -> None:
        self.scheme, self.length, self._called = scheme, length, name
        super().__init__(**traits)

    def _check_position(self, name: str, position: int) -> int:
        if not 0 <= position < self.length:
            raise NotThereError(f"{name}: expected a position of 0 to {self.length - 1}, got {position}")
        return position

    @property
    def _origin(self) -> str:
        """What is said of numbers that a scheme learns; "" of those that nobody learns."""
        learned = [parameter.detach().flatten().float() for parameter in self.scheme.parameters()]
        if not learned:
            return ""
        spread = torch.cat(learned).std(correction=0)
        return f"They are parameters, to be learned, with a standard deviation of {spread:.2f}."


class AddedPositions(Positions):
    """The vectors that are added to the embeddings, as a heatmap, and the curves of chosen dimensions.

    Attributes:
        position: the marked one. A click sets it.
        dims: the dimensions with curves, at most eight, with spaces between them. A click puts one in, or takes it out.
        part: which part of the heatmap is shown, "top,left,rows,columns"; "0,0,0,0" is all of it.

    Examples:
        >>> import attention_lab
        >>> picture = attention_lab.positions("sinusoidal", length=16, d_model=8)
        >>> picture.dims, picture.position = "0 4", 3
        >>> round(picture.values[3, 0].item(), 4)  # sin 3
        0.1411
    """

    canvases = (MAPS, CHART)
    choices = ("position", "dims", "part")
    place = "encode"

    position = traitlets.Int(0).tag(sync=True)
    dims = traitlets.Unicode("").tag(sync=True)
    part = traitlets.Unicode(WHOLE).tag(sync=True)

    @traitlets.validate("part")
    def _check_part(self, proposal: Any) -> str:
        return check_part(str(proposal["value"]))

    def __init__(self, scheme: Positional, name: str, length: int, **traits: Any) -> None:
        width = scheme.d_model
        some = dict.fromkeys((0, 1, width // 8, width // 4, width // 2))  # from fast to slow, where they are waves
        usual = " ".join(str(dim) for dim in some if dim < width)
        super().__init__(scheme, name, length, **{"dims": usual} | traits)

    @property
    def values(self) -> NDArray[np.float32]:
        """What is added, float32 (seq, d_model); NaN at positions that a table does not have."""
        return np.asarray(self._added.values.numpy())

    @traitlets.validate("position")
    def _check_marked(self, proposal: Any) -> int:
        return self._check_position("position", int(proposal["value"]))

    @traitlets.validate("dims")
    def _check_dims(self, proposal: Any) -> str:
        words = str(proposal["value"]).split()
        width = self.scheme.d_model
        if len(words) > CURVES or not all(word.isascii() and word.isdigit() and int(word) < width for word in words):
            many = f"at most {CURVES} dimensions of 0 to {width - 1}"
            raise NotThereError(f"dims: expected {many}, got {proposal['value']!r}")
        return " ".join(words)

    @property
    def _added(self) -> Added:
        defined = min(self.length, self.scheme.max_len) if self.scheme.ends_at_max_len() else self.length
        with torch.no_grad():
            vectors = self.scheme.encode(defined)
        assert vectors is not None
        values = F.pad(vectors.float().cpu(), (0, 0, 0, self.length - defined), value=torch.nan)
        return Added(self._called, self._called, values, defined, self.scheme.base, self._origin)

    def draw(self) -> None:
        """The heatmap, and the curves of the positions that it shows."""
        added = self._added
        part, dims = part_of(self.part, *added.values.shape), added.dims(self.dims)
        names = {name: name for name in self.choices}
        shape = f"(seq, d_model) = {tuple(added.values.shape)}"
        content = added.content(part, dims, self.position, prefix="")
        self.show(
            0, content, title=f"{added.title}: added to embeddings", sentence=added.sentence(), shape=shape, sets=names
        )
        self.show(
            1,
            lines.content([added.chart(part, dims, added.top)]),
            title="Curves of dimensions",
            sentence=added.crossing(part, dims) if dims else NO_DIMENSIONS,
        )


class TurnedPositions(Positions):
    """Pairs of dimensions of a head as clocks, whose hands stand at the positions of a query and of a key.

    Attributes:
        position: the query's. The slider sets it.
        key: the key's position, likewise.

    Examples:
        >>> import torch
        >>> import attention_lab
        >>> picture = attention_lab.positions("rope", length=32)
        >>> picture.position = picture.key = 7
        >>> query, key = picture.hands
        >>> torch.equal(query, key)
        True
    """

    canvases = (CLOCKS, CHART)
    choices = ("position", "key")
    place = "rotate"

    position = traitlets.Int(0).tag(sync=True)
    key = traitlets.Int(0).tag(sync=True)

    def __init__(self, scheme: Positional, name: str, length: int, **traits: Any) -> None:
        usual = {"position": min(12, length - 1), "key": min(4, length - 1)}
        super().__init__(scheme, name, length, **usual | traits)

    @property
    def hands(self) -> tuple[Tensor, Tensor]:
        """A query and a key that both pointed to the right in each pair, turned: each (pair, 2), cosine and sine."""
        return self._turns.hands

    @traitlets.validate("position", "key")
    def _check_turned(self, proposal: Any) -> int:
        return self._check_position(proposal["trait"].name, int(proposal["value"]))

    @property
    def _turns(self) -> Turns:
        width = self.scheme.d_model // self.scheme.num_heads
        return Turns(self.scheme, self.position, self.key, self.length, width)

    def draw(self) -> None:
        """The clocks, and after how many positions each has turned once."""
        turns = self._turns
        with torch.no_grad():
            content, said = turns.content(prefix=""), turns.sentence()
        self.show(
            0,
            content,
            title=f"{self._called}: turned, a turn per pair",
            sentence=said,
            shape=formats.plural(turns.pairs, "pair"),
            sets={name: name for name in self.choices},
        )
        waves = turns.wavelengths.tolist()
        about = f"{self._called}: {formats.plural(len(waves), 'wave')} of {in_positions(waves[0])} to "
        curves = [Line(self._called, range(len(waves)), waves, "head 1", "solid")]
        self.show(
            1,
            lines.content([wave_chart(curves)]),
            title="Wavelengths",
            sentence=f"{about}{in_positions(waves[-1])} positions.",
        )


class BiasPositions(Positions):
    """The biases that are added to the scores, as a matrix for each head, and by distance.

    Attributes:
        alone: whether each head's colours are for its own values, so that no two heads can be compared by them.
        part: which part of the matrices is shown, "top,left,rows,columns"; "0,0,0,0" is all of it.

    Examples:
        >>> import attention_lab
        >>> picture = attention_lab.positions("alibi", length=8, num_heads=2)
        >>> picture.alone = True
        >>> picture.values[0, 7, 4:7].tolist()  # a slope of 1/16
        [-0.1875, -0.125, -0.0625]
    """

    canvases = (MAPS, CHART)
    choices = ("alone", "part")
    place = "bias_at"

    alone = traitlets.Bool(False).tag(sync=True)
    part = traitlets.Unicode(WHOLE).tag(sync=True)

    @traitlets.validate("part")
    def _check_part(self, proposal: Any) -> str:
        return check_part(str(proposal["value"]))

    @property
    def values(self) -> NDArray[np.float32]:
        """What is added to the scores, float32 (head, query, key)."""
        with torch.no_grad():
            bias = self.scheme.bias(self.length, self.length)
        assert bias is not None
        return np.asarray(bias.float().cpu().numpy())

    @property
    def _biases(self) -> Biases:
        distance, scheme = torch.arange(1 - self.length, self.length), self.scheme
        device = next((parameter.device for parameter in scheme.parameters()), None)
        with torch.no_grad():
            values = scheme.bias_at(distance.to(device))
        assert values is not None
        values = values.float().cpu().contiguous()
        return Biases(values, scheme.buckets(distance), scheme.num_buckets, self._origin, alone=self.alone)

    def draw(self) -> None:
        """The matrices, and below them a line per head."""
        biases, title = self._biases, f"{self._called}: added to scores"
        sets = {"square": "part"}
        content, shape = biases.content(self.part, prefix=""), f"(head, query, key) = {self.values.shape}"
        self.show(0, content, title=title, sentence=biases.sentence(), shape=shape, sets=sets)
        told = biases.sentence_by_distance()
        shape = f"(head, distance) = {tuple(biases.values.shape)}"
        self.show(1, biases.by_distance(), title=f"{self._called}, by distance", sentence=told, shape=shape)


KINDS: dict[str, type[Positions]] = {kind.place: kind for kind in (AddedPositions, TurnedPositions, BiasPositions)}


def positions(
    scheme: str | Positional | type[Positional],
    *,
    length: int = 64,
    d_model: int = 64,
    num_heads: int = 4,
    max_len: int | None = None,
    base: float = 10000.0,
    bidirectional: bool = True,
    seed: int = 0,
    place: str = "",
    mode: str = "auto",
    **choices: Any,
) -> Positions:
    """A positional scheme by itself, live in a notebook: its vectors, its turns or its biases.

    Args:
        scheme: a key of `tfm_core.POSITIONAL`, a class that derives from `tfm_core.Positional`, or one of its objects,
            such as that of a trained model, whose own sizes then count.
        length: how many positions are shown.
        d_model: of the model.
        num_heads: of the model; what turns has the width of a head, d_model / num_heads.
        max_len: the longest sequence that a scheme with a table knows; by default `length`.
        base: of the frequencies, in schemes of waves.
        bidirectional: False in decoders, which never look ahead.
        seed: of the parameters of a scheme that learns.
        place: of a scheme that enters at several places, which is shown: "encode", "rotate" or "bias_at"; by default
            the first.
        mode: "light", "dark", or "auto", which follows the notebook.
        choices: other attributes of the picture, such as `dims="0 1 8"`, or `position=12`.

    Raises:
        ValueError: for what is no scheme, enters nowhere or not there, and for sizes that it cannot have; the message
            says what was expected and what came.

    Examples:
        >>> import attention_lab
        >>> picture = attention_lab.positions("sinusoidal", length=16, d_model=8, dims="0 7")
        >>> picture.values.shape  # (seq, d_model)
        (16, 8)
        >>> picture = attention_lab.positions("rope", position=12, key=4)
        >>> picture.hands[0].shape  # (pair, 2): cosine and sine
        torch.Size([8, 2])
    """
    max_len = length if max_len is None else max_len
    sizes = {"length": length, "d_model": d_model, "num_heads": num_heads, "max_len": max_len}
    for name, size in sizes.items():
        if type(size) is not int or size < 1:
            raise ValueError(f"{name}: expected a whole number of at least 1, got {size!r}")
    if isinstance(base, bool) or not isinstance(base, int | float) or not 1 <= base < math.inf:
        raise ValueError(f"base: expected a number of at least 1, got {base!r}")
    called = scheme if isinstance(scheme, str) else ""
    if isinstance(scheme, str):
        check_choice("scheme", scheme, POSITIONAL)
        scheme = POSITIONAL[scheme]
    if isinstance(scheme, type) and issubclass(scheme, Positional):
        scheme.check(d_model=d_model, num_heads=num_heads)
        if "rotate" in scheme.enters() and d_model < 2 * num_heads:
            raise ValueError(f"d_model: expected two dimensions a head at least, {2 * num_heads}, got {d_model}")
        if "bias_at" in scheme.enters() and length < 2:
            raise ValueError(f"length: expected two positions at least, as biases are of a distance; got {length}")
        scheme = scheme(
            d_model=d_model,
            num_heads=num_heads,
            max_len=max_len,
            bidirectional=bidirectional,
            base=base,
        )
        fill_parameters(scheme, seed)
    if not isinstance(scheme, Positional):
        raise ValueError(f"scheme: expected a name, a class or an object of Positional, got {type(scheme).__name__}")
    entered = scheme.enters()
    if not entered or (place and place not in entered):
        there = f"{place}, one of {', '.join(PLACES)}" if place else f"one of {', '.join(PLACES)}"
        raise ValueError(f"scheme: expected one that enters at {there}; got {_places(scheme)}")
    place = place or entered[0]
    if place == "rotate" and scheme.wavelengths(scheme.d_model // scheme.num_heads) is None:
        raise ValueError(f"scheme: expected one that tells its wavelengths, as it turns; got {_name_of(scheme)}")
    return KINDS[place](scheme, called or _name_of(scheme), length, mode=mode, **choices)


def _name_of(scheme: Positional) -> str:
    """Its name in the table of schemes; that of its class where it is not there."""
    names = [name for name, kind in POSITIONAL.items() if type(scheme) is kind]
    return names[0] if names else type(scheme).__name__


def _places(scheme: Positional) -> str:
    entered = ", ".join(scheme.enters())
    return f"{_name_of(scheme)}, which enters {f'at {entered}' if entered else 'nowhere'}"
