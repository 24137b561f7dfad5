"""Masks as Python: expressions for the scripts of this lens, and code to copy for another library's call."""

import re
from collections.abc import Sequence

import numpy as np

import tfm_core
from tfm_core import MASKS
from tfm_core.study.filled import filled
from tfm_core.study.mask_conventions import Convention
from tfm_ui.lenses.masks.composition import Term, parse
from tfm_ui.lenses.masks.state import Filled, Setting
from tfm_ui.live.places import texts_of
from tfm_ui.live.script import Code, of_model, text_of, tokens_code
from tfm_ui.state.model_state import ModelState
from tfm_ui.state.paint import SEE

COMBINE = {"and": "combine_masks", "or": "either_mask"}
WRITTEN = 16  # rows and columns of a mask that is written out
CELLS = """torch.tensor([[[cell == "1" for cell in row] for row in part.split()] for part in cells.split("\\n\\n")])"""


def of_sentence(model: ModelState) -> dict[str, Code]:
    """The model's part of a script's header, as in `of_model`, with what fills up a text that has no padding."""
    header = of_model(model)
    if isinstance(model, Filled) and model.source_tokens.padding:
        header["source"] = _filled(header["source"], model.length)
    return header


def _filled(tokens: Code, count: int) -> Code:
    return Code(f"filled({tokens}, {count})", *tokens.functions, filled)


def mask_of(setting: Setting, composition: str | None = None) -> Code:
    """The sentence's mask, boolean (query, key), of the texts `source` and `target`; without paint if another is asked.

    Args:
        setting: the sentence and its mask.
        composition: another one than the setting's.
    """
    queries, keys = (f"{text}.batch" for text in texts_of(setting.place))
    if composition is not None:
        return expression(setting, queries, keys, composition=composition)
    return with_paint(setting, expression(setting, queries, keys))


def function_of(setting: Setting) -> Code:
    """A function of token ids and their numbers that composes their mask: boolean (query, key)."""
    composed = expression(setting, "queries", "keys", shape=("rows", "columns"))
    return Code(f"lambda queries, keys, rows, columns: {composed}")


def expression(
    setting: Setting,
    queries: str,
    keys: str,
    *,
    composition: str | None = None,
    shape: tuple[int | str, int | str] | None = None,
    count: int = 1,
) -> Code:
    """What is composed, boolean (query, key), or (batch, query, key).

    Args:
        setting: says what is composed, and whether there is causality anyway.
        queries: an expression for the token ids of those that look, (batch, token).
        keys: likewise of those that are looked at.
        composition: another one than the setting's.
        shape: how many rows and columns it has, by default as many as the sentence's mask.
        count: how many sentences there are.
    """
    rows, columns = map(str, shape or setting.composed.shape)
    terms = parse(setting.composition if composition is None else composition)[0]
    calls = [(term.how, _call(term, queries, keys, rows, columns)) for term in terms]
    calls += [("and", f"causal_mask({rows}, {columns})")] * setting.causal_anyway
    combined = _combined(calls) if calls else f"torch.ones({rows}, {columns}, dtype=torch.bool)"
    reads_tokens = any(MASKS[term.name].reads != "lengths" for term in terms)  # then it has axes of batch and head
    if count == 1:
        return Code(f"{combined}.expand(1, 1, {rows}, {columns})[0, 0]" if reads_tokens else combined)
    return Code(f"{combined}.expand({count}, 1, {rows}, {columns})[:, 0]")


def with_paint(setting: Setting, mask: str) -> Code:
    """The mask with the paint over it, if there is any."""
    rows, columns = np.nonzero(setting.painted)
    if not len(rows):
        return Code(mask)
    visible = (setting.painted[rows, columns] == SEE).tolist()
    places = f"(torch.tensor({rows.tolist()}), torch.tensor({columns.tolist()}))"
    return Code(f"{mask}.index_put({places}, torch.tensor({visible}))  # painted")


def _combined(calls: Sequence[tuple[str, str]]) -> str:
    """Calls, each with the word that combines it with all before it, as one call."""
    masks: list[str] = []
    how = "and"
    for word, call in calls:
        if len(masks) > 1 and word != how:
            masks = [f"{COMBINE[how]}({', '.join(masks)})"]
        masks.append(call)
        how = word
    return f"{COMBINE[how]}({', '.join(masks)})" if len(masks) > 1 else masks[0]


def _call(term: Term, queries: str, keys: str, rows: str, columns: str) -> str:
    pattern = MASKS[term.name]
    arguments = {"lengths": [rows, columns], "both": [queries, keys]}.get(pattern.reads, [keys])
    pairs = zip(pattern.arguments, term.values, strict=True)
    # what says nothing is left out, as in the link
    arguments += [f"{a.name}={value!r}" for a, value in pairs if value != a.default or a.low != value]
    return f"{pattern.function.__name__}({', '.join(arguments)})"


