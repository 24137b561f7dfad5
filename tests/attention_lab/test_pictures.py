"""Widgets without a browser: what Python sets and reads, what a notebook saves of them, and what they stand on."""

import base64
import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch
import torch.nn.functional as F
import traitlets

import attention_lab
from attention_lab import arc_still
from attention_lab.picture import STILL, Picture
from tests.attention_lab.test_given import WORDS, weights
from tfm_ui.pictures.canvas import encode
from tfm_ui.pictures.maps import MAPS

ROOT = Path(__file__).parents[2]
CAUSAL = torch.ones(6, 6, dtype=torch.bool).tril()


def decoded(content: bytes) -> tuple[dict, bytes]:
    """Header and numbers of a canvas."""
    length = int.from_bytes(content[:4], "little")
    return json.loads(content[4 : 4 + length]), content[4 + length :]


@pytest.fixture
def heads():
    return attention_lab.heads(weights(2, 4, 6, 6), WORDS, head=(1, 2))


def test_the_locked_head_is_read_and_set_in_python(heads):
    given = weights(2, 4, 6, 6)
    assert np.array_equal(heads.weights, given[1, 2].numpy())
    _, numbers = decoded(heads.second)
    assert np.array_equal(np.frombuffer(numbers, np.float32).reshape(6, 6), given[1, 2].numpy())
    before = heads.first
    heads.head = (0, 3)
    assert heads.first is before  # the grid's numbers are not sent again
    assert heads.parts[0]["header"] == {"picked": (0, 3)}
    assert heads.parts[1]["title"] == "Layer 1, head 4"
    assert np.array_equal(np.frombuffer(decoded(heads.second)[1], np.float32).reshape(6, 6), given[0, 3].numpy())


def test_two_widgets_can_be_linked(heads):
    other = attention_lab.heads(weights(2, 4, 6, 6, seed=1), WORDS)
    arcs = attention_lab.arcs(weights(2, 4, 6, 6), WORDS)
    link = traitlets.link((heads, "head"), (other, "head"))
    traitlets.dlink((heads, "head"), (arcs, "layer"), lambda at: at[0])
    assert (other.head, arcs.layer) == ((1, 2), 1)
    other.head = (0, 0)
    assert (heads.head, arcs.layer) == ((0, 0), 0)
    link.unlink()


def test_scales_end_where_they_say():
    given = weights(2, 4, 6, 6).masked_fill(~CAUSAL, 0)
    given = given / given.sum(-1, keepdim=True)
    picture = attention_lab.heads(given)
    ends = {"largest": 1.0, "choice": given[:, :, 1:].max().item()}
    for scale, end in ends.items():
        picture.scale = scale
        header, _ = decoded(picture.first)
        assert np.allclose(np.array(header["largest"]) / header["ends"], end)
    picture.scale = "own"
    assert set(decoded(picture.first)[0]["ends"]) == {1.0}


@pytest.mark.parametrize("head", [(2, 0), (0, 4), (-1, 0)])
def test_a_head_that_is_not_there_is_refused(heads, head):
    with pytest.raises(ValueError, match="expected a layer of 0 to 1 and a head of 0 to 3"):
        heads.head = head
    assert heads.head == (1, 2)
    with pytest.raises(ValueError, match="expected a layer of 0 to 1"):  # from a browser
        heads.set_state({"head": head})
    assert heads.head == (1, 2)


def test_arcs_are_the_aggregates_of_torch():
    given = weights(3, 4, 6, 6)
    picture = attention_lab.arcs(given, WORDS, layer=2, lines="mean")

    def drawn() -> np.ndarray:
        header, numbers = decoded(picture.first)
        rows = len(header["maps"]) * 6
        kept = np.frombuffer(numbers, np.float32, rows * 6, 4 * rows).reshape(-1, 6, 6)
        keys = np.frombuffer(numbers, np.uint16, rows * 6, 4 * rows * 7).reshape(-1, 6, 6)
        cells = np.empty_like(kept)
        np.put_along_axis(cells, keys.astype(int), kept, 2)
        return cells

    assert np.allclose(drawn()[0], given[2].mean(0), atol=1e-7)
    picture.lines = "max"
    assert np.allclose(drawn()[0], given[2].amax(0), atol=1e-7)
    picture.lines = "rollout"
    residual = (given.mean(1) + torch.eye(6)) / 2
    residual = residual / residual.sum(-1, keepdim=True)
    assert np.allclose(drawn()[0], residual[2] @ residual[1] @ residual[0], atol=1e-6)
    picture.lines = "heads"
    assert np.allclose(drawn(), given[2])


def test_what_is_looked_at_changes_words_and_not_numbers():
    picture = attention_lab.arcs(weights(1, 4, 6, 6), WORDS)
    before, said = picture.first, picture.parts[0]["sentence"]
    picture.shown = "2"
    assert picture.first is before
    assert picture.parts[0]["sentence"] != said
    assert picture.parts[0]["local"]["attention_heads"] == "2"
    with pytest.raises(ValueError, match="expected a layer of 0 to 0, got 1"):
        picture.layer = 1


