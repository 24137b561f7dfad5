"""Questions of the Heads lens, with answers that are computed from the heads on screen, and true of any model.

tests/tfm_ui/lenses/heads/test_questions_heads.py checks what they say.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tfm_core import POSITIONAL
from tfm_ui.lenses.heads.measures import previous
from tfm_ui.lenses.heads.panels import Heads, HeadsPanel
from tfm_ui.lenses.heads.state import HeadsState
from tfm_ui.live import lab_heads
from tfm_ui.live.learned import UNKNOWN, Looking, where_to_look
from tfm_ui.live.memory import adds_bias
from tfm_ui.page.questions import Computed, Prediction, Question
from tfm_ui.state import lab_gpt, pretrained
from tfm_ui.state.model_state import ModelState
from tfm_ui.text import formats
from tfm_ui.text.head_sentences import behind_earlier
from tfm_ui.text.ties import places_of_largest

OF_A_FILE = "These weights are out of a file, which does not tell what made them so."
TWO_TEXTS = "Queries and keys are two texts here, so no key stands before its query."


def first_row(model: ModelState, state: HeadsState) -> str:
    """Why the first row of a causal model is fixed."""
    heads = Heads(model, state)
    may_see = int(heads.visible_keys[0])
    if model.array:
        first = formats.weight(heads.attention.exact(heads.layer, heads.head)[0, 0])
        return f"The first token gives itself {first} in {_named((heads.layer, heads.head))}. {OF_A_FILE}"
    if may_see == 1:
        return (
            f"“{heads.queries[0]}” may look at one token alone, itself. The softmax shares out exactly 1 in each row, "
            "so that one weight is 1 whatever the scores are, and training can only change scores."
        )
    return (
        f"Here it could: the first row may look at {may_see} tokens, as nothing hides later ones from it. "
        "A row of a single token is fixed, because the softmax always shares out exactly 1."
    )


def order_is_lost(model: ModelState, state: HeadsState) -> str:
    """Whether rows of one word differ, and what makes them differ."""
    heads = Heads(model, state)
    pairs = same_word(heads)
    if not pairs:
        return "No word stands in this text twice, so there are no rows to compare."
    apart = max(_rows_apart(heads, a, b) for a, b in pairs)
    if model.array:
        return f"Rows of the same word differ by up to {formats.weight(apart)}. {OF_A_FILE}"
    if apart == 0:
        return (
            "It could not: rows of the same word have the same weights, to the last digit, in every head. Without "
            "positions and without a mask, a query knows only which word it is, not where it stands."
        )
    enters = POSITIONAL[model.positional].enters()
    by = [*(["the positions"] if enters else []), *(["the mask"] if model.looks_back_only else [])]
    return (
        f"By {formats.listed(by)}: rows of the same word differ by up to {formats.weight(apart)}. "
        "What differs between them is where the word stands, and that is enough to tell who saw whom."
    )


def ahead(model: ModelState, state: HeadsState) -> str:
    """How much weight goes to later tokens."""
    share = weight_ahead(model, state)
    if share == 0:
        return (
            "Nothing here looks ahead: no weight goes to a later token. That is what predicting the next token needs, "
            "because a model that sees it has only to copy it."
        )
    return (
        f"Of all weight on screen {formats.percent(share)} goes to later tokens. In predicting the next token that "
        "would be cheating: the answer stands in the text. In translating or classifying a text that is there as a "
        "whole, it is allowed."
    )


def weight_ahead(model: ModelState, state: HeadsState) -> float:
    """The share of all weight that goes to tokens after the query, over all heads and the rows of tokens."""
    heads = Heads(model, state)
    total = ahead = 0.0
    for weights in _exact(heads):
        total += float(weights.sum())
        ahead += float(np.triu(weights, 1).sum())
    return ahead / total if total else 0.0


def sharpest_and_bluntest(model: ModelState, state: HeadsState) -> str:
    """The heads whose rows are the sharpest and the bluntest."""
    heads = Heads(model, state)
    rows = _with_a_choice(heads)
    if not len(rows):
        return "No token has a choice here: each may look at one at most, so all heads are alike."
    top = heads.kept.first[:, :, rows].mean(-1)  # of the rows' largest weights, (layer, head)
    low, high = _where(top, top.argmin()), _where(top, top.argmax())
    width = model.d_model // model.num_heads
    if top[high] < 1.01 * top[low]:
        return "They are alike: in each head, the largest weight of a row is the same on average."
    differ = (
        f"They differ{model.if_random(', though nobody trained them')}. "
        f"The sharpest is {_named(high)}: the largest weight of its rows is "
        f"{formats.weight(top[high])} on average. The bluntest is {_named(low)}, with {formats.weight(top[low])}."
    )
    if model.array:
        return f"{differ} {OF_A_FILE}"
    alone = model.if_random(", and its weights were drawn by themselves")
    return f"{differ} Each compares tokens by {formats.plural(width, 'number')}{alone}."


def sight(model: ModelState, state: HeadsState) -> str:
    """How far the most short-sighted head looks, and the most far-sighted."""
    heads = Heads(model, state)
    if not heads.same_text:
        return "Queries and keys are two texts here, so there is no distance between them."
    table = heads.table()["distance"].to_numpy().reshape(heads.kept.largest.shape)
    low, high = _where(table, table.argmin()), _where(table, table.argmax())
    return (
        f"The most short-sighted is {_named(low)}: its weight lies {table[low]:.1f} tokens away on average. "
        f"{_named(high).capitalize()} looks furthest, {table[high]:.1f} tokens. {_whether_slopes_do_it(model)}"
    )


def _whether_slopes_do_it(model: ModelState) -> str:
    """Whether the positions of this model lower scores by slopes, so that heads see differently far."""
    if model.array:
        return OF_A_FILE
    chosen = POSITIONAL[model.positional]
    if chosen.overrides("slopes"):
        return "Each head has a slope of its own, and a steep slope takes more from the scores of far keys."
    sloping = [scheme.about.called for scheme in POSITIONAL.values() if scheme.overrides("slopes")]
    if not adds_bias(model):
        has = "has" if len(sloping) == 1 else "have"
        return (
            f"No slope makes them so: only {formats.listed(sloping)} {has} one for each head. "
            f"Their weights {model.if_random('were drawn at random', 'come from training')}."
        )
    are = "is" if len(sloping) == 1 else "are"
    bias = f"is {model.if_random('random', 'learned')}" if chosen.learns_at("bias_at") else "has no slopes"
    others = f"{formats.listed(sloping)} {are} not chosen"
    return f"No slope makes them so: {others}, and {chosen.about.called}’s bias {bias}."


def two_texts(model: ModelState, state: HeadsState) -> str:
    """Why cross-attention needs no causal mask."""
    heads = Heads(model, state)
    hidden = int((~heads.attention.visible[: heads.read]).sum())
    if heads.same_text:
        return (
            "On screen queries and keys are the same text. Choose an encoder-decoder and the attention “cross” to see "
            "how one text looks at another."
        )
    if hidden:
        return f"Not every cell is free: {formats.count(hidden)} lead to padding, which is no part of the text."
    return (
        "The text that is looked at is there as a whole before the first word is written. Only the decoder’s own words "
        "have to be hidden from each other, and that is done in its self-attention."
    )


def looks_where_it_should(model: ModelState, state: HeadsState) -> str:
    """The head that looks most where each pattern of the task says, and the share of its weight there."""
    heads = Heads(model, state)
    patterns = where_to_look(model, heads.kind)
    if not patterns:
        return f"{UNKNOWN} Here no head has a place where it should look."
    sentences = []
    for pattern in patterns:
        scores = _scores(heads, pattern)
        best = _where(scores, scores.argmax())
        sentences.append(
            f"{pattern.pattern.why} {_named(best).capitalize()} gives {formats.share(float(scores[best]))} of its "
            f"weight to these places, over the rows that have such places; spread evenly it would be "
            f"{formats.share(pattern.even(heads.attention.visible))}."
        )
    return " ".join(sentences)


def best_layer(model: ModelState, state: HeadsState) -> str:
    """The layer with the head that looks most where it should, by the first pattern of the task; "none" without one."""
    heads = Heads(model, state)
    patterns = where_to_look(model, heads.kind)
    return f"layer {_scores(heads, patterns[0]).max(-1).argmax() + 1}" if patterns else "none"


def same_word(heads: HeadsPanel) -> list[tuple[int, int]]:
    """Pairs of rows, from 0, that are the same word: each with the first of them."""
    first: dict[int, int] = {}
    earlier = [first.setdefault(number, row) for row, number in enumerate(heads.ids)]
    return [(before, row) for row, before in enumerate(earlier) if before < row]


def _rows_apart(heads: HeadsPanel, a: int, b: int) -> float:
    return max(float(np.abs(weights[a] - weights[b]).max()) for weights in _exact(heads))


def _exact(heads: HeadsPanel) -> list[NDArray[np.float32]]:
    """Each head's weights, float32 (query, key), without rows of padding."""
    return [heads.exact(*place) for place in heads.places]


