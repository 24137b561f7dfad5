"""The view "change": reach into the model, and see what becomes of it in a head, along the stream and at the output."""

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property

import numpy as np
import pandas as pd
import torch
from numpy.typing import NDArray
from torch import Tensor

from tfm_core import Tokens, Transformer, TransformerConfig, TransformerLayer, encode, recording
from tfm_core.model.tokens import Tokenizer
from tfm_core.study.interventions import in_turn
from tfm_ui.lenses.attention.change.compared import NOTHING, by_token, distances, final_text, rerun
from tfm_ui.lenses.attention.change.panel import MARK, ChangePanel, draw_acts, draw_done, draw_replacing
from tfm_ui.lenses.attention.changes import (
    Call,
    Change,
    OfText,
    Replace,
    Silence,
    changed_ids,
    drops,
    edits_of,
    in_order,
    replacements,
    swaps,
    written,
)
from tfm_ui.lenses.attention.inside import ASKS, COLUMNS, ROWS
from tfm_ui.lenses.attention.state import PREFIX, AttentionState
from tfm_ui.live.known_words import known_texts
from tfm_ui.live.next_recipe import OF_LOGITS, likeliest
from tfm_ui.live.script import Code, of_model, script, tokenizer_of
from tfm_ui.page import controls_line
from tfm_ui.page.lens import View
from tfm_ui.pictures import maps, pairs
from tfm_ui.pictures.canvas import Content
from tfm_ui.pictures.chart import CHART
from tfm_ui.pictures.map_scale import around_zero, from_zero
from tfm_ui.pictures.maps import ABSENT, MAPS, MASKED, Axis, Map, Slider
from tfm_ui.pictures.panel import Columns, Source
from tfm_ui.state.model_state import ModelState
from tfm_ui.text import formats, token_labels
from tfm_ui.text.ties import one_of_ties, places_of_largest

SHOWN = 8  # tokens whose probability moved most
SAYS_NEXT = """# What this model says next
with torch.no_grad(), recording("*.weights", {name: in_turn(*made) for name, made in edits.items()}):
    logits = Transformer(config).eval()(*inputs, mask=mask)"""


def changed_weights(
    *,
    config: TransformerConfig,
    inputs: Sequence[Tensor],
    mask: Tensor | None,
    edits: Mapping[str, Sequence[Callable[[Tensor], Tensor]]],
    site: str,
    head: int,
) -> Tensor:
    """The weights of a model with edits, (query, key)."""
    model = Transformer(config).eval()
    with torch.no_grad(), recording("*.weights", {name: in_turn(*made) for name, made in edits.items()}) as trace:
        model(*inputs, mask=mask)
    weights = trace[site][0, head]  # (query, key)
    return weights


def weights_of_changed_texts(
    *,
    config: TransformerConfig,
    texts: Sequence[Tokens],
    tokenizer: str | Tokenizer,
    replaced: Sequence[Mapping[int, str]],
    swapped: Sequence[Sequence[tuple[int, int]]],
    dropped: Sequence[Sequence[int]],
    mask: Tensor | None,
    edits: Mapping[str, Sequence[Callable[[Tensor], Tensor]]],
    site: str,
    head: int,
) -> Tensor:
    """The same of other texts; tokens count from 0, as the texts are written."""
    inputs = []
    for text, others, moves, gone in zip(texts, replaced, swapped, dropped, strict=True):
        left = in_order(len(text.pieces), moves, gone)
        inputs.append(changed_ids(text, tokenizer, others, left))
    weights = changed_weights(config=config, inputs=inputs, mask=mask, edits=edits, site=site, head=head)
    return weights


def script_of(model: ModelState, changes: Sequence[Change], site: str, head: int) -> str:
    """A script that leaves the changed model's weights in `weights`, (query, key), in the order in which it reads.

    Args:
        model: the model.
        changes: all that are made to it.
        site: the name of the weights in a recording.
        head: that is looked at, from 0.
    """
    header = of_model(model)
    texts = ["source", "target"][: 1 + model.is_encoder_decoder]
    made = edits_of(changes, model)
    arguments = {
        "edits": Code(_literal(made), *(call.func for calls in made.values() for call in calls)),
        "site": site,
        "head": head,
    }
    if not any(isinstance(change, OfText) for change in changes):
        return script(changed_weights, **header, **arguments)
    del header["inputs"]  # other texts are read
    of_texts = {
        "texts": Code(f"[{', '.join(texts)}]"),
        "tokenizer": tokenizer_of(model),
        "replaced": [replacements(changes, text, model) for text in texts],
        "swapped": [swaps(changes, text) for text in texts],
        "dropped": [drops(changes, text) for text in texts],
    }
    return script(weights_of_changed_texts, **header, **of_texts, **arguments)


