"""While a model is cached, looking at another head, layer or view runs no pass and draws no weights."""

from collections import Counter
from collections.abc import Callable
from dataclasses import fields, replace

import pytest

from tests.laws import (
    clinic_lens_fields,
    generate_lens_fields,
    model_lens_fields,
    profiling_lens_fields,
    training_lens_fields,
)
from tfm_core import Transformer
from tfm_core.model import initialization, transformer
from tfm_core.model.transformer import Stack
from tfm_ui.lenses.attention.contribution import Contribution
from tfm_ui.lenses.attention.state import AttentionState
from tfm_ui.lenses.clinic.state import ClinicState
from tfm_ui.lenses.generate.state import GenerateState
from tfm_ui.lenses.heads.state import HeadsState
from tfm_ui.lenses.masks.conventions.table import Conventions
from tfm_ui.lenses.masks.state import MasksState
from tfm_ui.lenses.model.state import ModelLensState
from tfm_ui.lenses.positions import schemes as positions_schemes
from tfm_ui.lenses.positions.state import PositionsState
from tfm_ui.lenses.profiling.state import ProfilingState
from tfm_ui.lenses.training.state import TrainingState
from tfm_ui.live import cache, passes
from tfm_ui.pictures.registry import PICTURES, Asked, made, query_of
from tfm_ui.state.fields import local_to
from tfm_ui.state.lens_state import LensState
from tfm_ui.state.model_state import ModelState

SINGLE = ModelState(text="a b c d", seq_len=6, positional="rope", causal=False)
BOTH = ModelState(text="a b c d", seq_len=6, positional="t5", architecture="encoder-decoder", norm="post")

# Lens's state -> field -> another value: fields that say what is looked at. No pass depends on them.
LOOKS = {
    HeadsState: {
        **{"view": "roles", "kind": "cross", "layer": 2, "head": 3, "scale": "own"},
        **{"role": "verb", "breaks": "moved"},
    },
    AttentionState: {
        "view": "change",
        "kind": "cross",  # of the stack that is looked at: the other one's residual stream is not kept
        "layer": 2,
        "head": 3,
        "step": "value",
        "whole": False,
        "query": 2,
        "key": 3,
        "dim": 2,
        "channel": 4,
        "scaled": False,
        "masked": False,
        "temperature": 2.0,
        "lines": "rollout",
        "heads": "1 2",
        "tokens": "q1",
        "mass": 50,
        "hide": "none",
        "rescale": False,
        "from_query": "biases",
        "from_key": "embedding",
        "from_layer": 2,
        "trail": "d2.1.2.1k",
        "rank": 2,
        "against": 0,
        "share": 10,
        "draws": 20,
        "draw_keys": 8,
        "draw_seed": 3,
        "entries": "1,0,5 0,1,6",
        "ask": "0.1,0.2",
    },
    PositionsState: {
        "view": "fault",
        "claim": "by distance",
        "bias_scale": "each its own",
        "position": 5,
        "key": 6,
        "dims": "0 2",
        "shift": 3,
        "head": 2,
        "part": "0,0,8,8",
        "square": "0,0,8,8",
        "measure": "distance",
        "pair": 2,
        "layer": 2,
        "model_head": 3,
        "part_maps": "0,0,3,3",
        "item": 3,
    },
    ModelLensState: model_lens_fields.LOOKS,
    GenerateState: generate_lens_fields.LOOKS,
    MasksState: {
        "view": "padding",
        "layer": 2,
        "head": 3,
        "part": "0,0,3,3",
        "empty_in": "all layers",
        "promise": "causal",
        "changed": 2,
        "moved": 3,
        "whole": "0123456789ab",
        "convention": "SDPA, boolean",
    },
    ClinicState: clinic_lens_fields.LOOKS,
    ProfilingState: profiling_lens_fields.LOOKS,
    TrainingState: training_lens_fields.LOOKS,
}
for looks in LOOKS.values():
    looks["question"] = 2

# Lens's state -> field -> another value: fields that need another pass, or other weights.
RUNS = {
    AttentionState: {
        "changes": "silence 1.1",  # another model
        "pinned": "silence 1.2",
    },
    PositionsState: {
        "a": "sinusoidal",  # another scheme is drawn and added
        "pairing": "neighbours",  # likewise
        "width": 32,  # schemes of another make
        "heads": 4,
        "max_len": 24,  # of a table that is drawn
        "base": 100.0,
        "shuffle": 4,  # another text
        "batch": 2,  # more or fewer sentences
    },
    ModelLensState: model_lens_fields.RUNS,
    TrainingState: training_lens_fields.RUNS,
    MasksState: {
        "texts": "x y",  # other sentences
        "item": 1,
        "mask": "window 2",  # other masks
        "paint": "1x1.TAg",
        "tries": 2,  # fewer tokens are tried
        "pad_side": "left",  # padding elsewhere
        "row": 1,  # another row is emptied
    },
}
# Lens's state -> fields that are left out: in some models they need another pass, in others not.
EITHER = {
    AttentionState: ("out",),  # a source that is named beside it is silenced
    PositionsState: ("b", "length"),
    MasksState: ("place",),
    ModelLensState: model_lens_fields.EITHER,
    GenerateState: generate_lens_fields.EITHER,
    TrainingState: training_lens_fields.EITHER,
}
STARTS = {state: state() for state in LOOKS} | {
    HeadsState: HeadsState(kind="decoder"),
    AttentionState: AttentionState(kind="decoder"),
    PositionsState: PositionsState(a="learned"),
    MasksState: MasksState(place="cross"),
    ModelLensState: ModelLensState(reach_length=8, reach_seeds=5),  # the shortest takes the least time
}
CUTS = {"attention_graph_check"}  # it runs a changed model for each edge that is drawn, whatever else is looked at
PAGES: dict[type[LensState], list[str]] = {}
for name, picture in PICTURES.items():
    PAGES.setdefault(picture.state, []).append(name)


