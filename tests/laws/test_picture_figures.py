"""Every picture can be had as a Plotly figure: its numbers, its colours, and text that is only text."""

import json
import subprocess
import sys
from functools import cache
from typing import Any

import numpy as np
import plotly.graph_objects as go
import plotly.io
import pytest
import torch
import torch.nn.functional as F
from hypothesis import settings

from tests.laws.of_views import pictures_of
from tests.laws.test_scale_laws import LENSES, LINKS, drawn_for, evenly
from tests.tfm_ui.lenses.heads.all_weights import heads_of, weights_of
from tests.tfm_ui.lenses.profiling.reports import plausible
from tests.tfm_ui.payloads import decode
from tests.tfm_ui.pictures.charts import without_template
from tests.tfm_ui.pictures.figure_checks import array, leaves, traces
from tests.tfm_ui.pictures.figure_laws import LAWS, figure_law
from tfm_core import Transformer, TransformerConfig, causal_mask, encode, recording
from tfm_ui.lenses import lenses
from tfm_ui.lenses.profiling.measurements import measurements
from tfm_ui.lenses.profiling.state import ProfilingState
from tfm_ui.page.panels import NOTEBOOK
from tfm_ui.pictures import canvas
from tfm_ui.pictures.figures import finished, in_mode
from tfm_ui.pictures.panel import panels_in
from tfm_ui.pictures.registry import PICTURES, content_of, figure_of, query_of
from tfm_ui.state.model_state import ModelState
from tfm_ui.text import colours

