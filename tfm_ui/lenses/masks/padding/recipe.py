"""Scripts that give the numbers of the view "padding" in a plain Python shell."""

from tfm_ui.lenses.masks.code_lines import composed, imports, painted
from tfm_ui.lenses.masks.padding.computed import places
from tfm_ui.lenses.masks.padding.empty_rows import Rows
from tfm_ui.lenses.masks.padding.numbers import Beside
from tfm_ui.lenses.masks.padding.padded import Padded
from tfm_ui.lenses.masks.padding.spread import Spreading
from tfm_ui.lenses.masks.passes import at, reads
from tfm_ui.live.recipe import script
from tfm_ui.live.texts import texts_of


def beside_recipe(seen: Beside) -> str:
    """Leaves `shares`, way -> for each place, how far each token is from what it is alone; and the `runs`."""
    return script(
        seen.batch.setting.model,
        *_beside(seen),
        f"sites = {places(seen.batch)}",
        'end = runs.pop("alone")',
        "shares = {way: [apart(end[site], run[site][:, rows])[0] for site in sites] for way, run in runs.items()}",
        imports=[*imports(seen.batch.setting, also=["padding_mask"]), "from tfm_core.study.order import apart"],
    )


def weights_recipe(seen: Beside) -> str:
    """Leaves `weights`, run -> (token, key)."""
    site, head = at(seen.batch.setting, seen.state.layer - 1, "weights"), seen.state.head - 1
    return script(
        seen.batch.setting.model,
        *_beside(seen),
        f'weights = {{"alone": runs["alone"]["{site}"][0, {head}]}}',
        'for way in ("with", "without"):',
        f'    weights[way] = runs[way]["{site}"][0, {head}, rows]',
        imports=imports(seen.batch.setting, also=["padding_mask"]),
    )


def amounts_recipe(seen: Beside) -> str:
    """Leaves `moves`, PADs -> the largest move of an output, with padding hidden and without."""
    batch, read, left = seen.batch, seen.batch.read, seen.batch.side == "left"
    own = f"slice({'pads' if left else '0'}, {'pads + ' if left else ''}{read})"
    rows, columns = (own if text == "source" else "slice(None)" for text in texts_of(batch.setting.place))
    return script(
        batch.setting.model,
        *_beside(seen),
        f'end, moves = runs["alone"]["{places(batch)[-1]}"][0], {{}}',
        f"for pads in {tuple(seen.amounts)}:",
        f"    rows, columns = {rows}, {columns}",
        f"    ids = torch.nn.functional.pad(source.batch[:, :{read}], {'(pads, 0)' if left else '(0, pads)'})",
        f"    queries, keys = {_texts(batch)}",
        "    free = composed(queries.clamp(min=1), keys.clamp(min=1))",
        "    free[rows, columns] = own",
        "    passes = [under(ids, mask)[0] for mask in (free & padding_mask(keys)[0, 0], free)]",
        f'    moves[pads] = [apart(end, run["{places(batch)[-1]}"][0, rows]).max().item() for run in passes]',
        imports=[*imports(seen.batch.setting, also=["padding_mask"]), "from tfm_core.study.order import apart"],
    )


def rows_recipe(seen: Rows) -> str:
    """Leaves `treated`, treatment -> its output (1, query, d_model) and its weights (1, head, query, key)."""
    batch, layer = seen.at.batch, seen.at.state.layer - 1
    setting = batch.setting
    queries, keys = reads(setting, layer)
    stack = "model.decoder" if setting.model.is_encoder_decoder else "model.stack"
    kind = "cross_attention" if setting.place == "cross" else "self_attention"
    scheme = f", {stack}.positional" if seen.treated["ours"][1].positional else ""
    return script(
        setting.model,
        *_emptied(batch, seen.at.rows if seen.at.by_hand else []),
        "trace, _ = under(ids, mask)",
        f"attention = {stack}.layers[{layer}].{kind}",
        f'case = Case.of(attention, trace["{queries}"], trace["{keys}"], mask{scheme})',
        "treated = {name: treatment.run(case)[0] for name, treatment in TREATMENTS.items()}",
        imports=[*imports(setting), "from tfm_core.study.empty_rows import TREATMENTS, Case"],
    )


