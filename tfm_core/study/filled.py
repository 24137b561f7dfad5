"""Texts of one length for a model that knows no padding: one of its tokens fills them up, and a mask must hide it."""

from dataclasses import replace

from tfm_core.model.tokens import PAD_ID, Tokens


def filled(tokens: Tokens, seq_len: int, fill_id: int = PAD_ID) -> Tokens:
    """The same text with this id after it, up to seq_len places; a longer text stays as it is.

    The model does not know that these are no tokens of the text: whoever runs it passes a mask that hides them.
    """
    return replace(tokens, ids=(*tokens.ids, *[fill_id] * (seq_len - len(tokens.ids))))