def _literal(made: dict[str, list[Call]]) -> str:
    """Edits as an expression, a line for each name in the recording."""
    lines = (f"    {name!r}: [{', '.join(map(_called, calls))}],\n" for name, calls in made.items())
    return "{\n" + "".join(lines) + "}" if made else "{}"


def _called(call: Call) -> str:
    arguments = [*map(repr, call.args), *(f"{name}={value!r}" for name, value in call.keywords.items())]
    return f"{call.func.__name__}({', '.join(arguments)})"


class ChangeWeights(ChangePanel):
    """The weights of the head."""

    name = "change_weights"
    how_to_read = (
        "Two runs of the model, and what differs; tokens stand as in the text, wherever B reads them. Click a cell to "
        "lock it, then drag its weight."
    )
    locked = True
    canvas = MAPS

    @property
    def title(self) -> str:
        return f"Layer {self.state.layer}, head {self.state.head}"

    @property
    def sources(self) -> Sequence[Source]:
        made = edits_of(self.changes[1], self.model).values()
        called = dict.fromkeys(call.func for calls in made for call in calls)
        return [*called, edits_of, rerun, by_token]

    def sentence(self) -> str:
        """The largest difference in the weights of this head."""
        if self.same:
            return "A and B are the same: silence a head, or lock a cell and drag its weight."
        both = self.there.all(0)
        size = np.abs(np.where(both, self.difference, 0))
        if not size.size or size.max() < NOTHING:
            where = f"layer {self.state.layer}, head {self.state.head}"
            return f"{self._no_weight_differs(where)} {self.about_leak()}".strip()
        most = places_of_largest(size, size=float(self.weights.max()))
        query, key = divmod(most[0], size.shape[1])
        a, b = formats.weights(*self.weights[:, query, key].tolist())
        moved = int((size.max(-1) >= NOTHING).sum())
        return (
            f"Largest difference{one_of_ties(len(most), 'pairs')}: “{self.queries[query]}” looks at “{self.keys[key]}” "
            f"with {b} instead of {a}. "
            f"{moved} of {formats.plural(int(both.any(-1).sum()), 'row')} changed. {self.about_leak()}"
        ).strip()

    def _no_weight_differs(self, where: str) -> str:
        silent = Silence(self.kind, self.state.layer, self.state.head)
        in_a, in_b = (silent in changes for changes in self.changes)
        if in_a != in_b:
            side = "A" if in_a else "B"
            return f"The weights of {where} are the same, but in {side} its output is 0; the effect is shown below."
        return f"No weight of {where} differs between A and B."

    def about_leak(self) -> str:
        """Who sees whom though the mask forbids it; "" if nobody does."""
        leak = self.effect.leak
        return leak.in_words(self.names) if leak else ""

    def laws(self) -> dict[str, bool]:
        """What holds of every attention, tested on B: edits may break it."""
        weights, visible = self.weights[1], self.visible[1]
        head = self.names.head(self.kind, self.state.layer, self.state.head)
        rows = np.flatnonzero(visible.any(-1))
        off = np.abs(weights[rows].sum(-1) - 1)
        sums = f"every row of {head} sums to 1 in B"
        if off.size and off.max() >= 1e-5:
            row = int(rows[off.argmax()])
            alone = ", with no other key to make up for it" if visible[row].sum() == 1 else ""
            total = formats.weight(round(float(weights[row].sum()), 4))
            sums = f"{sums} (“{self.queries[row]}” sums to {total}{alone})"
        leaks = int((weights[~visible] > 0).sum())
        masked = f"masked weights of {head} are exactly 0 in B"
        return {sums: not off.size or bool(off.max() < 1e-5), masked + (f" ({leaks} not)" if leaks else ""): not leaks}

    def crosses(self) -> list[tuple[int, int, int]]:
        """(side, row, column) of the weights that the mask forbids; those of B also in the difference."""
        leaks = np.argwhere(~self.visible & self.there & (self.weights > 0)).tolist()
        both = [(2, row, column) for side, row, column in leaks if side == 1]
        return [(side, row, column) for side, row, column in leaks] + both

    def table(self) -> pd.DataFrame:
        """A row for each pair that is there in A and in B, the largest difference first."""
        difference = self.difference
        rows, columns = np.nonzero(self.there.all(0))
        order = np.argsort(-np.abs(difference[rows, columns]), kind="stable")
        rows, columns = rows[order], columns[order]
        return _beside_each_other(self.weights[:, rows, columns], self.pairs(rows, columns))

    def picture(self) -> Content:
        """The head in A, in B, and the difference; the locked cell's weight can be dragged."""
        sides = [
            np.where(there, np.where(visible | (weights > 0), weights, MASKED), ABSENT)
            for weights, visible, there in zip(self.weights, self.visible, self.there, strict=True)
        ]
        weights = from_zero(float(self.weights.max()))
        most = float(np.abs(self.difference[self.there.all(0)]).max(initial=0))
        return maps.content(
            [
                Map(name=self.title_of(0), values=sides[0], scale=weights, unit="weight"),
                Map(name=self.title_of(1), values=sides[1], scale=weights, unit="weight"),
                Map(name="B − A", values=_difference(*sides), scale=around_zero(most)),
            ],
            rows=Axis(self.queries, *ROWS),
            columns=Axis(self.keys, *COLUMNS),
            picked=self.locked_cell,
            places=([i + 1 for i in self.rows], [i + 1 for i in self.columns]),
            asks=ASKS,
            crosses=self.crosses(),
            slider=self._slider(),
        )

    def _slider(self) -> Slider | None:
        """The locked weight of B, to be set to what it is dragged to."""
        if not self.locked_cell or self.full:
            return None
        before, _, after = written(self.dragged).rpartition(f" {MARK:g}")
        query, key = (self.names.token(text, token) for text, token in zip(self.texts, self.cell, strict=True))
        label = f"Drag: {query} looks at {key} in B with"
        value = round(float(self.weights[1][self.locked_cell]), 4)
        return Slider(label, value, "attention_changes", f"{before} ", after)

    def tools(self) -> None:
        """Draw what has been done to B."""
        draw_done(self)

    def recipe(self) -> str:
        """A script that leaves B's weights in `weights`, (query, key), in the order in which B reads."""
        return script_of(self.model, self.changes[1], self.site("weights"), self.head)

    def in_notebook(self) -> str:
        """The same, and what B would say next."""
        if not self.model.gives_logits:
            return self.recipe()
        return "\n".join([self.recipe(), "", SAYS_NEXT, OF_LOGITS, likeliest(self.model), "weights"])


