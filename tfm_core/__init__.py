"""tfm_core: a small transformer to read from top to bottom, and to look inside while it runs.

    from tfm_core import Transformer, TransformerConfig, encode, recording

    tokens = encode("the cat sat on the mat")
    model = Transformer(TransformerConfig(vocab_size=4096, num_heads=4, seed=7)).eval()
    with torch.no_grad(), recording("*.weights") as trace:
        logits = model(tokens.batch)
    trace["layers.0.self_attention.weights"]  # (batch, head, query, key) = (1, 4, 6, 6)

The names of the axes, in every docstring and comment:

    batch      sentences side by side
    seq        tokens of one sentence; `query` where they look, `key` where they are looked at
    d_model    width of the residual stream: one vector per token
    head       0 to num_heads - 1
    head_dim   d_model / num_heads, the papers' d_k
    d_ff       hidden units of the feed-forward network
    vocab      token ids, 0 to vocab_size - 1
"""

from typing import TYPE_CHECKING

from tfm_core.api import found_by_name
from tfm_core.version import __version__ as __version__

if TYPE_CHECKING:
    from tfm_core.checks.attention import check_attention
    from tfm_core.checks.generating import check_generate
    from tfm_core.checks.layers import check_decoder_layer, check_encoder_layer
    from tfm_core.checks.masks import check_causal_mask, check_padding_mask
    from tfm_core.checks.multi_head import check_multi_head_attention
    from tfm_core.checks.norms import check_layer_norm
    from tfm_core.checks.positions import check_positional
    from tfm_core.checks.report import Report
    from tfm_core.checks.transformer import check_transformer
    from tfm_core.generation.beam import Beam, Beams, BeamStep, beam_search
    from tfm_core.generation.course import Course, Step
    from tfm_core.generation.decoding import Generation, generate
    from tfm_core.generation.gpt2 import to_gpt2
    from tfm_core.generation.sampling import Draw, Sampling, draw, next_token
    from tfm_core.generation.surprise import Surprise, surprise
    from tfm_core.language.lab_gpt import LAB_GPT, lab_tokenizer
    from tfm_core.language.prompt import lab_prompt
    from tfm_core.masks.basic import causal_mask, combine_masks, either_mask, padding_mask, to_additive, to_ignore
    from tfm_core.masks.patterns import (
        MASKS,
        cross_mask,
        document_mask,
        global_mask,
        prefix_mask,
        strided_mask,
        window_mask,
    )
    from tfm_core.model.attention import ATTENTION, MultiHeadAttention
    from tfm_core.model.cache import KeyValueCache, can_cache
    from tfm_core.model.classifier import SequenceClassifier
    from tfm_core.model.config import TransformerConfig
    from tfm_core.model.feed_forward import ACTIVATIONS, FeedForward
    from tfm_core.model.kind import ARCHITECTURES, NORMS
    from tfm_core.model.layer import WIRINGS, TransformerLayer
    from tfm_core.model.linear_attention import linear_attention, linear_attention_weights
    from tfm_core.model.recording import Trace, recording, tap
    from tfm_core.model.scaled_dot_product import (
        attention_scores,
        attention_weights,
        mask_scores,
        scaled_dot_product_attention,
    )
    from tfm_core.model.tokens import TOKENIZERS, Tokens, encode
    from tfm_core.model.transformer import Transformer
    from tfm_core.positional.maths import alibi_slopes, apply_rotary, sinusoidal_encoding, t5_buckets
    from tfm_core.positional.schemes import POSITIONAL, Positional
    from tfm_core.pretrained.reading import Pretrained, load
    from tfm_core.study.aggregates import attention_rollout
    from tfm_core.study.attention_arrays import AttentionArray, as_attention, read_attention
    from tfm_core.study.attention_costs import AttentionCost, attention_costs, visible_pairs
    from tfm_core.study.attribution.scores import ScoreParts, attribute_score
    from tfm_core.study.blocks import block_costs, stack_blocks
    from tfm_core.study.counting import block_parameters
    from tfm_core.study.depth import DepthSignal, parameter_gradients, signals_by_depth
    from tfm_core.study.diagnosis import Diagnosis, diagnose
    from tfm_core.study.distance import gradient_by_distance
    from tfm_core.study.exercise import Exercise
    from tfm_core.study.experiments import ScaleExperiment, scale_experiment
    from tfm_core.study.leaks import Influence, hops, influence, leaks, reach_by_layer, reachability, route
    from tfm_core.study.logit_lens import logit_lens
    from tfm_core.study.tiling import Tile, tiled_attention, tiles
    from tfm_core.training.config import TrainingConfig
    from tfm_core.training.store import run_store
    from tfm_core.training.tasks.table import TASKS
    from tfm_core.training.train import train

