"""The table of conventions: what each call expects, and what it made of the batch's mask."""

from collections.abc import Iterable, Sequence
from html import escape

import numpy as np
import pandas as pd
import streamlit as st
import torch
from torch import Tensor

from tfm_core import MultiHeadAttention, Transformer, TransformerConfig
from tfm_core.study.mask_conventions import CONVENTIONS
from tfm_core.study.mask_verified import Verified, verify
from tfm_ui.lenses.masks.conventions.calls import ROUNDING, ConventionsPanel, why_without
from tfm_ui.lenses.masks.mask_code import mask_of_batch, of_sentence, source_ids, target_ids, texts
from tfm_ui.lenses.masks.masked_passes import argument_of, at, reads, under_exactly
from tfm_ui.live.script import Code, script
from tfm_ui.text import formats


def verified_calls(
    *,
    config: TransformerConfig,
    inputs: Sequence[Tensor],
    mask: Tensor,
    argument: str,
    mask_site: str,
    query_site: str,
    key_site: str,
    attention_path: str,
    conventions: Sequence[str],
) -> dict[str, Verified]:
    """What was measured of each call: by convention."""
    model = Transformer(config).eval()
    _, trace = under_exactly(model, inputs, mask[:, None], argument, mask_site, [query_site, key_site])
    query, key, attention = trace[query_site], trace[key_site], model.get_submodule(attention_path)
    assert isinstance(attention, MultiHeadAttention)
    with torch.no_grad():
        verified = {name: verify(CONVENTIONS[name], attention, query, key, mask) for name in conventions}
    return verified


