"""Answers to the questions of the Attention lens: computed from what is on screen, and true of any model."""

from dataclasses import replace

import numpy as np

from tfm_ui.lenses.attention.arcs.numbers import Arcs, arcs
from tfm_ui.lenses.attention.change.aligned import NOTHING
from tfm_ui.lenses.attention.change.results import changed
from tfm_ui.lenses.attention.contribution.numbers import contribution
from tfm_ui.lenses.attention.state import AttentionState
from tfm_ui.lenses.attention.steps.numbers import head_steps, steps
from tfm_ui.live.learned import UNKNOWN, in_words
from tfm_ui.state.model_state import ModelState
from tfm_ui.text import formats

MOST = 90  # percent of each row
NEARLY_ALL = 0.98  # of a row's weight


def history_of_a_weight(model: ModelState, state: AttentionState) -> str:
    """How the weight of the chosen query and key comes from their two vectors."""
    shown = steps(model, state)
    head, at = shown.head, shown.at
    query, key = head.queries[at.query], head.keys[at.key]
    if not bool(head.visible[at.query, at.key]):
        return f"“{query}” may not look at “{key}”, so the mask sets this weight to 0, whatever the score is."
    score, weight = float(head.scores[at.query, at.key]), float(head.weights[at.query, at.key])
    divided = f"It is divided by √{head.head_dim}" if head.scaled else "It is not divided here"
    may_see = formats.plural(int(head.visible[at.query].sum()), "token")
    return (
        f"The weight of “{query}” for “{key}” comes from the query of “{query}” and the key of “{key}”: their dot "
        f"product is {formats.number(score)}. {divided}, and the softmax compares it with the scores of all {may_see} "
        f"that “{query}” may see: {formats.weight(weight)}."
    )


def without_division(model: ModelState, state: AttentionState) -> str:
    """How many rows have nearly all of their weight on one token, with the division and without."""
    count, most = {}, {}
    for scaled in (True, False):
        head = head_steps(model, replace(state, scaled=scaled))
        read = len(shown_rows(model, state))
        free = head.visible[:read].sum(-1) > 1
        top = head.weights[:read].max(-1).values[free]
        count[scaled], most[scaled] = int((top > NEARLY_ALL).sum()), len(top)
    rows = formats.plural(most[True], "row")
    if not most[True]:
        return "No row has a choice here: each may look at one token at most."
    return (
        f"Of the {rows} that have a choice, {count[False]} give one token more than {formats.percent(NEARLY_ALL)} of "
        f"their weight without the division by √dₖ, and {count[True]} with it. Dot products of wide vectors are large, "
        "and the softmax turns large differences into all or nothing."
    )


def shown_rows(model: ModelState, state: AttentionState) -> list[str]:
    """The tokens that ask, without padding."""
    head = head_steps(model, state)
    tokens = model.target_tokens if head.crosses or state.kind == "decoder" else model.source_tokens
    return head.queries[: len((tokens if model.is_encoder_decoder else model.source_tokens).pieces)]


def lines_of_a_share(model: ModelState, state: AttentionState) -> str:
    """How many of the lines carry the chosen share of each row."""
    shown = arcs(model, state)
    needed, all_lines = counted_lines(shown, state.mass)
    if not all_lines:
        return "No line is drawn here: no token may look at another."
    where = "heads" if shown.how == "heads" else "rows"
    for_most, _ = counted_lines(shown, MOST)
    more = f"; for {MOST}% it takes {formats.count(for_most)}, {formats.percent(for_most / all_lines)}"
    return (
        f"{formats.count(needed)} of {formats.count(all_lines)} lines, {formats.percent(needed / all_lines)}, carry "
        f"{state.mass}% of the weight of each row, over all {where}{more if state.mass != MOST else ''}. Most weights "
        "are small, and drawing them too says little about where this layer looks."
    )


def share_for_most(model: ModelState, state: AttentionState) -> float:
    """The share of the lines that carry 90 % of each row, in percent, whatever share is chosen."""
    return share_of_lines(model, replace(state, mass=MOST))


def share_of_lines(model: ModelState, state: AttentionState) -> float:
    """The share of the lines that carry the chosen share of each row, in percent."""
    needed, all_lines = counted_lines(arcs(model, state), state.mass)
    return 100 * needed / all_lines if all_lines else 0.0


def counted_lines(shown: Arcs, mass: int) -> tuple[int, int]:
    """How many lines, the largest of each row first, reach `mass` percent of their row; and how many there are."""
    weights = np.maximum(shown.lines.weights[:, : shown.read], 0).astype(np.float64)  # (map, query, kept), falling
    rest = shown.lines.rest[:, : shown.read].astype(np.float64)
    total = weights.sum(-1) + rest
    before = np.cumsum(weights, -1) - weights  # what the larger lines of the row have already
    needed = (weights > 0) & (before < mass / 100 * (1 - 1e-6) * total[..., None])
    visible = int(shown.visible[: shown.read].sum()) * len(weights)
    return int(needed.sum()), max(visible, int((weights > 0).sum()))