def spread_recipe(seen: Spreading) -> str:
    """Leaves `streams`, way -> for each place (token, d_model); and `logits`, way -> (token, vocab)."""
    attention = at(seen.at.batch.setting, "*", "").removesuffix(".")
    return script(
        seen.at.batch.setting.model,
        *_emptied(seen.at.batch, seen.at.rows if seen.at.by_hand else []),
        f"sites, streams, logits = {places(seen.at.batch)}, {{}}, {{}}",
        'ways = {"−∞ and softmax": minus_infinity, "−1e9 and softmax": minus_a_billion, "ours": None}',
        "for way, weights_of in ways.items():",
        f'    edits = instead(weights_of, "{attention}") if weights_of else {{}}',
        "    trace, found = under(ids, mask, edits)",
        "    streams[way], logits[way] = [trace[site][0] for site in sites], found[0]",
        imports=[
            *imports(seen.at.batch.setting),
            "from tfm_core.study.empty_rows import instead, minus_a_billion, minus_infinity",
        ],
    )


def _beside(seen: Beside) -> list[str]:
    """Leaves `runs`: alone, and with padding hidden and not."""
    rows, columns = seen.batch.queries, seen.batch.keys
    return [
        *_laid(seen.batch, words=True),
        "hidden = free & padding_mask(keys)[0, 0]",
        f"rows, columns = slice({rows.start}, {rows.stop}), slice({columns.start}, {columns.stop})",
        f'runs = {{"alone": under(source.batch[:, :{seen.batch.read}], own)[0]}}',
        'runs |= {"with": under(ids, hidden)[0], "without": under(ids, free)[0]}',
    ]


def _emptied(batch: Padded, by_hand: list[int]) -> list[str]:
    """Leaves `mask`, with a row without a key."""
    return [*_laid(batch, words=False), "mask = free", *[f"mask[{row}] = False" for row in by_hand]]


def _laid(batch: Padded, *, words: bool) -> list[str]:
    """Leaves the `ids`, `under`, the mask `own` among tokens, and `free`, the mask as it lies beside padding."""
    setting = batch.setting
    left = batch.side == "left"
    own = ", ".join(f":{len(tokens.pieces)}" for tokens in (setting.queries, setting.keys))
    block = ", ".join(f"{place.start}:{place.stop}" for place in (batch.queries, batch.keys))
    given = "cross_mask" if setting.place == "cross" else "mask"
    inputs = "tokens, target.batch" if setting.model.is_encoder_decoder else "tokens"
    clamp, why = (".clamp(min=1)", "  # PAD taken for a word") if words else ("", "")
    return [
        "",
        "def composed(queries, keys):",
        "    rows, columns = queries.shape[1], keys.shape[1]",
        *[f"    {line}" for line in composed(setting)],
        "    return mask",
        "",
        "def under(tokens, mask, edits={}):  # the model under exactly this mask",
        f'    exactly = {{"{at(setting, "*", "mask")}": lambda own: mask.expand_as(own)}}',
        "    with torch.no_grad(), recording(edits=exactly | edits) as trace:",
        f"        logits = model({inputs}, {given}=mask)",
        "    return trace, logits",
        "",
        f"ids = source.batch{f'.roll({batch.pads}, 1)  # padding before the tokens' if left else ''}",
        f"mask = composed({', '.join(f'{name}.batch' for name in texts_of(setting.place))})",
        *painted(setting),
        f"own = mask[{own}]  # among tokens",
        f"queries, keys = {_texts(batch)}",
        f"free = composed(queries{clamp}, keys{clamp}){why}",
        *([] if left else painted(setting, name="free")),
        f"free[{block}] = own",
    ]


def _texts(batch: Padded) -> str:
    """The token ids of who looks and of who is looked at; `ids` are the padded text's."""
    return ", ".join("ids" if name == "source" else "target.batch" for name in texts_of(batch.setting.place))
