"""The Positions lens's own controls: which view, which schemes, how long and how wide, and what each view adds.

Positions and dimensions are counted from 0, as in the papers.
"""

from dataclasses import dataclass

from tfm_core import POSITIONAL
from tfm_core.positional.schemes import PAIRINGS
from tfm_ui.live import windows
from tfm_ui.state.fields import Choice, Length, Limits, Number, Whole, control
from tfm_ui.state.lens_state import LensState
from tfm_ui.state.lists import Numbers
from tfm_ui.state.model_state import ModelState
from tfm_ui.state.sizes import MOST

PREFIX = "positions_"
VIEWS = ("see", "table", "why", "model", "beyond", "fault", "pairing")
NOTHING = "nothing"  # what B may be, too
ONE_SCALE, OWN_SCALES = "one for all", "each its own"
MEASURES = ("dot product", "distance")
HALVES, NEIGHBOURS = PAIRINGS  # what turns together
CLAIMS = ("alike pairs", "by distance", "shift matrix", "shift error", "told apart", "turned scores")

LONGEST, WIDEST, MOST_HEADS = 4096, 512, 32
LENGTHS = (*range(2, 129), *range(136, 257, 8), *range(288, 513, 32), *range(576, 1025, 64), *range(1280, 4097, 256))
BASES = (2, 1_000_000)


@dataclass(frozen=True, kw_only=True)
class PositionsState(LensState):
    """One for all views, so that schemes, length and base stay what they were when the view changes."""

    view: str = control(Choice("View", VIEWS, "buttons"), default="see", held=True)
    a: str = control(Choice("A", tuple(POSITIONAL)), default="sinusoidal")
    b: str = control(Choice("B", (NOTHING, *POSITIONAL), help="The scheme beside A."), default="rope")

    # what the schemes are made from: width, heads, length and base do not depend on the model
    width: int = control(
        Whole(
            "Width",
            1,
            WIDEST,
            box=True,
            help="d_model, of encodings that are added to the embeddings; the width of one head, where it is turned.",
        ),
        default=64,
    )
    heads: int = control(
        Whole("num_heads", 1, MOST_HEADS, box=True, help="Heads that each have a bias of their own."), default=8
    )
    length: int = control(Length("Length", 2, LONGEST, stops=LENGTHS), default=64, held=True)
    max_len: int = control(Length("max_len", 2, LONGEST, stops=LENGTHS), default=48, held=True)
    base: float = control(Number("Base", *BASES, digits=4), default=10000.0, held=True)

    pairing: str = control(
        Choice(
            "Turned together",
            tuple(PAIRINGS),
            help=" ".join(f"{name.capitalize()}: {what}." for name, what in PAIRINGS.items()),
        ),
        default=HALVES,
    )

    # what is looked at
    position: int = control(Whole("Position", 0, LONGEST - 1), default=12, held=True)
    key: int = control(Whole("Position of the key", 0, LONGEST - 1), default=4, held=True)
    dims: str = control(Numbers("Dimensions", WIDEST - 1, low=0), default="0 1 8 16 32", held=True)
    shift: int = control(Whole("Shift k", 0, LONGEST - 1), default=5, held=True)
    head: int = control(Whole("Head", 1, MOST_HEADS, box=True, help="Of the bias."), default=1)
    bias_scale: str = control(
        Choice(
            "Scale of the heads",
            (ONE_SCALE, OWN_SCALES),
            help="One for all: a colour is the same bias in every head. Each its own: gentle heads can be read, but no "
            "longer compared with others by their colours.",
        ),
        default=ONE_SCALE,
    )
    part: str = control(windows.field("Part of position × dimension", LONGEST), default=windows.WHOLE, held=True)
    square: str = control(windows.field("Part of position × position", LONGEST), default=windows.WHOLE, held=True)

    claim: str = control(Choice("Picture", CLAIMS, help="What the view “Why they work” shows."), default=CLAIMS[0])
    measure: str = control(Choice("Similarity", MEASURES, "buttons"), default=MEASURES[0])
    pair: int = control(Whole("Pair", 0, WIDEST // 2 - 1, box=True, help="Of dimensions."), default=0)

    # in the model
    layer: int = control(Whole("Layer", 1, MOST, box=True), default=1)
    model_head: int = control(Whole("Head", 1, MOST, box=True), default=1)
    shuffle: int = control(Whole("Shuffle", 0, 9999), default=1, held=True)
    part_maps: str = control(windows.field("Part of the maps", LONGEST), default=windows.WHOLE, held=True)

    # the common fault
    batch: int = control(Whole("Batch", 1, 4, box=True), default=3)
    item: int = control(Whole("Sentence", 1, 4, box=True), default=2)

    @staticmethod
    def limits(model: ModelState) -> Limits:
        """Layers and heads: as many as the model has."""
        return {"layer": {"high": model.num_layers}, "model_head": {"high": model.num_heads}}

    @property
    def sides(self) -> dict[str, str]:
        """Scheme -> "A" or "B", A first; a scheme that is both is A."""
        return {self.a: "A"} | ({} if self.b in (NOTHING, self.a) else {self.b: "B"})

    def title_of(self, name: str) -> str:
        """ "A: rope", or of a scheme that is neither A nor B its name alone."""
        side = self.sides.get(name)
        return f"{side}: {name}" if side else name

    @property
    def shift_within(self) -> int:
        """The shift k, within the length."""
        return min(self.shift, self.length - 1)

    @property
    def bias_head(self) -> int:
        """The head of the bias that is looked at, from 0."""
        return min(self.head, self.heads) - 1
