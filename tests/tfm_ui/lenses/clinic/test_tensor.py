"""Which mistake is in a tensor: files of the exercise, what is handed in, and what is said of it."""

import io
import math
from dataclasses import replace

import numpy as np
import pytest
import torch
from safetensors.torch import load, save

from tests.tfm_core.clinic.test_read_text import npy
from tests.tfm_ui.store.empty import empty_store
from tfm_core.study.diagnosis import ASKED
from tfm_core.study.exercise import Exercise, given
from tfm_core.study.mistakes import MISTAKES
from tfm_core.study.steps import Steps
from tfm_ui.lenses.clinic import uploads
from tfm_ui.lenses.clinic.state import ClinicState
from tfm_ui.lenses.clinic.tensor import reads_instead
from tfm_ui.lenses.clinic.tensor.diagnosed import Cure, Diagnosed
from tfm_ui.lenses.clinic.tensor.given import files, lines, taken
from tfm_ui.lenses.clinic.tensor.handed import diagnosed
from tfm_ui.lenses.clinic.tensor.verdict import verdict
from tfm_ui.lenses.clinic.uploads import GONE, File
from tfm_ui.state.model_state import ModelState

MODEL = ModelState()
EXERCISE = ClinicState().exercise
WRONG = MISTAKES["no scale"].wrong


def npz(**tensors: torch.Tensor) -> bytes:
    file = io.BytesIO()
    np.savez(file, allow_pickle=False, **{name: tensor.numpy() for name, tensor in tensors.items()})
    return file.getvalue()


def said(data: bytes | str, **state) -> str:
    """The verdict on an upload, or on a pasted text."""
    if isinstance(data, str):
        return verdict(*diagnosed(ClinicState(view="tensor", result=data, **state)))
    with empty_store(uploads):
        name = uploads.keep(File("result", data), "Ada")
        return verdict(*diagnosed(ClinicState(view="tensor", result_file=name, **state)))


def value(step: str, wrong=None, exercise: Exercise = EXERCISE) -> torch.Tensor:
    result: torch.Tensor = Steps(exercise).value(step, wrong)
    return result.float()


def test_the_files_hold_the_same_and_the_lines_run():
    made = files(EXERCISE)
    with np.load(io.BytesIO(made["exercise.npz"][0]), allow_pickle=False) as archive:
        arrays = {name: torch.from_numpy(archive[name]) for name in archive}
    tensors = load(made["exercise.safetensors"][0])
    pasted: dict[str, torch.Tensor] = {}
    exec(lines(EXERCISE), pasted)
    for name, tensor in taken(EXERCISE).items():
        assert torch.equal(arrays[name], tensor)
        assert torch.equal(tensors[name], tensor)
        torch.testing.assert_close(pasted[name], tensor, rtol=1e-5, atol=1e-6)
    assert set(tensors) == {*given(EXERCISE), "x", "mask"}
    assert not {"scores", "weights", "output"} & set(tensors)  # the answers are not given away


def test_whoever_computes_with_the_files_is_right():
    """Attention by torch's own functions, out of the tensors that the page gives."""
    t = load(files(EXERCISE)["exercise.safetensors"][0])
    x = torch.nn.functional.layer_norm(t["x"], (16,), t["gain_1"], t["shift_1"], 1e-3)
    query, key, value_ = (
        torch.nn.functional.linear(x, t[f"W_{name}"], t[f"b_{name}"]).view(2, 6, 2, 8).transpose(1, 2) for name in "QKV"
    )
    heads = torch.nn.functional.scaled_dot_product_attention(query, key, value_, attn_mask=t["mask"])
    output = torch.nn.functional.linear(heads.transpose(1, 2).reshape(2, 6, 16), t["W_O"], t["b_O"])
    assert said(npz(output=output)).startswith("Right: “output”.")


@pytest.mark.parametrize("step", ["scores", "weights", "output", "layer output", "logits", "loss"])
def test_a_result_is_read_from_every_kind_of_file_and_its_mistake_named(step):
    result = value(step, WRONG)
    name = step.replace(" ", "_")
    for data in (npz(**{name: result}), save({name: result.contiguous()}), npy(result.numpy())):
        assert said(data, step=step).startswith("The mistake: “no scale”")
    assert said(npz(**{name: value(step)})).startswith("Right")


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.float16])
def test_any_float_type_is_taken(dtype):
    assert "“no scale”" in said(npz(weights=value("weights", WRONG).to(dtype)))
    assert said(npz(weights=value("weights").to(dtype))).startswith("Right")


def test_printed_tensors_are_taken_with_their_rounding():
    torch.set_printoptions(profile="default")
    assert said(repr(value("weights")), step="weights").startswith("Right")
    assert "“no scale”" in said(repr(value("weights", WRONG)), step="weights")
    assert "“no scale”" in said(repr(value("loss", WRONG)), step="loss")
    assert said(f"{float(value('loss')):.4f}", step="loss").startswith("Right")


