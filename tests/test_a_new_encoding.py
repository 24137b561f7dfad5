"""A positional encoding is one entry: encodings unheard of are entered in `POSITIONAL`, and everything knows them.

`tests/example_encodings.py` has one for each place where a scheme may enter, and two that enter at two places.
"""

import inspect
import subprocess
import sys
from itertools import product

import pytest
import torch

from benchmarks.streamlit_private.app_test import go_to
from tests.example_encodings import ENCODINGS
from tests.laws.test_all_panels import faults
from tests.opening import ROOT, new_app
from tests.pages.test_app import text_on, widget
from tests.tfm_core.generation import test_cache as caches
from tests.tfm_core.model import test_recomputed as recordings
from tests.tfm_core.positional import test_schemes as laws
from tests.tfm_core.profiling import test_costs as operations
from tests.tfm_core.profiling import test_kinds as kinds
from tests.tfm_core.profiling import test_memory as peaks
from tests.tfm_core.toys import build, largest_error, random_ids
from tests.tfm_ui.lenses.profiling.reports import plausible
from tests.tfm_ui.payloads import decode
from tfm_core import ARCHITECTURES, POSITIONAL, TransformerConfig, generate, stack_blocks, surprise
from tfm_core.model.kind import MAX_LEN
from tfm_core.positional.schemes import Rotary
from tfm_core.profiling import TARGETS, Row, Setup, Size, costs
from tfm_core.study.position_laws import drawn_pair, turned_scores
from tfm_core.training.config import of_task
from tfm_core.training.lengths import is_defined
from tfm_ui.lenses import lens, lenses
from tfm_ui.lenses.heads.questions import sight
from tfm_ui.lenses.masks.state import MasksState
from tfm_ui.lenses.positions.state import CLAIMS, PositionsState
from tfm_ui.lenses.positions.table import Table
from tfm_ui.lenses.profiling.measurements import measurements
from tfm_ui.lenses.profiling.parts import formula_laws, parameter_formulas
from tfm_ui.lenses.training.decode.source import longest
from tfm_ui.live import script as scripts
from tfm_ui.pictures.panel import Note, Panel, panels_in
from tfm_ui.pictures.registry import made, query_of
from tfm_ui.state.fields import Choice, controls_of
from tfm_ui.state.model_state import ModelState
from tfm_ui.state.trained import longest_of

EVERY = pytest.mark.parametrize("name", ENCODINGS)
PRESENT = tuple(POSITIONAL)
SIZES = {"d_model": 32, "num_heads": 4, "num_layers": 2, "seq_len": 200, "batch": 3}
KINDS = (
    {},
    {"causal": True, "norm": "post", "activation": "relu"},
    {"architecture": "encoder-decoder", "vocab_size": 500},
)
LIKE = {"ramp": "sinusoidal", "slowed": "rope", "logarithm": "alibi"}  # the same place, and nothing that is trained
UNLIKE = [name for name in ENCODINGS if name not in LIKE]
WIDE = {"length": 70, "width": 6, "heads": 3, "max_len": 24}


def enter(patch: pytest.MonkeyPatch) -> None:
    """Enter them. The boxes of states were made when these were imported, as a start with the entries makes them."""
    for name, scheme in ENCODINGS.items():
        patch.setitem(POSITIONAL, name, scheme)
    for state in (ModelState, *(each.state for each in lenses())):
        for field, _ in controls_of(state).values():
            if isinstance(field, Choice) and set(PRESENT) <= set(field.options):
                patch.setitem(vars(field), "options", (*field.options, *ENCODINGS))


@pytest.fixture(autouse=True)
def _entered(monkeypatch: pytest.MonkeyPatch) -> None:
    enter(monkeypatch)


def of(name: str, **fields) -> ModelState:
    return ModelState(**{"positional": name, "text": "one two three two one", "seq_len": 6, "seed": 3, **fields})


# the library


@EVERY
def test_it_keeps_the_laws_that_all_schemes_keep(name):
    laws.test_tokens_after_a_cache_have_the_positions_that_they_have_in_the_whole_text(name)
    laws.test_each_pair_that_turns_turns_once_in_its_wavelength(name)
    caches.test_the_recording_shows_new_queries_over_all_keys(name)
    for architecture in ARCHITECTURES:
        laws.test_only_the_scheme_without_positions_is_blind_to_the_order(name, architecture)
        recordings.test_every_site_follows_from_its_predecessors(architecture, "pre", name, torch.float64)
        recordings.test_the_names_and_order_of_all_sites(architecture, "pre", name)


