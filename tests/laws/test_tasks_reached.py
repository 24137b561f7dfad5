"""The tasks of lessons can be done: for each there is a page, made with its controls, on which it is."""

import pytest

from tfm_ui.lenses import lens
from tfm_ui.lessons import shelf
from tfm_ui.lessons.shown import shown
from tfm_ui.live.not_here import missing_weights
from tfm_ui.state.fields import controls_of
from tfm_ui.state.links import read_link, state_of
from tfm_ui.state.model_state import ModelState

# Lesson and step -> what a learner has set, beside what the step shows.
REACHED = {
    ("start-here", "text-becomes-tokens"): {"text": "internationalization"},
    ("start-here", "a-soft-dictionary"): {"attention_ask": "teen:1.2,-1.8"},
    ("start-here", "query-key-value-three-roles"): {"attention_tokens": "q11"},
    ("start-here", "softmax"): {"attention_temperature": "0.2"},
    ("start-here", "several-heads-several-jobs"): {"heads_layer": "1", "heads_head": "4"},
    ("start-here", "silence-a-head"): {"attention_head": "3", "attention_changes": "silence 2.3"},
    ("start-here", "predict-the-next-word"): {"text": "He saw a great whale, and she saw a great"},
    ("attention-in-five-steps", "step-1-queries"): {"attention_query": "5", "attention_dim": "3"},
    ("attention-in-five-steps", "step-3-divide-by-dk"): {"attention_query": "5"},
    ("attention-in-five-steps", "softmax"): {"attention_temperature": "0.3"},
    ("attention-in-five-steps", "all-heads"): {"attention_step": "heads", "attention_head": "3"},
    ("attention-in-five-steps", "all-of-it-at-once"): {"attention_query": "3", "attention_key": "1"},
    ("why-the-square-root", "the-gradient-of-a-softmax"): {"attention_temperature": "0.05"},
    ("why-the-square-root", "is-ten-too-large"): {"attention_entries": "1,0.5,10 0.4,-0.5,20"},
    ("why-the-square-root", "the-same-by-temperature"): {"attention_temperature": "7.94"},
    ("many-heads", "the-price-narrow-heads"): {"num_heads": "16"},
    ("many-heads", "first-token"): {"heads_layer": "4", "heads_head": "5"},
    ("many-heads", "two-heads"): {"attention_changes": "silence 2.1"},
    ("many-heads", "a-pronoun"): {"text": "The dog chased the cat because it"},
    ("many-heads", "tired-or-wide"): {"attention_key": "8"},
}


@pytest.mark.parametrize(("name", "step"), REACHED, ids=lambda part: part)
def test_a_task_is_reached_by_controls_that_the_step_leaves_to_the_learner(name, step):
    lesson = shelf.shipped(name)
    at = lesson.step(step)
    assert at is not None
    this = shown(lesson.steps[at], lens)
    if this.model.pretrained and missing_weights(this.model):
        pytest.skip(f"{this.model.weights} is not installed here")
    moved = REACHED[name, step]
    query = this.step.query | {parameter: [value] for parameter, value in moved.items()}
    model = state_of(ModelState, "", query)
    state = state_of(this.lens.state, this.lens.prefix, query, this.lens.limits(model))
    assert read_link(ModelState, "", query) == []
    assert read_link(this.lens.state, this.lens.prefix, query, this.lens.limits(model)) == []
    assert not this.is_reached(this.model, this.state)
    assert this.is_reached(model, state)
    assert {parameter.removeprefix(this.lens.prefix) for parameter in moved} <= {
        *controls_of(ModelState),
        *controls_of(this.lens.state),
    }
    assert this.is_on_screen(this.lens, model, state)  # so that the row does not say that something has been changed


def test_each_task_of_these_lessons_is_in_the_list():
    lessons = {name for name, _ in REACHED}
    tasks = {(name, step.name) for name in lessons for step in shelf.shipped(name).steps if step.task}
    assert tasks == set(REACHED)
