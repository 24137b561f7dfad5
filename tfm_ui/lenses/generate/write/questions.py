"""Questions of the view "write"."""

from dataclasses import replace
from itertools import pairwise

import numpy as np

from tfm_ui.lenses.generate.courses import settings_of
from tfm_ui.lenses.generate.panel import LAB, answer_from
from tfm_ui.lenses.generate.state import ATTENTION, GenerateState
from tfm_ui.lenses.generate.write.first_program import (
    DROPOUT,
    MOST,
    parts_at,
    past_context,
    past_table_error,
    texts_in_training_mode,
    topk_error,
)
from tfm_ui.lenses.generate.write.look import TOO_SHORT, Look, head_with_most
from tfm_ui.lenses.generate.write.text import Write, in_words
from tfm_ui.page.questions import Prediction, Question
from tfm_ui.state.model_state import ModelState
from tfm_ui.text import formats
from tfm_ui.text.token_labels import named

REPEATED = {"weights": "lab-gpt", "text": "Quoz Bramble met Dapnel Stiggot. Then Quoz Bramble met Dapnel"}
LONG = {
    "weights": "lab-gpt",
    "text": "It is a truth universally acknowledged, that a single man in possession of a good fortune, must be in "
    "want of a wife. However little known the feelings or views of such a man may be on his first entering a "
    "neighbourhood, this truth is so well fixed in the minds of the surrounding families, that he is "
    "considered as the rightful property of some one or other of their daughters.",
}
PLACES = ("the first token of the context", "the token before the last", "the last token itself")


@answer_from(Write)
def chosen(write: Write) -> str:
    """How the first token was chosen."""
    draw, piece = write.draws[0], named(write.pieces[0])
    share = formats.percent(float(draw.probabilities[write.course.steps[0].token]))
    if write.course.steps[0].forced:
        return f"“{piece}” was put there; the model gave it {share}."
    if write.settings.sampling.greedy:
        return f"“{piece}” is the likeliest first token, with {share}; no random number acts."
    begin = float(draw.cumulative[draw.rank - 1]) if draw.rank else 0.0
    return (
        f"“{piece}”, whose probability is {share}: on the bar of what is left it lies from {begin:.4f} to "
        f"{float(draw.cumulative[draw.rank]):.4f}, and the random number is {draw.number:.4f}. "
        "The seed and the step decide that number, so the link brings the text back."
    )


@answer_from(Write)
def repeats(write: Write) -> str:
    """Whether the text goes round in circles: how many of its pairs of tokens are new."""
    method = "greedy" if write.state.method == "sample" else "sample"
    other = Write(write.model, replace(write.state, method=method))
    here, there = (list(pairwise(step.token for step in each.course.steps)) for each in (write, other))
    if not here:
        return "Two tokens are needed to see a repetition."
    return (
        f"Among {formats.plural(len(here), 'pair')} of neighbours are {len(set(here))} different ones where tokens are "
        f"{in_words(write.settings.sampling)}, and {len(set(there))} where they are "
        f"{in_words(other.settings.sampling)}. A text of likeliest tokens can run in circles, since the same last "
        "tokens tend to lead to the same next one; Holtzman et al. 2020 called it degeneration."
    )


@answer_from(Write)
def hotter(write: Write) -> str:
    """What the temperature does to the first distribution."""
    logits = write.draws[0].logits.double()

    def entropy(temperature: float) -> float:
        shares = (logits / temperature).softmax(0)
        return float(-(shares * shares.clamp(min=1e-300).log2()).sum())

    now = write.settings.sampling.temperature
    likeliest = [float((logits / t).softmax(0).max()) for t in (now, 0.3, 1.0, 2.0)]
    shares = formats.percents(*likeliest)
    return (
        f"At the first step, the likeliest token has {shares[0]} at temperature {now:g}; it would have {shares[1]} at "
        f"0.3, {shares[2]} at 1 and {shares[3]} at 2. The entropy goes from {entropy(0.3):.1f} bits at 0.3 to "
        f"{entropy(2.0):.1f} bits at 2, of at most {np.log2(len(logits)):.1f}. The logits themselves stay as they are."
    )


