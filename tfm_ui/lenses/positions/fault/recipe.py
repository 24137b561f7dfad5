"""A script that gives the numbers of the view "fault" in a plain Python shell."""

from tfm_ui.lenses.positions.fault.numbers import Fault
from tfm_ui.lenses.positions.in_model.recipe import end_of, inputs_of, site_of
from tfm_ui.live.recipe import script


def recipe_of(seen: Fault) -> str:
    """Leaves `added`, `weights`, `outputs`: [right, wrong], each of all sentences of the batch."""
    model, state = seen.model, seen.state
    weights, end = site_of(model, state.layer - 1, "weights"), end_of(model)
    start = "encoder." if model.is_encoder_decoder else ""
    stack = "encoder" if model.is_encoder_decoder else "stack"
    batch = f".expand({state.batch}, -1)"
    return script(
        model,
        f"pe = model.{stack}.positional.encode(config.max_len).detach()  # (max_len, d_model)",
        "added, weights, outputs = [], [], []",
        "for add in (along_sequence, along_batch):",
        f'    edits = {{"{start}embedding": lambda x: add(x, pe), "{start}position": torch.zeros_like}}',
        f'    with torch.no_grad(), recording(["{weights}", "{end}"], edits) as trace:',
        f"        model({inputs_of(model, 'source.batch' + batch, 'target.batch' + batch)})",
        f"    empty = torch.zeros({state.batch}, {model.seq_len}, {model.d_model})",
        f"    added.append(add(empty, pe)[{seen.place}])  # (seq, d_model)",
        f'    weights.append(trace["{weights}"][{seen.place}, {state.model_head - 1}])  # (query, key)',
        f'    outputs.append(trace["{end}"])  # (batch, seq, d_model)',
        imports=["from tfm_core.study.order import along_batch, along_sequence"],
    )
