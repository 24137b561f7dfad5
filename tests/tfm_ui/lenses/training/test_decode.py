"""The view "decode" beside decoding by hand: the same tokens, probabilities and looks at the source."""

import numpy as np
import pytest
import torch

from tests.tfm_ui.lenses.training.asking import MODEL, answer, measured
from tfm_core import Transformer, run_store
from tfm_core.training.config import of_task
from tfm_core.training.decoding import decode_greedily
from tfm_core.training.networks import network
from tfm_ui.lenses.training.decode.source import start_of
from tfm_ui.lenses.training.decode.written import Decode, DecodeNext
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
