"""Every value of every picture lies on the scale that is shown, for all questions and many other links."""

import json
from collections import Counter
from collections.abc import Sequence
from functools import cache
from hashlib import blake2b
from typing import Any, TypeVar

import numpy as np
import pytest
from hypothesis import settings

from tests.crossed import combined
from tests.laws.of_views import pictures_of
from tests.tfm_ui.lenses.profiling.reports import plausible
from tests.tfm_ui.payloads import decode
from tests.tfm_ui.pictures.scale_laws import LAWS
from tfm_core import POSITIONAL
from tfm_core.pretrained.schemes import ALWAYS
from tfm_core.study.mask_conventions import CONVENTIONS
from tfm_core.study.mistakes import MISTAKES
from tfm_ui.lenses import lenses
from tfm_ui.lenses.attention.state import AttentionState
from tfm_ui.lenses.clinic.state import ClinicState
from tfm_ui.lenses.generate.state import GenerateState
from tfm_ui.lenses.heads.state import SCALES, HeadsState
from tfm_ui.lenses.masks.state import MasksState
from tfm_ui.lenses.model.state import ModelLensState
from tfm_ui.lenses.model.tokens_fields import MEASURES as MEASURES_OF_TOKENS
from tfm_ui.lenses.positions.state import MEASURES, NOTHING, OWN_SCALES, PositionsState
from tfm_ui.lenses.profiling.measurements import measurements
from tfm_ui.lenses.profiling.state import ProfilingState
from tfm_ui.lenses.training.state import TrainingState
from tfm_ui.pictures.canvas import encode
from tfm_ui.pictures.map_scale import SHARES, Scale, around_zero, from_zero, holding, powers_of_ten
from tfm_ui.pictures.maps import Axis, Map, content
from tfm_ui.pictures.registry import PICTURES, made, query_of
from tfm_ui.pictures.steps import STEPS
from tfm_ui.state.lens_state import LensState
from tfm_ui.state.model_state import ModelState

