"""What lessons measure on the pages of the Generate lens."""

from collections.abc import Callable, Mapping
from itertools import pairwise

import numpy as np
import torch

from tfm_core import TransformerConfig, recording
from tfm_ui.lenses.generate.courses import settings_of
from tfm_ui.lenses.generate.kept.stored import CLOSE, Kept
from tfm_ui.lenses.generate.state import GenerateState
from tfm_ui.lenses.generate.surprise.tokens import Surprise
from tfm_ui.lenses.generate.write import first_program
from tfm_ui.lenses.generate.write.beams import Beams
from tfm_ui.lenses.generate.write.first_program import dropping
from tfm_ui.lenses.generate.write.text import Write
from tfm_ui.live.cache import cached
from tfm_ui.live.passes import transformer
from tfm_ui.state.model_state import ModelState

LEFT = 6  # the number of a step that says how many tokens all cuts left; see `Steps`


@cached()
def _likeliest_with_dropout(config: TransformerConfig, tokens: tuple[int, ...]) -> list[int]:
    """The likeliest next token at each place, where dropout acts on what each sub-layer adds."""
    with torch.no_grad(), recording((), dropping(0)):
        likeliest: list[int] = transformer(config)(torch.tensor([tokens]))[0].argmax(-1).tolist()
    return likeliest


def best_beam(model: ModelState, state: GenerateState) -> float:
    """The log probability, in nats, of the best text of a search with beams; 0 where nothing is written."""
    beams = Beams(model, state)
    return 0.0 if beams.why_nothing else beams.search.texts[0].score


def bits_of_a(model: ModelState, state: GenerateState) -> float:
    """The bits a byte of A, the text in the sidebar; 0 where nothing is rated."""
    panel = Surprise(model, state)
    return 0.0 if panel.why_no_answer else panel.sides[0].bits_per_byte


def bits_of_b(model: ModelState, state: GenerateState) -> float:
    """The bits a byte of B; 0 where nothing is rated, and where there is no B."""
    panel = Surprise(model, state)
    return 0.0 if panel.why_no_answer or len(panel.sides) < 2 else panel.sides[1].bits_per_byte


def context(model: ModelState, state: GenerateState) -> int:
    """How many tokens the model reads at most."""
    return model.most_tokens


def different_pairs(model: ModelState, state: GenerateState) -> int:
    """How many different pairs of neighbours there are among the tokens that are written."""
    return len({*pairwise(step.token for step in Write(model, state).course.steps)})


def earlier_rows_change(model: ModelState, state: GenerateState) -> str:
    """Whether what the cache keeps of earlier tokens changes while the text grows: "yes" or "no"; "" if none grows."""
    kept = Kept(model, state)
    return "" if kept.why_nothing else "no" if kept.difference < CLOSE else "yes"


def fewest_left(model: ModelState, state: GenerateState) -> int:
    """How many tokens the cuts leave at the step where they leave the fewest; 0 where nothing is written."""
    left = Write(model, state).steps.numbers[:, LEFT]
    return int(left.min()) if len(left) else 0


def first_largest(model: ModelState, state: GenerateState) -> float:
    """The largest probability at the first step, at this temperature and before the cuts; 0 if nothing is written."""
    write = Write(model, state)
    if not write.course.steps:
        return 0.0
    return 1.0 if not state.temperature else float(write.draws[0].probabilities.max())


def first_of_two(model: ModelState, state: GenerateState) -> float:
    """What the likeliest token of the first step would have if the two likeliest were left; 0 if nothing is written."""
    write = Write(model, state)
    if not write.course.steps:
        return 0.0
    if not state.temperature:
        return 1.0
    most, next_to_it = np.sort(write.draws[0].probabilities)[:-3:-1]
    return float(most / (most + next_to_it))


def full_at(model: ModelState, state: GenerateState) -> int:
    """The step at which the context was full, from 1; 0 if it was at none."""
    write = Write(model, state)
    at = model.most_tokens + 2 - len(write.course.prompt)  # step k reads the prompt and k - 1 tokens
    asked = len(write.course.steps) if write.answer_has_ended else write.settings.steps
    return at if write.course.steps and at <= asked else 0


