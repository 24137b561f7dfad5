"""A lesson as text, of which tests change a line."""

HEAD = """---
title: One head, by hand
minutes: 5
needs: nothing
objectives:
- say what one attention weight is made of
sources:
- Vaswani et al. 2017: https://arxiv.org/abs/1706.03762
---
"""
FIRST = """
## A row of weights
The row of “was” says how much
“was” takes from each word.

show: /attention?attention_query=9
predict: How wide is a head?
options: number numbers
measured: d_k
answer: Each head has {d_k} of the {d_model:,} numbers.
"""
SECOND = """
## Fewer heads
Each head is wider then.

show: /heads?heads_layer=2
moves: seed
task: Make each head sixteen numbers wide.
reached: d_k == 16
answer: many-heads
"""
LESSON = HEAD + FIRST + SECOND
