"""Weights out of a file: each view of each lens shows them, or says that they are all that there is."""

import pytest

from tests.tfm_ui.given_weights import given, softmaxed
from tests.tfm_ui.store.empty import empty_store
from tfm_ui.lenses import lenses
from tfm_ui.page import words
from tfm_ui.page.preview import picture as preview
from tfm_ui.pictures.panel import panels_in
from tfm_ui.pictures.registry import CannotBeShown, content_of, query_of
from tfm_ui.state import array_files
from tfm_ui.state.arrays import WEIGHTS_ALONE

SHAPES = [(1, 1, 1, 1, 1), (1, 2, 1, 2, 2), (3, 1, 2, 7, 7), (12, 2, 12, 20, 20), (1, 1, 2, 512, 512)]
VIEWS = [(lens, name) for lens in lenses() for name in lens.views if lens.views[name].uses_model]
SHOWN = {("home", "home"), ("heads", "heads"), ("attention", "arcs")}


@pytest.fixture(autouse=True, scope="module")
def kept():
    array_files.forget()
    with empty_store(array_files):
        yield


@pytest.mark.parametrize("causal", [True, False])
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize(("lens", "name"), VIEWS, ids=lambda each: getattr(each, "name", each))
def test_a_view_shows_them_or_says_why_not(lens, name, shape, causal):
    model = given(softmaxed(*shape, causal=causal), item=shape[1] - 1)
    state = lens.state(**({"view": name} if len(lens.views) > 1 else {}))
    view = lens.views[name]
    why = view.why_not_shown(model, state)
    assert why == ("" if (lens.name, name) in SHOWN else WEIGHTS_ALONE)
    assert lens.limits(model) is not None
    assert bool(words.of_page(lens, model, state)["places"]) == (not why)
    for picture, drawn in view.pictures.items():
        query = query_of(((model, ""), (state, lens.prefix)))
        if drawn.works_on_weights_alone or not drawn.uses_model:
            told, numbers = content_of(picture, query)
            assert told["query"] == query
            assert numbers is not None
        else:
            with pytest.raises(CannotBeShown, match="attention weights only"):
                content_of(picture, query)
    if why:
        with pytest.raises(CannotBeShown, match="attention weights only"):
            preview(lens, model, state)
        return
    for panel in panels_in(view.shown(model, state)):
        assert panel.sentence().endswith(".")
        assert len(panel.table())
        panel.recipe()
    assert words.of_answer(lens, model, state)["places"]["answer"]


def test_lenses_that_show_no_model_are_as_they_were():
    model = given(softmaxed(2, 2, 5, 5))
    state = next(lens for lens in lenses() if lens.name == "attention").state(view="dictionary")
    told, _ = content_of("dictionary", query_of(((model, ""), (state, "attention_"))))
    assert told["about"]