def test_the_step_is_told_by_the_shape_where_nothing_names_it():
    assert said(npy(value("logits", WRONG).numpy())).startswith("The mistake: “no scale”")
    assert "weights" in said(npy(value("weights").numpy()))


def test_several_results_are_explained_together():
    wrong = MISTAKES["values from the keys"].wrong
    data = npz(attn_weights=value("weights", wrong), out=value("output", wrong), other=torch.zeros(3, 3))
    sentence = said(data)
    assert sentence.startswith("The mistake: “values from the keys”")
    assert "“other”" in sentence


def test_mistakes_that_are_equal_here_are_all_said():
    sentence = said(npz(weights=value("weights", MISTAKES["1e-9 for −1e9"].wrong)))
    assert "“scores multiplied by the mask”" in sentence
    assert "cannot be told apart" in sentence


def test_two_mistakes_at_once_are_named():
    wrong = {
        **WRONG,
        **MISTAKES["mask inverted"].wrong,
        "fill": lambda: -1e9,
        "empties": lambda weights, masked: weights,
    }
    assert said(npz(output=value("output", wrong))).startswith("Two mistakes: ")


def test_what_nobody_knows_is_told_with_its_first_wrong_number():
    result = value("scores").clone()
    result[0, 1, 2, 3] += 0.25
    sentence = said(npz(scores=result))
    assert "your first wrong number at batch 1, head 2, query 3, key 4 is" in sentence
    assert "mistakes and pairs of mistakes" in sentence
    assert "should have the shape" in said(npz(scores=torch.zeros(3, 3)))


@pytest.mark.parametrize(
    ("data", "part"),
    [
        (b"", "nothing in it"),
        (b"PK\x03\x04", "xpected a .npz"),
        (b"\x80\x04K\x01.", "pickle"),
        (b"\xff\xfe\x00", "neither"),
        ("not a tensor", "expected"),
        (npz(weights=torch.zeros(0)), "at least one number"),
        (b"\x93NUMPY\x01\x00v\x00{", "header"),
    ],
)
def test_what_cannot_be_read_gets_a_sentence(data, part):
    sentence = said(data) if data else said("[]")
    assert part in sentence
    assert sentence.endswith(".")


def test_an_upload_that_is_gone_is_said_to_be():
    with empty_store(uploads):
        assert verdict(*diagnosed(ClinicState(result_file="a" * 32))) == GONE


@pytest.mark.parametrize("name", MISTAKES)
def test_the_example_is_diagnosed_for_every_mistake_and_both_panels_say_so(name):
    state = ClinicState(view="tensor", mistake=name)
    panel, cure = Diagnosed(MODEL, state), Cure(MODEL, state)
    assert name in [each for explanation in panel.diagnosis.explanations for each in explanation.names]
    assert f"“{name}”" in panel.sentence() or "more" in panel.sentence()
    if panel.is_drawn:
        header, numbers = panel.picture()
        assert numbers.size
        assert len(header["maps"]) == 3
    if cure.is_shown:
        assert "Cure: " in cure.sentence()
        assert cure.table()["differs"].iloc[-1] == "yes"
    assert not panel.table().empty


def test_impossible_exercises_become_the_nearest_possible_one_and_that_is_said():
    for fields in ({"d_model": 8, "num_heads": 7}, {"tokens": 3, "cached": 9}, {"d_model": 12, "positional": "RoPE"}):
        state = ClinicState(**fields)
        assert isinstance(state.exercise, Exercise)
    assert "7 heads do not fit" in ClinicState(d_model=8, num_heads=7).about_exercise
    assert "too short for padding" in ClinicState(tokens=2).about_exercise


@pytest.mark.parametrize("step", ASKED)
def test_every_step_can_be_handed_in_and_is_right(step):
    result = Steps(EXERCISE).value(step)
    sentence = said(npz(**{step.replace(" ", "_"): result if result.dtype == torch.bool else result.float()}))
    assert sentence.startswith("Right"), sentence


def test_masked_scores_are_taken_with_any_stand_in_for_infinity():
    masked = value("masked scores")
    assert said(npz(masked_scores=masked.masked_fill(masked == -math.inf, -1e9))).startswith("Right")


def test_where_the_example_is_made_in_another_exercise_it_is_said():
    narrow = ClinicState(view="tensor", d_model=8, num_heads=8)  # heads of a single dimension, whose root is itself
    assert "So that this mistake can be made" in reads_instead(ModelState(), narrow)
    assert "So that" not in reads_instead(ModelState(), ClinicState(view="tensor"))
    handed = replace(narrow, result="[[0.5, 0.5]]")
    assert "So that" not in reads_instead(ModelState(), handed)