@answer_from(Write)
def cuts(write: Write) -> str:
    """How many tokens the cuts leave."""
    if write.settings.sampling.greedy:
        return "Greedy takes the likeliest token: no cut acts."
    left = np.array([draw.left.min_p for draw in write.draws])
    vocab = write.model.config.vocab_size
    return (
        f"These cuts leave {int(left.min())} to {int(left.max())} of {vocab:,} tokens; the median of the steps "
        f"is {float(np.median(left)):g}. top-k leaves the same number everywhere; top-p and min-p leave few where the "
        "model is sure and many where it is not."
    )


@answer_from(Write)
def branch(write: Write) -> str:
    """What another token at a step changes."""
    if not write.settings.forced:
        return "Nothing was put there yet: click a token of the list below the text."
    return (
        f"{write.sentence()} Both texts use the same random numbers at the same steps; but each distribution depends "
        "on all tokens before it, so the texts need not meet again."
    )


@answer_from(Look)
def jobs(look: Look) -> str:
    """Which head looks most at each of three places."""
    if np.isnan(look.means).any():
        return TOO_SHORT
    clauses = []
    for place, name in enumerate(PLACES):
        head, weight = head_with_most(look.means[..., place])
        clauses.append(f"{name}: {head}, {weight}")
    return f"The largest mean weight on {'; on '.join(clauses)}."


@answer_from(Look)
def first_time(look: Look) -> str:
    """Which head looks, at the first step, at what stood after the last token's earlier occurrence."""
    *before, last = look.course.prompt
    at = [place + 1 for place, token in enumerate(before) if token == last]
    if not at:
        return "The last token of the prompt stands in it once alone, so there is nothing to look up."
    name, most = head_with_most(look.rows[0][..., at].sum(-1))
    followed = look.course.prompt[at[-1]]
    chance = float(look.course.steps[0].logits.double().softmax(0)[followed])
    return (
        f"{name.capitalize()} gives {most} of its weight to what came after the same token last time. That was "
        f"“{look.prompt[at[-1]]}”; its probability as the next token is {formats.percent(chance)} at temperature 1. A "
        "head that does so is called an induction head: Olsson et al. 2022."
    )


@answer_from(Write)
def without_eval(write: Write) -> str:
    """Both texts of the same prompt, with dropout on, and where they part."""
    at, texts = parts_at(write.model, write.state), texts_in_training_mode(write.model, write.state)
    said = f"With a dropout of {DROPOUT} while it writes, {in_words(write.settings.sampling)}, two runs of one prompt"
    if not at:
        return f"{said} agree in their first {formats.plural(len(texts[0]), 'token')}."
    parts = [write.written(text[max(0, at - 4) : at + 4]) for text in texts]
    first, second = (write.model.tokens_by.join(part).strip() for part in parts)
    return (
        f"{said} differ first at step {at}: “{first}” and “{second}”. Each pass draws other zeros. Call model.eval() "
        "before generate, and the text is one."
    )


def where_topk_ends(model: ModelState, state: GenerateState) -> str:
    """What a program does that hands this k to torch.topk: "an error", or "nothing" unusual."""
    return "an error" if topk_error(model, state) else "a cut"


@answer_from(Write)
def k_above_vocabulary(write: Write) -> str:
    """What torch raises, and how many tokens are left here."""
    k, vocab, error = write.state.top_k, write.model.config.vocab_size, topk_error(write.model, write.state)
    if not error:
        return f"torch.topk with k = {k} takes {k} of {vocab:,} tokens: this k is not above the vocabulary."
    return (
        f"torch.topk with k = {k} and {vocab} logits raises “{error}”. Here the cut takes min(k, vocabulary): all "
        f"{vocab} tokens are left."
    )


