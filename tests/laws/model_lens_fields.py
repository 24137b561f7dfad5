"""The fields of the Model lens for tests/laws/test_passes.py: those that no pass depends on, and the others."""

from tfm_ui.lenses.model.shapes import OUTPUTS
from tfm_ui.lenses.model.state import FFN_SIZES, START_SIZES

# field -> another value: what is only looked at
LOOKS = {
    "stack": "decoder",
    "layer": 2,
    "token": 3,
    # diagram
    "view": "output",
    "block": "final_norm",
    "all_layers": True,
    "flow_part": "0,0,2,8",
    "own_d_model": 64,
    "own_heads": 4,
    "own_layers": 2,
    "own_d_ff": 100,
    "own_words": 50,
    "own_tokens": 20,
    "own_target": 9,
    "own_output": OUTPUTS[2],
    "run": True,
    "batch": 2,
    "batch_tokens": 5,
    # block
    "sub_layer": "feed-forward",
    "step": "sum",
    "dropout": 0.3,
    "dropout_draw": 2,
    "block_dim": 5,
    "block_part": "0,0,2,8",
    # feed_forward
    "unit": 7,
    "ffn_size": FFN_SIZES[1],
    "hidden_part": "0,0,2,8",
    # distance
    "reach_seeds": 3,
    "whole": "0123456789ab",
    # efficient
    "head": 2,
    "tile": 2,
    "tile_step": 3,
    "efficient_part": "0,0,2,2",
    # output
    "temperature": 0.5,
    "top": 5,
    # tokens
    "show": "batch",
    "cut": "WordPiece",
    "others": True,
    "piece": 2,
    "second": "a dog",
    "measure": "bytes a token",
    "row_length": 12,
    "paired": True,
}
# field -> another value: other weights, or other networks beside the model
RUNS = {
    "attention": "window",
    "depth": 3,
    "depth_dropout": 0.3,
    "reach_length": 16,
    "reach_kernel": 5,
    "reach_start": "torch",
    "tied": False,
    "spread": 0.02,
    "start_size": START_SIZES[1],
}
# "shape" fills parameters, but on torch's meta device, which has none
# a pass of its own reads the text with this token hidden, and one these sentences
EITHER = ("shape", "gap", "lines")
