"""What several views of this lens compute of the model, kept by tfm_ui/live/cache.py.

Results are shared: read them, never write into them.
"""

import torch

from tfm_core import TransformerLayer
from tfm_ui.lenses.attention.inside import Inside, look_into
from tfm_ui.live import passes, places
from tfm_ui.live.cache import cached
from tfm_ui.state.model_state import ModelState


@cached()
def inside(model: ModelState, kind: str, layer: int) -> Inside:
    """What one attention read and wrote.

    Args:
        model: the model, and the texts that it reads.
        kind: "self" of a single stack; "encoder", "decoder" or "cross" of an encoder-decoder.
        layer: from 0.
    """
    this_pass, place = passes.run(model), places.place(model, kind).replace("{layer}", str(layer))
    path, _, name = place.removesuffix(".{what}").rpartition(".")
    block = passes.modules(model).get_submodule(path)
    assert isinstance(block, TransformerLayer)
    start = passes.stack_of(model, kind)
    first = ("embedding", "position") if layer == 0 and kind != "cross" else ()
    before = {what: this_pass.stream[start + what] for what in first if start + what in this_pass.stream}
    return look_into(
        block,
        name,
        residual=this_pass.stream[place.format(what="residual_before")],
        memory=this_pass.stream[passes.memory_site(model)] if kind == "cross" else None,
        visible=torch.from_numpy(this_pass.attention[kind].visible),
        positional=passes.scheme(model, kind),
        before={what: x[0] if x.dim() == 3 else x for what, x in before.items()},  # positions have no batch axis
    )
