"""The view "conventions" without Streamlit's pages: every call is made, and what is said is measured."""

import math
import re
from dataclasses import replace

import numpy as np
import pytest
import torch

from tests.tfm_ui.payloads import decode
from tfm_core import MultiHeadAttention
from tfm_core.study.mask_conventions import CONVENTIONS
from tfm_ui.lenses.masks.conventions import calls
from tfm_ui.lenses.masks.conventions.calls import attention_inputs
from tfm_ui.lenses.masks.conventions.chosen import Handed
from tfm_ui.lenses.masks.conventions.table import Conventions
from tfm_ui.lenses.masks.masked_passes import at, forward_under_mask
from tfm_ui.lenses.masks.state import PREFIX, MasksState, Setting, setting
from tfm_ui.pictures.registry import made, query_of
from tfm_ui.state import paint as mask_paint
from tfm_ui.state.links import link_parameters
from tfm_ui.state.model_state import ModelState

SMALL = ModelState(seq_len=6)
LARGE = ModelState(seq_len=30, causal=False)
ACROSS = ModelState(architecture="encoder-decoder", seq_len=20)
DECODER = ModelState(architecture="decoder", seq_len=20, norm="post")
BATCH = MasksState(texts="the dog barked at me\na b c")


def drawn(name, model, state):
    header, numbers = decode(made(name, query_of(((model, ""), (state, PREFIX)))))
    rows, columns = len(header["rows"]["names"]), len(header["columns"]["names"])
    return header, np.frombuffer(numbers, np.float32).reshape(-1, rows, columns)


def both(model, state) -> tuple[Conventions, Handed]:
    return Conventions(model, state), Handed(model, state)


def test_what_the_calls_get_is_what_the_layer_works_on():
    """The inputs, run through our own attention, give what the model's own pass recorded."""
    for model, place in (
        (SMALL, "self"),
        (ACROSS, "cross"),
        (replace(ACROSS, norm="post"), "cross"),
        (DECODER, "self"),
    ):
        state = replace(BATCH, place=place if place != "self" else "decoder", layer=2, mask="padding or window 1")
        settings = tuple(setting(model, state, item) for item in (1, 2, 3))
        inputs = attention_inputs(settings, 1)
        assert isinstance(inputs.attention, MultiHeadAttention)
        with torch.no_grad():
            output = inputs.attention(inputs.query, inputs.key, mask=inputs.mask[:, None])
        for number, sentence in enumerate(settings):
            site = at(sentence, 1, "output")
            trace = forward_under_mask(sentence, [site])[1]
            torch.testing.assert_close(output[number], trace[site][0], atol=1e-5, rtol=1e-5)


def test_every_call_is_made_and_every_law_holds():
    for model in (SMALL, LARGE, DECODER, ACROSS, replace(LARGE, num_heads=16, positional="alibi")):
        for mask in ("padding", "causal and padding", "window 2", ""):
            batch = Conventions(model, replace(BATCH, mask=mask))
            assert batch.verified.keys() == CONVENTIONS.keys()
            assert all(batch.laws().values())
            table = batch.table()
            assert list(table.index) == list(CONVENTIONS)
            able = table[table["cells it cannot say"] == 0]
            assert (able["largest difference"] < 1e-5).all()


@pytest.mark.parametrize(("wrong", "said"), [(0.001, "1×10⁻³"), (math.nan, "NaN")])
def test_a_call_that_gives_other_numbers_breaks_the_law(wrong, said):
    batch = Conventions(SMALL, BATCH)
    last = [*CONVENTIONS][-1]
    vars(batch)["verified"] = batch.verified | {last: replace(batch.verified[last], of_said=wrong, difference=wrong)}
    assert not any(batch.laws().values())
    assert f"the largest difference of their outputs from ours is {said}." in batch.sentence()
    assert f"<div>{said}</div>" in batch.html()


def test_the_sentences_count_what_the_table_holds():
    batch = Conventions(SMALL, replace(BATCH, mask="padding"))
    table = batch.table()
    able = int((table["cells it cannot say"] == 0).sum())
    assert batch.sentence().startswith(f"{able} of {len(CONVENTIONS)} conventions can say this mask")
    open_ = Handed(replace(SMALL, causal=False), replace(BATCH, mask="padding", convention="HF, attention_mask"))
    assert "Largest difference from ours, in the heads’ outputs" in open_.about()
    assert "cannot say" not in open_.about()


def test_a_cell_that_cannot_be_said_is_named():
    batch = Handed(SMALL, replace(BATCH, mask="", convention="MHA, key_padding_mask"))
    first = "the first, sentence 1, query 1 “the” and key 2 “cat”, should be hidden, but this convention shows it"
    assert first in batch.about()
    prefix = Handed(replace(LARGE, text="a b c"), replace(BATCH, mask="prefix 3", convention="HF, causal model"))
    assert "should be visible, but this convention hides it" in prefix.about()


