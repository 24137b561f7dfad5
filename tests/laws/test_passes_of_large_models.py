"""No picture of a large model runs more passes than it shows, however small the cache is: the first one takes seconds.

What is counted are multiply-adds, as no clock is the same twice, in passes of the sidebar's model through a long text.
"""

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils.flop_counter import flop_registry

from tfm_ui.lenses import lenses
from tfm_ui.live import cache, passes
from tfm_ui.page import words
from tfm_ui.pictures.registry import PICTURES, made, query_of
from tfm_ui.state.model_state import ModelState

WORDS_READ = " ".join(f"w{i}" for i in range(260))  # of more than 256 tokens a pass is heavy, and maps are pooled
MODEL = ModelState(
    text=WORDS_READ, target=WORDS_READ, seq_len=260, architecture="encoder-decoder", num_layers=4, num_heads=4
)
PASSES = 1.3  # one that the view shows, and a little for what is computed again of single heads
NORMS, ACTIVATIONS, BATCH, SHUFFLED, LENS = 2.1, 1.8, 1.7, 3.2, 3.5
PARTS = 2.2  # the pass, and a second one that is recorded whole, for what each sub-layer wrote
MORE = {  # views that compare models or sentences run as many as they show
    **dict.fromkeys(["attention.words of change", "change_output", "change_stream", "change_weights"], 2.1),
    **dict.fromkeys(
        ["attention.words of why", "attention.slow of why", "why", "why_query", "why_key", "why_lead"], PARTS
    ),
    **dict.fromkeys(["attention.words of written", "attention.slow of written", "written", "written_sources"], PARTS),
    **dict.fromkeys(["why_without_key", "why_without_query"], PARTS),
    **dict.fromkeys(["attention.words of logit", "logit", "logit_heads"], PARTS),
    **dict.fromkeys(["attention.words of graph", "attention_graph"], 2.4),
    # With a pass for each of up to ten edges that are cut.
    **dict.fromkeys(["attention.slow of graph", "attention_graph_check"], 12),
    "masks.words of conventions": 3.3,  # the sentences of the batch
    **dict.fromkeys(["model.words of block", "model_block_both", "model_block_lengths"], NORMS),
    "model.words of efficient": 1.4,  # a layer of each kind of attention
    **dict.fromkeys(
        ["model.words of feed_forward", "model_activations", "model_hidden", "model_one_unit"], ACTIVATIONS
    ),
    **dict.fromkeys(["model.words of masked", "model_masked"], 2.1),  # Lab BERT, with the word hidden and as it stands
    "model.words of sentences": 1.5,  # Lab BERT on the text, and on five sentences
    "model.words of output": 4.5,  # the tied model and the untied one, and the lens, which reads out each layer
    "model_output_at": LENS,
    "model_output_lens": LENS,
    "model_output_tied": 2.1,
    # A batch of three, with the positions along the wrong axis.
    **dict.fromkeys(["positions.words of fault", "positions_fault_added", "positions_fault_maps"], BATCH),
    "positions_distance": BATCH,
    "positions_maps": BATCH,
    "positions.words of model": BATCH,
    "positions.slow of model": SHUFFLED,
    "positions_shuffled": SHUFFLED,  # two schemes, each with the text as written and shuffled
    "profiling_length_time": 9,  # how fast the machine multiplies, whatever the model is
}
PLANNED = {"leaks", "padding", "depth", "distance"}  # views that plan how much they run, which tests of theirs hold to


class Counted(TorchDispatchMode):
    """Counts the operations of products of matrices. Torch's own counter fails where a view asks for gradients."""

    def __init__(self) -> None:
        super().__init__()
        self.operations = 0

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        out = func(*args, **(kwargs or {}))
        if count := flop_registry.get(func._overloadpacket):
            self.operations += count(*args, **(kwargs or {}), out_val=out)
        return out


def operations(compute: Callable[[], object]) -> int:
    """How many operations a computation takes that finds nothing in the cache."""
    cache.clear()
    with Counted() as counted:
        compute()
    return counted.operations


def a_whole_pass() -> None:
    """What all limits are counted in: a pass with the logits of all tokens, of which `passes.run` computes the last."""
    with torch.no_grad():
        passes.forward(MODEL)


@pytest.fixture
def no_room(monkeypatch: pytest.MonkeyPatch) -> None:
    """A cache that keeps nothing, as that of each of many processes, for which a large pass is too much."""
    monkeypatch.setattr(cache.CACHE, "getsizeof", lambda _: cache.CACHE.maxsize + 1)


@pytest.mark.parametrize("lens", lenses(), ids=lambda lens: lens.name)
def test_a_page_tells_of_the_sidebars_pass_exactly_where_it_shows_it(lens, monkeypatch):
    """A view that says so shows what `passes.run` has recorded; another one does not have it run for the facts."""
    model = ModelState(architecture="encoder-decoder")
    told, shows, runs = set(), set(), []
    monkeypatch.setattr(passes, "Pass", lambda real=passes.Pass, **kept: runs.append(1) or real(**kept))
    for name, view in lens.views.items():
        state = lens.state(**{"view": name} if len(lens.views) > 1 else {})
        cache.clear()
        runs.clear()
        view.shown(model, state)
        for picture in view.pictures.values():
            picture.content(model, state)
        if runs:
            shows.add(name)
        cache.clear()
        runs.clear()
        facts = words.of_page(lens, model, state)["places"].get("facts", {"facts": ()})["facts"]
        if "Computed in" in dict(facts):
            told.add(name)
        assert bool(runs) == (name in shows)
    assert told == shows


@pytest.mark.parametrize("lens", lenses(), ids=lambda lens: lens.name)
def test_no_picture_and_no_words_take_more_passes_than_they_show(lens, no_room):
    a_pass = operations(a_whole_pass)
    assert MODEL.is_heavy
    over = {}
    for view, shown in lens.views.items():
        if not shown.uses_model or view in PLANNED:
            continue
        state = lens.state(**{"view": view} if len(lens.views) > 1 else {})
        of_model = [name for name, picture in shown.pictures.items() if picture.uses_model]
        words_of_page, _, slow_words = words.names(lens)
        for name in (*of_model, words_of_page, slow_words):
            query = query_of(((MODEL, ""), (state, lens.prefix)))
            called = name if name in PICTURES else f"{name} of {view}"
            taken = operations(lambda name=name, query=query: made(name, query)) / a_pass
            if taken > MORE.get(called, PASSES):
                over[called] = round(taken, 2)
    assert over == {}