WITH_FIGURES = [name for name, picture in PICTURES.items() if picture.canvas.figure]
OF_EACH = max(2, settings().max_examples // 7)  # links that each figure is drawn for
Link = tuple[Any, dict[str, Any], dict[str, Any]]
TITLE, SENTENCE = "Looks & <looks>", "Who looks at whom."
HOSTILE = '<i>cat</i>%{meta}<a href="x">'


def query(name: str, model: dict[str, Any], state: dict[str, Any]) -> str:
    picture = PICTURES[name]
    return query_of(((ModelState(**model), ""), (picture.state(**state), picture.prefix)))


def in_file(figure: go.Figure) -> Any:
    """A figure as it stands in its file."""
    return json.loads(figure.to_json())


def links_of(name: str) -> list[Link]:
    """The links for which the picture is drawn."""
    return [link for link in LINKS if name in drawn_for(link[0], link[2])]


def fault(name: str, model: dict[str, Any], state: dict[str, Any]) -> str:
    """The problem in the figure of a link; "" if there is none."""
    link = query(name, model, state)
    header, numbers = content_of(name, link)
    drawn = PICTURES[name].canvas.figure(header, numbers)
    foot = header.get("foot", "")
    figure = in_file(finished(drawn, title=TITLE, sentence=SENTENCE, link=link, foot=foot))
    try:
        figure_law(figure, TITLE, link, foot)
        if law := LAWS.get(PICTURES[name].canvas.name):
            law(*decode(canvas.encode(header, numbers)), figure)
    except AssertionError as problem:
        return f"{name}: {problem}\n  ?{link}"
    return ""


@pytest.fixture(autouse=True)
def without_plotlys_template():
    """Which `finished` replaces, and which takes a third of the time of a figure to be made."""
    with without_template():
        yield


@pytest.mark.parametrize("name", WITH_FIGURES)
def test_the_figure_holds_the_numbers_of_the_picture(request, name):
    page = PICTURES[name].state
    everything = [link for link in LINKS if link[0] is page]
    links = everything if request.config.getoption("all_combinations") else evenly(links_of(name), OF_EACH)
    assert len(links) >= OF_EACH
    assert not (problems := [problem for _, *link in links if (problem := fault(name, *link))]), "\n".join(problems)


@cache
def opened(name: str) -> go.Figure:
    """The figure of a lens as it opens; nobody may change it."""
    return figure_of(name, query(name, {}, {}), TITLE, SENTENCE)


@pytest.mark.parametrize("name", WITH_FIGURES)
def test_a_figure_is_read_from_its_file_as_it_was_written_and_tells_its_link(name):
    figure = opened(name)
    assert plotly.io.from_json(figure.to_json()) == figure
    header, _ = content_of(name, query(name, {}, {}))
    assert figure.layout.meta == {"sentence": SENTENCE, "link": header["query"], "foot": header.get("foot", "")}


@pytest.mark.parametrize("state", [{}, *LENSES[ProfilingState]])
def test_the_figure_holds_the_measurements_of_the_picture(monkeypatch, state):
    monkeypatch.setattr(measurements, "find", lambda plan, *_: plan and plausible(plan))
    names = [name for name in pictures_of(ProfilingState) if name in WITH_FIGURES]
    assert not (problems := [problem for name in names if (problem := fault(name, {}, state))]), "\n".join(problems)


def test_every_picture_that_has_a_law_has_a_figure():
    assert {PICTURES[name].canvas.name for name in WITH_FIGURES} >= LAWS.keys()


def test_what_is_there_to_be_clicked_stands_in_no_panel_and_has_no_figure():
    panels = [panel for lens in lenses() for panel in panels_in(lens.blocks(ModelState(), lens.state()))]
    shown = {PICTURES[panel.picture_name].canvas.name for panel in panels if panel.picture_name}
    assert not shown & {"knobs", "composer", "batch"}
    assert not {PICTURES[name].canvas.name for name in WITH_FIGURES} & {"knobs", "composer", "batch"}
    assert not [panel.key for panel in panels if panel.picture_name and "JSON" in panel.files], "two files of one name"
    with pytest.raises(ValueError, match="expected a picture with a figure, got 'positions_knobs'"):
        figure_of("positions_knobs", "", TITLE, SENTENCE)


MODEL = {"text": "a small step for one", "seq_len": 7, "num_heads": 8, "seed": 3, "positional": "rope"}


def test_the_head_map_is_what_tfm_core_computes():
    config = TransformerConfig(
        vocab_size=4096, d_model=32, num_heads=8, num_layers=2, positional="rope", tie_embeddings=True, seed=3
    )
    with torch.no_grad(), recording() as trace:
        Transformer(config).eval()(encode(MODEL["text"], seq_len=7).batch, mask=causal_mask(7))
    weights = trace["layers.1.self_attention.weights"][0, 4].numpy()
    (heat,) = traces(in_file(figure_of("head", query("head", MODEL, {"layer": 2, "head": 5}), "", "")))
    visible = np.tril(np.ones((7, 7), bool))
    visible[:, 5:] = False  # padding
    np.testing.assert_array_equal(array(heat["z"]), np.where(visible, weights, np.nan))


@pytest.mark.parametrize("more", [{}, {"text": "@alice", "seq_len": 300}])
def test_the_heads_are_the_models_weights_rounded_as_the_title_says(more):
    model = {**MODEL, **more}
    drawn = traces(in_file(figure_of("heads", query("heads", model, {}), "", "")))
    weights = weights_of(heads_of(ModelState(**model)))
    block = -(-weights.shape[-1] // len(drawn[0]["x"]))
    pools = F.max_pool2d(torch.from_numpy(weights), block, ceil_mode=True).flatten(0, 1).numpy()
    for heat, pool, head in zip(drawn, pools, weights.reshape(-1, *weights.shape[2:]), strict=True):
        cells = array(heat["z"])
        np.testing.assert_allclose(np.nan_to_num(cells), pool, atol=head.max() / 254 * 0.501)
        assert np.isnan(cells).any()


def spoilt(part: Any) -> Any:
    """A header in which a token is code."""
    if isinstance(part, dict):
        return {key: spoilt(value) for key, value in part.items()}
    if isinstance(part, list | tuple):
        return [spoilt(value) for value in part]
    return part.replace("cat", HOSTILE) if isinstance(part, str) else part


@pytest.mark.parametrize("name", WITH_FIGURES)
def test_a_token_is_never_code(name):
    header, numbers = content_of(name, query(name, {"text": "the cat sat"}, {}))
    told = {key: value for key, value in header.items() if key not in ("matrices", "scene", "figure")}  # our own names
    figure = PICTURES[name].canvas.figure(header | spoilt(told), numbers)
    text = finished(figure, title=HOSTILE, sentence="", link="", foot="").to_json()
    assert "<i>" not in text
    assert "<a " not in text
    assert "%{meta" not in text
    assert "&lt;i&gt;" in text


LIGHT = {colour for part in (colours.WEIGHTS, colours.SIGNED, colours.HEADS) for colour in part["light"]}
LIGHT |= {part["light"] for part in (colours.PAPER, colours.INK, colours.MUTED, colours.RULE, colours.MASKED)}


@pytest.mark.parametrize("name", WITH_FIGURES)
def test_the_dark_figure_differs_from_the_light_one_in_colours_alone(name):
    figure = opened(name)
    light, dark = (dict(leaves(in_file(in_mode(figure, mode)))) for mode in ("light", "dark"))
    assert light.keys() == dark.keys()
    changed = {path for path in light if light[path] != dark[path]}
    assert changed
    assert all(str(value[path]).startswith("#") for path in changed for value in (light, dark))
    assert not {value for path, value in light.items() if value in LIGHT} & {
        value for path, value in dark.items() if path not in changed
    }


def test_the_two_lines_open_the_file_in_a_notebook(tmp_path):
    figure = figure_of("head", query("head", {}, {}), TITLE, SENTENCE)
    (tmp_path / "attention-lab-head.json").write_text(figure.to_json(), encoding="utf-8")
    first, last = NOTEBOOK.format("attention-lab-head.json").splitlines()
    shown = f"{first}\nprint(type({last}).__name__)"  # what a notebook does with a last line
    ran = subprocess.run([sys.executable, "-c", shown], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert ran.stdout == "Figure\n"
