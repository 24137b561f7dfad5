"""The tensors of every view: the main panel has them, or it is told why not; files, table and page hold the same."""

from collections.abc import Callable, Mapping
from html import escape
from typing import Any

import numpy as np
import pytest

from tests.taken import arrays, as_written
from tests.tfm_ui.given_weights import given, softmaxed
from tests.tfm_ui.store.empty import empty_store
from tfm_core.pretrained.offered import OFFERED
from tfm_ui.lenses import lenses
from tfm_ui.live.tensors.step import Step
from tfm_ui.page import tensors
from tfm_ui.pictures.learn.left_out import probes_of
from tfm_ui.pictures.learn.maps import rows_of
from tfm_ui.pictures.panel import Panel, panels_in
from tfm_ui.pictures.steps import STEPS
from tfm_ui.pictures.steps.matrices import MATRICES
from tfm_ui.state import array_files
from tfm_ui.state.model_state import ModelState

Values = dict[str, Any]
BY_LENS = {lens.name: lens for lens in lenses()}
VIEWS = [(lens.name, view) for lens in lenses() for view in lens.views]
COUNTS = "counts of parameters, operations or bytes by formula, or times: no tensor has them"
OF_MANY = "statistics of many networks that are drawn anew or trained: their tensors are nobody's step"
NO_TENSORS = {  # view -> why its main panel has no tensors
    ("heads", "roles"): "means over many texts, which are kept in a file beside the weights",
    **{("profiling", view): COUNTS for view in BY_LENS["profiling"].views},
    ("positions", "table"): "names, sources and counts of the schemes",
    ("model", "diagram"): COUNTS,
    ("model", "depth"): OF_MANY,
    ("model", "distance"): OF_MANY,
    ("training", "classify"): OF_MANY,
    ("training", "compare"): OF_MANY,
    ("training", "deep"): OF_MANY,
    ("training", "sizes"): OF_MANY,
    ("training", "finetune"): OF_MANY,
    ("clinic", "code"): "what checks say of listings",
}
MODELS: list[Values] = [
    {},
    {"architecture": "decoder", "weights": "lab-gpt", "text": "The ship, “the” ship 🦊"},
    {"architecture": "encoder-decoder", "positional": "t5", "norm": "post", "target": "ja so", "seq_len": 9},
    {"architecture": "decoder", "positional": "rope", "activation": "swiglu", "text": "one two"},
    {"positional": "alibi", "causal": False, "num_layers": 1, "num_heads": 1, "seq_len": 4},
]


def state_of(lens: str, view: str, **fields: Any) -> Any:
    of = BY_LENS[lens]
    return of.state(**({"view": view} if len(of.views) > 1 else {}), **fields)


def shown(lens: str, model: ModelState, state: Any) -> list[Panel]:
    """The panels of a view, the main one first; none where it is not shown for this model."""
    of = BY_LENS[lens]
    return [] if of.view_of(state).why_not_shown(model, state) else panels_in(of.blocks(model, state))


def look_at(step: Step) -> None:
    """Names, shapes and numbers are the same in the table, in both files, and by plain torch."""
    as_written(step)
    table = tensors.table(step)
    for each in step.tensors:
        assert f"<samp>{escape(each.name)}</samp>" in table
        assert escape(each.shape_in_words) in table
        assert each.about.strip() == each.about != ""
        assert not each.code or f": <samp>{escape(each.code)}</samp></td>" in table
    assert [*tensors.files(step, "x.npz")] == ["npz", "safetensors", "py"]
    assert step.title
    assert not [each.name for each in step.tensors if each.code and each not in step.computed]


@pytest.mark.parametrize(("lens", "view"), VIEWS)
@pytest.mark.parametrize("model", MODELS, ids=str)
def test_the_main_panel_has_tensors_or_a_reason_why_not(lens, view, model):
    panels = shown(lens, ModelState(**model), state_of(lens, view))
    for panel in panels:
        if step := panel.tensors:
            look_at(step)
    if panels:
        assert (panels[0].tensors is None) == ((lens, view) in NO_TENSORS), type(panels[0]).__name__