def rollout(model: ModelState, state: AttentionState) -> str:
    """The number of rows that rollout leads back to their own token, beside that of the layer's weights alone."""
    shown = arcs(model, replace(state, lines="rollout"))
    if shown.how != "rollout":
        return "Cross-attention has no rollout: its rows and columns are two texts. The mean of the heads is shown."
    alone = arcs(model, replace(state, lines="mean"))
    to_itself = {
        name: int((each.lines.keys[0, : each.read, 0] == np.arange(each.read)).sum())
        for name, each in (("rollout", shown), ("mean", alone))
    }
    return (
        f"In the rollout {to_itself['rollout']} of {formats.plural(shown.read, 'row')}, the first included, have their "
        f"strongest line back to their own token; in this layer’s mean of the heads {to_itself['mean']}. The half I of "
        "A = (W + I) / 2 does that: it stands for the residual, which hands each token on to itself in every layer."
    )


def looks_and_takes(model: ModelState, state: AttentionState) -> str:
    """How many rows have their largest weight and their largest contribution at two tokens."""
    whole, chosen = contribution(model, state)
    rows, differing = formats.plural(len(whole.writing.clear), "row"), len(whole.writing.differing)
    return (
        f"{chosen.sentence()} In {differing} of {rows} with a favourite, the token with the largest weight is "
        "not the one that contributes most. What reaches the output is the weight times the vector that it carries, so "
        "the map of lengths says what the head writes."
    )


def a_sink(model: ModelState, state: AttentionState) -> str:
    """Whether a token is an attention sink here."""
    whole, _ = contribution(model, state)
    if sink := whole.writing.sink():
        return (
            f"{sink} The softmax must share out all of a row’s weight: a head that has nothing to say can put it on "
            "such a token."
        )
    return (
        "No token is a sink here: none gets more than 30% of the weight on average and more than twice what an even "
        "spread would give it."
    )


def after_a_change(model: ModelState, state: AttentionState) -> str:
    """Which vectors moved at the end of the model, and why not the others."""
    weights, stream, _ = changed(model, state)
    if weights.setting.same:
        return "A and B are the same, so nothing moves. Silence a head, or lock a cell and drag its weight."
    both, end = stream.compared.both, stream.compared.effect.relative[:, -1]
    moved = [name for name, is_there, far in zip(stream.queries, both, end, strict=True) if is_there and far >= NOTHING]
    if not moved:
        return "At the end no token’s vector has moved."
    first = int(np.flatnonzero(both & (end >= NOTHING))[0])
    still = int(both[:first].sum())
    later = "Later tokens look at it in the layers above, where its vector has changed. " if len(moved) > 1 else ""
    why = (
        f"{later}The {formats.plural(still, 'token')} before “{moved[0]}” did not move: the mask lets no token see a "
        "later one."
        if still and model.looks_back_only
        else "Every layer passes a change on to all tokens that may look at the changed one."
    )
    return f"At the end {len(moved)} of {formats.plural(int(both.sum()), 'token')} have moved. {why}"


def answers_lost(model: ModelState, state: AttentionState) -> str:
    """How many right answers the changes of B cost."""
    weights, _, output = changed(model, state)
    a, b = output.compared.effect.right
    if weights.setting.same:
        return "A and B are the same, so nothing is lost. Silence a head, or lock a cell and drag its weight."
    if not a or not b:
        return f"{UNKNOWN} {output.sentence()}"
    what = (
        "What was changed is what the answers depend on."
        if b[0] < a[0]
        else "What was changed is not what the answers depend on."
    )
    return f"In A {in_words(a)} are right, in B {b[0]} of {b[1]}. {what}"


def right_in_b(model: ModelState, state: AttentionState) -> float:
    """How many answers of the task are right in B; 0 if nobody knows what is right."""
    right = changed(model, state)[2].compared.effect.right[1]
    return right[0] if right else 0


def tokens_moved(model: ModelState, state: AttentionState) -> float:
    """How many tokens' vectors differ between A and B at the end of the model."""
    _, stream, _ = changed(model, state)
    return int((stream.compared.both & (stream.compared.effect.relative[:, -1] >= NOTHING)).sum())


def a_leak(model: ModelState, state: AttentionState) -> str:
    """Whether a weight of B looks past the mask."""
    weights, _, _ = changed(model, state)
    if said := weights.about_leak():
        return f"{said.removeprefix('✕ ')} It ends only when the weight is exactly 0: any other weight lets it through."
    return "Nothing leaks now: no weight of B stands where the mask forbids it. A weight of exactly 0 carries nothing."