@EVERY
@pytest.mark.parametrize("place", ["encode", "rotate", "bias_at"])
def test_of_several_places_each_does_what_the_whole_does_there(name, place):
    sizes = {"d_model": 8, "num_heads": 2, "max_len": 9}
    whole = POSITIONAL[name](**sizes)
    if place not in whole.enters():
        return
    alone = type(whole).at(place)(**sizes)
    alone.load_state_dict({key: value for key, value in whole.state_dict().items() if key in alone.tables})
    assert alone.enters() == (place,)
    x = torch.randn(1, 2, 7, 4)
    for at, does in {
        "encode": lambda scheme: scheme.encode(7),
        "rotate": lambda scheme: scheme.rotate(x),
        "bias_at": lambda scheme: scheme.bias(7, 7),
    }.items():
        assert torch.equal(does(alone), does(whole)) if at == place else does(alone) is None
    assert sum(p.numel() for p in alone.parameters()) == whole.count_learned(**sizes).get(place, 0)


def test_where_positions_end_texts_do():
    name = "table-bias"
    model = build(positional=name, architecture="decoder", max_len=8)
    with pytest.raises(ValueError, match="at most max_len=8 table-bias positions, got 9"):
        generate(model, [1], steps=1, context=9)
    assert generate(model, [1], steps=1).context == 8
    assert len(surprise(model, random_ids(1, 20)[0].tolist()).bits) == 19
    with pytest.raises(ValueError, match=f"table-bias positions: expected at most {MAX_LEN}"):
        Size(**{**SIZES, "seq_len": MAX_LEN + 1}, positional=name)
    config = of_task("reverse", positional=name)
    length = config.about.length
    assert (longest_of(config), longest(config), is_defined(config, length + 1)) == (length, length, False)
    other = of_task("reverse", positional="ramp")
    assert longest_of(other) > length
    assert longest(other) == 2 * length
    assert is_defined(other, length + 1)


@EVERY
def test_blocks_have_as_many_parameters_as_the_model(name):
    for architecture in ("encoder", "encoder-decoder"):
        config = TransformerConfig(
            vocab_size=9, d_model=8, num_heads=2, max_len=9, positional=name, architecture=architecture
        )
        counted = sum(block.parameters for blocks in stack_blocks(config).values() for block in blocks)
        assert counted == sum(parameter.numel() for parameter in build(**vars(config)).parameters())


# what it costs


@pytest.mark.parametrize(
    ("name", "kind"),
    [*product((name for name in ENCODINGS if name not in LIKE), KINDS), *zip(LIKE, KINDS, strict=True)],
    ids=str,
)
def test_what_it_costs_is_what_is_measured(name, kind):
    """Parameters and operations to the last, memory as near as that of other schemes.

    What is like another scheme is so in all kinds, as the next test has it, and is measured in one.
    """
    kind = {**kind, "positional": name}
    kinds.test_parameters_are_as_many_as_the_module_has(kind)
    for target in ("with weights", "without weights", "fused", "nn.MultiheadAttention", "nn.TransformerEncoder"):
        for way in operations.WAYS:
            operations.test_operations_are_as_many_as_torch_counts(kind, target, way)
    for target in ("without weights", "fused", "fused math", "nn.TransformerEncoder"):
        peaks.test_of_every_kind(kind, peaks.NARROW, target)


@pytest.mark.parametrize(("name", "like"), LIKE.items())
@pytest.mark.parametrize("kind", KINDS, ids=str)
def test_it_is_foretold_what_another_scheme_of_its_place_is(name, like, kind):
    """What is foretold is right to the byte: a measurement leaves room for what is small."""
    setup = Setup()
    for target in ("with weights", "without weights", "fused", "fused math", "window"):
        ours, theirs = (Row(target, Size(**{**SIZES, **kind, "positional": scheme})) for scheme in (name, like))
        assert costs.call_seconds(ours, setup) == costs.call_seconds(theirs, setup)
        for backward in (False, True):
            peaks_of_both = [costs.peak_memory(row, setup, backward=backward) for row in (ours, theirs)]
            assert peaks_of_both[0] == peaks_of_both[1] > 0


@EVERY
def test_what_computes_the_same_gives_the_same(name):
    kinds.test_what_computes_the_same_gives_the_same({"positional": name})
    kinds.test_causal_models_do_not_look_ahead_and_others_do({"positional": name, "causal": True})


@EVERY
def test_profilings_formula_gives_its_parameters(name):
    size = Size(**SIZES, positional=name, architecture="encoder-decoder")
    counts = costs.parameters(Row("fused", size))
    held = formula_laws(parameter_formulas, counts, size)
    assert len(held) == len(counts)
    assert ("positions" in counts) == bool(ENCODINGS[name].tables)
    if name == "table-bias":
        assert any("2 × (1024 × d + heads) = 2 × (1024 × 32 + 4) = 65,544" in law for law in held)


