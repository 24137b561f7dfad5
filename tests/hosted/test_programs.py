"""The programs and the library as others start them: each in a new process."""

import pkgutil
import subprocess
import sys

import pytest

import tfm_core
import tfm_core.checks
from tests.test_hosting import ROOT
from tests.tfm_core.training.runs import opened, same_numbers, trained
from tfm_core.profiling import files
from tfm_core.training.config import read_name

PROFILED = ["--rows", "8,2,1,4", "--batch", "2", "--rounds", "2"]
TRAINED = "reverse,d_model=8,batch_size=4,steps=9"


def test_a_profile(tmp_path):
    run = subprocess.run(
        [sys.executable, "-m", "tfm_core.profiling", *PROFILED, "--no-backward", "--out", str(tmp_path)],
        capture_output=True,
        text=True,
        check=True,
    )
    (written,) = tmp_path.glob("*.json")
    report = files.from_json(written.read_text(encoding="utf-8"))
    assert report.complete
    assert report.plan.rows[0].size.batch == 2
    assert run.stdout.startswith("target")
    assert "100%" in run.stderr
    assert "profiler" not in run.stderr


def test_a_training(tmp_path):
    run = subprocess.run(
        [sys.executable, "-m", "tfm_core.training", TRAINED, "--out", str(tmp_path / "new")],
        capture_output=True,
        text=True,
        check=True,
        cwd=ROOT,
    )
    assert run.stdout.startswith(f"{TRAINED}: 9 steps in ")
    assert run.stdout.splitlines()[0].endswith("% of held-out answers right")
    assert run.stdout.splitlines()[1] == f"kept in {tmp_path / 'new'}"
    assert run.stderr == ""
    same_numbers(opened(tmp_path / "new").find(read_name(TRAINED)), trained())


def test_importing_the_library_loads_nothing_of_the_app_and_nothing_heavy():
    heavy = ("streamlit", "plotly", "pandas", "transformers", "x_transformers", "torch._dynamo", "tfm_ui")
    code = f"import sys, tfm_core.study.mask_verified; print([name for name in {heavy!r} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


ALL_PICTURES = """
import sys
sys.modules["transformers"] = None  # where it is installed, a view calls it, and it loads SymPy by itself
from benchmarks.live.views import links
from tfm_ui.lenses import lens, preloaded
from tfm_ui.page.words import names
from tfm_ui.pictures.panel import panels_in
from tfm_ui.pictures.registry import Asked, made

for link in links():
    path, _, query = link.strip("/").partition("?")
    shown, asked = lens(path), Asked(query)
    panels = panels_in(shown.blocks(asked.model, asked.lens(shown.state, shown.prefix)))
    says, _, slow = names(shown)
    for name in [*dict.fromkeys(panel.picture_name for panel in panels if panel.picture_name), says, slow]:
        made(name, asked)
print("sympy" in sys.modules)
"""


def test_no_picture_loads_sympy_which_takes_38_megabytes_in_each_worker():
    done = subprocess.run([sys.executable, "-c", ALL_PICTURES], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


WITH_TORCH_ALONE = """
import importlib, sys
for name in ("numpy", "pandas", "plotly", "streamlit", "transformers"):
    sys.modules[name] = None  # importing it is an ImportError from here on
import torch
modules = {modules!r}
for name in modules:
    importlib.import_module(name)
from tfm_core import Transformer, TransformerConfig, causal_mask, encode, recording, scaled_dot_product_attention
tokens = encode("the cat sat on the mat")
for positional in ("sinusoidal", "learned", "rope", "alibi", "t5"):
    config = TransformerConfig(vocab_size=4096, architecture="encoder-decoder", positional=positional, seed=7)
    with recording("*.weights") as trace:
        Transformer(config)(tokens.batch, tokens.batch, mask=causal_mask(6)).sum().backward()
    print(len(trace), trace["encoder.layers.0.self_attention.weights"].sum().item())
query = torch.randn(2, 3, 4)
print(*map(tuple, map(torch.Tensor.size, scaled_dot_product_attention(query, query, query, causal_mask(3)))))
"""


def test_a_model_runs_with_torch_alone():
    """docs/library.md says so. Measurements need NumPy too, and what is compared with Hugging Face's code, that."""
    rooms = [tfm_core.checks, tfm_core.generation, tfm_core.masks, tfm_core.model, tfm_core.positional, tfm_core.study]
    modules = [module.name for room in rooms for module in pkgutil.iter_modules(room.__path__, f"{room.__name__}.")]
    assert len(modules) > 25
    code = WITH_TORCH_ALONE.format(modules=modules)
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", code], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    *passes, shapes = done.stdout.splitlines()
    assert len(passes) == 5
    for line in passes:
        count, total = line.split()
        assert int(count) == 6  # 2 layers: the encoder's, the decoder's, and what it sees of the encoder
        assert float(total) == pytest.approx(4 * 6, abs=1e-4)  # heads, queries: each row sums to 1
    assert shapes == "(2, 3, 4) (2, 3, 3)"


def test_a_server_looks_values_of_widgets_up_one_by_one():
    code = "import app, streamlit.runtime.state as state; print(state.SessionState.filtered_state.fget.__name__)"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "SessionValues"
