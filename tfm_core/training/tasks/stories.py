"""Question answering: a question, then a little story; the answer is a span of the story.

Extractive, as Devlin et al. 2018, section 4.2, has it: the network says at which token the answer begins, and at which
it ends. Things are carried about, so the sentence that was told last counts.
"""

import torch
from torch import Tensor

from tfm_core.training.tasks.cells import random_tokens
from tfm_core.training.tasks.task import Examples, Naive, Pattern, Task
from tfm_core.training.tasks.written import compact, text_of

NAMES = ("anna", "ben", "clara", "david", "emma", "felix")
VERBS = ("took", "carried", "brought")
THINGS = ("key", "book", "ball", "cup", "map", "lamp", "coin", "ring")
PLACES = ("garden", "kitchen", "cellar", "attic", "old barn", "red house", "big hall", "small shop")
WHERE, WHO = ("where", "is", "the", "", "now", "?"), ("who", "had", "the", "", "last", "?")  # "" is the thing's place
THING_ASKED = 3  # its place in the question
SENTENCES, IN_STORY = 3, 3  # sentences of a story, and things that it may be about
_WORDS = dict.fromkeys(word for place in PLACES for word in place.split())
VOCABULARY = (*NAMES, *VERBS, *THINGS, *_WORDS, "the", "to", ".", "where", "is", "?", "who", "had", "last", "now")
_ID = {token: 1 + place for place, token in enumerate(VOCABULARY)}
NAME, VERB, ARTICLE, THING, PLACE, LAST_OF_PLACE, DOT = 0, 1, 2, 3, 6, 7, 8  # slots of a sentence
SLOTS = 9  # name verb the thing to the (adjective) place .
ASKED = len(WHO)
LENGTH = ASKED + SENTENCES * SLOTS  # of the longest source


def _ids(*words: str) -> Tensor:
    return torch.tensor([_ID.get(word, 0) for word in words])


def _sample(generator: torch.Generator, count: int, length: int) -> Examples:
    name, verb, place = (
        torch.randint(0, len(kinds), (count, SENTENCES), generator=generator) for kinds in (NAMES, VERBS, PLACES)
    )
    inside = torch.rand(count, len(THINGS), generator=generator).argsort(1)[:, :IN_STORY]
    thing = inside.gather(1, torch.randint(0, IN_STORY, (count, SENTENCES), generator=generator))
    asked = thing.gather(1, torch.randint(0, SENTENCES, (count, 1), generator=generator))
    is_who = random_tokens(generator, count, 1, 2) == 2

    slots = torch.zeros(count, SENTENCES, SLOTS, dtype=torch.int64)
    slots[:] = _ids("", "", "the", "", "to", "the", "", "", ".")
    slots[..., NAME], slots[..., VERB], slots[..., THING] = (
        _ids(*NAMES)[name], _ids(*VERBS)[verb], _ids(*THINGS)[thing]
    )  # fmt: skip
    slots[..., PLACE : PLACE + 2] = torch.stack([_ids(*each.split(), "")[:2] for each in PLACES])[place]
    question = torch.where(is_who, _ids(*WHO), _ids(*WHERE))
    question[:, THING_ASKED] = _ids(*THINGS)[asked[:, 0]]

    source, moved = compact(torch.cat([question, slots.flatten(1)], 1))
    told = (thing == asked) * torch.arange(1, 1 + SENTENCES)
    first_slot = ASKED + told.argmax(1, keepdim=True) * SLOTS  # of the sentence that was told last
    is_long = slots[..., LAST_OF_PLACE].gather(1, told.argmax(1, keepdim=True)) > 0
    begin = torch.where(is_who, first_slot + NAME, first_slot + PLACE)
    end = torch.where(~is_who & is_long, begin + 1, begin)
    return Examples(source, moved.gather(1, torch.cat([begin, end], 1)))


