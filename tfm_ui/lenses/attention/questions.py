"""Questions of the Attention lens, and their answers: computed from what is on screen, and true of any model.

What questions take for granted, and their answers, are checked in
tests/tfm_ui/lenses/attention/test_questions_attention.py.
"""

from dataclasses import replace

import numpy as np

from tfm_core import Tokens
from tfm_ui.lenses.attention.arcs import Arcs
from tfm_ui.lenses.attention.change import ChangeOutput, ChangeStream, ChangeWeights
from tfm_ui.lenses.attention.contribution import Contribution, ContributionRow
from tfm_ui.lenses.attention.dictionary_answers import blend, longer_keys, near_a_look_up
from tfm_ui.lenses.attention.scale import Scale
from tfm_ui.lenses.attention.state import AttentionState
from tfm_ui.lenses.attention.steps import Steps
from tfm_ui.live import lab_heads
from tfm_ui.live.learned import UNKNOWN, in_words
from tfm_ui.page.questions import MODEL, Computed, Prediction, Question
from tfm_ui.state import lab_gpt
from tfm_ui.state.model_state import ModelState
from tfm_ui.text import formats, token_labels

MOST = 90  # percent of each row
NEARLY_ALL = 0.98  # of a row's weight
LOST = 0.5  # a copy depends on what was changed if it keeps less than this share of its probability
LARGEST_GRADIENT = 0.25  # of a softmax: w (1 - w) is never larger


def history_of_a_weight(model: ModelState, state: AttentionState) -> str:
    """How the weight of the chosen query and key comes from their two vectors."""
    panel = Steps(model, state)
    head, at = panel.steps, panel.at
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
    count, most = {}, 0
    for scaled in (True, False):
        panel = Steps(model, replace(state, scaled=scaled))
        head, read = panel.steps, panel.read
        top = head.weights[:read].max(-1).values[head.visible[:read].sum(-1) > 1]
        count[scaled], most = int((top > NEARLY_ALL).sum()), len(top)
    if not most:
        return "No row has a choice here: each may look at one token at most."
    rows = formats.plural(most, "row")
    return (
        f"Of the {rows} that have a choice, {count[False]} give one token more than {formats.percent(NEARLY_ALL)} of "
        f"their weight without the division by √dₖ, and {count[True]} with it. Dot products of wide vectors are large, "
        "and the softmax turns large differences into all or nothing."
    )


def lines_of_a_share(model: ModelState, state: AttentionState) -> str:
    """How many of the lines carry the chosen share of each row."""
    arcs = Arcs(model, state)
    needed, all_lines = counted_lines(arcs, state.mass)
    if not all_lines:
        return "No line is drawn here: no token may look at another."
    where = "heads" if arcs.how == "heads" else "rows"
    for_most, _ = counted_lines(arcs, MOST)
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
    needed, all_lines = counted_lines(Arcs(model, state), state.mass)
    return 100 * needed / all_lines if all_lines else 0.0


def counted_lines(arcs: Arcs, mass: int) -> tuple[int, int]:
    """How many lines, the largest of each row first, reach `mass` percent of their row; and how many there are."""
    weights = np.maximum(arcs.lines.weights[:, : arcs.read], 0).astype(np.float64)  # (map, query, kept), falling
    rest = arcs.lines.rest[:, : arcs.read].astype(np.float64)
    total = weights.sum(-1) + rest
    before = np.cumsum(weights, -1) - weights  # what the larger lines of the row have already
    needed = (weights > 0) & (before < mass / 100 * (1 - 1e-6) * total[..., None])
    visible = int(arcs.visible[: arcs.read].sum()) * len(weights)
    return int(needed.sum()), max(visible, int((weights > 0).sum()))


def rollout(model: ModelState, state: AttentionState) -> str:
    """The number of rows that rollout leads back to their own token, beside that of the layer's weights alone."""
    rolled, alone = (Arcs(model, replace(state, lines=lines)) for lines in ("rollout", "mean"))
    if rolled.how != "rollout":
        return "Cross-attention has no rollout: its rows and columns are two texts. The mean of the heads is shown."
    rows = np.arange(rolled.read)
    to_itself, to_itself_alone = (int((arcs.lines.keys[0, rows, 0] == rows).sum()) for arcs in (rolled, alone))
    return (
        f"In the rollout {to_itself} of {formats.plural(len(rows), 'row')}, the first included, have their strongest "
        f"line back to their own token; in this layer’s mean of the heads {to_itself_alone}. The half I of "
        "A = (W + I) / 2 does that: it stands for the residual, which hands each token on to itself in every layer."
    )


