"""Scripts that give the numbers of the view "padding" in a plain Python shell."""

from functools import reduce

import numpy as np

from tfm_ui.compute_masks import at
from tfm_ui.compute_padding import places
from tfm_ui.feasible import texts_of
from tfm_ui.mask_composition import Term, bracketed, parse
from tfm_ui.mask_paint import SEE, unpacked
from tfm_ui.masks_lens.empty_rows import Rows
from tfm_ui.masks_lens.empty_rows_spread import Spreading
from tfm_ui.masks_lens.padding import Beside
from tfm_ui.padded import Padded
from tfm_ui.recipe import script

IMPORTS = ["from tfm_core import MASKS, padding_mask"]


def beside_recipe(seen: Beside) -> str:
    """Leaves `shares`, way -> for each place, how far each token is from what it is alone; and the `runs`."""
    return script(
        seen.batch.setting.model,
        *_beside(seen),
        f"sites = {places(seen.batch)}",
        'end = runs.pop("alone")',
        "shares = {way: [apart(end[site], run[site][:, rows])[0] for site in sites] for way, run in runs.items()}",
        imports=[*IMPORTS, "from tfm_core.order import apart"],
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
        imports=IMPORTS,
    )


def amounts_recipe(seen: Beside) -> str:
    """Leaves `moves`, PADs -> the largest move of an output, with padding hidden and without."""
    batch, read, left = seen.batch, seen.batch.read, seen.batch.side == "left"
    texts = ["ids" if name == "source" else "target.batch" for name in texts_of(batch.setting.place)]
    own = f"slice({'pads' if left else '0'}, {'pads + ' if left else ''}{read})"
    rows, columns = (own if text == "ids" else "slice(None)" for text in texts)
    return script(
        batch.setting.model,
        *_beside(seen),
        f'end, moves = runs["alone"]["{places(batch)[-1]}"][0], {{}}',
        f"for pads in {tuple(seen.amounts)}:",
        f"    rows, columns = {rows}, {columns}",
        f"    ids = torch.nn.functional.pad(source.batch[:, :{read}], {'(pads, 0)' if left else '(0, pads)'})",
        f"    queries, keys = {', '.join(texts)}",
        "    free = composed(queries.clamp(min=1), keys.clamp(min=1))",
        "    free[..., rows, columns] = own",
        "    passes = [under(ids, mask)[0] for mask in (free & padding_mask(keys), free)]",
        f'    moves[pads] = [apart(end, run["{places(batch)[-1]}"][0, rows]).max().item() for run in passes]',
        imports=[*IMPORTS, "from tfm_core.order import apart"],
    )


def rows_recipe(seen: Rows) -> str:
    """Leaves `treated`, treatment -> its output (1, query, d_model) and its weights (1, head, query, key)."""
    batch, layer = seen.at.batch, seen.at.state.layer - 1
    model, place = batch.setting.model, batch.setting.place
    stack = "model.decoder" if model.is_encoder_decoder else "model.stack"
    kind = "cross_attention" if place == "cross" else "self_attention"
    read = at(batch.setting, layer, "normed" if model.norm == "pre" else "residual_before")
    end = "final_norm" if model.norm == "pre" else f"layers.{model.num_layers - 1}.feed_forward.residual_after"
    acts = place != "cross" and seen.treated["ours"][1].positional is not None
    return script(
        model,
        *_emptied(seen.at.batch, seen.at.rows if seen.at.by_hand else []),
        "trace, _ = under(ids, mask)",
        f'x = trace["{read}"]',
        f'keys = trace["encoder.{end}"]' if place == "cross" else "keys = x",
        f"attention = {stack}.layers[{layer}].{kind}",
        f"case = Case.of(attention, x, keys, mask[0, 0]{f', {stack}.positional' if acts else ''})",
        "treated = {name: treatment.run(case)[0] for name, treatment in TREATMENTS.items()}",
        imports=[*IMPORTS, "from tfm_core.empty_rows import TREATMENTS, Case"],
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
        imports=[*IMPORTS, "from tfm_core.empty_rows import instead, minus_a_billion, minus_infinity"],
    )