class Conventions(ConventionsPanel):
    """The table of conventions: what each call expects, and what it made of the batch's mask."""

    title = "The same mask elsewhere"
    key = "conventions"
    sources = (verify, *dict.fromkeys(convention.call for convention in CONVENTIONS.values()))

    @property
    def how_to_read(self) -> str:
        return (
            f"A row per convention. Each call was made, with the weights and inputs of {self.where}; differences are "
            "the largest of any output from ours. The last column is the usual mistake, made on purpose."
        )

    def sentence(self) -> str:
        verified = self.verified
        if not bool(self.mask.any()):
            return f"This mask hides everything, so there is nothing to compare. {self._empties()}"
        able = [call for call in verified.values() if not call.lost]
        worst = _largest(call.difference for call in able)
        unable = len(verified) - len(able)
        said = (
            f"{len(able)} of {len(verified)} conventions can say this mask; the largest difference of their outputs "
            f"from ours is {formats.tiny(worst)}."
        )
        if unable:
            far = max(call.difference for call in verified.values() if call.lost)
            others = "The other one cannot, and is" if unable == 1 else f"The other {unable} cannot, and are"
            said += f" {others} off by up to {formats.number(far)}."
        if "HF, 4-D" not in verified:
            said += f" {why_without()}, so its calls were not run."
        return f"{said} {self._empties()}".strip()

    def _empties(self) -> str:
        rows = int((~self.mask.any(-1)).sum())
        if not rows:
            return ""
        nan = [name for name, call in self.verified.items() if call.empty == "NaN"]
        who = "A query that sees nothing gets" if rows == 1 else f"{rows} queries that see nothing get"
        return f"{who} zeros from our attention, and NaN from {len(nan)} of these calls."

    def laws(self) -> dict[str, bool]:
        """Whether each call is ours, under what its convention can say."""
        calls = self.verified.values()
        worst = _largest(call.of_said for call in calls)
        difference = f"largest difference {formats.tiny(worst)}"
        law = f"given the mask that its convention can express, each call equals ours ({difference})"
        return {law: all(call.of_said < ROUNDING * max(1.0, call.largest) for call in calls)}

    def table(self) -> pd.DataFrame:
        """A row per convention."""
        rows = []
        for name, convention in CONVENTIONS.items():
            call = self.verified.get(name)
            handed = convention.to(self.mask, self.model.num_heads)
            rows.append(
                {
                    "convention": name,
                    "shape": str(tuple(handed.shape)),
                    "dtype": str(handed.dtype).removeprefix("torch."),
                    "may attend": convention.keeps,
                    "hidden": convention.hides,
                    "cells it cannot say": call.lost if call else None,
                    "largest difference": call.difference if call else None,
                    "from what it can say": call.of_said if call else None,
                    "with the usual mistake": call.slipped if call else None,
                    "queries with NaN then": call.slipped_nan if call else None,
                    "a query that sees nothing": call.empty if call else None,
                }
            )
        return pd.DataFrame(rows).set_index("convention")

    def recipe(self) -> str:
        """A script that leaves `verified`, convention -> what `verify` measured, of those that the page could call."""
        settings, layer = self.settings, self.layer
        first, two_texts = settings[0], settings[0].model.is_encoder_decoder
        query_site, key_site = reads(first, layer)
        header = {"texts": texts(settings), **of_sentence(first.model), "source": source_ids(settings)}
        del header["mask"]  # it comes after what it is made of
        if two_texts:
            header["target"] = target_ids(settings)
        header["inputs"] = Code("[source, target]" if two_texts else "[source]")
        return script(
            verified_calls,
            **header | mask_of_batch(settings),
            argument=argument_of(first),
            mask_site=at(first, "*", "mask"),
            query_site=query_site,
            key_site=key_site,
            attention_path=("" if two_texts else "stack.") + at(first, layer, "").rstrip("."),
            conventions=list(self.verified),
        )

    def html(self) -> str:
        """The same, to be read: on a phone each convention is a block by itself."""
        lines = []
        for name, convention in CONVENTIONS.items():
            handed = convention.to(self.mask[:1], self.model.num_heads)
            call = self.verified.get(name)
            across = self.settings[0].place == "cross"
            missing = "not run" if convention.across or not across else "no such call"
            cells = {
                "call": f"<code>{_breakable(convention.name)}</code>",
                "shape": f"<span>{escape(convention.shape)}</span> {str(handed.dtype).removeprefix('torch.')}",
                "may attend": f"<b>{escape(convention.keeps)}</b>",
                "hidden": escape(convention.hides),
                "difference": escape(_difference(call)) if call else missing,
                "usual mistake": escape(_slipped(call)) if call else missing,
            }
            mark = "<i>shown</i>" if name == self.chosen else ""
            text = "".join(f'<td data-label="{escape(label)}"><div>{cell}</div></td>' for label, cell in cells.items())
            lines.append(f'<tr><th scope="row">{escape(name)} {mark}</th>{text}</tr>')
        head = "".join(f'<th scope="col">{escape(label)}</th>' for label in ("convention", *cells))
        return f'<table class="schemes"><thead><tr>{head}</tr></thead><tbody>{"".join(lines)}</tbody></table>'

    def tools(self) -> None:
        st.html(self.html())


def _largest(differences: Iterable[float]) -> float:
    """NaN if any is, which `max` might pass over."""
    return float(np.max([0.0, *differences]))


def _breakable(name: str) -> str:
    """A call that may be broken before its argument, or within the function's name."""
    function, bracket, argument = escape(name).partition("(")
    return function.replace("_", "_<wbr>") + f"<wbr>{bracket}{argument}"


def _difference(call: Verified) -> str:
    if call.lost:
        return f"{formats.number(call.difference)}: cannot say it"
    return formats.tiny(call.difference)


def _slipped(call: Verified) -> str:
    queries = "query" if call.slipped_nan == 1 else "queries"
    nan = f"NaN in {formats.count(call.slipped_nan)} {queries}" if call.slipped_nan else ""
    number = formats.number(call.slipped) if call.slipped or not nan else ""  # where all is NaN, there is none
    return ", ".join(filter(None, (number, nan)))