# model
__all__ = [
    "ACTIVATIONS",
    "ARCHITECTURES",
    "ATTENTION",
    "LAB_GPT",
    "NORMS",
    "TOKENIZERS",
    "WIRINGS",
    "FeedForward",
    "KeyValueCache",
    "MultiHeadAttention",
    "SequenceClassifier",
    "Tokens",
    "Transformer",
    "TransformerConfig",
    "TransformerLayer",
    "attention_scores",
    "attention_weights",
    "can_cache",
    "encode",
    "lab_prompt",
    "lab_tokenizer",
    "linear_attention",
    "linear_attention_weights",
    "mask_scores",
    "scaled_dot_product_attention",
]

# masks
__all__ += [
    "MASKS",
    "causal_mask",
    "combine_masks",
    "cross_mask",
    "document_mask",
    "either_mask",
    "global_mask",
    "padding_mask",
    "prefix_mask",
    "strided_mask",
    "to_additive",
    "to_ignore",
    "window_mask",
]

# positional
__all__ += [
    "POSITIONAL",
    "Positional",
    "alibi_slopes",
    "apply_rotary",
    "sinusoidal_encoding",
    "t5_buckets",
]

# recording
__all__ += [
    "Trace",
    "recording",
    "tap",
]

# training
__all__ += [
    "TASKS",
    "TrainingConfig",
    "run_store",
    "train",
]

# generation
__all__ += [
    "Beam",
    "BeamStep",
    "Beams",
    "Course",
    "Draw",
    "Generation",
    "Sampling",
    "Step",
    "Surprise",
    "beam_search",
    "draw",
    "generate",
    "next_token",
    "surprise",
    "to_gpt2",
]

# study
__all__ += [
    "AttentionArray",
    "AttentionCost",
    "DepthSignal",
    "Diagnosis",
    "Exercise",
    "Influence",
    "ScaleExperiment",
    "ScoreParts",
    "Tile",
    "as_attention",
    "attention_costs",
    "attention_rollout",
    "attribute_score",
    "block_costs",
    "block_parameters",
    "diagnose",
    "gradient_by_distance",
    "hops",
    "influence",
    "leaks",
    "logit_lens",
    "parameter_gradients",
    "reach_by_layer",
    "reachability",
    "read_attention",
    "route",
    "scale_experiment",
    "signals_by_depth",
    "stack_blocks",
    "tiled_attention",
    "tiles",
    "visible_pairs",
]

# checks
__all__ += [
    "Report",
    "check_attention",
    "check_causal_mask",
    "check_decoder_layer",
    "check_encoder_layer",
    "check_generate",
    "check_layer_norm",
    "check_multi_head_attention",
    "check_padding_mask",
    "check_positional",
    "check_transformer",
]

# pretrained
__all__ += [
    "Pretrained",
    "load",
]

if not TYPE_CHECKING:  # where types are checked, an unknown name stays an error

    def __getattr__(name: str) -> object:
        """A public name, imported when it is first asked for."""
        thing = found_by_name(name)
        if name in __all__:
            globals()[name] = thing
        return thing

    def __dir__() -> list[str]:
        """All public names, whether they have been imported or not."""
        return sorted({*globals(), *__all__})