def test_kernels_without_a_place_for_it_say_so(monkeypatch):
    def lacking(name: str, target: str) -> str:
        return TARGETS[target].lacks(Size(**SIZES, positional=name))

    assert "no place for slowed" in lacking("slowed", "nn.MultiheadAttention")
    assert "no place for table-bias" in lacking("table-bias", "nn.TransformerEncoder")
    assert "no gradient for the biases that table-bias learns" in lacking("table-bias", "fused flash")
    assert not lacking("ramp", "nn.TransformerEncoder")
    assert not lacking("logarithm", "fused flash")
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    stops = TARGETS["fused flash"].cannot(Size(**SIZES, positional="logarithm"), Setup(device="cuda", dtype="bfloat16"))
    assert "which logarithm adds to the scores" in stops


# on screen


def problems_of(model: ModelState, name: str, **fields) -> list[str]:
    """What is wrong with the panels of a lens, and with their pictures; each has its sources."""
    state = lens(name).state(**fields)
    recipes: list = []
    panels = [*panels_in(lens(name).blocks(model, state))]
    assert panels or any(isinstance(block, Note) for block in lens(name).blocks(model, state))
    problems = []
    with pytest.MonkeyPatch.context() as patch:
        body = scripts._body
        patch.setattr(scripts, "_body", lambda recipe: recipes.append(recipe) or body(recipe))
        for panel in panels:
            problems += faults(panel, recipes, [panel.picture_name])
            assert all(inspect.getsource(source) for source in panel.sources if not inspect.isbuiltin(source))
            assert panel.title
            assert panel.how_to_read is not None
            if panel.picture_name:
                assert decode(made(panel.picture_name, query_of(((model, ""), (state, lens(name).prefix)))))[0]
    return problems


def panels_of(model: ModelState, state: PositionsState) -> dict[str, Panel]:
    return {panel.title: panel for panel in panels_in(lens("positions").blocks(model, state))}


@EVERY
@pytest.mark.parametrize("fields", [{"view": "why", "claim": claim} for claim in CLAIMS] + [{}, {"view": "beyond"}])
def test_every_picture_of_schemes_shows_it(name, fields):
    """Laws hold, recipes run, sources are there, alone and beside each of the others."""
    assert not problems_of(of(name), "positions", **WIDE, **fields, a="sinusoidal", b=name)
    assert not problems_of(of(name), "positions", **{**WIDE, "width": 5, "length": 12}, **fields, a=name, b="nothing")


@EVERY
@pytest.mark.parametrize(
    ("view", "architecture"), [("model", "encoder-decoder"), ("fault", "decoder"), ("table", "encoder-decoder")]
)
def test_the_other_views_of_positions_show_it(name, view, architecture):
    assert not problems_of(of(name, architecture=architecture), "positions", view=view, a=name)


@EVERY
@pytest.mark.parametrize("place", [*lens("profiling").views])
def test_every_view_of_profiling_shows_it(name, place, monkeypatch):
    monkeypatch.setattr(measurements, "find", lambda plan, *_: plan and plausible(plan))
    for sizes in ({}, {"count_embedding": True, "vocabulary": 500}):
        assert not problems_of(of(name), "profiling", view=place, **sizes)


@pytest.mark.parametrize("name", ["slowed", "table-bias"])
@pytest.mark.parametrize("other", ["home", "heads", "attention", "masks", "model"])
def test_every_view_of_a_lens_of_the_model_shows_it(name, other):
    views = list(lens(other).views) if len(lens(other).views) > 1 else [""]
    for view in views:
        if view not in ("depth", "distance", "efficient"):  # of other models, built many times over
            assert not problems_of(of(name), other, **({"view": view} if view else {}))


@pytest.mark.parametrize(("name", "second"), [("table-bias", "added to scores"), ("added-turned", "turned")])
def test_what_enters_at_two_places_shows_both(name, second):
    both = f"A: {name}, added to embeddings", f"A: {name}, {second}"
    titles = list(panels_of(of(name), PositionsState(a=name, b="nothing", **WIDE)))
    assert all(title.startswith(beginning) for title, beginning in zip(titles, both, strict=False))
    for fields in ({"view": "why"}, {"view": "why", "claim": "by distance"}, {"view": "beyond"}):
        panels = panels_of(of(name), PositionsState(a=name, b="t5", **WIDE, **fields))
        told = " ".join(panel.sentence() for panel in panels.values())
        assert all(f"{title}: " in told for title in both)