Values = dict[str, Any]
T = TypeVar("T")
MODELS: list[Values] = [
    {"text": "one", "seq_len": 2},  # no row has a choice
    {"text": "one two three", "seq_len": 6, "causal": False, "num_heads": 1},  # padding that is not hidden by order
    {"architecture": "decoder", "positional": "alibi", "num_heads": 16},
    {"architecture": "encoder-decoder", "positional": "t5", "norm": "post", "activation": "relu"},
    {"text": "a a a a", "positional": "none", "causal": False, "seq_len": 4},  # all rows alike
    {"text": "@alice", "seq_len": 300, "num_layers": 1, "num_heads": 2, "causal": False},  # pooled
    {"text": "The ship, “the” ship 🦊", "weights": "lab-gpt"},
]
PAIRS = list(zip(POSITIONAL, (*list(POSITIONAL)[1:], NOTHING), strict=True))
# A state that names a view is drawn in this view, whose fields it sets; one that names none in all views of its lens.
LENSES: dict[Any, list[Values]] = {
    LensState: [{}],
    HeadsState: [
        {"scale": scale, "kind": kind} for scale, kind in zip(SCALES, ("encoder", "cross", "decoder") * 2, strict=True)
    ]
    + [{"view": "roles", "role": "verb"}, {"view": "roles", "layer": 2, "breaks": "repeats"}],
    AttentionState: [
        *(
            {"view": "steps", "step": step, "whole": whole}
            for step, whole in zip(STEPS, (False, True) * 6, strict=True)
        ),
        {"scaled": False, "masked": False, "temperature": 0.05, "kind": "cross"},
        {"temperature": 10.0, "lines": "mean", "changes": "weight 1.1 6>2 0", "draws": 10, "draw_keys": 2},
        {"view": "why", "layer": 2, "head": 2, "query": 3, "key": 3, "out": "key", "from_key": "1.1"},
        {"view": "why", "kind": "cross", "layer": 2, "out": "query", "from_query": "1n", "key": 1},
        {"view": "written", "query": 2, "key": 2, "trail": "2.1.3.2k"},
        {"view": "written", "layer": 2, "query": 1, "key": 1, "from_key": "1.1"},
        {"view": "logit", "query": 2, "rank": 50, "against": 0, "from_key": "1n", "from_layer": 2},
        {"view": "graph", "query": 3, "share": 1, "from_key": "embedding@2"},
        {"view": "graph", "query": 1, "share": 30, "rank": 3, "against": 0},
        {"lines": "max", "changes": "", "kind": "decoder", "entries": "0,0,0 0,0,0", "ask": "-2,2"},
        {"lines": "rollout", "changes": "weight 1.1 2>9 0.7", "rescale": False, "pinned": "weight 1.1 6>2 1"},
    ],
    MasksState: [
        {"mask": "", "item": 1},
        {"mask": "window 1", "item": 1, "promise": "padding", "tries": 1},
        {"mask": "causal and window 2", "paint": "2x9.TAAAACQ", "place": "cross"},
        {"texts": "a much longer sentence stands beside the others here now\none", "item": 3, "pad_side": "left"},
        *({"view": "conventions", "convention": name} for name in CONVENTIONS),
        {"item": 1, "tries": 2},  # the sidebar's own text
    ],
    PositionsState: [
        *(
            {"view": "see", "a": a, "b": b, "bias_scale": scale}
            for (a, b), scale in combined({"pair": PAIRS, "scale": (PositionsState.bias_scale, OWN_SCALES)})
        ),
        *(
            {"view": "why", "a": a, "b": b, "measure": measure}
            for (a, b), measure in combined({"pair": PAIRS, "measure": MEASURES})
        ),
        *({"view": view, "a": a, "b": b} for a, b in PAIRS for view in ("model", "beyond", "fault")),
        *(
            {"a": a, "b": b, "length": 2, "width": 1, "heads": 1, "max_len": 2, "base": 2.0, "shift": 1, "position": 0}
            for a, b in (("sinusoidal", "t5"), ("learned", "alibi"), ("rope", "none"))
        ),
        *(
            {
                "a": a,
                "b": b,
                "length": 600,
                "width": 33,
                "heads": 32,
                "max_len": 500,
                "base": 1e6,
                "shift": 599,
                "head": 32,
            }
            for a, b in (("sinusoidal", "t5"), ("learned", "alibi"), ("rope", "alibi"))
        ),
        {"view": "see", "a": "alibi", "b": "t5", "length": 160, "square": "100,0,20,8"},
        {"a": "alibi", "b": "sinusoidal", "length": 160, "square": "10,10,1,1", "part": "8,8,1,1", "batch": 1},
    ],
    ModelLensState: [
        {},
        {"reach_length": 8, "reach_seeds": 1},
        *({"view": "tokens", "show": "batch", "cut": name, "paired": True, "row_length": 6} for name in ALWAYS),
        *({"view": "tokens", "show": "languages", "measure": measure} for measure in MEASURES_OF_TOKENS),
        *({"view": "tokens", "cut": name, "piece": 3, "second": "c\u0430t"} for name in ALWAYS),
    ],
    GenerateState: [{}, {"steps": 12}],
    TrainingState: [{}, {"task": "copy"}, {"view": "finetune", "way": "lora-2"}],
    ClinicState: [
        *(
            {"pasted": pasted}
            for pasted in ("0 -1e4\n0 0", "-inf -inf\n-inf -inf", "no mask", "[[0.5, -2.5], [3, 0]]", "1 1\n1 1")
        ),
        *({"view": "beside", "mistake": name} for name in MISTAKES),
        {"view": "tensor", "result": "2.5"},
        {"view": "tensor", "mistake": "diagonal hidden"},
    ],
    ProfilingState: [
        {"sizes": ""},
        {"sizes": "64 4 2 50", "targets": "without weights,LSTM", "backward": False},
        {"view": "length", "longest": 256},
        {"sizes": "\n".join(f"{32 * i} 1 1 8" for i in range(1, 21)), "row": 20},
    ],
}
# The other lenses draw their default state, which is quick to compute.
LENSES |= {picture.state: [{}] for picture in PICTURES.values() if picture.state not in LENSES}
USE_MODELS = [page for page in LENSES if any(PICTURES[name].uses_model for name in pictures_of(page))]
# Each further draw in the view of distances is another 5 networks: as few as can be chosen draw the same picture.
FEW_SEEDS = {"distance": {"reach_seeds": 3}}
LINKS = [
    (
        lens.state,
        dict(question.model),
        {**FEW_SEEDS.get(view, {}), **question.controls, **({"view": view} if view else {})},
    )
    for lens in lenses()
    for question in lens.questions
    for view in [question.view(lens.state)]
]
LINKS += [(page, {}, state) for page, states in LENSES.items() for state in states]
LINKS += [(page, model, LENSES[page][-1]) for page in USE_MODELS for model in MODELS if page is not ProfilingState]
AT_LEAST = 5  # links for which each picture is drawn


