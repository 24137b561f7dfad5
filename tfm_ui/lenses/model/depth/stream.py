"""The residual stream of the live model: how long its vectors are, and how much each sub-layer adds."""

from dataclasses import dataclass
from functools import cached_property

import pandas as pd
import torch
from torch import Tensor

from tfm_core import TransformerConfig
from tfm_core.study.depth import mean_cosine
from tfm_ui.lenses.model.depth import recipe
from tfm_ui.lenses.model.machine import config_of, in_script, prefix, read
from tfm_ui.lenses.model.naming import trained_on
from tfm_ui.lenses.model.state import ModelLensState
from tfm_ui.live.script import script
from tfm_ui.pictures.panel import Result
from tfm_ui.state.model_state import ModelState
from tfm_ui.text import formats

SITES = {"before": "residual_before", "adds": "output", "after": "residual_after"}
NAMES = {"self_attention": "self-attention", "cross_attention": "cross-attention", "feed_forward": "feed-forward"}


@dataclass(frozen=True)
class Stream(Result):
    """All sub-layers of one stack, in their order.

    Attributes:
        model: the sidebar's model.
        config: what runs.
        sub_layers: their names in a recording.
        read: which positions are no padding.
        ends: sub-layer -> "before", "adds" and "after", (token, d_model).
    """

    model: ModelState
    config: TransformerConfig
    sub_layers: tuple[str, ...]
    read: tuple[int, ...]
    ends: dict[str, dict[str, Tensor]]

    @cached_property
    def places(self) -> list[str]:
        """A label per sub-layer."""
        return [f"{NAMES[name.split('.')[-1]]} {int(name.split('.')[-2]) + 1}" for name in self.sub_layers]

    def lengths(self, what: str) -> list[float]:
        """The mean length over the tokens, for each sub-layer."""
        return [float(self.ends[name][what].double().norm(dim=-1).mean()) for name in self.sub_layers]

    @cached_property
    def similarity(self) -> list[float]:
        """The mean cosine of two tokens before the first sub-layer and after each; NaN for a single token."""
        first = self.ends[self.sub_layers[0]]["before"]
        return [
            float(mean_cosine(values.double()))
            for values in (first, *(self.ends[name]["after"] for name in self.sub_layers))
        ]

    def sentence(self) -> str:
        """The mean lengths at the start and at the end, and which sub-layer adds most beside what it reads."""
        adds, before = self.lengths("adds"), self.lengths("before")
        shares = [a / b if b else 0.0 for a, b in zip(adds, before, strict=True)]
        most = max(range(len(shares)), key=shares.__getitem__)
        many = len(self.read)
        what = f"mean length of the {formats.count(many)} vectors" if many > 1 else "length of the vector"
        start, end = formats.number(before[0]), formats.number(self.lengths("after")[-1])
        norm = (
            "Pre-norm: what is added stays in the stream."
            if self.config.norm == "pre"
            else "Post-norm: the norm after each sum sets the length anew."
        )
        return (
            f"The {what} goes from {start} to {end}. Beside "
            f"what it reads, {self.places[most]} adds most: {formats.number(adds[most])} to "
            f"{formats.number(before[most])}. {norm} "
            + self.model.if_random(
                "Random weights: which sub-layer adds most is no finding about trained models.",
                f"These weights were trained on {trained_on(self.model)}: it says what they do, and nothing of others.",
            )
        )

    def laws(self) -> dict[str, bool]:
        """Whether the sum is what comes out in pre-norm, and the normalised sum in post-norm."""
        worst = 0.0
        for ends in self.ends.values():
            total = ends["before"] + ends["adds"]
            if self.config.norm == "post":
                total = torch.nn.functional.layer_norm(total, total.shape[-1:])
            worst = max(worst, float((total - ends["after"]).abs().max()))
        what = "what was there + what is added" if self.config.norm == "pre" else "the norm of the sum"
        return {f"after each sub-layer the stream is {what} (largest error {formats.tiny(worst)})": worst < 1e-3}

    def table(self) -> pd.DataFrame:
        """A row per sub-layer."""
        return pd.DataFrame(
            {f"mean length {what}": self.lengths(what) for what in SITES}
            | {"mean cosine of two tokens after": self.similarity[1:]},
            index=pd.Index(self.places, name="sub-layer"),
        )

    def recipe(self) -> str:
        """A script that leaves `stream`."""
        return script(
            recipe.stream, **in_script(self.model, self.config), sub_layers=self.sub_layers, read=list(self.read)
        )


def stream(model: ModelState, state: ModelLensState) -> Stream:
    """The residual stream of the chosen stack; all its sub-layers, in one pass."""
    config = config_of(model, state)
    stack = state.stack if model.is_encoder_decoder else model.architecture
    crosses = ("cross_attention",) * (model.is_encoder_decoder and stack == "decoder")
    kinds = ("self_attention", *crosses, "feed_forward")
    names = tuple(f"{prefix(model, stack)}layers.{at}.{kind}" for at in range(model.num_layers) for kind in kinds)
    trace = read(model, config, tuple(f"*layers.*.{site}" for site in SITES.values()))
    tokens = model.target_tokens if model.is_encoder_decoder and stack == "decoder" else model.source_tokens
    places = tuple(at for at, token in enumerate(tokens.ids) if token != config.pad_id) or (0,)
    ends = {name: {what: trace[f"{name}.{site}"][0, list(places)] for what, site in SITES.items()} for name in names}
    return Stream(model, config, names, places, ends)
