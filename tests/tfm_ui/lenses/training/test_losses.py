"""What is said of the loss before training, beside torch's own cross-entropy of even guesses."""

import pytest
import torch
import torch.nn.functional as F

from tfm_core.training.tasks.table import TASKS
from tfm_ui.lenses.training.losses import ABOVE, before_training
from tfm_ui.text import formats


@pytest.mark.parametrize("name", TASKS)
def test_the_loss_before_training_is_compared_with_even_guesses_among_all_that_the_output_can_say(name):
    task = TASKS[name]
    evenly = float(F.cross_entropy(torch.zeros(1, task.outcomes), torch.tensor([0])))
    ((law, holds),) = before_training(task, evenly + 0.4).items()
    assert holds
    assert f"guessing evenly among the {formats.count(task.outcomes)} " in law
    assert f"= {formats.number(evenly)}" in law
    assert not any(before_training(task, evenly + ABOVE + 0.1).values())


def test_labels_that_are_token_ids_are_told_apart_from_all_token_ids():
    (law,) = before_training(TASKS["authors"], 7.6)
    assert law == (
        "before training the loss is 7.600, at most 0.5 above that of guessing: guessing evenly among the 2,006 token "
        "ids, of which 3 are labels, gives ln 2,006 = 7.604"
    )
    (of_classes,) = before_training(TASKS["textbook"], 1.1)
    assert "among the 3 classes gives ln 3 = 1.099" in of_classes
