"""The public names, and what importing them costs."""

import pkgutil
import subprocess
import sys
import types
from pathlib import Path

import pytest

import tfm_core

ROOT = Path(tfm_core.__file__).parent.parent

PROMISED = """
    ACTIVATIONS ARCHITECTURES ATTENTION MASKS NORMS POSITIONAL TOKENIZERS Beams Course Draw FeedForward Influence
    KeyValueCache MultiHeadAttention Positional Sampling ScaleExperiment Step Surprise Tokens Trace Transformer
    TransformerConfig TransformerLayer alibi_slopes apply_rotary attention_scores attention_weights beam_search
    can_cache causal_mask collisions combine_masks cross_mask document_mask draw either_mask encode generate global_mask
    hops influence leaks mask_scores next_token padding_mask prefix_mask reach_by_layer reachability recording
    replacements route scale_experiment scaled_dot_product_attention sinusoidal_encoding strided_mask surprise
    t5_buckets tap to_additive to_gpt2 to_ignore window_mask
""".split()  # what other people's code may import: names are added here, and never taken away


@pytest.mark.parametrize("name", tfm_core.__all__)
def test_every_public_name_can_be_imported_and_says_what_it_is(name):
    thing = getattr(tfm_core, name)
    if callable(thing):
        assert thing.__doc__


def test_no_public_name_was_lost():
    assert set(PROMISED) <= set(tfm_core.__all__)


def test_all_public_names_are_listed_once_and_in_order():
    public = {
        name
        for name, thing in vars(tfm_core).items()
        if not name.startswith("_") and not isinstance(thing, types.ModuleType)
    }
    constants_first = sorted(public, key=lambda name: (not name.isupper(), not name[0].isupper(), name))
    assert tfm_core.__all__ == constants_first


def test_importing_the_library_loads_nothing_of_the_app_and_nothing_heavy():
    heavy = ("streamlit", "plotly", "pandas", "transformers", "x_transformers", "torch._dynamo", "tfm_ui")
    code = f"import sys, tfm_core.study.mask_verified; print([name for name in {heavy!r} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


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
    """As docs/library.md says. Measurements need NumPy too, and what is compared with Hugging Face's code, that."""
    rooms = [tfm_core.generation, tfm_core.masks, tfm_core.model, tfm_core.positional, tfm_core.study]
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
