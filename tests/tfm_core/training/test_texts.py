"""Translation, questions on stories and summaries: all their examples beside rules that were written down again."""

import pytest
import torch
from hypothesis import given

from tests.tfm_core.training.drawn import COUNTS, SEEDS, cells_of, sampled, words
from tests.tfm_core.training.texts import answer_of, german, german_day, german_number, summary_of
from tfm_core.training.config import of_task
from tfm_core.training.examples import held_out
from tfm_core.training.scores import right
from tfm_core.training.tasks.table import TASKS
from tfm_core.training.tasks.task import IGNORED

NEW = ("translation", "question-answering", "summary")
WRITTEN = ("translation", "summary")


def texts(name, examples) -> list[tuple[list[str], list[str]]]:
    """Source and answer of each example in words, without padding."""
    rows = zip(examples.source.tolist(), examples.answers.tolist(), strict=True)
    return [
        (words(name, [number for number in source if number]), [word for word in words(name, answers) if word])
        for source, answers in rows
    ]


@pytest.mark.parametrize(
    ("value", "word"),
    [
        (1, "eins"), (12, "zwölf"), (16, "sechzehn"), (17, "siebzehn"), (21, "einundzwanzig"), (30, "dreißig"),
        (67, "siebenundsechzig"), (76, "sechsundsiebzig"), (100, "einhundert"), (101, "einhunderteins"),
        (111, "einhundertelf"), (316, "dreihundertsechzehn"), (999, "neunhundertneunundneunzig"),
    ],
)  # fmt: skip
def test_the_rule_of_this_test_is_german(value, word):
    """These are written as every grammar of German has them."""
    assert german_number(value) == word


def test_so_are_its_days():
    assert [german_day(day) for day in (1, 2, 3, 7, 8, 12, 16, 17, 19, 20, 21, 30, 31)] == [
        "erste", "zweite", "dritte", "siebte", "achte", "zwölfte", "sechzehnte", "siebzehnte", "neunzehnte",
        "zwanzigste", "einundzwanzigste", "dreißigste", "einunddreißigste",
    ]  # fmt: skip


def test_every_translation_is_that_of_another_rule():
    examples = TASKS["translation"].examples()
    every = texts("translation", examples)
    assert len({tuple(english) for english, _ in every}) == len(every) == 999 + 4 * 366
    for english, tokens in every:
        assert tokens[-1] == "END"
        joined = german(english)
        assert "".join(tokens[:-1]) == joined.replace(" ", "")
        assert len(joined.split()) in (1, 3)  # a number is one word, a date is three
    said = {" ".join(english): " ".join(tokens) for english, tokens in every}
    assert said["thirty four"] == "vier und dreißig END"
    assert said["the twenty first of march"] == said["march the twenty first"] == "der ein und zwanzigste März END"
    assert said["on the third of may"] == "am dritten Mai END"


def test_numbers_and_days_are_all_there():
    every = [english for english, _ in texts("translation", TASKS["translation"].examples())]
    numbers = [words for words in every if "the" not in words]
    assert len(numbers) == 999
    assert {german(words) for words in numbers} == {german_number(value) for value in range(1, 1000)}
    dates = {german(words) for words in every if words[:1] == ["the"]}
    assert len(dates) == 366
    assert "der neunundzwanzigste Februar" in dates
    assert "der dreißigste Februar" not in dates


def test_a_german_token_looks_at_the_english_word_that_it_comes_from():
    examples = TASKS["translation"].examples()
    pairs = {}
    cells = cells_of("translation", 0, examples)
    for (english, tokens), looks in zip(texts("translation", examples), cells, strict=True):
        for place, token in enumerate(tokens):
            pairs.setdefault(token, set()).update(english[key] for query, key in looks if query == place)
        assert {query for query, _ in looks} == {
            place for place, token in enumerate(tokens) if token not in ("und", "END")
        }
    assert pairs["und"] == pairs["END"] == set()
    assert pairs["am"] == {"on", "the"}
    assert pairs["der"] == {"the"}
    assert pairs["drei"] == {"three", "third"}  # third: of "der drei und zwanzigste"
    assert pairs["ein"] == {"one", "first"}
    assert pairs["eins"] == {"one"}
    assert pairs["zwanzigsten"] == {"twenty", "twentieth"}
    assert pairs["März"] == {"march"}
    assert pairs["hundert"] == {"hundred"}


def test_cross_attention_of_a_translation_is_no_diagonal():
    """Most sentences turn back somewhere, so that no head that reads in order does well."""
    cells = cells_of("translation", 0, TASKS["translation"].examples())
    firsts = [
        [min(key for query, key in looks if query == row) for row in sorted({q for q, _ in looks})] for looks in cells
    ]
    assert sum(order != sorted(order) for order in firsts) / len(firsts) > 0.6


