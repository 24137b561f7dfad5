"""How fast Attention Lab is, beside what people use today and beside the least that is possible.

`python -m benchmarks` prints tables of ratios; `python -m benchmarks core` only those of that file. Machines are
noisy: times stand beside the ratios for orientation, and only the ratios, each paired within one run, are compared.
"""
