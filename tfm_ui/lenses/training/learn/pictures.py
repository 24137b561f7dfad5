"""The picture of the view "learn": curves beside maps, and a slider that moves both through the run."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import plotly.graph_objects as go
from numpy.typing import NDArray

from tfm_core import TrainingConfig
from tfm_core.training.examples import probes
from tfm_core.training.run import Point, Run
from tfm_core.training.scores import KINDS, site
from tfm_core.training.tasks.task import IGNORED, PAD, Examples
from tfm_ui.lenses.training.dated import measured_on
from tfm_ui.lenses.training.learn.numbers import Learned
from tfm_ui.lenses.training.losses import smoothed
from tfm_ui.lenses.training.picture import picture
from tfm_ui.lenses.training.runs import is_under_way, shown_config, shown_run
from tfm_ui.lenses.training.state import TrainingState
from tfm_ui.pictures import chart, heatmaps, lines
from tfm_ui.pictures.canvas import Canvas, Content, Header
from tfm_ui.pictures.figures import Figure
from tfm_ui.pictures.heatmaps import Heat, Side, numbered
from tfm_ui.pictures.lines import Chart, Line
from tfm_ui.pictures.map_scale import from_zero
from tfm_ui.state.model_state import ModelState
from tfm_ui.text import formats

MOST_LOSSES = 400  # points of the line of training losses


@dataclass(frozen=True)
class Row:
    """The heads of one attention of one layer.

    Attributes:
        name: before its maps.
        site: in the recording.
        kind: a key of `KINDS`, or "encoder".
        layer: from 0.
        queries, keys: the tokens of its sides.
    """

    name: str
    site: str
    kind: str
    layer: int
    queries: list[str]
    keys: list[str]


def tokens_of(config: TrainingConfig, ids: NDArray[Any] | list[int]) -> list[str]:
    """The tokens with these ids; "" where nothing is asked."""
    pieces = (PAD, *config.about.vocabulary)
    return ["" if number == IGNORED else pieces[number] for number in ids]


def rows_of(config: TrainingConfig, probe: Examples) -> list[Row]:
    """What is drawn of a transformer, from top to bottom: what the patterns are about comes first."""
    source = tokens_of(config, probe.source[0].tolist())
    layers = range(config.num_layers)
    if probe.target is None:
        name = config.about.architecture
        return [Row(f"layer {i + 1}", site("self", i, name), "self", i, source, source) for i in layers]
    target = tokens_of(config, probe.target[0].tolist())
    across = [Row(f"cross {i + 1}", site("cross", i, "encoder-decoder"), "cross", i, target, source) for i in layers]
    decoder = [Row(f"decoder {i + 1}", site("self", i, "encoder-decoder"), "self", i, target, target) for i in layers]
    encoder = [
        Row(f"encoder {i + 1}", f"encoder.layers.{i}.{KINDS['self']}.weights", "encoder", i, source, source)
        for i in layers
    ]
    return [*across, *decoder, *encoder]


def learn(model: ModelState, state: TrainingState) -> Content:
    """The picture of the run that the link describes, whether it is under way or kept."""
    config = shown_config(state)
    return content(config, shown_run(config), state.probe - 1, live=is_under_way(config))


def content(config: TrainingConfig, run: Run, probe: int, *, live: bool) -> Content:
    """The content for learn.js.

    Args:
        config: of the run.
        run: what there is of it.
        probe: the number of the example whose maps are drawn, from 0.
        live: whether more is to come.
    """
    task, example = config.about, probes(config)[probe : probe + 1]
    rows = rows_of(config, example) if run.maps else []
    by_step = {point.step: point for point in run.points}
    snapshots = list(run.snapshots)
    patterns = [
        {
            "name": pattern.name,
            "why": pattern.why,
            "kind": pattern.kind,
            "cells": pattern.cells(example)[0].nonzero().tolist() if not pattern.even else [],
        }
        for pattern in task.patterns
    ]
    header = {
        "about": Learned(config, run).sentence(),
        "figure": chart.packed(curves(config, run)),
        "snapshots": snapshots,
        "told": [_told(run, by_step[step]) for step in snapshots if step in by_step],
        "rows": [
            {
                "name": row.name,
                "heads": config.num_heads,
                "kind": row.kind,
                "queries": row.queries,
                "keys": row.keys,
                "causal": row.kind == "self" and task.architecture != "encoder",
                "scores": [_scores(by_step[step].scores, task.patterns, row) for step in snapshots if step in by_step],
            }
            for row in rows
        ],
        "patterns": patterns,
        "source": tokens_of(config, example.source[0].tolist()),
        "asked": _answers(config, example.answers[0].reshape(-1).tolist()),
        "said": [_answers(config, said[probe].reshape(-1).tolist()) for said in run.said],
        "done": run.done,
        "steps": config.steps,
        "live": live,
        "complete": run.is_complete or bool(run.problem),
    }
    return header, _numbers(run, rows, probe)


def _told(run: Run, point: Point) -> str:
    """What was measured at a snapshot's step, and on how many examples."""
    loss = f"loss {formats.number(point.loss)}" if np.isfinite(point.loss) else "no finite loss"
    return f"{formats.percent(point.accuracy)} right · {loss} · on {formats.count(measured_on(run, point))} examples"