@pytest.fixture
def trained_runs_are_read() -> None:
    """What Home shows of a trained run is read once in a process, and its tensors are compared with a model's."""
    ask(LensState, SINGLE, LensState())


@pytest.fixture
def counted(monkeypatch) -> Counter:
    """How often a stack and a model have run, and how often weights were drawn."""
    counts: Counter = Counter()

    def count(owner, name):
        original = getattr(owner, name)

        def counting(*args, **more):
            counts[name if owner is not Stack else "stack"] += 1
            return original(*args, **more)

        monkeypatch.setattr(owner, name, counting)

    count(Stack, "forward")
    count(Transformer, "states")  # which its forward calls
    count(transformer, "fill_parameters")
    count(positions_schemes, "fill_parameters")
    cache.clear()
    return counts


def without_local(states):
    """These states as the server sees them."""
    local = [{f.name: f.default for f in fields(state) if f.name in local_to(type(state))} for state, _ in states]
    return tuple((replace(state, **defaults), prefix) for (state, prefix), defaults in zip(states, local, strict=True))


def ask(page: type[LensState], model: ModelState, state, until: Callable[[], object] = lambda: False) -> None:
    """Compute all pictures of a lens, and what its panels say that is not in a picture, or as many as it takes."""
    for name in PAGES[page]:
        if name in CUTS:
            continue
        if until():
            return
        states = ((model, ""), (state, PICTURES[name].prefix))
        assert PICTURES[name].states(Asked(query_of(states))) == without_local(states)
        made(name, query_of(states))
    if page is MasksState:
        assert Conventions(model, state).verified
    if page is AttentionState:
        Contribution(model, state).laws()


def test_each_field_of_each_page_is_one_that_a_pass_hangs_on_or_is_none():
    assert set(PAGES) == {LensState, *LOOKS}, "enter the lens's state in LOOKS and STARTS"
    for page, looks in LOOKS.items():
        named = [*looks, *RUNS.get(page, {}), *EITHER.get(page, ())]
        every = sorted(field.name for field in fields(page))
        assert sorted(named) == every, "enter the field in LOOKS if no pass depends on it, else in RUNS or EITHER"


@pytest.mark.parametrize("model", [SINGLE, BOTH])
@pytest.mark.parametrize("page", LOOKS)
def test_what_is_only_looked_at_otherwise_is_not_run_again(request, page, model, counted):
    """Each field is changed alone with one of the models, and together with the others with both."""
    start, looks = STARTS[page], LOOKS[page]
    names = list(looks) if request.config.getoption("all_combinations") else list(looks)[model is BOTH :: 2]
    ask(page, model, start)
    again = {}
    for changed in (list(looks), *([name] for name in names)):
        assert page is ProfilingState or all(getattr(start, name) != looks[name] for name in changed)
        counted.clear()
        ask(page, model, replace(start, **{name: looks[name] for name in changed}))
        again |= {" ".join(changed): dict(counted)} if counted else {}
    assert again == {}


@pytest.mark.parametrize("page", RUNS)
def test_what_makes_another_pass_is_known(page, counted):
    start = STARTS[page]
    ask(page, SINGLE, start)
    for name, value in RUNS[page].items():
        counted.clear()
        ask(page, SINGLE, replace(start, **{name: value}), until=counted.total)
        assert counted, name


def test_of_an_encoder_decoder_the_other_stacks_stream_is_another_pass_of_a_and_of_b(counted):
    ask(AttentionState, BOTH, AttentionState(kind="encoder"))
    counted.clear()
    ask(AttentionState, BOTH, AttentionState(kind="decoder"))
    assert counted["states"] == 2


def test_home_heads_and_the_attention_lens_share_one_pass(trained_runs_are_read, counted):
    ask(LensState, BOTH, LensState())
    ask(HeadsState, BOTH, HeadsState())
    ask(AttentionState, BOTH, AttentionState(changes=""))
    # And A and B of the view "change"; and the pass that the views on parts record whole.
    assert (counted["states"], counted["fill_parameters"]) == (4, 1)


@pytest.mark.parametrize("changes", [{"num_heads": 2}, {"positional": "alibi"}, {"causal": True}, {"norm": "post"}])
def test_a_change_of_the_model_that_changes_no_weight_draws_none(changes, monkeypatch):
    kept = passes.transformer(SINGLE.config)

    def refuse(seed, name, shape, std):
        pytest.fail(f"expected no drawing, got {name} of shape {shape}")

    monkeypatch.setattr(initialization, "draw", refuse)
    changed = Transformer(SINGLE.varied(**changes).config, passes.PARAMETERS)
    assert changed.unembedding.weight is kept.unembedding.weight


def test_parameters_are_counted_once_a_shape_and_nothing_is_drawn_for_it(monkeypatch):
    model = SINGLE.varied(d_model=24, num_heads=3, seed=4)
    real = sum(parameter.numel() for parameter in Transformer(model.config).parameters())
    monkeypatch.setattr(initialization, "draw", lambda *_: pytest.fail("expected no drawing"))
    assert passes.parameters(model.config) == real
    monkeypatch.setattr(passes, "block_parameters", lambda _: pytest.fail("expected no other count"))
    assert passes.parameters(model.varied(seed=5).config) == real


def test_the_weights_are_drawn_by_what_is_counted():
    assert transformer.fill_parameters is positions_schemes.fill_parameters is initialization.fill_parameters
