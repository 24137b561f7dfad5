"""The tasks of lessons can be done: for each there is a page, made with its controls, on which it is."""

from collections.abc import Mapping
from dataclasses import replace

import pytest

from tests.record.content import nothing_kept
from tfm_core import TrainingConfig, run_store
from tfm_core.training.config import of_task
from tfm_core.training.run import Run
from tfm_ui.lenses import lens
from tfm_ui.lenses.training import panels
from tfm_ui.lessons import shelf
from tfm_ui.lessons.shown import Shown, shown
from tfm_ui.live.not_here import missing_weights
from tfm_ui.state.fields import controls_of
from tfm_ui.state.lens_state import LensState
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
    ("why-the-square-root", "score-of-ten"): {"attention_entries": "1,0.5,10 0.4,-0.5,20"},
    ("why-the-square-root", "the-same-by-temperature"): {"attention_temperature": "7.94"},
    ("many-heads", "the-price-narrow-heads"): {"num_heads": "16"},
    ("many-heads", "first-token"): {"heads_layer": "4", "heads_head": "5"},
    ("many-heads", "roles-and-baseline"): {"heads_role": "verb"},
    ("many-heads", "two-heads"): {"attention_changes": "silence 2.1"},
    ("bert", "a-hidden-word"): {"text": "The government of the United [MASK]."},
    ("text-into-tokens", "words-in-pieces"): {"text": "Defenestrations of heptasyllabic sesquipedalians."},
    ("text-into-tokens", "what-truncation-cuts"): {"seq_len": "8"},
    ("real-models", "a-language-model-writes"): {"text": "The capital of Kazakhstan is"},
    ("real-models", "translate-sum-up-still-writing"): {"generate_chat": "false"},
    ("real-models", "your-own-model"): {"weights": "smollm2"},
    ("real-models", "a-pronoun"): {"text": "The dog chased the cat because it"},
    ("bert", "tired-or-wide"): {"attention_key": "8"},
    ("why-attention", "a-product-of-many-factors"): {"model_reach_length": "16"},
    ("why-attention", "let-it-see-further"): {"model_reach_kernel": "17", "num_layers": "6"},
    ("positions", "the-same-word-four-times"): {"positional": "rope"},
    ("positions", "no-two-alike"): {"positions_width": "16"},
    ("positions", "distances-along-diagonals"): {"positions_a": "rope"},
    ("layers", "the-same-size-again"): {"d_ff": "85"},
    ("layers", "the-gradient-of-the-weights"): {"model_depth": "36"},
    ("layers", "trained-before-or-after"): {"training_task": "reverse"},
    ("training", "dropout-is-for-training"): {"model_dropout": "0"},
    ("efficient-attention", "what-a-window-costs-in-layers"): {"model_attention": "full"},
    ("efficient-attention", "linear-is-not-always-less"): {"num_heads": "8"},
    ("efficient-attention", "fused-the-same-tile-by-tile"): {"model_tile_step": "16"},
    ("efficient-attention", "what-n2d-leaves-out"): {"profiling_row": "3"},
    ("efficient-attention", "memory"): {"profiling_target": "fused"},
    ("masks-and-two-stacks", "the-same-sum-backwards"): {"model_own_layers": "6", "model_own_d_ff": "512"},
    ("masks-and-two-stacks", "eight-sentences-at-once"): {"seq_len": "25"},
    ("masks-and-two-stacks", "target"): {"masks_mask": "padding and causal"},
    ("masks-and-two-stacks", "whose-padding-counts"): {"target": "die alte Katze war sehr müde"},
    ("masks-and-two-stacks", "repair"): {"masks_mask": "padding"},
    ("the-whole-machine", "reach-the-papers-number"): {"model_own_layers": "6", "model_own_d_ff": "2048"},
    ("the-whole-machine", "a-gpt-of-16-million"): {"model_own_words": "50000"},
    ("the-whole-machine", "the-switch-that-helps"): {"model_tied": "false"},
    ("the-whole-machine", "encoder-only-or-decoder-only"): {"causal": "false", "architecture": "decoder"},
    ("sequence-to-sequence", "sequence-to-sequence"): {"training_written": "10"},
    ("sequence-to-sequence", "limits"): {"training_source": "1 2 3"},
    ("sequence-to-sequence", "order"): {"training_written": "6"},
    ("sequence-to-sequence", "ask"): {
        "training_source": "where is the key now ? anna took the key to the attic . ben took the cup to the garden ."
    },
    (shelf.LECTURE, "what-is-predicted"): {"text": "He saw a great whale, and she saw a great"},
    (shelf.LECTURE, "a-soft-dictionary"): {"attention_ask": "teen:1.2,-1.8"},
    (shelf.LECTURE, "mask-and-softmax"): {"attention_temperature": "0.3"},
    (shelf.LECTURE, "trained-heads"): {"heads_layer": "1", "heads_head": "4"},
    (shelf.LECTURE, "without-positions"): {"positional": "rope"},
    (shelf.LECTURE, "padding"): {"masks_mask": "padding"},
    (shelf.LECTURE, "writing"): {"generate_temperature": "0.2"},
    (shelf.LECTURE, "limits"): {"attention_changes": "silence 2.2"},
}
# Likewise, of tasks that are done only when the button Train has been pressed and the run has ended; and how it ended.
TRAINED: dict[tuple[str, str], tuple[dict[str, str], str]] = {
    ("training", "longer"): ({"training_steps": "400"}, ""),
    ("training", "rate"): ({"training_rate": "10"}, "It diverged."),
    ("sequence-to-sequence", "seeds"): ({"training_seed": "5"}, ""),
}


