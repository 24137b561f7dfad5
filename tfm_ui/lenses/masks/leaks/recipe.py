"""A script that measures the same matrix in a plain Python shell."""

from tfm_core.model.tokens import TOKENIZERS
from tfm_ui.lenses.masks import passes as compute_masks
from tfm_ui.lenses.masks.code_lines import composed, imports, painted, sizes
from tfm_ui.lenses.masks.leaks.numbers import Leaks
from tfm_ui.lenses.masks.setting import Setting
from tfm_ui.lenses.masks.state import AS_COMPOSED, AS_PAINTED
from tfm_ui.live.recipe import script
from tfm_ui.live.texts import texts_of

CALLED = ("influence", "leaks", "padding_mask", "reachability")


def recipe(seen: Leaks) -> str:
    """Leaves `moved`, (token, layer, output); `promised`, (output, token); and `leaking`, (token, output)."""
    under, state = seen.setting, seen.setting.model
    changed = texts_of(under.place)[1]
    promise = under.composition if seen.state.promise == AS_COMPOSED else seen.state.promise
    promises = [] if promise == AS_PAINTED else [promise]
    sites = [compute_masks.stream(state, layer) for layer in range(state.num_layers)]
    return script(
        state,
        "",
        "model = model.double()  # effects of 1e-9 are no rounding there",
        *sizes(under),
        *composed(under),
        *painted(under),
        *([line for text in promises for line in composed(under, text, name="promise")] or ["promise = mask"]),
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
        *_promised(under),
        "leaking = leaks(moved[:, -1], promised, found.tolerance)  # (token, output)",
        imports=imports(under, *promises, also=CALLED),
        recorded="[]",
    )


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


def _promised(under: Setting) -> list[str]:
    layers = under.model.num_layers
    if under.place != "cross":
        return [f"promised = reachability(promise, {layers})[:, places]"]
    return [
        "seen = padding_mask(source.batch)[0, 0].expand(columns, -1)",
        f"promised = reachability(causal_mask(rows), {layers}, cross=promise, encoder=seen)[:, places]",
    ]


def _written(places: tuple[int, ...]) -> str:
    whole = places == tuple(range(len(places)))
    return f"range({len(places)})" if whole else str(list(places))
