"""The recipe for the probabilities of the next token, for notebooks."""

from collections.abc import Sequence

import torch
from torch import Tensor

from tfm_core import Transformer, TransformerConfig
from tfm_ui.live.script import of_model, script, tokenizer_of
from tfm_ui.state.model_state import ModelState

MOST = 5  # tokens that are shown
OF_LOGITS = """last = int((inputs[-1] != 0).sum()) - 1  # the last token that is no padding
probabilities = logits[0, last].softmax(-1)"""


def next_token(*, config: TransformerConfig, inputs: Sequence[Tensor], mask: Tensor | None, last: int) -> Tensor:
    """The probability of each token id, (vocab)."""
    model = Transformer(config).eval()
    with torch.no_grad():
        logits = model(*inputs, mask=mask)
    probabilities: Tensor = logits[0, last].softmax(-1)  # (vocab), of the token after the last one
    return probabilities


def next_code(model: ModelState) -> str:
    """A script that leaves the probabilities of the next token in `probabilities`, and shows the largest."""
    texts = model.target_tokens if model.is_encoder_decoder else model.source_tokens
    return f"{script(next_token, **of_model(model), last=len(texts.pieces) - 1)}\n{likeliest(model)}"


def likeliest(model: ModelState) -> str:
    """The lines that show the largest of `probabilities`: the tokens as they are written, or their ids."""
    name, begin = "int(i)", ""
    if model.is_lab_gpt or model.pretrained:
        tokenizer = tokenizer_of(model)
        froms = [f"from {each.__module__} import {each.__name__}" for each in getattr(tokenizer, "functions", ())]
        begin = "\n".join([*(froms or ["from tfm_core import lab_tokenizer"]), f"pieces = {tokenizer}.pieces", ""])
        name = "pieces[i]"
    return f"""{begin}for share, i in zip(*probabilities.topk({MOST})):
    print(f"{{share:8.3%}}  {{{name}!r}}")"""