def looks_and_takes(model: ModelState, state: AttentionState) -> str:
    """How many rows have their largest weight and their largest contribution at two tokens."""
    row = ContributionRow(model, state)
    rows, differing = formats.plural(len(row.clear), "row"), len(row.differing)
    return (
        f"{row.sentence()} In {differing} of {rows} with a favourite, the token with the largest weight is "
        "not the one that contributes most. What reaches the output is the weight times the vector that it carries, so "
        "the map of lengths says what the head writes."
    )


def a_sink(model: ModelState, state: AttentionState) -> str:
    """Whether a token is an attention sink here."""
    if sink := Contribution(model, state).sink():
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
    stream = ChangeStream(model, state)
    if stream.same:
        return "A and B are the same, so nothing moves. Silence a head, or lock a cell and drag its weight."
    moved = int(stream.moved.sum())
    if not moved:
        return "At the end no token’s vector has moved."
    first = int(stream.moved.argmax())
    still = int(stream.both[:first].sum())
    later = "Later tokens look at it in the layers above, where its vector has changed. " if moved > 1 else ""
    why = (
        f"{later}The {formats.plural(still, 'token')} before “{stream.queries[first]}” did not move: the mask lets no "
        "token see a later one."
        if still and model.looks_back_only
        else "Every layer passes a change on to all tokens that may look at the changed one."
    )
    return f"At the end {moved} of {formats.plural(int(stream.both.sum()), 'token')} have moved. {why}"


def answers_lost(model: ModelState, state: AttentionState) -> str:
    """How many right answers the changes of B cost."""
    output = ChangeOutput(model, state)
    a, b = (side.right for side in output.effect.sides)
    if output.same:
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
    right = ChangeOutput(model, state).effect.sides[1].right
    return right[0] if right else 0


def tokens_moved(model: ModelState, state: AttentionState) -> float:
    """How many tokens' vectors differ between A and B at the end of the model."""
    return int(ChangeStream(model, state).moved.sum())


def a_leak(model: ModelState, state: AttentionState) -> str:
    """Whether a weight of B looks past the mask."""
    if leak := ChangeWeights(model, state).about_leak():
        return f"{leak.removeprefix('✕ ')} It ends only when the weight is exactly 0: any other weight lets it through."
    return "Nothing leaks now: no weight of B stands where the mask forbids it. A weight of exactly 0 carries nothing."


def last_text(model: ModelState) -> Tokens:
    """The text that the model goes on with."""
    return model.target_tokens if model.is_encoder_decoder else model.source_tokens


def copied_place(model: ModelState) -> int | None:
    """Where the token stands, from 0, that would be a copy: after the last token's latest earlier place.

    None if the last token stands in the text for the first time.
    """
    text = last_text(model)
    last = len(text.pieces) - 1
    return max((at + 1 for at in range(last) if text.ids[at] == text.ids[last]), default=None)


def what_is_copied(model: ModelState, state: AttentionState) -> str:
    """The probability of the copied token in A and in B, and what that says."""
    output, place = ChangeOutput(model, state), copied_place(model)
    if output.same:
        return "A and B are the same, so nothing changes. Silence a head, or lock a cell and drag its weight."
    if place is None:
        return f"The last token stands here for the first time, so there is nothing to copy. {output.sentence()}"
    text = last_text(model)
    last, piece = token_labels.labels(text)[len(text.pieces) - 1], token_labels.named(text.pieces[place])
    in_a, in_b = output.effect.probabilities[:, text.ids[place]].tolist()
    a, b = formats.percents(in_a, in_b)
    shares = (
        f"“{last}” stood before at place {place}, and “{piece}” came after it. As what comes next, “{piece}” has {a} "
        f"in A and {b} in B."
    )
    if output.effect.probabilities[0].argmax() != text.ids[place]:
        return f"{shares} In A it is not the likeliest token, so the model does not copy here, whatever is changed."
    if in_b < LOST * in_a:
        return f"{shares} A copies, and what was changed is what the copy depends on."
    return f"{shares} A copies, and most of that is left in B: other heads do it too, or those that are left suffice."


def percent_in_b(model: ModelState, state: AttentionState) -> float:
    """The probability of the copied token in B, in percent; 0 if there is none."""
    place = copied_place(model)
    if place is None:
        return 0.0
    return formats.points(float(ChangeOutput(model, state).effect.probabilities[1, last_text(model).ids[place]]))