@pytest.mark.parametrize(("name", "step"), REACHED, ids=lambda part: part)
def test_a_task_is_reached_by_controls_that_the_step_leaves_to_the_learner(name, step):
    lesson = shelf.shipped(name)
    at = lesson.step(step)
    assert at is not None
    this = shown(lesson.steps[at], lens)
    if this.model.pretrained and missing_weights(this.model):
        pytest.skip(f"{this.model.weights} is not installed here")
    model, state = moved_to(this, REACHED[name, step])
    assert not this.is_reached(this.model, this.state)
    assert this.is_reached(model, state)
    assert this.is_on_screen(this.lens, model, state)  # so that the row does not say that something has been changed


def moved_to(this: Shown, moved: Mapping[str, str]) -> tuple[ModelState, LensState]:
    """What is on screen when a learner has set these controls, all of which a link can hold."""
    query = this.step.query | {parameter: [value] for parameter, value in moved.items()}
    model = state_of(ModelState, "", query)
    state = state_of(this.lens.state, this.lens.prefix, query, this.lens.limits(model))
    assert read_link(ModelState, "", query) == []
    assert read_link(this.lens.state, this.lens.prefix, query, this.lens.limits(model)) == []
    assert {parameter.removeprefix(this.lens.prefix) for parameter in moved} <= {
        *controls_of(ModelState),
        *controls_of(this.lens.state),
    }
    return model, state


@pytest.mark.parametrize(("name", "step"), TRAINED, ids=lambda part: part)
def test_a_task_of_training_is_reached_when_the_run_has_ended_and_not_before(name, step, monkeypatch):
    lesson = shelf.shipped(name)
    at = lesson.step(step)
    assert at is not None
    this, (moved, problem) = shown(lesson.steps[at], lens), TRAINED[name, step]
    with nothing_kept():
        model, state = moved_to(this, moved)
        assert not this.is_reached(this.model, this.state)
        assert not this.is_reached(model, state)
        assert this.is_on_screen(this.lens, model, state)
        monkeypatch.setattr(panels, "shown_run", lambda asked: ended(asked, problem))
        assert this.is_reached(model, state)


def ended(config: TrainingConfig, problem: str) -> Run:
    """A run that has ended: the one that comes with the app, with as many steps as are asked for."""
    run = run_store().find(of_task(config.task))
    assert run
    losses = run.losses.repeat(1 + config.steps // len(run.losses))[: config.steps]
    return replace(run, losses=losses, problem=problem)


def test_each_task_of_these_lessons_is_in_the_list():
    listed = {*REACHED, *TRAINED}
    lessons = {name for name, _ in listed}
    tasks = {(name, step.name) for name in lessons for step in shelf.shipped(name).steps if step.task}
    assert tasks == listed