def test_what_is_said_of_them_is_true():
    table = Table(ModelState(positional="table-bias", d_model=32, num_heads=4), PositionsState())
    cells = table.cells("table-bias")
    assert cells["parameters"] == f"{1024 * 32 + 4:,}"
    assert cells["enters"].count("added to the") == 2
    assert "Not defined past max_len: learned and table-bias." in table.sentence()
    of_kinds, _, _ = table.sentence().partition(". In the")
    where, apart = of_kinds.split("say where a token stands")
    assert "table-bias" in where
    assert "table-bias" in apart
    assert "ramp" in where
    assert "ramp" not in apart
    # each table's numbers are random by themselves
    titles = panels_of(of("table-bias"), PositionsState(a="table-bias", b="ramp", **WIDE))
    assert "with a standard deviation of 0.09" in titles["A: table-bias, added to scores"].sentence()
    assert "with a standard deviation of 0.5" in titles["A: table-bias, added to embeddings"].sentence()
    assert "noise" not in titles["B: ramp"].sentence()
    # a ramp is no wave and no table, a logarithm no slope, and what is slowed turns more slowly
    shift = panels_of(of("ramp"), PositionsState(view="why", claim="shift error", a="ramp", **WIDE)).popitem()[1]
    assert "A: ramp: the best matrix" in shift.sentence()
    beyond = panels_of(of("logarithm"), PositionsState(view="beyond", a="logarithm", b="slowed", **WIDE))
    assert list(beyond["Scores past max_len"].laws()) == []
    waves = panels_of(of("slowed"), PositionsState(a="slowed", b="rope", **WIDE))["Wavelengths"].sentence()
    assert "A: slowed: 3 waves of 25.1 to" in waves
    assert "B: rope: 3 waves of 6.28 to" in waves
    clocks = panels_of(of("slowed"), PositionsState(a="slowed", b="rope", position=8, key=0, **WIDE))
    assert clocks["A: slowed, a turn per pair"].turns.between[0].item() == pytest.approx(2)
    turned = PositionsState(view="why", claim="turned scores", a="slowed", b="ramp", **WIDE)
    scores = panels_of(of("slowed"), turned)["One score per distance"].scores
    of_rope = turned_scores(Rotary(d_model=6, num_heads=1, max_len=1), *drawn_pair(6, seed=3), *[torch.arange(9)] * 2)
    assert len(scores) == 35  # of 70 positions every second
    assert largest_error(scores[::2, ::2][:9, :9], of_rope) < 1e-4  # four positions are as one of RoPE


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("logarithm", "No slope makes them so: ALiBi is not chosen, and the logarithm’s bias has no slopes."),
        ("table-bias", "ALiBi is not chosen, and the table with slopes’s bias is random."),
        ("ramp", "only ALiBi has one for each head."),
    ],
)
def test_heads_tell_why_they_see_differently_far(name, words):
    assert words in sight(of(name), lens("heads").state())


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("slowed", "slowed turns queries and keys within the attention"),
        ("table-bias", "table-bias adds to the scores within the attention"),
        ("ramp", ""),
    ],
)
def test_masks_tell_what_other_libraries_calls_do_not_know(name, words):
    notes = [
        block.text
        for block in lens("masks").blocks(of(name), MasksState(view="conventions"))
        if isinstance(block, Note)
    ]
    assert any(words in note for note in notes) if words else not any("within the attention" in note for note in notes)


def test_a_page_offers_it_and_opens_with_it():
    app = go_to(new_app(positional="table-bias", positions_a="table-bias", positions_b="slowed"), "positions").run()
    assert not app.exception
    for box in ("positional", "positions_a"):
        assert set(ENCODINGS) <= set(widget(app, box).options)
        assert widget(app, box).value == "table-bias"
    assert "A: table-bias, added to scores" in text_on(app)
    widget(app, "positions_a").set_value("logarithm").run()
    assert not app.exception
    assert app.session_state["positions_a"] == "logarithm"
    assert "A: logarithm" in text_on(app)


def test_an_app_that_starts_with_the_entry_offers_it():
    """Entered before anything of the app is imported, as a line in schemes.py is."""
    code = """
from tests.example_encodings import ENCODINGS
from tfm_core.positional.schemes import POSITIONAL
POSITIONAL["ramp"] = ENCODINGS["ramp"]
from tfm_ui.state.fields import controls_of
from tfm_ui.state.model_state import ModelState
field, default = controls_of(ModelState)["positional"]
print(*field.options, field.read("ramp", default))
"""
    told = subprocess.run([sys.executable, "-c", code], cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True).stdout
    assert told == f"{' '.join(PRESENT)} ramp ('ramp', '')\n"
