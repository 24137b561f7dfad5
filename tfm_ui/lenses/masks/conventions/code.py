"""Code to copy: the batch's mask, by hand or by the library, and the chosen convention's call with it."""

from collections.abc import Sequence

from tfm_core import MASKS
from tfm_core.masks.patterns import Pattern
from tfm_ui.lenses.masks import passes as compute_masks
from tfm_ui.lenses.masks.composition import Term, parse
from tfm_ui.lenses.masks.conventions.numbers import Conventions
from tfm_ui.lenses.masks.state import Setting
from tfm_ui.live.recipe import script, text_of

WRITTEN = 16  # rows and columns of a mask that is written out
CELLS = """parts = cells.split("\\n\\n")  # (batch, query, key); 1 = may attend
mask = torch.tensor([[[cell == "1" for cell in row] for row in part.split()] for part in parts])"""


def code(seen: Conventions) -> str:
    """A script that makes `mask`, ours, and `handed`, and calls with it.

    Its inputs are drawn when the reader runs it, and stand for the reader's own: nothing on screen is computed of them.
    """
    convention, model, across = seen.convention, seen.model, seen.settings[0].place == "cross"
    call, width, heads = convention.call_code, model.d_model, model.num_heads
    inputs = [f"x = torch.randn(*mask.shape[:2], {width})  # (batch, query, d_model): here your own"]
    keys = [f"y = torch.randn(*mask.shape[::2], {width})  # (batch, key, d_model)" if across else "y = x"]
    if call.startswith("F."):
        modules = ["import torch.nn.functional as F"]
        inputs = [
            f"query = torch.randn(len(mask), {heads}, mask.shape[1], {width // heads})  # (batch, head, query, d_k): "
            "here your own",
            f"key = value = torch.randn(len(mask), {heads}, mask.shape[2], {width // heads})",
        ]
    elif convention.library == "torch":
        modules = ["from torch import nn"]
        inputs += [*keys, f"attention = nn.MultiheadAttention({width}, {heads}, batch_first=True).eval()"]
    else:
        kind = "BertCrossAttention" if across else "BertSelfAttention"
        maker = "create_causal_mask" if "causal" in call else "create_bidirectional_mask"
        if across:
            call = f"attend(x, y, attention_mask={maker}(config, x, handed, encoder_hidden_states=y))"
        modules = [
            "from transformers import BertConfig",
            f"from transformers.masking_utils import {maker}",
            f"from transformers.models.bert.modeling_bert import {kind}",
        ]
        inputs += [
            *keys * across,
            f'config = BertConfig(hidden_size={width}, num_attention_heads={heads}, attn_implementation="sdpa")',
            f"attend = {kind}(config, is_causal={'causal' in call}).eval()",
        ]
    lines, imports = mask_code(seen.settings)
    made = [*lines, *[f"num_heads = {heads}"] * ("num_heads" in convention.code), convention.code]
    return "\n".join(["import torch", *modules, *imports, "", *made, "", *inputs, f"output = {call}"])


def mask_code(settings: Sequence[Setting]) -> tuple[list[str], list[str]]:
    """Lines that make `mask`, boolean (batch, query, key), and the imports that they need beside torch."""
    first = settings[0]
    if max(first.mask.shape) <= WRITTEN or (first.paint and first.paintable):
        parts = ["\n".join("".join("01"[cell] for cell in row) for row in one.mask.tolist()) for one in settings]
        return ['cells = """', *"\n\n".join(parts).split("\n"), '"""', CELLS], []
    return _composed(settings)


