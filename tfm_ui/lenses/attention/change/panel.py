"""What every panel of the view "change" shows: two sides, A and B, with their changes, a head and a locked cell.

And the buttons: what can be done to B, what has been done, and A.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import cached_property
from html import escape
from typing import Any

import numpy as np
import streamlit as st
import torch
from numpy.typing import NDArray
from torch import Tensor

from tfm_ui.lenses.attention.change.compared import Effect, Side, by_token, effect_of, in_either
from tfm_ui.lenses.attention.changes import (
    A_ROOM,
    LONGEST,
    Change,
    Drop,
    Places,
    Replace,
    Silence,
    Swap,
    Weight,
    Zero,
    first_token,
    fits,
    parse,
    possible,
    replacements,
    sort_out,
    with_change,
    written,
)
from tfm_ui.lenses.attention.inside import AttentionPanel
from tfm_ui.lenses.attention.state import PREFIX, AttentionState
from tfm_ui.live import passes
from tfm_ui.live.passes import and_scores
from tfm_ui.live.places import kind_of, texts_of
from tfm_ui.live.tensors.attention import of_heads
from tfm_ui.live.tensors.step import Named, Step, beside, held
from tfm_ui.page import controls
from tfm_ui.streamlit_private.containers import DeltaGenerator
from tfm_ui.text import formats, token_labels
from tfm_ui.text.markdown import escape_markdown
from tfm_ui.text.token_labels import Names

WORD = "_change_word"
FULL = "The link has no room for it: take another change back."
A_FULL = "A link has no room for so many changes of A."
SHOWN = 8  # changes with a button in sight
MARK = 0.123  # stands for a weight that is not known yet, and is as long as any that is dragged to


class ChangePanel(AttentionPanel):
    """A and B of one model, looked at in one head."""

    needs = and_scores(3)

    @property
    def kind(self) -> str:
        """The kind of attention, as changes call it: that of a single stack is the encoder's."""
        return self.state.kind if self.model.is_encoder_decoder else "encoder"

    @property
    def texts(self) -> tuple[str, str]:
        """Which texts queries and keys come from."""
        return texts_of(self.kind)

    @cached_property
    def names(self) -> Names:
        """What sentences call the tokens and heads."""
        texts = {"source": self.model.source_tokens, "target": self.model.target_tokens}
        labels = {text: token_labels.labels(tokens)[: len(tokens.pieces)] for text, tokens in texts.items()}
        return Names(labels, with_kinds=self.model.is_encoder_decoder)

    @property
    def is_example(self) -> bool:
        """Whether B's changes are the example that the view opens with."""
        return self.state.changes == AttentionState.changes

    @cached_property
    def changes(self) -> tuple[list[Change], list[Change]]:
        """The changes of A and of B that the model allows."""
        return possible(self.state.pinned, self.model), possible(self.state.changes, self.model)

    @property
    def same(self) -> bool:
        """Whether A and B are one model."""
        return self.changes[0] == self.changes[1]

    @cached_property
    def effect(self) -> Effect:
        """What differs between A and B whatever head is looked at."""
        stack = ("encoder",) if self.kind == "encoder" else ("decoder", "cross")
        return effect_of(self.model, self.state.pinned, self.state.changes, stack)

    @property
    def tensors(self) -> Step:
        scheme = passes.scheme(self.model, kind_of(self.model, self.kind))
        steps = {}
        for side, name in zip(self.effect.sides, "AB", strict=True):
            step = of_heads(side.heads[self.kind], self.title_of("AB".index(name)), scheme)
            if any(isinstance(change, Weight) and change.kind == self.kind for change in side.changes):
                step = self._with_changed(side, step)
            if self.model.gives_logits:
                shares = held(
                    "probabilities", ("vocab",), side.logits.softmax(-1), "of the next token", "logits.softmax(-1)"
                )
                step = step.also(held("logits", ("vocab",), side.logits, "at the last token"), shares)
            steps[name] = step
        note = (
            "Rows and columns stand as each side reads its text. Changes act in the pass that made Q, K and the logits."
        )
        return beside(f"{steps['A'].title}; {steps['B'].title}", steps, note)

    def _with_changed(self, side: Side, step: Step) -> Step:
        """The weights that the model went on with, where some were set by hand, beside those that it computed."""
        weights = next(tensor for tensor in step.tensors if tensor.name == "weights")
        layers, heads, *_ = weights.shape

        def numbers() -> Tensor:
            of_layers = ([side.weights(self.kind, i, j) for j in range(heads)] for i in range(layers))
            return torch.stack([torch.from_numpy(np.stack(of_layer)) for of_layer in of_layers])

        before = replace(weights, name="weights_before", about=f"{weights.about}, before some were set by hand")
        others = [before if tensor is weights else tensor for tensor in step.tensors]
        about = "A, with the weights that were set by hand: the model went on with these"
        return replace(step, tensors=[*others, Named("weights", weights.axes, weights.shape, about, numbers)])

    @cached_property
    def rows(self) -> list[int]:
        """The tokens of the rows, from 0, as the text is written."""
        return in_either([side.positions[self.texts[0]] for side in self.effect.sides])

    @cached_property
    def columns(self) -> list[int]:
        """The tokens of the columns, likewise."""
        return in_either([side.positions[self.texts[1]] for side in self.effect.sides])

    @cached_property
    def _standing(self) -> list[tuple[Places, Places]]:
        """Where the tokens of the rows and of the columns stand, in A and in B."""
        (queries, keys), rows, columns = self.texts, self.rows, self.columns
        return [(side.positions[queries][rows], side.positions[keys][columns]) for side in self.effect.sides]

    @cached_property
    def there(self) -> NDArray[np.bool_]:
        """(2, query, key), False where a token is dropped."""
        return np.stack([(queries >= 0)[:, None] & (keys >= 0) for queries, keys in self._standing])

    @property
    def both(self) -> NDArray[np.bool_]:
        """(query), whether the token of the row is there in A and in B."""
        return np.asarray(self.there.any(-1).all(0))

    def _by_token(self, of_sides: Iterable[NDArray[Any]]) -> NDArray[Any]:
        return np.stack([by_token(matrix, *at) for matrix, at in zip(of_sides, self._standing, strict=True)])

    @cached_property
    def weights(self) -> NDArray[np.float32]:
        """(2, query, key), of the head in A and in B."""
        return self._by_token(side.weights(self.kind, self.layer, self.head) for side in self.effect.sides)

    @cached_property
    def visible(self) -> NDArray[np.bool_]:
        """(2, query, key), where the mask lets look."""
        return self._by_token(side.heads[self.kind].visible for side in self.effect.sides)

    @property
    def difference(self) -> NDArray[np.float32]:
        """(query, key), B - A."""
        return np.asarray(self.weights[1] - self.weights[0])

    @property
    def queries(self) -> list[str]:
        """A label per row."""
        return self._labels(self.texts[0], self.rows)

    @property
    def keys(self) -> list[str]:
        """A label per column."""
        return self._labels(self.texts[1], self.columns)

    @property
    def numbered(self) -> tuple[list[str], list[str]]:
        rows, columns = zip(self.rows, self.queries, strict=True), zip(self.columns, self.keys, strict=True)
        return [f"{token + 1} {name}" for token, name in rows], [f"{token + 1} {name}" for token, name in columns]

    def _labels(self, text: str, tokens: list[int]) -> list[str]:
        """What these tokens of a text, from 0, are called; "cat→dog" where B reads another."""
        names, others = self.names.tokens[text], replacements(self.changes[1], text, self.model)
        read = {i: first_token(piece, self.model.tokens_by)[0] for i, piece in others.items()}
        return [names[i] + (f"→{token_labels.named(read[i])}" if i in read else "") for i in tokens]

    @property
    def cell(self) -> tuple[int, int]:
        """The locked query and key, as numbers from 1 of tokens that there are."""
        queries, keys = (len(self.names.tokens[text]) for text in self.texts)
        return min(self.state.query, queries), min(self.state.key, keys)

    @property
    def locked_cell(self) -> tuple[int, int] | None:
        """Row and column of the locked cell, from 0, if it is there in B."""
        places = [(text, number - 1) for text, number in zip(self.texts, self.cell, strict=True)]
        if any(self.effect.sides[1].positions[text][token] < 0 for text, token in places):
            return None
        return self.rows.index(places[0][1]), self.columns.index(places[1][1])

    @property
    def dragged(self) -> list[Change]:
        """B's changes and, as the last, the weight of the locked cell: MARK."""
        weight = Weight(self.kind, self.state.layer, self.state.head, *self.cell, MARK, self.state.rescale)
        return with_change(parse(self.state.changes)[0], weight)

    @property
    def full(self) -> str:
        """Why no weight can be dragged, if the link has no room for it."""
        return "" if fits(self.dragged) else "The link has no room for another weight: take a change of B back."

    @property
    def aside(self) -> str:
        """Which of the changes that were asked for this model does not allow, and why."""
        texts = [self.state.pinned] if self.is_example else [self.state.changes, self.state.pinned]
        reasons = {c: why for text in texts for c, why in sort_out(parse(text)[0], self.model)[1].items()}
        sentences = []
        for why in dict.fromkeys(reasons.values()):
            those = [f"“{change}”" for change, reason in reasons.items() if reason == why]
            more = f" and {len(those) - 3} more" if len(those) > 3 else ""
            sentences.append(f"Set aside: {', '.join(those[:3])}{more}, as {why}.")
        return " ".join(sentences)

    def title_of(self, side: int) -> str:
        """ "A: as it is", "B: 2 changes"."""
        number = len(self.changes[side])
        return f"{'AB'[side]}: {formats.plural(number, 'change') if number else 'as it is'}"


