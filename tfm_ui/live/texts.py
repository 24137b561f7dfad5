"""The texts from which the queries and keys of an attention come. Pure functions."""

from tfm_core import Tokens
from tfm_ui.state.model_state import ModelState


def texts_of(kind: str) -> tuple[str, str]:
    """The texts, "source" or "target", of the queries and of the keys in this kind of attention."""
    return "target" if kind in ("decoder", "cross") else "source", "target" if kind == "decoder" else "source"


def tokens_of(model: ModelState, kind: str) -> tuple[Tokens, Tokens]:
    """The tokens of the queries and of the keys in this kind of attention, as the model reads them."""
    queries, keys = (model.target_tokens if text == "target" else model.source_tokens for text in texts_of(kind))
    return queries, keys