def vanishing_gradient(model: ModelState, state: AttentionState) -> str:
    """The width from which half of the draws leave less than a tenth of the largest gradient there can be."""
    median, measured = first_width(model, state), Scale(model, state).measured
    scaled = min(measured.median_gradient["scaled"].tolist())
    if not median:
        return (
            f"At none of these widths: half of the draws always leave a gradient of {LARGEST_GRADIENT / 10:g} or more, "
            "divided or not."
        )
    return (
        f"From dₖ = {median:g} on: undivided, half of the draws leave a largest gradient below "
        f"{LARGEST_GRADIENT / 10:g}, a tenth of the most that a softmax can have. Divided by √dₖ, the middle one of "
        f"the draws never falls below {formats.weight(scaled)}, because the variance of q·k / √dₖ stays near 1."
    )


def first_width(model: ModelState, state: AttentionState) -> float:
    """The first dₖ at which the median gradient of the undivided softmax is below a tenth of the largest; 0 if none."""
    measured = Scale(model, state).measured
    medians = measured.median_gradient["unscaled"].tolist()
    below = [width for width, median in zip(measured.widths, medians, strict=True) if median < LARGEST_GRADIENT / 10]
    return below[0] if below else 0


def own_scores(model: ModelState, state: AttentionState) -> str:
    """How the scores of the model's own heads spread, beside the law of random vectors."""
    effect = Scale(model, state)
    if not effect.variances:
        return effect.about_model
    ratios = [variance / model.config.head_dim for variance in effect.variances]
    low, high = formats.weight(min(ratios)), formats.weight(max(ratios))
    span = f"{low} times" if low == high else f"{low} to {high} times"
    return (
        f"Random vectors would have a variance of dₖ = {model.config.head_dim}. In layer {effect.layer + 1} the heads "
        f"have {span} that. The law needs independent numbers of variance 1; a model’s queries and keys are both "
        "computed from the same tokens, and their size depends on the weights."
    )