def _beside(seen: Beside) -> list[str]:
    """Leaves `runs`: alone, and with padding hidden and not."""
    rows, columns = seen.batch.queries, seen.batch.keys
    return [
        *_laid(seen.batch, words=True),
        "hidden = free & padding_mask(keys)",
        f"rows, columns = slice({rows.start}, {rows.stop}), slice({columns.start}, {columns.stop})",
        f'runs = {{"alone": under(source.batch[:, :{seen.batch.read}], own)[0]}}',
        'runs |= {"with": under(ids, hidden)[0], "without": under(ids, free)[0]}',
    ]


def _emptied(batch: Padded, by_hand: list[int]) -> list[str]:
    """Leaves `mask`, with a row without a key."""
    return [*_laid(batch, words=False), "mask = free", *[f"mask[..., {row}, :] = False" for row in by_hand]]


def _laid(batch: Padded, *, words: bool) -> list[str]:
    """Leaves the `ids`, `under`, the mask `own` among tokens, and `free`, the mask as it lies beside padding."""
    setting = batch.setting
    state, names, left = setting.model, texts_of(setting.place), batch.side == "left"
    texts = ["ids" if name == "source" else "target.batch" for name in names]
    terms = parse(setting.composition)[0]
    causal = "" if not setting.causal_anyway else " & causal_mask(queries.shape[1], keys.shape[1])"
    cells = unpacked(setting.paint) if setting.paint and setting.paintable else np.zeros((0, 0), np.uint8)
    found = cells[: len(setting.queries.ids), : len(setting.keys.ids)]
    painted = [(int(row), int(column), bool(found[row, column] == SEE)) for row, column in np.argwhere(found)]
    paint = [f"for row, column, see in {painted}:", "    {}[..., row, column] = see"] if painted else []
    counts = [len(tokens.pieces) for tokens in (setting.queries, setting.keys)]
    places = [batch.queries, batch.keys]
    block = ", ".join(f"{place.start}:{place.stop}" for place in places)
    given = "cross_mask" if setting.place == "cross" else "mask"
    inputs = "tokens, target.batch" if state.is_encoder_decoder else "tokens"
    clamp, why = (".clamp(min=1)", "  # PAD taken for a word") if words else ("", "")
    return [
        "",
        f"def composed(queries, keys):  # {bracketed(terms) or 'nothing is hidden'}",
        f"    mask = {_expression(terms)}{causal}",
        "    return mask.expand(1, 1, queries.shape[1], keys.shape[1]).clone()",
        "",
        "def under(tokens, mask, edits={}):  # the model under exactly this mask",
        f'    exactly = {{"{at(setting, "*", "mask")}": lambda own: mask.expand_as(own)}}',
        "    with torch.no_grad(), recording(edits=exactly | edits) as trace:",
        f"        logits = model({inputs}, {given}=mask)",
        "    return trace, logits",
        "",
        f"ids = source.batch{f'.roll({batch.pads}, 1)  # padding before the tokens' if left else ''}",
        f"own = composed({', '.join(f'{name}.batch' for name in names)})",
        *[line.format("own") for line in paint],
        f"own = own[..., :{counts[0]}, :{counts[1]}]  # among tokens",
        f"queries, keys = {', '.join(texts)}",
        f"free = composed(queries{clamp}, keys{clamp}){why}",
        *([] if left else [line.format("free") for line in paint]),
        f"free[..., {block}] = own",
    ]


def _expression(terms: list[Term]) -> str:
    """A composition in Python."""

    def one(term: Term) -> str:
        return f'MASKS["{term.name}"].mask(queries, keys{"".join(f", {value}" for value in term.values)})'

    if not terms:
        return "torch.ones(queries.shape[1], keys.shape[1], dtype=torch.bool)"
    signs = {"and": "&", "or": "|"}
    return reduce(lambda text, term: f"({text} {signs[term.how]} {one(term)})", terms[1:], one(terms[0]))
