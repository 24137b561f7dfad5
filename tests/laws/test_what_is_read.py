"""The tokens that the main picture is computed from stand above it, and where it is made from no text of the sidebar, a
sentence that says so.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any
from unittest.mock import patch

import pytest

from tfm_core.model.transformer import Stack
from tfm_ui.lenses import lens, lenses
from tfm_ui.lenses.model.depth import wirings
from tfm_ui.live import cache
from tfm_ui.page import words
from tfm_ui.page.lens import Lens, nothing_named
from tfm_ui.pictures.panel import panels_in
from tfm_ui.state.lens_state import LensState
from tfm_ui.state.model_state import ModelState
from tfm_ui.text import token_labels
from tfm_ui.text.token_row import MOST, Text

Values = dict[str, Any]
# Different words, as many tokens for each tokenizer: what follows from the length alone is not read.
TEXTS: tuple[Values, Values] = (
    {"text": "a man sat in his boat because he was old", "target": "le chat"},
    {"text": "one man had in our house because we were old", "target": "un chien"},
)
LONG = {"text": " ".join(f"w{number} and" for number in range(60)), "target": "le chat dort"}
MODELS: list[Values] = [
    {},
    {"weights": "lab-gpt"},
    {"architecture": "encoder-decoder"},
]
READ: list[Values] = [
    *MODELS,
    {"architecture": "decoder", "tokenizer": "byte", "seq_len": 6},
    {"seq_len": 16},
    {"architecture": "encoder-decoder", **LONG},
    {"weights": "lab-gpt", **LONG},
]
VIEWS = [(each.name, {"view": view} if len(each.views) > 1 else {}) for each in lenses() for view in each.views]
OTHERS = [("masks", {"view": view, "item": item}) for view in lens("masks").views for item in (1, 3)]
OTHERS += [("model", {"view": "tokens", "show": show}) for show in ("languages", "batch")]
OTHERS += [("masks", {"view": "see", "texts": ""}), ("profiling", {"view": "length", "count_embedding": True})]
OTHERS += [("masks", {"view": "padding", "item": 1, "pad_side": "left"}), ("model", {"shape": "GPT-2 small"})]
OTHERS += [("generate", {"view": "write", "method": "beam"}), ("generate", {"view": "write", "shows": "attention"})]
OTHERS += [("generate", {"view": "surprise", "other": "another text"}), ("generate", {"view": "surprise"})]
IN_A_ROW = {"home"}  # where the words stand in the row of a head, so that above the picture are two texts at most


def main_picture(of: Lens, model: ModelState, state: LensState) -> list[Any]:
    """What is drawn and said of each panel of the first block."""
    drawn = []
    for panel in panels_in(of.blocks(model, state)[:1]):
        header, numbers = of.pictures[panel.picture_name].content(model, state) if panel.picture_name else ({}, None)
        drawn.append((repr(header), None if numbers is None else numbers.tobytes()))
        drawn.append((panel.sentence(), panel.table().to_csv()))
    return drawn


@contextmanager
def watched() -> Iterator[list[tuple[int, ...]]]:
    """The token ids of each text that a model reads in this block, in which nothing that was kept is used."""
    read: list[tuple[int, ...]] = []
    embed, rows = Stack.embed, wirings.rows_in_float64

    def embedding(stack: Stack, tokens: Any, *more: Any) -> Any:
        read.extend(map(tuple, tokens.tolist()))
        return embed(stack, tokens, *more)

    def rows_of(embedding: Any, ids: Any) -> Any:
        read.append(tuple(ids))
        return rows(embedding, ids)

    cache.clear()
    with patch.object(Stack, "embed", embedding), patch.object(wirings, "rows_in_float64", rows_of):
        yield read


def ids_of(text: Text) -> tuple[int, ...]:
    """Its token ids, in the order in which they are read."""
    ids, count = text.tokens.ids, len(text.tokens.pieces)
    return ids[count:] + ids[:count] if text.padded_before else ids


def labels_of(text: Text) -> list[str]:
    names, count = token_labels.labels(text.tokens), len(text.tokens.pieces)
    return names[count:] + names[:count] if text.padded_before else names


@pytest.mark.parametrize("values", MODELS)
@pytest.mark.parametrize(("name", "page"), [*VIEWS, *OTHERS])
def test_what_is_not_made_from_the_text_says_so_and_nothing_else_does(name, page, values):
    of = lens(name)
    state = of.state(**page)
    model = ModelState(**TEXTS[0], **values)
    another_text, both_others = (replace(model, **fields) for fields in ({"text": TEXTS[1]["text"]}, TEXTS[1]))
    shown = main_picture(of, model, state)
    if not shown:  # a note in place of the picture
        return
    sentence = of.view_of(state).reads_instead(model, state)
    assert sentence or main_picture(of, both_others, state) != shown
    assert not sentence or main_picture(of, another_text, state) == shown
    place = words.of_page(of, model, state)["places"].get("read_instead")
    assert bool(place and place["text"]) == bool(sentence)  # what the page draws above the picture
    assert sentence == "" or (sentence.endswith(".") and len(sentence) <= 110)  # a line of a window 1024 px wide


@pytest.mark.parametrize("values", READ)
@pytest.mark.parametrize(("name", "page"), [*VIEWS, *OTHERS])
def test_the_tokens_above_a_picture_are_those_that_the_model_reads_for_it(name, page, values):
    of = lens(name)
    state = of.state(**page)
    view, model = of.view_of(state), ModelState(**{**TEXTS[0], **values})
    with watched() as read:
        drawn = main_picture(of, model, state)
    texts, places = view.texts(model, state), words.of_page(of, model, state)["places"]
    is_told = bool(drawn) and view.reads is not nothing_named and not view.reads_instead(model, state)
    if name in IN_A_ROW and not model.is_encoder_decoder:
        (row,) = (place["tokens"] for place in places.values() if place.get("tokens"))
        in_row = [item[0] for item in row if not isinstance(item, str)]
        assert {*in_row} <= {*token_labels.labels(model.source_tokens)}
        assert in_row[-1] == token_labels.labels(model.source_tokens)[len(model.source_tokens.pieces) - 1]
        is_told = False
    assert bool(texts) == is_told
    assert bool(places.get("reads", {"tokens": []})["tokens"]) == is_told
    if not is_told:
        return
    if read:
        assert {ids_of(text) for text in texts} <= set(read)
        assert (len(texts) == 2) == (model.is_encoder_decoder and model.target_tokens.ids in read) or "other" in page
    else:  # the picture shows a text's mask, with its tokens along it
        assert all(repr(labels_of(text)) in drawn[0][0] for text in texts[-1:])
    chips = [item[0] for item in places["reads"]["tokens"] if not isinstance(item, str)]
    each = MOST // len(texts)
    assert chips == [name for text in texts for name in labels_of(text)[:each]]
    said = [item for item in places["reads"]["tokens"] if isinstance(item, str)]
    more = [f"… and {len(text.tokens.ids) - each} more" for text in texts if len(text.tokens.ids) > each]
    assert [item for item in said if item.startswith("…")] == more
