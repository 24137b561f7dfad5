"""Who looks at whom, as lines between two rows of tokens."""

from typing import Any

import traitlets

from attention_lab.arc_still import figure
from attention_lab.given import Given, Named, read
from attention_lab.picture import NotThereError, Picture
from tfm_ui.pictures.arcs import ARCS, Drawn, lines_of, maps
from tfm_ui.text import formats

KINDS = ("heads", "mean", "max", "rollout")
HIDDEN = ("none", "padding", "first", "padding and first")
LEAST = 5  # percent of a row, as the slider has it
PREFIX = "attention_"  # of what the script calls choices
CHOICES = {"heads": "shown", "tokens": "selection", "mass": "mass", "hide": "hide"}  # the script's names -> traitlets


class Arcs(Picture):
    """A layer's heads, or one aggregate of them, as lines from queries to keys.

    Attributes:
        layer: from 0; a rollout goes from the first layer to this.
        lines: "heads", the heads of the layer; "mean" or "max" over them; or "rollout", attention rollout (Abnar and
            Zuidema, 2020).
        shown: the heads whose lines are drawn, by number from 1, such as "1 4"; "" for all.
        selection: the selected tokens, such as "q3 q5" for the queries 3 and 5, from 1, or "k1" for the first key.
        mass: which share of each row is drawn as lines, in percent: the largest weights first.
        hide: what is not drawn, "none", "padding", "first" or "padding and first".

    Examples:
        >>> import torch
        >>> import attention_lab
        >>> picture = attention_lab.arcs(torch.rand(2, 4, 3, 3).softmax(-1))  # (layer, head, query, key)
        >>> picture.shown, picture.selection, picture.mass = "1 4", "q3", 50
        >>> picture.layer = 2
        Traceback (most recent call last):
            ...
        attention_lab.picture.NotThereError: expected a layer of 0 to 1, got 2
        >>> picture.layer
        0
    """

    canvases = (ARCS,)
    choices = ("layer", "lines", *CHOICES.values())

    layer = traitlets.Int(0).tag(sync=True)
    lines = traitlets.Enum(KINDS, default_value="heads").tag(sync=True)
    shown = traitlets.Unicode("").tag(sync=True)
    selection = traitlets.Unicode("").tag(sync=True)
    mass = traitlets.Int(90).tag(sync=True)
    hide = traitlets.Enum(HIDDEN, default_value="padding").tag(sync=True)

    def __init__(self, given: Given, **traits: Any) -> None:
        self._given = given
        self._drawn: tuple[tuple[int, str], Drawn] | None = None
        super().__init__(notes=list(given.notes), **traits)

    @traitlets.validate("layer")
    def _check_layer(self, proposal: Any) -> int:
        layers, layer = len(self._given.attention.layers), int(proposal["value"])
        if not 0 <= layer < layers:
            raise NotThereError(f"expected a layer of 0 to {layers - 1}, got {layer}")
        return layer

    @traitlets.validate("shown")
    def _check_shown(self, proposal: Any) -> str:
        heads, words = self._given.heads.attention.heads, str(proposal["value"]).split()
        if not all(word.isascii() and word.isdigit() and 1 <= int(word) <= heads for word in words):
            raise NotThereError(f"shown: expected numbers of heads, 1 to {heads}, got {proposal['value']!r}")
        return " ".join(words)

    @traitlets.validate("selection")
    def _check_selection(self, proposal: Any) -> str:
        counts = {"q": len(self._given.heads.queries), "k": len(self._given.heads.keys)}
        words = str(proposal["value"]).split()
        sides = {word[0] for word in words}
        if len(sides) > 1 or not all(
            word[0] in counts and word[1:].isascii() and word[1:].isdigit() and 1 <= int(word[1:]) <= counts[word[0]]
            for word in words
        ):
            there = f"queries q1 to q{counts['q']} or keys k1 to k{counts['k']}"
            raise NotThereError(f"selection: expected {there}, got {proposal['value']!r}")
        return " ".join(words)

    @traitlets.validate("mass")
    def _check_mass(self, proposal: Any) -> int:
        mass = int(proposal["value"])
        if not LEAST <= mass <= 100:
            raise NotThereError(f"mass: expected {LEAST} to 100 percent, got {mass}")
        return mass

    def draw(self) -> None:
        """The lines; where only what is looked at has changed, the numbers stay."""
        asked = self.layer, self.lines
        is_new = self._drawn is None or self._drawn[0] != asked
        if self._drawn is None or is_new:
            self._drawn = asked, self._made(*asked)
        drawn, heads = self._drawn[1], self._given.heads
        count = formats.plural(heads.attention.heads, "head")
        layer = self.layer + 1
        titles = {"heads": f"Layer {layer}, {count}", "mean": f"Layer {layer}, mean over {count}"}
        titles |= {"max": f"Layer {layer}, largest of {count}", "rollout": f"Rollout, layers 1 to {layer}"}
        sizes = (len(drawn.names), len(heads.queries), len(heads.keys))
        self.show(
            0,
            drawn.content(heads.read) if is_new else None,
            title=titles[self.lines],
            sentence=drawn.sentence(self._looked_at(len(drawn.names))),
            shape=f"({'head' if self.lines == 'heads' else 'map'}, query, key) = {sizes}",
            sets={PREFIX + name: trait for name, trait in CHOICES.items()},
            local={PREFIX + name: getattr(self, trait) for name, trait in CHOICES.items()},
        )

    def png(self) -> bytes:
        """The lines that are looked at as a PNG, as that of other pictures; `selection` is left out.

        Raises:
            ImportError: where Matplotlib is not installed.
        """
        header, numbers = self._contents[0]
        shown = self._looked_at(len(header["maps"]))
        drawn = figure(header, numbers, shown=shown, mass=self.mass, hide=self.hide)
        title = self.parts[0]["title"]
        if len(shown) < len(header["maps"]):
            title += f", shown: {', '.join(header['maps'][number] for number in shown)}"
        return self._png_of(drawn, title, self.parts[0]["sentence"])

    def _made(self, layer: int, how: str) -> Drawn:
        heads = self._given.heads
        attention = heads.attention
        names = [str(head + 1) for head in range(attention.heads)]
        if how != "heads":
            count = formats.plural(attention.heads, "head")
            names = [{"mean": f"mean of {count}", "max": f"largest of {count}", "rollout": "rollout"}[how]]
        lines = lines_of(maps(attention, layer, how), attention.visible, how)
        return Drawn(lines, attention, how, names, heads.queries, heads.keys, heads.same_text)

    def _looked_at(self, count: int) -> list[int]:
        """Which maps the reader looks at, from 0; all, where none that there is was named."""
        named = {int(word) - 1 for word in self.shown.split() if word.isascii() and word.isdigit()}
        return sorted(named & set(range(count))) or list(range(count))