def _scores(heads: HeadsPanel, pattern: Looking) -> NDArray[np.float64]:
    """The share of each head's weight where a pattern says, (layer, head)."""
    return np.array([pattern.score(weights) for weights in _exact(heads)]).reshape(heads.kept.largest.shape)


def _with_a_choice(heads: HeadsPanel) -> NDArray[np.intp]:
    """The rows of tokens that may look at more than one."""
    return np.flatnonzero(heads.visible_keys[: heads.read] > 1)


def _where(values: NDArray[Any], number: int | np.intp) -> tuple[np.intp, ...]:
    """Layer and head, from 0, of a value with this number among all."""
    return np.unravel_index(number, values.shape)


def _named(at: tuple[int | np.intp, ...]) -> str:
    layer, head = at
    return f"layer {layer + 1}, head {head + 1}"


# where heads of a language model look in a text


def looks_at_previous(model: ModelState, state: HeadsState) -> str:
    """The weight of the token before in the head on screen, beside an even spread, and the head with the most."""
    heads = Heads(model, state)
    if not heads.same_text:
        return TWO_TEXTS
    if heads.read < 2:
        return "There is a single token, and none before it."
    weights = _weights(heads)
    share, even = _previous(weights), _previous(_even(heads))
    at = (heads.layer, heads.head)
    best = _where(share, places_of_largest(share)[0])
    rows = formats.plural(heads.read - 1, "row")
    most = int((weights[at].argmax(-1)[1:] == np.arange(heads.read - 1)).sum())
    other = (
        "No head here gives more."
        if share[best] <= share[at]
        else f"{_named(best).capitalize()} gives the most here, {formats.percent(float(share[best]))}."
    )
    return (
        f"{_named(at).capitalize()} gives the token before {formats.percent(float(share[at]))} of its weight, and in "
        f"{most} of {rows} more than any other; spread evenly it would be {formats.percent(float(even))}. {other}"
    )


