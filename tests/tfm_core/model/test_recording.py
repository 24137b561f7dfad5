"""Recording: who keeps what, what edits change and what not, what it costs, what a misspelt name is answered."""

import inspect
import sys
from concurrent.futures import ThreadPoolExecutor
from fnmatch import fnmatchcase
from pathlib import Path
from threading import Barrier

import pytest
import torch
import torch.nn.functional as F

from tests.tfm_core.toys import VOCAB, build, largest_error, random_ids, run
from tfm_core import ARCHITECTURES, NORMS, POSITIONAL, recording, tap

WEIGHTS = "layers.1.self_attention.weights"
TOKENS = random_ids(2, 6)


@pytest.fixture
def fused_calls(monkeypatch):
    """The calls that torch's own attention kernel gets."""
    calls, kernel = [], F.scaled_dot_product_attention

    def counting(*arguments, **keywords):
        calls.append(arguments)
        return kernel(*arguments, **keywords)

    monkeypatch.setattr(F, "scaled_dot_product_attention", counting)
    return calls


@pytest.mark.crossed(positional=POSITIONAL, architecture=ARCHITECTURES, norm=NORMS, padded=[False, True])
def test_the_fused_kernel_works_while_nobody_listens_and_agrees(architecture, norm, positional, padded, fused_calls):
    model = build(architecture=architecture, norm=norm, positional=positional)
    tokens = TOKENS.clone()
    if padded:
        tokens[0, 3:] = 0
    fused = run(model, tokens)
    attentions = 6 if architecture == "encoder-decoder" else 2
    assert len(fused_calls) == attentions
    with recording():
        recorded = run(model, tokens)
    assert len(fused_calls) == attentions
    assert largest_error(recorded, fused) < 1e-5


@pytest.mark.parametrize(
    ("sites", "edited", "fused"),
    [
        ([], None, 2),
        ("logits", None, 2),
        (["*.head_output", "*.query", "*.residual_after"], None, 2),
        ("layers.0.self_attention.weights", None, 1),
        ("layers.1.self_attention.masked_scores", None, 1),
        ("*.scores", None, 0),
        (None, None, 0),
        *(("logits", f"layers.0.self_attention.{site}", 1) for site in ("scores", "masked_scores", "weights")),
    ],
)
def test_only_layers_whose_scores_or_weights_are_wanted_or_edited_write_them_down(sites, edited, fused, fused_calls):
    with recording(sites, {edited: lambda x: x} if edited else {}):
        build()(TOKENS)
    assert len(fused_calls) == fused


@pytest.mark.parametrize("sites", [["logits"], ["embedding", "final_norm"], ["*.weights"], ["layers.0.f*.*"], []])
def test_what_nobody_wants_is_not_kept(sites):
    with recording() as everything, recording(sites) as trace:
        build()(TOKENS)
    kept = {site for site in everything if any(fnmatchcase(site, wanted) for wanted in sites)}
    assert bool(kept) == bool(sites)
    assert set(trace) == kept
    assert len(trace) == len(kept)
    assert all(torch.equal(trace[site], everything[site]) for site in kept)


def test_nothing_is_recorded_outside_the_block_and_the_trace_outlives_it():
    model = build()
    with recording() as trace:
        model(TOKENS)
    before = dict(trace)
    model(random_ids(1, 3, seed=5))
    assert dict(trace) == before
    assert "logits" in repr(trace)


def test_an_error_inside_the_block_comes_out_and_closes_the_recording(fused_calls):
    model = build()
    with pytest.raises(ZeroDivisionError), recording("no such site"):
        raise ZeroDivisionError
    model(TOKENS)
    assert len(fused_calls) == 2


def test_each_of_two_nested_recordings_keeps_what_it_asked_for():
    model = build()
    with recording("*.weights") as outer:
        first = model(TOKENS)
        with recording("logits") as inner:
            second = model(random_ids(1, 4, seed=5))
        assert set(inner) == {"logits"}
        assert torch.equal(inner["logits"], second)
    assert "logits" not in set(outer)
    assert outer[WEIGHTS].shape[-1] == 4 != first.shape[1]


