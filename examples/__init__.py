"""Notebooks that show `attention_lab` and `tfm_core` at work; `python -m examples` executes them."""
