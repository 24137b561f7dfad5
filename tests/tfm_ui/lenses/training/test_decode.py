"""The view "decode" beside decoding by hand: the same tokens, probabilities and looks at the source."""

import numpy as np
import pytest
import torch

from tests.tfm_ui.lenses.training.asking import MODEL, answer, measured
from tfm_core import Transformer, run_store
from tfm_core.training.config import of_task
from tfm_core.training.decoding import decode_greedily
from tfm_core.training.networks import network
from tfm_core.training.tasks.task import IGNORED
from tfm_ui.lenses.training.decode.beside import DecodeBeside
from tfm_ui.lenses.training.decode.held_out import DecodeExposure, DecodeMistakes
from tfm_ui.lenses.training.decode.questions import order_of_words
from tfm_ui.lenses.training.decode.source import NO_DECODER, start_of
from tfm_ui.lenses.training.decode.spans import DecodeSpan
from tfm_ui.lenses.training.decode.written import Decode, DecodeNext
from tfm_ui.lenses.training.panels import NOT_YET
from tfm_ui.lenses.training.state import TrainingState


def trained(task: str) -> Transformer:
    config = of_task(task)
    model = network(config)
    model.load_state_dict(dict(run_store().find(config).weights))
    return model.eval()


@pytest.mark.parametrize("task", ["reverse-decoder", "sort-decoder"])
def test_step_by_step_is_one_pass_over_what_was_written(task):
    model, config = trained(task), of_task(task)
    source = torch.tensor([[3, 1, 4, 1, 5, 9, 2, 6, 5, 3]])
    decoded = decode_greedily(model, source, start=start_of(config), steps=10)
    assert decoded.read[0] == start_of(config)
    assert torch.equal(decoded.read[1:], decoded.written[:-1])
    with torch.no_grad():
        logits = model(source, decoded.read[None])
    torch.testing.assert_close(decoded.probabilities, logits[0].softmax(-1))
    assert torch.equal(logits[0].argmax(-1), decoded.written)
    for weights in decoded.cross.values():
        torch.testing.assert_close(weights.sum(-1), torch.ones(weights.shape[:2]))


def test_it_wants_an_encoder_decoder_and_a_step():
    with pytest.raises(ValueError, match="expected an encoder-decoder"):
        decode_greedily(network(of_task("reverse")), torch.tensor([[1]]), start=1, steps=1)
    with pytest.raises(ValueError, match="at least 1 step"):
        decode_greedily(trained("reverse-decoder"), torch.tensor([[1]]), start=1, steps=0)


def test_reverse_is_an_anti_diagonal_and_sort_a_permutation():
    reverse = Decode(MODEL, TrainingState(source="3 1 4 1 5 9 2 6 5 0"))
    assert reverse.names(reverse.decoded.written) == list("0562951413")
    (weights,) = reverse.heads.values()
    np.testing.assert_array_equal(weights.argmax(-1), np.arange(9, -1, -1))
    assert reverse.best == ("layer 1, head 1", 10)
    sort = Decode(MODEL, TrainingState(pair="sort-decoder", source="24 12 7 11 3 17 23 2 15 29"))
    assert sort.names(sort.decoded.written) == "2 3 7 11 12 15 17 23 24 29".split()
    _, hits = sort.best
    assert hits >= 9


@pytest.mark.parametrize(
    ("typed", "sentence"),
    [
        ("3 x 4", "“x” is not among the tokens 0 to 9"),
        ("5", "1 token, but 2 to 10"),
        ("1 " * 11, "11 tokens, but 2 to 10"),
    ],
)
def test_a_source_that_cannot_be_read_is_a_sentence_and_an_example_is_read(typed, sentence):
    decode = Decode(MODEL, TrainingState(source=typed))
    assert sentence in decode.problem
    assert decode.source == Decode(MODEL, TrainingState()).source
    assert Decode(MODEL, TrainingState(source="START 3 4")).problem