TWO: Values = {"architecture": "encoder-decoder", "positional": "t5", "target": "ja", "activation": "swiglu"}
POST: Values = {"norm": "post", "positional": "rope", "seq_len": 9}
CHANGES = "weight 1.1 6>2 0.9; weight 2.2 3>1 0.25 raw; silence 1.3; zero 1 4; replace 2 dog"
OTHERS: list[tuple[str, Values, Values]] = [
    ("attention", POST, {"view": "steps", "scaled": False, "masked": False, "temperature": 2.0}),
    ("attention", TWO, {"view": "steps", "kind": "cross", "temperature": 0.5}),
    *(("attention", {}, {"view": "arcs", "lines": lines}) for lines in ("mean", "max", "rollout")),
    ("attention", TWO, {"view": "contribution", "kind": "cross", "layer": 2}),
    ("attention", TWO, {"view": "change", "kind": "decoder", "changes": CHANGES, "pinned": "swap target 1 2"}),
    ("attention", {"text": "a b c d e f g"}, {"view": "change", "changes": CHANGES}),
    ("attention", {}, {"view": "dictionary", "temperature": 0.3, "entries": "dog:1,1,2 1,-1,-4"}),
    *(("model", {}, {"view": "block", "attention": attention, "dropout": 0.3}) for attention in ("linear", "window")),
    ("model", POST | {"architecture": "decoder"}, {"view": "block", "attention": "linear"}),
    *(("model", TWO, {"view": "block", "sub_layer": each}) for each in ("cross-attention", "feed-forward")),
    ("model", POST, {"view": "block", "sub_layer": "feed-forward", "dropout": 0.5, "layer": 2}),
    ("model", {"positional": "rope"}, {"view": "efficient", "layer": 2}),
    ("model", {}, {"view": "output", "temperature": 0.3, "tied": True}),
    *(("masks", {}, {"view": view, "item": 1, "mask": ""}) for view in BY_LENS["masks"].views),
    ("masks", {}, {"view": "see", "item": 1, "paint": "2x9.TAAAACQ"}),
    ("masks", POST | {"causal": False}, {"view": "padding", "pad_side": "left", "texts": "a b\n🦊"}),
    ("masks", TWO, {"view": "leaks", "place": "cross", "mask": "prefix 2 or window 2 and padding"}),
    *(("positions", {}, {"view": "see", "a": a, "b": b}) for a, b in (("learned", "t5"), ("rope", "alibi"))),
    ("positions", {}, {"view": "beyond", "a": "learned", "length": 96, "max_len": 64}),
    ("positions", {}, {"view": "fault", "batch": 5, "item": 4}),
]


@pytest.mark.parametrize(("lens", "model", "fields"), OTHERS)
def test_with_other_controls(lens, model, fields):
    panels = shown(lens, ModelState(**model), BY_LENS[lens].state(**fields))
    assert panels[0].tensors is not None
    for panel in panels:
        if step := panel.tensors:
            look_at(step)