class ChangeStream(ChangePanel):
    """The residual stream."""

    name = "change_stream"
    title = "The residual stream"
    how_to_read = (
        "How far each token’s vector moved, as a share of its length in A: to the right, on its way through the model."
    )
    sources = (rerun, distances, TransformerLayer.forward)
    shape = ""
    canvas = MAPS

    @property
    def moved(self) -> NDArray[np.bool_]:
        """(query), whether the token's vector differs between A and B at the end of the model."""
        return np.asarray(self.both & (self.effect.relative[:, -1] >= NOTHING))

    def sentence(self) -> str:
        """Where it moved most, for how far it had come."""
        effect = self.effect
        moved = effect.relative * self.both[:, None]
        if self.same:
            return "The residual stream is the same in A and B."
        if not moved.size or moved.max() < NOTHING:
            return "No vector of this stream moved."
        # Each is a share of the vector that it is a difference of.
        most = places_of_largest(moved, size=max(1.0, float(moved.max())))
        row, place = divmod(most[0], moved.shape[1])
        largest = float(moved[row, place])
        share = f"{largest:.2f}" if largest >= 0.01 else formats.tiny(largest)
        return (
            f"Largest{one_of_ties(len(most), 'moves')}: {_place(effect.places[place])}, “{self.queries[row]}” moved "
            f"by {share} of its length in A. In the end {self.moved.sum()} of "
            f"{formats.plural(int(self.both.sum()), 'vector')} moved."
        )

    def table(self) -> pd.DataFrame:
        """A row per token, a column per place: ||x_B - x_A|| / ||x_A||."""
        rows = pd.Index(self.numbered[0], name="token")
        return pd.DataFrame(self.effect.relative, index=rows, columns=self.effect.places)

    def picture(self) -> Content:
        """How far each token's vector moved, after each part of the model."""
        steps = self.effect.places
        moved = np.where(self.both[:, None], self.effect.relative, ABSENT)
        return maps.content(
            [
                Map(
                    name="‖x_B − x_A‖ / ‖x_A‖",
                    values=moved,
                    scale=from_zero(float(moved[np.isfinite(moved)].max(initial=0))),
                    unit="of its length in A",
                )
            ],
            rows=Axis(self.queries, "token", "token"),
            columns=Axis(steps, "after layer", "after"),
            places=([i + 1 for i in self.rows], list(range(len(steps)))),
            square=False,
        )