def percent_on_previous(model: ModelState, state: HeadsState) -> float:
    """The share of weight of the token before in the head on screen, in percent."""
    return round(100 * previous(model, state), 1)


def looks_at_first(model: ModelState, state: HeadsState) -> str:
    """The number of heads in which most rows look at the first token, and the largest mean share it gets in one."""
    heads = Heads(model, state)
    rows = _with_a_choice(heads)
    if not len(rows):
        return "No token has a choice here: each may look at one at most."
    shares = _weights(heads)[:, :, rows, 0].mean(-1)
    best = _where(shares, places_of_largest(shares)[0])
    even = formats.percent(float(_even(heads)[rows, 0].mean()))
    return (
        f"In {heads_on_first(model, state)} of {formats.plural(shares.size, 'head')} most rows look more at "
        f"“{heads.keys[0]}” than at any other token; rows without a choice are left out. "
        f"{_named(best).capitalize()} gives it the most, {formats.percent(float(shares[best]))} on average; spread "
        f"evenly it would be {even}. A softmax must share out 1 in every row: a head that finds nothing can leave its "
        "weight at a token that everybody sees, and what it then writes can be the same for all."
    )


def heads_on_first(model: ModelState, state: HeadsState) -> int:
    """The number of heads in which more than half of the rows that have a choice look most at the first token."""
    heads = Heads(model, state)
    rows = _with_a_choice(heads)
    first = _weights(heads)[:, :, rows].argmax(-1) == 0
    return int((2 * first.sum(-1) > len(rows)).sum())


