"""What lessons measure on the page of the Heads lens."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from itertools import pairwise

import numpy as np

from tfm_core.language.roles import RoleScores
from tfm_ui.lenses.heads.panels import Head, Heads
from tfm_ui.lenses.heads.roles.panel import RolesPanel, with_syntax
from tfm_ui.lenses.heads.state import HeadsState
from tfm_ui.live import passes
from tfm_ui.state.model_state import ModelState
from tfm_ui.text.head_sentences import behind_earlier

DIGITS = 6  # to which rows are compared: float32 has seven
GOES_ON = "##"  # how BERT's vocabulary marks a piece that goes on a word
ROUNDING = 1e-5  # of a weight, whose row sums to 1


def after_earlier(model: ModelState, state: HeadsState) -> float:
    """The share of the locked head's weight on what came after an earlier place of the row's own token.

    Over the rows whose token has stood before; 0 if there are none, or where queries and keys are two texts.
    """
    head = Head(model, state)
    cells = behind_earlier(head.ids) if head.same_text and head.read else np.zeros((0, 0), bool)
    rows = np.flatnonzero(cells.any(-1))
    if not len(rows):
        return 0.0
    weights = head.weights[: head.read, : head.read]
    return float(np.where(cells, weights, 0).sum(-1)[rows].mean(dtype=np.float64))


def allowed(model: ModelState, state: HeadsState) -> int:
    """How many cells the mask allows, in the rows of tokens."""
    head = Head(model, state)
    return int(head.attention.visible[: head.read].sum())


def changed_by_padding(model: ModelState, state: HeadsState) -> str:
    """Whether padding changes a weight between two tokens by more than rounding: "yes" or "no"."""
    return "yes" if moved_by_padding(model, state) > ROUNDING else "no"


def different_rows(model: ModelState, state: HeadsState) -> int:
    """How many different rows of weights the head on screen has, of those of tokens."""
    head = Head(model, state)
    return len(np.unique(np.round(head.weights[: head.read], DIGITS), axis=0)) if head.read else 0


def first(model: ModelState, state: HeadsState) -> float:
    """The share of the locked head's weight on the first token, over the rows that may look at more than one."""
    head = Head(model, state)
    rows = np.flatnonzero(head.visible_keys[: head.read] > 1)
    return float(head.weights[rows, 0].mean(dtype=np.float64)) if len(rows) else 0.0


def last_favourite(model: ModelState, state: HeadsState) -> str:
    """The token that the last token's row gives most of its weight in the head on screen; "" if there is none."""
    head = Head(model, state)
    row = head.weights[head.read - 1] if head.read else np.zeros(0)
    return head.keys[int(row.argmax())] if row.any() else ""


def last_token(model: ModelState, state: HeadsState) -> str:
    """The last token that is read, as the page names it; "" if there is none."""
    heads = Heads(model, state)
    return heads.queries[heads.read - 1] if heads.read else ""


def moved_by_padding(model: ModelState, state: HeadsState) -> float:
    """The largest difference that padding makes to a weight between two tokens; 0 where nothing is padded."""
    if not padding(model, state):
        return 0.0
    padded, alone = (Heads(each, state) for each in (model, replace(model, seq_len=0)))
    pairs = ((padded.exact(*place), alone.exact(*place)) for place in alone.places)
    return max(float(np.abs(a[:, : b.shape[1]] - b).max(initial=0)) for a, b in pairs)


def one_head_parameters(model: ModelState, state: HeadsState) -> int:
    """How many parameters the same model has with a single head; 0 of a file of weights."""
    if model.array:
        return 0
    return passes.parameters(replace(model.config, num_heads=1, num_kv_heads=0))


def padding(model: ModelState, state: HeadsState) -> int:
    """How many of the places hold padding."""
    return 0 if model.array else len(model.source_tokens.ids) - len(model.source_tokens.pieces)