class ChangeOutput(ChangePanel):
    """What the model would say next."""

    name = "change_output"
    sources = (rerun, Transformer.forward)
    shape = ""
    canvas = CHART

    @property
    def title(self) -> str:
        return "What it would say next" if self.model.looks_back_only else "What it makes of the last token"

    @cached_property
    def moved(self) -> NDArray[np.bool_]:
        """(vocab), the tokens whose probability differs between A and B by more than rounding."""
        a, b = self.effect.probabilities
        return np.asarray(np.abs(b - a) >= NOTHING)

    @property
    def how_to_read(self) -> str:
        """What the bars are, and which tokens have one."""
        which = "the known words that moved most" if self.moved.any() else "the likeliest known words, as none moved"
        return f"Softmax of the logits at the last token, in A and in B: {which}."

    @cached_property
    def likely(self) -> tuple[list[str], NDArray[np.float32]]:
        """The words whose probability moved most, and their probabilities in A and B, (2, word).

        The likeliest, if none moved. Only numbers that stand for a known word are words.
        """
        a, b = self.effect.probabilities
        typed = [change.piece for changes in self.changes for change in changes if isinstance(change, Replace)]
        texts = [encode(piece, self.model.tokens_by) for piece in typed]
        known = token_labels.pieces_of_ids([*texts, *known_texts(self.model)])
        words = np.array([i for i in range(len(a)) if i in known], np.intp)
        moved = words[self.moved[words]]
        most = moved[np.argsort(-np.abs(b - a)[moved], kind="stable")][:SHOWN]
        if not len(moved):
            most = words[np.argsort(-a[words], kind="stable")][:SHOWN]
        most = most[np.argsort(-np.maximum(a, b)[most], kind="stable")]
        names = [f"“{token_labels.named(known[i][0])}”" for i in most.tolist()]
        return names, self.effect.probabilities[:, most]

    def sentence(self) -> str:
        """Which token's probability moved most, at the last token of the text."""
        effect = self.effect
        text = final_text(self.model)
        a, b = (self.names.token(text, int(side.positions[text].argmax()) + 1) for side in self.effect.sides)
        at = f"At {a}" if a == b else f"At {a} in A, {b} in B"
        names, shares = self.likely
        if not self.moved.any():
            return f"{at} the output is the same in A and B.{effect.right_in_words}"
        most = places_of_largest(np.abs(shares[1] - shares[0]), size=float(shares.max()))
        total = 0.5 * float(np.abs(effect.probabilities[1] - effect.probabilities[0]).sum())
        before, after = (set(places_of_largest(side)) for side in effect.probabilities)
        top = "" if before & after else " The likeliest token has changed."
        then, now = formats.percents(*shares[:, most[0]].tolist())
        return (
            f"{at} the largest difference{one_of_ties(len(most))} is {names[most[0]]}: {now} instead of {then}. "
            f"{formats.percent(total)} of all probability went elsewhere.{top}{effect.right_in_words}"
        )

    def table(self) -> pd.DataFrame:
        """The probabilities that moved most; the largest, if none moved."""
        names, shares = self.likely
        return _beside_each_other(shares, pd.Index(names, name="token"))

    def picture(self) -> Content:
        """The probabilities that moved most; the largest, if none moved."""
        names, shares = self.likely
        return pairs.content(names, ("A", "B"), shares, roles=("muted", "result"), rows="next token")


def _beside_each_other(sides: NDArray[np.float32], index: pd.Index) -> pd.DataFrame:
    a, b = sides
    return pd.DataFrame({"A": a, "B": b, "B − A": b - a}, index=index)


def _place(name: str) -> str:
    if name == "start":
        return "at the start"
    layer, sub_layer = name.split()
    long = {"attention": "attention", "cross": "cross-attention", "FFN": "feed-forward network"}
    return f"after the {long[sub_layer]} of layer {layer}"


def _difference(a: NDArray[np.float32], b: NDArray[np.float32]) -> NDArray[np.float32]:
    """B - A, a masked weight being 0 unless it is masked in both; absent where it is in either."""
    absent, masked = (a == ABSENT) | (b == ABSENT), np.isnan(a) & np.isnan(b)
    plain = [np.where(np.isfinite(side), side, 0) for side in (a, b)]
    return np.where(absent, ABSENT, np.where(masked, MASKED, plain[1] - plain[0])).astype(np.float32)


def _controls(model: ModelState) -> AttentionState:
    """Which head is looked at, and a button for each change that can be made there."""
    line = controls_line.row("line_change")
    state = controls_line.draw(AttentionState, PREFIX, model, line, "kind", "layer", "head")
    panel = ChangeWeights(model, state)
    draw_acts(panel, line)
    more = controls_line.more(line)
    draw_replacing(panel, more)
    return controls_line.draw(AttentionState, PREFIX, model, more, "rescale")


VIEW = View(
    title="Change it",
    exercise="silence-head",
    shows=[ChangeWeights, Columns([[ChangeOutput], [ChangeStream]])],
    controls=_controls,
)
