"""The marked sentences: their marks are words that are there, pairs are counted, and a second marking agrees."""

from collections import Counter

import pytest

from tfm_core import encode, lab_prompt
from tfm_core.language.marked import (
    OTHER_NUMBER,
    RELATIONS,
    MarkedSentence,
    marked_sentences,
    parse,
    places_of_words,
    read_sentences,
)

WOMEN = {"Mary", "Elizabeth", "Jane", "Anne", "Catherine", "Emma"}
MEN = {"John", "Henry", "Charles", "Thomas", "George", "William", "Edward", "Frank"}
HERS, HIS = {"she", "her"}, {"he", "him", "his"}


def test_there_are_enough_and_distance_alone_gives_none_away() -> None:
    """Sentences are 60 or more, all different; of no relation are two thirds of the pairs at one distance."""
    sentences = marked_sentences()
    assert len(sentences) >= 60
    assert len({each.text for each in sentences}) == len(sentences)
    for relation in RELATIONS:
        distances = Counter(
            looks - target for each in sentences for name, looks, target in each.pairs if name == relation
        )
        assert distances.total() >= 25
        assert distances.most_common(1)[0][1] / distances.total() < 0.6, relation


def test_marks_are_of_their_kind() -> None:
    """Articles are articles, before their noun; pronouns point at names; no pair stands twice."""
    for sentence in marked_sentences():
        assert len(set(sentence.pairs)) == len(sentence.pairs)
        for relation, looks, target in sentence.pairs:
            assert looks != target
            if relation == "article":
                assert sentence.words[target].lower() in ("the", "a", "an")
                assert target < looks
            if relation == "pronoun":
                assert sentence.words[looks].lower() in HERS | HIS
                assert sentence.words[target] in WOMEN | MEN


def test_a_rule_agrees_on_pronouns() -> None:
    """The last man or woman named before the pronoun, else the next one, is whom it means."""
    agree = count = 0
    for sentence in marked_sentences():
        for relation, looks, target in sentence.pairs:
            if relation != "pronoun":
                continue
            people = WOMEN if sentence.words[looks].lower() in HERS else MEN
            before = [at for at, word in enumerate(sentence.words[:looks]) if word in people]
            after = [at for at, word in enumerate(sentence.words) if at > looks and word in people]
            agree += (before[-1:] or after[:1]) == [target]
            count += 1
    assert (agree, count) == (29, 29)


def test_a_broken_mark_is_refused() -> None:
    """A word that is not there, a relation that there is not, and a mark without an arrow."""
    (read,) = parse("# a remark\nThe dog saw the cat.\nverb: saw > dog\narticle: cat > the\n")
    assert read == MarkedSentence("The dog saw the cat.", (("verb", 2, 1), ("article", 4, 3)))
    for broken, why in (
        ("verb: sees > dog", "expected a word"),
        ("noun: dog > The", "begins with one of verb"),
        ("verb: saw dog", "expected `word > word`"),
        ("article: cat > the#2", "expected a word"),
    ):
        with pytest.raises(ValueError, match=why):
            parse(f"The dog saw the cat.\n{broken}\n")


def test_words_are_found_in_pieces() -> None:
    """Pieces of BERT's kind and of bytes; a text whose letters are others is refused."""
    pieces = ("[CLS]", "the", "cab", "##inet", "fell", ".", "[SEP]")
    assert places_of_words(["The", "cabinet", "fell."], pieces, 1, 1) == ([(1,), (2, 3), (4,)], (5,))
    with pytest.raises(ValueError, match="expected the letters"):
        places_of_words(["The", "dog"], ("The", " cat"))
    with pytest.raises(ValueError, match="expected tokens for all"):
        places_of_words(["The", "dog"], ("The",))


def test_lab_gpt_reads_all_of_them() -> None:
    """Each word's pieces hold its letters, and a choice of forms is one token against another."""
    read = read_sentences(lab_prompt, first_id=2)
    assert len(read.sentences) == len(marked_sentences())
    for sentence, tokens in zip(marked_sentences(), read.sentences, strict=True):
        pieces = lab_prompt(sentence.text).pieces
        for (_, looks, target), (_, queries, keys) in zip(sentence.pairs, tokens.pairs, strict=True):
            for word, places in ((looks, queries), (target, keys)):
                assert sentence.words[word] in "".join(pieces[at] for at in places)
        for place, right, wrong in tokens.choices:
            assert tokens.ids[place] == right != wrong
            assert OTHER_NUMBER[pieces[place].strip()]


def test_choices_of_whole_words() -> None:
    """Read by words, each verb whose form tells its subject's number is a choice."""
    read = read_sentences(encode, first_id=4)
    verbs = [each.text.split()[looks] for each in marked_sentences() for name, looks, _ in each.pairs if name == "verb"]
    assert sum(len(each.choices) for each in read.sentences) == sum(verb in OTHER_NUMBER for verb in verbs)