def test_pictures_show_what_is_written_and_nothing_later():
    state = TrainingState(source="3 1 4 1 5 9", written=2)
    header, numbers = Decode.content(MODEL, state)
    maps = numbers.reshape(1, 6, 6)
    assert np.isposinf(maps[0, 3:]).all()
    assert np.isfinite(maps[0, :3]).all()
    assert header["rows"]["names"][3:] == ["·"] * 3
    following = DecodeNext(MODEL, state)
    names, shares = following.likeliest
    assert shares == sorted(shares, reverse=True)
    assert DecodeNext.content(MODEL, state)[0]["about"] == following.sentence()
    table = following.table()
    assert table["probability"].sum() == pytest.approx(1, abs=1e-5)
    assert table.index[0] == names[0]


def test_questions_are_true_of_trained_and_of_random_weights():
    assert "10 of 10 tokens are right" in answer("Reverse, written")
    assert "anti-diagonal" in answer("Reverse, written")
    assert "anti-diagonal" not in answer("Sort, written")
    untrained = answer("Reverse, written", seed=4711)
    assert "not trained to their end" in untrained
    assert "10 of 10 tokens" not in untrained
    assert "the least sure" in answer("The same number twice")
    assert measured("Sort, written") >= 9


def test_when_a_run_goes_on_its_pictures_are_asked_for_again():
    """The link stays the same while the weights change: the browser asks again where a panel has another key."""
    trained, untrained = TrainingState(), TrainingState(seed=77)
    for panel in (Decode, DecodeNext):
        assert panel(MODEL, trained).key != panel(MODEL, untrained).key
        assert panel(MODEL, trained).key == panel(MODEL, TrainingState(written=3)).key


TEXTS = {
    "translation": "three hundred and forty two",
    "summary": "anna lost the key . note ben saw the red map .",
    "question-answering": "where is the key now ? anna took the key to the attic . ben took the cup to the old barn .",
}


@pytest.mark.parametrize(("task", "typed"), TEXTS.items())
def test_texts_are_read_as_they_are_typed(task, typed):
    state = TrainingState(view="decode", pair=task, source=typed)
    assert Decode(MODEL, state).problem == ""
    assert Decode(MODEL, state).names(Decode(MODEL, state).source) == typed.split()


@pytest.mark.parametrize(
    ("task", "typed", "sentence"),
    [
        ("translation", "one thirty", "Expected a number from one to nine hundred and ninety nine"),
        ("translation", "two thousand", "“thousand” is not among the"),
        ("translation", "vier", "Expected a number from one"),
        ("translation", "START", "“START” is not among the"),
        ("translation", "one " * 7, "7 tokens, but 1 to 6 can be read"),
        ("summary", "anna lost the key .", "one of them after “note”"),
        ("question-answering", "where is the key now ?", "Expected a question"),
    ],
)
def test_texts_without_an_answer_are_refused_in_a_sentence(task, typed, sentence):
    decode = Decode(MODEL, TrainingState(view="decode", pair=task, source=typed))
    assert sentence in decode.problem
    assert decode.problem.endswith("an example that was held out is read.")
    assert decode.source == Decode(MODEL, TrainingState(pair=task)).source


def test_capitals_and_hyphens_are_read():
    decode = Decode(MODEL, TrainingState(pair="translation", source="On the Twenty-first of March"))
    assert decode.problem == ""
    assert decode.names(decode.source) == "on the twenty first of march".split()
    assert decode.names(decode.answers) == "am ein und zwanzigsten März END".split()


def test_a_translation_turns_back_and_a_head_follows():
    state = TrainingState(view="decode", pair="translation", source="three hundred and forty two")
    decode = Decode(MODEL, state)
    assert decode.names(decode.decoded.written) == "drei hundert zwei und vierzig END".split()
    assert decode.right == 6
    assert decode.looking == [0, 1, 2, 4]  # "und" and END come from no word
    assert "“vierzig” comes from source token 4, before that of “zwei”, 5" in order_of_words(MODEL, state)
    assert "The order of the source stays." in order_of_words(
        MODEL, TrainingState(pair="translation", source="two hundred")
    )


