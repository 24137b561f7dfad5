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

from tfm_core.generation.beam import Beam, Beams, BeamStep, beam_search
from tfm_core.generation.course import Course, Step, context_begin
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
from tfm_core.model.attention import ATTENTION, MultiHeadAttention, span_of
from tfm_core.model.cache import KeyValueCache, can_cache
from tfm_core.model.classifier import SequenceClassifier
from tfm_core.model.config import TransformerConfig
from tfm_core.model.feed_forward import ACTIVATIONS, FeedForward
from tfm_core.model.kind import ARCHITECTURES, NORMS
from tfm_core.model.layer import TransformerLayer
from tfm_core.model.linear_attention import linear_attention, linear_attention_weights
from tfm_core.model.recording import Trace, recording, tap
from tfm_core.model.scaled_dot_product import (
    attention_scores,
    attention_weights,
    mask_scores,
    scaled_dot_product_attention,
)
from tfm_core.model.tokens import TOKENIZERS, Tokens, collisions, encode
from tfm_core.model.transformer import Transformer
from tfm_core.positional.maths import alibi_slopes, apply_rotary, sinusoidal_encoding, t5_buckets
from tfm_core.positional.schemes import POSITIONAL, Positional
from tfm_core.study.attention_costs import AttentionCost, attention_costs, visible_pairs
from tfm_core.study.blocks import block_costs, stack_blocks
from tfm_core.study.counting import block_parameters
from tfm_core.study.depth import WIRINGS, DepthSignal, parameter_gradients, signals_by_depth
from tfm_core.study.distance import gradient_by_distance
from tfm_core.study.experiments import ScaleExperiment, scale_experiment
from tfm_core.study.leaks import Influence, hops, influence, leaks, reach_by_layer, reachability, replacements, route
from tfm_core.study.logit_lens import logit_lens
from tfm_core.study.tiling import Tile, tiled_attention, tiles
from tfm_core.training.config import TrainingConfig
from tfm_core.training.store import STORE
from tfm_core.training.tasks.table import TASKS
from tfm_core.training.train import train

__all__ = [
    "ACTIVATIONS",
    "ARCHITECTURES",
    "ATTENTION",
    "LAB_GPT",
    "MASKS",
    "NORMS",
    "POSITIONAL",
    "STORE",
    "TASKS",
    "TOKENIZERS",
    "WIRINGS",
    "AttentionCost",
    "Beam",
    "BeamStep",
    "Beams",
    "Course",
    "DepthSignal",
    "Draw",
    "FeedForward",
    "Generation",
    "Influence",
    "KeyValueCache",
    "MultiHeadAttention",
    "Positional",
    "Sampling",
    "ScaleExperiment",
    "SequenceClassifier",
    "Step",
    "Surprise",
    "Tile",
    "Tokens",
    "Trace",
    "TrainingConfig",
    "Transformer",
    "TransformerConfig",
    "TransformerLayer",
    "alibi_slopes",
    "apply_rotary",
    "attention_costs",
    "attention_scores",
    "attention_weights",
    "beam_search",
    "block_costs",
    "block_parameters",
    "can_cache",
    "causal_mask",
    "collisions",
    "combine_masks",
    "context_begin",
    "cross_mask",
    "document_mask",
    "draw",
    "either_mask",
    "encode",
    "generate",
    "global_mask",
    "gradient_by_distance",
    "hops",
    "influence",
    "lab_prompt",
    "lab_tokenizer",
    "leaks",
    "linear_attention",
    "linear_attention_weights",
    "logit_lens",
    "mask_scores",
    "next_token",
    "padding_mask",
    "parameter_gradients",
    "prefix_mask",
    "reach_by_layer",
    "reachability",
    "recording",
    "replacements",
    "route",
    "scale_experiment",
    "scaled_dot_product_attention",
    "signals_by_depth",
    "sinusoidal_encoding",
    "span_of",
    "stack_blocks",
    "strided_mask",
    "surprise",
    "t5_buckets",
    "tap",
    "tiled_attention",
    "tiles",
    "to_additive",
    "to_gpt2",
    "to_ignore",
    "train",
    "visible_pairs",
    "window_mask",
]
