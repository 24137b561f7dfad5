"""The public names, and what importing them costs."""

from pathlib import Path

import pytest

import tfm_core
from tfm_core.api import GROUPS, MOVED

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
    assert set(PROMISED) <= {*tfm_core.__all__, *MOVED}


def test_all_public_names_are_listed_once_and_in_order():
    in_groups = [name for group in GROUPS.values() for name in group.names]
    assert tfm_core.__all__ == in_groups
    assert len(set(in_groups)) == len(in_groups)