def draw_done(panel: ChangePanel) -> None:
    """What has been done to B, each with a cross that takes it back; what A is; and what is to be said about both."""
    a, b = (parse(text)[0] for text in (panel.state.pinned, panel.state.changes))
    allowed = panel.changes[1]
    if panel.is_example:  # nobody asked for what this model cannot do
        b = allowed
    with st.container(key="change_buttons"):
        with st.container(horizontal=True, vertical_alignment="center", gap="small", key="change_done"):
            st.html('<p class="side">B</p>', width="content")
            sight = st.container(horizontal=True, gap="small", width="content")
            menu = st.popover(f"and {len(b) - SHOWN} more", type="tertiary") if len(b) > SHOWN else None
            for number, change in enumerate(b):
                rest = [other for other in b if other != change]
                label = escape_markdown(change.in_words(panel.names) + ("" if change in allowed else " (set aside)"))
                options: dict[str, Any] = {"icon": ":material/close:", "key": f"_done_{number}"}
                where = menu if menu and number >= SHOWN else sight
                where.button(label, on_click=write_to_link, kwargs={"changes": rest}, **options)
            if not b:
                st.html('<p class="side">as it is</p>', width="content")
            made = "; ".join(change.in_words(panel.names) for change in a) or "as it is"
            either: dict[str, Any] = {"on_click": write_to_link, "disabled": a == b}
            keeps = either if fits(b, A_ROOM) else {"disabled": True, "help": A_FULL}
            st.button("Keep B as A", kwargs={"pinned": b}, icon=":material/keep:", key="_change_pin", **keeps)
            st.button("Reset B to A", kwargs={"changes": a}, key="_change_back", **either)
            st.button("Reset A", on_click=write_to_link, kwargs={"pinned": []}, disabled=not a, key="_change_unpin")
            st.caption(f"**A**: {escape_markdown(made)}", width="content")
        st.html(f'<p class="note">{escape(f"{panel.aside} {panel.full}")}</p>')


