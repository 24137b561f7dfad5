"""The fields of the Model lens for tests/tfm_ui/live/test_passes.py: those that no pass depends on, and the others."""

# field -> another value: what is only looked at
LOOKS = {
    "stack": "decoder",
    "layer": 2,
    "token": 3,
    # block
    "sub_layer": "feed_forward",
    "step": "sum",
    "dropout": 0.3,
    "dropout_draw": 2,
    "block_dim": 5,
    "block_part": "0,0,2,8",
    # output
    "temperature": 0.5,
    "top": 5,
}
# field -> another value: other weights
RUNS: dict[str, bool] = {"tied": False}
EITHER = ("attention",)  # as long as there is no second attention to choose