@pytest.mark.parametrize(
    ("mask", "meaning"),
    [
        (CAUSAL, "attend"),
        (~CAUSAL, "ignore"),
        (torch.zeros(6, 6).masked_fill(~CAUSAL, -torch.inf), "added"),
        (torch.zeros(1, 1, 6, 6, dtype=torch.bfloat16).masked_fill(~CAUSAL, torch.finfo(torch.bfloat16).min), "added"),
        (CAUSAL.numpy(), "attend"),
        ("torch.triu(torch.ones(6, 6), diagonal=1).bool()", "ignore"),
    ],
)
def test_each_way_to_write_a_causal_mask_is_the_same_mask(mask, meaning):
    picture = attention_lab.masks(mask)
    assert picture.meaning == meaning
    assert np.array_equal(picture.visible, CAUSAL.numpy())
    query, key, value = torch.randn(3, 1, 1, 6, 4, generator=torch.Generator().manual_seed(0))
    there = F.scaled_dot_product_attention(query, key, value, is_causal=True)
    here = F.scaled_dot_product_attention(query, key, value, attn_mask=torch.from_numpy(picture.visible))
    assert torch.allclose(there, here, atol=1e-6)


def test_a_row_without_a_key_is_told_in_its_sentence_of_the_batch():
    mask = torch.zeros(2, 1, 5, 5)
    mask[0, 0, :, 3:] = mask[1, 0, 2] = -torch.inf
    picture = attention_lab.masks(mask, list("abcde"))
    assert "nothing wrong" in picture.parts[0]["title"]
    picture.table = 1
    assert "row 3 has no key" in picture.parts[0]["title"]
    assert picture.notes[-1].startswith("Row 3 has no key.")
    assert not picture.visible[2].any()
    with pytest.raises(ValueError, match="expected a table of 0 to 1, got 2"):
        picture.table = 2


def test_another_meaning_can_be_chosen():
    picture = attention_lab.masks(torch.eye(4), meaning="ignore")
    assert np.array_equal(picture.visible, ~np.eye(4, dtype=bool))
    picture.meaning = "attend"
    assert np.array_equal(picture.visible, np.eye(4, dtype=bool))
    with pytest.raises(ValueError, match="expected a meaning of attend, ignore, added"):
        attention_lab.masks(torch.eye(4), meaning="forbid")
    with pytest.raises(ValueError, match="rows of different lengths"):
        attention_lab.masks(np.array([[1], [1, 2]], dtype=object))


def test_a_large_mask_is_pooled_until_a_part_of_it_is_looked_at():
    picture = attention_lab.masks(torch.ones(600, 600).tril().bool())
    assert decoded(picture.first)[0]["part"]["block"] == [3, 3]
    picture.part = "0,0,64,64"
    header, numbers = decoded(picture.first)
    assert header["part"]["block"] == [1, 1]
    shown = np.frombuffer(numbers, np.float32).reshape(2, 64, 64)
    assert np.array_equal(shown[1], np.tril(np.ones((64, 64))))


def test_a_page_of_its_own_asks_no_other_address_and_runs_no_text_of_its_tokens(heads):
    page = attention_lab.heads(weights(1, 1, 2, 2), ["</script><script>alert(1)", "ok"]).to_html("A <title>")
    assert "<script>alert" not in page
    assert "<title>A &lt;title&gt;</title>" in page
    assert "//cdn" not in page
    assert 'src="' not in page
    assert base64.b64encode(heads.first).decode() in heads.to_html()


def test_a_page_of_its_own_answers_each_click_as_python_does(heads):
    answers = heads.answers()["head"]
    assert len(answers) == 8
    for layer, head in ((0, 0), (1, 3)):
        heads.head = (layer, head)
        answer = answers[f"[{layer},{head}]"]
        assert answer["second"] == heads.second
        assert answer["parts"] == heads.parts
    assert attention_lab.heads(torch.full((12, 12, 128, 128), 1 / 128)).answers() == {}  # 9 MB
    assert attention_lab.masks(CAUSAL).answers() == {}


def test_the_first_chart_of_a_process_carries_plotly(monkeypatch, heads):
    monkeypatch.setattr(Picture, "_carried", set())
    first, second = (attention_lab.positions("sinusoidal", length=8, d_model=8) for _ in range(2))
    assert b"plotly.js" in first.library[:200]
    assert second.library == heads.library == b""


def test_a_notebook_shows_the_widget_and_its_sentence(heads, monkeypatch):
    shown, _ = heads._repr_mimebundle_()
    assert shown["application/vnd.jupyter.widget-view+json"]["model_id"] == heads.model_id
    said = [f"{part['title']}: {part['sentence']}" for part in heads.parts]
    assert shown["text/plain"].split("\n") == [*said, *heads.notes]
    assert "image/png" not in shown
    monkeypatch.setenv(STILL, "1")
    shown, _ = heads._repr_mimebundle_()
    assert base64.b64decode(shown["image/png"]).startswith(b"\x89PNG")


