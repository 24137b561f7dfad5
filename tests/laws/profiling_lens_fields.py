"""The fields of the Profiling lens: field -> another value. No pass of the model depends on any of them."""

LOOKS = {
    "count_embedding": True,
    "count_output": True,
    "vocabulary": 500,
    "view": "parts",
    "sizes": "64 4 2 50",
    "targets": "without weights",
    "batch": 2,
    "target": "without weights",
    "longest": 512,
    "length_batch": 2,
    "rounds": 5,
    "backward": False,
    "dtype": "float64",
    "device": "cpu",
    "threads": 1,
    "run": "abc",
    "baseline": 2,
    "row": 2,
}
