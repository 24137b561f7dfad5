"""Sentences of three authors: what the file has, and that nothing of the held-out side is known while training."""

from collections import Counter
from itertools import islice

import torch

from tfm_core.training.config import of_task
from tfm_core.training.examples import batches, side
from tfm_core.training.tasks.authors import AUTHORS, ORIGINS, UNKNOWN, WORDS, are_held_out, rows
from tfm_core.training.tasks.task import IGNORED

CONFIG = of_task("authors")


def test_the_file_has_as_many_sentences_of_each_author():
    known = rows()
    assert Counter(author for author, _ in known) == dict.fromkeys(ORIGINS, 1200)
    assert len({" ".join(sentence) for _, sentence in known}) == 3600
    assert {len(sentence) for _, sentence in known} == set(range(6, 29))
    lengths = {author: Counter(len(sentence) for name, sentence in known if name == author) for author in ORIGINS}
    assert len({tuple(sorted(count.items())) for count in lengths.values()}) == 1


def test_the_vocabulary_is_that_of_the_training_side():
    known = rows()
    held_out = are_held_out([sentence for _, sentence in known]).tolist()
    count = Counter(word for (_, sentence), out in zip(known, held_out, strict=True) if not out for word in sentence)
    ranked = sorted(count.items(), key=lambda item: (-item[1], item[0]))
    assert AUTHORS.vocabulary[5:] == tuple(word for word, _ in ranked[:WORDS])
    assert AUTHORS.vocabulary[:5] == (*ORIGINS, "CLS", UNKNOWN)
    unread = {word for (_, sentence), out in zip(known, held_out, strict=True) if out for word in sentence} - set(count)
    assert unread
    assert not unread & set(AUTHORS.vocabulary)


def test_no_held_out_sentence_is_in_two_epochs():
    test = {tuple(row) for row in side(CONFIG, held_out=True).source.tolist()}
    steps = 2 * -(-len(side(CONFIG, held_out=False)) // CONFIG.batch_size)
    trained_on = Counter(tuple(row) for step in islice(batches(CONFIG), steps) for row in step.source.tolist())
    assert not test & set(trained_on)
    assert set(trained_on.values()) == {2}


def test_an_example_is_a_sentence_behind_cls_and_its_author():
    examples, pieces = AUTHORS.examples(), ("PAD", *AUTHORS.vocabulary)
    for number in (0, 1, 2, 3599):
        author, sentence = rows()[number]
        ids = examples.source[number].tolist()
        read = [word if word in AUTHORS.vocabulary else UNKNOWN for word in sentence]
        assert [pieces[i] for i in ids] == ["CLS", *read, *["PAD"] * (28 - len(sentence))]
        assert pieces[examples.answers[number, 0]] == author
        assert (examples.answers[number, 1:] == IGNORED).all()


def test_a_sentence_of_somebody_else_is_held_out():
    stranger = torch.full((1, AUTHORS.length), 7)
    assert AUTHORS.split(stranger).all()
