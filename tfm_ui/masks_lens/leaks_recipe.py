"""A script that measures the same matrix in a plain Python shell."""

import numpy as np

from tfm_core.tokens import TOKENIZERS
from tfm_ui import compute_masks, mask_paint
from tfm_ui.mask_composition import parse
from tfm_ui.mask_setting import Setting
from tfm_ui.masks_lens.leaks import Leaks
from tfm_ui.masks_lens.state import AS_COMPOSED, AS_PAINTED
from tfm_ui.recipe import script

IMPORTS = ("from tfm_core import MASKS, hops, influence, leaks, padding_mask, reach_by_layer, reachability",)


def recipe(seen: Leaks) -> str:
    """Leaves `moved`, (token, layer, output); `promised`, (output, token); and `leaking`, (token, output)."""
    under, state = seen.setting, seen.setting.model
    changed = "source" if under.place in ("self", "cross") else "target"
    looks = "source" if under.place == "self" else "target"
    promise = seen.state.promise
    mask_lines = mask_of("mask", under, under.composition, looks, changed) + painted("mask", under)
    if promise == AS_PAINTED:
        promise_lines = ["promise = mask"]
    else:
        text = under.composition if promise == AS_COMPOSED else promise
        promise_lines = mask_of("promise", under, text, looks, changed)
    sites = [compute_masks.stream(state, layer) for layer in range(state.num_layers)]
    return script(
        state,
        "",
        "model = model.double()  # effects of 1e-9 are no rounding there",
        *mask_lines,
        *promise_lines,
        "",
        "def run(tokens):",
        "    with torch.no_grad(), recording(sites, edits) as trace:",
        *(f"        {line}" for line in _calls(under)),
        "    return torch.stack([trace[site] for site in sites], 1)  # (batch, layer, output, d_model)",
        "",
        f"sites = {sites}",
        f'edits = {{"{compute_masks.at(under, "*", "mask")}": lambda own: mask.expand_as(own)}}',
        f"places = {_written(seen.plan.places)}",
        f"found = influence(run, {changed}.batch, vocab_size={TOKENIZERS[state.tokenizer].vocab_size}, "
        f"tries={seen.plan.tries}, places=places)",
        "moved = found.moved  # (token, layer, output)",
        *_promised(under, looks),
        "leaking = leaks(moved[:, -1], promised, found.tolerance)  # (token, output)",
        imports=IMPORTS,
        recorded="[]",
    )


def mask_of(name: str, under: Setting, composition: str, queries: str, keys: str) -> list[str]:
    """Lines that make the mask of a composition, boolean (query, key)."""
    size = f"{len(under.queries.ids)}, {len(under.keys.ids)}"
    lines = [f"{name} = torch.ones({size}, dtype=torch.bool)"]
    for term in parse(composition)[0]:
        values = "".join(f", {value}" for value in term.values)
        own = f'MASKS["{term.name}"].mask({queries}.batch, {keys}.batch{values})'
        own = own if term.how == "and" else f"({own})"
        lines.append(f"{name} = {name} {'&' if term.how == 'and' else '|'} {own}")
    lines.append(f"{name} = {name}.expand(1, 1, {size})[0, 0].clone()")
    return lines + [f"{name} &= causal_mask({size})"] * under.causal_anyway


def painted(name: str, under: Setting) -> list[str]:
    """Lines that paint over it, cell by cell."""
    if not under.paint or not under.paintable:
        return []
    cells = mask_paint.resized(mask_paint.unpacked(under.paint), *under.composed.shape)
    return [
        f"{name}[{at[0].tolist()}, {at[1].tolist()}] = {sees}  # painted by hand"
        for sees, brush in ((True, mask_paint.SEE), (False, mask_paint.HIDE))
        if len((at := np.nonzero(cells == brush))[0])
    ]


def _calls(under: Setting) -> list[str]:
    if under.place == "self":
        return ["model.stack(tokens, mask)"]
    padding = "padding_mask(source.batch)"
    if under.place == "decoder":
        return [
            f"memory = model.encoder(source.batch, {padding}).expand(len(tokens), -1, -1)",
            f"model.decoder(tokens, mask, memory=memory, memory_mask={padding})",
        ]
    return [
        f"memory = model.encoder(tokens, {padding})",
        "model.decoder(target.batch.expand(len(tokens), -1), memory=memory, memory_mask=mask)",
    ]


def _promised(under: Setting, looks: str) -> list[str]:
    layers = under.model.num_layers
    if under.place != "cross":
        return [f"promised = reachability(promise, {layers})[:, places]"]
    return [
        "seen = padding_mask(source.batch)[0, 0].expand(len(source.ids), -1)",
        f"promised = reachability(causal_mask(len({looks}.ids)), {layers}, cross=promise, encoder=seen)[:, places]",
    ]


def _written(places: tuple[int, ...]) -> str:
    whole = places == tuple(range(len(places)))
    return f"range({len(places)})" if whole else str(list(places))