def pieces_within_words(model: ModelState, state: HeadsState) -> int:
    """How many tokens go on a word that the token before has begun."""
    if model.array:
        return 0
    pieces, join = model.source_tokens.pieces, model.tokens_by.join
    pairs = [(before, piece) for before, piece in pairwise(pieces) if before[-1:].isalnum()]
    return sum(
        piece.removeprefix(GOES_ON)[:1].isalnum()
        and join([before, piece]).endswith(before.removeprefix(GOES_ON) + piece.removeprefix(GOES_ON))
        for before, piece in pairs
    )


def previous(model: ModelState, state: HeadsState) -> float:
    """The share of the locked head's weight on the token before, over all rows but the first; 0 without such rows."""
    head = Head(model, state)
    if not head.same_text or head.read < 2:
        return 0.0
    return float(head.weights[: head.read, : head.read].diagonal(-1).mean(dtype=np.float64))


def role_baseline(model: ModelState, state: HeadsState) -> float:
    """What position alone would give the locked head in the chosen role; 0 where it is not measured."""
    of = _scores(model, state)
    return float(of.baseline[_place(model, state)]) if of else 0.0


def role_heads(model: ModelState, state: HeadsState) -> int:
    """How many heads have the chosen role; 0 where it is not measured."""
    of = _scores(model, state)
    return len(of.heads) if of else 0


def role_score(model: ModelState, state: HeadsState) -> float:
    """The mean weight that the locked head gives in the chosen role; 0 where it is not measured."""
    of = _scores(model, state)
    return float(of.score[_place(model, state)]) if of else 0.0


def role_prose(model: ModelState, state: HeadsState) -> float:
    """The loss on the marked sentences, of the model as it is; 0 where it is not measured."""
    return _silence(model, state).get("whole", {}).get("prose", 0.0)


def role_prose_silent(model: ModelState, state: HeadsState) -> float:
    """The same loss with all heads of the chosen role silent; 0 where it is not measured."""
    return _silence(model, state).get("silent", {}).get("prose", 0.0)


def role_repeats(model: ModelState, state: HeadsState) -> float:
    """The loss on random tokens that come again, of the model as it is; 0 where it is not measured."""
    return _silence(model, state).get("whole", {}).get("repeats", 0.0)


def role_repeats_silent(model: ModelState, state: HeadsState) -> float:
    """The same loss with all heads of the chosen role silent; 0 where it is not measured."""
    return _silence(model, state).get("silent", {}).get("repeats", 0.0)


def syntax_heads(model: ModelState, state: HeadsState) -> float:
    """How many heads have a role of grammar."""
    return with_syntax(model, state)


def _place(model: ModelState, state: HeadsState) -> tuple[int, int]:
    panel = RolesPanel(model, state)
    return panel.layer, panel.head


def _scores(model: ModelState, state: HeadsState) -> RoleScores | None:
    return RolesPanel(model, state).measured.get(state.role)


def _silence(model: ModelState, state: HeadsState) -> Mapping[str, Mapping[str, float]]:
    result = RolesPanel(model, state).kept.silenced.get(state.role)
    return {"whole": result.whole, "silent": result.silent} if result else {}


def row_largest(model: ModelState, state: HeadsState) -> float:
    """The largest weight of the last token's row in the head on screen."""
    head = Head(model, state)
    return float(head.weights[head.read - 1].max()) if head.read else 0.0


def rows_of_first_token(model: ModelState, state: HeadsState) -> int:
    """How many different rows of weights the head on screen has for the tokens that are the same as the first one."""
    head = Head(model, state)
    names = [name.rstrip("₀₁₂₃₄₅₆₇₈₉") for name in head.queries]
    rows = [head.weights[at] for at, name in enumerate(names) if name == names[0]]
    return len(np.unique(np.round(rows, DIGITS), axis=0)) if rows else 0


MEASURES: Mapping[str, Callable[[ModelState, HeadsState], float | str]] = {
    measure.__name__: measure
    for measure in (
        after_earlier,
        allowed,
        changed_by_padding,
        different_rows,
        first,
        last_favourite,
        last_token,
        moved_by_padding,
        one_head_parameters,
        padding,
        pieces_within_words,
        previous,
        role_baseline,
        role_heads,
        role_prose,
        role_prose_silent,
        role_repeats,
        role_repeats_silent,
        role_score,
        row_largest,
        rows_of_first_token,
        syntax_heads,
    )
}
