"""Checks of attention code, where that code runs: in a notebook or in pytest. torch alone is needed.

from tfm_core.checks import check_attention

print(check_attention(my_attention))  # what differs first, and by which mistake
assert check_attention(my_attention)
"""

from tfm_core.checks.attention import check_attention
from tfm_core.checks.generating import check_generate
from tfm_core.checks.layers import check_decoder_layer, check_encoder_layer
from tfm_core.checks.masks import check_causal_mask, check_padding_mask
from tfm_core.checks.multi_head import check_multi_head_attention
from tfm_core.checks.norms import check_layer_norm
from tfm_core.checks.positions import check_positional
from tfm_core.checks.report import Report
from tfm_core.checks.transformer import check_transformer

__all__ = [
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