@given(SEEDS, COUNTS)
def test_the_answer_to_a_question_is_in_the_last_sentence_about_its_thing(seed, count):
    examples = sampled("question-answering", seed, count)
    for (source, _), answers in zip(_sources("question-answering", examples), examples.answers.tolist(), strict=True):
        assert tuple(answers) == answer_of(source)


def _sources(name, examples):
    return [(words(name, [number for number in row if number]), row) for row in examples.source.tolist()]


@given(SEEDS, COUNTS)
def test_where_a_reader_should_look_is_the_thing_of_the_same_sentence_and_of_the_question(seed, count):
    examples = sampled("question-answering", seed, count)
    sentence, asked = (cells_of("question-answering", number, examples) for number in (0, 1))
    for place, (source, _) in enumerate(_sources("question-answering", examples)):
        begin, end = answer_of(source)
        first = max([number + 1 for number in range(begin) if source[number] in (".", "?")])
        thing = first + 3  # name verb the thing
        assert source[thing] == source[3]
        assert sentence[place] == {(query, thing) for query in range(begin, end + 1)}
        assert asked[place] == {(query, 3) for query in range(begin, end + 1)}


@given(SEEDS, COUNTS)
def test_a_summary_is_the_marked_sentence(seed, count):
    examples = sampled("summary", seed, count)
    cells = cells_of("summary", 0, examples)
    for (source, answers), looks in zip(texts("summary", examples), cells, strict=True):
        assert answers == summary_of(source)
        assert source.count("note") == 1
        assert source.count(".") == 3
        begin = source.index("note") + 1
        assert looks == {(place, begin + place) for place in range(len(answers))}


@pytest.mark.parametrize("name", WRITTEN)
@given(seed=SEEDS, count=COUNTS)
def test_a_decoder_reads_the_right_tokens_one_place_later(name, seed, count):
    examples = sampled(name, seed, count)
    for target, answers in zip(examples.target.tolist(), examples.answers.tolist(), strict=True):
        asked = [word for word in words(name, answers) if word]
        read = [number for number in target if number]
        assert words(name, read)[: len(asked)] == ["START", *asked[:-1]]
        assert read == target[: len(read)]  # padding stands at the end alone


@pytest.mark.parametrize("name", NEW)
@given(seed=SEEDS, count=COUNTS)
def test_what_is_typed_is_solved_as_examples_are(name, seed, count):
    examples, task = sampled(name, seed, count), TASKS[name]
    assert torch.equal(task.solve(examples.source), examples.answers)
    for row, answers in zip(examples.source, examples.answers, strict=True):
        solved = task.solve(row[row > 0][None])[0]  # a typed source has no padding
        assert torch.equal(solved[solved != IGNORED], answers[answers != IGNORED])


@pytest.mark.parametrize(
    ("name", "typed", "problem"),
    [
        ("translation", "one thirty", "expected a number from one to nine hundred and ninety nine or a date"),
        ("translation", "the first march", "got 'the first march'"),
        ("question-answering", "anna took the key to the garden .", "expected a question"),
        ("question-answering", "where is the key now ? anna took the key", "expected a question"),
        ("question-answering", "where is the key now ? anna took the cup to the garden .", "a story about the key"),
        ("question-answering", "where is the key now ?", "expected a question"),
        ("summary", "anna lost the key .", "one of them after “note”"),
        ("summary", "note anna lost the key . note ben saw the map .", "one of them after “note”"),
        ("summary", "note anna lost the key", "sentences that end in “.”"),
        ("summary", "anna note lost the key .", "one of them after “note”"),
    ],
)
def test_a_source_without_an_answer_is_refused_in_words(name, typed, problem):
    task = TASKS[name]
    with pytest.raises(ValueError, match="source: expected") as refused:
        task.solve(task.ids(*typed.split())[None])
    assert problem in str(refused.value)


@pytest.mark.parametrize(("name", "most"), [("translation", 0.2), ("question-answering", 0.65), ("summary", 0.4)])
def test_a_way_without_a_network_does_something_and_not_all(name, most):
    task, examples = TASKS[name], held_out(of_task(name), 500)
    said = task.naive.answer(examples.source)
    assert said.shape == examples.answers.shape
    assert 0.1 < right(said, examples.answers).all(1).float().mean() < most


def test_what_the_ways_without_a_network_say():
    def said(name, typed):
        task = TASKS[name]
        answers = task.naive.answer(task.ids(*typed.split())[None])[0]
        return [word for word in words(name, answers.tolist()) if word]

    assert said("translation", "six hundred and forty two") == ["sechs", "hundert", "vierzig", "zwei", "END"]
    assert said("summary", "anna lost the key . note ben saw the map .") == ["anna", "lost", "the", "key", "."]
    task = TASKS["question-answering"]
    story = "where is the key now ? anna took the key to the attic . ben took the cup to the old barn ."
    assert task.naive.answer(task.ids(*story.split())[None]).tolist() == [[20, 21]]
    assert task.solve(task.ids(*story.split())[None]).tolist() == [[12, 12]]