def _answers(config: TrainingConfig, ids: list[int]) -> list[str]:
    if config.about.classes:
        return [config.about.labels[number] for number in ids]
    return tokens_of(config, ids)


def _scores(scores: Any, patterns: Any, row: Row) -> list[dict[str, Any]]:
    """The score of each head for each pattern that is about this row's attention."""
    return [
        {"pattern": i, "heads": list(scores[i][row.layer])}
        for i, pattern in enumerate(patterns)
        if pattern.kind == row.kind and scores
    ]


def _numbers(run: Run, rows: list[Row], probe: int) -> NDArray[np.float32]:
    """Snapshot by snapshot, row by row: (head, query, key)."""
    if not rows:
        return np.zeros(0, np.float32)
    parts = [run.maps[row.site][:, probe].flatten(1).numpy() for row in rows]
    return np.concatenate(parts, 1).ravel().astype(np.float32)


def curves(config: TrainingConfig, run: Run) -> Figure:
    """Loss, and shares between 0 and 1, over the steps."""
    step = "step of training"
    x = [point.step for point in run.points]
    ends, means, every = smoothed(run.losses, MOST_LOSSES)
    losses = [
        Line(f"trained on, mean of {every} steps", ends, means, "muted", "thin"),
        Line("held out", x, [point.loss for point in run.points], "ink"),
    ]
    guessing = float(np.log(config.about.outcomes))
    shares = [Line("right answers", x, [point.accuracy for point in run.points], "ink")]
    for number, pattern in enumerate(config.about.patterns if run.points[-1].scores else ()):
        best = max(
            ((layer, head) for layer in range(config.num_layers) for head in range(config.num_heads)),
            key=lambda at: run.points[-1].scores[number][at[0]][at[1]],
        )
        curve = [point.scores[number][best[0]][best[1]] for point in run.points]
        shares.append(Line(f"{pattern.name}: L{best[0] + 1} h{best[1] + 1}", x, curve, f"head {number + 1}", "solid"))
    return lines.figure(
        [
            Chart(step, f"loss, nats (guessing: {guessing:.2f})", losses, reach=(0, guessing)),
            Chart(step, "share right, and weight where the answer stands", shares, reach=(0, 1)),
        ]
    )


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
    <input type="range" min="0" step="1" aria-label="Step of training">
    <output></output>
  </div>
  <p class="tip" hidden></p>
  <span class="say" aria-live="polite"></span>
</div>
""",
    maps_figure,
    library="plotly/plotly-basic-4.1.1.min.js",
)
PICTURES = {"training_learn": picture(LEARN, learn)}