def _read(source: Tensor) -> list[tuple[str, list[str], list[range]]]:
    """The first word of each source's question, its tokens, and the places of each sentence of the story.

    Raises:
        ValueError: for what is no question with a story.
    """
    read = []
    for row in source.tolist():
        tokens = [VOCABULARY[number - 1] for number in text_of(row)]
        asked = tokens.index("?") + 1 if "?" in tokens else 0
        pattern = [word for word in (WHO if tokens[:1] == ["who"] else WHERE) if word]
        question = tokens[:THING_ASKED] + tokens[THING_ASKED + 1 : asked]
        ends = [place + 1 for place, token in enumerate(tokens) if token == "." and place >= asked]
        sentences = [range(*ends_of) for ends_of in zip([asked, *ends], ends, strict=False)]
        is_story = sentences and ends[-1] == len(tokens) and all(_is_sentence(tokens, each) for each in sentences)
        if question != pattern or not is_story:
            raise ValueError(
                "source: expected a question, “where is the key now ?” or “who had the key last ?”, then sentences "
                f"such as “anna took the key to the garden .”, got {' '.join(tokens)[:80]!r}"
            )
        if not any(tokens[THING_ASKED] == tokens[each.start + THING] for each in sentences):
            raise ValueError(f"source: expected a story about the {tokens[THING_ASKED]}, got one without it")
        read.append((tokens[0], tokens, sentences))
    return read


def _is_sentence(tokens: list[str], places: range) -> bool:
    words = tokens[places.start : places.stop]
    return (
        len(words) in (SLOTS - 1, SLOTS)
        and words[NAME] in NAMES
        and words[VERB] in VERBS
        and words[THING] in THINGS
        and (words[ARTICLE], *words[THING + 1 : PLACE], words[-1]) == ("the", "to", "the", ".")
        and " ".join(words[PLACE:-1]) in PLACES
    )


def _span(kind: str, sentence: range) -> list[int]:
    """First and last place of the answer that a sentence gives."""
    return [sentence.start + NAME] * 2 if kind == "who" else [sentence.start + PLACE, sentence.stop - 2]


def answered(source: Tensor) -> Tensor:
    """The places where the right answers begin and end, int64 (batch, 2).

    Raises:
        ValueError: for a source that is no question with a story of its thing.
    """
    rows = []
    for kind, tokens, sentences in _read(source):
        thing = tokens[THING_ASKED]
        rows.append(_span(kind, [each for each in sentences if tokens[each.start + THING] == thing][-1]))
    return torch.tensor(rows)


def told_last(source: Tensor) -> Tensor:
    """Where an answer begins and ends that is taken from the last sentence, whatever it is about, int64 (batch, 2)."""
    return torch.tensor([_span(kind, sentences[-1]) for kind, _, sentences in _read(source)])


def _rows(examples: Examples) -> tuple[Tensor, Tensor]:
    """Which tokens are in the answer, boolean (batch, seq), and the places of the tokens, (seq)."""
    places = torch.arange(examples.source.shape[1])
    begin, end = examples.answers[:, :1], examples.answers[:, 1:]
    return (begin <= places) & (places <= end), places


def _asked_thing(examples: Examples) -> Tensor:
    """The thing in the question, for each token of the answer."""
    inside, places = _rows(examples)
    return inside[:, :, None] & (places == THING_ASKED)[None, None]


def _own_thing(examples: Examples) -> Tensor:
    """The thing of its own sentence, for each token of the answer."""
    inside, places = _rows(examples)
    is_dot = examples.source == _ID["."]
    sentence = is_dot.cumsum(1) - is_dot.long()  # the number of each token's sentence; the question is in the first
    same = (sentence[:, :, None] == sentence[:, None, :]) & (places >= ASKED - 1)
    is_thing = torch.isin(examples.source, _ids(*THINGS))
    return inside[:, :, None] & same & is_thing[:, None, :]


QUESTION_ANSWERING = Task(
    title="Question answering",
    about="Of a question and a story of three sentences, say where in the story the answer begins, and where it ends.",
    vocabulary=VOCABULARY,
    architecture="encoder",
    length=LENGTH,
    sample=_sample,
    solve=answered,
    patterns=(
        Pattern(
            "own sentence",
            "A token of the answer can tell what it is about by the thing of its own sentence.",
            _own_thing,
        ),
        Pattern("the question", "A token of the answer has to know which thing is asked for.", _asked_thing),
    ),
    naive=Naive("told last", "the name or the place of the last sentence, whatever it is about", told_last),
    defaults={"d_model": 32, "num_heads": 4, "num_layers": 2, "steps": 1200},
    stretches=False,
    spans=True,
    accuracy="beginnings and ends",
)
