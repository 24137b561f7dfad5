"""The numbers that a panel's recipe gives: what is on screen of each name that the recipe leaves behind.

Recipes that measure times or train networks are not among them.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import is_dataclass
from typing import Any

import numpy as np
import pandas as pd
import torch

from tfm_ui.lenses.attention.arcs import Arcs
from tfm_ui.lenses.attention.change import ChangeWeights
from tfm_ui.lenses.attention.changes import order
from tfm_ui.lenses.attention.contribution import Contribution
from tfm_ui.lenses.attention.dictionary import Dictionary
from tfm_ui.lenses.attention.logit import Logit
from tfm_ui.lenses.attention.scale import Scale
from tfm_ui.lenses.attention.steps import Steps
from tfm_ui.lenses.attention.why.graph import Graph
from tfm_ui.lenses.attention.why.score import ScorePanel
from tfm_ui.lenses.attention.written import Written
from tfm_ui.lenses.clinic.beside import Both
from tfm_ui.lenses.clinic.tensor.diagnosed import Diagnosed
from tfm_ui.lenses.generate.kept.costs import KeptCosts
from tfm_ui.lenses.generate.kept.same import KeptSame
from tfm_ui.lenses.generate.kept.stored import Kept
from tfm_ui.lenses.generate.surprise.tokens import Surprise
from tfm_ui.lenses.generate.write.beams import Beams
from tfm_ui.lenses.generate.write.look import Look
from tfm_ui.lenses.generate.write.text import Write
from tfm_ui.lenses.heads.panels import Head
from tfm_ui.lenses.heads.roles.closest import Roles
from tfm_ui.lenses.heads.roles.map import RoleMap
from tfm_ui.lenses.home.why import Why
from tfm_ui.lenses.masks.conventions.chosen import Handed, Ours
from tfm_ui.lenses.masks.conventions.table import Conventions
from tfm_ui.lenses.masks.leaks.measured import LeaksPanel
from tfm_ui.lenses.masks.padding.amount import PaddingAmount
from tfm_ui.lenses.masks.padding.beside import Padding, PaddingWeights
from tfm_ui.lenses.masks.padding.empty_rows import EmptyRow, NanSpreads
from tfm_ui.lenses.masks.see import LENGTHS, Growth, See
from tfm_ui.lenses.model.block.both import BlockBoth, BlockLengths
from tfm_ui.lenses.model.block.cell import BlockCell
from tfm_ui.lenses.model.block.steps import Block, BlockMoments
from tfm_ui.lenses.model.depth.live import StreamLengths, TrainingMode
from tfm_ui.lenses.model.depth.wirings import Alike, Wirings
from tfm_ui.lenses.model.diagram.block import Flow
from tfm_ui.lenses.model.diagram.drawing import Diagram
from tfm_ui.lenses.model.diagram.passed import Passed
from tfm_ui.lenses.model.diagram.path import Path
from tfm_ui.lenses.model.distance.paths import DistancePaths
from tfm_ui.lenses.model.distance.reach import Distance
from tfm_ui.lenses.model.efficient.compared import Efficient, EfficientGrowth
from tfm_ui.lenses.model.efficient.tiling import EfficientTiles
from tfm_ui.lenses.model.feed_forward.activations import Activations, FfnSizes
from tfm_ui.lenses.model.feed_forward.hidden import Hidden, OneUnit
from tfm_ui.lenses.model.masked import Masked
from tfm_ui.lenses.model.output.last_modules import OutputNorm, OutputTied
from tfm_ui.lenses.model.output.lens import OutputAt, OutputLens
from tfm_ui.lenses.model.output.likeliest import Output, OutputPositions
from tfm_ui.lenses.model.output.start import OutputStart
from tfm_ui.lenses.model.sentences.panels import Sentences, SentencesPooled, SentencesSpecial
from tfm_ui.lenses.model.tokens.pieces import TokensPieces
from tfm_ui.lenses.positions.beyond import Beyond, BeyondScores
from tfm_ui.lenses.positions.fault import FaultAdded, FaultMaps
from tfm_ui.lenses.positions.model.maps import Distance as MeansByDistance
from tfm_ui.lenses.positions.model.maps import Maps
from tfm_ui.lenses.positions.model.shuffle import Shuffled
from tfm_ui.lenses.positions.pairing import PairingMaps
from tfm_ui.lenses.positions.panel import WavesPanel
from tfm_ui.lenses.positions.see.bias import Bias
from tfm_ui.lenses.positions.see.clocks import Clocks
from tfm_ui.lenses.positions.see.encode import Curves, Encode
from tfm_ui.lenses.positions.why.added import ShiftErrors, ShiftMatrix, Unique
from tfm_ui.lenses.positions.why.pairs import Pairs
from tfm_ui.lenses.positions.why.turned import Turned
from tfm_ui.lenses.training.decode.written import Decode, DecodeNext
from tfm_ui.lenses.training.deep.panels import DeepPanel
from tfm_ui.lenses.training.sizes.panels import SizesPanel
from tfm_ui.live.tables import by_distance
from tfm_ui.pictures.panel import Panel

Numbers = Mapping[str, Any]


def named(*names: str) -> Callable[[Any], Numbers]:
    """Numbers that the panel calls by the same names."""
    return lambda panel: {name: getattr(panel, name) for name in names}


def changed(panel: ChangeWeights) -> Numbers:
    """The weights of B between the tokens that it still has, in their order there."""
    rows, columns = (order(panel.changes[1], text, len(panel.names.tokens[text])) for text in panel.texts)
    return {"weights": panel.weights[1][np.ix_(rows, columns)]}


def there(values: torch.Tensor) -> torch.Tensor:
    """What is defined of a line."""
    return values[~values.isnan()]


def vectors(panel: Beyond) -> Numbers:
    return {
        "norm": {side.scheme.key: there(side.norm) for side in panel.sides},
        "alike": {side.scheme.key: there(side.alike) for side in panel.sides if side.alike is not None},
    }


def biases(panel: Bias) -> Numbers:
    whole = slice(0, panel.state.length)
    return {"values": {panel.scheme.key: [by_distance(values)(whole, whole) for values in panel.values]}}


def arcs(panel: Arcs) -> Numbers:
    return {"weights": panel.table().to_numpy()[: len(panel.queries)]}  # of several heads the first


def pairings(panel: PairingMaps) -> Numbers:
    return {"weights": {name: head.weights for name, head in panel.heads.items()}}


def moved(panel: LeaksPanel) -> Numbers:
    return {"moved": np.moveaxis(panel.moved, 0, 1), "allowed": panel.allowed[-1].T, "leaking": panel.leaking}


def block(panel: Block) -> Numbers:
    norm = {"mean": panel.norm.mean, "variance": panel.norm.spread, "normed": panel.norm.result}
    return {**norm, **named("x", "output", "dropped", "total")(panel), "normalised": panel.norm.normalised}


def both_norms(panel: Any) -> Numbers:
    return {what: {norm: getattr(under, what) for norm, under in panel.under.items()} for what in ("x", "out")}


def around_norm(panel: BlockMoments) -> Numbers:
    columns = panel.columns
    return {
        when: np.stack([columns[f"{what} {when} the norm"] for what in ("mean", "variance")], -1)
        for when in ("before", "after")
    }


def variants(panel: Efficient) -> Numbers:
    return {what: {name: getattr(of, what) for name, of in panel.by_name.items()} for what in ("weights", "visible")}


def tied(panel: OutputTied) -> Numbers:
    sides = panel.sides.items()
    return {
        "parameters": {name: side.parameters for name, side in sides},
        "logits": {name: side.itself[0] for name, side in sides},
        "shares": {name: side.itself[1] for name, side in sides},
    }


def over_draws(panel: Distance) -> Numbers:
    medians, _, highest = panel.over_draws
    return {"medians": medians, "highest": highest, "parameters": panel.parameters}


# A panel's class -> what is on screen of the names that its recipe leaves.
NUMBERS: dict[type[Panel], Callable[[Any], Numbers]] = {
    **dict.fromkeys([Head, Why], named("weights")),
    Steps: lambda panel: {"weights": panel.steps.weights},
    Arcs: arcs,
    Contribution: named("weights", "norms"),
    ScorePanel: lambda panel: {"parts": panel.matrix},
    Written: lambda panel: {"parts": panel.matrix},
    Logit: lambda panel: {"parts": panel.values},
    Graph: lambda panel: {"weights": [edge.weight for edge in panel.graph.edges]},
    ChangeWeights: changed,
    Scale: named("measured"),
    Dictionary: lambda panel: {"answer": panel.answer, "weights": panel.weights},
    Encode: lambda panel: {"values": {panel.scheme.key: panel.values[: panel.defined]}},
    Curves: lambda panel: {"values": {side.scheme.key: side.values[: side.defined] for side in panel.sides}},
    WavesPanel: lambda panel: {"waves": {scheme.key: lengths for scheme, lengths in panel.sides}},
    Bias: biases,
    Clocks: lambda panel: {"query": panel.hands[0], "key": panel.hands[1]},
    Pairs: lambda panel: {
        "distances": {scheme.key: {"mean": there(table.by_distance.mean)} for scheme, table in panel.sides}
    },
    PairingMaps: pairings,
    Roles: lambda panel: {"roles": panel.roles},
    RoleMap: lambda panel: {"roles": panel.strongest},
    ShiftErrors: lambda panel: {"left": {scheme.key: {"at": error.at} for scheme, error in panel.sides if error}},
    ShiftMatrix: named("matrix"),
    Unique: lambda panel: {"nearest": {scheme.key: {"distance": near.distance} for scheme, near in panel.sides}},
    Turned: lambda panel: {"scores": panel.scores, "added": there(panel.added)},
    Beyond: vectors,
    BeyondScores: lambda panel: {"scores": {scheme.key: values for scheme, _, values in panel.sides}},
    Maps: lambda panel: {"weights": {name: head.weights for name, head in panel.heads.items()}},
    MeansByDistance: lambda panel: {"by_distance": {name: head.by_distance for name, head in panel.heads.items()}},
    Shuffled: lambda panel: {"order": panel.order, "share": {name: row.shares for name, row in panel.rows.items()}},
    **dict.fromkeys(
        [FaultAdded, FaultMaps],
        lambda panel: {
            "added": [effect.added for effect in panel.effects.values()],
            "weights": [effect.head.weights for effect in panel.effects.values()],
        },
    ),
    See: lambda panel: {"mask": panel.obeyed.mask, "weights": panel.obeyed.weights},
    Growth: lambda panel: {"kept": dict(zip(LENGTHS, panel.composed, strict=True))},
    LeaksPanel: moved,
    **dict.fromkeys([Padding, PaddingWeights], named("shares", "weights")),
    PaddingAmount: lambda panel: {"moves": panel.amounts},
    EmptyRow: lambda panel: {
        "treated": {way: {"output": treatment.output} for way, (treatment, _) in panel.treated.items()}
    },
    NanSpreads: lambda panel: {
        "streams": {way: run.streams for way, run in panel.runs.items()},
        "logits": {way: run.logits for way, run in panel.runs.items()},
    },
    **dict.fromkeys([Ours, Handed], named("mask", "handed")),
    Conventions: named("verified"),
    Diagram: lambda panel: {
        "counts": {item.block.name: item.block.parameters for items in panel.counts.values() for item in items}
    },
    Flow: lambda panel: {"flows": panel.ends},
    Passed: lambda panel: {"shapes": panel.run.shapes},
    TokensPieces: lambda panel: {"pieces": panel.mine.pieces, "ids": panel.mine.ids},
    Masked: lambda panel: {"ids": panel.listed, "shares": panel.shares[0], "shares_beside": panel.shares[1]},
    Sentences: named("cosines"),
    SentencesPooled: lambda panel: {"first": panel.states[0, 0], "pooled": panel.pooled, "cosine": panel.cosine},
    SentencesSpecial: named("shares"),
    OutputStart: lambda panel: {"losses": panel.by_spread["tied"]},
    Path: named("lengths", "cosines", "logits"),
    Block: block,
    BlockMoments: around_norm,
    BlockCell: lambda panel: {
        "products": panel.products,
        "total": panel.value_of("sum"),
        "written": panel.value_of("sub-layer"),
    },
    **dict.fromkeys([BlockBoth, BlockLengths], both_norms),
    Activations: named("x", "values", "slopes"),
    FfnSizes: named("counts"),
    Hidden: lambda panel: {"hidden": panel.units},
    OneUnit: named("fires", "writes", "towards"),
    **dict.fromkeys([Wirings, Alike], lambda panel: {"of_parameters": panel.of_parameters, "signals": panel.by_wiring}),
    StreamLengths: lambda panel: {"stream": panel.ends},
    TrainingMode: lambda _: {},  # a row of what it gives is on screen: tests/tfm_ui/lenses/model/test_model_depth.py
    Distance: over_draws,
    DistancePaths: lambda panel: dict(zip(("path", "sight", "calls"), panel.measured, strict=False)),
    Efficient: variants,
    EfficientGrowth: lambda panel: {"costs": panel._costs},
    EfficientTiles: named("result", "plain"),
    Output: lambda panel: {"ids": panel.listed, "shares": panel.shares, "logits": panel.scores},
    OutputPositions: lambda panel: {"ids": panel.likeliest, **named("shares", "entropies")(panel)},
    **dict.fromkeys([OutputLens, OutputAt], lambda panel: {"shares": panel.outs.final_shares}),
    OutputNorm: lambda panel: dict(zip(("means", "variances", "lengths"), panel.moments, strict=True)),
    OutputTied: tied,
    Write: named("text"),
    Beams: lambda panel: {"text": panel.best},
    Look: lambda panel: {"rows": [row[panel.layer, panel.head] for row in panel.rows]},
    Kept: lambda panel: {
        "keys": panel.matrices(0)[0],
        "values": panel.matrices(0)[1],
        "nbytes": panel.measured[-1],
    },
    KeptSame: named("with_cache", "differences"),
    KeptCosts: lambda panel: {"nbytes": [panel.stored(length) for length in panel.lengths]},
    Surprise: lambda panel: {
        "bits": [side.scored.bits for side in panel.rated],
        "perplexities": [side.scored.perplexity for side in panel.rated],
    },
    Both: lambda panel: {"right": panel.pairs[panel.first].right, "wrong": panel.pairs[panel.first].wrong},
    Diagnosed: lambda panel: {"diagnosis": {"tried": panel.diagnosis.tried}},
    **dict.fromkeys([Decode, DecodeNext], named("decoded")),
    DeepPanel: lambda panel: {
        "shares": {
            f"{wiring}, {layers} layers, warm-up {warmup}": group.accuracy
            for (wiring, layers, warmup), group in panel.kept.groups.items()
            if warmup in panel.warmups
        }
    },
    SizesPanel: lambda panel: {"both": {"constants": panel.law.constants} if panel.law else {}},
}


def numbers_of(panel: Panel) -> Numbers | None:
    """What is on screen of the names that the panel's recipe leaves; None if nobody has said so."""
    return next((NUMBERS[kind](panel) for kind in type(panel).__mro__ if kind in NUMBERS), None)


