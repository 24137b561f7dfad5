"""The texts that a link describes.

A text is written once, and kept; other settings go on from where the texts part.
"""

from dataclasses import dataclass, replace

from tfm_core import Beams, Course, Sampling, TransformerConfig, beam_search, generate
from tfm_core.generation.beam import Written
from tfm_core.generation.chat import Chat
from tfm_ui.lenses.generate.state import GenerateState, bytes_of_a_token, is_large
from tfm_ui.live.cache import grown, keep_latest, latest
from tfm_ui.live.passes import transformer
from tfm_ui.live.writing import prompt_of as prompt_of
from tfm_ui.live.writing import why_not_score as why_not_score
from tfm_ui.live.writing import why_not_write as why_not_write
from tfm_ui.state.model_state import ModelState

# So many tokens are written in the time of a few pictures. More have a lane of their own, or a class that writes would
# keep all other pictures waiting (benchmarks/writing.py).
QUICK = 20
# What is written while a slider is dragged has a bound, by a rule, so that it is the same for a link on each machine: a
# token takes about as long as to read all weights once, but no less than to read OF_A_TOKEN. These are 62 tokens of Lab
# GPT, which take 30 ms; of a longer text picture and words come when the slider rests.
IN_A_TICK, OF_A_TOKEN = 640_000_000, 4_000_000  # bytes
OF_A_BEAM_STEP = 3  # times as long as to write a token, of a few texts side by side
Prompt = tuple[TransformerConfig, tuple[int, ...], int]  # the model, what it reads first, and the longest context


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

    chat: Chat | None = None
    """The template in which the text stands, and with whose last token the answer ends."""

    @property
    def is_heavy(self) -> bool:
        """Whether writing takes long, for the cache."""
        return self.steps > QUICK


def settings_of(model: ModelState, state: GenerateState) -> Settings:
    """What the link asks for; a token that the vocabulary does not have is not put anywhere."""
    vocab = model.config.vocab_size
    forced = tuple((step, token) for step, token in state.put(model).items() if token < vocab)
    return Settings(state.sampling, state.count(model), state.full, forced, state.chat_of(model))


def in_a_tick(config: TransformerConfig, tokens: int) -> bool:
    """Whether a model of this configuration writes so many tokens while a slider is dragged."""
    return not is_large(config) and tokens * (bytes_of_a_token(config) + OF_A_TOKEN) <= IN_A_TICK


def text_of(model: ModelState, settings: Settings) -> tuple[Prompt, Settings]:
    """What a text is, however many of its tokens are asked for: what it begins with, and how it goes on."""
    return (model.config, prompt_of(model, settings.chat), model.most_tokens), replace(settings, steps=0)


def course_of(model: ModelState, settings: Settings) -> Course:
    """The text that is written after the model's text; of a model that writes nothing, one without tokens.

    A model that writes always writes a token, as the prompt is no longer than the context. A text that has been written
    is written on, and of a shorter one the longer one's beginning is taken; where it is chosen in another way, it goes
    on from where the two part. So a slider that is drawn back and forth writes each token once.
    """
    if why_not_write(model):
        return Course(model.config, (), (), model.most_tokens, {})
    of_text = begin, _ = text_of(model, settings)
    _, prompt, context = begin
    room = context + 1 - len(prompt) if settings.full == "stop" else settings.steps
    count = min(settings.steps, room)
    end_id = model.tokens_by.id_of(settings.chat.end) if settings.chat and settings.chat.end else None

    def write_on(written: Course | None) -> Course:
        generation = generate(
            transformer(model.config),
            prompt,
            settings.sampling,
            steps=count,
            forced=dict(settings.forced),
            end_id=end_id,
            context=context,
            when_full=settings.full,
            earlier=written or latest((begin, latest(begin))),
        )
        for _ in generation:
            pass
        return generation.course()

    def is_long(written: Course | None) -> bool:
        return model.is_heavy or count - (len(written.steps) if written else 0) > QUICK

    def is_enough(written: Course) -> bool:
        has_ended = end_id is not None and bool(written.steps) and written.steps[-1].token == end_id
        return has_ended or len(written.steps) >= count

    course = grown(of_text, write_on, is_enough=is_enough, heavy=is_long)
    keep_latest(*of_text)  # of all texts after a prompt, the one that another way of choosing goes on from
    return replace(course, steps=course.steps[:count])


def beams_of(model: ModelState, width: int, steps: int, chat: Chat | None = None) -> Beams:
    """The texts that a beam search follows, as far as the context has room; none of a model that writes nothing.

    Of fewer steps than there have been, the search is the beginning of the longer one.
    """
    if why_not_write(model):
        return Beams((), (), ())
    prompt = prompt_of(model, chat)
    room = max(1, min(steps, model.most_tokens - len(prompt)))
    search = grown(
        ("beams", model.config, prompt, width),
        lambda _: beam_search(transformer(model.config), prompt, width=width, steps=room),
        is_enough=lambda known: len(known.steps) >= room,
        heavy=lambda _: model.is_heavy or room > QUICK,
    )
    return _until(search, room)


def _until(search: Beams, count: int) -> Beams:
    """The search as it was after so many steps; no text of it has ended."""
    last = search.steps[count - 1]
    texts = [search.tokens_of(count - 1, number) for number in range(len(last.beams))]
    written = [Written(text, beam.score, beam.score / count) for text, beam in zip(texts, last.beams, strict=True)]
    return Beams(search.prompt, search.steps[:count], tuple(sorted(written, key=lambda text: -text.rating)))
