"""Which encoder the views of BERT's form show, and what is said of typed special signs."""

import pytest

from tfm_ui.lenses.model.encoders import about_typed, with_head, with_pooler
from tfm_ui.lenses.model.masked import Masked
from tfm_ui.lenses.model.sentences.panels import SentencesPooled, SentencesSpecial
from tfm_ui.lenses.model.state import ModelLensState
from tfm_ui.state.model_state import ModelState

READ = "is typed in the text and read as that special token"


def encoder(text: str) -> ModelState:
    return ModelState(weights="lab-bert", text=text)


@pytest.mark.parametrize("panel", [SentencesPooled, Masked])
def test_a_typed_special_sign_is_said_to_be_read_as_that_token(panel) -> None:
    assert f"“[CLS]” {READ}" in panel(encoder("the [CLS] cat"), ModelLensState()).sentence()
    assert READ not in panel(encoder("the cat"), ModelLensState()).sentence()


def test_a_typed_mask_is_a_place_to_guess_and_no_mistake() -> None:
    assert about_typed(encoder("the [MASK] sat")) == ""
    assert "was typed at place 3" in Masked(encoder("the [MASK] sat"), ModelLensState()).sentence()


def test_without_an_encoder_in_the_sidebar_lab_bert_reads_the_same_text() -> None:
    model = ModelState(text="a whale")
    assert with_pooler(model).weights == with_head(model).weights == "lab-bert"
    assert with_pooler(model).text == "a whale"


def test_even_shares_of_the_last_special_token_are_those_of_the_table() -> None:
    panel = SentencesSpecial(encoder("She was very glad to see him, and said so."), ModelLensState())
    most = float(panel.table().iloc[:, -1].max()) * panel.read
    assert f"at most {most:.3g}" in panel.sentence()