def same(left: Any, shown: Any) -> bool:
    """Whether what a recipe has left is what is on screen, which may be a part of it: rows of padding are not shown."""
    if isinstance(shown, str):
        return bool(left == shown)
    left, shown = plain(left), plain(shown)
    if isinstance(shown, Mapping):
        return set(shown) <= set(left) and all(same(left[name], part) for name, part in shown.items())
    if isinstance(left, Mapping):
        left = list(left.values())
    if isinstance(shown, list | tuple) and not all(isinstance(part, int | float | bool) for part in shown):
        return len(left) == len(shown) and all(map(same, left, shown))
    ours, theirs = array(shown), array(left)
    if theirs.ndim == ours.ndim and theirs.size > ours.size:
        theirs = theirs[tuple(map(slice, ours.shape))]
    return theirs.size == ours.size and np.allclose(theirs.ravel(), ours.ravel(), 1e-4, 2e-5, equal_nan=True)


def plain(value: Any) -> Any:
    """A result with names as a mapping."""
    if hasattr(value, "_asdict"):
        return value._asdict()
    return vars(value) if is_dataclass(value) else value


def array(value: Any) -> np.ndarray:
    """Numbers, which may be in a list of tensors."""
    if isinstance(value, Sequence) and any(isinstance(part, torch.Tensor) for part in value):
        value = torch.stack(list(value))
    return np.asarray(value.to_numpy() if isinstance(value, pd.DataFrame) else value, np.float64)
