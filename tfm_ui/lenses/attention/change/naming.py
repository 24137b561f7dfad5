"""Changes by the names of the tokens that they touch, for sentences and buttons."""

from dataclasses import dataclass
from functools import cached_property

from tfm_ui.lenses.attention.change.feasible import sort_out
from tfm_ui.lenses.attention.change.grammar import Change, Drop, Replace, Silence, Swap, Weight, Zero, parse
from tfm_ui.lenses.attention.change.rerun import possible, sizes
from tfm_ui.live.texts import texts_of
from tfm_ui.state.model_state import ModelState
from tfm_ui.text import words


@dataclass(frozen=True)
class Naming:
    """What the texts of a model call its tokens."""

    model: ModelState

    @cached_property
    def names(self) -> dict[str, list[str]]:
        """text -> a label for each of its tokens, as it is written."""
        texts = {"source": self.model.source_tokens, "target": self.model.target_tokens}
        return {text: words.labels(tokens)[: len(tokens.pieces)] for text, tokens in texts.items()}

    def token(self, text: str, token: int) -> str:
        """A token in quotes, counted from 1; by its number if the text has no such token."""
        names = self.names[text]
        return f"“{names[token - 1]}”" if 1 <= token <= len(names) else f"token {token}"

    def said(self, change: Change) -> str:
        """A change in words."""
        match change:
            case Silence():
                return f"Silence {self.where(change.kind, change.layer, change.head)}"
            case Zero():
                name = self.token(texts_of(change.kind)[1], change.token)
                return f"Zero the value of {name} in {self.where(change.kind, change.layer, change.head or None)}"
            case Weight():
                pair = [
                    self.token(text, at)
                    for text, at in zip(texts_of(change.kind), (change.query, change.key), strict=True)
                ]
                rest = "" if change.rescaled else ", the rest as it was"
                where = self.where(change.kind, change.layer, change.head)
                return f"{pair[0]} looks at {pair[1]} with {change.weight:g} in {where}{rest}"
            case Drop():
                return f"Drop {self.token(change.text, change.token)}"
            case Replace():
                return f"Read “{words.named(change.piece)}” for {self.token(change.text, change.token)}"
            case Swap():
                return f"Swap {self.token(change.text, change.one)} and {self.token(change.text, change.other)}"

    def where(self, kind: str, layer: int, head: int | None) -> str:
        """A head in words; all of its layer, if it is None."""
        place = f"layer {layer}, head {head}" if head is not None else f"all heads of layer {layer}"
        return f"{place} ({kind})" if self.model.is_encoder_decoder else place

    def possible(self, text: str) -> list[Change]:
        """The changes in a text that this model allows."""
        return possible(text, self.model)

    def aside(self, *texts: str) -> str:
        """Which changes in these texts it does not allow, and why."""
        found = {c: why for text in texts for c, why in sort_out(parse(text)[0], sizes(self.model))[1].items()}
        said = []
        for why in dict.fromkeys(found.values()):
            those = [f"“{change}”" for change, reason in found.items() if reason == why]
            more = f" and {len(those) - 3} more" if len(those) > 3 else ""
            said.append(f"Set aside: {', '.join(those[:3])}{more}, as {why}.")
        return " ".join(said)
