"""What papers and the course say about depth, beside what the runs show: a verdict for each claim, computed."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from html import escape
from typing import ClassVar

import pandas as pd
import streamlit as st

from tfm_core.training.compare.depth_table import DepthTable
from tfm_ui.lenses.training.deep.panels import DeepPanel, reach, spelled
from tfm_ui.pictures.canvas import Canvas
from tfm_ui.text import formats

VASWANI, XIONG, COURSE = "Vaswani et al. 2017", "Xiong et al. 2020", "the course"
AGREES, DENIES, OPEN = "agrees", "does not agree", "cannot be told at this size"
ORIGINAL = 6  # layers of the encoder of Vaswani et al. 2017
FLAT, ROOT, NEAR = 0.0, -0.5, 0.2  # powers of the number of layers; how close a measured one must come
TWICE = 2.0  # by this factor the last layer's gradient differs clearly from the first one's


@dataclass(frozen=True)
class Claim:
    """A claim, and what became of it.

    Attributes:
        claim: in a sentence.
        source: who says so.
        shows: what the runs show.
        verdict: `AGREES`, `DENIES` or `OPEN`.
    """

    claim: str
    source: str
    shows: str
    verdict: str


def _fails(table: DepthTable, wiring: str) -> str:
    """Up to which depth networks learn, and at which training fails; in one clause if a warm-up changes nothing."""
    told = {warmup: reach(table, wiring, warmup) for warmup in table.warmups}
    if len(set(told.values())) == 1:
        return f"{wiring} {told[table.warmups[0]]}, with and without a warm-up"
    return "; ".join(f"{wiring} {text}, {spelled(warmup)}" for warmup, text in told.items())


def _needed(table: DepthTable, wiring: str, with_it: str) -> str:
    """Whether networks fail without what the claim is about, where they learn with it."""
    learns = max((table.learns_up_to(with_it, warmup) or 0 for warmup in table.warmups), default=0)
    fails = [table.fails_at(wiring, warmup) for warmup in table.warmups]
    if any(depth is None or depth > learns for depth in fails):
        return DENIES if all(depth is None for depth in fails) and learns else OPEN
    return AGREES


def residuals(table: DepthTable) -> Claim:
    """Whether deep networks need residual connections."""
    shows = "; ".join(_fails(table, wiring) for wiring in ("no residuals", "pre-norm"))
    verdict = _needed(table, "no residuals", "pre-norm")
    return Claim("Deep networks do not train without residual connections.", COURSE, shows, verdict)


def norms(table: DepthTable) -> Claim:
    """Whether norms keep training stable."""
    shows = _fails(table, "no norm")
    deepest = max(table.layers)
    worst = [
        loss
        for run in table.runs
        if (run.cell.wiring, run.cell.layers) == ("no norm", deepest)
        for _, loss, _ in run.points
        if math.isfinite(loss)
    ]
    largest = f"; its largest loss at {deepest} layers is {_short(max(worst))} nats" if worst else ""
    return Claim("Normalisation keeps training stable.", COURSE, shows + largest, _needed(table, "no norm", "pre-norm"))


def original(table: DepthTable) -> Claim:
    """Whether post-norm learns with a warm-up at the depth of the first transformer."""
    warmups = [warmup for warmup in table.warmups if warmup]
    groups = [table.groups.get(("post-norm", ORIGINAL, warmup)) for warmup in warmups]
    learned = [f"{group.learned} of {len(group.runs)}" for group in groups if group]
    verdict = OPEN
    if groups and all(groups):
        every = all(group.learned == len(group.runs) for group in groups if group)
        verdict = AGREES if every else DENIES if all(group.fails for group in groups if group) else OPEN
    shows = f"{formats.listed(learned)} seeds learn the task with {ORIGINAL} layers"
    claim = f"Post-norm trains with a warm-up, in an encoder of {ORIGINAL} layers and a decoder of {ORIGINAL}."
    return Claim(claim, VASWANI, shows, verdict)


def needs_warmup(table: DepthTable) -> Claim:
    """Whether post-norm needs a warm-up."""
    parts, helped, hindered = [], False, False
    for layers in table.layers:
        right = {}
        for warmup in table.warmups:
            group = table.groups.get(("post-norm", layers, warmup))
            if group:
                right[warmup] = group
        if len(right) < 2:
            continue
        without, others = right[0], [group for warmup, group in right.items() if warmup]
        helped |= without.fails and all(2 * group.learned > len(group.runs) for group in others)
        hindered |= not without.fails and any(group.fails for group in others)
        shares = formats.percents(without.accuracy, others[-1].accuracy)
        if shares[0] != shares[1]:
            parts.append(f"{layers} layers: {shares[0]} right without, {shares[1]} with")
    # It would be needed if deep networks failed without it and learned with it.
    verdict = AGREES if helped and not hindered else DENIES if hindered or not parts else OPEN
    shows = "; ".join(parts) or "as much is right with and without a warm-up at every depth"
    return Claim("Post-norm needs a warm-up.", XIONG, f"Post-norm, {shows}", verdict)


def needs_none(table: DepthTable) -> Claim:
    """Whether pre-norm learns without a warm-up."""
    depth, deepest = table.learns_up_to("pre-norm", 0), max(table.layers)
    verdict = AGREES if depth == deepest else DENIES if table.fails_at("pre-norm", 0) else OPEN
    shows = (
        f"Every seed learns the task without a warm-up up to {depth} layers" if depth else "Not every seed learns it"
    )
    return Claim("Pre-norm can do without a warm-up.", XIONG, shows, verdict)


def power(table: DepthTable, wiring: str) -> float:
    """The power of the number of layers with which the last layer's gradient changes, from the least to the most."""
    layers = [min(table.layers), max(table.layers)]
    lengths = []
    for depth in layers:
        group = table.groups.get((wiring, depth, table.warmups[0]))
        row = group.gradient(1, matrices=True) if group else []
        lengths.append(row[-1] if row else math.nan)
    if layers[0] == layers[1] or not all(each > 0 for each in lengths):
        return math.nan
    return math.log(lengths[1] / lengths[0]) / math.log(layers[1] / layers[0])