def _composed(settings: Sequence[Setting]) -> tuple[list[str], list[str]]:
    """By the library's own functions."""
    first = settings[0]
    terms = parse(first.composition)[0]
    rows, columns = first.mask.shape
    needed = {MASKS[term.name].function.__name__ for term in terms} | (
        {"causal_mask"} if first.causal_anyway else set()
    )
    lines, reads = [], {MASKS[term.name].reads for term in terms} - {"lengths"}
    if reads:
        needed.add("encode")
        both = {name: _ids(settings, keys=name == "keys") for name in ("keys", "queries")}
        lines += [texts(settings)] * any("in texts" in ids for ids in both.values())
        lines.append(f"keys = {both['keys']}  # (batch, key)")
        if "both" in reads:
            lines.append(f"queries = {both['queries']}  # (batch, query)")
    lines.append(f"mask = torch.ones({len(settings)}, 1, {rows}, {columns}).bool()")
    lines += [f"mask = mask {'|' if term.how == 'or' else '&'} {_call(term, rows, columns)}" for term in terms]
    if first.causal_anyway:
        lines.append(f"mask = mask & causal_mask({rows}, {columns})")
    lines.append("mask = mask[:, 0]  # (batch, query, key), True = may attend")
    imports = [f"from tfm_core import {', '.join(sorted(needed))}"] if needed else []
    return lines, [*["from pathlib import Path"] * any("Path(" in line for line in lines), *imports]


def _call(term: Term, rows: int, columns: int) -> str:
    pattern: Pattern = MASKS[term.name]
    named = [
        f"{argument.name}={list(value) if isinstance(value, tuple) else value}"
        for argument, value in zip(pattern.arguments, term.values, strict=True)
    ]
    first = {"lengths": [str(rows), str(columns)], "keys": ["keys"], "both": ["queries", "keys"]}[pattern.reads]
    return f"{pattern.function.__name__}({', '.join([*first, *named])})"


def texts(settings: Sequence[Setting]) -> str:
    """The line that holds the batch's sentences."""
    return f"texts = [{', '.join(text_of(setting.model.text) for setting in settings)}]"


def _ids(settings: Sequence[Setting], *, keys: bool) -> str:
    """The expression for the batch's token ids, of the target, or of `texts`."""
    model, place = settings[0].model, settings[0].place
    if place == "decoder" or (place == "cross" and not keys):
        target = f"encode({text_of(model.target)}, {model.tokenizer!r}, {len(model.target_tokens.ids)})"
        return f"{target}.batch.expand({len(settings)}, -1)"
    return f"torch.cat([encode(text, {model.tokenizer!r}, {model.seq_len}).batch for text in texts])"


def recipe(seen: Conventions) -> str:
    """Leaves `found`, convention -> what `verify` measured; those that the page could not call are not in it."""
    first, model = seen.settings[0], seen.model
    lines, imports = mask_code(seen.settings)
    site = compute_masks.at(first, seen.layer - 1, "")
    reads = site + ("normed" if model.norm == "pre" else "residual_before")
    memory = reads
    if first.place == "cross":
        last = compute_masks.stream(model, model.num_layers - 1, encoder=True)
        memory = "encoder.final_norm" if model.norm == "pre" else last
    sentences = texts(seen.settings)
    imports = [*imports, *["from pathlib import Path"] * ("Path(" in sentences)]
    module = f"model.get_submodule({('' if model.is_encoder_decoder else 'stack.') + site.rstrip('.')!r})"
    edited = compute_masks.at(first, "*", "mask")
    return script(
        first.model,
        f"query, key = trace[{reads!r}], trace[{memory!r}]",
        f"attention = {module}",
        f"names = {list(seen.found)}",
        "with torch.no_grad():",
        "    found = {name: verify(CONVENTIONS[name], attention, query, key, mask) for name in names}",
        imports=[
            "from tfm_core.study.mask_conventions import CONVENTIONS",
            "from tfm_core.study.mask_verified import verify",
            *imports,
        ],
        before=[
            *lines,
            sentences,
            f"source = torch.cat([encode(text, {model.tokenizer!r}, {model.seq_len}).batch for text in texts])",
            *[f"target = target.batch.expand({len(seen.settings)}, -1)"] * model.is_encoder_decoder,
            f"exactly = {{{edited!r}: lambda own: mask[:, None].expand_as(own)}}  # no other mask than this one",
        ],
        tensors=("source", "target"),
        recorded=f"{[reads, memory]}, exactly",
        given="cross_mask=mask[:, None]" if first.place == "cross" else "mask=mask[:, None]",
    )