Taken = Mapping[str, np.ndarray]
# View -> what of the tensors is on screen, and what is on screen of it, in its main panel or the one that is named.
ON_SCREEN: dict[tuple[str, str], Callable[[Any, Taken], list[tuple[Any, Any]]]] = {
    ("home", "home"): lambda panel, taken: [(taken["probabilities"][0], panel.probabilities)],
    ("heads", "heads"): lambda panel, taken: [
        (taken["weights"][layer, head], panel.attention.exact(layer, head)) for layer, head in panel.places
    ],
    ("attention", "steps"): lambda panel, taken: [
        (taken["weights"][panel.head], panel.steps.weights),
        (taken["scaled"][panel.head], panel.steps.scaled_scores),
        (taken["head_output"][panel.head], panel.steps.output),
        (taken["output"], panel.steps.projected(slice(None))),
    ],
    ("attention", "contribution"): lambda panel, taken: [(taken["contribution"][panel.head], panel.norms)],
    ("attention", "why"): lambda panel, taken: [(taken["scaled"][panel.head, panel.row, panel.column], taken["score"])],
    ("attention", "logit"): lambda panel, taken: [
        (taken["parts"], panel.values),
        (taken["parts"].sum(), taken["lead"]),
    ],
    ("attention", "change"): lambda panel, taken: [
        (
            taken[f"weights_{end}"][panel.layer, panel.head],
            side.weights(panel.kind, panel.layer, panel.head),
        )
        for end, side in zip("AB", panel.effect.sides, strict=True)
    ],
    ("attention", "dictionary"): lambda panel, taken: [
        (taken["answer"][0, 0], panel.answer),
        (taken["scores"][0], panel.table()["score"]),
        (taken["weighted_values"][:, 0], panel.table()["weight × value"]),
    ],
    ("positions", "see"): lambda panel, taken: [(taken["encoding_A"], panel.values[: panel.defined])],
    ("positions", "model"): lambda panel, taken: [
        (taken[f"weights_{name}"][panel.state.model_head - 1], panel.heads[name].weights) for name in panel.state.sides
    ],
    ("positions", "fault"): lambda panel, taken: [
        (taken[f"added_{name}"], effect.added) for name, effect in panel.effects.items()
    ],
    ("positions", "pairing"): lambda panel, taken: [
        (taken[f"weights_{name}"][panel.state.layer - 1, panel.state.model_head - 1], head.weights)
        for name, head in panel.heads.items()
    ],
    ("masks", "see"): lambda panel, taken: [
        (taken["weights"][panel.head], panel.obeyed.weights),
        (taken["mask"], panel.obeyed.mask),
        (taken["scaled"][panel.head], panel.obeyed.scores),
    ],
    ("masks", "padding"): lambda panel, taken: [
        (taken["weights_alone"][panel.layer, panel.head], panel.runs["alone"].weights(panel.layer, panel.head))
    ],
    ("masks", "conventions"): lambda panel, taken: [(taken["handed"], panel.handed), (taken["masks"], panel.mask)],
    ("model", "block"): lambda panel, taken: [(taken["output"], panel.output), (taken["total"], panel.total)],
    ("model", "feed_forward"): lambda panel, taken: [
        (taken["hidden"][: len(panel.names)], panel.units_under(panel.config.activation))
    ],
    ("model", "efficient"): lambda panel, taken: [
        (taken["weights" if name == "full" else f"weights_{name}"][panel.head - 1], variant.weights)
        for name, variant in panel.by_name.items()
    ],
    ("model", "output"): lambda panel, taken: [(taken["probabilities"][panel.token, panel.listed], panel.shares)],
    ("training", "learn"): lambda panel, taken: [
        (taken[f"weights_{name.replace(' ', '_')}"], panel.run.maps[site])
        for name, site in ((row.name, row.site) for row in rows_of(panel.config, probes_of(panel.config.task)[:1]))
    ],
    ("training", "decode"): lambda panel, taken: [(taken["written"], panel.decoded.written)],
}


@pytest.mark.parametrize(("lens", "view"), ON_SCREEN)
@pytest.mark.parametrize("model", [{}, POST, {"architecture": "decoder", "positional": "alibi"}], ids=str)
def test_the_tensors_are_those_on_screen(lens, view, model):
    panel = shown(lens, ModelState(**model), state_of(lens, view))[0]
    assert panel.tensors
    for taken, on_screen in ON_SCREEN[lens, view](panel, arrays(panel.tensors)):
        np.testing.assert_allclose(np.asarray(taken), np.asarray(on_screen), rtol=1e-4, atol=1e-5)


def test_of_weights_that_are_saved_only_the_menu_says_so():
    step = shown("training", ModelState(), state_of("training", "decode"))[0].tensors
    assert step
    assert [each.name for each in step.computed] == ["written"]
    assert "The weights of cross-attention and the probabilities are saved as the model" in tensors.table(step)


def matrices_on_screen(panel: Any) -> dict[str, tuple[str, np.ndarray]]:
    """Name of each matrix that the step-by-step view sends to the browser -> its symbol, and its numbers."""
    header, numbers = panel.picture()
    return {
        name: (it["symbol"], numbers[it["begin"] :][: it["rows"] * it["columns"]].reshape(it["rows"], it["columns"]))
        for name, it in header["matrices"].items()
    }


