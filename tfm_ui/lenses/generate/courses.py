"""The texts that a link describes, and how each of their tokens came about.

A text is written once, and kept; other settings go on from where the texts part.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tfm_core import Beams, Course, Draw, Sampling, Step, beam_search, draw, generate
from tfm_core.language.bpe import START_ID
from tfm_ui.lenses.generate.state import GenerateState
from tfm_ui.live.cache import cached, keep_latest, latest
from tfm_ui.live.passes import transformer
from tfm_ui.state.model_state import ModelState

# So many tokens are written in the time of a few pictures. More have a lane of their own, or a class that writes would
# keep all other pictures waiting (benchmarks/writing.py).
QUICK = 20
ROWS = 12  # candidates of a step; the token itself is the last of them if it is less likely
OF_STEP = 9  # numbers of a step before its candidates, see `Steps`
OF_ROW = 5


@dataclass(frozen=True)
class Settings:
    """All that a course depends on beside the model and its prompt."""

    sampling: Sampling
    """How tokens are chosen."""

    steps: int
    """How many at most."""

    full: str
    """What is done when the context is full, "window" or "stop"."""

    forced: tuple[tuple[int, int], ...] = ()
    """Pairs of the number of a step, from 0, and the token id that is put there."""

    @property
    def is_heavy(self) -> bool:
        """Whether writing takes long, for the cache."""
        return self.steps > QUICK


def settings_of(model: ModelState, state: GenerateState) -> Settings:
    """What the link asks for; a token that the vocabulary does not have is not put anywhere."""
    vocab = model.config.vocab_size
    forced = tuple((step, token) for step, token in state.put.items() if token < vocab)
    return Settings(state.sampling, state.steps, state.full, forced)


def prompt_of(model: ModelState) -> tuple[int, ...]:
    """The token ids that are read first, without padding; a text without tokens begins with the start token."""
    tokens = model.source_tokens
    return tokens.ids[: len(tokens.pieces)] or (START_ID,)


def why_not_write(model: ModelState) -> str:
    """Why this model writes nothing, in a sentence; "" if it does."""
    return _why_not(
        model,
        decoder="A text is written by a decoder, token after token.",
        shared=": an id that the model writes stands for no single word.",
    )


def why_not_score(model: ModelState) -> str:
    """Why this model gives the tokens of a text no probabilities, in a sentence; "" if it does."""
    return _why_not(
        model,
        decoder="Each token is rated by a decoder from those before it.",
        shared=", so its probability is no single word’s.",
    )


def _why_not(model: ModelState, *, decoder: str, shared: str) -> str:
    """Why this model cannot tell which token comes next: why a decoder is needed, or what words that share an id do."""
    if model.architecture == "decoder":
        if model.tokens_by.pieces:
            return ""
        return f"By {model.tokenizer}, several words share an id{shared} Choose Lab GPT as weights, or tokens by byte."
    if model.is_encoder_decoder:
        what = "This model is an encoder-decoder, which reads a second text."
    elif model.looks_back_only:
        what = "This model looks back only, as a decoder does, but is set up as the architecture “encoder”."
    else:
        what = "This model is an encoder, whose tokens see those after them, too."
    return f"{decoder} {what} Choose Lab GPT as weights, or the architecture “decoder”."


@cached()
def course_of(model: ModelState, settings: Settings) -> Course:
    """The text that is written after the model's text; of a model that writes nothing, one without tokens.

    A model that writes always writes a token, as the prompt is no longer than the context. Logits that an earlier
    course has are not computed again.
    """
    if why_not_write(model):
        return Course(model.config, (), (), model.most_tokens, {})
    prompt, context = prompt_of(model), model.most_tokens
    key = model.config, prompt, context
    generation = generate(
        transformer(model.config),
        prompt,
        settings.sampling,
        steps=settings.steps,
        forced=dict(settings.forced),
        context=context,
        when_full=settings.full,
        earlier=latest(key),
    )
    for _ in generation:
        pass
    course = generation.course()
    keep_latest(key, course)
    return course


@cached()
def beams_of(model: ModelState, width: int, steps: int) -> Beams:
    """The texts that a beam search follows, as far as the context has room; none of a model that writes nothing."""
    if why_not_write(model):
        return Beams((), (), ())
    prompt = prompt_of(model)
    room = max(1, min(steps, model.most_tokens - len(prompt)))
    return beam_search(transformer(model.config), prompt, width=width, steps=room)


@dataclass(frozen=True, eq=False)
class Steps:
    """How the token of each step was chosen; where one was put, how it would have been."""

    numbers: NDArray[np.float64]
    """A row per step: the random number, where the token begins and ends on the cumulative bar, its rank from 0; how
    many tokens top-k, top-p and min-p left; its probability before and after the cuts; then of each candidate its id,
    logit, probability, final probability, and which filter cut it (0: none). Candidates that there are not have the id
    -1."""

    totals: NDArray[np.float64]
    """The sum of the final probabilities of all tokens at each step."""

    @property
    def ranks(self) -> NDArray[np.float64]:
        """The rank of each token among all, from 0."""
        return self.numbers[:, 3]

    @property
    def shares(self) -> NDArray[np.float64]:
        """The probability of each token before the cuts."""
        return self.numbers[:, 7]

    @property
    def finals(self) -> NDArray[np.float64]:
        """The probability of each token after the cuts."""
        return self.numbers[:, 8]

    def candidates(self, step: int) -> NDArray[np.float64]:
        """A row per candidate of a step: id, logit, probability, final probability, and which filter cut it."""
        rows = self.numbers[step, OF_STEP:].reshape(ROWS, OF_ROW)
        return rows[rows[:, 0] >= 0]


def draw_of(step: Step, sampling: Sampling) -> Draw:
    """How the token of a step was chosen, or would have been if none had been put there."""
    return draw(step.logits, sampling, step.number)


@cached()
def steps_of(model: ModelState, settings: Settings) -> Steps:
    """How the token of each step was chosen."""
    rows, totals = [], []
    for step in course_of(model, settings).steps:
        drawn = draw_of(step, settings.sampling)
        rows.append(_of_step(drawn, step.token))
        totals.append(float(drawn.final.sum()))
    return Steps(np.array(rows).reshape(len(rows), OF_STEP + ROWS * OF_ROW), np.array(totals))


def _of_step(drawn: Draw, token: int) -> NDArray[np.float64]:
    order = drawn.order.numpy()
    rank = int((order == token).nonzero()[0][0])
    end = float(drawn.cumulative[rank]) if rank < len(drawn.cumulative) else 1.0
    begin = float(drawn.cumulative[rank - 1]) if 0 < rank <= len(drawn.cumulative) else float(rank > 0)
    left = drawn.left.top_k, drawn.left.top_p, drawn.left.min_p
    ranks = np.arange(min(ROWS, len(order)))
    if rank not in ranks:
        ranks[-1] = rank
    ids = order[ranks]
    candidates = np.zeros((ROWS, OF_ROW))
    candidates[:, 0] = -1
    candidates[: len(ids), 0] = ids
    for column, values in enumerate((drawn.logits, drawn.probabilities, drawn.final), 1):
        candidates[: len(ids), column] = values.numpy()[ids]
    is_cut = ranks >= np.array(left)[:, None]  # (filter, candidate)
    candidates[: len(ids), 4] = np.where(is_cut.any(0), is_cut.argmax(0) + 1, 0)
    about = [drawn.number, begin, end, rank, *left, float(drawn.probabilities[token]), float(drawn.final[token])]
    return np.concatenate([about, candidates.ravel()])
