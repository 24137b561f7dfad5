"""Checks of attention code, where that code runs: in a notebook or in pytest. torch alone is needed."""

from tfm_core.checks.attention import check_attention
from tfm_core.checks.masks import check_causal_mask, check_padding_mask
from tfm_core.checks.multi_head import check_multi_head_attention
from tfm_core.checks.norms import check_layer_norm
from tfm_core.checks.positions import check_positional
from tfm_core.checks.report import Report

__all__ = [
    "Report",
    "check_attention",
    "check_causal_mask",
    "check_layer_norm",
    "check_multi_head_attention",
    "check_padding_mask",
    "check_positional",
]
