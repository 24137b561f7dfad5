"""The jobs that the worker can run: generator functions of one plain argument that yield `messages.JobStep`s.

The table holds their names only, so that the server does not import what only the worker runs.
"""

JOBS = {
    "profile": "tfm_core.profiling:profile",
    "train": "tfm_ui.jobs.training:train_on",
    "compare": "tfm_core.training.compare:compare",
    "finetune": "tfm_core.training.compare.finetuning.tuning:finetune",
    "decoding": "tfm_core.profiling.decoding:measure_decoding",
    "draws": "tfm_ui.jobs.exact:all_draws",
    "leaks": "tfm_ui.jobs.exact:all_leaks",
}