def last_gradient(table: DepthTable) -> Claim:
    """How the last layer's gradient depends on the depth before the first step."""
    post, pre = power(table, "post-norm"), power(table, "pre-norm")
    if math.isnan(post) or math.isnan(pre):
        verdict = OPEN
    else:
        verdict = AGREES if abs(post - FLAT) < NEAR and abs(pre - ROOT) < NEAR else DENIES
    shows = (
        f"From {min(table.layers)} to {max(table.layers)} layers as layers to the power {_signed(post)} in post-norm, "
        f"{_signed(pre)} in pre-norm"
    )
    claim = (
        "Before the first step, the gradient at the last layer’s last matrix does not depend on the depth in "
        "post-norm, and falls as 1 / √layers in pre-norm."
    )
    return Claim(claim, XIONG, shows, verdict)


def near_output(table: DepthTable) -> Claim:
    """Whether gradients of post-norm grow towards the output."""
    deepest, warmup = max(table.layers), table.warmups[0]
    group = table.groups.get(("post-norm", deepest, warmup))
    row = group.gradient(1, matrices=True) if group else []
    ratio = row[-1] / row[0] if row and row[0] else math.nan
    verdict = OPEN if math.isnan(ratio) or 1 / TWICE < ratio < TWICE else AGREES if ratio >= TWICE else DENIES
    shows = (
        f"At {deepest} layers of post-norm, that of the last layer’s last matrix is {_short(ratio)} times the first "
        "layer’s"
    )
    claim = "Before the first step, gradients of post-norm are larger near the output than further down."
    return Claim(claim, XIONG, shows, verdict)


CLAIMS: tuple[Callable[[DepthTable], Claim], ...] = (
    residuals,
    norms,
    original,
    needs_warmup,
    needs_none,
    last_gradient,
    near_output,
)


class DeepClaims(DeepPanel):
    """Each claim beside what was measured."""

    title = "What is claimed, and what was measured"
    canvas: ClassVar[Canvas | None] = None
    sources = CLAIMS

    @property
    def claims(self) -> list[Claim]:
        """All of them."""
        return [claim(self.kept) for claim in CLAIMS]

    @property
    def is_shown(self) -> bool:
        return bool(self.kept.runs) and self.kept.is_complete

    def count(self, verdict: str) -> int:
        """How many claims have this verdict."""
        return sum(claim.verdict == verdict for claim in self.claims)

    def sentence(self) -> str:
        """How many claims agree with what was measured."""
        return (
            f"{len(self.claims)} claims beside these runs: “{AGREES}” {self.count(AGREES)}, “{DENIES}” "
            f"{self.count(DENIES)}, “{OPEN}” {self.count(OPEN)}."
        )

    def table(self) -> pd.DataFrame:
        """A row per claim."""
        rows = [
            {"claim": each.claim, "source": each.source, "these runs": each.shows, "verdict": each.verdict}
            for each in self.claims
        ]
        return pd.DataFrame(rows).set_index("claim")

    def recipe(self) -> str:
        return ""

    def tools(self) -> None:
        """The table with its sentences whole."""
        st.html(html(self.claims))


def html(claims: list[Claim]) -> str:
    """A row for each claim."""
    head = "".join(f"<th>{name}</th>" for name in ("Claim", "Source", "These runs", "Verdict"))
    rows = (
        "<tr>"
        + "".join(f"<td>{escape(text)}</td>" for text in (each.claim, each.source, each.shows, each.verdict))
        + "</tr>"
        for each in claims
    )
    return f'<table class="schemes"><thead><tr>{head}</tr></thead><tbody>{"".join(rows)}</tbody></table>'


def _short(value: float) -> str:
    return f"{value:.2g}" if value < 1000 else formats.tiny(value)


def _signed(value: float) -> str:
    return f"{value:.2f}".replace("-", "−")
