"""The fields of the Training lens: field -> another value, by what they ask of a network."""

LOOKS = {"view": "decode", "step": 4, "probe": 2, "written": 3, "example": 2, "tested": "longer", "measure": "loss"} | {
    "drawn": "gradients",
    "warm": "with",
    "good": "right answers",
    "deep": 6,
    "at": 50,
    "over": "prose",
    "part": "1/9",
    "tuned": "speech",
    "against": "parameters",
    "shots": 50,
    "way": "lora-2",
    "layer": 2,
    "head": 2,
}
# Another run, or another source of the decoder.
RUNS = {
    "layers": 2,
    "heads": 2,
    "width": 32,
    "positional": "sinusoidal",
    "norm": "post",
    "rate": 0.003,
    "warmup": 10,
    "batch": 32,
    "dropout": 0.1,
    "decay": 0.1,
    "steps": 50,
    "seed": 4711,
    "source": "3 1 4",
}
# Some tasks have a run that comes with the app; pooling means something for classifiers of whole sequences alone.
EITHER = ("pooling", "task", "pair", "labelled")
