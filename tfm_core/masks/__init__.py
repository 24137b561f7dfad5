"""Masks, True = may attend: `basic` has causality, padding, and how masks combine; `patterns` lists all the usual ones.

How other libraries write the same mask is in `tfm_core.study.mask_conventions`.
"""