def drawn_for(page: Any, state: Values) -> list[str]:
    """The names of the pictures that belong to a link."""
    return pictures_of(page, state.get("view", ""))


def evenly(links: Sequence[T], most: int) -> list[T]:
    """These links, or `most` of them, the first and the last among them."""
    if len(links) <= most:
        return list(links)
    return [links[round(i * (len(links) - 1) / (most - 1))] for i in range(most)]


@cache
def drawn_by_place() -> dict[int, list[str]]:
    """A link's place in LINKS -> the pictures that are drawn for it: each for as many links as a law has examples."""
    by_place: dict[int, list[str]] = {place: [] for place in range(len(LINKS))}
    for name, picture in PICTURES.items():
        places = [i for i, (page, _, state) in enumerate(LINKS) if page is picture.state]
        places = [i for i in places if name in drawn_for(picture.state, LINKS[i][2])]
        for place in evenly(places, settings().max_examples):
            by_place[place].append(name)
    return by_place


_held: set[bytes] = set()  # digests of what was found in order


def check(kind: str, header: dict[str, Any], numbers: bytes) -> None:
    """The law of a kind of picture, once for all links whose pictures differ in their query alone."""
    told = json.dumps({**header, "query": kind}).encode()
    digest = blake2b(told + numbers, digest_size=16).digest()
    if digest not in _held:
        LAWS[kind](header, numbers)
        _held.add(digest)


def faults(page: Any, model: Values, state: Values, names: list[str]) -> list[str]:
    """The problems in these pictures of a link."""
    problems = []
    for name in names:
        picture = PICTURES[name]
        states = ((ModelState(**model), ""), (page(**state), picture.prefix))
        query = query_of(states)
        try:
            check(picture.canvas.name, *decode(made(name, query)))
        except AssertionError as problem:
            problems.append(f"{name}: {problem}\n  ?{query}")
    return problems


@pytest.mark.parametrize("name", PICTURES)
def test_each_kind_of_picture_has_a_law_for_its_scales(name):
    kind = PICTURES[name].canvas.name
    assert kind in LAWS, f"write in scale_laws.py what must hold of the scales of {kind!r}, as {name!r} is drawn"


def test_each_picture_is_drawn_for_several_links():
    links = Counter(name for names in drawn_by_place().values() for name in names)
    assert {name: links[name] for name in PICTURES if links[name] < AT_LEAST} == {}


@pytest.mark.parametrize(("place", "page", "model", "state"), [(i, *link) for i, link in enumerate(LINKS)])
def test_every_value_lies_on_the_scale_that_is_shown(request, place, page, model, state):
    everything = request.config.getoption("all_combinations")
    names = pictures_of(page) if everything else drawn_by_place()[place]
    assert not (problems := faults(page, model, state, names)), "\n".join(problems)