def offered(panel: ChangePanel) -> list[tuple[str, Change, str, bool]]:
    """The changes that have a button: the button's name, the change, the label, and whether it means something here."""
    (query, key), (of_queries, of_keys) = panel.cell, panel.texts
    layer, head = panel.state.layer, panel.state.head
    silence, zero = Silence(panel.kind, layer, head), Zero(panel.kind, layer, 0, key)
    drop, swap = Drop(of_keys, key), Swap(of_queries, query, key)
    two_tokens, cell_is_there = of_queries == of_keys and query != key, panel.locked_cell is not None
    swap_label = swap.in_words(panel.names) if two_tokens else "Swap two tokens"
    return [
        ("silence", silence, silence.in_words(panel.names), True),
        ("zero", zero, zero.in_words(panel.names), True),
        ("drop", drop, drop.in_words(panel.names), cell_is_there),
        ("swap", swap, swap_label, two_tokens and cell_is_there),
    ]


def draw_acts(panel: ChangePanel, where: DeltaGenerator) -> None:
    """A button for each change that can be made at the locked head and cell, of which B has not yet all."""
    now = parse(panel.state.changes)[0]
    with where:
        for name, change, label, means_something in offered(panel):
            new = with_change(now, change)
            allowed = means_something and change not in now and change in sort_out(new, panel.model)[0]
            full = allowed and not fits(new)
            options: dict[str, Any] = {"disabled": full or not allowed, "help": FULL if full else None}
            options |= {"on_click": write_to_link, "kwargs": {"changes": new}}
            st.button(escape_markdown(label), key=f"_change_{name}", **options)


def draw_replacing(panel: ChangePanel, where: DeltaGenerator) -> None:
    """A box for a word that takes the place of the locked key."""
    key, of_keys = panel.cell[1], panel.texts[1]
    where.text_input(
        f"Another word for {escape_markdown(panel.names.token(of_keys, key))}",
        key=WORD,
        on_change=_replace,
        args=(parse(panel.state.changes)[0], of_keys, key),
    )


def _replace(now: Sequence[Change], text: str, token: int) -> None:
    """Put what was typed in the place of a token; if there are several words, the first one."""
    typed = st.session_state[WORD].replace(";", " ").split()
    st.session_state[WORD] = ""
    if typed:
        change = Replace(text, token, typed[0][:LONGEST])
        new = with_change(now, change)
        # Where the link has no room, reading it leaves out the last change and says so: an earlier replacement stays.
        write_to_link(changes=new if fits(new) else [*now, change])


def write_to_link(**fields: Sequence[Change]) -> None:
    """Put changes into the link: those of B are called `changes` there, those of A `pinned`."""
    controls.change(PREFIX, **{name: written(those) for name, those in fields.items()})
