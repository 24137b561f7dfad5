"""What tokens are called, of which most may stand for no word that is known, as an id is a hash; and weights."""

from collections.abc import Mapping

from tfm_core.model.tokens import PAD_ID
from tfm_ui.live.cache import cached
from tfm_ui.live.known_words import known_texts
from tfm_ui.state.model_state import ModelState
from tfm_ui.text.token_labels import named, pieces_of_ids


def trained_on(model: ModelState) -> str:
    """What the weights were trained on, as in "trained on prose"; "" if they are random."""
    return model.if_random("", model.weights, prose="prose" if model.is_lab_gpt else "texts")


@cached()
def known_words(model: ModelState) -> Mapping[int, str]:
    """Token id -> the first token of the texts that has it: the visitor's texts, then the sample texts, as on Home."""
    words = pieces_of_ids(known_texts(model))
    return {PAD_ID: "PAD"} | {i: f"“{named(pieces[0])}”" for i, pieces in words.items()}


def name_of(model: ModelState, token_id: int) -> str:
    """“cat” for a known word, or else "id 1234"."""
    return known_words(model).get(token_id, f"id {token_id}")
