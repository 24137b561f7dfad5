"""The texts that a link describes: written once, and kept; other settings go on from where the texts part."""

from dataclasses import dataclass, replace

from tfm_core import Beams, Course, Draw, Sampling, Step, beam_search, draw, generate
from tfm_core.language.bpe import START_ID
from tfm_ui.lenses.generate.state import GenerateState, not_a_decoder
from tfm_ui.live.cache import cached, keep_latest, latest
from tfm_ui.live.passes import transformer
from tfm_ui.state.model_state import ModelState

# So many tokens are written in the time of a few pictures. More have a lane of their own, or a class that writes would
# keep all other pictures waiting (benchmarks/writing.py).
QUICK = 20


@dataclass(frozen=True)
class Settings:
    """All that a course depends on beside the model and its prompt.

    Attributes:
        sampling: how tokens are chosen.
        steps: how many at most.
        full: what is done when the context is full, "window" or "stop".
        forced: pairs of the number of a step, from 0, and the token id that is put there.
    """

    sampling: Sampling
    steps: int
    full: str
    forced: tuple[tuple[int, int], ...] = ()

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
    if model.architecture != "decoder":
        return (
            f"A text is written by a decoder, token after token. {not_a_decoder(model)} Choose Lab GPT as weights, or "
            "the architecture “decoder”."
        )
    if not model.tokens_by.pieces:
        return (
            f"By {model.tokenizer}, several words share an id: an id that the model writes stands for no single word. "
            "Choose Lab GPT as weights, or tokens by byte."
        )
    return ""


@cached()
def course_of(model: ModelState, settings: Settings) -> Course:
    """The text that is written after the model's text. Logits that an earlier course has are not computed again."""
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
    """The texts that a beam search follows, as far as the context has room."""
    prompt = prompt_of(model)
    room = max(1, min(steps, model.most_tokens - len(prompt)))
    return beam_search(transformer(model.config), prompt, width=width, steps=room)


def without_last(settings: Settings) -> Settings:
    """The same without the last token that was put there."""
    return replace(settings, forced=settings.forced[:-1])


def draw_of(step: Step, sampling: Sampling) -> Draw:
    """How the token of a step was chosen, or would have been if none had been put there."""
    return draw(step.logits, sampling, step.number)
