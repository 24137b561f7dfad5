"""Benchmarks: how fast Attention Lab is, compared with what people use today and with the least that is possible.

`python -m benchmarks` prints tables of ratios; `python -m benchmarks core` prints only those of core.py. Machines are
noisy, so only ratios are compared, each of two times from the same round. Absolute times are printed for orientation.
"""