def code_to_copy(settings: Sequence[Setting], convention: Convention) -> str:
    """A script that makes `mask`, ours, and `handed`, and calls with it.

    Its inputs are drawn when the reader runs it, and stand for the reader's own: nothing on screen is computed of them.
    """
    imports, inputs, call = _library_call(settings[0], convention)
    expressions = mask_of_batch(settings)
    made = [f"{name} = {value}" for name, value in expressions.items()]
    calls = [name for name in tfm_core.__all__ if re.search(rf"\b{name}[(\[]", "\n".join(made))]
    imports += [f"from tfm_core import {', '.join(sorted(calls))}"] * bool(calls)
    functions = {function for value in expressions.values() for function in value.functions}
    imports += sorted(f"from {function.__module__} import {function.__name__}" for function in functions)
    imports += ["from pathlib import Path"] * any("Path(" in line for line in made)
    made += [f"num_heads = {settings[0].model.num_heads}"] * ("num_heads" in convention.code)
    return "\n".join(["import torch", *imports, "", *made, convention.code, "", *inputs, f"output = {call}"])


def _library_call(setting: Setting, convention: Convention) -> tuple[list[str], list[str], str]:
    """The imports, the inputs, and the call of the chosen convention."""
    call, across = convention.call_code, setting.place == "cross"
    width, heads = setting.model.d_model, setting.model.num_heads
    x = f"x = torch.randn(*mask.shape[:2], {width})  # (batch, query, d_model): here your own"
    y = f"y = torch.randn(*mask.shape[::2], {width})  # (batch, key, d_model)"
    if call.startswith("F."):
        shape = f"len(mask), {heads}, mask.shape[{{}}], {width // heads}"
        inputs = [
            f"query = torch.randn({shape.format(1)})  # (batch, head, query, d_k): here your own",
            f"key = value = torch.randn({shape.format(2)})",
        ]
        return ["import torch.nn.functional as F"], inputs, call
    if convention.library == "torch":
        attention = f"attention = nn.MultiheadAttention({width}, {heads}, batch_first=True).eval()"
        return ["from torch import nn"], [x, y if across else "y = x", attention], call
    kind = "BertCrossAttention" if across else "BertSelfAttention"
    maker = "create_causal_mask" if "causal" in call else "create_bidirectional_mask"
    imports = [
        "from transformers import BertConfig",
        f"from transformers.masking_utils import {maker}",
        f"from transformers.models.bert.modeling_bert import {kind}",
    ]
    inputs = [
        x,
        *[y] * across,
        f'config = BertConfig(hidden_size={width}, num_attention_heads={heads}, attn_implementation="sdpa")',
        f"attend = {kind}(config, is_causal={'causal' in call}).eval()",
    ]
    if across:
        call = f"attend(x, y, attention_mask={maker}(config, x, handed, encoder_hidden_states=y))"
    return imports, inputs, call


def mask_of_batch(settings: Sequence[Setting]) -> dict[str, Code]:
    """Expressions, by name, of which the last is `mask`, boolean (batch, query, key)."""
    first = settings[0]
    if max(first.mask.shape) <= WRITTEN or (first.paint and first.paintable):
        masks = (setting.mask.tolist() for setting in settings)
        cells = "\n\n".join("\n".join("".join("01"[cell] for cell in row) for row in mask) for mask in masks)
        return {"cells": Code(f'"""\n{cells}\n"""'), "mask": Code(f"{CELLS}  # (batch, query, key); 1 = may attend")}
    reads = {MASKS[term.name].reads for term in parse(first.composition)[0]}
    named: dict[str, Code] = {}
    if reads & {"keys", "both"}:
        ids = token_ids(settings, keys=True)
        named["keys"] = Code(f"{ids}  # (batch, key)", *ids.functions)
    if "both" in reads:
        ids = token_ids(settings, keys=False)
        named["queries"] = Code(f"{ids}  # (batch, query)", *ids.functions)
    if any("in texts" in ids for ids in named.values()):
        named = {"texts": texts(settings), **named}
    composed = expression(first, "queries", "keys", count=len(settings))
    return {**named, "mask": Code(f"{composed}  # (batch, query, key), True = may attend")}


def texts(settings: Sequence[Setting]) -> Code:
    """The batch's sentences."""
    return Code(f"[{', '.join(text_of(setting.model) for setting in settings)}]")


def token_ids(settings: Sequence[Setting], *, keys: bool) -> Code:
    """The batch's token ids, of the target, or of `texts`."""
    place = settings[0].place
    return target_ids(settings) if place == "decoder" or (place == "cross" and not keys) else source_ids(settings)


def source_ids(settings: Sequence[Setting]) -> Code:
    """The token ids of `texts`."""
    model = settings[0].model
    tokens = tokens_code(model, "text", model.length)
    if isinstance(model, Filled):
        tokens = _filled(tokens, model.length)
    return Code(f"torch.cat([{tokens}.batch for text in texts])", *tokens.functions)


def target_ids(settings: Sequence[Setting]) -> Code:
    """The token ids of the target text, once for each sentence."""
    model = settings[0].model
    target = tokens_code(model, text_of(model, "target"), len(model.target_tokens.ids))
    return Code(f"{target}.batch.expand({len(settings)}, -1)", *target.functions)
