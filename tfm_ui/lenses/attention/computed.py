"""What this lens computes of the model, kept by tfm_ui/live/cache.py. Results are shared: read them, never write."""

import torch

from tfm_core import ScaleExperiment, TransformerLayer
from tfm_core import scale_experiment as measure_scale
from tfm_ui.lenses.attention.arcs.weights import Lines, kept, maps
from tfm_ui.lenses.attention.inside import Inside, look_into
from tfm_ui.live import passes
from tfm_ui.live.cache import cached
from tfm_ui.state.model_state import ModelState


@cached()
def inside(state: ModelState, kind: str, layer: int) -> Inside:
    """What one attention read and wrote.

    Args:
        state: the model, and the texts that it reads.
        kind: "self" of a single stack; "encoder", "decoder" or "cross" of an encoder-decoder.
        layer: from 0.
    """
    a_pass, at = passes.run(state), passes.place(state, kind).replace("{layer}", str(layer))
    path, _, name = at.removesuffix(".{what}").rpartition(".")
    block = passes.modules(state).get_submodule(path)
    assert isinstance(block, TransformerLayer)
    start = passes.stack_of(state, kind)
    first = ("embedding", "position") if layer == 0 and kind != "cross" else ()
    before = {what: a_pass.stream[start + what] for what in first if start + what in a_pass.stream}
    return look_into(
        block,
        name,
        residual=a_pass.stream[at.format(what="residual_before")],
        memory=a_pass.stream[passes.memory_site(state)] if kind == "cross" else None,
        visible=torch.from_numpy(a_pass.attention[kind].visible),
        positional=passes.scheme(state, kind),
        before={what: x[0] if x.dim() == 3 else x for what, x in before.items()},  # positions have no batch axis
    )


@cached()
def lines(state: ModelState, kind: str, layer: int, how: str) -> Lines:
    """The weights behind the arcs.

    Args:
        state: the model, and the texts that it reads.
        kind: as in `Pass.attention`.
        layer: from 0.
        how: "heads", "mean", "max" or "rollout".
    """
    attention = passes.run(state).attention[kind]
    return kept(maps(attention, layer, how), attention.visible, how)


@cached()
def scale_experiment(widths: tuple[int, ...], draws: int, keys: int, seed: int) -> ScaleExperiment:
    """The library's experiment of this name."""
    return measure_scale(widths, draws=draws, keys=keys, seed=seed)