def test_what_a_slip_does_is_said_for_every_case():
    said = {name: Handed(SMALL, replace(BATCH, convention=name)).slip() for name in CONVENTIONS}
    assert all("no error is raised" in text or "no harm" in text for text in said.values())
    assert re.search("(query|queries) becomes? NaN", said["MHA, attn_mask per head"])
    free = Handed(replace(SMALL, causal=False), replace(BATCH, mask="", convention="MHA, attn_mask"))
    assert "every query becomes NaN" in free.slip()
    nothing = Handed(replace(SMALL, causal=False), replace(BATCH, mask="", convention="SDPA, additive"))
    assert "happens to do no harm" in nothing.slip()


def test_a_mask_that_hides_everything_has_its_sentences():
    hidden = mask_paint.whole(np.zeros((6, 6), bool))
    for name in CONVENTIONS:
        batch, handed = both(SMALL, replace(BATCH, paint=hidden, convention=name))
        assert "hides everything" in batch.sentence()
        assert "hides everything" in handed.about()
        assert handed.slip() == ""
        assert "nan" not in batch.html().replace("NaN", "")


def test_cross_attention_has_no_two_axes_with_causality():
    batch, handed = both(ACROSS, replace(BATCH, place="cross", convention="HF, causal model"))
    assert "there is no such call" in handed.about()
    assert batch.chosen == "HF, attention_mask"
    assert "HF, causal model" not in batch.verified
    assert batch.html().count("no such call") == 2
    assert "not run" not in batch.html()


@pytest.fixture
def looked_for_anew():
    """Whether transformers is there is not remembered from before, nor afterwards."""
    calls.hugging_face.cache_clear()
    yield
    calls.hugging_face.cache_clear()


def test_without_transformers_its_calls_are_not_run_and_that_is_said(monkeypatch, looked_for_anew):
    def missing(name):
        raise ModuleNotFoundError(name)

    monkeypatch.setattr(calls, "import_module", missing)
    batch, handed = both(SMALL, replace(BATCH, convention="HF, 4-D"))
    assert set(batch.verified) == {name for name, convention in CONVENTIONS.items() if convention.library == "torch"}
    assert "transformers is not installed here, so this call was not run." in handed.about()
    assert "transformers is not installed here" in batch.sentence()
    assert handed.slip() == ""
    assert len(batch.table()) == len(CONVENTIONS)


def test_a_server_may_do_without_transformers_and_names_its_setting(monkeypatch, looked_for_anew):
    monkeypatch.setattr(calls, "SETTINGS", replace(calls.SETTINGS, transformers="no"))
    batch, handed = both(SMALL, replace(BATCH, convention="HF, 4-D"))
    assert "HF, 4-D" not in batch.verified
    for said in (handed.about(), batch.sentence()):
        assert "not loaded on this server (its setting ATTENTION_LAB_TRANSFORMERS), so" in said


def test_a_large_batch_is_left_to_the_chosen_sentence():
    model = ModelState(seq_len=300, num_heads=16)
    batch = Conventions(model, replace(BATCH, item=2))
    assert len(batch.settings) == 1
    assert batch.settings[0].model.text == "the dog barked at me"
    assert "the chosen sentence alone" in batch.aside()
    assert Conventions(replace(model, seq_len=30), BATCH).aside() == ""
    assert "rope" in Conventions(replace(SMALL, positional="rope"), BATCH).aside()


@pytest.mark.parametrize("name", CONVENTIONS)
@pytest.mark.parametrize("model", [SMALL, ACROSS, LARGE])
def test_the_pictures_hold_what_is_handed_over(name, model):
    state = replace(BATCH, convention=name, item=2, head=3, mask="padding and window 2", place="cross")
    batch = Handed(model, state)
    header, (ours, *can_say) = drawn("masks_ours", model, state)
    np.testing.assert_array_equal(ours == 1, batch.mask[1])
    assert bool(can_say) == bool(batch.lost.any())
    if can_say:
        np.testing.assert_array_equal(np.isnan(can_say[0]), batch.lost[1])
    header, (handed,) = drawn("masks_handed", model, state)
    values = batch.handed
    if values.dim() > 2:
        values = values[1, 0] if values.dim() == 4 else values[1 * model.num_heads + 2]
    if values.dtype == torch.float32:
        np.testing.assert_array_equal(np.isnan(handed), values == -torch.inf)
    else:
        np.testing.assert_array_equal(handed, values.float())
    assert (header["maps"][0]["unit"] == "= hidden") == (CONVENTIONS[name].keeps == "False")


def test_the_link_carries_a_used_mask_of_64_by_64():
    mask = np.random.default_rng(0).random((64, 64)) < 0.5
    state = MasksState(paint=mask_paint.whole(mask))
    assert len(link_parameters(state, PREFIX)["masks_paint"]) < 700
    model = ModelState(seq_len=64)
    np.testing.assert_array_equal(Setting(model=model, place="self", composition="", paint=state.paint).mask, mask)


# the code to copy makes the mask that is shown, and the recipe gives the numbers of the table