MISSPELT = ["layers.1.self_attention.weight", "layer.1.self_attention.weights", "layers.1.selfattention.weights"]


@pytest.mark.parametrize("name", MISSPELT)
@pytest.mark.parametrize("where", ["sites", "edits"])
def test_a_misspelt_site_is_refused_and_told_its_neighbours(name, where):
    asked = {"sites": ["logits", name]} if where == "sites" else {"edits": {name: lambda x: x}}
    with pytest.raises(ValueError, match="did you mean") as error, recording(**asked):
        build()(TOKENS)
    assert repr(name) in str(error.value)
    assert WEIGHTS in str(error.value)


def test_a_pattern_that_fits_nothing_is_refused():
    with pytest.raises(ValueError, match=r"'\*\.wieghts'"), recording("*.wieghts"):
        build()(TOKENS)


@pytest.mark.parametrize("sites", [None, "*.weights", []])
def test_reading_a_misspelt_site_names_its_neighbours(sites):
    with recording(sites) as trace:
        build()(TOKENS)
    with pytest.raises(KeyError) as error:
        trace[MISSPELT[0]]
    assert WEIGHTS in str(error.value)
    assert MISSPELT[0] not in trace


def test_reading_a_site_that_was_not_asked_for_says_so():
    with recording("logits") as trace:
        build()(TOKENS)
    with pytest.raises(KeyError, match=f"{WEIGHTS} was not asked for"):
        trace[WEIGHTS]


def test_a_recording_in_which_no_model_ran_is_empty_and_says_so():
    with recording("logits") as trace:
        pass
    assert len(trace) == 0
    with pytest.raises(KeyError, match="no model ran"):
        trace["logits"]


def test_a_tap_anywhere_is_heard_and_without_listener_gives_the_tensor_itself():
    x = torch.ones(2)
    assert tap("mine", x) is x
    with recording() as trace:
        assert tap("mine", x) is x
    assert trace["mine"] is x


def test_blocks_in_generators_may_end_in_any_order():
    def listen():
        with recording() as trace:
            yield trace

    first, second = listen(), listen()
    traces = next(first), next(second)
    first.close()
    tap("site", torch.ones(1))
    second.close()
    tap("site", torch.zeros(1))
    assert [len(trace) for trace in traces] == [0, 1]
    assert traces[1]["site"] == 1


def test_what_python_does_of_its_own_in_a_layer_is_little():
    """Python is a good part of a small model's time: here calls of the library's own functions are counted."""
    library = Path(inspect.getfile(tap)).parent.name
    counts = []
    for layers in (1, 2):
        model, calls = build(num_layers=layers).eval(), []

        def count(frame, event, _, calls=calls):
            if event == "call" and Path(frame.f_code.co_filename).parent.name == library:
                calls.append(frame.f_code.co_qualname)

        with torch.no_grad(), recording("*.weights"):
            model(TOKENS)  # what is worked out once
        with torch.no_grad(), recording("*.weights"):
            sys.setprofile(count)
            try:
                model(TOKENS)
            finally:
                sys.setprofile(None)
        counts.append(len(calls))
    a_layer = counts[1] - counts[0]
    assert 14 * 4 < a_layer < 120  # at each of its 14 sites two calls offer the tensor, two more listen


# edits


def test_the_inner_of_two_edits_comes_second_and_both_traces_hold_the_outcome():
    model = build()
    with (
        recording("logits", {"logits": lambda x: x * 0 + 3}) as outer,
        recording("logits", {"logits": lambda x: x + 1}) as inner,
    ):
        logits = model(TOKENS)
    assert (logits == 4).all()
    assert torch.equal(outer["logits"], logits)
    assert torch.equal(inner["logits"], logits)


