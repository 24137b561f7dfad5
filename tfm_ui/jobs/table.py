"""What the worker can do: a generator function each, of one plain argument, that yields a `messages.Step` at a time.

By name alone: the server need not import what only the worker runs.
"""

JOBS = {"profile": "tfm_core.profiling:profile"}
