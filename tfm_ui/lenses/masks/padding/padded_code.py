"""A batch beside padding as expressions of Python, for the scripts of the view "padding"."""

from typing import Any

from tfm_ui.lenses.masks.mask_code import expression, mask_of, with_paint
from tfm_ui.lenses.masks.masked_passes import argument_of, at
from tfm_ui.lenses.masks.padding.padded import Padded
from tfm_ui.live.script import Code, of_model
from tfm_ui.live.texts import texts_of


def of_batch(batch: Padded, *, words: bool) -> dict[str, Any]:
    """The header's part on the chosen sentence, alone and beside its padding.

    It holds the sentence's `mask`, and what of it is `among_tokens`; the texts `alone`, and `padded`; the composed mask
    with that padding, `mask_with_padding`, and where in it the tokens stand, `rows` and `columns`.

    Args:
        batch: the batch; only its chosen sentence is used.
        words: whether PAD is taken for a word.
    """
    setting = batch.setting
    tokens = ", ".join(f":{len(text.pieces)}" for text in (setting.queries, setting.keys))
    second = ", target.batch" if setting.model.is_encoder_decoder else ""
    queries, keys = ("ids" if text == "source" else "target.batch" for text in texts_of(setting.place))
    clamp = ".clamp(min=1)" if words else ""
    mask_with_padding = expression(setting, queries + clamp, keys + clamp)
    if batch.side == "right":
        mask_with_padding = with_paint(setting, mask_with_padding)
    return {
        **{name: value for name, value in of_model(setting.model).items() if name != "inputs"},
        "mask": mask_of(setting),
        "among_tokens": Code(f"mask[{tokens}]"),
        "alone": Code(f"[source.batch[:, :{batch.read}]{second}]"),
        "ids": Code("source.batch" if batch.side == "right" else f"source.batch.roll({batch.pads}, 1)"),
        "padded": Code(f"[ids{second}]"),
        "key_ids": Code(keys),
        "mask_with_padding": Code(
            f"{mask_with_padding}{'  # PAD taken for a word' if words and '#' not in mask_with_padding else ''}"
        ),
        "rows": batch.queries,
        "columns": batch.keys,
        "argument": argument_of(setting),
        "mask_site": at(setting, "*", "mask"),
    }
