"""Trained weights in the model's state: what they fix, which texts they read, and how links name them."""

from dataclasses import replace
from urllib.parse import parse_qs, urlsplit

import pytest
import torch

from tfm_core import TASKS, Transformer, encode
from tfm_core.training.config import of_task, read_name
from tfm_core.training.examples import held_out
from tfm_ui.state.links import link_parameters, share_link, state_of
from tfm_ui.state.model_state import ModelState, Varied
from tfm_ui.state.trained import EXAMPLES, examples_of, longest_of, offered, run_of

RUNS = offered()


def test_the_shipped_runs_are_offered_in_teaching_order_and_are_there():
    assert {"reverse", "copy", "majority", "induction", "sort", "dates", "reverse-decoder"} <= set(RUNS)
    assert [*RUNS] == [task for task in TASKS if task in RUNS]
    assert all(run_of(name) for name in RUNS)
    assert run_of("random") is run_of("reverse,seed=9999") is run_of("rubbish") is None


@pytest.mark.parametrize("name", RUNS)
def test_the_model_is_that_of_the_run_whatever_the_other_fields_say(name):
    plain = ModelState(weights=name)
    other = ModelState(weights=name, d_model=256, num_heads=16, num_layers=8, d_ff=1, positional="alibi", norm="post",
                       activation="relu", architecture="encoder-decoder", seed=5, tokenizer="byte")  # fmt: skip
    assert plain == other
    assert plain.config == replace(read_name(name).transformer, weights=name, dropout=0.0)
    for parameter, value in Transformer(plain.config).named_parameters():
        assert torch.equal(value, run_of(name).weights[parameter])
    assert link_parameters(other, "") == {"weights": name}
    link = share_link("https://lab.example/heads", (other, ""))
    assert state_of(ModelState, "", parse_qs(urlsplit(link).query)) == plain


@pytest.mark.parametrize("name", [name for name in RUNS if not TASKS[name].unknown])  # others read any word
def test_without_tokens_of_the_task_its_first_example_is_read_and_that_is_said(name):
    model = ModelState(weights=name)
    example = held_out(of_task(model.trained.task), EXAMPLES)[:1]
    assert model.source_tokens.batch.tolist() == [[each for each in row if each] for row in example.source.tolist()]
    assert model.example == 0
    if example.target is not None:
        assert model.target_tokens.batch.tolist() == [[each for each in row if each] for row in example.target.tolist()]
        assert "“die” is none of" in model.notes["target"]
    assert model.notes["text"].startswith("The model reads an example of its task")
    strange = next(word for word in ModelState().text.split() if word not in model.trained.about.vocabulary)
    assert f"“{strange}” is none of" in model.notes["text"]
    assert ModelState(weights=name, text="").source_tokens == model.source_tokens
    if model.trained.about.spans:
        assert model.right_answers == ()  # places in the text, and no tokens
        return
    right = example.answers[0].tolist()
    assert set(right[len(model.right_answers) :]) <= {-100}  # padding of other examples
    for answer, token in zip(model.right_answers, right, strict=False):
        assert (model.tokens_by.id_of(answer) if answer else -100) == token


def test_tokens_of_the_task_are_read_as_they_are_typed_and_examples_by_name():
    typed = ModelState(weights="reverse", text=" 3  1 4 ")
    assert (typed.source_tokens.pieces, typed.notes["text"], typed.example) == (("3", "1", "4"), "", None)
    assert typed.right_answers == ()
    third = ModelState(weights="reverse", text="@3")
    assert third.read_text == examples_of("reverse")[2].text
    assert (third.example, "held out" in third.notes["text"]) == (2, True)
    assert ModelState(weights="reverse", text="3 x 4").example == 0
    assert "“x”" in ModelState(weights="reverse", text="3 x 4").notes["text"]
    assert ModelState(text="@3").read_text == "@3"  # random weights read it as a word


def test_where_all_examples_begin_alike_so_does_a_text_of_the_readers():
    voted = ModelState(weights="majority", text="A B A")
    assert voted.source_tokens.pieces == ("CLS", "A", "B", "A")
    assert voted.notes["text"] == "CLS is read before it, as before all texts of the task."
    assert ModelState(weights="majority", text="CLS A B A").source_tokens == voted.source_tokens
    assert ModelState(weights="copy", text="a b a").source_tokens.pieces == ("a", "b", "a")


def test_of_a_text_of_the_readers_the_decoder_reads_the_start_alone():
    both = ModelState(weights="reverse-decoder", text="3 1 4")
    assert both.target_tokens.pieces == ("START",)
    assert ModelState(weights="reverse-decoder", text="@2").read_target == examples_of("reverse-decoder")[1].target
    typed = ModelState(weights="reverse-decoder", text="3 1 4", target="START 4 1")
    assert (typed.target_tokens.pieces, typed.right_answers) == (("START", "4", "1"), ())


def test_texts_are_cut_to_what_was_trained_and_other_schemes_read_four_times_as_much():
    long = " ".join("0123456789" * 5)
    learned = ModelState(weights="reverse", text=long, seq_len=1024)
    assert (learned.length, learned.source_tokens.dropped, learned.config.max_len) == (10, 40, 10)
    assert learned.right_answers == ()
    rope = ModelState(weights="reverse,positional=rope", text=long)
    assert (rope.length, rope.most_tokens) == (40, 40)
    assert longest_of(read_name("dates,positional=rope")) == TASKS["dates"].length


def test_a_varied_model_has_the_fields_that_it_is_given_and_the_same_weights_elsewhere():
    model = ModelState(weights="reverse")
    assert model.varied(positional="learned", text="@2") == replace(model, text="@2")
    rope = model.varied(positional="rope")
    assert isinstance(rope, Varied)
    assert rope.config == replace(model.config, positional="rope")
    assert rope.varied(positional="learned").config == model.config
    assert repr(rope) != repr(model)  # another entry of the cache
    assert ModelState().varied(positional="rope") == ModelState(positional="rope")


def test_random_weights_are_what_they_were():
    model = ModelState()
    assert (model.trained, model.fixed, model.right_answers, model.example) == (None, frozenset(), (), None)
    assert model.config.weights == "random"
    assert model.source_tokens == encode(model.text)
    assert (model.if_random("a", "b"), ModelState(weights="copy").if_random("a", "b")) == ("a", "b")