@answer_from(Write)
def past_the_context(write: Write) -> str:
    """What a learned table raises there, and what reading on costs this model."""
    context, error = write.model.most_tokens, past_table_error(write.model, write.state)
    table = f"A learned table of {context} positions raises “{error}” at the next one."
    here, past = past_context(write.model, write.settings)
    if not past:
        return f"{table} This text does not come to the end of its context."
    return (
        f"{table} Here positions are {write.model.positional}: they go on without an error, but training never showed "
        "them. The tokens that were written after the context was full have a mean −ln p of "
        f"{past:.2f} read past its end, and of {here:.2f} read as here, in the newer half."
    )


def costs_past_the_end(model: ModelState, state: GenerateState) -> float:
    """The mean of −ln p, read past the end, in nats."""
    return round(past_context(model, settings_of(model, state))[1], 2)


QUESTIONS = [
    Question(
        "The draw", "How was the first token chosen? Step back to it, and look at the draw.", chosen,
        model=LAB, moves=("text",), given=("method", "shows"),
    ),
    Question(
        "Greedy", "Always the likeliest token: does the text run in circles?", repeats,
        model=LAB, controls={"method": "greedy", "steps": 120},
        moves=("text", "weights", "steps"),
        because="a draw is one way to choose, and always taking the likeliest is another.",
    ),
    Question(
        "Temperature", "Drag the temperature from 0.3 to 2. What becomes of the text, and of the bars?", hotter,
        model=LAB, controls={"temperature": 1.5, "top_k": 0},
        moves=("text", "weights", "temperature", "top_k"), given=("method", "shows"),
        because="between the likeliest token and a free draw lies a scale, the temperature.",
    ),
    Question(
        "top-p", "top-p leaves the likeliest tokens that have 90% together. How many are those?", cuts,
        model=LAB, controls={"temperature": 1.0, "top_k": 0, "top_p": 0.9},
        moves=("text", "weights", "temperature"), given=("method", "shows"),
        because="temperature reshapes the odds of all tokens, while top-p cuts the unlikely ones off.",
    ),
    Question(
        "Another way", "At the third step “ whale” was put. How does the text go on, with it and without?", branch,
        model=LAB, controls={"forced": "3.929"},
        moves=("text",), given=("shows",),
        because="settings change the odds, and one token put by hand can change the whole text.",
    ),
    Question(
        "Jobs", "Play it. Which head looks at the token before the last, and which at the first token?", jobs,
        model=LAB, controls={"shows": ATTENTION},
        moves=("text",),
        because="so far one saw what is written, and now where heads look while it is written.",
    ),
    Question(
        "Looked up", "The names come a second time. Which head looks at what followed the last time?", first_time,
        model=REPEATED, controls={"shows": ATTENTION, "method": "greedy", "steps": 12},
        moves=("method", "steps"),
        because="a text in which names return shows whether a head looks them up.",
    ),
    Question(
        "Without eval()", "Greedy, but in training mode, where dropout acts: does one prompt give one text?",
        without_eval,
        Prediction(ask="At which step do two runs differ first? 0: at none of 30.", measured=parts_at),
        model=LAB, controls={"method": "greedy", "steps": MOST},
        moves=("text",), given=("shows",),
        because="all of this was written in evaluation mode, which a first program forgets.",
    ),
    Question(
        "k above V", "These weights know an alphabet. A first program calls torch.topk with k = 50: what happens?",
        k_above_vocabulary,
        Prediction(ask="What does torch.topk give?", measured=where_topk_ends, options=("a cut", "an error")),
        model={"weights": "induction"}, controls={"top_k": 50},
        moves=("top_k",), given=("shows",),
        because="a cut of 50 tokens takes for granted that there are 50.",
    ),
    Question(
        "Past the end", "200 tokens after this prompt are more than its context. What if one reads on past the end?",
        past_the_context,
        Prediction(
            ask="The mean −ln p of the late tokens, read past the end?", measured=costs_past_the_end, unit="nats"
        ),
        model=LONG, controls={"temperature": 1.0, "top_k": 0, "steps": 200},
        given=("shows",),
        because="a text grows, and what a model can read of it ends somewhere.",
    ),
]  # fmt: skip
