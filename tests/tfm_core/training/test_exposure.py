"""Teacher forcing beside writing alone, against decoding one source at a time with the arguments in the open."""

from functools import cache

import pytest
import torch

from tests.tfm_core.training.runs import small
from tfm_core.model.transformer import Transformer
from tfm_core.training.config import TrainingConfig, of_task
from tfm_core.training.decoding import FIRST, decode_greedily, exposure, write
from tfm_core.training.examples import held_out
from tfm_core.training.networks import network
from tfm_core.training.tasks.task import IGNORED, Examples
from tfm_core.training.train import train

TASKS = ("translation", "summary", "reverse-decoder")


def start_of(config: TrainingConfig) -> int:
    return 1 + config.about.vocabulary.index("START")


@cache
def learned(name: str) -> tuple[Transformer, Examples, int]:
    """A decoder that has learned a little, so that it is right here and wrong there."""
    config = of_task(name, steps=60, batch_size=32)
    *_, last = train(config)
    model = network(config)
    model.load_state_dict(dict(last.run.weights))
    return model.eval(), held_out(config, 30), start_of(config)


@pytest.fixture(params=TASKS)
def case(request) -> tuple[Transformer, Examples, int]:
    return learned(request.param)


def test_each_way_of_reading_is_that_of_a_naive_loop(case):
    model, examples, start = case
    told = exposure(model, examples, start=start)
    for row in range(len(examples)):
        source, answers = examples.source[row : row + 1], examples.answers[row]
        asked = [number for number in answers.tolist() if number != IGNORED]
        forced, alone, misled = [], [], []
        with torch.no_grad():
            for place in range(len(asked)):
                right = torch.tensor([[start, *asked[:place]]])
                forced.append(int(model(source, right)[0, -1].argmax()))
                alone.append(int(model(source, torch.tensor([[start, *alone]]))[0, -1].argmax()))
                order = model(source, torch.tensor([[start, *misled]]))[0, -1].argsort(descending=True).tolist()
                misled.append(next(number for number in order if place != FIRST or number != asked[0]))
        assert told.forced[row, : len(asked)].tolist() == forced
        assert told.alone[row, : len(asked)].tolist() == alone
        assert told.misled[row, : len(asked)].tolist() == misled


def test_what_is_counted_is_what_a_loop_counts(case):
    model, examples, start = case
    told = exposure(model, examples, start=start)
    exact = wrong_after = later = wrong_forced = 0
    for row, answers in enumerate(examples.answers.tolist()):
        asked = [number for number in answers if number != IGNORED]
        alone, forced = told.alone[row].tolist(), told.forced[row].tolist()
        first = next((place for place, number in enumerate(asked) if alone[place] != number), None)
        assert int(told.first_mistakes[row]) == (-1 if first is None else first)
        if first is None:
            exact += 1
            assert forced[: len(asked)] == asked  # it has read the right tokens
        else:
            assert forced[: first + 1] == alone[: first + 1]
            for place in range(first + 1, len(asked)):
                later += 1
                wrong_after += alone[place] != asked[place]
                wrong_forced += forced[place] != asked[place]
    assert told.exact == pytest.approx(exact / len(examples))
    assert told.wrong_after_first(told.alone) == (wrong_after, later)
    assert told.wrong_after_first(told.forced) == (wrong_forced, later)
    assert told.by_place(told.alone)[0] == pytest.approx(told.by_place(told.forced)[0])


def test_writing_together_is_writing_one_by_one(case):
    model, examples, start = case
    together = write(model, examples.source, start=start, steps=5)
    for row, source in enumerate(examples.source):
        one_by_one = decode_greedily(model, source[None], start=start, steps=5)
        assert together[row].tolist() == one_by_one.written.tolist()


def test_a_decoder_stops_after_its_end(case):
    model, examples, start = case
    whole = decode_greedily(model, examples.source[:1], start=start, steps=6).written.tolist()
    end = whole[2]
    stopped = decode_greedily(model, examples.source[:1], start=start, steps=6, end=end).written.tolist()
    assert stopped == whole[: whole.index(end) + 1]


def test_examples_without_a_target_are_refused():
    config = small("reverse-decoder")
    examples = held_out(config, 2)
    with pytest.raises(ValueError, match="examples: expected some with a target"):
        exposure(network(config), Examples(examples.source, examples.answers), start=1)