def greedy_text(model: ModelState, state: GenerateState) -> float:
    """The log probability, in nats, of as long a text of likeliest tokens; 0 where nothing is written."""
    beams = Beams(model, state)
    return 0.0 if beams.why_nothing else beams.greedy_score


def likeliest_taken(model: ModelState, state: GenerateState) -> int:
    """The number of steps at which the likeliest token was taken."""
    return int((Write(model, state).steps.ranks == 0).sum())


def most_left(model: ModelState, state: GenerateState) -> int:
    """How many tokens the cuts leave at the step where they leave the most; 0 where nothing is written."""
    return int(Write(model, state).steps.numbers[:, LEFT].max(initial=0))


def others_in_training_mode(model: ModelState, state: GenerateState) -> int:
    """The number of steps where another token is the likeliest in training mode, by a draw of a dropout of 0.1.

    What drops is what each sub-layer adds. Of a text that is longer than the context, the first one's steps count.
    """
    course = Write(model, state).course
    steps = [step for step in course.steps if not step.begin]
    if not steps:
        return 0
    tokens = (*course.prompt, *(step.token for step in steps[:-1]))
    drawn = _likeliest_with_dropout(course.config, tokens)[-len(steps) :]
    return sum(int(step.logits.argmax()) != other for step, other in zip(steps, drawn, strict=True))


def parts_in_training_mode(model: ModelState, state: GenerateState) -> int:
    """The first step at which two runs in training mode, with a dropout of 0.1, differ; 0 if they do not in 30."""
    return first_program.parts_at(model, state)


def past_context(model: ModelState, state: GenerateState) -> float:
    """The mean of −ln p of the tokens written after the context was full, read past its end; 0 if there are none."""
    return first_program.past_context(model, settings_of(model, state))[1]


def past_table_error(model: ModelState, state: GenerateState) -> str:
    """What torch raises where a learned table of as many positions as the context is asked for one more."""
    return first_program.past_table_error(model, state)


def passes(model: ModelState, state: GenerateState) -> int:
    """How many passes of the model, one after the other, have written the text; 0 where nothing is written."""
    kept = Kept(model, state)
    return 0 if kept.why_nothing else len(kept.lengths)


def read_with_cache(model: ModelState, state: GenerateState) -> int:
    """How many tokens all passes together read with the cache; 0 where nothing is written."""
    kept = Kept(model, state)
    return 0 if kept.why_nothing else sum(kept.parts.values())


def read_without_cache(model: ModelState, state: GenerateState) -> int:
    """How many tokens all passes together would read without the cache; 0 where nothing is written."""
    kept = Kept(model, state)
    return 0 if kept.why_nothing else sum(kept.lengths)


def share_left(model: ModelState, state: GenerateState) -> float:
    """The share of the probability that the cuts leave at the first step, in percent; 0 where nothing is written."""
    write = Write(model, state)
    if not write.course.steps:
        return 0.0
    first = write.draws[0]
    return 100 * float(first.probabilities[first.final > 0].sum())


def text(model: ModelState, state: GenerateState) -> str:
    """What is written, in a single line."""
    return " ".join(Write(model, state).text.split())


def topk_error(model: ModelState, state: GenerateState) -> str:
    """What torch.topk raises for this top-k and this vocabulary; "" if nothing."""
    return first_program.topk_error(model, state)


def within_context(model: ModelState, state: GenerateState) -> float:
    """The mean of −ln p of the same tokens, read in a full context as here; 0 if there are none."""
    return first_program.past_context(model, settings_of(model, state))[0]


def written(model: ModelState, state: GenerateState) -> int:
    """How many tokens are written."""
    return len(Write(model, state).course.steps)


MEASURES: Mapping[str, Callable[[ModelState, GenerateState], float | str]] = {
    measure.__name__: measure
    for measure in (
        best_beam,
        bits_of_a,
        bits_of_b,
        context,
        different_pairs,
        earlier_rows_change,
        fewest_left,
        first_largest,
        first_of_two,
        full_at,
        greedy_text,
        likeliest_taken,
        most_left,
        others_in_training_mode,
        parts_in_training_mode,
        passes,
        past_context,
        past_table_error,
        read_with_cache,
        read_without_cache,
        share_left,
        text,
        topk_error,
        within_context,
        written,
    )
}