def of_head(name: str, taken: Taken, panel: Any) -> np.ndarray:
    """The tensor of this name in the file, as one head has it; weights are (out, in) there and (in, out) on screen."""
    numbers = taken[name]
    if name.startswith("W_"):
        role = {"W_Q": "query", "W_K": "key", "W_V": "value"}.get(name)
        first = panel.inside.first_row(role, panel.head) if role else 0
        return numbers[first : first + panel.inside.head_dim if role else None].T
    return numbers[panel.head] if numbers.ndim == 3 else numbers


STEPPED: list[tuple[Values, Values]] = [
    ({}, {}),
    ({"architecture": "decoder", "positional": "rope", "norm": "post"}, {"head": 3, "query": 4, "key": 2}),
    ({"positional": "t5"}, {"temperature": 0.5}),
    ({"architecture": "decoder", "positional": "alibi"}, {"scaled": False, "masked": False}),
    (TWO, {"kind": "cross", "layer": 2, "query": 2, "temperature": 2.0}),
]


@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize(("model", "fields"), STEPPED)
def test_every_matrix_of_every_step_is_in_the_file_by_its_name_on_screen(model, fields, step):
    panel = shown("attention", ModelState(**model), state_of("attention", "steps", step=step, **fields))[0]
    taken, table = arrays(panel.tensors), {each.name: each.about for each in panel.tensors.tensors}
    on_screen = matrices_on_screen(panel)
    assert step in on_screen
    windows = panel.scene.windows
    for name, (symbol, numbers) in on_screen.items():
        called = symbol.removesuffix("ᵀ") if symbol.removesuffix("ᵀ") in taken else name.replace(" ", "_")
        whole = of_head(called, taken, panel)
        whole = whole.T if symbol.endswith("ᵀ") else whole
        rows, columns = (windows[axis] for axis in MATRICES[name].axes)
        there = whole[rows, columns]
        if name == "weights":  # what the mask hides is sent as −∞, so that it is drawn as hidden
            there = np.where(np.isfinite(numbers), there, -np.inf)
        np.testing.assert_allclose(there, numbers, rtol=1e-4, atol=1e-5, err_msg=f"{name} as {called}")
        if symbol in ("S", "S′", "S″", "M", "A", "Q", "K", "V", "H", "Y", "B", "a V"):
            assert table[called].startswith(f"{symbol}, "), called


@pytest.mark.parametrize(("lens", "view"), [("home", "home"), ("heads", "heads"), ("attention", "arcs")])
def test_weights_out_of_a_file_are_taken_along_alone(lens, view):
    array_files.forget()
    with empty_store(array_files):
        weights = softmaxed(2, 1, 3, 6, 6)
        for panel in shown(lens, given(weights), state_of(lens, view)):
            assert panel.tensors
            look_at(panel.tensors)
            np.testing.assert_array_equal(arrays(panel.tensors)["weights"], weights[:, 0])


@pytest.mark.skipif(not all(model.is_there for model in OFFERED.values()), reason="needs `python3 run.py --models`")
@pytest.mark.parametrize("weights", list(OFFERED))
@pytest.mark.parametrize(("lens", "view"), [("heads", "heads"), ("attention", "steps"), ("model", "block")])
def test_pretrained_models_are_taken_along(lens, view, weights):
    for panel in shown(lens, ModelState(weights=weights, text="The cat sat on"), state_of(lens, view)):
        if step := panel.tensors:
            look_at(step)


def test_of_a_large_vocabulary_the_output_matrix_is_left_out():
    if not OFFERED["smollm2"].is_there:
        pytest.skip("needs `python3 run.py --models`")
    step = shown("home", ModelState(weights="smollm2", text="The cat sat on"), state_of("home", "home"))[0].tensors
    assert step
    assert [each.name for each in step.left_out] == ["W_U"]
    assert "W_U (108 MiB)" in step.why_left_out()
    assert {"X", "probabilities"} <= {each.name for each in step.computed}
    assert "logits" not in {each.name for each in step.computed}  # they need the matrix, and are taken as they are
    as_written(step)
