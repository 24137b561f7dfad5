"""Checks of attention code, where that code runs: in a notebook or in pytest. torch alone is needed."""

from tfm_core.checks.attention import check_attention
from tfm_core.checks.multi_head import check_multi_head_attention
from tfm_core.checks.report import Report

__all__ = ["Report", "check_attention", "check_multi_head_attention"]