def arcs(
    attentions: Any,
    tokens: Named = (),
    *,
    keys: Named | None = None,
    layer: int = 0,
    lines: str = "heads",
    batch: int = 0,
    kind: str = "",
    padding: Any = None,
    mode: str = "auto",
) -> Arcs:
    """Who looks at whom, as lines, live in a notebook: a layer's heads, or one aggregate of them.

    Args:
        attentions: a tuple of tensors (batch, head, query, key), one per layer, as transformers gives them with
            `output_attentions=True`, or the output that holds it; one array of 2 to 5 axes, up to (layer, batch, head,
            query, key); or a recording of `tfm_core.recording("*.weights")`.
        tokens: of the one sentence, or for each sentence of the batch, or `tfm_core.Tokens`; by default tokens are
            numbered. Of cross-attention they are the queries'.
        keys: of cross-attention the tokens of the keys, likewise.
        layer: the first to be shown, from 0.
        lines: "heads", "mean", "max" or "rollout", see `Arcs.lines`.
        batch: which sentence of the batch, from 0.
        kind: of a recording or an output of an encoder-decoder "encoder", "decoder" or "cross".
        padding: of the keys, (batch, seq) or (seq,), True for a token and False for padding, as transformers'
            `attention_mask`.
        mode: "light", "dark", or "auto", which follows the notebook.

    Raises:
        ValueError: if these are no weights; the message says what was expected and what came.

    Examples:
        >>> import torch
        >>> import attention_lab
        >>> weights = torch.rand(2, 4, 3, 3).softmax(-1)  # (layer, head, query, key)
        >>> picture = attention_lab.arcs(weights, ["the", "cat", "sat"], layer=1)
        >>> picture.lines = "rollout"
        >>> picture.parts[0]["title"]
        'Rollout, layers 1 to 2'
    """
    given = read(attentions, tokens, keys=keys, batch=batch, kind=kind, padding=padding)
    return Arcs(given, layer=layer, lines=lines, mode=mode)