QUESTIONS = (
    Question(
        "Step by step",
        "Every number here has a history. Click one: which two vectors did it come from?",
        history_of_a_weight,
    ),
    Question(
        "Not scaled",
        "Random weights show scale best. One head as wide as the model, not divided: two thirds of the rows give one "
        "token nearly all. And with √dₖ?",
        without_division,
        model={"d_model": 256, "num_heads": 1},
        controls={"scaled": False},
        given=MODEL,
        because="one of these steps, the division by √dₖ, is best understood by leaving it out.",
    ),
    Question(
        "Half of the weight",
        "Less than a third of the lines carry half of each row’s weight. Raise the share to 90%: how many does that "
        "take?",
        lines_of_a_share,
        Prediction(ask="Which share of all lines carries 90%, in percent?", measured=share_for_most, unit="%"),
        controls={"view": "arcs", "mass": 50},
        moves=("mass",),
        given=MODEL | {"layer", "hide"},
        because="after the steps of one head, lines show where all heads of a layer look.",
    ),
    Question(
        "Rollout",
        "Multiplied through both layers, every row’s strongest line still leads back to its own token. Which half of "
        "the formula makes it so?",
        rollout,
        controls={"view": "arcs", "lines": "rollout", "layer": 2},
        given=MODEL,
        because="a line shows one layer alone, and this follows them through all layers.",
    ),
    Question(
        "Lines on prose",
        "Lab GPT on a sentence, layer 2. How few of the lines carry half of each row’s weight, and to which tokens do "
        "they lead?",
        lines_of_a_share,
        Prediction(
            ask="Which share of all lines do you expect, in percent?",
            measured=share_of_lines,
            unit="%",
            hides=("arcs",),
        ),
        model=lab_gpt.ON_PROSE,
        controls={"view": "arcs", "layer": 2, "mass": 50},
        moves=("text",),
        because="random weights are spread by chance, and trained ones may need far fewer lines.",
    ),
    Question(
        "Looks here, contributes there",
        "“was” looks most at “it”, and yet “was” itself contributes most. Which of the two maps says what this head "
        "does?",
        looks_and_takes,
        controls={"view": "contribution", "layer": 2, "head": 1, "query": 9, "key": 8},
        moves=("query", "key"),
        given=MODEL,
        link="looks-here-takes-there",  # of its first title
        because="a line says where a head looks, and not yet what it carries from there.",
    ),
    Question(
        "A sink",
        "More than half of all weight goes to “cat”, whoever looks; a quarter of what is written comes from there. "
        "What could a head need such a token for?",
        a_sink,
        model={"num_heads": 16, "seed": 2},
        controls={"view": "contribution", "layer": 2, "head": 5},
        given=MODEL,
        because="some tokens get weight from almost every query, and both maps help to see why.",
    ),
    Question(
        "Looking and contributing, trained",
        "Lab GPT on a sentence. In how many rows is the token that this head looks at most not the one that "
        "contributes most?",
        looks_and_takes,
        model=lab_gpt.ON_PROSE,
        controls={"view": "contribution", "layer": 3, "query": 10, "key": 1},
        moves=("text", "layer", "query", "key"),
        link="looks-and-takes-trained",  # of its first title
        because="with random weights that may be chance, so the same is counted in a trained model.",
    ),
    Question(
        "One weight",
        "One weight of layer 1 was changed: “mat” looks at “cat” with 0.90. Why do tokens after “mat” move too, and "
        "none before it?",
        after_a_change,
        Prediction(
            ask="How many of the tokens have moved at the end?", measured=tokens_moved, hides=("change_stream",)
        ),
        controls={"view": "change"},
        given=MODEL | {"changes"},
        because="the graph cut connections, and now a single weight is changed, to see what moves.",
    ),
    Question(
        "A leak",
        "“sat” was made to look at “it”, five tokens ahead. Drag the weight down to 0: when does the leak end?",
        a_leak,
        controls={"view": "change", "changes": "weight 1.1 3>8 0.5", "query": 3, "key": 8},
        moves=("changes", "query", "key"),
        given=MODEL,
        only=lambda model, page: page.changes.startswith("weight 1.1 3>8"),
        because="a changed weight may also stand where the mask forbids it.",
    ),
    Question(
        "Silence what was learned",
        "Trained on letters that repeat, and in B the head of layer 2 is silenced. How many of the answers are still "
        "right?",
        answers_lost,
        Prediction(ask="How many are right in B?", measured=right_in_b, hides=("change_output",)),
        model={"weights": "induction"},
        controls={"view": "change", "layer": 2, "changes": "silence 2.1"},
        moves=("layer",),
        because="after single weights a whole head is silenced, one that answers may need.",
    ),
    Question(
        "Silence the copy",
        "Two invented names, each twice, the last broken off. In B the heads of Lab GPT that copy best are silent: "
        "does it still know how the name goes on?",
        what_is_copied,
        Prediction(
            ask="How likely is the name’s next token in B, in percent?",
            measured=percent_in_b,
            unit="%",
            hides=("change_output",),
        ),
        model=lab_gpt.ON_NAMES,
        controls=Computed(
            view="change",
            layer=lambda: lab_heads.copying_heads()[0][0],
            head=lambda: lab_heads.copying_heads()[0][1],
            changes=lab_heads.silenced,
        ),
        moves=("layer", "head"),
        because="the same can be tried in a language model, where several heads may do one job.",
    ),
    Question(
        "Why √dₖ",
        "Wider vectors have larger dot products. Without √dₖ, at which width has the median largest gradient fallen "
        "below 0.025, a tenth of 1/4?",
        vanishing_gradient,
        Prediction(ask="At which dₖ?", measured=first_width, hides=("scale",)),
        controls={"view": "scale"},
        because="leaving out √dₖ was seen in one head, and here it is measured over many widths.",
    ),
    Question(
        "Your own heads",
        "The circle is the head of your model: random weights, as wide as the model. Do its scores spread as those of "
        "random vectors do?",
        own_scores,
        model={"d_model": 256, "num_heads": 1},
        controls={"view": "scale"},
        moves=("d_model",),
        given=("weights",),
        because="the law is one of random vectors, so it has to be tested on the head of a model.",
    ),
    Question(
        "A blend",
        "The query asks four keys at once. Which part of the answer comes from which of them? Drag the query and see.",
        blend,
        controls={"view": "dictionary"},
        only=lambda model, page: len(page.entries.split()) == 4,
        because="with four keys in a plane all of attention can be seen and moved by hand.",
    ),
    Question(
        "Longer keys win",
        "The query lies exactly on key A, and yet key B gets more of the weight. What does a dot product measure that "
        "a distance does not?",
        longer_keys,
        controls={"view": "dictionary", "entries": "0.8,0.3,10 1.8,0.1,20 -1,0.5,30 0,-1.2,40", "ask": "0.8,0.3"},
        because="the nearest key should win, one would think, and here it does not.",
    ),
    Question(
        "Nearly a look-up",
        "At temperature 0.1 the best key gets nearly all. How far is the answer from that key’s own value, and what "
        "becomes of it at temperature 1?",
        near_a_look_up,
        controls={"view": "dictionary", "temperature": 0.1},
        moves=("temperature",),
        given=("entries", "ask"),
        because="a low temperature turns the blend into something close to a dictionary’s look-up.",
    ),
)
