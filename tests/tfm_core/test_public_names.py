"""The public names, and what importing them costs."""

import subprocess
import sys
import types
from pathlib import Path

import pytest

import tfm_core

ROOT = Path(tfm_core.__file__).parent.parent

PROMISED = """
    ACTIVATIONS ARCHITECTURES ATTENTION MASKS NORMS POSITIONAL TOKENIZERS FeedForward Influence MultiHeadAttention
    Positional ScaleExperiment Tokens Trace Transformer TransformerConfig TransformerLayer alibi_slopes
    apply_rotary attention_scores attention_weights causal_mask collisions combine_masks cross_mask document_mask
    either_mask encode global_mask hops influence leaks mask_scores padding_mask prefix_mask reach_by_layer
    reachability recording replacements route scale_experiment scaled_dot_product_attention sinusoidal_encoding
    strided_mask t5_buckets tap to_additive to_ignore window_mask
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