def test_where_an_answer_begins_and_ends_is_the_networks_own_pass():
    state = TrainingState(pair="question-answering", source=TEXTS["question-answering"])
    span, config = DecodeSpan(MODEL, state), of_task("question-answering")
    model = network(config).eval()
    model.load_state_dict(dict(run_store().find(config).weights))
    with torch.no_grad():
        expected = model(torch.tensor([span.source]))[0].softmax(-1)
    torch.testing.assert_close(span.ends, expected)
    assert span.said == (12, 12)
    assert "so the answer is “attic”. That is right." in span.sentence()
    assert not Decode(MODEL, state).is_shown
    assert Decode.content(MODEL, state)[0]["about"] == NO_DECODER
    assert not DecodeExposure(MODEL, state).is_shown


@pytest.mark.parametrize("task", ["sort-decoder", "translation", "summary"])
def test_both_ways_of_reading_are_the_models_own(task):
    """Every held-out example alone: what it says after the right tokens, and what it writes."""
    panel = DecodeExposure(MODEL, TrainingState(pair=task))
    model, start = trained(task), start_of(of_task(task))
    told = panel.exposure
    for row in range(0, len(panel.examples), 100):
        example = panel.examples[row : row + 1]
        count = int((example.answers != IGNORED).sum())
        with torch.no_grad():
            forced = model(example.source, example.target)[0].argmax(-1)
        alone = decode_greedily(model, example.source, start=start, steps=count).written
        assert told.forced[row, :count].equal(forced[:count])
        assert told.alone[row, :count].equal(alone)
    assert f"of {len(panel.examples)} held-out" in DecodeMistakes(MODEL, TrainingState(pair=task)).sentence()


def test_sorting_is_hurt_by_its_own_mistakes_and_reversing_makes_none():
    sort, reverse = (DecodeExposure(MODEL, TrainingState(pair=f"{task}-decoder")) for task in ("sort", "reverse"))
    assert sort.wrong_after_own > 5 * sort.wrong_after_right
    assert "It makes no mistake on them" in reverse.sentence()
    assert not reverse.differs
    assert sort.differs


def test_mistakes_are_shown_and_none_was_trained_on():
    for task in ("translation", "summary", "question-answering", "sort-decoder"):
        panel = DecodeMistakes(MODEL, TrainingState(pair=task))
        table = panel.table()
        assert 1 <= len(table) <= 10
        assert (table["said"] != table["right"]).all()
        assert all(panel.laws().values())
        assert panel.exact > (panel.by_rule or 0)
    right = DecodeMistakes(MODEL, TrainingState(pair="reverse-decoder"))
    assert "No mistake is left to show" in right.sentence()
    assert (right.table()["said"] == right.table()["right"]).all()


@pytest.mark.parametrize("task", ["translation", "sort-decoder"])
def test_a_mistake_of_this_source_and_what_follows_it(task):
    mistakes = DecodeMistakes(MODEL, TrainingState(pair=task))
    source = mistakes.row(mistakes.numbers[0]).source
    assert mistakes.following == 0
    after = DecodeMistakes(MODEL, TrainingState(pair=task, source=source))
    assert after.following == 1 % len(after.numbers)
    beside = DecodeBeside(MODEL, TrainingState(pair=task, source=source))
    first = beside.first_mistake
    assert first is not None
    assert f"The first mistake is at place {first + 1}" in beside.sentence()
    assert all(beside.laws().values())
    assert [place.forced for place in beside.places[: first + 1]] == [
        place.alone for place in beside.places[: first + 1]
    ]
    assert DecodeBeside.content(MODEL, TrainingState(pair=task, source=source))[0]["about"] == beside.sentence()
    assert beside.places[first].sure_forced == pytest.approx(beside.places[first].sure_alone, abs=1e-4)


def test_questions_on_texts_hold_of_trained_and_of_untrained_runs():
    assert "held-out examples are right as a whole" in answer("Where is the key?")
    assert measured("Where is the key?") > 80
    assert "follow an example’s first mistake" in answer("Exposure bias")
    assert 5 < measured("Exposure bias") < 100
    assert "turns back" in answer("Forty-two is two and forty")
    assert answer("Exposure bias", seed=4711) == NOT_YET
    assert measured("Where is the key?", seed=4711) == 0