def looks_behind(model: ModelState, state: HeadsState) -> str:
    """The weight, in heads, of the token that followed the row's own token when that last stood in the text."""
    heads = Heads(model, state)
    if not heads.same_text:
        return TWO_TEXTS
    cells = behind_earlier(heads.ids)
    rows = np.flatnonzero(cells.any(-1))
    if not len(rows):
        return "No token stands in this text twice, so nothing came after an earlier one of the same kind."
    share = _on(_weights(heads), cells, rows)
    even = float(_on(_even(heads)[None, None], cells, rows)[0, 0])
    at, best = (heads.layer, heads.head), _where(share, places_of_largest(share)[0])
    verdict = "it does look there" if share[at] > 2 * even else "it hardly looks there"
    return (
        f"In {formats.plural(len(rows), 'row')} the token has stood before. {_named(at).capitalize()} gives "
        f"{formats.percent(float(share[at]))} of its weight to what came after it, where an even spread would give "
        f"{formats.percent(even)}: {verdict}. The most, {formats.percent(float(share[best]))}, comes from "
        f"{_named(best)}. A head that looks there can copy what came last time; whether the model does, only its "
        "output tells."
    )


def _on(weights: NDArray[np.float32], cells: NDArray[np.bool_], rows: NDArray[np.intp]) -> NDArray[np.float32]:
    """The share of each head's weight on these cells, (layer, head), over these rows."""
    shares: NDArray[np.float32] = np.where(cells, weights, 0).sum(-1)[..., rows].mean(-1)
    return shares


def _weights(heads: HeadsPanel) -> NDArray[np.float32]:
    """All weights among the tokens, (layer, head, query, key)."""
    weights = np.stack(_exact(heads))[..., : heads.read if heads.same_text else None]
    return weights.reshape(*heads.kept.largest.shape, *weights.shape[1:])


def _even(heads: HeadsPanel) -> NDArray[np.float32]:
    """The weights of a head that looks alike at all keys that it may see, (query, key)."""
    read = heads.read
    visible = heads.attention.visible[:read, : read if heads.same_text else None]
    even: NDArray[np.float32] = (visible / visible.sum(-1, keepdims=True).clip(min=1)).astype(np.float32)
    return even


def _previous(weights: NDArray[np.float32]) -> NDArray[np.float32]:
    """The mean weight on the token before, over all rows but the first, (...)."""
    means: NDArray[np.float32] = np.asarray(weights.diagonal(-1, -2, -1).mean(-1))
    return means