@pytest.mark.parametrize("busy", [(), (0, 1)])
@pytest.mark.parametrize("state", [{}, *LENSES[ProfilingState]])
def test_every_measurement_lies_on_the_scale_that_is_shown(monkeypatch, state, busy):
    monkeypatch.setattr(measurements, "find", lambda plan, *_: plan and plausible(plan, busy=busy))
    assert not (problems := faults(ProfilingState, {}, state, pictures_of(ProfilingState))), "\n".join(problems)


def drawn(values: list[float], scale: Scale, **more: Any) -> bytes:
    """A picture of one map with one row."""
    axes = {"rows": Axis(["row"], "", ""), "columns": Axis([str(i) for i in range(len(values))], "", "")}
    shown = Map(name="map", values=np.array([values], np.float32), scale=scale, **more)
    return encode(*content([shown], **axes, about=""))


@pytest.mark.parametrize(
    ("values", "scale", "fault"),
    [
        ([0.0, 0.5, 1.0], powers_of_ten(0.1, 1.0), "1 of 3 values, as 0, not in 0.1 to 1"),
        ([-0.1, 0.5], from_zero(0.5), "as -0.1, not in 0 to 0.5"),
        ([0.1, -0.5], holding(-0.5, -0.1), "as 0.1, not in -0.5 to 0"),
        ([-2.0, 1.0], around_zero(1.0), "as -2, not in -1 to 1"),
        ([0.1, 0.2], around_zero(100.0), "values from 0.1 to 0.2 are one colour"),
        ([0.0, -np.inf], SHARES, "a blank is NaN"),
    ],
)
def test_the_law_of_maps_finds_what_lies_off_its_scale(values, scale, fault):
    with pytest.raises(AssertionError, match=fault):
        LAWS["maps"](*decode(drawn(values, scale)))


@pytest.mark.parametrize(
    ("values", "scale", "more", "ends"),
    [
        ([0.25, 0.5], from_zero(0.5), {}, ("0", "0.50")),
        ([-79.5, -0.0], holding(-79.5, 0.0), {}, ("−79.50", "0")),
        ([-0.0625, 1.5, np.nan], around_zero(1.5), {}, ("−1.50", "+1.50")),
        ([1e-5, 1e-2], powers_of_ten(1e-6, 0.1), {}, ("10⁻⁶", "0.1")),
        ([1.0, 3.0], from_zero(3.0), {"whole": True}, ("0", "3")),
        ([0.0, 0.0], from_zero(0.0), {}, ("0", "1")),
        ([0.0, 1.0, np.inf], SHARES, {"words": ("no", "yes")}, ("no", "yes")),
    ],
)
def test_ends_of_scales_are_printed_as_they_are(values, scale, more, ends):
    header, numbers = decode(drawn(values, scale, **more))
    LAWS["maps"](header, numbers)
    assert (header["maps"][0]["lowText"], header["maps"][0]["highText"]) == ends


@pytest.mark.parametrize("ends", [(1, 1), (0, 0), (-1, 2), (0.5, 1), (2, 1), (float("nan"), 1), (True, 0)])
def test_a_scale_whose_0_has_no_colour_of_its_own_is_refused(ends):
    with pytest.raises(ValueError, match="the scale of a map: expected low < high, with 0 at an end or in the middle"):
        Scale(low=ends[0], high=ends[1])


def test_a_scale_of_powers_begins_above_0():
    with pytest.raises(ValueError, match="expected 0 < low < high, got 0 to 1"):
        powers_of_ten(0, 1)


def test_a_scale_keeps_its_side_of_0_in_another_size():
    assert holding(-8, 0).resized(2) == Scale(low=-2, high=0)
    assert around_zero(8).resized(2) == Scale(low=-2, high=2)
    assert from_zero(8).resized(0) == from_zero(8)