@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_an_edit_of_any_site_reaches_the_logits_and_a_patch_brings_them_back(architecture):
    """An edit doubles the site; putting the recorded tensor there instead gives the untouched logits."""
    model = build(architecture=architecture, positional="rope")
    with recording() as clean:
        logits = run(model, TOKENS)
    for site in clean:
        if site.endswith("scores"):  # twice -inf is what it was
            edit = {site: lambda x: x * 3}
        elif site.endswith("mask"):
            edit = {site: lambda x: torch.eye(*x.shape[-2:]).bool().expand_as(x).clone()}
        else:
            edit = {site: lambda x: x * -1.5 + torch.linspace(0, 1, x.numel()).view(x.shape)}
        with recording([], edit):
            assert largest_error(run(model, TOKENS), logits) > 1e-5, site
        with recording([], {site: clean[site]}):
            assert largest_error(run(model, TOKENS), logits) < 1e-5, site


def test_one_edit_may_name_many_sites():
    with recording("*.weights", {"*.weights": lambda x: torch.full_like(x, 0.5)}) as trace:
        build()(TOKENS)
    assert [bool((weights == 0.5).all()) for weights in trace.values()] == [True, True]


@pytest.mark.parametrize("positional", POSITIONAL)
def test_an_edit_in_place_changes_neither_the_parameters_nor_what_was_recorded_before(positional):
    model = build(positional=positional)
    parameters = {name: value.clone() for name, value in model.state_dict().items()}
    with torch.no_grad(), recording() as clean:
        model(TOKENS)
    kept = {site: tensor.clone() for site, tensor in clean.items()}
    for site in kept:
        with torch.no_grad(), recording(edits={site: lambda x: x.fill_(0.5)}) as trace:
            model(TOKENS)
        assert (trace[site] == torch.full((), 0.5).to(trace[site].dtype)).all()
        for earlier in list(kept)[: list(kept).index(site)]:
            assert torch.equal(trace[earlier], kept[earlier]), (site, earlier)
    assert all(torch.equal(value, parameters[name]) for name, value in model.state_dict().items())
    assert all(torch.equal(clean[site], kept[site]) for site in kept)


# one model, many threads: each sees its own pass and nobody else's


THREADS, PASSES, EDITED = 8, 80, 40  # a listener that the threads share is found within 25


def own_ids(thread):
    """A text for each thread, the lengths differing too."""
    return torch.arange(3 + thread).add(thread).remainder(VOCAB - 1).add(1)[None]


def together(work):
    """Let all threads start at once; each one's result."""
    barrier = Barrier(THREADS)

    def start(thread):
        barrier.wait(timeout=30)
        with torch.no_grad():
            return work(thread)

    with ThreadPoolExecutor(THREADS) as pool:
        return list(pool.map(start, range(THREADS)))


def test_no_recording_ever_sees_another_thread_s_pass():
    model = build(num_layers=1)
    expected = []
    with torch.no_grad():
        for thread in range(THREADS):
            with recording() as trace:
                model(own_ids(thread))
            expected.append(dict(trace))

    def foreign_passes(thread):
        wrong = 0
        for _ in range(PASSES):
            with recording() as trace:
                model(own_ids(thread))
            wrong += any(not torch.equal(trace[site], tensor) for site, tensor in expected[thread].items())
        return wrong

    assert together(foreign_passes) == [0] * THREADS


def test_an_edit_stays_on_its_thread_and_a_thread_without_recording_is_not_recorded():
    model = build(num_layers=1)
    ids = own_ids(0)
    with torch.no_grad():
        plain = model(ids)

    def wrong_logits(thread):
        wrong = 0
        for _ in range(EDITED):
            if thread % 2:
                with recording("logits", {"logits": lambda x: x * 0 + thread}) as trace:
                    model(ids)
                wrong += not bool((trace["logits"] == thread).all())
            else:
                wrong += not torch.equal(model(ids), plain)
        return wrong

    with recording() as outside:
        assert together(wrong_logits) == [0] * THREADS
    assert len(outside) == 0