REAL_MODELS = [
    Question(
        "Sinks everywhere",
        "SmolLM2 has 270 heads. In how many do most rows look at the first token above all, though it means nothing "
        "for the others?",
        looks_at_first,
        Prediction(ask="In how many heads?", measured=heads_on_first),
        model=pretrained.CAPITAL,
        moves=("text",),
        because="the habit of looking at the first token can be counted in a far larger model.",
    )
] * pretrained.is_here("smollm2") + [
    Question(
        "Both ways",
        "This encoder sees its whole text. How much of all weight goes to tokens that come later, which no decoder "
        "could see?",
        ahead,
        Prediction(
            ask="What percentage of all weight goes to later tokens?",
            measured=lambda model, state: 100 * weight_ahead(model, state),
            unit="%",
        ),
        model={"weights": "minilm", "text": "The cat sat on the mat because it was tired."},
        moves=("text",),
        because="every trained model so far looked back only, and an encoder reads its whole text.",
    )
] * pretrained.is_here("minilm")
QUESTIONS = (
    Question(
        "First row",
        "The first row of every head is 1.00 and nothing else. Why could no training change that?",
        first_row,
        only=lambda model, page: model.looks_back_only and not model.is_encoder_decoder and not model.array,
    ),
    Question(
        "Who saw whom?",
        "Positions are off: all four rows of “the” are alike to the last digit, in every head. How could this model "
        "ever tell who saw whom?",
        order_is_lost,
        model={
            "text": "the dog saw the man and the man saw the dog",
            "seq_len": 11,
            "positional": "none",
            "causal": False,
        },
        given=("architecture", "tokenizer"),
        because="here neither a mask nor positions make one row of a word differ from another.",
    ),
    Question(
        "Looking ahead",
        "Causal is off. How much of all weight goes to tokens that come later, and in which tasks would that be "
        "cheating?",
        ahead,
        Prediction(
            ask="What percentage of all weight goes to later tokens?",
            measured=lambda model, state: 100 * weight_ahead(model, state),
            unit="%",
        ),
        model={"causal": False},
        given=("architecture",),
        because="only the mask is off now, so one can measure how much weight it would forbid.",
    ),
    Question(
        "Many heads",
        "Sixteen heads share a width of 32: each compares tokens by 2 numbers. Are they alike? Find the sharpest and "
        "the bluntest.",
        sharpest_and_bluntest,
        model={"num_heads": 16},
        given=("d_model",),
        because="so far the rules were the same for all heads, and now it is about how they differ.",
    ),
    Question(
        "A long text",
        "ALiBi lowers a score the further away its key is, in each head at another rate. Which head is the most "
        "short-sighted, and which looks furthest?",
        sight,
        model={"text": "@alice", "seq_len": 512, "num_layers": 4, "num_heads": 8, "positional": "alibi"},
        moves=("text", "seq_len", "num_layers", "num_heads"),
        because="with ALiBi heads differ by design, each lowering far scores at a rate of its own.",
    ),
    Question(
        "Two texts",
        "Each German word looks at English ones, and no cell is masked. Why may it look ahead here?",
        two_texts,
        model={"architecture": "encoder-decoder"},
        controls={"kind": "cross"},
        given=("text", "target"),
        because="so far a text looked at itself, and in translating it looks at another one.",
    ),
    Question(
        "A head with a job",
        "Trained on letters that repeat. One head looks at what came after its own letter last time: in which layer "
        "is it, and what does the other do?",
        looks_where_it_should,
        Prediction(ask="In which layer is it?", measured=best_layer, options=("layer 1", "layer 2", "none")),
        model={"weights": "induction"},
        controls={"layer": 2},
        moves=("layer",),
        because="no head so far had learned anything, and training can give one a clear job.",
    ),
    Question(
        "The token before",
        "On random tokens, this head of Lab GPT looks most at the token before. How much of its weight goes there in a "
        "sentence?",
        looks_at_previous,
        Prediction(ask="What percentage of its weight?", measured=percent_on_previous, unit="%"),
        model=lab_gpt.ON_PROSE,
        controls=Computed(
            layer=lambda: lab_heads.previous_token_head()[0], head=lambda: lab_heads.previous_token_head()[1]
        ),
        moves=("text",),
        because="a language model has heads with jobs, too, and not only a model of letters.",
    ),
    Question(
        "The first token",
        "Lab GPT again. In how many heads do most rows look at the first token above all? What could a head gain by "
        "looking there?",
        looks_at_first,
        Prediction(ask="In how many heads?", measured=heads_on_first),
        model=lab_gpt.ON_PROSE,
        moves=("text",),
        because="one job is not all that heads of Lab GPT do, and many of them share this habit.",
    ),
    Question(
        "What came last time",
        "Two invented names, each twice. Does this head of Lab GPT look at what came after its own token last time, as "
        "whoever copies must?",
        looks_behind,
        model=lab_gpt.ON_NAMES,
        controls=Computed(layer=lambda: lab_heads.copying_heads()[0][0], head=lambda: lab_heads.copying_heads()[0][1]),
        because="to copy a name, a head has to look neither at its neighbour nor at the start.",
    ),
    *REAL_MODELS,
)
