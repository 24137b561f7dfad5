"""A canvas of curves beside maps, with a slider that moves both; and the rows of these maps."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import plotly.graph_objects as go
from numpy.typing import NDArray

from tfm_core.training.config import TrainingConfig
from tfm_core.training.scores import KINDS, site
from tfm_core.training.tasks.task import Examples
from tfm_ui.pictures import heatmaps
from tfm_ui.pictures.canvas import Canvas, Header
from tfm_ui.pictures.heatmaps import Heat, Side, numbered
from tfm_ui.pictures.learn.told import tokens_of
from tfm_ui.pictures.map_scale import from_zero


@dataclass(frozen=True)
class AttentionRow:
    """The heads of one attention of one layer."""

    name: str
    """What stands before its maps."""

    site: str
    """Where the recording has them."""

    kind: str
    """A key of `KINDS`, or "encoder"."""

    layer: int
    """The layer, from 0."""

    queries: list[str]
    keys: list[str]


def rows_of(config: TrainingConfig, probe: Examples) -> list[AttentionRow]:
    """What is drawn of a transformer, from top to bottom: what the patterns are about comes first."""
    source = tokens_of(config, probe.source[0].tolist())
    layers = range(config.num_layers)
    if probe.target is None:
        name = config.about.architecture
        return [AttentionRow(f"layer {i + 1}", site("self", i, name), "self", i, source, source) for i in layers]
    target = tokens_of(config, probe.target[0].tolist())
    across = [
        AttentionRow(f"cross {i + 1}", site("cross", i, "encoder-decoder"), "cross", i, target, source) for i in layers
    ]
    decoder = [
        AttentionRow(f"decoder {i + 1}", site("self", i, "encoder-decoder"), "self", i, target, target) for i in layers
    ]
    encoder = [
        AttentionRow(f"encoder {i + 1}", f"encoder.layers.{i}.{KINDS['self']}.weights", "encoder", i, source, source)
        for i in layers
    ]
    return [*across, *decoder, *encoder]


def maps_figure(header: Header, numbers: NDArray[Any]) -> go.Figure:
    """The heads at the last snapshot."""
    heats, begin = [], 0
    sizes = [row["heads"] * len(row["queries"]) * len(row["keys"]) for row in header["rows"]]
    last = np.asarray(numbers, np.float32)[-sum(sizes) :] if len(numbers) else np.zeros(0, np.float32)
    for row, size in zip(header["rows"], sizes, strict=True):
        if not len(last):
            break
        queries, keys = row["queries"], row["keys"]
        maps = last[begin : begin + size].reshape(row["heads"], len(queries), len(keys)).copy()
        begin += size
        if row["causal"]:
            maps[:, np.triu(np.ones(maps.shape[1:], bool), 1)] = np.nan
        heats += [
            Heat(
                name=f"{row['name']}, head {head + 1}",
                values=maps[head],
                rows=Side(labels=numbered(queries), title="query", noun="query", role="query"),
                columns=Side(labels=numbered(keys), title="key", noun="key", role="key"),
                scale=from_zero(1.0),
                unit="weight",
            )
            for head in range(row["heads"])
        ]
    if not heats:
        return go.Figure(header["figure"])
    across = max(row["heads"] for row in header["rows"])
    return heatmaps.figure(heats, told=f"After step {header['snapshots'][-1]}.", across=across)


LEARN = Canvas(
    "lenses/training/learn",
    """
<div class="learn" data-picture>
  <div class="sides">
    <div class="curves"><div class="plot" tabindex="0" role="application"></div></div>
    <div class="maps">
      <canvas tabindex="0" role="application"></canvas>
      <div class="example"></div>
    </div>
  </div>
  <div class="scrub">
    <button type="button" class="play" aria-label="Play">▶</button>
    <input type="range" min="1" step="1" aria-label="Step of training">
    <output></output>
  </div>
  <p class="tip" hidden></p>
  <span class="say" aria-live="polite"></span>
</div>
""",
    maps_figure,
    library="plotly/plotly-basic-4.1.1.min.js",
)