def test_a_saved_notebook_holds_the_scripts_and_the_numbers_and_little_more():
    picture = attention_lab.heads(weights(12, 12, 32, 32))
    state = picture.get_state()
    size = sum(len(value) for value in state.values() if isinstance(value, str | bytes))
    numbers = 12 * 12 * 32 * 32  # a byte for each weight of the grid
    assert size < numbers + 140_000


def test_every_script_of_a_widget_is_one_of_the_apps():
    for kind in (attention_lab.heads, attention_lab.arcs, attention_lab.masks):
        made = kind(CAUSAL if kind is attention_lab.masks else weights(1, 1, 6, 6))
        for canvas in made.canvases:
            for line in (ROOT / f"assets/{canvas.path}.js").read_text().splitlines():
                if line.startswith("  const "):
                    assert line.strip().split(" //")[0].rstrip() in made._esm


def test_shortened_scripts_are_scripts(tmp_path):
    for name in attention_lab.__all__:
        kind = getattr(attention_lab, name)
        if isinstance(kind, type) and "canvases" in vars(kind):
            file = tmp_path / f"{name}.mjs"
            file.write_text(kind._esm, encoding="utf-8")
            subprocess.run(["node", "--check", file], check=True)


class Unfinished(Picture):
    """A picture that draws nothing."""

    canvases = ()


def test_a_picture_that_draws_nothing_says_so():
    with pytest.raises(NotImplementedError, match="expected Unfinished to draw something"):
        Unfinished()


def test_a_picture_has_two_canvases_at_most():
    with pytest.raises(ValueError, match="expected at most 2 canvases, got 3"):
        type("Crowded", (Picture,), {"canvases": (MAPS,) * 3})


def test_content_is_encoded_as_the_app_does(heads):
    header, numbers = decoded(heads.second)
    assert encode(header, np.frombuffer(numbers, np.float32)) == heads.second


def test_the_package_imports_nothing_that_a_notebook_does_not_need():
    code = """
import sys, attention_lab
assert "anywidget" not in sys.modules and "torch" not in sys.modules
import torch
from tfm_core import TrainingConfig, Transformer, TransformerConfig
weights = torch.full((1, 2, 2), 0.5)
made = [attention_lab.heads(weights), attention_lab.arcs(weights), attention_lab.masks("torch.eye(2)")]
made += [attention_lab.positions(scheme) for scheme in ("sinusoidal", "rope", "alibi")]
made.append(attention_lab.steps(Transformer(TransformerConfig(vocab_size=4096)), "a b"))
made.append(attention_lab.training(TrainingConfig(task="reverse")))
for picture in made:
    picture.to_html()
extra = {"streamlit", "pandas", "cachetools", "regex", "tokenizers", "transformers", "matplotlib", "redis"}
assert not extra & set(sys.modules), extra & set(sys.modules)
"""
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    subprocess.run([sys.executable, "-c", code], check=True, env=environment, cwd="/")


def test_all_that_is_promised_is_there():
    assert {"heads", "arcs", "masks"} <= set(attention_lab.__all__) <= set(dir(attention_lab))
    for name in attention_lab.__all__:
        assert getattr(attention_lab, name).__doc__
    with pytest.raises(AttributeError, match="has no attribute 'lines'"):
        _ = attention_lab.lines


def test_the_png_of_arcs_has_the_lines_that_are_looked_at():
    weights = torch.tensor([[[1.0, 0, 0], [0.3, 0.7, 0], [0.6, 0.3, 0.1]], [[1, 0, 0], [0, 1, 0], [0, 0, 1]]])
    picture = attention_lab.arcs(weights, ["the", "cat", "sat"])
    header, numbers = picture._contents[0]

    def ends(**looked_at):
        given = {"shown": [0], "mass": 100, "hide": "none"} | looked_at
        lines = arc_still.figure(header, numbers, **given).data
        return sorted((-int(line.y[0]), -int(line.y[1]), round(line.opacity**2, 1)) for line in lines if line.opacity)

    assert ends() == [(0, 0, 1), (1, 0, 0.3), (1, 1, 0.7), (2, 0, 0.6), (2, 1, 0.3), (2, 2, 0.1)]
    assert ends(mass=80) == [(0, 0, 1), (1, 0, 0.3), (1, 1, 0.7), (2, 0, 0.6), (2, 1, 0.3)]
    assert ends(hide="first") == [(1, 1, 0.7), (2, 1, 0.3), (2, 2, 0.1)]
    assert ends(shown=[1]) == [(0, 0, 1), (1, 1, 1), (2, 2, 1)]
    whole = picture.png()
    picture.shown = "2"
    assert picture.png() != whole
