"""What is looked at once for all runs of a task is what each of them would see."""

import pytest
import torch

from tfm_core.training.config import of_task
from tfm_core.training.examples import EVALUATED, FINAL, held_out, probes
from tfm_core.training.scores import chance
from tfm_core.training.tasks.table import TASKS
from tfm_ui.pictures.learn.left_out import measured_examples, probes_of, score_by_chance, were_left_out


@pytest.mark.parametrize("task", TASKS)
def test_examples_scores_and_the_law_are_those_of_any_run(task):
    config = of_task(task, seed=7, steps=50)
    assert torch.equal(measured_examples(task).source, held_out(config, EVALUATED).source)
    assert torch.equal(probes_of(task).answers, probes(config).answers)
    for count in (EVALUATED, FINAL):
        assert were_left_out(task, count) == bool(config.about.split(held_out(config, count).source).all())
    causal = config.about.architecture != "encoder"
    for number, pattern in enumerate(config.about.patterns):
        assert score_by_chance(task, number) == chance(pattern, held_out(config, EVALUATED), causal=causal)
